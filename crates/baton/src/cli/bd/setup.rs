//! The verbs around the project: registered, kept in step with the file, checked.

use std::path::PathBuf;

use baton_model::id::{check_project, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::project::{Init, InitInput, Show as ProjectShow, ShowInput as ProjectShowInput};
use baton_ops::task::{self as tasks, CyclesInput, StatsInput};
use serde::Serialize;

use super::args::{ConfigVerb, Dolt, HooksVerb, Setup};
use super::file::{export, import, issues_file};
use super::{Out, about, memory, report};
use crate::cli::{beads, merge_driver};
use crate::error::AppError;
use crate::git;

pub(super) fn run(verb: Setup, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        Setup::Init { prefix, rest } => init(prefix.or_else(|| option(&rest, "--prefix", "-p")), out),
        Setup::Export { output, .. } => export(output, out),
        Setup::Import { input, path, dry_run } => import(input.or(path), dry_run, out),
        Setup::Sync { rest } => sync(&rest, out),
        Setup::Dolt { verb } => match verb {
            Dolt::Status => about::place(out),
            Dolt::Pull | Dolt::Push | Dolt::Commit { .. } => sync(&[], out),
        },
        Setup::Hooks { verb } => hooks(verb, out),
        Setup::Config { verb } => config(verb, out),
        Setup::Doctor { .. } => doctor(out),
        Setup::Version => about::version(out),
        Setup::Info { .. } => about::info(out),
        Setup::Where => about::place(out),
        Setup::Ping => about::ping(out),
        Setup::Prime { .. } => {
            let remembered = memory::remembered(out);
            out.text(&format!("{}{remembered}", about::PRIME))
        }
        Setup::Onboard => out.text(about::ONBOARD),
        Setup::Quickstart | Setup::Human => out.text(about::QUICKSTART),
        Setup::Completion { shell } => about::completion(shell),
        Setup::Help { command, all } => about::help(&command, all),
    }
}

/// The value of an option among words that are not looked at otherwise.
fn option(words: &[String], long: &str, short: &str) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == long || word == short {
            return words.next().cloned();
        }
        if let Some(value) = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')) {
            return Some(value.to_owned());
        }
    }
    None
}

/// A project that was registered.
#[derive(Serialize)]
struct Registered {
    project_id: String,
    prefix: String,
    database: String,
    imported: usize,
}

fn init(prefix: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    if let Some(prefix) = &prefix {
        refuse_foreign(prefix, out)?;
    }
    let prefix = match prefix {
        Some(prefix) => Some(prefix),
        None => prefix_of_issues(out)?,
    };
    let remote = out.app.config.cwd.as_deref().and_then(git::remote);
    let input = InitInput { id: prefix, remote, identity: out.identity(), ..InitInput::default() };
    let made = out.app.run::<Init>(&input)?;
    let file = issues_file(out);
    let imported = match file.is_file() {
        true => {
            let actor = out.identity();
            let done = beads::import(out.app, &file.display().to_string(), actor.as_deref(), false)?;
            done.created + done.updated
        }
        false => 0,
    };
    let database = out.app.config.ledger();
    let answer =
        Registered { prefix: made.project_id.clone(), project_id: made.project_id, database, imported };
    out.print(&answer, |made| {
        let issues = match made.imported {
            0 => String::new(),
            count => format!("  {count} issues of .beads/issues.jsonl are imported\n"),
        };
        format!("✓ Project {} is registered\n{issues}", visible(&made.project_id))
    })?;
    if file.is_file() && out.app.config.tasks_mirror.is_none() {
        out.remark("the file is not kept in step yet: write `[tasks]` and `mirror = true` into .baton.toml, or call `bd sync`");
    }
    Ok(())
}

