//! Objects by their ids, or by the beginning of one.

use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Fault, Tx};
use serde_json::json;

/// Project and id of each object whose id begins with a text.
type ByPrefix = fn(&mut Tx<'_>, &str) -> Result<Vec<(String, String)>, Fault>;

/// Project and id of the only object that begins so, among those in projects that the caller reaches.
pub(crate) fn object_by_prefix(
    tx: &mut Tx<'_>,
    (noun, id): (&str, &str),
    by_prefix: ByPrefix,
    reaches: impl Fn(&str) -> bool,
    unknown: fn(&str) -> Refusal,
) -> Result<(String, String), Failure> {
    let is_prefix = id.len() >= 4 && id.is_ascii();
    let mut found = if is_prefix { by_prefix(tx, id)? } else { Vec::new() };
    found.retain(|(project_id, _)| reaches(project_id));
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(unknown(id).into()),
        many => {
            let ids: Vec<String> = many.iter().map(|(_, id)| id.clone()).collect();
            let is_one = ids.windows(2).all(|pair| pair[0] == pair[1]);
            Err(if is_one {
                in_several_projects_refusal(noun, many)
            } else {
                ambiguous_id_refusal(noun, id, &ids)
            }
            .into())
        }
    }
}

/// The refusal for an id that objects of several projects have: an imported session keeps its id.
fn in_several_projects_refusal(noun: &str, found: &[(String, String)]) -> Refusal {
    let mut projects: Vec<&str> = found.iter().map(|(project_id, _)| project_id.as_str()).collect();
    projects.sort_unstable();
    let id = found.first().map_or("", |(_, id)| id);
    Refusal::new(
        Kind::Refused,
        "id_ambiguous",
        format!("several projects have the {noun} `{id}`: {}", projects.join(", ")),
        "name the project with `--project ID`",
    )
    .with("candidates", json!(projects))
}

/// The refusal for a prefix that several ids share.
pub(crate) fn ambiguous_id_refusal(what: &str, prefix: &str, ids: &[String]) -> Refusal {
    Refusal::new(
        Kind::Refused,
        "id_ambiguous",
        format!("several {what}s begin with `{prefix}`"),
        format!("give more of the id: {}", ids.join(", ")),
    )
    .with("candidates", json!(ids))
}
