//! A baton: what a wrap leaves for the next agent. One wrap, one baton, at most one holder.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::id::{identity_key, short};
use crate::refusal::{Kind, Refusal};
use crate::role::role_key;
use crate::session::{Limits, ReleaseReason, Session};
use crate::time::{Millis, ago, rfc3339};

/// What a wrap leaves. Its id is the id of the wrap delta.
#[derive(Debug, Clone, PartialEq)]
pub struct Baton {
    /// The project.
    pub project_id: String,
    /// Id of the wrap delta.
    pub baton_id: String,
    /// Number of the wrap delta.
    pub seq: i64,
    /// The session that wrapped.
    pub session_id: String,
    /// The identity that wrapped.
    pub identity: String,
    /// The line of work.
    pub thread_id: String,
    /// When it was wrapped.
    pub created_at: Millis,
    /// First line of the packet's summary.
    pub summary: String,
    /// The identity it is addressed to.
    pub to_identity: Option<String>,
    /// The role it is addressed to.
    pub to_role: Option<String>,
    /// The session that holds it, whether that session still lives or not.
    pub holder_session_id: Option<String>,
    /// When it was last picked up.
    pub held_at: Option<Millis>,
    /// The baton that its holder left when it wrapped: then this one is spent. Itself where its wrap said that nothing is left to do.
    pub spent_by: Option<String>,
    /// Rises with every change of hands; the fencing token of a claim.
    pub version: i64,
    /// What was not committed goes with it.
    pub has_changes: bool,
}

/// The states of a baton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No session holds it.
    Open,
    /// A fresh session holds it.
    Held,
    /// Its holder is no longer live: any session may continue.
    Abandoned,
    /// It is over: its holder wrapped, and the thread goes on with another baton, or it was finished or withdrawn.
    Spent,
}

impl State {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Held => "held",
            Self::Abandoned => "abandoned",
            Self::Spent => "spent",
        }
    }
}

/// Who wants a baton, and how.
pub struct Picker<'a> {
    /// The identity.
    pub identity: &'a str,
    /// The roles it registered.
    pub roles: &'a [String],
    /// Its own open session, if it has one.
    pub session_id: Option<&'a str>,
    /// Whether the baton was named by its id.
    pub is_by_id: bool,
    /// Whether a holder or an address has to yield.
    pub force: bool,
    /// Now.
    pub now: Millis,
    /// The cut-offs.
    pub limits: Limits,
    /// Whether the session's process is known to have ended; such a session blocks no picker.
    pub is_gone: &'a dyn Fn(&Session) -> bool,
}

impl Picker<'_> {
    /// Whether a session is still at work, as far as is known.
    fn is_at_work(&self, session: &Session) -> bool {
        session.is_fresh(self.now, self.limits) && !(self.is_gone)(session)
    }
}

/// The outcome of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimOutcome {
    /// The picker holds it already: the same answer again.
    AlreadyHeld,
    /// It was open.
    WasOpen,
    /// It was taken from a living holder, who is released.
    Forced(Session),
    /// Its holder is dead; what the holder left since comes along.
    Recovered(Session),
}

/// Whether what is left for a name, for a role or without an address may be taken under this name with these roles.
pub fn is_addressed_to(
    (to_identity, to_role): (Option<&str>, Option<&str>),
    identity: &str,
    roles: &[String],
) -> bool {
    let by_name = to_identity.map(|name| identity_key(name) == identity_key(identity));
    let by_role = to_role.map(|role| {
        let key = role_key(role);
        roles.iter().any(|mine| role_key(mine) == key)
    });
    match (by_name, by_role) {
        (None, None) => true,
        (name, role) => name == Some(true) || role == Some(true),
    }
}

impl Baton {
    /// The state, given the session that holds it. `is_at_work` says whether a session may still be working.
    pub fn state(&self, holder: Option<&Session>, is_at_work: impl Fn(&Session) -> bool) -> State {
        match (&self.spent_by, holder) {
            (Some(_), _) => State::Spent,
            (None, None) => State::Open,
            // Who is released holds nothing, whatever released it.
            (None, Some(holder)) if !holder.is_open() => State::Open,
            (None, Some(holder)) if is_at_work(holder) => State::Held,
            (None, Some(_)) => State::Abandoned,
        }
    }

    /// Whether it is meant for this identity: unaddressed, or addressed to its name or one of its roles.
    pub fn is_for(&self, identity: &str, roles: &[String]) -> bool {
        is_addressed_to((self.to_identity.as_deref(), self.to_role.as_deref()), identity, roles)
    }

