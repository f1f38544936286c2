//! `beads_import`: lines of `issues.jsonl` into the ledger. All are checked before anything is written.

use std::collections::BTreeMap;

use baton_model::delta::Kind;
use baton_model::refusal::{self, Refusal};
use baton_model::task::Task;
use baton_model::task::merge::{Conflict, merge};
use baton_model::task::record::{self, Bad, Record};
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::{comment, dependency, line};

use super::beads_export::{render, whole};
use super::create::raise_counter;
use super::standing::refresh;
use super::write::write;
use crate::ledger::append_json;
use crate::op::{Access, Cx, Operation};

/// Takes tasks in.
pub(crate) struct BeadsImport;

/// Input of `beads_import`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that takes them in.
    #[serde(default)]
    identity: Option<String>,
    /// The lines of the file, in order.
    lines: Vec<String>,
    /// Check and count only.
    #[serde(default)]
    dry_run: bool,
    /// Only some lines of a file: lines that are no tasks are left as they are.
    #[serde(default)]
    partial: bool,
}

/// Answer of `beads_import`.
#[derive(Default, Serialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    /// Tasks that were not there.
    created: usize,
    /// Tasks that the file has changed.
    updated: usize,
    /// Tasks for which the file had nothing new.
    unchanged: usize,
    /// Lines of memories.
    memories: usize,
    /// Other lines that are no tasks; kept as they are.
    other_lines: usize,
    /// Ids of created and updated tasks.
    ids: Vec<String>,
    /// Fields that both sides had changed, and which side was kept.
    conflicts: Vec<Value>,
    dry_run: bool,
}

impl Operation for BeadsImport {
    const NAME: &'static str = "beads_import";
    const DOC: &'static str =
        "Take the tasks of a Beads file in, field by field where both sides have changed";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let wish = Wish {
            project: input.project.as_deref(),
            identity: input.identity.as_deref(),
            dry_run: input.dry_run,
            partial: input.partial,
        };
        import(cx, &wish, &mut Given { lines: &input.lines, at: 0 })
    }
}

/// Lines of a file, read one after another, as often as it takes.
pub trait Lines {
    /// Goes back to the first line.
    fn rewind(&mut self) -> Result<(), Refusal>;

    /// The next line without its end; none after the last.
    fn next(&mut self) -> Result<Option<String>, Refusal>;
}

/// Lines that are in memory.
struct Given<'a> {
    lines: &'a [String],
    at: usize,
}

impl Lines for Given<'_> {
    fn rewind(&mut self) -> Result<(), Refusal> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<String>, Refusal> {
        self.at += 1;
        Ok(self.lines.get(self.at - 1).cloned())
    }
}

/// How an import is to be done.
#[derive(Default)]
pub struct Wish<'a> {
    /// The project; else the caller's.
    pub project: Option<&'a str>,
    /// The identity; else the caller's.
    pub identity: Option<&'a str>,
    /// Check and count only.
    pub dry_run: bool,
    /// Only some lines of a file.
    pub partial: bool,
}

/// Takes lines in as `beads_import` does, without having all of them in memory; returns its answer.
pub fn import_lines(cx: &mut Cx<'_>, wish: &Wish<'_>, lines: &mut dyn Lines) -> Result<Value, Failure> {
    Ok(json!(import(cx, wish, lines)?))
}

/// All in one transaction: a line that is refused takes back what those before it have done.
fn import(cx: &mut Cx<'_>, wish: &Wish<'_>, lines: &mut dyn Lines) -> Result<Output, Failure> {
    let asked = (wish.project, wish.identity, BeadsImport::NAME);
    let mut counted = None;
    let done = write(cx, asked, |tx, env, author| {
        let mut output = Output {
            project_id: author.project_id.to_owned(),
            identity: author.identity.to_owned(),
            dry_run: wish.dry_run,
            ..Output::default()
        };
        lines.rewind()?;
        let mut file = File::default();
        while let Some(text) = lines.next()? {
            if let Some((text, theirs)) = file.read(&text)? {
                take_in(tx, author.project_id, text, &theirs, &mut output)?;
            }
        }
        output.ids.sort_unstable();
        (output.memories, output.other_lines) = (file.memories, file.others.len() - file.memories);
        if !wish.partial {
            line::put_others(tx, author.project_id, &file.others)?;
        }
        let mut ids = output.ids.clone();
        // The whole before its parts.
        ids.sort_by_key(|id| (id.matches('.').count(), id.clone()));
        refresh_around(tx, author.project_id, ids)?;
        if wish.dry_run {
            counted = Some(output);
            return Err(Refusal::new(refusal::Kind::Refused, "dry_run", "nothing was written", "").into());
        }
        if !output.ids.is_empty() {
            let what =
                format!("took in {} tasks from a file, {} of them new", output.ids.len(), output.created);
            append_json(tx, env, author, Kind::Other, &json!({ "summary": what }))?;
        }
        Ok(output)
    });
    match (done, counted) {
        (Err(_), Some(output)) => Ok(output),
        (done, _) => done,
    }
}

/// What is known of a file as far as it was read.
#[derive(Default)]
struct File {
    number: usize,
    seen: BTreeMap<String, usize>,
    others: Vec<String>,
    memories: usize,
}

fn bad(number: usize, path: &str, what: &str) -> Refusal {
    let at = if path.is_empty() { String::new() } else { format!(", `{path}`") };
    Refusal::invalid(
        "beads_invalid",
        format!("line {number}{at}: {what}"),
        "mend the line; nothing was taken in",
    )
    .with("line", number)
    .with("path", path)
}