/// The prefix that most issues of the file have, for a folder that has no project yet; none where it is another repository's.
fn prefix_of_issues(out: &mut Out<'_>) -> Result<Option<String>, AppError> {
    let file = issues_file(out);
    if !file.is_file() || out.app.run::<ProjectShow>(&ProjectShowInput::default()).is_ok() {
        return Ok(None);
    }
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for line in std::fs::read_to_string(&file)?.lines().take(MOST_LINES) {
        let id = serde_json::from_str::<IssueId>(line).map(|issue| issue.id).unwrap_or_default();
        if let Some((prefix, _)) = id.rsplit_once('-').filter(|(prefix, _)| check_project(prefix).is_ok()) {
            *counts.entry(prefix.to_owned()).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(prefix, _)| prefix);
    match most {
        Some(prefix) if refuse_foreign(&prefix, out).is_ok() => Ok(Some(prefix)),
        _ => Ok(None),
    }
}

/// In how many lines of a file its prefix is looked for.
const MOST_LINES: usize = 2000;

/// A line of the file, as far as its prefix goes.
#[derive(serde::Deserialize)]
struct IssueId {
    id: String,
}

/// Refuses a prefix that is another repository's project.
fn refuse_foreign(prefix: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let known = match out.app.run::<ProjectShow>(&ProjectShowInput { project: Some(prefix.to_owned()) }) {
        Ok(known) => known,
        Err(AppError::Refused(_)) => return Ok(()),
        Err(ended) => return Err(ended),
    };
    let caller = out.app.caller();
    let here = caller.git_root.iter().chain(&caller.folders);
    let is_ours = here.clone().any(|folder| known.roots.contains(folder));
    let remote = out.app.config.cwd.as_deref().and_then(git::remote);
    let is_clone = remote.is_some() && remote == known.project.vcs_remote_url;
    if is_ours || is_clone || known.roots.is_empty() {
        return Ok(());
    }
    let what = format!("{} is the project of another folder", visible(prefix));
    let hint = format!(
        "choose another --prefix; if this is a clone of the same repository: baton init --join {}",
        visible(prefix)
    );
    Err(Refusal::new(Kind::Refused, "project_taken", what, hint).into())
}

/// The file and the ledger after they were brought in step.
#[derive(Serialize)]
struct Synced {
    path: String,
    created: usize,
    updated: usize,
    tasks: usize,
}

/// Takes in what the file has, then writes it, as far as the options ask for it. git carries it to others. The file is never written
/// before it is read: what others have put there would be lost.
fn sync(options: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    let file = issues_file(out);
    let path = file.display().to_string();
    let has = |names: &[&str]| options.iter().any(|option| names.contains(&option.as_str()));
    let (is_dry, only_reads) = (has(&["--dry-run", "--status"]), has(&["--import-only"]));
    let actor = out.identity();
    if is_dry || only_reads {
        let (mut created, mut updated) = (0, 0);
        if file.is_file() {
            let done = beads::import(out.app, &path, actor.as_deref(), is_dry)?;
            (created, updated) = (done.created, done.updated);
        }
        let input = tasks::BeadsExportInput {
            project: out.project(),
            only_ids: true,
            ..tasks::BeadsExportInput::default()
        };
        let tasks = out.app.run::<tasks::BeadsExport>(&input)?.ids.len();
        let answer = Synced { path, created, updated, tasks };
        let verb = if is_dry { "would be" } else { "were" };
        return out.print(&answer, |done| {
            format!(
                "{} issues are in the ledger; of {}, {} {verb} new and {} changed. The file is as it was.\n",
                done.tasks,
                visible(&done.path),
                done.created,
                done.updated
            )
        });
    }
    let (taken, exported) = beads::sync(out.app, &path, actor.as_deref())?;
    let (created, updated) = (taken.created, taken.updated);
    let answer = Synced { path: exported.path, created, updated, tasks: exported.tasks };
    out.print(&answer, |done| {
        format!(
            "✓ {} issues are in {}; {} were new, {} changed. Commit and push the file: git carries it.\n",
            done.tasks,
            visible(&done.path),
            done.created,
            done.updated
        )
    })
}

fn hooks(verb: HooksVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        HooksVerb::Install { .. } => merge_driver::set_up(out.app, Some(true)),
        HooksVerb::Uninstall => merge_driver::set_up(out.app, Some(false)),
        HooksVerb::List => merge_driver::set_up(out.app, None),
        // Whatever git wants to have done is done by the commands themselves.
        HooksVerb::Run { .. } => Ok(()),
    }
}

/// A setting under the name that Beads has for it.
#[derive(Serialize)]
struct Setting {
    key: &'static str,
    value: String,
}

