//! `session_end`: end a session that has nothing to hand over.

use baton_model::id::check_label;
use baton_model::session::{ReleaseReason, session_released};
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::force::EndRequest;
use super::{Releaser, notify, release};
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
    /// End a session that is somebody else's.
    #[serde(default)]
    force: bool,
    /// Why force is used; written into the ledger with who used it.
    #[serde(default)]
    why: Option<String>,
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
        for reason in [&input.reason, &input.why].into_iter().flatten() {
            check_label("reason", reason)?;
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let request = input.end_request();
            let mut own = request.session(tx, env, &project_id)?;
            let by = request.forced_by(env, &own)?;
            if !own.is_open() {
                return Err(session_released(&own, env.now).into());
            }
            let forced = by.is_some();
            let identity = by.unwrap_or_else(|| own.identity.clone());
            if !forced {
                Self::NAME.clone_into(&mut own.last_verb);
                own.heartbeat_at = env.now;
            }
            let by = Releaser {
                identity: &identity,
                reason: if forced { ReleaseReason::Operator } else { ReleaseReason::Ended },
                why: input.why(),
                successor: None,
            };
            release(tx, env, &mut own, &by)?;
            if forced {
                notify(tx, env, &own, &identity, input.why())?;
            }
            Ok(Output {
                project_id: project_id.clone(),
                identity,
                session_id: own.session_id,
                freed_baton_id: own.baton_id,
            })
        })
    }
}

impl Input {
    fn why(&self) -> Option<&str> {
        self.why.as_deref().or(self.reason.as_deref())
    }

    fn end_request(&self) -> EndRequest<'_> {
        let (identity, session) = (self.identity.as_deref(), self.session.as_deref());
        EndRequest { identity, session, force: self.force, why: self.why() }
    }
}
