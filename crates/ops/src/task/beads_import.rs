//! `beads_import`: lines of `issues.jsonl` into the ledger. All are checked before anything is written.

use std::collections::HashSet;

use baton_model::delta::Kind;
use baton_model::refusal::{self, Refusal};
use baton_model::task::Task;
use baton_model::task::conflict::{Conflict, Side};
use baton_model::task::entry::entries;
use baton_model::task::merge::{adopt, merge, passed_over};
use baton_model::task::receipt::received;
use baton_model::task::record::Record;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use task::{comment, dependency, line};

use super::beads_export::{full_record, keep_line};
use super::claim_elsewhere::{ClaimChange, stays};
use super::create::raise_counter;
use super::issues_file::{Complaint, IssuesFile, Version};
use super::older_lines::OlderLines;
use super::readiness::refresh;
use super::write::write;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};

/// Takes tasks in.
pub struct BeadsImport;

/// Input of `beads_import`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeadsImportInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that takes them in.
    #[serde(default)]
    pub identity: Option<String>,
    /// The lines of the file, in order.
    pub lines: Vec<String>,
    /// Check and count only.
    #[serde(default)]
    pub dry_run: bool,
    /// Only some lines of a file: lines that are no tasks are left as they are.
    #[serde(default)]
    pub partial: bool,
    /// Name lines of tasks that cannot be read, and take the others in; without it the whole file is refused.
    #[serde(default)]
    pub lenient: bool,
}

/// Answer of `beads_import`.
#[derive(Default, Serialize, Deserialize)]
pub struct BeadsImportOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// Tasks that were not there.
    pub created: usize,
    /// Tasks that the file has changed.
    pub updated: usize,
    /// Tasks for which the file had nothing new.
    pub unchanged: usize,
    /// Lines of memories.
    pub memories: usize,
    /// Other lines that are no tasks; kept as they are.
    pub other_lines: usize,
    /// Ids of created and updated tasks.
    pub ids: Vec<String>,
    /// Fields that both sides had changed, and which side was kept.
    pub conflicts: Vec<Conflict>,
    /// What is wrong with single lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<Complaint>,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

impl Operation for BeadsImport {
    const META: Meta = Meta::write(
        "beads_import",
        "Take the tasks of a Beads file in, field by field where both sides have changed",
    )
    .changes_tasks();
    type Input = BeadsImportInput;
    type Output = BeadsImportOutput;

    fn run(input: BeadsImportInput, cx: &mut Cx<'_>) -> Result<BeadsImportOutput, Failure> {
        let wish = ImportRequest {
            project: input.project.as_deref(),
            identity: input.identity.as_deref(),
            dry_run: input.dry_run,
            partial: input.partial,
            lenient: input.lenient,
            settled: &[],
        };
        import_lines(cx, &wish, &mut MemoryLines { lines: &input.lines, at: 0 })
    }
}

/// Lines of a file, read one after another, as often as it takes.
pub trait Lines {
    /// Goes back to the first line.
    fn rewind(&mut self) -> Result<(), Refusal>;

    /// The next line without its end; none after the last. One that is no text is refused (`beads_invalid`); the next call goes on
    /// behind it.
    fn next(&mut self) -> Result<Option<String>, Refusal>;
}

/// Lines that are in memory.
struct MemoryLines<'a> {
    lines: &'a [String],
    at: usize,
}

impl Lines for MemoryLines<'_> {
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
pub struct ImportRequest<'a> {
    /// The project; else the caller's.
    pub project: Option<&'a str>,
    /// The identity; else the caller's.
    pub identity: Option<&'a str>,
    /// Check and count only.
    pub dry_run: bool,
    /// Only some lines of a file.
    pub partial: bool,
    /// Name lines of tasks that cannot be read, and take the others in.
    pub lenient: bool,
    /// What git's merge driver has settled since, for the ledger to say.
    pub settled: &'a [Conflict],
}

