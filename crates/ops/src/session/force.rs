//! Ending or wrapping a session: as its own agent, or by force as another one, which the ledger keeps.

use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_store::{Failure, Tx};

use super::WrapInput;
use crate::op::Env;
use crate::{ownership, resolve};

/// What a call says of whose session it means, and with what right.
pub(super) struct EndRequest<'a> {
    pub(super) identity: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) force: bool,
    pub(super) why: Option<&'a str>,
}

impl<'a> EndRequest<'a> {
    /// What a wrap says of it.
    pub(super) fn of_wrap(input: &'a WrapInput) -> Self {
        Self {
            identity: input.identity.as_deref(),
            session: input.session.as_deref(),
            force: input.force,
            why: input.why.as_deref(),
        }
    }

    /// The identity of who acts by force, where the call names both it and the session.
    fn actor(&self) -> Option<&str> {
        self.identity.filter(|_| self.force && self.session.is_some())
    }

    /// The session that is meant, regardless of its agent.
    pub(super) fn session(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        project_id: &str,
    ) -> Result<Session, Failure> {
        let identity = self.identity.filter(|_| self.actor().is_none());
        resolve::select_session(tx, env, project_id, self.session, identity)
    }

    /// Who acts by force, where the session is another agent's; none, where it is the caller's own.
    pub(super) fn forced_by(&self, env: &Env<'_>, session: &Session) -> Result<Option<String>, Refusal> {
        let name = resolve::stated_name(env, self.identity);
        if ownership::is_agent_of(env, session, name) {
            return Ok(None);
        }
        match (self.force, self.why) {
            (false, _) => Err(ownership::session_of_another_refusal(env, session)),
            (true, None) => {
                let what = "the session of another agent is taken only with a reason";
                Err(Refusal::invalid("why_missing", what, "say --why REASON"))
            }
            (true, Some(_)) => match &env.caller.grant.bearer {
                // The name that the call gives says whose session is meant, not who ends it.
                Some(bearer) if bearer.identities.is_none() => Ok(Some(bearer.actor())),
                _ => resolve::identity(env.caller, self.actor()).map(Some),
            },
        }
    }
}