    /// May this picker have it? Pure: the caller carries the answer out.
    pub fn check_claim(
        &self,
        holder: Option<&Session>,
        picker: &Picker<'_>,
    ) -> Result<ClaimOutcome, Refusal> {
        match &self.spent_by {
            Some(_) if self.is_finished() && (picker.is_by_id || picker.force) => {}
            Some(_) if self.is_finished() => return Err(self.finished_refusal()),
            Some(next) => return Err(self.spent_refusal(next)),
            None => {}
        }
        if let (Some(holder), Some(own)) = (holder, picker.session_id)
            && holder.session_id == own
        {
            return Ok(ClaimOutcome::AlreadyHeld);
        }
        if !picker.is_by_id && !picker.force && !self.is_for(picker.identity, picker.roles) {
            return Err(self.addressed_refusal());
        }
        match holder {
            None => Ok(ClaimOutcome::WasOpen),
            Some(holder) if !picker.is_at_work(holder) => Ok(ClaimOutcome::Recovered(holder.clone())),
            Some(holder) if picker.force => Ok(ClaimOutcome::Forced(holder.clone())),
            Some(holder) => Err(self.claimed_refusal(holder, picker)),
        }
    }

    /// Whether its wrap said that nothing is left to do: it is offered to no agent, and goes on where a pickup names it.
    pub fn is_finished(&self) -> bool {
        self.spent_by.as_ref() == Some(&self.baton_id)
    }

    /// May it be taken back? Only while no session holds it; once it is, it is offered to no agent, and goes on where a pickup names it.
    pub fn check_withdrawal(&self, holder: Option<&Session>, now: Millis) -> Result<(), Refusal> {
        if self.is_finished() {
            return Err(self.finished_refusal());
        }
        if let Some(next) = self.successor() {
            return Err(self.spent_refusal(next));
        }
        let Some(holder) = holder.filter(|holder| holder.is_open()) else { return Ok(()) };
        Err(Refusal::new(
            Kind::Conflict,
            "baton_claimed",
            format!("baton {} is held by {}", short(&self.baton_id), holder.describe(now)),
            "what somebody works on is not taken back: ask for it, or take it over with `baton pickup --force --why REASON`",
        )
        .with("baton_id", self.baton_id.clone()))
    }

    /// The baton once it is taken back.
    pub fn withdrawn(&self) -> Self {
        Self { holder_session_id: None, spent_by: Some(self.baton_id.clone()), ..self.clone() }
    }

    /// The refusal for who did not leave it.
    pub fn not_yours_refusal(&self) -> Refusal {
        let (id, from) = (&self.baton_id, &self.identity);
        Refusal::new(
            Kind::Conflict,
            "baton_not_yours",
            format!("baton {} was left by {from}, who takes it back", short(id)),
            format!(
                "as {from}: `baton batons withdraw {id} --as {from}`; in another's place: \
                 `baton batons withdraw {id} --force --why REASON`"
            ),
        )
        .with("baton_id", id.clone())
    }

    /// The baton with which the work goes on after it.
    pub fn successor(&self) -> Option<&String> {
        self.spent_by.as_ref().filter(|_| !self.is_finished())
    }

    /// The baton in the hands of a session. One that was finished goes on.
    pub fn held_by(&self, session_id: &str, now: Millis) -> Self {
        Self {
            holder_session_id: Some(session_id.to_owned()),
            held_at: Some(now),
            spent_by: None,
            ..self.clone()
        }
    }

    fn finished_refusal(&self) -> Refusal {
        Refusal::new(
            Kind::Conflict,
            "baton_finished",
            format!("baton {} says that nothing is left to do", short(&self.baton_id)),
            format!("`baton pickup --handoff {}` goes on with it all the same", self.baton_id),
        )
        .with("baton_id", self.baton_id.clone())
    }

    fn spent_refusal(&self, next: &str) -> Refusal {
        Refusal::new(
            Kind::Conflict,
            "baton_spent",
            format!(
                "baton {} was carried on and wrapped; its thread continues with {}",
                short(&self.baton_id),
                short(next)
            ),
            format!("baton pickup --handoff {next}"),
        )
        .with("baton_id", self.baton_id.clone())
        .with("next_baton_id", next)
    }

    fn addressed_refusal(&self) -> Refusal {
        let to =
            self.to_identity.clone().or_else(|| self.to_role.as_ref().map(|role| format!("role {role}")));
        Refusal::new(
            Kind::Refused,
            "baton_addressed",
            format!("baton {} is addressed to {}", short(&self.baton_id), to.unwrap_or_default()),
            format!("name it to take it all the same: baton pickup --handoff {}", self.baton_id),
        )
        .with("baton_id", self.baton_id.clone())
    }