impl File {
    /// The task that the next line is, with its text; nothing for a line that is none.
    fn read<'a>(&mut self, text: &'a str) -> Result<Option<(&'a str, Record)>, Refusal> {
        self.number += 1;
        let number = self.number;
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(None);
        }
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|mark| text.starts_with(mark)) {
            let what = "is a conflict marker: the file was left in the middle of a merge";
            return Err(bad(number, "", what));
        }
        let row = object(number, text)?;
        if let Some(kind) = row.get("_type").and_then(Value::as_str).filter(|kind| *kind != "issue") {
            self.memories += usize::from(kind == "memory");
            self.others.push(text.to_owned());
            return Ok(None);
        }
        let record = record::read(&row).map_err(|Bad { path, what }| bad(number, &path, &what))?;
        let id = record.task.task_id.clone();
        if let Some(first) = self.seen.insert(id.clone(), number) {
            let what = format!("`{id}` stands in line {first} already");
            return Err(bad(number, "id", &what));
        }
        Ok(Some((text, record)))
    }
}

fn object(number: usize, text: &str) -> Result<Map<String, Value>, Refusal> {
    match serde_json::from_str(text) {
        Ok(Value::Object(row)) => Ok(row),
        Ok(_) => Err(bad(number, "", "is not a JSON object")),
        Err(error) => {
            Err(bad(number, &format!("column {}", error.column()), &format!("is not JSON: {error}")))
        }
    }
}

fn take_in(
    tx: &mut Tx<'_>,
    project: &str,
    text: &str,
    theirs: &Record,
    output: &mut Output,
) -> Result<(), Failure> {
    let id = &theirs.task.task_id;
    let Some(known) = task::get(tx, project, id)? else {
        insert(tx, project, theirs)?;
        line::put(tx, project, id, text, false)?;
        output.created += 1;
        output.ids.push(id.clone());
        return Ok(());
    };
    let before = line::get(tx, project, id)?;
    if before.as_deref() == Some(text) {
        output.unchanged += 1;
        return Ok(());
    }
    let base = before.as_deref().and_then(|line| serde_json::from_str::<Value>(line).ok());
    let base = base.as_ref().and_then(Value::as_object).and_then(|row| record::read(row).ok());
    let ours = whole(tx, known.clone())?;
    let (merged, conflicts) = merge(base.as_ref(), &ours, theirs);
    output.conflicts.extend(conflicts.iter().map(|conflict| told(id, conflict)));
    let changed = update(tx, &known, &ours, merged)?;
    let stale = match task::get(tx, project, id)? {
        Some(now) => render(tx, now, Some(text))? != text,
        None => true,
    };
    line::put(tx, project, id, text, stale)?;
    if changed {
        output.updated += 1;
        output.ids.push(id.clone());
    } else {
        output.unchanged += 1;
    }
    Ok(())
}

fn told(id: &str, conflict: &Conflict) -> Value {
    json!({
        "id": id, "field": conflict.field, "ours": conflict.ours, "theirs": conflict.theirs, "kept": conflict.kept,
    })
}

fn insert(tx: &mut Tx<'_>, project: &str, record: &Record) -> Result<(), Failure> {
    let task = Task { project_id: project.to_owned(), ..record.task.clone() };
    task::insert(tx, &task)?;
    hang(tx, &task, record)?;
    task::count::next(tx, project, "")?;
    raise_counter(tx, project, &task.task_id)
}

fn hang(tx: &mut Tx<'_>, task: &Task, record: &Record) -> Result<(), Failure> {
    for (place, body) in (0i64..).zip(&record.dependencies) {
        dependency::insert(tx, task, place, body)?;
    }
    for (place, body) in (0i64..).zip(&record.comments) {
        comment::insert(tx, task, place, body)?;
    }
    Ok(())
}

/// Writes what came of a merge; says whether anything did.
fn update(tx: &mut Tx<'_>, known: &Task, ours: &Record, merged: Record) -> Result<bool, Failure> {
    let task = Task {
        project_id: known.project_id.clone(),
        claim: known.claim.clone().filter(|_| merged.task.is_open()),
        claim_token: known.claim_token,
        standing: known.standing,
        ..merged.task.clone()
    };
    let same = task == *known && merged.dependencies == ours.dependencies && merged.comments == ours.comments;
    if same {
        return Ok(false);
    }
    task::put(tx, &task)?;
    if merged.dependencies != ours.dependencies {
        dependency::clear(tx, &task)?;
        for (place, body) in (0i64..).zip(&merged.dependencies) {
            dependency::insert(tx, &task, place, body)?;
        }
    }
    if merged.comments != ours.comments {
        comment::clear(tx, &task)?;
        for (place, body) in (0i64..).zip(&merged.comments) {
            comment::insert(tx, &task, place, body)?;
        }
    }
    Ok(true)
}

/// Works out anew what was taken in, and everything that it may hold back.
fn refresh_around(tx: &mut Tx<'_>, project: &str, ids: Vec<String>) -> Result<(), Failure> {
    let mut around = std::collections::BTreeSet::new();
    for id in &ids {
        around.extend(dependency::held_by(tx, project, id)?);
        around.extend(task::children(tx, project, id)?.into_iter().map(|child| child.task_id));
        if let Some(parent) = task::get(tx, project, id)?.and_then(|task| task.parent_id) {
            around.extend(dependency::children_awaited(tx, project, &parent)?);
            around.extend(super::standing::line_of(tx, project, &parent)?);
        }
    }
    let own: std::collections::BTreeSet<&String> = ids.iter().collect();
    let more: Vec<String> = around.into_iter().filter(|id| !own.contains(id)).collect();
    refresh(tx, project, ids.into_iter().chain(more).collect())
}
