//! `baton install`

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use baton_model::refusal::Refusal;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::config;
use crate::error::Ended;
use crate::install::change::{Plan, actions, put_in, take_out};
use crate::install::check::standing;
use crate::install::record::Record;
use crate::install::{self, ALL, InstallPart, Places, Scope, Tool};
use crate::render;

/// Let your tools call Baton by themselves: MCP server and session hooks
///
/// Shows what would change and asks. What stands in the files stays as it is, comments and order too; --uninstall gives
/// them back byte for byte. Without a tool it says which tools are here and what is installed.
#[derive(clap::Args)]
pub struct Args {
    /// Tools: claude, codex, gemini, copilot, cursor, opencode, kilo, qwen, kimi, droid, …
    #[arg(value_name = "TOOL", conflicts_with = "all")]
    tools: Vec<String>,
    /// Every tool found on this machine
    #[arg(long)]
    all: bool,
    /// Take the entries out again
    #[arg(long)]
    uninstall: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// For you in every project, or for this project in its repository
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    scope: Reach,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reach {
    User,
    Project,
}

impl From<Reach> for Scope {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::User => Self::User,
            Reach::Project => Self::Project,
        }
    }
}

/// What is to be done with one tool.
struct Job {
    tool: &'static Tool,
    plan: Result<Plan, Refusal>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let places = places(app, args.scope.into())?;
    if args.tools.is_empty() && !args.all {
        return overview(&args, &places, app);
    }
    let kept = app.config.data_dir.join("installed.json");
    let mut record = Record::read(&kept);
    let jobs = jobs(&args, &places, &record)?;
    if let ([Job { plan: Err(refusal), .. }], false) = (jobs.as_slice(), args.all) {
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
    let asked = !whole.changes.is_empty() && !args.dry_run && !args.yes;
    if asked {
        ask(app, &diff)?;
    }
    if !args.dry_run {
        install::apply::apply(&whole, &mut record, &kept)?;
        if args.uninstall {
            install::apply::forget(&whole, &mut record, &kept)?;
        }
    }
    let answer = json!({
        "uninstall": args.uninstall,
        "dry_run": args.dry_run,
        "changed": !whole.changes.is_empty() && !args.dry_run,
        "tools": jobs.iter().map(|job| job.to_json(&args)).collect::<Vec<_>>(),
        "diff": diff,
    });
    app.answer(&answer, |a| text(a, asked))?;
    if jobs.iter().any(|job| job.plan.is_err()) { Err(Ended::Told) } else { Ok(()) }
}

/// Where things are; for a project, files name the program and not its place on one machine.
pub fn places(app: &App, scope: Scope) -> Result<Places, Ended> {
    let config = &app.config;
    let own = config::own_program(&config.vars).ok_or_else(|| anyhow::anyhow!("this program has no path"))?;
    let cwd = config.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut places = Places {
        home: config.home.clone(),
        project: crate::git::root(&cwd).unwrap_or(cwd),
        vars: config.vars.clone(),
        macos: cfg!(target_os = "macos"),
        baton: own.display().to_string(),
    };
    if scope == Scope::Project && places.has_program("baton") {
        places.baton = "baton".to_owned();
    }
    Ok(places)
}

fn jobs(args: &Args, places: &Places, record: &Record) -> Result<Vec<Job>, Refusal> {
    let scope = args.scope.into();
    let mut chosen: Vec<&'static Tool> = Vec::new();
    for name in &args.tools {
        let tool = install::by_name(name).ok_or_else(|| unknown(name))?;
        if (tool.wants)(places, scope).is_none() {
            return Err(no_scope(tool));
        }
        if !chosen.iter().any(|known| known.id == tool.id) {
            chosen.push(tool);
        }
    }
    if args.all {
        // What is to go is looked for everywhere: its tool may be gone already.
        let wanted = |tool: &&&'static Tool| args.uninstall || places.is_installed(tool);
        chosen.extend(ALL.iter().filter(wanted).filter(|tool| (tool.wants)(places, scope).is_some()));
    }
    let job = |tool: &'static Tool| {
        let wants = (tool.wants)(places, scope).unwrap_or_default();
        let plan = if args.uninstall { take_out(&wants, record) } else { put_in(&wants, record) };
        let settled = plan.map(|mut plan| {
            plan.settle();
            plan
        });
        Job { tool, plan: settled }
    };
    Ok(chosen.into_iter().map(job).collect())
}

fn unknown(name: &str) -> Refusal {
    let known: Vec<&str> = ALL.iter().map(|tool| tool.id).collect();
    let name = baton_model::id::visible(name);
    let what = match baton_transcripts::by_name(&name) {
        Some(format) => format!("{} has no place for a server or a hook that is known", format.title()),
        None => format!("there is no tool `{name}`"),
    };
    Refusal::invalid("agent_unknown", what, format!("use one of {}", known.join(", ")))
}

fn no_scope(tool: &Tool) -> Refusal {
    let what = format!("{} keeps nothing of this in a project", tool.title);
    Refusal::invalid("install_scope", what, "leave out --scope, which installs for you in every project")
}

