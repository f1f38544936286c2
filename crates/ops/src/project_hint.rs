//! What to do where a folder leads to no project, in words for who asks: a token that registers nothing is not sent to `baton init`.

use baton_model::access::{Grant, Scope};

/// What names a project to this caller. One whose token registers none is told which there are.
pub(crate) fn way_to_project(grant: &Grant) -> String {
    let reached: Vec<&str> = grant.projects.iter().flatten().map(String::as_str).collect();
    match (reached.as_slice(), grant.scope) {
        ([first, ..], _) => format!(
            "this token sees: {}. Say --project {first}, `export BATON_PROJECT={first}`, or `project = \"{first}\"` in .baton.toml and `baton trust`",
            reached.join(", ")
        ),
        ([], Scope::Operator) => "run `baton init` in the repository, or say --project ID".to_owned(),
        ([], _) => "say --project ID (`baton project list` names them), or have an operator of the server run `baton init` here".to_owned(),
    }
}

/// What makes a clone a place of its project, or keeps it apart; what a caller does who may do neither.
pub(crate) fn way_to_clone(grant: &Grant, project: &str, that: &str) -> String {
    match grant.scope {
        Scope::Operator => format!(
            "`baton init --join {project}` makes it a place of {that}, `baton init --separate` keeps it apart"
        ),
        _ => format!(
            "say --project {project} or `export BATON_PROJECT={project}`; an operator of the server makes it a place of {that} with \
             `baton init --join {project}`"
        ),
    }
}
