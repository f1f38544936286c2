//! `changes_record`: note that the changes of a baton are in the working copy of a session.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{find, note_presence};
use crate::op::{Cx, Meta, Operation, Retention};
use crate::ownership::is_agent_of;
use crate::resolve;
use crate::session::refresh_working_copy;

/// Records where changes are.
pub struct Record;

/// Input of `changes_record`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that applied them.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that has them; else the identity's one open session.
    #[serde(default)]
    pub session: Option<String>,
    /// The baton, by its id or a unique prefix of one.
    pub baton_id: String,
}

/// Answer of `changes_record`.
#[derive(Serialize, Deserialize)]
pub struct RecordOutput {
    /// The project.
    pub project_id: String,
    /// The session that has them; none where the caller has no session.
    pub session_id: Option<String>,
    /// The baton.
    pub baton_id: String,
}

impl Operation for Record {
    const META: Meta = Meta::write(
        "changes_record",
        "Note that the changes of a baton are in the working copy of a session",
    )
    .retention(Retention::Nothing);
    type Input = RecordInput;
    type Output = RecordOutput;

    fn run(input: RecordInput, cx: &mut Cx<'_>) -> Result<RecordOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let named = input.session.as_deref().or(env.caller.session.as_deref());
            let mut own = match named {
                Some(_) => Some(resolve::acting(tx, env, &project_id, named, input.identity.as_deref())?),
                None => resolve::default_session(tx, env, &project_id, &identity)?,
            };
            let baton_id = find(tx, env, &project_id, Some(&input.baton_id))?.baton_id;
            // Another process of the name may be at work in the session: its place and leases stay where it is.
            own = own.filter(|own| named.is_some() || is_agent_of(env, own, Some(&identity)));
            if let Some(own) = own.as_mut().filter(|own| own.is_open()) {
                refresh_working_copy(tx, env, own)?;
                note_presence(tx, env, own, &baton_id)?;
            }
            let session_id = own.map(|own| own.session_id);
            Ok(RecordOutput { project_id: project_id.clone(), session_id, baton_id })
        })
    }
}
