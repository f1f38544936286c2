//! `ledger_export`: what stands beside the ledger, so that an export is a whole store.

use std::collections::BTreeSet;

use baton_model::access::Grant;
use baton_model::handoff::State;
use baton_model::project::redacted_address;
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, chain, dump, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::handoff::details::HandoffDetails;
use crate::handoff::isolation::{ENDED_FIELD, RECEIVER_FIELDS};
use crate::op::{Cx, Meta, Operation};
use crate::project::export_out_of_reach_refusal;
use crate::resolve;

/// Exports a project's rows outside the ledger; the ledger itself is read with `ledger_list`.
pub struct Export;

/// Input of `ledger_export`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Export a ledger whose chain is broken, as it is: for what can still be read of a damaged store.
    #[serde(default)]
    pub unverified: bool,
}

/// Answer of `ledger_export`: rows with their table in `_type`.
#[derive(Serialize, Deserialize)]
pub struct ExportOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Value>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl ExportOutput {
    /// The newest link of the ledger's chain, as the project's own row names it.
    pub fn chain_head(&self) -> Option<&str> {
        let project = self.items.iter().find(|row| row["_type"] == "project")?;
        project["chain_head"].as_str()
    }
}

/// Whether the other project of a relation is there for the caller.
fn is_reached(grant: &Grant, relation: &Map<String, Value>) -> bool {
    relation.get("other_project_id").and_then(Value::as_str).is_some_and(|other| grant.reaches(other))
}

/// What an export of one project shows of the other end of its hand-offs.
struct OtherEnd<'a> {
    project_id: &'a str,
    grant: &'a Grant,
    /// The isolated projects.
    isolated: &'a [String],
}

impl OtherEnd<'_> {
    /// Removes from a hand-off the people of the other end, where an isolated project is one of the two or the caller's token does not
    /// reach the receiver; of such a receiver also the tracker, as long as there is no issue.
    fn hide(&self, row: &mut Map<String, Value>) {
        let Some(hidden) = self.hidden_fields(row) else { return };
        let to = row.get("to_project_id").and_then(Value::as_str).unwrap_or_default();
        let is_reached = self.grant.reaches(to);
        let details = row.get("plan").and_then(Value::as_str);
        let details = details.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        if let Some(mut details) = details {
            details.retain(|field, _| !hidden.contains(&field.as_str()));
            row.insert("plan".into(), Value::Object(details).to_string().into());
        }
        if !is_reached && row.get("issue_number").is_none_or(Value::is_null) {
            row.insert("issues_repo".into(), Value::Null);
        }
    }

    /// The fields of a hand-off's details that are left out; none where the caller may see all of it.
    fn hidden_fields(&self, row: &Map<String, Value>) -> Option<Vec<&'static str>> {
        let word = |column: &str| row.get(column).and_then(Value::as_str).unwrap_or_default();
        let (from, to, state) =
            (word("from_project_id"), word("to_project_id"), State::from_word(word("state")));
        let is_reached = self.grant.reaches(to);
        let is_separated =
            from != to && [from, to].iter().any(|end| self.isolated.iter().any(|one| one == end));
        if is_reached && !is_separated {
            return None;
        }
        let is_ended_by_receiver = state.is_some_and(State::is_answered);
        let (is_senders, is_receivers) = (self.project_id == from, self.project_id == to);
        let mut hidden = Vec::new();
        if !is_receivers || !is_reached {
            hidden.extend(RECEIVER_FIELDS);
        }
        if !is_reached || is_senders && is_ended_by_receiver || is_receivers && !is_ended_by_receiver {
            hidden.push(ENDED_FIELD);
        }
        Some(hidden)
    }

    /// Whether the people under the issue of a hand-off are left out: they may be the receiver's.
    fn hides_people(&self, row: &Map<String, Value>) -> bool {
        self.hidden_fields(row).is_some_and(|hidden| hidden.contains(&RECEIVER_FIELDS[0]))
    }
}

