//! `baton install`

use std::collections::BTreeMap;
use std::path::PathBuf;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;
use clap::ValueEnum;
use serde::{Serialize, Serializer};

use super::confirm::Confirmation;
use super::tool_report::{ToolReport, report, row};
use crate::app::App;
use crate::config;
use crate::error::AppError;
use crate::install;
use crate::install::change::{Plan, actions, put_in, take_out};
use crate::install::record::Record;
use crate::render;
use baton_tools::install::{Places, Scope};
use baton_tools::{Installer, Tool, installer, installers};

/// Set up your tools to call Baton on their own: MCP server and session hooks
///
/// Shows what would change and asks first. Everything already in the files stays as it is, including comments and
/// order; --uninstall restores them byte for byte. Without a tool, lists the tools found here and what is installed.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Tools: claude, codex, gemini, copilot, cursor, opencode, kilo, qwen, kimi, droid, …
    #[arg(value_name = "TOOL", conflicts_with = "all")]
    tools: Vec<String>,
    /// Set up every tool found on this machine
    #[arg(long)]
    all: bool,
    /// Remove the entries again
    #[arg(long)]
    uninstall: bool,
    /// Show what would change without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Install for you in every project, or for this project in its repository
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: InstallScope,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InstallScope {
    User,
    Project,
}

impl From<InstallScope> for Scope {
    fn from(reach: InstallScope) -> Self {
        match reach {
            InstallScope::User => Self::User,
            InstallScope::Project => Self::Project,
        }
    }
}

/// The work for one tool: its plan, or why there is none.
struct ToolJob {
    installer: Installer,
    plan: Result<Plan, Refusal>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let places = places(app, args.scope.into())?;
    if args.tools.is_empty() && !args.all {
        return overview(&args, &places, app);
    }
    let record_file = app.config.data_dir.join("installed.json");
    let mut record = Record::read(&record_file);
    let jobs = jobs(&args, &places, &record)?;
    if let ([ToolJob { plan: Err(refusal), .. }], false) = (jobs.as_slice(), args.all) {
        return Err(refusal.clone().into());
    }
    let whole = Plan {
        changes: jobs
            .iter()
            .filter_map(|job| job.plan.as_ref().ok())
            .flat_map(|p| p.changes.clone())
            .collect(),
        remarks: Vec::new(),
        adds: !args.uninstall,
    };
    let diff = whole.diff();
    let confirm = !whole.changes.is_empty() && !args.dry_run && !args.yes;
    if confirm {
        ask(app, &diff, "look with --dry-run, then say --yes")?;
    }
    if !args.dry_run {
        install::apply::apply(&whole, &mut record, &record_file)?;
        if args.uninstall {
            install::apply::forget(&whole, &mut record, &record_file)?;
        }
    }
    let installed = InstallOutput {
        uninstall: args.uninstall,
        dry_run: args.dry_run,
        changed: !whole.changes.is_empty() && !args.dry_run,
        tools: jobs.iter().map(|job| job.outcome(&args)).collect(),
        diff,
    };
    app.show(&installed, |installed| text(installed, confirm))?;
    if jobs.iter().any(|job| job.plan.is_err()) { Err(AppError::Reported) } else { Ok(()) }
}

/// Where things are; for a project, files name the program and not its place on one machine.
pub(super) fn places(app: &App, scope: Scope) -> Result<Places, AppError> {
    let config = &app.config;
    let own = config::own_program(&config.vars).ok_or_else(|| anyhow::anyhow!("this program has no path"))?;
    let cwd = config.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let path = config.vars.get("PATH").map(String::as_str).unwrap_or_default();
    let mut places = Places {
        home: config.home.clone(),
        project: crate::git::root(&cwd).unwrap_or(cwd),
        vars: config.vars.clone(),
        search_path: std::env::split_paths(path).collect(),
        macos: cfg!(target_os = "macos"),
        baton: own.display().to_string(),
    };
    if scope == Scope::Project && places.has_program("baton") {
        places.baton = "baton".to_owned();
    }
    Ok(places)
}

fn jobs(args: &Args, places: &Places, record: &Record) -> Result<Vec<ToolJob>, Refusal> {
    let scope = args.scope.into();
    let mut chosen: Vec<Installer> = Vec::new();
    for name in &args.tools {
        let named = installer(name).ok_or_else(|| unknown_refusal(name))?;
        if (named.install.wants)(places, scope).is_none() {
            return Err(no_scope_refusal(named.tool));
        }
        if !chosen.iter().any(|known| known.tool.id == named.tool.id) {
            chosen.push(named);
        }
    }
    if args.all {
        // What is to go is looked for everywhere: its tool may be gone already.
        let wanted = |one: &Installer| args.uninstall || places.is_installed(one);
        chosen.extend(installers().filter(wanted).filter(|one| (one.install.wants)(places, scope).is_some()));
    }
    let job = |installer: Installer| {
        let wants = (installer.install.wants)(places, scope).unwrap_or_default();
        let is_packaged = install::package::is_packaged(places, installer.install);
        let plan = match args.uninstall {
            true => take_out(&wants, record),
            false if is_packaged => Ok(install::package::nothing_to_add(installer.tool.title)),
            false => put_in(&wants, record),
        };
        let settled = plan.map(|mut plan| {
            plan.drop_unchanged();
            plan
        });
        ToolJob { installer, plan: settled }
    };
    Ok(chosen.into_iter().map(job).collect())
}

