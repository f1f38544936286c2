//! `changes_attach`: give a baton the changes of the working copy in which it was left.

use baton_model::baton::{Baton, State};
use baton_model::changes::{Manifest, RemoteContent};
use baton_model::delta::Kind;
use baton_model::id::{short, visible};
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{BatonChanges, attach, no_changes_refusal, of_baton, refuse_others, unnamed};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation, Retention};
use crate::resolve;

/// Attaches changes.
pub struct Attach;

/// Input of `changes_attach`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The baton, by its id or a unique prefix of one.
    pub baton_id: String,
    /// The changes; their content was uploaded.
    pub changes: Manifest,
    /// In place of other changes that the baton has; else it keeps those.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
}

/// Answer of `changes_attach`.
#[derive(Serialize, Deserialize)]
pub struct AttachOutput {
    /// The project.
    pub project_id: String,
    /// The changes.
    pub changes: BatonChanges,
    /// References in remotes that were replaced, and that no baton of the project has any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<RemoteContent>,
}

impl Operation for Attach {
    const META: Meta = Meta::write("changes_attach", "Give an open baton the changes of its working copy")
        .retention(Retention::Nothing);
    type Input = AttachInput;
    type Output = AttachOutput;

    fn run(input: AttachInput, cx: &mut Cx<'_>) -> Result<AttachOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let (changes, unnamed) = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let id = match baton::by_prefix(tx, &project_id, &input.baton_id)?.as_slice() {
                [one] => one.clone(),
                _ => input.baton_id.clone(),
            };
            let Some(left) = baton::get(tx, &project_id, &id)? else {
                let what = format!("project {project_id} has no baton `{}`", visible(&input.baton_id));
                let hint = "`baton status` lists those that wait";
                return Err(Refusal::new(refusal::Kind::NotFound, "baton_unknown", what, hint).into());
            };
            require_open(tx, &left)?;
            let identity = resolve::identity(env.caller, None)?;
            refuse_others(env, (&left.baton_id, &left.identity), &identity)?;
            let before = of_baton(tx, &project_id, &left.baton_id)?;
            let given_up = before.as_ref().and_then(|before| before.manifest.remote.clone());
            let is_other =
                |before: &BatonChanges| before.manifest.content_hash != input.changes.content_hash;
            if let Some(before) = before.filter(is_other) {
                if !input.replace {
                    return Err(present_refusal(&before).into());
                }
                let summary = format!("the changes of baton {} were replaced", short(&left.baton_id));
                let body = json!({ "summary": summary, "baton_id": left.baton_id, "files": before.manifest.files.len() });
                let author = Author { project_id: &project_id, identity: &identity, session: None };
                append_json(tx, env, &author, Kind::Other, &body)?;
            }
            attach(tx, env, (&project_id, &left.identity), &left.baton_id, &input.changes)?;
            let changes = of_baton(tx, &project_id, &left.baton_id)?
                .ok_or_else(|| no_changes_refusal(format!("baton {} has no changes", left.baton_id)))?;
            let unnamed = unnamed(tx, &project_id, given_up)?;
            Ok((changes, unnamed))
        })?;
        Ok(AttachOutput { project_id, changes, unnamed })
    }
}

/// The refusal for a baton that has other changes.
fn present_refusal(before: &BatonChanges) -> Refusal {
    let count = before.manifest.files.len();
    let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let (id, by) = (&before.baton_id, visible(&before.identity));
    let what = format!("baton {} has changes of {files} already, from {by}", short(id));
    let hint = format!(
        "`baton changes show {id}` lists them; `baton changes keep {id} --replace` takes yours in their place"
    );
    Refusal::new(refusal::Kind::Conflict, "changes_present", what, hint)
}

/// Refuses a baton that is held or spent: it was read without them. One whose holder ended without a wrap waits again.
fn require_open(tx: &mut Tx<'_>, left: &Baton) -> Result<(), Failure> {
    match state(tx, left)? {
        State::Open => Ok(()),
        State::Held | State::Abandoned | State::Spent => Err(claimed_baton_refusal(left).into()),
    }
}

/// How a baton stands. A silent holder may come back, and has read it.
pub(super) fn state(tx: &mut Tx<'_>, left: &Baton) -> Result<State, Failure> {
    let holder = match &left.holder_session_id {
        Some(id) => session::get(tx, &left.project_id, id)?,
        None => None,
    };
    Ok(left.state(holder.as_ref(), |_| true))
}

fn claimed_baton_refusal(left: &Baton) -> Refusal {
    let how = match left.spent_by {
        Some(_) if left.is_finished() => "is finished",
        Some(_) => "was continued",
        None => "was picked up",
    };
    Refusal::new(
        refusal::Kind::Conflict,
        "baton_claimed",
        format!("baton {} {how}, and whoever did so would not hear of these changes", short(&left.baton_id)),
        "give them to a baton that waits (`baton status` lists those), or leave one: `baton wrap --with-changes`, after `baton start` where your session is over",
    )
    .with("baton_id", left.baton_id.clone())
}
