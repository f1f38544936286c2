//! `session_end`: end a session that has nothing to hand over.

use baton_model::id::{check_label, identity_key, is_bot};
use baton_model::refusal::Refusal;
use baton_model::session::{ReleaseReason, Session, session_released};
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Releaser, notify, release};
use crate::op::{Cx, Env, Meta, Operation};
use crate::{bearer, resolve};

/// Ends a session without a baton.
pub struct End;

/// Input of `session_end`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that ends.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that ends; else the identity's one open session.
    #[serde(default)]
    pub session: Option<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// End a session that is somebody else's.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger with who used it.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `session_end`.
#[derive(Serialize, Deserialize)]
pub struct EndOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The baton that is free again.
    pub freed_baton_id: Option<String>,
}

impl Operation for End {
    const META: Meta = Meta::write("session_end", "End a session that has nothing to hand over")
        .ends_session()
        .changes_tasks();
    type Input = EndInput;
    type Output = EndOutput;

    fn run(input: EndInput, cx: &mut Cx<'_>) -> Result<EndOutput, Failure> {
        for reason in [&input.reason, &input.why].into_iter().flatten() {
            check_label("reason", reason)?;
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let session = input.session.as_deref();
            // Where a session is named, a forced end's identity says who ends it.
            let who = input.identity.as_deref().filter(|_| ends_as(&input).is_none());
            let mut own = resolve::meant_session(tx, env, &project_id, session, who)?;
            let by = releaser(env, &input, &own)?;
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
            Ok(EndOutput {
                project_id: project_id.clone(),
                identity,
                session_id: own.session_id,
                freed_baton_id: own.baton_id,
            })
        })
    }
}

impl EndInput {
    fn why(&self) -> Option<&str> {
        self.why.as_deref().or(self.reason.as_deref())
    }
}

/// The identity that ends a session by force, where the call names both.
fn ends_as(input: &EndInput) -> Option<&str> {
    input.identity.as_deref().filter(|_| input.force && input.session.is_some())
}

/// Who ends the session by force, where it is somebody else's; nobody, where it is the caller's own.
fn releaser(env: &Env<'_>, input: &EndInput, session: &Session) -> Result<Option<String>, Refusal> {
    let who = match &env.caller.grant.bearer {
        // The name that the call gives says whose session is meant, not who ends it.
        Some(bearer) if bearer.identities.is_none() => bearer.actor(),
        _ => resolve::identity(env.caller, ends_as(input))?,
    };
    let is_named = ends_as(input).is_some() || env.caller.identity.is_some() && input.identity.is_none();
    let named = is_named && !is_bot(&who);
    let is_another = named && identity_key(&who) != identity_key(&session.identity);
    if bearer::is_own(env, session) && !is_another {
        return Ok(None);
    }
    match (input.force, input.why()) {
        (false, _) => Err(bearer::not_yours(env, session)),
        (true, None) => {
            let what = "the session of somebody else is ended only with a reason";
            Err(Refusal::invalid("why_missing", what, "say --why REASON"))
        }
        (true, Some(_)) => Ok(Some(who)),
    }
}
