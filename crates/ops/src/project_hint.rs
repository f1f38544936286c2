//! What to do where a folder leads to no project, in words for who asks: a token that registers nothing is not sent to `baton init`.

use baton_model::access::{Grant, Scope};
use baton_model::refusal::Refusal;

use crate::op::Operation;
use crate::project::Init;

/// What names a project to this caller. One whose token registers none is told which there are.
pub(crate) fn way_to_project(grant: &Grant) -> String {
    let reached: Vec<&str> = grant.projects.iter().flatten().map(String::as_str).collect();
    match (reached.as_slice(), grant.scope) {
        ([first, ..], _) => format!(
            "this token sees: {}. Say --project {first}, `export BATON_PROJECT={first}`, or `project = \"{first}\"` in .baton.toml and `baton trust`",
            reached.join(", ")
        ),
        ([], Scope::Operator) => "run `baton init` in the folder of the project, or say --project ID".to_owned(),
        ([], _) => "say --project ID (`baton project list` names them), or run `baton init` here with a token of the scope operator".to_owned(),
    }
}

/// The refusal of a caller that may not register a project, with what it can do here; any other refusal as it is.
pub(crate) fn of_init(verb: &str, grant: &Grant, no: Refusal) -> Refusal {
    if verb != Init::NAME {
        return no;
    }
    let hint = match grant.projects {
        Some(_) => format!("{}; to register a project, {}", way_to_project(grant), no.hint),
        None => format!(
            "to work in one that is registered, say --project ID (`baton project list` names them); to register one, {}",
            no.hint
        ),
    };
    Refusal { hint, ..no }
}

/// What makes a clone a place of its project, or keeps it apart; what a caller does who may do neither.
pub(crate) fn way_to_clone(grant: &Grant, project: &str, that: &str) -> String {
    match grant.scope {
        Scope::Operator => format!(
            "`baton init --join {project}` makes it a place of {that}, `baton init --separate --id NAME` keeps it apart as one of its own"
        ),
        _ => format!(
            "say --project {project} or `export BATON_PROJECT={project}`; an operator of the server makes it a place of {that} with \
             `baton init --join {project}`"
        ),
    }
}
