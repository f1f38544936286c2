//! A session: one stint of one identity in one project. Registration, liveness, the same-identity rule.

mod identity_conflict;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::id::{identity_key, is_shared_name, short, visible};
use crate::refusal::{Kind, Refusal};
use crate::repository::WorkingCopy;
use crate::time::{Millis, Timestamp, ago, rfc3339};

/// Why a session was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseReason {
    /// It wrapped.
    Wrapped,
    /// It ended with nothing to hand over.
    Ended,
    /// Its identity came back from another process after the old one was gone.
    Reconnect,
    /// Preempted by a pickup with force.
    PreemptedByPickup,
    /// It went stale and another session took over.
    Stale,
    /// A person released it.
    Operator,
}

impl ReleaseReason {
    const ALL: [Self; 6] =
        [Self::Wrapped, Self::Ended, Self::Reconnect, Self::PreemptedByPickup, Self::Stale, Self::Operator];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wrapped => "wrapped",
            Self::Ended => "ended",
            Self::Reconnect => "reconnect",
            Self::PreemptedByPickup => "preempted_by_pickup",
            Self::Stale => "stale",
            Self::Operator => "operator",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// How a session was released, and by which identity. A released session stays released.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// When.
    pub at: Millis,
    /// Why.
    pub reason: ReleaseReason,
    /// The identity that caused it.
    pub by: String,
    /// The session that goes on with the work, if there is one.
    pub successor: Option<String>,
}

/// Where a caller runs: what tells one agent's process from another's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessLocation {
    /// Stable id of the machine.
    pub machine: String,
    /// Process id and start time of the nearest long-lived ancestor, or what `BATON_PROCESS` says. Empty: unknown.
    pub process: String,
}

impl ProcessLocation {
    /// The place in a clause: `process 17:42@7 on machine m1`.
    pub fn describe(&self) -> String {
        let process = match self.process.as_str() {
            "" => "no process that is known".to_owned(),
            process => format!("process {}", visible(process)),
        };
        match self.machine.as_str() {
            "" => process,
            machine => format!("{process} on machine {}", visible(short(machine))),
        }
    }
}

/// One stint of one identity in one project, from start or pickup to release.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The project.
    pub project_id: String,
    /// Its id.
    pub session_id: String,
    /// The identity as it was first given.
    pub identity: String,
    /// The tool it works through: `claude_code`, `codex`, …, `human`, `other`.
    pub surface: String,
    /// Where it runs.
    pub location: ProcessLocation,
    /// When it registered.
    pub started_at: Millis,
    /// Time of its last heartbeat.
    pub heartbeat_at: Millis,
    /// The last verb it called.
    pub last_verb: String,
    /// How it was released, if it was.
    pub release: Option<Release>,
    /// The line of work it belongs to.
    pub thread_id: String,
    /// The session whose accounting it inherits.
    pub inherited_from: Option<String>,
    /// The session whose baton it picked up.
    pub picked_up_session_id: Option<String>,
    /// The baton it holds.
    pub baton_id: Option<String>,
    /// The token that it was opened with; none: the local user.
    pub opened_by: Option<String>,
    /// For how long after a sign of life it counts as fresh at least, in milliseconds: what its agent's settings promised when
    /// it registered.
    pub stale_after: Millis,
    /// The working copy that it works in, as its agent last said.
    pub working_copy: Option<WorkingCopy>,
}

/// The two cut-offs of liveness, in milliseconds. Both edges are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum age of the last heartbeat of a fresh session.
    pub stale_after: Millis,
    /// Maximum age of the last heartbeat of a live session.
    pub live_after: Millis,
}

impl Default for Limits {
    fn default() -> Self {
        Self { stale_after: 600_000, live_after: 90_000 }
    }
}

impl Limits {
    /// A session with its last heartbeat before this instant is not fresh.
    pub fn silent_before(self, now: Millis) -> Millis {
        now.saturating_sub(self.stale_after)
    }
}

impl Session {
    /// Not released.
    pub fn is_open(&self) -> bool {
        self.release.is_none()
    }

    /// Open, with a heartbeat within the stale cut-off, the longer one: no other caller may take over. The limit that the session
    /// was promised holds: a caller's settings can extend it, and never shorten it.
    pub fn is_fresh(&self, now: Millis, limits: Limits) -> bool {
        self.is_open() && now.saturating_sub(self.heartbeat_at) <= limits.stale_after.max(self.stale_after)
    }

