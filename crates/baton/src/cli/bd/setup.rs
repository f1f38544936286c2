//! The verbs around the project: registered, kept in step with the file, checked.

use std::path::{Path, PathBuf};

use baton_model::id::{check_project, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::project::{Init, InitInput, Show as ProjectShow, ShowInput as ProjectShowInput};
use baton_ops::task as tasks;
use serde::Serialize;

use super::args::{Dolt, Prime, Setup, Sync};
use super::file::{ExportOptions, beads_file, export, import};
use super::{Out, about, doctor, exclude, human, memory, settings};
use crate::app::LOCK_PATIENCE_AT_BEGINNING;
use crate::cli::beads;
use crate::error::AppError;
use crate::git;
use crate::repo_file::RepoFile;

pub(super) fn run(verb: Setup, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        Setup::Init(args) => {
            if args.stealth {
                exclude::beads_folder(out)?;
            }
            init(args.prefix.or(args.name), args.from_jsonl.flatten(), out)
        }
        Setup::Bootstrap(args) if args.dry_run => preview(out),
        Setup::Bootstrap(_) => init(None, None, out),
        Setup::Export { output, all, include_memories, .. } => {
            export(output, &ExportOptions { ephemeral: all, memories: all || include_memories }, out)
        }
        Setup::Import { input, path, dry_run } => import(input.or(path), dry_run, out),
        Setup::Sync(args) => sync(&args, out),
        Setup::Dolt { verb } => match verb {
            Dolt::Status => about::where_ledger_is(out),
            Dolt::Push | Dolt::Commit { .. } => sync(&Sync::default(), out),
        },
        Setup::Hooks { verb } => settings::hooks(verb, out),
        Setup::Config { verb } => settings::config(verb, out),
        Setup::Doctor(args) => doctor::doctor(&args, out),
        Setup::Version => about::version(out),
        Setup::Info { whats_new: true, .. } => about::whats_new(out),
        Setup::Info { schema, .. } => about::info(schema, out),
        Setup::Where => about::where_ledger_is(out),
        Setup::Ping => about::ping(out),
        Setup::Prime(args) => prime(&args, out),
        Setup::Onboard => out.text(about::ONBOARD),
        Setup::Quickstart | Setup::Human { verb: None } => out.text(about::QUICKSTART),
        Setup::Human { verb: Some(verb) } => human::run(verb, out),
        Setup::Completion { shell } => about::completion(shell),
        Setup::Help { command, all } => about::help(&command, all),
    }
}

/// A project that was registered.
#[derive(Serialize)]
struct InitOutput {
    project_id: String,
    prefix: String,
    database: String,
    imported: usize,
}

fn init(prefix: Option<String>, from: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    if let Some(prefix) = &prefix {
        refuse_foreign(prefix, out)?;
    }
    let prefix = match prefix {
        Some(prefix) => Some(prefix),
        None => prefix_of_issues(out)?,
    };
    let remote = out.app.config.cwd.as_deref().and_then(git::remote);
    let input = InitInput { id: prefix, remote, identity: out.identity(), ..InitInput::default() };
    let made = out.app.run::<Init>(&input).map_err(one_project_per_repository)?;
    let file = from.as_ref().map_or_else(|| beads_file(out), PathBuf::from);
    let imported = match from.is_some() || file.is_file() {
        true => {
            let actor = out.identity();
            let done = beads::import(out.app, &file.display().to_string(), actor.as_deref(), false)?;
            done.created + done.updated
        }
        false => 0,
    };
    let database = out.app.config.ledger();
    let answer =
        InitOutput { prefix: made.project_id.clone(), project_id: made.project_id, database, imported };
    out.print(&answer, |made| {
        let issues = match made.imported {
            0 => String::new(),
            count => format!("  {count} issues are imported\n"),
        };
        format!("✓ Project {} is registered\n{issues}", visible(&made.project_id))
    })?;
    if out.app.config.beads_file.is_some() {
        return Ok(());
    }
    if !file.is_file() {
        out.remark(about::NOT_IN_GIT);
    } else {
        out.remark("the file is not kept in step yet: write `[tasks]` and `mirror = true` into .baton.toml, or call `bd sync`");
    }
    Ok(())
}

/// A second prefix in a repository is refused; folders of one repository are told apart by labels.
fn one_project_per_repository(error: AppError) -> AppError {
    match error {
        AppError::Refused(refusal) if refusal.code == "folder_taken" => {
            let hint = format!(
                "a repository is one project: tell its parts apart by labels, `bd create TITLE -l backend` and `bd list \
                 --label backend`. {}",
                refusal.hint
            );
            Refusal { hint, ..refusal }.into()
        }
        other => other,
    }
}

