//! What the sessions of a project left behind, and how complete it is.

use std::collections::BTreeMap;

use baton_model::accounting::{SessionActivity, unwrapped};
use baton_model::completeness::{Completeness, CompletenessTotals};
use baton_model::delta::{Delta, Kind};
use baton_model::id::identity_key;
use baton_model::packet::Sealed;
use baton_model::session::Session;
use baton_model::time::{Millis, rfc3339};
use baton_store::{Failure, Tx, delta, session};
use serde_json::{Value, json};

use crate::op::Env;

/// A session with what its deltas come to.
struct Record {
    session: Session,
    completeness: Completeness,
    unwrapped: Option<&'static str>,
    at_work: bool,
    /// Deltas since it inherited: those that say so, and those that do not.
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
    for session in session::begun(tx, project_id, since)? {
        let deltas = delta::of_session(tx, project_id, &session.session_id)?;
        records.push(record(env, session, &deltas));
    }
    Ok(Records(records))
}

fn record(env: &Env<'_>, session: Session, deltas: &[Delta]) -> Record {
    let wrap = deltas.iter().find(|delta| delta.kind == Kind::Wrap);
    let packet = wrap.and_then(|wrap| Sealed::parse(wrap.body.clone()).ok());
    let view = packet.as_ref().map(Sealed::view);
    Record {
        completeness: Completeness::of(&session, &SessionActivity::read(deltas), view, env.now, env.limits),
        unwrapped: unwrapped(&session, env.now, env.limits),
        at_work: session.is_fresh(env.now, env.limits),
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
    pub(super) fn identities(&self) -> Vec<Value> {
        let groups = self.grouped(|session| identity_key(&session.identity));
        let mut rows: Vec<Value> = groups
            .iter()
            .map(|group| with(tally(group), &[("identity", json!(group[0].session.identity))]))
            .collect();
        rows.sort_by_key(|row| row["identity"].to_string().to_lowercase());
        rows
    }

    /// Per thread, the oldest first: who worked on it, in the order in which they came.
    pub(super) fn threads(&self) -> Vec<Value> {
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
    pub(super) fn unwrapped(&self, env: &Env<'_>) -> Vec<Value> {
        let lost = self.0.iter().filter_map(|record| Some((&record.session, record.unwrapped?)));
        lost.map(|(session, how)| {
            json!({
                "session_id": session.session_id,
                "identity": session.identity,
                "surface": session.surface,
                "how": how,
                "last_heartbeat": rfc3339(session.heartbeat_at),
                "silent_for_s": (env.now - session.heartbeat_at) / 1000,
                "holds_baton": session.is_open().then_some(session.baton_id.as_ref()).flatten(),
                "successor_session_id": session.release.as_ref().and_then(|r| r.successor.as_ref()),
            })
        })
        .collect()
    }

    /// Sessions that go on with another one's accounting, and whether all their deltas say so.
    pub(super) fn inherited(&self) -> Vec<Value> {
        let heirs =
            self.0.iter().filter_map(|record| Some((record, record.session.inherited_from.as_ref()?)));
        heirs
            .map(|(record, from)| {
                json!({
                    "session_id": record.session.session_id,
                    "identity": record.session.identity,
                    "inherited_from": from,
                    "thread_id": record.session.thread_id,
                    "marked": record.inherited.0,
                    "unmarked": record.inherited.1,
                })
            })
            .collect()
    }
}

fn tally(group: &[&Record]) -> Value {
    let mut tally = CompletenessTotals::default();
    for record in group {
        tally.add(&record.session, record.completeness, record.unwrapped.is_some(), record.at_work);
    }
    tally.to_json()
}

fn thread(group: &[&Record]) -> Value {
    let mut identities: Vec<&str> = group.iter().map(|record| record.session.identity.as_str()).collect();
    identities.dedup();
    let last = group.iter().map(|record| record.session.heartbeat_at).max().unwrap_or_default();
    let fields = [
        ("thread_id", json!(group[0].session.thread_id)),
        ("identities", json!(identities)),
        ("last_heartbeat", json!(rfc3339(last))),
    ];
    with(tally(group), &fields)
}

/// The fields first, then the rest.
fn with(rest: Value, fields: &[(&str, Value)]) -> Value {
    let mut row: serde_json::Map<String, Value> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    if let Value::Object(rest) = rest {
        row.extend(rest);
    }
    Value::Object(row)
}