/// Takes lines in as `beads_import` does, without having all of them in memory; returns its answer.
///
/// All in one transaction: a line that is refused takes back what those before it have done.
pub fn import_lines(
    cx: &mut Cx<'_>,
    wish: &ImportRequest<'_>,
    lines: &mut dyn Lines,
) -> Result<BeadsImportOutput, Failure> {
    let asked = (wish.project, wish.identity, BeadsImport::NAME);
    let mut counted = None;
    let done = write(cx, asked, |tx, env, author| {
        let mut output = BeadsImportOutput {
            project_id: author.project_id.to_owned(),
            identity: author.identity.to_owned(),
            dry_run: wish.dry_run,
            ..BeadsImportOutput::default()
        };
        let mut ended = Vec::new();
        let into = (&mut output, &mut ended);
        let file = take_all(tx, (author.project_id, env.now), (wish, &mut *lines), into)?;
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
        for change in &ended {
            change.announce(tx, env, author)?;
        }
        for conflict in wish.settled.iter().chain(&output.conflicts) {
            note(tx, env, author, conflict)?;
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

fn take_in(
    tx: &mut Tx<'_>,
    (project, now): (&str, Millis),
    version: &Version,
    is_first: bool,
    (output, ended, older): (&mut BeadsImportOutput, &mut Vec<ClaimChange>, &mut OlderLines),
) -> Result<(), Failure> {
    let Version { text, record, .. } = version;
    let theirs = &received(record.clone(), now);
    let id = &theirs.task.task_id;
    let Some(task) = task::get(tx, project, id)? else {
        insert(tx, project, &adopt(theirs))?;
        // A time that was not believed is put right in the file.
        let is_stale = theirs != record;
        line::put(tx, project, id, &line::KnownLines::default().followed_by(text), is_stale)?;
        output.created += 1;
        output.ids.push(id.clone());
        return Ok(());
    };
    let known = line::known_lines(tx, project, id)?;
    if known.last.as_ref() == Some(text) {
        output.unchanged += 1;
        return Ok(());
    }
    // A line that the file had before has nothing new: it came back by way of git.
    let changed = !known.earlier.contains(text) && {
        let versions = version.earlier_versions(&known, is_first, now);
        let ours = received(full_record(tx, task.clone())?, now);
        let (merged, conflicts) = merge(&versions, &ours, theirs);
        let mut passed = passed_over(&versions, &merged, theirs);
        passed.retain(|passed| conflicts.iter().all(|conflict| conflict.field != passed.field));
        older.add(version.number, &passed);
        output.conflicts.extend(conflicts);
        let after = update(tx, &task, &ours, merged)?;
        ended.extend(after.as_ref().and_then(|after| ClaimChange::of(&task, after)));
        after.is_some()
    };
    keep_line(tx, project, id, text)?;
    if changed {
        output.updated += 1;
        output.ids.push(id.clone());
    } else {
        output.unchanged += 1;
    }
    Ok(())
}

/// Reads the lines and takes each task in; the file comes with what was found about it.
fn take_all(
    tx: &mut Tx<'_>,
    project_now: (&str, Millis),
    (wish, lines): (&ImportRequest<'_>, &mut dyn Lines),
    (output, ended): (&mut BeadsImportOutput, &mut Vec<ClaimChange>),
) -> Result<IssuesFile, Failure> {
    lines.rewind()?;
    let mut file = IssuesFile::new(wish.lenient);
    let (mut met, mut older) = (HashSet::new(), OlderLines::default());
    loop {
        let text = match lines.next() {
            Ok(Some(text)) => text,
            Ok(None) => break,
            Err(refusal) => {
                file.pass(refusal)?;
                continue;
            }
        };
        for version in file.read(&text)? {
            let is_first = met.insert(version.record.task.task_id.clone());
            take_in(tx, project_now, &version, is_first, (&mut *output, &mut *ended, &mut older))?;
        }
    }
    file.end()?;
    output.complaints = std::mem::take(&mut file.complaints);
    output.complaints.extend(older.complaint());
    output.ids.sort_unstable();
    output.ids.dedup();
    (output.memories, output.other_lines) = (file.memories, file.others.len() - file.memories);
    Ok(file)
}

/// The most bytes of a value that the ledger keeps beside the sentence about a conflict.
const MAX_LOSER: usize = 64 * 1024;

/// Says in the ledger what was settled, with the value that was not kept.
fn note(tx: &mut Tx<'_>, env: &mut Env<'_>, author: &Author<'_>, conflict: &Conflict) -> Result<(), Failure> {
    let mut body = json!({
        "summary": format!("task {}", conflict.summary()), "task_id": conflict.id, "field": conflict.field,
        "kept": conflict.kept,
    });
    let (side, loser) = match conflict.kept {
        Side::Ours => ("theirs", &conflict.theirs),
        Side::Theirs => ("ours", &conflict.ours),
    };
    if loser.to_string().len() <= MAX_LOSER {
        body[side] = loser.clone();
    }
    append_json(tx, env, author, Kind::Other, &body)?;
    Ok(())
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

/// Writes what came of a merge; returns the task if anything did.
fn update(tx: &mut Tx<'_>, known: &Task, ours: &Record, merged: Record) -> Result<Option<Task>, Failure> {
    let task = Task {
        project_id: known.project_id.clone(),
        claim: known.claim.clone().filter(|claim| stays(claim, known, &merged.task)),
        claim_token: known.claim_token,
        standing: known.standing,
        ..merged.task.clone()
    };
    if entries(&merged) == entries(ours) && merged.task.labels == ours.task.labels {
        // At most it is known better when its fields changed.
        if task.clocks != known.clocks || task.updated_at != known.updated_at {
            let (clocks, updated_at) = (task.clocks, task.updated_at);
            task::put(tx, &Task { clocks, updated_at, ..known.clone() })?;
        }
        return Ok(None);
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
    Ok(Some(task))
}

/// Works out anew what was taken in, and everything that it may hold back.
fn refresh_around(tx: &mut Tx<'_>, project: &str, ids: Vec<String>) -> Result<(), Failure> {
    let mut around = std::collections::BTreeSet::new();
    for id in &ids {
        around.extend(dependency::held_by(tx, project, id)?);
        around.extend(task::children(tx, project, id)?.into_iter().map(|child| child.task_id));
        if let Some(parent) = task::get(tx, project, id)?.and_then(|task| task.parent_id) {
            around.extend(dependency::children_awaited(tx, project, &parent)?);
            around.extend(super::readiness::line_of(tx, project, &parent)?);
        }
    }
    let own: std::collections::BTreeSet<&String> = ids.iter().collect();
    let more: Vec<String> = around.into_iter().filter(|id| !own.contains(id)).collect();
    refresh(tx, project, ids.into_iter().chain(more).collect())
}
