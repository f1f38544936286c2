//! A claim: one agent has the task, under a lease that its session's heartbeats renew.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Task;
use crate::holder::Holder;
use crate::id::{identity_key, is_shared_name};
use crate::refusal::{Kind, Refusal};
use crate::session::ProcessLocation;
use crate::time::{Millis, Timestamp, rfc3339};

/// How long a claim without a session lasts, in milliseconds: nothing renews it but its own writes.
pub const LEASE_WITHOUT_SESSION: Millis = 2 * 3_600_000;

/// The longest lease of a claim beyond its last sign of life that may be asked for, in milliseconds: a day.
pub const MAX_LEASE: Millis = 24 * 3_600_000;

/// Who works on a task, and until when that holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// The identity.
    pub by: String,
    /// Its session, if it has one.
    pub session_id: Option<String>,
    /// Where it ran when it claimed. Unknown for claims made by the router or before migration 0013.
    pub location: Option<ProcessLocation>,
    /// Every claim of a task has a higher one than the claim before.
    pub token: i64,
    /// How long the lease lasts after a sign of life, in milliseconds.
    pub lease_span: Millis,
    /// Until when it lasts without another sign of life.
    pub base_expiry: Millis,
    /// The access token that claimed it, by its id.
    pub access_token_id: Option<String>,
}

/// What is known of the session of a claim.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClaimLiveness {
    /// It was not released.
    pub open: bool,
    /// Time of its last heartbeat.
    pub heard_at: Millis,
}

/// Who asks, in which session, with which token.
#[derive(Debug, Clone, Copy)]
pub struct Claimant<'a> {
    /// The identity.
    pub identity: &'a str,
    /// Its session, if it has one.
    pub session_id: Option<&'a str>,
    /// Where it runs.
    pub location: Option<&'a ProcessLocation>,
    /// The token that came with its claim, if it says one.
    pub token: Option<i64>,
    /// It is a caller of this machine, and not the bearer of an access token.
    pub is_local: bool,
    /// The process that claimed the task is known to have ended.
    pub holder_ended: bool,
}

impl Claim {
    /// Until when the lease lasts: each heartbeat of an open session moves it on.
    pub fn expires_at(&self, liveness: Option<ClaimLiveness>) -> Millis {
        match (&self.session_id, liveness) {
            (Some(_), Some(ClaimLiveness { open: true, heard_at })) => {
                self.base_expiry.max(heard_at.saturating_add(self.lease_span))
            }
            (Some(_), Some(ClaimLiveness { open: false, .. })) => 0,
            _ => self.base_expiry,
        }
    }

    /// Who has it.
    pub fn holder(&self) -> Holder<'_> {
        Holder {
            identity: &self.by,
            session_id: self.session_id.as_deref(),
            location: self.location.as_ref(),
            access_token_id: self.access_token_id.as_deref(),
        }
    }

    /// Whether it is the asker's own.
    pub fn is_of(&self, asker: &Claimant<'_>) -> bool {
        match (&self.session_id, asker.session_id) {
            (Some(holder), Some(asking)) => holder == asking,
            _ => self.holder().is_same(&asker.holder()),
        }
    }

    /// Whether it is the asker's own, and a name of its own, the same session or the same known process proves that: who asks for it
    /// again gets its token.
    pub fn is_proven_of(&self, asker: &Claimant<'_>) -> bool {
        self.is_of(asker) && self.holder().is_proven(&asker.holder())
    }

    /// Whether its token proves in this caller's hand that the claim is the caller's: a token is a small number, which says
    /// nothing without the claim's identity. A local caller without a name may act for a name by the token. What a process
    /// without a name holds is no other live process's.
    pub fn accepts_token_from(&self, asker: &Claimant<'_>) -> bool {
        let is_its_name = identity_key(&self.by) == identity_key(asker.identity);
        let is_its_identity = is_its_name || (asker.is_local && is_shared_name(asker.identity));
        let process = |location: Option<&ProcessLocation>| {
            location.is_some_and(|location| !location.process.is_empty())
        };
        let is_other_process = process(self.location.as_ref())
            && process(asker.location)
            && self.location.as_ref() != asker.location
            && !self.is_of(asker)
            && !asker.holder_ended;
        is_its_identity && !(is_shared_name(&self.by) && is_other_process)
    }

    /// As answers show it to its holder.
    pub fn view_with_token(&self) -> View {
        View { token: Some(self.token), ..View::from(self) }
    }
}

