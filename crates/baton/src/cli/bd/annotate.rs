//! Comments, labels and states of an issue.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::{Comment, View};
use baton_ops::task::{self as tasks, CommentInput, ShowInput};
use serde::Serialize;

use super::args::{LabelVerb, Text};
use super::change::unchanged;
use super::list::Selection;
use super::{EachIssue, Out};
use crate::cli::read_input;
use crate::error::AppError;

impl Text {
    /// The text, from wherever it comes.
    pub(super) fn read(self, what: &str) -> Result<String, AppError> {
        let text = match self.file.as_deref().or(self.stdin.then_some("-")) {
            Some(path) => read_input(path)?.trim_end().to_owned(),
            None => self.text.join(" "),
        };
        if text.trim().is_empty() {
            let what = format!("{what} needs a text");
            let hint = "write it behind the id, or give --file or --stdin";
            return Err(Refusal::invalid("usage", what, hint).into());
        }
        Ok(text)
    }
}

pub(super) fn comment(id: &str, body: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (project, identity) = (out.project(), out.identity());
    let input = CommentInput { project, identity, id: id.to_owned(), text: body.to_owned() };
    let made = out.app.run::<tasks::Comment>(&input)?;
    out.print(&made.comment, |made| format!("✓ Comment added to {}\n", visible(made.issue_id())))
}

/// `bd comments`.
pub(super) fn comments(
    words: &[String],
    file: Option<String>,
    author: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let rest = match words.split_first() {
        Some((verb, rest)) if verb == "add" => rest,
        Some((id, [])) => return list_comments(id, out),
        _ => return Err(comments_usage()),
    };
    let Some((id, text)) = rest.split_first() else { return Err(comments_usage()) };
    if let Some(author) = author {
        out.actor = Some(super::identity(&author));
    }
    let text = Text { text: text.to_vec(), file, stdin: false }.read("comments add")?;
    comment(id, &text, out)
}

fn comments_usage() -> AppError {
    let what = "an id, or `add`, an id and a text are needed";
    Refusal::invalid("usage", what, "bd comments ID, or bd comments add ID TEXT").into()
}

fn list_comments(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    // What was said about it is with the id that it has now.
    let found = show_present_task(id, out)?;
    let id = found.task.id.clone();
    out.print(&found.comments, |all| {
        let line = |c: &Comment| {
            let [at, author] = [c.created_at(), c.author()].map(visible);
            let text = c.text().lines().map(visible).collect::<Vec<String>>().join("\n  ");
            format!("[{at}] {author}: {text}\n")
        };
        match all.as_slice() {
            [] => format!("No comments on {}\n", visible(&id)),
            all => all.iter().map(line).collect(),
        }
    })
}

/// A task with everything.
pub(super) fn show_task(id: &str, out: &mut Out<'_>) -> Result<tasks::ShowOutput, AppError> {
    let input = ShowInput { project: out.project(), id: id.to_owned(), full: true, ..ShowInput::default() };
    out.app.run::<tasks::Show>(&input)
}

/// How many times one issue is followed to another id.
pub(super) const RENAMES: usize = 64;

/// A task with everything, under the id that it has now.
pub(super) fn show_present_task(id: &str, out: &mut Out<'_>) -> Result<tasks::ShowOutput, AppError> {
    let mut found = show_task(id, out)?;
    for _ in 0..RENAMES {
        match found.task.other_text("renamed_to") {
            Some(to) => found = show_task(&to, out)?,
            None => break,
        }
    }
    Ok(found)
}

/// How many issues have a label.
#[derive(Serialize)]
struct LabelCount {
    label: String,
    count: usize,
}

/// `bd label`.
pub(super) fn label(verb: LabelVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        LabelVerb::Add { words } => relabel(&words, LabelAct::Add, out),
        LabelVerb::Remove { words } => relabel(&words, LabelAct::Remove, out),
        LabelVerb::List { id } => {
            let View { id, labels, .. } = show_task(&id, out)?.task;
            out.print(&labels, |all| match all.as_slice() {
                [] => format!("{} has no labels\n", visible(&id)),
                all => all.iter().map(|label| format!("{}\n", visible(label))).collect(),
            })
        }
        LabelVerb::ListAll => list_labels(out),
        LabelVerb::Propagate { id, label } => {
            let parent = show_task(&id, out)?.task.id;
            let mut parts = Selection::all(out);
            parts.ledger.parent = Some(parent);
            let (parts, _) = parts.find(out)?;
            if parts.is_empty() && !out.json {
                return out.text(&format!("{} has no parts\n", visible(&id)));
            }
            let ids: Vec<String> = parts.into_iter().map(|row| row.task.id).collect();
            change_labels(&ids, std::slice::from_ref(&label), LabelAct::Propagate, out)
        }
    }
}