    /// Open, with a heartbeat within the live cut-off, the shorter one.
    pub fn is_live(&self, now: Millis, limits: Limits) -> bool {
        self.is_open() && now.saturating_sub(self.heartbeat_at) <= limits.live_after
    }

    /// Whether it left a wrap.
    pub fn has_wrapped(&self) -> bool {
        matches!(&self.release, Some(release) if release.reason == ReleaseReason::Wrapped)
    }

    /// Whether another one's act ended it: its agent may not know yet.
    pub fn is_preempted(&self) -> bool {
        let Some(release) = &self.release else { return false };
        match release.reason {
            ReleaseReason::PreemptedByPickup | ReleaseReason::Stale | ReleaseReason::Operator => true,
            ReleaseReason::Wrapped => identity_key(&release.by) != identity_key(&self.identity),
            ReleaseReason::Ended | ReleaseReason::Reconnect => false,
        }
    }

    /// How it ended, in one clause: `session 01… of Donna was taken over 5m ago by Lola`; none while it is open.
    pub fn ending(&self, now: Millis) -> Option<String> {
        let release = self.release.as_ref()?;
        let (ago, by) = (ago(now, release.at), &release.by);
        let is_own = identity_key(by) == identity_key(&self.identity);
        let how = match release.reason {
            ReleaseReason::Wrapped if is_own => format!("was wrapped {ago}"),
            ReleaseReason::Wrapped => format!("was wrapped {ago} by {by}"),
            ReleaseReason::Ended => format!("ended {ago}"),
            ReleaseReason::Reconnect | ReleaseReason::Stale if is_own => {
                format!("gave way {ago} to the next session of {}", self.identity)
            }
            ReleaseReason::PreemptedByPickup => format!("was taken over {ago} by {by}"),
            ReleaseReason::Reconnect => format!("gave way {ago} to {by}"),
            ReleaseReason::Stale => format!("fell silent and was taken over {ago} by {by}"),
            ReleaseReason::Operator if is_own => format!("was ended {ago}"),
            ReleaseReason::Operator => format!("was ended {ago} by {by}"),
        };
        Some(format!("session {} of {} {how}", short(&self.session_id), self.identity))
    }

    /// The holder in one clause, for messages: `Donna (claude_code, heard of 5m ago)`.
    pub fn describe(&self, now: Millis) -> String {
        format!("{} ({}, heard of {})", self.identity, self.surface, ago(now, self.heartbeat_at))
    }

    /// The session as the roster shows it.
    pub fn view(&self, now: Millis, limits: Limits) -> View {
        View {
            session_id: self.session_id.clone(),
            identity: self.identity.clone(),
            surface: self.surface.clone(),
            machine: self.location.machine.clone(),
            live: self.is_live(now, limits),
            fresh: self.is_fresh(now, limits),
            last_verb: self.last_verb.clone(),
            last_heartbeat: Timestamp(self.heartbeat_at),
            started_at: Timestamp(self.started_at),
            thread_id: self.thread_id.clone(),
            inherited_from: self.inherited_from.clone(),
            picked_up_session_id: self.picked_up_session_id.clone(),
            baton_id: self.baton_id.clone(),
            opened_by: self.opened_by.clone(),
            released_at: self.release.as_ref().map(|release| Timestamp(release.at)),
            release_reason: self.release.as_ref().map(|release| release.reason),
            copy: self.working_copy.clone(),
            is_elsewhere: false,
            is_own: false,
        }
    }

    /// The same as JSON, for the details of a refusal.
    pub fn to_json(&self, now: Millis, limits: Limits) -> Value {
        json!(self.view(now, limits))
    }
}

/// A session as the roster shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Its id.
    pub session_id: String,
    /// The identity as it was first given.
    pub identity: String,
    /// The tool it works through.
    pub surface: String,
    /// Stable id of its machine.
    pub machine: String,
    /// Whether its heartbeat is within the live cut-off.
    pub live: bool,
    /// Whether no other caller may take over yet.
    pub fresh: bool,
    /// The last verb it called.
    pub last_verb: String,
    /// Time of its last heartbeat.
    pub last_heartbeat: Timestamp,
    /// When it registered.
    pub started_at: Timestamp,
    /// The line of work it belongs to.
    pub thread_id: String,
    /// The session whose accounting it inherits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
    /// The session whose baton it picked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picked_up_session_id: Option<String>,
    /// The baton it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baton_id: Option<String>,
    /// The token that it was opened with; none: the local user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<String>,
    /// When it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at: Option<Timestamp>,
    /// Why it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_reason: Option<ReleaseReason>,
    /// The working copy that it works in, as its agent last said.
    #[serde(default, rename = "place", skip_serializing_if = "Option::is_none")]
    pub copy: Option<WorkingCopy>,
    /// Whether it is on another machine than the caller; false where one of the two does not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_elsewhere: bool,
    /// Whether it is known to be the caller's own: its process is, or the caller's environment names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
}

