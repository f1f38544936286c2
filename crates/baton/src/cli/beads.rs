//! `baton import beads`, `baton export beads`, and the file that is kept in step with the tasks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::issues_file::{self, Turn};
use crate::render;

/// Take something in from a file
#[derive(clap::Args)]
pub struct ImportArgs {
    #[command(subcommand)]
    what: Import,
}

#[derive(clap::Subcommand)]
enum Import {
    /// Take tasks in from a Beads file, field by field where both sides have changed
    Beads {
        /// The file, or the folder of the repository or its .beads
        path: String,
        #[command(flatten)]
        who: Who,
        /// Check and count only
        #[arg(long)]
        dry_run: bool,
    },
}

/// Write something out to a file
#[derive(clap::Args)]
pub struct ExportArgs {
    #[command(subcommand)]
    what: Export,
}

#[derive(clap::Subcommand)]
enum Export {
    /// Write the tasks to a Beads file; one that holds what the ledger has not seen is left alone
    Beads {
        /// The file, or the folder of the repository or its .beads
        path: String,
    },
}

pub fn run_import(args: ImportArgs, app: &mut App) -> Result<(), Ended> {
    let Import::Beads { path, who, dry_run } = args.what;
    let answer = import(app, &path, who.identity.as_deref(), dry_run)?;
    app.answer(&answer, |came| {
        let count = |key: &str| came[key].as_u64().unwrap_or(0);
        let would = if dry_run { "would be " } else { "" };
        let mut said = format!(
            "{} tasks {would}new, {} {would}changed, {} as they were\n",
            count("created"),
            count("updated"),
            count("unchanged")
        );
        let others = count("memories") + count("other_lines");
        if others > 0 {
            said.push_str(&format!("{others} other lines are kept as they are\n"));
        }
        for clash in render::list(came, "conflicts") {
            let [id, field, kept] = ["id", "field", "kept"].map(|key| render::text(clash, key));
            let other = if kept == "ours" { "theirs" } else { "ours" };
            said.push_str(&format!(
                "warning: {id} {field} was changed on both sides: {kept} is kept, {other} was {}\n",
                render::text(clash, other)
            ));
        }
        said
    })
}

pub fn run_export(args: ExportArgs, app: &mut App) -> Result<(), Ended> {
    let Export::Beads { path } = args.what;
    let answer = export(app, &path)?;
    app.answer(&answer, |done| {
        format!(
            "{} tasks are in {}, {} lines were changed\n",
            done["tasks"],
            render::text(done, "path"),
            done["changed"]
        )
    })
}

/// The file that is meant by a path to it, to its folder, or to the repository.
fn file(path: &str) -> PathBuf {
    let path = PathBuf::from(path);
    match (path.is_dir(), path.file_name().is_some_and(|name| name == ".beads")) {
        (true, true) => path.join("issues.jsonl"),
        (true, false) => path.join(".beads/issues.jsonl"),
        _ => path,
    }
}

/// Takes the tasks of a file in.
pub fn import(app: &mut App, path: &str, identity: Option<&str>, dry_run: bool) -> Result<Value, Ended> {
    let lines = issues_file::read(&file(path))?;
    let input = json!({ "project": app.project, "identity": identity, "lines": lines, "dry_run": dry_run });
    app.call("beads_import", input)
}

/// Writes the tasks to a file that holds nothing else.
pub fn export(app: &mut App, path: &str) -> Result<Value, Ended> {
    let path = file(path);
    let mut turn = Turn::wait(&path)?;
    let answer = app.call("beads_export", json!({ "project": app.project }))?;
    if !turn.is_ours(&stamp(app, &answer)) {
        let unseen = unseen(&turn.lines()?, &answer);
        if !unseen.is_empty() {
            return Err(would_lose(&path, &unseen).into());
        }
    }
    publish(app, &mut turn, &answer, &path)
}

