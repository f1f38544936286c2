//! What a merge tells whom: the other project is named only to a caller who reaches that one.

use baton_model::access::Grant;
use baton_model::delta::{Delta, Kind};
use baton_model::packet_from_ledger::CARRIED_AS;
use baton_model::refusal::{self, Refusal};
use baton_store::Failure;
use serde_json::{Map, Value};

/// The same failure; a project into which another was merged is named only to a caller who reaches that one.
pub(crate) fn hide_merge(failure: Failure, grant: &Grant) -> Failure {
    let Failure::Refused(refusal) = failure else { return failure };
    let field = |name: &str| refusal.details.get(name).and_then(Value::as_str);
    match (field("merged_from"), field("project_id")) {
        (Some(from), Some(into)) if refusal.code == "project_merged" && !grant.reaches(into) => Refusal::new(
            refusal::Kind::Conflict,
            "project_merged",
            format!("project {from} was merged into another"),
            "ask its owner where its work goes on: nothing is sent to this one or begun in it any more",
        )
        .with("merged_from", from)
        .into(),
        _ => refusal.into(),
    }
}

/// What an entry about a merge says in place of the other project, for a reader who does not reach that one: by the field that
/// names it.
const NEUTRAL: [(&str, &str); 4] = [
    ("merged_into", "merged into another project"),
    ("merged_from", "another project merged into this one"),
    ("merge_undone", "the merge with another project was taken back"),
    ("project_id", "goes on as a baton of another project"),
];

/// The body of an entry about a merge without the name of the other project; none where the caller reaches that one, or where
/// the entry is about something else.
pub(crate) fn hidden_merge(entry: &Delta, grant: &Grant) -> Option<String> {
    if entry.kind != Kind::Other || grant.projects.is_none() {
        return None;
    }
    let mut body: Map<String, Value> = serde_json::from_str(&entry.body).ok()?;
    let (field, neutral) = NEUTRAL.into_iter().find(|(field, _)| body.contains_key(*field))?;
    let is_carried = field != "project_id" || body.contains_key(CARRIED_AS);
    let other = body.get(field).and_then(Value::as_str)?;
    if !is_carried || grant.reaches(other) {
        return None;
    }
    body.remove(field);
    body.insert("summary".into(), neutral.into());
    Some(Value::Object(body).to_string())
}

/// Refuses an export that would name a project which the caller does not reach: an export is the ledger byte for byte.
pub(crate) fn export_out_of_reach_refusal(project_id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Refused,
        "export_out_of_reach",
        format!("the ledger of {project_id} names a project that this token does not reach, with which it was merged"),
        "an export holds the ledger byte for byte: make it with a token that reaches both projects",
    )
    .with("project_id", project_id)
}
