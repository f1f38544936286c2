//! `beads_import`: lines of `issues.jsonl` into the ledger. All are checked before anything is written.

use std::collections::{BTreeSet, HashSet};

use baton_model::accounting::plural;
use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_model::task::conflict::{Conflict, Side};
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::{dependency, line};

use super::beads_file::Complaint;
use super::beads_memory::memory;
use super::beads_merge::Progress;
use super::beads_renames;
use super::line_guard::{LineGuard, require_whole_file};
use super::lines::{Lines, MemoryLines};
use super::readiness::refresh;
use super::write::write;
use crate::handoff::task_end::follow_file;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};

/// The most tasks that the entry about lines of an access token names.
const MAX_NAMED: usize = 100;

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
    /// `false`, which an operator alone may say, for the project's whole file: memories and other lines that are no tasks and that are
    /// not among the lines are taken out. `true` for some lines; without a word, too, none is taken out.
    #[serde(default)]
    pub partial: Option<bool>,
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
    /// Deleted tasks that were not known: their lines are kept, so that no other clone brings them back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deleted: usize,
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
    /// Texts that the file took away; what they said stays in the ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emptied: Vec<EmptiedText>,
    /// What is wrong with single lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<Complaint>,
    /// Whether nothing was changed.
    pub dry_run: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A text of a task that a file took away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptiedText {
    /// The task.
    pub id: String,
    /// The field.
    pub field: String,
}

impl EmptiedText {
    /// One sentence, with where the text is now.
    pub fn summary(&self) -> String {
        let (id, field) = (visible(&self.id), visible(&self.field));
        format!(
            "{id} {field} was taken away by the file; what it said is in the ledger: `baton log --json` has it as `replaced`"
        )
    }
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
        if input.partial == Some(false) {
            require_whole_file(&cx.env.caller.grant)?;
        }
        let request = ImportRequest {
            project: input.project.as_deref(),
            identity: input.identity.as_deref(),
            dry_run: input.dry_run,
            partial: input.partial.unwrap_or(false),
            keeps_other_lines: input.partial.is_none(),
            lenient: input.lenient,
            settled: &[],
            base: None,
        };
        import_lines(cx, &request, &mut MemoryLines::new(&input.lines))
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
    /// Not the project's whole file.
    pub partial: bool,
    /// Lines that are no tasks and that are missing stay, as they do with another file than the project's.
    pub keeps_other_lines: bool,
    /// Name lines of tasks that cannot be read, and take the others in.
    pub lenient: bool,
    /// What git's merge driver has settled since, for the ledger to say.
    pub settled: &'a [Conflict],
    /// Gives the lines of the version that both sides of git's conflict began from. It is asked where the marks do not have them.
    pub base: Option<&'a dyn Fn() -> Vec<String>>,
}

/// Takes lines in as `beads_import` does, without having all of them in memory; returns its answer.
///
/// All in one transaction: a line that is refused takes back what those before it have done.
pub fn import_lines(
    cx: &mut Cx<'_>,
    request: &ImportRequest<'_>,
    lines: &mut dyn Lines,
) -> Result<BeadsImportOutput, Failure> {
    let scope = (request.project, request.identity, BeadsImport::NAME);
    let mut counted = None;
    let done = write(cx, scope, |tx, env, author| {
        let mut output = BeadsImportOutput {
            project_id: author.project_id.to_owned(),
            identity: author.identity.to_owned(),
            dry_run: request.dry_run,
            ..BeadsImportOutput::default()
        };
        let guard = LineGuard { env, identity: author.identity };
        let begun = Progress::new(author.project_id, guard, &mut output);
        let mut progress = Progress { base: request.base, is_partial: request.partial, ..begun };
        let file = progress.take_all(tx, request.lenient, &mut *lines)?;
        let Progress { ended, late_closes, replaced, attributed, renamed, .. } = progress;
        let keeps_others = request.partial || request.keeps_other_lines;
        let removed = keep_others(tx, &output, file.others, keeps_others)?;
        let mut ids = output.ids.clone();
        ids.extend(beads_renames::redirect_all(tx, env, author, &ids)?);
        // The whole before its parts.
        ids.sort_by_key(|id| (id.matches('.').count(), id.clone()));
        refresh_around(tx, author.project_id, ids)?;
        if request.dry_run {
            counted = Some(output);
            return Err(Refusal::new(refusal::Kind::Refused, "dry_run", "nothing was written", "").into());
        }
        for change in &ended {
            change.announce(tx, env, author)?;
        }
        renamed.announce(tx, env, author)?;
        let closed_by = Some(author.identity).filter(|_| !env.caller.grant.is_operator());
        follow_file(tx, env, author.project_id, closed_by)?;
        for late in &late_closes {
            late.keep(tx, env, closed_by)?;
        }
        for conflict in request.settled.iter().chain(&output.conflicts) {
            note(tx, env, author, conflict)?;
        }
        for (id, texts) in replaced {
            note_replaced(tx, env, author, (&id, texts))?;
        }
        note_attributed(tx, env, author, &attributed)?;
        note_removed(tx, env, author, removed)?;
        note_taken_in(tx, env, author, &output)?;
        Ok(output)
    });
    match (done, counted) {
        (Err(_), Some(output)) => Ok(output),
        (done, _) => done,
    }
}