/// A claim as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The identity.
    pub by: String,
    /// Its session, if it has one.
    pub session_id: Option<String>,
    /// The fencing token, where the holder asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<i64>,
    /// Until when it was promised when it was made or renewed. Later signs of life of its session move its end on.
    pub expires_at: Timestamp,
    /// Of a caller without a name: the process that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Of a caller without a name: its machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl From<&Claim> for View {
    fn from(claim: &Claim) -> Self {
        let location = claim.location.as_ref().filter(|_| is_shared_name(&claim.by));
        Self {
            by: claim.by.clone(),
            session_id: claim.session_id.clone(),
            token: None,
            expires_at: Timestamp(claim.base_expiry),
            process: location.map(|location| location.process.clone()),
            machine: location.map(|location| location.machine.clone()),
        }
    }
}

impl Claimant<'_> {
    fn holder(&self) -> Holder<'_> {
        Holder {
            identity: self.identity,
            session_id: self.session_id,
            location: self.location,
            access_token_id: None,
        }
    }
}

/// Refuses a write to a task whose lease the writer has lost, or that another session holds.
pub fn check_lease(
    task: &Task,
    asker: &Claimant<'_>,
    liveness: Option<ClaimLiveness>,
    now: Millis,
) -> Result<(), Refusal> {
    let live = task.claim.as_ref().filter(|claim| claim.expires_at(liveness) > now);
    if let Some(token) = asker.token {
        return match live {
            Some(claim) if claim.token == token && claim.accepts_token_from(asker) => Ok(()),
            Some(claim) if claim.token == token => Err(claimed_refusal(task, claim, liveness)),
            _ => Err(lease_lost_refusal(task, (token, asker), live)),
        };
    }
    match live {
        // A caller that nothing tells from the holder shows that it is the holder by the token.
        Some(claim) if !claim.is_proven_of(asker) => Err(claimed_refusal(task, claim, liveness)),
        _ => Ok(()),
    }
}

