//! `project_rename`: a project gets another name.
//!
//! The id of a project is in the hashes of its ledger, in access tokens, in hand-offs of other projects, in private keys' folders
//! and in exports that lie elsewhere, so a rename leaves it. The new name leads to the same project wherever a project is named;
//! the id and the names before do so, too, and are given to no other project. Nothing moves, so no agent needs to stop working.

use baton_model::access::Scope;
use baton_model::delta::Kind;
use baton_model::id::check_project;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation, Reach};
use crate::resolve;

/// Renames a project.
pub struct Rename;

/// Input of `project_rename`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameInput {
    /// Project id or name; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// What it is called from now on; its id takes the name away again.
    pub to: String,
    /// Only say what would happen.
    #[serde(default)]
    pub dry_run: bool,
    /// Identity that decides.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `project_rename`.
#[derive(Serialize, Deserialize)]
pub struct RenameOutput {
    /// Its id, which stays.
    pub project_id: String,
    /// What it was called.
    pub before: String,
    /// What it is called.
    pub name: String,
    /// Every word that leads to it, its id among them.
    pub names: Vec<String>,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The command that takes it back.
    pub undo: String,
}

impl Operation for Rename {
    const META: Meta =
        Meta::write("project_rename", "Give a project another name; its id keeps leading to it")
            .scope(Scope::Operator)
            .reach(Reach::Everything);
    type Input = RenameInput;
    type Output = RenameOutput;

    fn run(input: RenameInput, cx: &mut Cx<'_>) -> Result<RenameOutput, Failure> {
        check_project(&input.to)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        if input.dry_run {
            return store.read(|tx| preview(tx, &project_id, &input));
        }
        store.write(&[&project_id], |tx| {
            project::lock_names(tx)?;
            let answer = preview(tx, &project_id, &input)?;
            project::rename(tx, &project_id, &input.to, &identity, env.now)?;
            let body = json!({ "summary": format!("project {} is called {} from now on", answer.before, answer.name),
                "project_id": answer.project_id, "before": answer.before, "name": answer.name });
            let author = Author { project_id: &project_id, identity: &identity, session: None };
            append_json(tx, env, &author, Kind::Other, &body)?;
            Ok(answer)
        })
    }
}

/// What a rename comes to. Refused where the name leads to another project.
fn preview(tx: &mut Tx<'_>, project_id: &str, input: &RenameInput) -> Result<RenameOutput, Failure> {
    let known = project::get(tx, project_id)?.ok_or_else(|| resolve::no_project_refusal(project_id))?;
    let before = known.name.unwrap_or_else(|| project_id.to_owned());
    if before == input.to {
        let what = format!("project {project_id} is called {before} already");
        return Err(Refusal::invalid("project_unchanged", what, "name another").into());
    }
    let other = match project::get(tx, &input.to)? {
        Some(other) => Some(other.project_id),
        None => project::of_name(tx, &input.to)?,
    };
    if let Some(other) = other.filter(|other| other != project_id) {
        return Err(name_conflict_refusal(&input.to, &other).into());
    }
    let mut names = project::names(tx, project_id)?;
    names.extend([project_id.to_owned(), input.to.clone()]);
    names.sort_unstable();
    names.dedup();
    Ok(RenameOutput {
        project_id: project_id.to_owned(),
        undo: format!("baton project rename {project_id} --to {before}"),
        before,
        name: input.to.clone(),
        names,
        dry_run: input.dry_run,
    })
}

fn name_conflict_refusal(name: &str, other: &str) -> Refusal {
    let what = match name == other {
        true => format!("there is a project `{name}`"),
        false => format!("`{name}` is a name of project {other}, or was one, and still leads to it"),
    };
    let hint = "choose another name; `baton project list` names the known ones";
    Refusal::new(refusal::Kind::Conflict, "project_taken", what, hint).with("project_id", other)
}