fn would_lose(path: &Path, unseen: &[(String, String)]) -> Refusal {
    let names: Vec<&str> = unseen.iter().map(|(id, _)| id.as_str()).take(5).collect();
    let more = if unseen.len() > names.len() { ", …" } else { "" };
    Refusal::new(
        Kind::Conflict,
        "export_would_lose",
        format!(
            "{} holds {} lines that the ledger has not seen: {}{more}",
            path.display(),
            unseen.len(),
            names.join(", ")
        ),
        format!("take them in first: `baton import beads {}`", path.display()),
    )
    .with("ids", json!(names))
}

/// Lines of the file that are neither what the ledger would write nor what it knows was there: each with its id.
fn unseen(lines: &[String], answer: &Value) -> Vec<(String, String)> {
    let mut known: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut others: Vec<&str> = Vec::new();
    for item in render::list(answer, "items") {
        match item["id"].as_str() {
            Some(id) => _ = known.insert(id, item),
            None => others.extend(item["line"].as_str()),
        }
    }
    let mut found = Vec::new();
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        let row: Value = serde_json::from_str(line).unwrap_or_default();
        let is_issue = row.get("_type").is_none_or(|kind| kind == "issue");
        let seen = match row["id"].as_str().filter(|_| is_issue).map(|id| known.get(id)) {
            Some(Some(item)) => item["line"] == line || item["before"] == line,
            Some(None) => false,
            None => others.contains(&line),
        };
        if !seen {
            let name = row["id"].as_str().or_else(|| row["key"].as_str()).unwrap_or("a line that is no task");
            found.push((name.to_owned(), line.to_owned()));
        }
    }
    found
}

/// Which store and project a file was written from.
fn stamp(app: &App, answer: &Value) -> String {
    format!("{} {}", app.config.ledger(), render::text(answer, "project_id"))
}

fn publish(app: &mut App, turn: &mut Turn, answer: &Value, path: &Path) -> Result<Value, Ended> {
    let items = render::list(answer, "items");
    turn.replace(items.iter().filter_map(|item| item["line"].as_str()))?;
    turn.note(&stamp(app, answer), answer["seq"].as_i64().unwrap_or_default())?;
    let changed: Vec<Value> = items
        .iter()
        .filter(|item| item["changed"] == true)
        .map(|item| json!({ "id": item["id"], "line": item["line"] }))
        .collect();
    let count = changed.len();
    if count > 0 {
        app.call("beads_published", json!({ "project": answer["project_id"], "lines": changed }))?;
    }
    let tasks = items.iter().filter(|item| item["id"].is_string()).count();
    Ok(
        json!({ "project_id": answer["project_id"], "path": path.display().to_string(), "tasks": tasks, "changed": count }),
    )
}

/// Keeps the file in step after tasks were written, where the settings ask for it. What goes wrong is told and hinders
/// nothing: the ledger has everything, and the next write tries again.
pub fn keep_in_step(app: &mut App) {
    let Some(path) = app.config.tasks_mirror.clone() else { return };
    if let Err(ended) = mirror(app, &path) {
        app.remark(&format!("warning: {} is not in step: {}", path.display(), ended.text().trim_end()));
    }
}

fn mirror(app: &mut App, path: &Path) -> Result<(), Ended> {
    let Some(project) = app.written.clone() else { return Ok(()) };
    let mut turn = Turn::wait(path)?;
    let only = json!({ "project": project, "only_seq": true });
    let head = app.call("beads_export", only)?;
    let seq = head["seq"].as_i64().unwrap_or_default();
    // Whoever had the turn before has written what we wrote, too.
    if turn.is_current(&stamp(app, &head), seq) {
        return Ok(());
    }
    let mut answer = app.call("beads_export", json!({ "project": project }))?;
    if !turn.is_ours(&stamp(app, &answer)) {
        let unseen = unseen(&turn.lines()?, &answer);
        if !unseen.is_empty() {
            // The file has changed beside us: the whole of it is read, so that a fault is named by its line.
            let lines = turn.lines()?;
            app.call("beads_import", json!({ "project": project, "lines": lines }))?;
            answer = app.call("beads_export", json!({ "project": project }))?;
        }
    }
    publish(app, &mut turn, &answer, path).map(drop)
}