impl Job {
    fn to_json(&self, args: &Args) -> Value {
        let mut answer = json!({ "agent": self.tool.id, "title": self.tool.title });
        match &self.plan {
            Err(refusal) => answer["error"] = refusal.to_json(),
            Ok(plan) => {
                answer["files"] = json!(actions(plan));
                let remark = Some(self.tool.remark).filter(|text| !text.is_empty() && !args.uninstall);
                let remarks = plan.remarks.iter().map(String::as_str).chain(remark);
                answer["remarks"] = remarks.collect();
            }
        }
        answer
    }
}

fn ask(app: &App, diff: &str) -> Result<(), Ended> {
    let mut err = std::io::stderr();
    if app.format != Format::Text || !std::io::stdin().is_terminal() || !err.is_terminal() {
        let what = "files of other tools would change, and there is nobody to ask";
        return Err(Refusal::new(
            baton_model::refusal::Kind::Refused,
            "install_needs_yes",
            what,
            "look with --dry-run, then say --yes",
        )
        .with("diff", diff)
        .into());
    }
    write!(err, "{}\nChange these files? [y/N] ", render::for_terminal(diff, false))?;
    err.flush()?;
    let mut said = String::new();
    std::io::stdin().read_line(&mut said)?;
    if matches!(said.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    let hint = "nothing was changed; ask again when you like";
    Err(Refusal::new(baton_model::refusal::Kind::Refused, "install_declined", "you said no", hint).into())
}

fn text(answer: &Value, asked: bool) -> String {
    let mut text = if asked { String::new() } else { render::text_lines(answer, "diff") };
    for tool in render::list(answer, "tools") {
        let title = render::text(tool, "title");
        if let Some(error) = tool.get("error") {
            text.push_str(&format!(
                "{title}: {}\n  hint: {}\n",
                render::text(error, "message"),
                render::text(error, "hint")
            ));
            continue;
        }
        let files = tool["files"].as_object().cloned().unwrap_or_default();
        let by_hand =
            render::list(tool, "remarks").iter().any(|r| r.as_str().is_some_and(|r| r.contains("by hand")));
        let said = match (files.is_empty(), answer["dry_run"] == true, answer["uninstall"] == true) {
            (true, ..) if by_hand => "nothing changed".to_owned(),
            (true, _, false) => "nothing to change, it is installed".to_owned(),
            (true, _, true) => "nothing of ours is there".to_owned(),
            (_, true, _) => format!("would change {}", many(files.len())),
            (_, _, true) => format!("uninstalled, {} changed", many(files.len())),
            (_, _, false) => format!("installed, {} changed", many(files.len())),
        };
        text.push_str(&format!("{title}: {said}\n"));
        for remark in render::list(tool, "remarks").iter().filter_map(Value::as_str) {
            remark.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
    }
    if render::list(answer, "tools").is_empty() {
        text.push_str("none of the tools that Baton knows was found\n");
    }
    text
}

fn many(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// Which tools are here, and what is installed.
fn overview(args: &Args, places: &Places, app: &App) -> Result<(), Ended> {
    if args.uninstall || args.yes {
        let found: Vec<&str> =
            ALL.iter().filter(|tool| places.is_installed(tool)).map(|tool| tool.id).collect();
        let hint = format!("name tools, or say --all; found here: {}", found.join(", "));
        return Err(Refusal::invalid("install_which", "no tool was named", hint).into());
    }
    let answer = json!({ "tools": report(places) });
    app.answer(&answer, |a| {
        let rows = render::list(a, "tools").iter().map(row);
        let mut text = render::table(&rows.collect::<Vec<_>>());
        if text.is_empty() {
            text.push_str("none of the tools that Baton knows was found\n");
        }
        text + "`baton install TOOL` or `baton install --all` shows what it would change, and asks\n"
    })
}

/// A tool in the overview, and in the doctor's report.
pub fn row(tool: &Value) -> Vec<String> {
    let cell = |part: &str| format!("{part} {}", render::text(tool, part));
    vec![render::text(tool, "agent"), cell("mcp"), cell("hooks"), render::text(tool, "hint")]
}

/// How the installation of every tool that is found here stands.
pub fn report(places: &Places) -> Vec<Value> {
    use install::check::InstallState;
    let hint = |tool: &Tool, one: &InstallState, other: &InstallState| match (one, other) {
        (InstallState::Broken(what), _) | (_, InstallState::Broken(what)) => format!("mend the file: {what}"),
        (InstallState::Dangling(program), _) | (_, InstallState::Dangling(program)) => {
            format!("{program} is not there: run `baton install {}`", tool.id)
        }
        (InstallState::Absent | InstallState::Partial, _)
        | (_, InstallState::Absent | InstallState::Partial) => {
            format!("run `baton install {}`", tool.id)
        }
        _ => String::new(),
    };
    let line = |tool: &&Tool| {
        let (mcp, hooks) =
            (standing(places, tool, InstallPart::Mcp), standing(places, tool, InstallPart::Hooks));
        json!({
            "agent": tool.id, "title": tool.title, "mcp": mcp.as_str(), "hooks": hooks.as_str(),
            "hint": hint(tool, &mcp, &hooks),
        })
    };
    ALL.iter().copied().filter(|tool| places.is_installed(tool)).map(|tool| line(&tool)).collect()
}
