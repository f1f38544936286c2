//! What an export shares with that of another project: hand-offs with their steps, and messages between the two.
//!
//! Each export tells them as of its own moment. Of two copies the newer stays, in whatever order they are imported.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::handoff::{Handoff, State};
use baton_model::issue_conversation::{CommentStanding, IssueComment, IssueText};
use baton_model::message::Message;
use baton_model::saga::Step;
use baton_model::time::Millis;
use baton_store::{Failure, Fault, Tx, dump, handoff, handoff_step, issue_comment, issue_text, message};
use serde_json::{Map, Value};

use crate::handoff::isolation::{ENDED_FIELD, RECEIVER_FIELDS};

type Row = Map<String, Value>;

/// When a step was changed last, and how often it had been tried by then.
type StepVersion = (Millis, i64);

/// The hand-offs that a file has brought so far, each with the versions of the steps that were there.
#[derive(Default)]
pub(super) struct SharedHandoffs {
    steps: BTreeMap<String, BTreeMap<i64, StepVersion>>,
}

impl SharedHandoffs {
    /// Writes a hand-off, if it is newer than the copy that is there.
    pub(super) fn handoff(&mut self, tx: &mut Tx<'_>, row: &Row) -> Result<(), Failure> {
        let id = text(row, "handoff_id");
        if dump::write(tx, "handoff", row)? {
            self.steps.insert(id, BTreeMap::new());
            return Ok(());
        }
        let there = handoff::get(tx, &id)?.ok_or_else(|| Fault::other(format!("hand-off {id} is gone")))?;
        let state = State::from_word(&text(row, "state"));
        let newness = (state.map_or(0, State::rank), int(row, "updated_at"));
        let is_newer = newness > (there.state.rank(), there.updated_at);
        let plan = row.get("plan").and_then(Value::as_str).unwrap_or_default().to_owned();
        if is_newer {
            let mut row = row.clone();
            row.insert("plan".into(), with_people(&plan, &there.plan).into());
            dump::replace(tx, "handoff", &row)?;
        } else {
            let plan = with_people(&there.plan, &plan);
            if plan != there.plan {
                handoff::put(tx, &Handoff { plan, ..there.clone() })?;
            }
        }
        let version = |step: Step| (step.no, (step.updated_at, step.attempts));
        let steps = handoff_step::of(tx, &id)?.into_iter().map(version).collect();
        self.steps.insert(id, steps);
        Ok(())
    }

    /// Writes a step, if it is newer than the copy that is there. False: its hand-off has not come.
    pub(super) fn step(&mut self, tx: &mut Tx<'_>, row: &Row) -> Result<bool, Failure> {
        let Some(there) = self.steps.get(&text(row, "handoff_id")) else { return Ok(false) };
        match there.get(&int(row, "step_no")) {
            None => drop(dump::write(tx, "handoff_step", row)?),
            Some(there) if *there < (int(row, "updated_at"), int(row, "attempts")) => {
                dump::replace(tx, "handoff_step", row)?
            }
            Some(_) => {}
        }
        Ok(true)
    }

    /// Writes what was said or changed under an issue, if it is newer than the copy that is there. False: its hand-off has not come. An
    /// export leaves out the names of the other project's people where the two are kept apart: whichever copy names the author of a
    /// comment or of an edit, the name stays.
    pub(super) fn issue(&self, tx: &mut Tx<'_>, table: &str, row: &Row) -> Result<bool, Failure> {
        let id = text(row, "handoff_id");
        if !self.steps.contains_key(&id) {
            return Ok(false);
        }
        match table {
            "issue_text" => {
                let mut row = row.clone();
                let there = issue_text::of(tx, &id)?;
                let editor = text(&row, "edited_by");
                match &there {
                    Some(known) if known.edited_at != int(&row, "edited_at") => {}
                    Some(known) if known.edited_by.is_none() && !editor.is_empty() => {
                        issue_text::put(tx, &id, &IssueText { edited_by: Some(editor), ..known.clone() })?;
                    }
                    Some(IssueText { edited_by: Some(known), .. }) if editor.is_empty() => {
                        row.insert("edited_by".into(), known.as_str().into());
                    }
                    _ => {}
                }
                let there = there.map(|text| text.updated_at);
                write_newer(tx, table, &row, there, int(&row, "updated_at"))?;
            }
            _ => {
                let mut row = row.clone();
                let there = issue_comment::get(tx, &id, int(&row, "comment_id"))?;
                let author = text(&row, "author");
                match &there {
                    Some(known) if known.author.is_none() && !author.is_empty() => {
                        issue_comment::put(tx, &id, &IssueComment { author: Some(author), ..known.clone() })?;
                    }
                    Some(IssueComment { author: Some(known), .. }) if author.is_empty() => {
                        row.insert("author".into(), known.as_str().into());
                    }
                    _ => {}
                }
                let there = there.map(|one| (!one.standing.is_there(), one.updated_at));
                // What was deleted stays so.
                let is_deleted = text(&row, "standing") == CommentStanding::Deleted.as_str();
                write_newer(tx, table, &row, there, (is_deleted, int(&row, "updated_at")))?;
            }
        }
        Ok(true)
    }
}

/// Writes a row where there is none, or one that is less new.
fn write_newer<N: PartialOrd>(
    tx: &mut Tx<'_>,
    table: &str,
    row: &Row,
    there: Option<N>,
    newness: N,
) -> Result<(), Failure> {
    match there {
        None => drop(dump::write(tx, table, row)?),
        Some(there) if there < newness => dump::replace(tx, table, row)?,
        Some(_) => {}
    }
    Ok(())
}

/// The newer plan of a hand-off, with those who accepted and ended it as the older one names them: an export leaves out the people of
/// the other project where the two are kept apart.
fn with_people(newer: &str, older: &str) -> String {
    let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let (Some(mut plan), Some(older)) = (read(newer), read(older)) else { return newer.to_owned() };
    for field in RECEIVER_FIELDS.into_iter().chain([ENDED_FIELD]) {
        if let Some(known) = older.get(field).filter(|_| !plan.contains_key(field)) {
            plan.insert(field.to_owned(), known.clone());
        }
    }
    Value::Object(plan).to_string()
}

/// The projects to which the file's messages went.
pub(super) fn receivers<'a>(rows: impl Iterator<Item = (&'a str, &'a Row)>) -> BTreeSet<&'a str> {
    rows.filter(|(table, _)| *table == "message")
        .filter_map(|(_, row)| row.get("to_project_id")?.as_str())
        .collect()
}

/// Puts messages that were sent after the receiver's project was exported into its mailbox. Returns how many.
pub(super) fn deliver(tx: &mut Tx<'_>, project_id: &str) -> Result<usize, Failure> {
    let copies = message::undelivered(tx, project_id)?;
    for copy in &copies {
        let to_project = copy.to_project_id.clone().unwrap_or_default();
        let seq = tx.next_seq(&to_project)?;
        let from_project_id = Some(copy.project_id.clone());
        let arrived =
            Message { project_id: to_project, seq, from_project_id, to_project_id: None, ..copy.clone() };
        message::insert(tx, &arrived)?;
    }
    Ok(copies.len())
}

fn text(row: &Row, column: &str) -> String {
    row.get(column).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn int(row: &Row, column: &str) -> i64 {
    row.get(column).and_then(Value::as_i64).unwrap_or_default()
}