fn list_labels(out: &mut Out<'_>) -> Result<(), AppError> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (found, _) = Selection::all(out).find(out)?;
    for label in found.into_iter().flat_map(|row| row.task.labels) {
        *counts.entry(label).or_default() += 1;
    }
    let counts: Vec<LabelCount> =
        counts.into_iter().map(|(label, count)| LabelCount { label, count }).collect();
    out.print(&counts, |all| match all.as_slice() {
        [] => "No labels\n".to_owned(),
        all => all.iter().map(|one| format!("{}: {}\n", visible(&one.label), one.count)).collect(),
    })
}

/// How many of the words are ids. A word between them that looks like an id and is none is refused: as a label, a slip would go
/// unnoticed.
fn count_ids(words: &[String], act: LabelAct, out: &mut Out<'_>) -> Result<usize, AppError> {
    let Some((first, rest)) = words.split_first() else { return Ok(0) };
    let Some((last, between)) = rest.split_last() else { return Ok(1) };
    let first = show_task(first, out)?.task.id;
    let mut count = 1;
    for word in between {
        match show_task(word, out) {
            Ok(_) => count += 1,
            Err(AppError::Refused(refusal))
                if refusal.code == "task_unknown" && !looks_like_id(word, &first) =>
            {
                break;
            }
            Err(AppError::Refused(refusal)) if refusal.code == "task_unknown" => {
                let hint =
                    format!("{}; several labels are separated by commas: bd label add ID A,B", refusal.hint);
                return Err(Refusal { hint, ..refusal }.into());
            }
            Err(error) => return Err(error),
        }
    }
    // A label that was given to an issue by mistake can be removed.
    if act == LabelAct::Add && show_task(last, out).is_ok_and(|found| found.task.id == *last) {
        let what = format!("{} is an issue, and no label is given", visible(last));
        return Err(Refusal::invalid("usage", what, "bd label add ID LABEL").into());
    }
    Ok(count)
}

/// Whether a word has the form of an id: the prefix of a known one, or a suffix with a digit, as most ids have.
fn looks_like_id(word: &str, known: &str) -> bool {
    let Some((prefix, suffix)) = word.rsplit_once('-') else { return false };
    let (hash, children) = suffix.split_once('.').unwrap_or((suffix, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_hash = (3..=8).contains(&hash.len())
        && hash.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    let has_digit = suffix.bytes().any(|byte| byte.is_ascii_digit());
    let is_own = known.rsplit_once('-').is_some_and(|(own, _)| own == prefix);
    !prefix.is_empty()
        && children.split('.').all(is_number)
        && (is_hash || is_number(hash))
        && (has_digit || is_own)
}

/// The words are ids and, last, the labels; of one id several labels may follow.
fn relabel(words: &[String], act: LabelAct, out: &mut Out<'_>) -> Result<(), AppError> {
    let count = count_ids(words, act, out)?;
    let (ids, labels) = words.split_at(count.min(words.len()));
    let labels: Vec<String> = labels
        .iter()
        .flat_map(|word| word.split(','))
        .map(|label| label.trim().to_owned())
        .filter(|label| !label.is_empty())
        .collect();
    if labels.is_empty() {
        return Err(Refusal::invalid("usage", "a label is needed", "bd label add ID LABEL").into());
    }
    change_labels(ids, &labels, act, out)
}

/// What is done with a label of an issue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelAct {
    Add,
    Remove,
    /// Add it to the parts of an issue.
    Propagate,
}

/// A label of an issue that was changed, as Beads says it.
#[derive(Serialize)]
struct LabelChange {
    status: &'static str,
    issue_id: String,
    label: String,
}

impl LabelChange {
    fn text(&self) -> String {
        let (word, to) = match self.status {
            "removed" => ("Removed", "from"),
            "propagated" => ("Propagated", "to"),
            "absent" => {
                return format!("{} has no label {}\n", visible(&self.issue_id), visible(&self.label));
            }
            _ => ("Added", "to"),
        };
        format!("✓ {word} label {} {to} {}\n", visible(&self.label), visible(&self.issue_id))
    }
}

fn change_labels(
    ids: &[String],
    labels: &[String],
    act: LabelAct,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let changed = EachIssue::try_all(ids, out, |id, out| {
        let mut input = unchanged(id, out);
        let status = match act {
            LabelAct::Add => "added",
            LabelAct::Remove => "removed",
            LabelAct::Propagate => "propagated",
        };
        match act {
            LabelAct::Remove => input.remove_labels = labels.to_vec(),
            LabelAct::Add | LabelAct::Propagate => input.add_labels = labels.to_vec(),
        }
        let before = if act == LabelAct::Remove { show_task(id, out)?.task.labels } else { Vec::new() };
        let issue_id = out.app.run::<tasks::Update>(&input)?.task.view.id;
        let change = |label: &String| {
            let is_absent = act == LabelAct::Remove && !before.contains(label);
            let status = if is_absent { "absent" } else { status };
            LabelChange { status, issue_id: issue_id.clone(), label: label.clone() }
        };
        Ok(labels.iter().map(change).collect::<Vec<LabelChange>>())
    })?;
    changed.print(out, |changed| {
        let changed: Vec<&LabelChange> = changed.iter().flatten().collect();
        out.print(&changed, |all| all.iter().map(|change| change.text()).collect())
    })
}

/// The states that labels `DIMENSION:VALUE` say.
fn states(labels: &[String]) -> BTreeMap<String, String> {
    let split =
        |label: &String| label.split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned()));
    labels.iter().filter_map(split).collect()
}