fn settings(out: &mut Out<'_>) -> Result<Vec<Setting>, AppError> {
    let project = about::project(out)?;
    let mirror = out.app.config.tasks_mirror.as_ref().map(|file| file.path().display().to_string());
    let actor = out.acting_name()?;
    Ok(vec![
        Setting { key: "issue_prefix", value: project },
        Setting { key: "actor", value: actor },
        Setting { key: "export.auto", value: mirror.is_some().to_string() },
        Setting { key: "export.path", value: mirror.unwrap_or_default() },
        Setting { key: "store", value: out.app.config.ledger() },
    ])
}

fn config(verb: ConfigVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        ConfigVerb::Get { key } => {
            let asked = key.replace('-', "_");
            let found = settings(out)?.into_iter().find(|setting| setting.key == asked);
            let value = found.map(|setting| setting.value).unwrap_or_default();
            let answer = Value { key, value };
            out.print(&answer, |answer| match answer.value.is_empty() {
                true => format!("{} (not set)\n", visible(&answer.key)),
                false => format!("{}\n", visible(&answer.value)),
            })
        }
        ConfigVerb::List => {
            let all = settings(out)?;
            out.print(&all, |all| {
                all.iter().map(|one| format!("{} = {}\n", one.key, visible(&one.value))).collect()
            })
        }
        ConfigVerb::Set { key, .. } | ConfigVerb::Unset { key } => Err(unsettable(&key).into()),
    }
}

/// A setting that was asked for.
#[derive(Serialize)]
struct Value {
    key: String,
    value: String,
}

/// Says where a setting is changed.
fn unsettable(key: &str) -> Refusal {
    let hint = match key {
        "export.auto" | "export.path" | "no-db" => {
            "write `[tasks]` and `mirror = true`, or `mirror = \"PATH\"`, into .baton.toml"
        }
        "issue_prefix" | "issue-prefix" => "the prefix is the project's id, chosen with `bd init --prefix`",
        "types.custom" => "any word is a type here: bd create \"Title\" --type WORD",
        _ => "settings are in .baton.toml and config.toml; `baton config` shows them with their names",
    };
    let what = format!("`{}` is not set by a command", visible(key));
    Refusal::invalid("not_supported", what, hint)
}

/// A check and what it found.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    status: &'static str,
    message: String,
}

#[derive(Serialize)]
struct Diagnosis {
    path: String,
    overall_ok: bool,
    checks: Vec<Check>,
    cli_version: &'static str,
}

fn doctor(out: &mut Out<'_>) -> Result<(), AppError> {
    let check = |name, count: usize, what: &str| Check {
        name,
        status: if count == 0 { "ok" } else { "warning" },
        message: format!("{count} {what}"),
    };
    let figures = out.app.run::<tasks::Stats>(&StatsInput { project: out.project() })?.summary;
    let cycles = out.app.run::<tasks::Cycles>(&CyclesInput { project: out.project() })?.items.len();
    let duplicates = report::duplicate_count(out)?;
    let file = issues_file(out);
    let in_step = file.is_file() && out.app.config.tasks_mirror.is_some();
    let mirror = match in_step {
        true => "commands keep .beads/issues.jsonl in step".to_owned(),
        false => "no file is kept in step; `bd sync` writes it".to_owned(),
    };
    let checks = vec![
        Check {
            name: "Database",
            status: "ok",
            message: format!("{} issues can be read", figures.total_issues),
        },
        check("Dependency Cycles", cycles, "cycles"),
        check("Duplicate Issues", duplicates, "groups of issues have the same content"),
        Check { name: "Issues File", status: "ok", message: mirror },
    ];
    let overall_ok = checks.iter().all(|check| check.status == "ok");
    let path = out.app.config.cwd.clone().unwrap_or_else(|| PathBuf::from(".")).display().to_string();
    let answer = Diagnosis { path, overall_ok, checks, cli_version: about::BEADS };
    out.print(&answer, |found| {
        let line = |check: &Check| format!("{}: {} ({})\n", check.name, check.status, check.message);
        found.checks.iter().map(line).collect::<String>() + "`baton doctor` checks store, hooks and tools.\n"
    })
}
