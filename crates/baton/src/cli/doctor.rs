//! `baton doctor`

mod handoffs;
pub(super) mod memory_index;
mod pushes;
mod tokens;
mod tools;
mod worktrees;

use baton_model::attention::AttentionItem;
use baton_model::id::visible;
use baton_model::refusal::Kind;
use baton_ops::ledger::{StoreCheck, StoreCheckInput, StoreCheckOutput};
use serde::Serialize;

use super::config_show::SettingFault;
use super::install;
use super::tool_report::{self, ToolReport};
use super::trust::{self, TrustState, TrustedFile};
use crate::app::App;
use crate::changes::carry;
use crate::effect_ownership;
use crate::error::AppError;
use crate::live;
use crate::render;
use baton_tools::install::Scope;

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
}

/// What the doctor answers.
#[derive(Serialize)]
struct Diagnosis {
    /// What the check of the store found; none where the caller may not have it checked.
    #[serde(flatten)]
    ledger: Option<StoreCheckOutput>,
    /// Why the store was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
    /// Settings that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    setting_faults: Vec<SettingFault>,
    store: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<Redis>,
    tools: Vec<ToolReport>,
    repository: Option<trust::Report>,
    trusted: Vec<TrustedFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    worktrees: Vec<worktrees::StrayWorktree>,
    /// Hand-offs that failed or are stuck.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    handoffs: Vec<AttentionItem>,
    /// The store that carries out issues and webhooks, of which this one is a copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects_held_for: Option<String>,
    /// References that killed pushes of changes left in remotes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    interrupted_pushes: Vec<pushes::InterruptedPush>,
    /// Access tokens, where the caller may see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    access_tokens: Option<tokens::Report>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "recall")]
    memory_index: Option<memory_index::Report>,
}

/// Whether Redis answers.
#[derive(Serialize)]
struct Redis {
    url: String,
    state: &'static str,
    why: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    if args.fix {
        let stray = worktrees::find(app)?;
        worktrees::fix(&stray, args.yes, app)?;
        tools::reinstall_entries(args.yes, app)?;
    }
    let (ledger, not_checked) = match app.run::<StoreCheck>(&StoreCheckInput {}) {
        Ok(ledger) => (Some(ledger), None),
        Err(AppError::Refused(refusal)) if refusal.kind == Kind::Forbidden => (None, Some(refusal.message)),
        Err(error) => return Err(error),
    };
    let redis = app.config.redis.as_ref().filter(|_| app.config.server.is_none()).map(|redis| {
        let (state, why) = live::probe(redis);
        Redis { url: redis.to_string(), state: state.as_str(), why }
    });
    let projects = ledger.as_ref().map_or(0, |ledger| ledger.projects);
    let access_tokens = tokens::report(app, projects);
    let diagnosis = Diagnosis {
        ledger,
        not_checked,
        setting_faults: SettingFault::list(app),
        store: app.config.ledger(),
        redis,
        tools: tool_report::report(&install::places(app, Scope::User)?, &app.config.ledger()),
        repository: trust::report(app),
        trusted: trust::trusted_files(app),
        // Of a store with damage in it as much is said as can be read.
        worktrees: worktrees::find(app).unwrap_or_default(),
        handoffs: handoffs::stuck(app),
        effects_held_for: effects_held_for(app),
        interrupted_pushes: pushes::interrupted(app),
        access_tokens,
        memory_index: memory_index::report(app)?,
    };
    carry::remark_interrupted(app);
    app.show(&diagnosis, show)?;
    // The answer names the faults; only the exit code is left to say.
    let is_well = diagnosis.ledger.as_ref().is_none_or(|ledger| ledger.sound)
        && diagnosis.setting_faults.is_empty()
        && !diagnosis.tools.iter().any(ToolReport::is_dangling)
        && diagnosis.memory_index.as_ref().is_none_or(memory_index::Report::is_well);
    if is_well { Ok(()) } else { Err(AppError::Reported) }
}

/// The store that carries out issues and webhooks in place of this one. Nothing where the store is elsewhere, or too damaged to say.
fn effects_held_for(app: &mut App) -> Option<String> {
    let machine = app.machine.id.clone();
    effect_ownership::other_owner(app.store().ok()?, &machine).ok().flatten().map(|other| other.place)
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