/// A state of an issue.
#[derive(Serialize)]
struct State {
    issue_id: String,
    dimension: String,
    value: Option<String>,
}

/// The states of an issue.
#[derive(Serialize)]
struct States {
    issue_id: String,
    states: BTreeMap<String, String>,
}

/// A state that was set.
#[derive(Serialize)]
struct StateChange {
    issue_id: String,
    dimension: String,
    old_value: Option<String>,
    new_value: String,
    changed: bool,
}

/// `bd state`.
pub(super) fn state(words: &[String], out: &mut Out<'_>) -> Result<(), AppError> {
    match words {
        [list, id] if list == "list" => {
            let task = show_task(id, out)?.task;
            let states = States { states: states(&task.labels), issue_id: task.id };
            out.print(&states, |all| {
                let line =
                    |(name, value): (&String, &String)| format!("{}: {}\n", visible(name), visible(value));
                let text: String = all.states.iter().map(line).collect();
                if text.is_empty() { format!("{} has no states\n", visible(&all.issue_id)) } else { text }
            })
        }
        [id, dimension] => {
            let task = show_task(id, out)?.task;
            let value = states(&task.labels).remove(dimension);
            let state = State { issue_id: task.id, dimension: dimension.clone(), value };
            out.print(&state, |state| {
                format!("{}\n", state.value.as_deref().map_or_else(|| "(none)".to_owned(), visible))
            })
        }
        _ => {
            let hint = "bd state ID DIMENSION";
            Err(Refusal::invalid("usage", "an id and a dimension are needed", hint).into())
        }
    }
}

/// `bd set-state`.
pub(super) fn set_state(
    id: &str,
    state: &str,
    reason: Option<&str>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let Some((dimension, value)) = state.split_once('=') else {
        let what = format!("`{}` is not DIMENSION=VALUE", visible(state));
        return Err(Refusal::invalid("usage", what, "bd set-state ID mode=degraded").into());
    };
    let task = show_task(id, out)?.task;
    let before = format!("{dimension}:");
    let label = format!("{before}{value}");
    let is_older = |known: &&String| known.starts_with(&before) && **known != label;
    let mut input = unchanged(&task.id, out);
    input.remove_labels = task.labels.iter().filter(is_older).cloned().collect();
    input.add_labels = vec![label.clone()];
    out.app.run::<tasks::Update>(&input)?;
    if let Some(reason) = reason {
        let (project, identity) = (out.project(), out.identity());
        let text = format!("{dimension} is {value}: {reason}");
        out.app.run::<tasks::Comment>(&CommentInput { project, identity, id: task.id.clone(), text })?;
    }
    let old_value = states(&task.labels).remove(dimension);
    let changed = old_value.as_deref() != Some(value);
    let (dimension, new_value) = (dimension.to_owned(), value.to_owned());
    let state = StateChange { issue_id: task.id, dimension, old_value, new_value, changed };
    out.print(&state, |state| {
        let [id, dimension, value] =
            [&state.issue_id, &state.dimension, &state.new_value].map(|text| visible(text));
        format!("✓ {id}: {dimension} is {value}\n")
    })
}