impl OtherEnd<'_> {
    /// Names the sender by the project from which a hand-off was sent, where that one was merged into one that the caller does
    /// not reach.
    fn hide_merge(&self, row: &mut Map<String, Value>) {
        let text = |column: &str| row.get(column).and_then(Value::as_str);
        let is_reached = text("from_project_id").is_none_or(|from| self.grant.reaches(from));
        let former = text("plan").and_then(HandoffDetails::former_sender).filter(|_| !is_reached);
        if let Some(former) = former {
            row.insert("from_project_id".into(), former.into());
        }
    }
}

/// Leaves the secret part of a webhook's address out: a reader of an export could post in the sender's place.
fn redact_webhook(row: &mut Map<String, Value>) {
    if let Some(url) = row.get("webhook_url").and_then(Value::as_str).map(redacted_address) {
        row.insert("webhook_url".into(), url.into());
    }
}

/// Refuses a ledger whose chain is broken.
fn check_complete(project_id: &str, walk: &chain::ChainVerifier) -> Result<(), Refusal> {
    let faults = walk.faults();
    let Some(first) = walk.broken.first() else { return Ok(()) };
    let what = format!("the ledger of {project_id} is damaged at delta {}: {}", first.seq, first.what);
    let hint =
        "`baton doctor` names all of it; restore a backup, or export what can be read with --unverified";
    let refusal = Refusal::new(Kind::Refused, "chain_broken", what, hint);
    Err(refusal.with("project_id", project_id).with("seq", first.seq).with("faults", faults))
}

impl Operation for Export {
    const META: Meta = Meta::read(
        "ledger_export",
        "Export the sessions, batons, tasks and messages that stand beside the ledger",
    );
    type Input = ExportInput;
    type Output = ExportOutput;

    fn run(input: ExportInput, cx: &mut Cx<'_>) -> Result<ExportOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let (rows, isolated) = cx.store.snapshot(|tx| {
            resolve::require_project(tx, &project_id)?;
            if !input.unverified {
                check_complete(&project_id, &chain::walk(tx, &project_id)?)?;
            }
            Ok((dump::read(tx, &project_id)?, project::isolated(tx)?))
        })?;
        let grant = &cx.env.caller.grant;
        let names_other = |row: &Map<String, Value>| {
            row.get("merged_into").and_then(Value::as_str).is_some_and(|into| !grant.reaches(into))
        };
        if rows.iter().any(|(table, row)| *table == "project" && names_other(row)) {
            return Err(export_out_of_reach_refusal(&project_id).into());
        }
        let other_end = OtherEnd { project_id: &project_id, grant, isolated: &isolated };
        let nameless: BTreeSet<String> = rows
            .iter()
            .filter(|(table, row)| *table == "handoff" && other_end.hides_people(row))
            .filter_map(|(_, row)| row.get("handoff_id")?.as_str().map(str::to_owned))
            .collect();
        let items = rows
            .into_iter()
            .filter(|(table, row)| *table != "project_relation" || is_reached(grant, row))
            .map(|(table, mut row)| {
                if table == "handoff" {
                    other_end.hide(&mut row);
                    other_end.hide_merge(&mut row);
                }
                let id = row.get("handoff_id").and_then(Value::as_str);
                if id.is_some_and(|id| nameless.contains(id)) {
                    match table {
                        "issue_comment" => _ = row.insert("author".into(), Value::Null),
                        "issue_text" => _ = row.insert("edited_by".into(), Value::Null),
                        _ => {}
                    }
                }
                if table == "project" {
                    redact_webhook(&mut row);
                }
                row.shift_insert(0, "_type".into(), table.into());
                // A hand-off belongs to two projects; the line says for which it was exported.
                row.entry("project_id").or_insert_with(|| project_id.clone().into());
                Value::Object(row)
            })
            .collect();
        Ok(ExportOutput { project_id, items, next: None })
    }
}
