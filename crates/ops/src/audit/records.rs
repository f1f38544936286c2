//! What the sessions of a project left behind, and how complete it is.

use std::collections::BTreeMap;

use baton_model::accounting::{SessionActivity, UnwrappedReason, unwrapped};
use baton_model::completeness::{self, Completeness, CompletenessTotals};
use baton_model::delta::{Delta, Kind};
use baton_model::id::identity_key;
use baton_model::packet::ValidatedPacket;
use baton_model::session::Session;
use baton_model::time::{Millis, Timestamp};
use baton_store::{Failure, Tx, delta, session};
use serde::{Deserialize, Serialize};

use crate::op::Env;
use crate::ownership::is_at_work;

/// A session with the result of checking its deltas.
struct Record {
    session: Session,
    completeness: Completeness,
    unwrapped: Option<UnwrappedReason>,
    at_work: bool,
    /// Deltas since it inherited: those marked as inherited, and those that are not.
    inherited: (usize, usize),
}

/// The sessions of the time that is looked at, oldest first.
pub(super) struct Records(Vec<Record>);

/// Reads the sessions that began since an instant, and older ones that are still open.
pub(super) fn read(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    since: Millis,
) -> Result<Records, Failure> {
    let mut records = Vec::new();
    for session in session::started_since(tx, project_id, since)? {
        let deltas = delta::of_session(tx, project_id, &session.session_id)?;
        records.push(record(env, session, &deltas));
    }
    Ok(Records(records))
}

fn record(env: &Env<'_>, session: Session, deltas: &[Delta]) -> Record {
    let wrap = deltas.iter().find(|delta| delta.kind == Kind::Wrap);
    let packet = wrap.and_then(|wrap| ValidatedPacket::parse_stored(wrap.body.clone()).ok());
    let view = packet.as_ref().map(ValidatedPacket::view);
    // One whose process has ended is silent, however lately it was heard of.
    let at_work = is_at_work(env, &session);
    let silent = (session.is_open() && !at_work).then_some(UnwrappedReason::Silent);
    Record {
        completeness: Completeness::of(&session, &SessionActivity::read(deltas), view, env.now, env.limits),
        unwrapped: unwrapped(&session, env.now, env.limits).or(silent),
        at_work,
        inherited: inheritance(&session, deltas),
        session,
    }
}

/// A session that became a picker on its way inherits from its pickup on.
fn inheritance(session: &Session, deltas: &[Delta]) -> (usize, usize) {
    if session.inherited_from.is_none() {
        return (0, 0);
    }
    let first = deltas.iter().position(|delta| delta.kind == Kind::Pickup).unwrap_or(0);
    let marked = deltas[first..].iter().filter(|delta| delta.inherited_from.is_some()).count();
    (marked, deltas.len() - first - marked)
}

impl Records {
    /// Per identity, by name.
    pub(super) fn identities(&self) -> Vec<IdentityRow> {
        let groups = self.grouped(|session| identity_key(&session.identity));
        let row = |group: &Vec<&Record>| IdentityRow {
            identity: group[0].session.identity.clone(),
            tally: tally(group),
        };
        let mut rows: Vec<IdentityRow> = groups.iter().map(row).collect();
        rows.sort_by_key(|row| row.identity.to_lowercase());
        rows
    }

    /// Per thread, the oldest first: who worked on it, in the order in which they came.
    pub(super) fn threads(&self) -> Vec<ThreadRow> {
        self.grouped(|session| session.thread_id.clone()).iter().map(|group| thread(group)).collect()
    }

    /// The records in groups, each where its first one stands.
    fn grouped(&self, key: impl Fn(&Session) -> String) -> Vec<Vec<&Record>> {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut groups: Vec<Vec<&Record>> = Vec::new();
        for record in &self.0 {
            let place = *places.entry(key(&record.session)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[place].push(record);
        }
        groups
    }

    /// Sessions that went silent, or were replaced when they had, without a wrap.
    pub(super) fn unwrapped(&self, env: &Env<'_>) -> Vec<UnwrappedRow> {
        let lost = self.0.iter().filter_map(|record| Some((&record.session, record.unwrapped?)));
        lost.map(|(session, how)| UnwrappedRow {
            session_id: session.session_id.clone(),
            identity: session.identity.clone(),
            surface: session.surface.clone(),
            how,
            last_heartbeat: Timestamp(session.heartbeat_at),
            silent_for_s: (env.now - session.heartbeat_at) / 1000,
            holds_baton: session.is_open().then(|| session.baton_id.clone()).flatten(),
            successor_session_id: session.release.as_ref().and_then(|release| release.successor.clone()),
        })
        .collect()
    }

    /// Sessions that continue another one's accounting, and whether all their deltas are marked so.
    pub(super) fn inherited(&self) -> Vec<InheritedRow> {
        let heirs =
            self.0.iter().filter_map(|record| Some((record, record.session.inherited_from.as_ref()?)));
        heirs
            .map(|(record, from)| InheritedRow {
                session_id: record.session.session_id.clone(),
                identity: record.session.identity.clone(),
                inherited_from: from.clone(),
                thread_id: record.session.thread_id.clone(),
                marked: record.inherited.0,
                unmarked: record.inherited.1,
            })
            .collect()
    }
}

/// The records of an identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityRow {
    /// The identity.
    pub identity: String,
    /// Its sessions, added up.
    #[serde(flatten)]
    pub tally: completeness::View,
}

/// The records of a thread of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRow {
    /// The thread.
    pub thread_id: String,
    /// Who worked on it, in the order in which they came.
    pub identities: Vec<String>,
    /// Time of the latest heartbeat of any of them.
    pub last_heartbeat: Timestamp,
    /// Its sessions, added up.
    #[serde(flatten)]
    pub tally: completeness::View,
}

/// A session that never wrapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnwrappedRow {
    /// The session.
    pub session_id: String,
    /// Whose it was.
    pub identity: String,
    /// The tool it worked through.
    pub surface: String,
    /// How it ended.
    pub how: UnwrappedReason,
    /// Time of its last heartbeat.
    pub last_heartbeat: Timestamp,
    /// For how many seconds it has been silent.
    pub silent_for_s: i64,
    /// The baton that it still holds.
    pub holds_baton: Option<String>,
    /// The session that goes on with its work.
    pub successor_session_id: Option<String>,
}

/// A session that continues another one's accounting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InheritedRow {
    /// The session.
    pub session_id: String,
    /// Whose it is.
    pub identity: String,
    /// The session before it.
    pub inherited_from: String,
    /// The line of work.
    pub thread_id: String,
    /// Its ledger entries that mark what they inherit, and from whose work.
    pub marked: usize,
    /// Those that do not.
    pub unmarked: usize,
}

fn tally(group: &[&Record]) -> completeness::View {
    let mut tally = CompletenessTotals::default();
    for record in group {
        tally.add(&record.session, record.completeness, record.unwrapped.is_some(), record.at_work);
    }
    tally.view()
}

fn thread(group: &[&Record]) -> ThreadRow {
    let mut identities: Vec<String> = group.iter().map(|record| record.session.identity.clone()).collect();
    identities.dedup();
    let last = group.iter().map(|record| record.session.heartbeat_at).max().unwrap_or_default();
    ThreadRow {
        thread_id: group[0].session.thread_id.clone(),
        identities,
        last_heartbeat: Timestamp(last),
        tally: tally(group),
    }
}
