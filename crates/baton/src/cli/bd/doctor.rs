//! `bd doctor`: whether all is well, and which command mends what is not.

use std::path::PathBuf;

use baton_model::accounting::plural;
use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_ops::task::{self as tasks, CyclesInput, StatsInput};
use serde::Serialize;

use super::args::{Area, Doctor};
use super::file::beads_file;
use super::list::Selection;
use super::{Out, about, duplicates, graph, report};
use crate::cli::beads;
use crate::error::AppError;
use crate::repo_file::RepoFile;

/// Default checks.
const USUAL: [Area; 4] = [Area::Database, Area::Cycles, Area::Duplicates, Area::File];
/// What `--deep` looks at as well.
const DEEP: [Area; 4] = [Area::Conventions, Area::Pollution, Area::Dependencies, Area::Artifacts];
/// How the titles of issues begin that tests leave behind.
const TEST_TITLES: [&str; 7] = ["test ", "test-", "test_", "benchmark", "sample ", "dummy", "temp "];

/// A check and what it found.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    status: &'static str,
    message: String,
    /// The command that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
}

impl Check {
    fn ok(name: &'static str, message: String) -> Self {
        Self { name, status: "ok", message, fix: None }
    }

    /// A check that counts what is wrong.
    fn counted(name: &'static str, count: usize, what: &str, fix: &'static str) -> Self {
        let (status, fix) = if count == 0 { ("ok", None) } else { ("warning", Some(fix)) };
        Self { name, status, message: format!("{count} {what}"), fix }
    }
}

#[derive(Serialize)]
struct Diagnosis {
    path: String,
    overall_ok: bool,
    checks: Vec<Check>,
    /// What `--fix` has done or would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<Vec<String>>,
    cli_version: &'static str,
}

impl Diagnosis {
    fn text(&self) -> String {
        let line = |check: &Check| {
            let fix = check.fix.map(|fix| format!("    {fix}\n")).unwrap_or_default();
            format!("{}: {} ({})\n{fix}", check.name, check.status, visible(&check.message))
        };
        let fixed = match self.fixed.as_deref() {
            None => String::new(),
            Some([]) => "There is nothing to mend without you.\n".to_owned(),
            Some(fixed) => fixed.iter().map(|fixed| format!("{}\n", visible(fixed))).collect(),
        };
        let checks: String = self.checks.iter().map(line).collect();
        format!("{checks}{fixed}`baton doctor` checks store, hooks and tools.\n")
    }
}

/// What there is to say of a word behind the verb.
pub(super) fn refusal(args: &Doctor) -> Option<Refusal> {
    let what = format!("`{}` is no option of bd doctor", visible(args.folder.first()?));
    Some(Refusal::invalid("not_supported", what, "`bd -C FOLDER doctor` checks another folder"))
}

pub(super) fn doctor(args: &Doctor, out: &mut Out<'_>) -> Result<(), AppError> {
    let fixed = match args.fix || args.dry_run {
        true => Some(mend(args.dry_run, out)?),
        false => None,
    };
    let areas: Vec<Area> = match args.check {
        None | Some(Area::Validate) if !args.deep => USUAL.to_vec(),
        None | Some(Area::Validate) => USUAL.into_iter().chain(DEEP).collect(),
        Some(area) => vec![area],
    };
    let mut checks = Vec::new();
    for area in areas {
        checks.push(check(area, out)?);
    }
    let overall_ok = checks.iter().all(|check| check.status == "ok");
    let path = out.app.config.cwd.clone().unwrap_or_else(|| PathBuf::from(".")).display().to_string();
    let answer = Diagnosis { path, overall_ok, checks, fixed, cli_version: about::BEADS };
    if let Some(file) = &args.output {
        let text = serde_json::to_string_pretty(&answer).map_err(anyhow::Error::from)?;
        RepoFile::from_user_path(&PathBuf::from(file))
            .replace(&format!("{text}\n"))
            .map_err(std::io::Error::from)?;
    }
    if args.check_health && answer.overall_ok && !out.json {
        return Ok(());
    }
    out.print(&answer, Diagnosis::text)
}

