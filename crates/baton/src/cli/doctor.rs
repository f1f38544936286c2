//! `baton doctor`

mod anonymous;
mod diagnosis;
mod handoffs;
pub(super) mod memory_index;
mod pushes;
mod readiness;
mod report;
mod tokens;
mod tools;
mod worktrees;

use baton_model::id::visible;

use super::config_show::SettingFault;
use super::tool_report::{self, ToolReport};
use super::trust::{self, TrustState};
use crate::app::App;
use crate::changes::carry;
use crate::effect_ownership;
use crate::error::AppError;
use crate::render;
use diagnosis::{Diagnosis, Redis, diagnose};

/// Check that the store is sound and what is installed in your tools
#[derive(clap::Args)]
pub(super) struct Args {
    /// Write entries in your tools anew that another version of Baton wrote or whose program has moved, and give worktrees
    /// that became projects of their own to the project of their repository, after asking
    #[arg(long)]
    fix: bool,
    /// Do not ask
    #[arg(long, requires = "fix")]
    yes: bool,
    /// Only ask a server that runs whether it is ready: the one at this address, else that of your settings, else
    /// http://127.0.0.1:7077. Opens no store; the exit code is 5 where it is not ready
    #[arg(long, value_name = "URL", conflicts_with = "fix", num_args = 0..=1)]
    ready: Option<Option<String>>,
    /// Print what a report of a bug needs, without secrets, and with names and paths replaced
    #[arg(long, conflicts_with_all = ["fix", "ready"])]
    report: bool,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    if let Some(url) = args.ready {
        return readiness::run(url.as_deref(), app);
    }
    if args.report {
        return report::run(app);
    }
    if args.fix {
        let stray = worktrees::find(app)?;
        worktrees::fix(&stray, args.yes, app)?;
        tools::reinstall_entries(args.yes, app)?;
    }
    let diagnosis = diagnose(app)?;
    carry::remark_interrupted(app);
    app.show(&diagnosis, show)?;
    // The answer names the faults; only the exit code is left to say.
    let is_well = diagnosis.ledger.as_ref().is_none_or(|ledger| ledger.sound)
        && diagnosis.setting_faults.is_empty()
        && !diagnosis.tools.iter().any(ToolReport::is_dangling)
        && diagnosis.memory_index.as_ref().is_none_or(memory_index::Report::is_well);
    if is_well { Ok(()) } else { Err(AppError::Reported) }
}

/// How the store stands, and what is wrong with it.
fn verdict(diagnosis: &Diagnosis) -> String {
    let store = visible(&diagnosis.store);
    let Some(ledger) = &diagnosis.ledger else {
        let why = diagnosis.not_checked.as_deref().map(visible).unwrap_or_default();
        return format!(
            "store {store}: not checked ({why}); an operator's `baton doctor` there checks it. The tools and settings on this machine were checked\n"
        );
    };
    let verdict = if ledger.sound { "sound" } else { "NOT sound" };
    let projects = match ledger.projects {
        1 => "1 project".to_owned(),
        n => format!("{n} projects"),
    };
    let mut text = format!("store {store} ({}), {projects}: {verdict}\n", visible(&ledger.engine));
    for fault in &ledger.faults {
        text.push_str(&format!("  {fault}\n"));
    }
    for next in &ledger.next {
        text.push_str(&format!("  next: {next}\n"));
    }
    text
}

fn show(diagnosis: &Diagnosis) -> String {
    let mut text: String = diagnosis.setting_faults.iter().map(SettingFault::text).collect();
    text.push_str(&verdict(diagnosis));
    text.extend(diagnosis.memory_index.as_ref().map(memory_index::Report::text));
    if let Some(Redis { url, state, why }) = &diagnosis.redis {
        let why = why.as_deref().filter(|why| !why.is_empty());
        let why = why.map(|why| format!(": {}; the ledger keeps everything", visible(why)));
        text.push_str(&format!("redis {} is {state}{}\n", visible(url), why.unwrap_or_default()));
    }
    text.extend(diagnosis.repository.as_ref().map(trust::describe));
    for file in diagnosis.trusted.iter().filter(|file| file.state != TrustState::Trusted) {
        let folder = visible(&file.folder);
        text.push_str(&format!("{folder}: its trusted settings are {}\n", file.state.as_str()));
    }
    text.extend(diagnosis.worktrees.iter().map(worktrees::StrayWorktree::text));
    text.extend(diagnosis.interrupted_pushes.iter().map(pushes::InterruptedPush::text));
    text.extend(diagnosis.effects_held_for.iter().map(|other| effect_ownership::held_text(other) + "\n"));
    text.extend(diagnosis.access_tokens.as_ref().map(tokens::Report::text));
    text.push_str(&handoffs::section(&diagnosis.handoffs));
    let tools: Vec<_> = diagnosis.tools.iter().map(tool_report::row).collect();
    text + &render::section("tools", &tools)
}