fn lease_lost_refusal(task: &Task, (token, asker): (i64, &Claimant<'_>), live: Option<&Claim>) -> Refusal {
    let now_with = live.map_or_else(
        || "nobody holds it now".to_owned(),
        |claim| format!("{} holds it now", claim.holder().describe()),
    );
    let refusal = Refusal::new(
        Kind::Conflict,
        "lease_lost",
        format!(
            "the lease with token {token} on task {} has run out or was taken back; {now_with}",
            task.task_id
        ),
        format!("the task is as it was; claim it again with `baton task claim {}`", task.task_id),
    )
    .with("task_id", task.task_id.clone())
    .with("token", token);
    match live.filter(|claim| claim.is_proven_of(asker)) {
        Some(claim) => refusal.with("current_token", claim.token),
        None => refusal,
    }
}

/// The refusal for a task that another session holds.
pub fn claimed_refusal(task: &Task, claim: &Claim, liveness: Option<ClaimLiveness>) -> Refusal {
    let own = match is_shared_name(&claim.by) {
        false => "",
        true => {
            "; if the claim is yours, go on with its `token` from its process, and claim under a name (--as NAME) by which you are known again"
        }
    };
    let what =
        format!("is claimed by {} until {}", claim.holder().describe(), rfc3339(claim.expires_at(liveness)));
    let refusal = refusal(task, claim, &what, own);
    if is_shared_name(&claim.by) { with_place(refusal, claim) } else { refusal }
}

/// The refusal for a task that another live process of the same name has claimed in its session, of which it was last heard
/// at `heard_at`.
pub fn held_elsewhere_refusal(task: &Task, claim: &Claim, heard_at: Millis) -> Refusal {
    let location = claim.location.as_ref().map(ProcessLocation::describe).unwrap_or_default();
    let what = format!(
        "is held by the other process of {}: {location}, last heard of at {}, until {}",
        claim.by,
        rfc3339(heard_at),
        rfc3339(claim.expires_at(Some(ClaimLiveness { open: true, heard_at })))
    );
    let own = "; if you are that agent, go on with the claim's `token` or with its BATON_SESSION";
    with_place(refusal(task, claim, &what, own), claim)
}

fn refusal(task: &Task, claim: &Claim, what: &str, own: &str) -> Refusal {
    let id = &task.task_id;
    Refusal::new(
        Kind::Conflict,
        "task_claimed",
        format!("task {id} {what}"),
        format!(
            "take another with `baton task ready --claim`, or wait until the lease ends{own}; \
             `baton task claim {id} --force --why REASON` takes it over, and the holder is told"
        ),
    )
    .with("task_id", id.clone())
    .with("holder", claim.by.clone())
}

fn with_place(refusal: Refusal, claim: &Claim) -> Refusal {
    let Some(location) = &claim.location else { return refusal };
    refusal
        .with("holder_session_id", json!(claim.session_id))
        .with("holder_process", location.process.clone())
        .with("holder_machine", location.machine.clone())
}

/// A task that a line of a Beads file has in progress.
pub struct FileClaim {
    /// The id of the task.
    pub task_id: String,
    /// The agent that has it.
    pub assignee: String,
    /// When the line was changed last.
    pub updated_at: Millis,
}

impl FileClaim {
    /// Whether this ledger does not know of it yet. An older line was imported, or is out of date.
    pub fn is_newer(&self, known: &super::Task) -> bool {
        self.task_id == known.task_id && self.updated_at >= known.updated_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> Task {
        let claim = Claim {
            by: "Ann".into(),
            session_id: Some("s1".into()),
            token: 3,
            lease_span: 100,
            base_expiry: 1_000,
            location: None,
            access_token_id: None,
        };
        Task { task_id: "a-1".into(), claim: Some(claim), claim_token: 3, ..Task::default() }
    }

    fn ask(
        session: Option<&str>,
        token: Option<i64>,
        liveness: ClaimLiveness,
        now: i64,
    ) -> Option<&'static str> {
        let asker = Claimant {
            identity: "Ann",
            session_id: session,
            token,
            location: None,
            is_local: true,
            holder_ended: false,
        };
        check_lease(&task(), &asker, Some(liveness), now).err().map(|refusal| refusal.code)
    }

    #[test]
    fn a_heartbeat_renews_and_an_end_ends() {
        let alive = ClaimLiveness { open: true, heard_at: 5_000 };
        let gone = ClaimLiveness { open: false, heard_at: 5_000 };
        assert_eq!(ask(Some("s1"), Some(3), alive, 5_050), None);
        assert_eq!(ask(Some("s1"), Some(3), alive, 5_100), Some("lease_lost"));
        assert_eq!(ask(Some("s1"), Some(3), gone, 500), Some("lease_lost"));
        assert_eq!(ask(Some("s1"), Some(2), alive, 500), Some("lease_lost"), "an older token");
    }

    #[test]
    fn somebody_elses_task_is_not_written_to_and_a_free_one_is() {
        let alive = ClaimLiveness { open: true, heard_at: 0 };
        assert_eq!(ask(Some("s2"), None, alive, 500), Some("task_claimed"));
        assert_eq!(ask(Some("s1"), None, alive, 500), None);
        assert_eq!(ask(None, None, alive, 500), None, "the same identity");
        assert_eq!(ask(Some("s2"), None, alive, 1_000), None, "the lease is over");
    }
}