/// Keeps the lines that are no tasks. Another file than the project's says nothing of those that it lacks, and one with a line that
/// cannot be read may have been cut: what it lacks was not taken out of it. Returns the lines that are gone.
fn keep_others(
    tx: &mut Tx<'_>,
    output: &BeadsImportOutput,
    others: Vec<String>,
    is_partial: bool,
) -> Result<Vec<String>, Failure> {
    let is_cut = output.complaints.iter().any(|complaint| complaint.unreadable);
    let mut stored = line::others(tx, &output.project_id)?;
    if !is_partial && !is_cut {
        if stored == others {
            return Ok(Vec::new());
        }
        line::put_others(tx, &output.project_id, &others)?;
        let others: HashSet<&str> = others.iter().map(String::as_str).collect();
        stored.retain(|line| !others.contains(line.as_str()));
        return Ok(stored);
    }
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let (lines, names): (HashSet<&str>, HashSet<String>) = (
        others.iter().map(String::as_str).collect(),
        others.iter().filter_map(|line| memory(line).map(|memory| memory.key)).collect(),
    );
    let is_replaced =
        |line: &str| lines.contains(line) || memory(line).is_some_and(|memory| names.contains(&memory.key));
    let (mut after, gone): (Vec<String>, Vec<String>) =
        stored.into_iter().partition(|line| !is_replaced(line));
    let gone = gone.into_iter().filter(|line| !lines.contains(line.as_str())).collect();
    after.extend(others.iter().cloned());
    line::put_others(tx, &output.project_id, &after)?;
    Ok(gone)
}

/// Says in the ledger which lines that are no tasks a file has taken out or replaced, as many in an entry as it has room for. One that
/// is larger than an entry is only counted.
fn note_removed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    mut removed: Vec<String>,
) -> Result<(), Failure> {
    while !removed.is_empty() {
        let mut room = MAX_REPLACED;
        let fits = |line: &&String| {
            room = room.saturating_sub(line.len());
            room > 0
        };
        let count = removed.iter().take_while(fits).count().max(1);
        let mut lines: Vec<String> = removed.drain(..count).collect();
        let keys = lines.iter().filter_map(|line| memory(line)).map(|memory| visible(&memory.key));
        let mut keys: Vec<String> = keys.collect();
        keys.truncate(MAX_NAMED_KEYS);
        let named =
            if keys.is_empty() { String::new() } else { format!(": memory {}", keys.join(", memory ")) };
        let summary = format!(
            "lines of the Beads file that are no tasks, which a file has taken out or replaced: {count}{named}"
        );
        lines.retain(|line| line.len() < MAX_REPLACED);
        append_json(
            tx,
            env,
            author,
            Kind::Other,
            &json!({ "summary": summary, "replaced": { "lines": lines } }),
        )?;
    }
    Ok(())
}

/// Says in the ledger which texts of a task the file has replaced. What is too large for one entry has one for each field.
fn note_replaced(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (id, replaced): (&str, Map<String, Value>),
) -> Result<(), Failure> {
    let parts = match Value::Object(replaced.clone()).to_string().len() > MAX_REPLACED {
        true => replaced.into_iter().map(|field| Map::from_iter([field])).collect(),
        false => vec![replaced],
    };
    for part in parts {
        let fields: Vec<String> = part.keys().map(|field| visible(field)).collect();
        let what = format!("task {id} was changed by a file, which replaced its {}", fields.join(", "));
        let body = json!({ "summary": what, "task_id": id, "replaced": part });
        append_json(tx, env, author, Kind::Other, &body)?;
    }
    Ok(())
}

/// Writes down that tasks were taken in, and of lines of an access token which ones.
fn note_taken_in(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    output: &BeadsImportOutput,
) -> Result<(), Failure> {
    let count = output.ids.len();
    if count == 0 {
        return Ok(());
    }
    let tasks = plural(count, "task");
    let what = format!("took in {count} {tasks} from a file, {} of them new", output.created);
    let mut body = json!({ "summary": what });
    if !env.caller.grant.is_operator() {
        body["task_ids"] = json!(output.ids.iter().take(MAX_NAMED).collect::<Vec<_>>());
    }
    append_json(tx, env, author, Kind::Other, &body).map(drop)
}

/// Says in the ledger who sent comments under the names of others.
fn note_attributed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    attributed: &BTreeSet<(String, String)>,
) -> Result<(), Failure> {
    for (id, name) in attributed {
        let (by, name) = (visible(author.identity), visible(name));
        let what = format!("task {id} has comments under the name {name}: a file says so that {by} sent");
        append_json(
            tx,
            env,
            author,
            Kind::Note,
            &json!({ "text": what, "task_id": id, "comments_of": name }),
        )?;
    }
    Ok(())
}

/// How many memories an entry about removed lines names.
const MAX_NAMED_KEYS: usize = 5;
/// The most bytes of replaced texts in one entry of the ledger.
const MAX_REPLACED: usize = 128 * 1024;
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

/// Works out anew what was taken in, and everything that it may hold back.
fn refresh_around(tx: &mut Tx<'_>, project: &str, ids: Vec<String>) -> Result<(), Failure> {
    let mut around = std::collections::BTreeSet::new();
    for id in &ids {
        around.extend(dependency::blocked_by_task(tx, project, id)?);
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
