//! A hand-off between projects: its states and the one table of transitions.

mod view;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use view::{Ending, LateResult, LateWords, Rename, TaskPlace, TaskRef, View};

use crate::refusal::{Kind, Refusal};
use crate::time::Millis;

/// Where a hand-off stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Written down, nothing done.
    Planned,
    /// Its steps are being carried out.
    Pending,
    /// Waiting for its receiver.
    Offered,
    /// The receiver works on it.
    Accepted,
    /// Done; the sender has heard.
    Completed,
    /// The receiver said no.
    Declined,
    /// The sender took it back.
    Cancelled,
    /// It was not accepted in time.
    Expired,
    /// A step failed for good.
    Failed,
}

/// What may happen to a hand-off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Its first step began.
    Begin,
    /// Every step is done.
    Offer,
    /// The receiver took it.
    Accept,
    /// The receiver finished.
    Complete,
    /// The receiver said no.
    Decline,
    /// The sender took it back.
    Cancel,
    /// Its time ran out.
    Expire,
    /// A step failed for good.
    Fail,
    /// A person wants the failed steps tried again.
    Retry,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Planned,
        Self::Pending,
        Self::Offered,
        Self::Accepted,
        Self::Completed,
        Self::Declined,
        Self::Cancelled,
        Self::Expired,
        Self::Failed,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Pending => "pending",
            Self::Offered => "offered",
            Self::Accepted => "accepted",
            Self::Completed => "completed",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Failed => "failed",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether the receiver's words are its result or its reason.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Completed | Self::Declined)
    }

    /// Whether nothing can happen to it any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Declined | Self::Cancelled | Self::Expired)
    }

    /// Whether it came back to its sender, who has to decide what becomes of it.
    pub fn is_returned(self) -> bool {
        matches!(self, Self::Declined | Self::Expired)
    }

    /// How far it has come: of two copies of a hand-off, the one of the higher rank is the newer.
    pub fn rank(self) -> u8 {
        match self {
            Self::Planned => 0,
            Self::Pending | Self::Failed => 1,
            Self::Offered => 2,
            Self::Accepted => 3,
            Self::Completed | Self::Declined | Self::Cancelled | Self::Expired => 4,
        }
    }

    /// The one transition table: nothing else may move the state.
    pub fn advance(self, event: Event) -> Result<Self, Refusal> {
        use {Event as E, State as S};
        match (self, event) {
            (S::Planned, E::Begin) | (S::Failed, E::Retry) => Ok(S::Pending),
            (S::Planned | S::Pending, E::Offer) => Ok(S::Offered),
            (S::Offered, E::Accept) => Ok(S::Accepted),
            (S::Accepted, E::Complete) => Ok(S::Completed),
            (S::Offered | S::Accepted, E::Decline) => Ok(S::Declined),
            (S::Planned | S::Pending | S::Offered | S::Accepted | S::Failed, E::Cancel) => Ok(S::Cancelled),
            (S::Offered, E::Expire) => Ok(S::Expired),
            (S::Planned | S::Pending, E::Fail) => Ok(S::Failed),
            (state, event) => Err(Refusal::new(
                Kind::Conflict,
                "handoff_state",
                event_message(state, event),
                way_on(state, event),
            )
            .with("state", state.as_str())),
        }
    }
}

/// That an event cannot happen in a state, or has happened.
fn event_message(state: State, event: Event) -> String {
    let word = state.as_str();
    match event.outcome() == Some(state) {
        true => format!("the hand-off is {word} already"),
        false => format!("a hand-off that is {word} cannot {}", event.verb()),
    }
}

/// What helps where an event cannot happen in a state.
fn way_on(state: State, event: Event) -> &'static str {
    use {Event as E, State as S};
    match (state, event) {
        (S::Declined | S::Expired, _) => {
            "it is over: `baton handoff show ID` tells why; its sender can leave the work anew with `baton handoff create --replaces ID`"
        }
        (S::Cancelled, _) => {
            "it is over: `baton handoff show ID` tells why; its sender can leave the work anew with another `baton handoff create`"
        }
        (S::Offered, E::Complete) => {
            "accept it first with `baton pickup --handoff ID`, or say no with `baton handoff decline ID --why REASON`"
        }
        (S::Offered, E::Retry) => {
            "nothing of it failed, and it waits for its receiver: `baton handoff cancel ID` takes it back"
        }
        (S::Accepted, E::Retry) => {
            "nothing of it failed, and its receiver works on it: `baton handoff show ID` tells who"
        }
        _ => "`baton handoff show ID` tells what happened to it",
    }
}