/// What `bd bootstrap` would do.
#[derive(Serialize)]
struct Preview {
    prefix: Option<String>,
    issues_file: Option<String>,
    dry_run: bool,
}

fn preview(out: &mut Out<'_>) -> Result<(), AppError> {
    let known = out.app.run::<ProjectShow>(&ProjectShowInput::default()).ok();
    let prefix = match known {
        Some(known) => Some(known.project.project_id),
        None => prefix_of_issues(out)?,
    };
    let file = beads_file(out);
    let issues_file = file.is_file().then(|| file.display().to_string());
    out.print(&Preview { prefix, issues_file, dry_run: true }, |it| {
        let prefix = it.prefix.as_deref().unwrap_or("the name of the folder");
        let file = it.issues_file.as_deref().unwrap_or("no file: there is none");
        format!("Would register {} and import {}\n", visible(prefix), visible(file))
    })
}

/// The answer of a session hook that adds to what an agent knows.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookAnswer {
    hook_specific_output: HookContext,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookContext {
    hook_event_name: &'static str,
    additional_context: String,
}

fn prime(args: &Prime, out: &mut Out<'_>) -> Result<(), AppError> {
    out.app.lock_patience = LOCK_PATIENCE_AT_BEGINNING;
    // A session hook prints it in every folder, and must not fail.
    if let Err(error) = out.app.run::<ProjectShow>(&ProjectShowInput { project: out.project() }) {
        let what = error.to_error().map(|error| error.message).unwrap_or_default();
        out.remark(&format!("{}; `bd init` registers a folder", visible(&what)));
        return Ok(());
    }
    let own = if args.export { None } else { own_prime(out) };
    let usual = if args.mcp && !args.full { about::PRIME_FOR_MCP } else { about::PRIME };
    let text = own.unwrap_or_else(|| usual.to_owned());
    if args.export {
        return out.text(&text);
    }
    let remembered =
        if args.no_memories { String::new() } else { memory::remembered(args.max_memories, out) };
    let text = if args.memories_only { remembered } else { format!("{text}{remembered}") };
    if !args.hook_json {
        return out.text(&text);
    }
    let context = HookContext { hook_event_name: "SessionStart", additional_context: text };
    let answer = HookAnswer { hook_specific_output: context };
    super::write(&format!("{}\n", serde_json::to_string(&answer).map_err(anyhow::Error::from)?))
}

/// The text that the repository has in the place of the usual one.
fn own_prime(out: &mut Out<'_>) -> Option<String> {
    let caller = out.app.caller();
    let root = caller.git_root.or_else(|| caller.folders.first().cloned())?;
    match RepoFile::new(Path::new(&root), ".beads/PRIME.md").text(MAX_PRIME) {
        Ok(text) => text.map(|text| format!("{}\n", text.trim_end())),
        Err(fault) => {
            out.remark(&format!(".beads/PRIME.md is not read: {fault}"));
            None
        }
    }
}

/// The most bytes of a repository's own text.
const MAX_PRIME: u64 = 64 * 1024;

/// The prefix that most issues of the file have, for a folder that has no project yet; none where it is another repository's.
fn prefix_of_issues(out: &mut Out<'_>) -> Result<Option<String>, AppError> {
    let file = beads_file(out);
    if !file.is_file() || out.app.run::<ProjectShow>(&ProjectShowInput::default()).is_ok() {
        return Ok(None);
    }
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for line in std::fs::read_to_string(&file)?.lines().take(MAX_LINES) {
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
const MAX_LINES: usize = 2000;

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
        Err(error) => return Err(error),
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
struct SyncOutput {
    path: String,
    created: usize,
    updated: usize,
    tasks: usize,
}

/// Takes in what the file has, then writes it, as far as the options ask for it. git carries it to others. The file is never written
/// before it is read: what others have put there would be lost.
fn sync(args: &Sync, out: &mut Out<'_>) -> Result<(), AppError> {
    let file = beads_file(out);
    let path = file.display().to_string();
    let (is_dry, only_reads) = (args.dry_run || args.status, args.import_only);
    let actor = out.identity();
    if is_dry || only_reads {
        let (mut created, mut updated) = (0, 0);
        if file.is_file() {
            let done = beads::import(out.app, &path, actor.as_deref(), is_dry)?;
            beads::remark_findings(out.app, &done);
            (created, updated) = (done.created, done.updated);
        }
        let input = tasks::BeadsExportInput {
            project: out.project(),
            only_ids: true,
            ..tasks::BeadsExportInput::default()
        };
        let tasks = out.app.run::<tasks::BeadsExport>(&input)?.ids.len();
        let answer = SyncOutput { path, created, updated, tasks };
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
    let answer = SyncOutput { path: exported.path, created, updated, tasks: exported.tasks };
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