fn check(area: Area, out: &mut Out<'_>) -> Result<Check, AppError> {
    Ok(match area {
        Area::Validate | Area::Database => {
            let figures =
                out.app.run::<tasks::Stats>(&StatsInput { project: out.project(), durable: true })?.summary;
            let issues = plural(usize::try_from(figures.total_issues).unwrap_or(0), "issue");
            Check::ok("Database", format!("{} {issues} can be read", figures.total_issues))
        }
        Area::Cycles => {
            let cycles = out.app.run::<tasks::Cycles>(&CyclesInput { project: out.project() })?.items.len();
            let fix = "`bd dep cycles` shows them; `bd dep remove ID ON` takes one dependency of each away";
            Check::counted("Dependency Cycles", cycles, &plural(cycles, "cycle"), fix)
        }
        Area::Duplicates => {
            let count = duplicates::count(out)?;
            let what = match count {
                1 => "group of issues has the same content",
                _ => "groups of issues have the same content",
            };
            let fix = "`bd duplicates` shows them; `bd duplicates --auto-merge` closes all but one of each";
            Check::counted("Duplicate Issues", count, what, fix)
        }
        Area::File => file(out),
        Area::Artifacts => artifacts(out),
        Area::Conventions => {
            let (issues, _) = Selection::all_open(out).find(out)?;
            let lacking =
                |row: &&tasks::Row| !report::missing_sections(&row.task.issue_type, &row.task).is_empty();
            let count = issues.iter().filter(lacking).count();
            let what = if count == 1 { "issue lacks a section" } else { "issues lack a section" };
            Check::counted("Conventions", count, what, "`bd lint` names them")
        }
        Area::Pollution => {
            let (issues, _) = Selection::all_open(out).find(out)?;
            let is_test = |row: &&tasks::Row| {
                let title = row.task.title.to_lowercase();
                TEST_TITLES.iter().any(|begin| title.starts_with(begin))
            };
            let count = issues.iter().filter(is_test).count();
            let fix = "`bd list --title-contains test` names them; `bd delete ID --force` deletes one";
            Check::counted("Test Pollution", count, "open issues look as if a test had made them", fix)
        }
        Area::Dependencies => {
            let count = graph::missing_targets(out)?.len();
            let fix = "`bd graph check` names them; `bd dep remove ID ON` takes one away";
            Check::counted("Missing Dependencies", count, "dependencies lead to nothing", fix)
        }
    })
}

/// Status of the Beads file.
fn file(out: &mut Out<'_>) -> Check {
    let is_mirrored = out.app.config.beads_file.is_some();
    let path = beads_file(out);
    match (is_mirrored, path.is_file()) {
        (true, true) => Check::ok("Issues File", format!("commands keep {} in step", path.display())),
        (true, false) => Check {
            name: "Issues File",
            status: "warning",
            message: format!("{} is missing", path.display()),
            fix: Some("`bd doctor --fix` or `bd sync` writes it"),
        },
        (false, _) => Check::ok("Issues File", "no file is kept in step; `bd sync` writes it".to_owned()),
    }
}

/// Files that versions of Beads before 1.0 keep in `.beads`, by name and by ending.
const ARTIFACTS: [&str; 14] = [
    "beads.jsonl",
    "beads.base.jsonl",
    "beads.left.jsonl",
    "beads.right.jsonl",
    "beads.base.meta.json",
    "sync_base.jsonl",
    "deletions.jsonl",
    "bd.sock",
    "daemon.lock",
    "daemon.log",
    "daemon.pid",
    "daemon-error",
    ".local_version",
    "export_hashes.db",
];
const DATABASES: [&str; 4] = [".db", ".db-wal", ".db-shm", ".db-journal"];

/// What versions of Beads before 1.0 have left beside the file. Nothing of it is read or removed here.
fn artifacts(out: &mut Out<'_>) -> Check {
    let path = beads_file(out);
    let folder = RepoFile::from_user_path(&path).folder(false).ok().flatten();
    let names = folder.map(|folder| folder.names()).unwrap_or_default();
    let is_left = |name: &String| {
        ARTIFACTS.contains(&name.as_str()) || DATABASES.iter().any(|ending| name.ends_with(ending))
    };
    let names = names.into_iter().map(|name| name.to_string_lossy().into_owned());
    let mut left: Vec<String> = names.filter(is_left).collect();
    left.sort();
    let place = path.parent().unwrap_or(&path).display().to_string();
    let what = match left.len() {
        0 => "files of earlier versions of Beads".to_owned(),
        _ => format!("files of earlier versions of Beads in {place}: {}", left.join(", ")),
    };
    let fix = "nothing here reads them: look whether `bd list --all` has every issue of an old database, then remove them (`git rm`, `rm`)";
    Check::counted("Classic Artifacts", left.len(), &what, fix)
}

/// Brings the file in step where it is to be kept so; what was done, or would be.
fn mend(is_dry: bool, out: &mut Out<'_>) -> Result<Vec<String>, AppError> {
    let path = beads_file(out);
    if out.app.config.beads_file.is_none() || path.is_file() {
        return Ok(Vec::new());
    }
    let path = path.display().to_string();
    if is_dry {
        return Ok(vec![format!("{path} would be written")]);
    }
    let actor = out.identity();
    beads::sync(out.app, &path, actor.as_deref())?;
    Ok(vec![format!("{path} was written")])
}
