//! `session_end`: end a session that has nothing to hand over.

use baton_model::id::check_label;
use baton_model::session::ReleaseReason;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Releaser, release};
use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Ends a session without a baton.
pub(crate) struct End;

/// Input of `session_end`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that ends.
    #[serde(default)]
    identity: Option<String>,
    /// Session that ends; else the identity's one open session.
    #[serde(default)]
    session: Option<String>,
    /// Why.
    #[serde(default)]
    reason: Option<String>,
}

/// Answer of `session_end`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    session_id: String,
    freed_baton_id: Option<String>,
}

impl Operation for End {
    const NAME: &'static str = "session_end";
    const DOC: &'static str = "End a session that has nothing to hand over";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        if let Some(reason) = &input.reason {
            check_label("reason", reason)?;
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let (session, who) = (input.session.as_deref(), input.identity.as_deref());
            let mut own = resolve::acting_open(tx, env, &project_id, session, who)?;
            Self::NAME.clone_into(&mut own.last_verb);
            own.heartbeat_at = env.now;
            let identity = own.identity.clone();
            let by = Releaser {
                identity: &identity,
                reason: ReleaseReason::Ended,
                why: input.reason.as_deref(),
                successor: None,
            };
            release(tx, env, &mut own, &by)?;
            Ok(Output {
                project_id: project_id.clone(),
                identity,
                session_id: own.session_id,
                freed_baton_id: own.baton_id,
            })
        })
    }
}