impl Event {
    /// The state that it leads to, and that no other event leads to.
    fn outcome(self) -> Option<State> {
        match self {
            Self::Offer => Some(State::Offered),
            Self::Accept => Some(State::Accepted),
            Self::Complete => Some(State::Completed),
            Self::Decline => Some(State::Declined),
            Self::Cancel => Some(State::Cancelled),
            Self::Expire => Some(State::Expired),
            Self::Fail => Some(State::Failed),
            Self::Begin | Self::Retry => None,
        }
    }

    /// The verb in a sentence.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Offer => "be offered",
            Self::Accept => "be accepted",
            Self::Complete => "be completed",
            Self::Decline => "be declined",
            Self::Cancel => "be cancelled",
            Self::Expire => "expire",
            Self::Fail => "fail",
            Self::Retry => "be retried",
        }
    }
}

/// Work that one project leaves for another.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    /// Its id.
    pub handoff_id: String,
    /// Where it stands.
    pub state: State,
    /// One line.
    pub subject: String,
    /// The sender's project.
    pub from_project_id: String,
    /// The receiver's project.
    pub to_project_id: String,
    /// The identity that sent it.
    pub from_identity: String,
    /// The identity it is addressed to.
    pub to_identity: Option<String>,
    /// The role it is addressed to.
    pub to_role: Option<String>,
    /// The packet as it came; empty when none was given.
    pub packet: String,
    /// The task in the receiver's tracker.
    pub task_id: Option<String>,
    /// `github` or `local`.
    pub tracker: String,
    /// `owner/repo` of the issue.
    pub issues_repo: Option<String>,
    /// Number of the issue.
    pub issue_number: Option<i64>,
    /// The memory note that goes with it.
    pub memory_id: Option<String>,
    /// The session that is seeded for it.
    pub session_id: Option<String>,
    /// Whose session that is: an identity or a role.
    pub agent_id: Option<String>,
    /// The task part of the session's key.
    pub seed_task_id: Option<String>,
    /// What the steps need, as JSON text.
    pub plan: String,
    /// When it expires, if it is not accepted.
    pub expires_at: Option<Millis>,
    /// What the receiver said at the end.
    pub result: Option<String>,
    /// Why it failed.
    pub last_error: Option<String>,
    /// When it was written down.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
}

/// The result of a hand-off that has expired.
pub const EXPIRED: &str = "nobody took it in time";

impl Handoff {
    /// The hand-off as it stands at a time: one past its deadline has expired, also before that is written down.
    #[must_use]
    pub fn as_of(self, now: Millis) -> Self {
        let is_overdue = self.expires_at.is_some_and(|deadline| deadline <= now);
        match self.state.advance(Event::Expire) {
            Ok(state) if is_overdue => {
                let updated_at = self.expires_at.unwrap_or(now).max(self.updated_at);
                Self { state, result: Some(EXPIRED.to_owned()), updated_at, ..self }
            }
            _ => self,
        }
    }

    /// The same as JSON, for the ledger.
    pub fn to_json(&self) -> Value {
        json!(View::from(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [Event; 9] = [
        Event::Begin,
        Event::Offer,
        Event::Accept,
        Event::Complete,
        Event::Decline,
        Event::Cancel,
        Event::Expire,
        Event::Fail,
        Event::Retry,
    ];

    #[test]
    fn states_survive_being_written() {
        for state in State::ALL {
            assert_eq!(State::from_word(state.as_str()), Some(state));
        }
    }

    #[test]
    fn ends_are_final() {
        for state in [State::Completed, State::Declined, State::Cancelled, State::Expired] {
            for event in EVENTS {
                assert_eq!(
                    state.advance(event).expect_err("final").code,
                    "handoff_state",
                    "{state:?} {event:?}"
                );
            }
        }
    }

    #[test]
    fn the_way_forward_is_open() {
        let way = [Event::Begin, Event::Offer, Event::Accept, Event::Complete];
        let end = way.into_iter().try_fold(State::Planned, State::advance);
        assert_eq!(end, Ok(State::Completed));
        assert_eq!(
            State::Pending.advance(Event::Fail).and_then(|s| s.advance(Event::Retry)),
            Ok(State::Pending)
        );
        assert!(State::Completed.advance(Event::Cancel).is_err());
        assert!(State::Planned.advance(Event::Accept).is_err());
    }

    #[test]
    fn a_refusal_in_an_open_state_names_the_command_that_helps() {
        for (state, event, command) in [
            (State::Offered, Event::Complete, "`baton pickup --handoff ID`"),
            (State::Offered, Event::Retry, "`baton handoff cancel ID`"),
            (State::Accepted, Event::Retry, "`baton handoff show ID`"),
        ] {
            let refusal = state.advance(event).expect_err("not in this state");
            assert!(refusal.hint.contains(command), "{state:?} {event:?}: {}", refusal.hint);
        }
    }
}