    fn claimed_refusal(&self, holder: &Session, picker: &Picker<'_>) -> Refusal {
        Refusal::new(
            Kind::Conflict,
            "baton_claimed",
            format!("baton {} is held by {}", short(&self.baton_id), holder.describe(picker.now)),
            "pick up another open baton, wait for its wrap, or take over with --force --why REASON",
        )
        .with("baton_id", self.baton_id.clone())
        .with("holder", holder.to_json(picker.now, picker.limits))
    }

    /// One line for a status card, without a word of the packet: what is announced before acceptance.
    pub fn announcement(&self, now: Millis) -> String {
        format!("{} from {}, {}", short(&self.baton_id), self.identity, ago(now, self.created_at))
    }

    /// The baton in lists: everything but the packet.
    pub fn to_json(&self, state: State) -> Value {
        json!({
            "baton_id": self.baton_id,
            "state": state.as_str(),
            "session_id": self.session_id,
            "agent_identity": self.identity,
            "thread_id": self.thread_id,
            "created_at": rfc3339(self.created_at),
            "summary": self.summary,
            "to_identity": self.to_identity,
            "to_role": self.to_role,
            "holder_session_id": self.holder_session_id,
        })
    }
}

/// Is the predecessor out of the way? `Ok(Some(reason))` means that it has to be released for that reason first.
pub fn check_predecessor(
    predecessor: &Session,
    picker: &Picker<'_>,
) -> Result<Option<ReleaseReason>, Refusal> {
    if Some(predecessor.session_id.as_str()) == picker.session_id || !predecessor.is_open() {
        return Ok(None);
    }
    if !picker.is_at_work(predecessor) {
        return Ok(Some(ReleaseReason::Stale));
    }
    if picker.force {
        return Ok(Some(ReleaseReason::PreemptedByPickup));
    }
    Err(Refusal::new(
        Kind::Conflict,
        "predecessor_active",
        format!("{} is still at work and has not wrapped", predecessor.describe(picker.now)),
        "wait for its wrap, work on something else (baton start), or take over with --force --why REASON",
    )
    .with("predecessor", predecessor.to_json(picker.now, picker.limits))
    .with("since", rfc3339(predecessor.started_at))
    .with("last_heartbeat", rfc3339(predecessor.heartbeat_at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ProcessLocation, Release};

    const NOW: Millis = 10_000_000;

    fn session(id: &str, heartbeat_at: Millis) -> Session {
        Session {
            project_id: "p".into(),
            session_id: id.into(),
            identity: "Holder".into(),
            surface: "codex".into(),
            location: ProcessLocation::default(),
            started_at: 0,
            heartbeat_at,
            last_verb: "pickup".into(),
            release: None,
            thread_id: "t".into(),
            inherited_from: None,
            picked_up_session_id: None,
            opened_by: None,
            stale_after: 0,
            working_copy: None,
            baton_id: None,
        }
    }

    fn baton() -> Baton {
        Baton {
            project_id: "p".into(),
            baton_id: "b".into(),
            seq: 1,
            session_id: "w".into(),
            identity: "Lola".into(),
            thread_id: "t".into(),
            created_at: 0,
            summary: "s".into(),
            to_identity: None,
            to_role: None,
            holder_session_id: None,
            held_at: None,
            spent_by: None,
            version: 1,
            has_changes: false,
        }
    }

    fn check(baton: &Baton, holder: Option<&Session>, is_by_id: bool, force: bool) -> &'static str {
        let picker = Picker {
            identity: "Donna",
            roles: &["testing".to_owned()],
            session_id: Some("mine"),
            is_by_id,
            force,
            now: NOW,
            limits: Limits::default(),
            is_gone: &|session| session.location.process == "gone",
        };
        match baton.check_claim(holder, &picker) {
            Ok(ClaimOutcome::AlreadyHeld) => "again",
            Ok(ClaimOutcome::WasOpen) => "fresh",
            Ok(ClaimOutcome::Forced(_)) => "forced",
            Ok(ClaimOutcome::Recovered(_)) => "recovered",
            Err(refusal) => refusal.code,
        }
    }

    #[test]
    fn an_open_baton_goes_to_anybody() {
        assert_eq!(check(&baton(), None, false, false), "fresh");
    }

    #[test]
    fn a_fresh_holder_keeps_it_up_to_the_edge_unless_forced() {
        let edge = session("h", NOW - Limits::default().stale_after);
        assert_eq!(check(&baton(), Some(&edge), false, false), "baton_claimed");
        assert_eq!(check(&baton(), Some(&edge), true, false), "baton_claimed");
        assert_eq!(check(&baton(), Some(&edge), false, true), "forced");
        let beyond = session("h", NOW - Limits::default().stale_after - 1);
        assert_eq!(check(&baton(), Some(&beyond), false, false), "recovered");
    }

    #[test]
    fn a_released_holder_does_not_block() {
        let mut holder = session("h", NOW);
        holder.release =
            Some(Release { at: NOW, reason: ReleaseReason::Ended, by: "x".into(), successor: None });
        assert_eq!(check(&baton(), Some(&holder), false, false), "recovered");
    }

    #[test]
    fn a_holder_whose_process_is_gone_does_not_block() {
        let mut holder = session("h", NOW);
        holder.location.process = "gone".into();
        assert_eq!(check(&baton(), Some(&holder), false, false), "recovered");
        assert_eq!(baton().state(Some(&holder), |_| false), State::Abandoned);
        assert_eq!(baton().state(Some(&holder), |_| true), State::Held);
    }

    #[test]
    fn the_holder_itself_gets_the_same_answer_again() {
        assert_eq!(check(&baton(), Some(&session("mine", NOW)), false, false), "again");
    }

    #[test]
    fn a_spent_baton_goes_to_nobody_and_names_the_next() {
        let finished = Baton { spent_by: Some("b".into()), ..baton() };
        assert_eq!(check(&finished, None, false, false), "baton_finished");
        assert_eq!(check(&finished, None, true, false), "fresh");
        let spent = Baton { spent_by: Some("n".into()), ..baton() };
        assert_eq!(check(&spent, None, true, true), "baton_spent");
        assert_eq!(spent.state(None, |_| true), State::Spent);
    }

    #[test]
    fn a_baton_is_taken_back_while_nobody_holds_it() {
        let code = |one: &Baton, holder: Option<&Session>| {
            one.check_withdrawal(holder, NOW).map_err(|refusal| refusal.code).err()
        };
        assert_eq!(code(&baton(), None), None);
        assert_eq!(code(&baton(), Some(&session("h", NOW))), Some("baton_claimed"));
        let mut gone = session("h", NOW);
        gone.release =
            Some(Release { at: NOW, reason: ReleaseReason::Ended, by: "x".into(), successor: None });
        assert_eq!(code(&baton(), Some(&gone)), None);
        assert_eq!(code(&baton().withdrawn(), None), Some("baton_finished"));
        assert_eq!(code(&Baton { spent_by: Some("n".into()), ..baton() }, None), Some("baton_spent"));
        assert_eq!(
            check(&baton().withdrawn(), None, false, false),
            "baton_finished",
            "it is offered to nobody"
        );
        assert_eq!(check(&baton().withdrawn(), None, true, false), "fresh", "and goes on by its id");
    }

    #[test]
    fn an_address_is_kept_unless_the_baton_is_named_or_forced() {
        let to_lola = Baton { to_identity: Some("Lola".into()), ..baton() };
        assert_eq!(check(&to_lola, None, false, false), "baton_addressed");
        assert_eq!(check(&to_lola, None, true, false), "fresh");
        assert_eq!(check(&to_lola, None, false, true), "fresh");
        assert_eq!(
            check(&Baton { to_identity: Some("DONNA".into()), ..baton() }, None, false, false),
            "fresh"
        );
        assert_eq!(check(&Baton { to_role: Some("Testing".into()), ..baton() }, None, false, false), "fresh");
        assert_eq!(
            check(&Baton { to_role: Some("fixing".into()), ..baton() }, None, false, false),
            "baton_addressed"
        );
    }

    #[test]
    fn a_fresh_predecessor_blocks_and_a_stale_one_is_released() {
        let picker = |force| Picker {
            identity: "Donna",
            roles: &[],
            session_id: None,
            is_by_id: false,
            force,
            now: NOW,
            limits: Limits::default(),
            is_gone: &|session| session.location.process == "gone",
        };
        let fresh = session("x", NOW);
        assert_eq!(check_predecessor(&fresh, &picker(false)).expect_err("active").code, "predecessor_active");
        assert_eq!(check_predecessor(&fresh, &picker(true)), Ok(Some(ReleaseReason::PreemptedByPickup)));
        assert_eq!(check_predecessor(&session("x", 0), &picker(false)), Ok(Some(ReleaseReason::Stale)));
        let mut gone = session("x", NOW);
        gone.location.process = "gone".into();
        assert_eq!(check_predecessor(&gone, &picker(false)), Ok(Some(ReleaseReason::Stale)));
        let own = Picker { session_id: Some("x"), ..picker(false) };
        assert_eq!(check_predecessor(&fresh, &own), Ok(None));
    }
}