fn unknown_refusal(name: &str) -> Refusal {
    let known: Vec<&str> = installers().map(|one| one.tool.id).collect();
    let name = baton_model::id::visible(name);
    let what = match baton_tools::by_name(&name) {
        Some(tool) => format!("{} has no place for a server or a hook that is known", tool.title),
        None => format!("there is no tool `{name}`"),
    };
    let near = suggestions(&name, known.iter().copied());
    let all = known.join(", ");
    let hint = match near.as_slice() {
        [] => format!("use one of {all}"),
        near => format!("did you mean {}? There are {all}", near.join(" or ")),
    };
    Refusal::invalid("agent_unknown", what, hint)
}

fn no_scope_refusal(tool: &Tool) -> Refusal {
    let what = format!("{} keeps nothing of this in a project", tool.title);
    Refusal::invalid("install_scope", what, "leave out --scope, which installs for you in every project")
}

/// What `baton install` answers.
#[derive(Serialize)]
struct InstallOutput<'a> {
    uninstall: bool,
    dry_run: bool,
    changed: bool,
    tools: Vec<Outcome<'a>>,
    diff: String,
}

/// What became of one tool.
#[derive(Serialize)]
struct Outcome<'a> {
    agent: &'a str,
    title: &'a str,
    #[serde(flatten)]
    result: ToolResult<'a>,
}

/// What was changed for a tool, or why nothing was.
#[derive(Serialize)]
#[serde(untagged)]
enum ToolResult<'a> {
    Refused {
        #[serde(serialize_with = "as_json")]
        error: &'a Refusal,
    },
    Done {
        files: BTreeMap<String, &'static str>,
        remarks: Vec<&'a str>,
    },
}

fn as_json<S: Serializer>(refusal: &Refusal, serializer: S) -> Result<S::Ok, S::Error> {
    refusal.to_json().serialize(serializer)
}

impl Outcome<'_> {
    /// Whether nothing was changed for it, and nothing is to be said of it.
    fn is_untouched(&self) -> bool {
        matches!(&self.result, ToolResult::Done { files, remarks } if files.is_empty() && remarks.is_empty())
    }
}

impl ToolJob {
    fn outcome(&self, args: &Args) -> Outcome<'_> {
        let result = match &self.plan {
            Err(error) => ToolResult::Refused { error },
            Ok(plan) => {
                let remark =
                    Some(self.installer.install.remark).filter(|text| !text.is_empty() && !args.uninstall);
                let remarks = plan.remarks.iter().map(String::as_str).chain(remark).collect();
                ToolResult::Done { files: actions(plan), remarks }
            }
        };
        let Tool { id, title, .. } = self.installer.tool;
        Outcome { agent: id, title, result }
    }
}

/// Shows what would change and asks; where no user can be asked, it refuses with this hint.
pub(super) fn ask(app: &App, diff: &str, hint: &'static str) -> Result<(), AppError> {
    let what = "files of other tools would change, and there is nobody to ask";
    let unanswerable = ("install_needs_yes", what, hint);
    let question = "Change these files?";
    Confirmation { diff, question, unanswerable, declined: "install_declined" }.ask(app)
}

fn text(installed: &InstallOutput<'_>, confirm: bool) -> String {
    let mut text = if confirm { String::new() } else { render::block(&installed.diff) };
    let untouched = installed.tools.iter().filter(|tool| installed.uninstall && tool.is_untouched()).count();
    // Of several, those are named in which something was.
    let is_named =
        |tool: &&Outcome<'_>| installed.tools.len() == 1 || !(installed.uninstall && tool.is_untouched());
    for tool in installed.tools.iter().filter(is_named) {
        let title = visible(tool.title);
        let (files, remarks) = match &tool.result {
            ToolResult::Refused { error } => {
                let (message, hint) = (visible(&error.message), visible(&error.hint));
                text.push_str(&format!("{title}: {message}\n  hint: {hint}\n"));
                continue;
            }
            ToolResult::Done { files, remarks } => (files.len(), remarks),
        };
        let by_hand = remarks.iter().any(|remark| remark.contains("by hand"));
        let outcome = match (files, installed.dry_run, installed.uninstall) {
            (0, ..) if by_hand => "nothing changed".to_owned(),
            (0, _, false) => "nothing to change, it is installed".to_owned(),
            (0, _, true) => "nothing of ours is there".to_owned(),
            (_, true, _) => format!("would change {}", many(files)),
            (_, _, true) => format!("uninstalled, {} changed", many(files)),
            (_, _, false) => format!("installed, {} changed", many(files)),
        };
        text.push_str(&format!("{title}: {outcome}\n"));
        for line in remarks.iter().flat_map(|remark| remark.lines()) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    if installed.tools.is_empty() {
        text.push_str("none of the tools that Baton knows was found\n");
    }
    if installed.tools.len() > 1 && untouched > 0 {
        let rest = if untouched < installed.tools.len() { "other " } else { "" };
        text.push_str(&format!("nothing of Baton's is there for {untouched} {rest}tools\n"));
    }
    text
}

fn many(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// Which tools are here, and what is installed.
fn overview(args: &Args, places: &Places, app: &App) -> Result<(), AppError> {
    if args.uninstall || args.yes {
        let found: Vec<&str> =
            installers().filter(|one| places.is_installed(one)).map(|one| one.tool.id).collect();
        let hint = format!("name tools, or say --all; found here: {}", found.join(", "));
        return Err(Refusal::invalid("install_which", "no tool was named", hint).into());
    }
    app.show(&Overview { tools: report(places, &app.config.ledger()) }, |overview| {
        let mut text = render::table(&overview.tools.iter().map(row).collect::<Vec<_>>());
        if text.is_empty() {
            text.push_str("none of the tools that Baton knows was found\n");
        }
        text + "`baton install TOOL` or `baton install --all` shows what it would change, and asks\n"
    })
}

/// What `baton install` answers without a tool.
#[derive(Serialize)]
struct Overview {
    tools: Vec<ToolReport>,
}