/// What the same-identity rule answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Admission {
    /// The caller's own session is still open: nothing new is registered.
    Existing(Box<Session>),
    /// A new session is registered, and these are released first.
    New(Vec<(Session, ReleaseReason)>),
}

/// What the same-identity rule looks at.
pub struct AdmissionRequest<'a> {
    /// The identity that asks.
    pub identity: &'a str,
    /// Where it runs.
    pub location: &'a ProcessLocation,
    /// Now.
    pub now: Millis,
    /// The cut-offs.
    pub limits: Limits,
    /// The reason given to a session that has to yield to force.
    pub force: Option<ReleaseReason>,
}

/// The same-identity rule: may this identity have a session here, and which of its open ones gives way? `is_gone` says
/// whether the process of a session is known to have ended, `is_own` whether the caller may act in it: what a caller says of
/// its own process counts for nothing in the sessions of others.
pub fn admit(
    open: &[Session],
    who: &AdmissionRequest<'_>,
    is_gone: impl Fn(&Session) -> bool,
    is_own: impl Fn(&Session) -> bool,
) -> Result<Admission, Refusal> {
    if is_shared_name(who.identity) {
        return Ok(Admission::New(Vec::new()));
    }
    let key = identity_key(who.identity);
    let mut replaced = Vec::new();
    for session in open.iter().filter(|s| s.is_open() && identity_key(&s.identity) == key) {
        let same_machine = is_own(session)
            && !who.location.machine.is_empty()
            && session.location.machine == who.location.machine;
        let known = !who.location.process.is_empty() && !session.location.process.is_empty();
        let reason = if same_machine && known && session.location.process == who.location.process {
            return Ok(Admission::Existing(Box::new(session.clone())));
        } else if same_machine && known && is_gone(session) {
            ReleaseReason::Reconnect
        } else if !session.is_fresh(who.now, who.limits) {
            ReleaseReason::Stale
        } else if let Some(reason) = who.force {
            reason
        } else {
            return Err(identity_conflict::refusal(session, who));
        };
        replaced.push((session.clone(), reason));
    }
    Ok(Admission::New(replaced))
}

/// What became of the baton that a session left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftBaton {
    /// It waits.
    Waiting,
    /// Another session has it, or went on from it.
    Continued,
    /// It says that nothing is left to do.
    Finished,
    /// It was taken back.
    Withdrawn,
}

/// The answer to any verb of a session that was released.
pub fn session_released_refusal(session: &Session, left: Option<LeftBaton>, now: Millis) -> Refusal {
    let Some(release) = &session.release else {
        return Refusal::new(
            Kind::Conflict,
            "session_released",
            "the session was released",
            "start a new one",
        );
    };
    let hint = match release.reason {
        ReleaseReason::Wrapped => match left {
            Some(LeftBaton::Waiting) => {
                "its work waits as a baton: `baton start` begins anew, `baton pickup` continues"
            }
            Some(LeftBaton::Continued) => {
                "another session went on from its baton: `baton status` shows who is at work, `baton start` begins a new session"
            }
            Some(LeftBaton::Finished) => {
                "it said that nothing is left to do, so no baton waits: `baton start` begins a new session"
            }
            Some(LeftBaton::Withdrawn) => "its baton was withdrawn: `baton start` begins a new session",
            None => "`baton start` begins a new session",
        },
        ReleaseReason::Ended => "`baton start` begins a new session",
        _ => "`baton status` shows who goes on; `baton start` begins a new session",
    };
    Refusal::new(Kind::Conflict, "session_released", session.ending(now).unwrap_or_default(), hint)
        .with("session_id", session.session_id.clone())
        .with("reason", release.reason.as_str())
        .with("released_at", rfc3339(release.at))
        .with("released_by", release.by.clone())
        .with("successor_session_id", json!(release.successor))
}

#[cfg(test)]
#[path = "session_tests.rs"]
pub(crate) mod tests;
