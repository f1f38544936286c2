//! What a connection remembers: under which identity it works where, and which answers are still on their way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use baton_ops::answer::AnswerView;
use baton_ops::message::DeliveredInput;
use baton_ops::op::Caller;
use rmcp::model::RequestId;
use serde_json::{Map, Value};

use crate::schema::REQUEST_ID;
use crate::table::Action;

/// The identity that a connection is bound to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConnectionIdentity {
    /// It has not begun.
    Nobody,
    /// The identity that began here.
    One(String),
    /// Several identities began through this connection: which one acts has to be said.
    Several(Vec<String>),
}

/// Who works in a project through this connection.
#[derive(Default)]
struct ProjectSession {
    open: Vec<String>,
    /// The one that ended last: a late call is still its own.
    last: Option<String>,
}

/// Memory of one connection.
#[derive(Default)]
pub(crate) struct ConnectionState {
    /// By project; the empty name is the project of the folder.
    identities: Mutex<BTreeMap<String, ProjectSession>>,
    /// Folders that the client named as its roots, once asked.
    pub roots: Mutex<Option<Vec<String>>>,
    /// Whether the user was asked for an identity and did not say one.
    pub silent: Mutex<bool>,
    /// Signals whose answers are on their way.
    pub receipts: Arc<Receipts>,
}

impl ConnectionState {
    /// An identity began to work in a project, named or of the folder.
    pub(crate) fn session_started(&self, named: Option<&str>, project_id: &str, identity: &str) {
        let Ok(mut known) = self.identities.lock() else { return };
        let keys = [Some(project_id), named.is_none().then_some("")];
        for key in keys.into_iter().flatten() {
            let here = known.entry(key.to_owned()).or_default();
            here.open.retain(|name| name != identity);
            here.open.push(identity.to_owned());
        }
    }

    /// An identity ended its session in a project.
    pub(crate) fn session_ended(&self, named: Option<&str>, project_id: &str, identity: &str) {
        let Ok(mut known) = self.identities.lock() else { return };
        let keys = [Some(project_id), named.is_none().then_some("")];
        for key in keys.into_iter().flatten() {
            if let Some(here) = known.get_mut(key) {
                here.open.retain(|name| name != identity);
                here.last = Some(identity.to_owned());
            }
        }
    }

    /// Who acts in a project, named or of the folder, when the call does not say.
    pub(crate) fn bound(&self, project: Option<&str>) -> ConnectionIdentity {
        let Ok(known) = self.identities.lock() else { return ConnectionIdentity::Nobody };
        match known.get(project.unwrap_or_default()) {
            None => ConnectionIdentity::Nobody,
            Some(here) => match (here.open.as_slice(), &here.last) {
                ([], None) => ConnectionIdentity::Nobody,
                ([], Some(last)) => ConnectionIdentity::One(last.clone()),
                ([one], _) => ConnectionIdentity::One(one.clone()),
                (several, _) => ConnectionIdentity::Several(several.to_vec()),
            },
        }
    }

    /// The projects in which a session was opened through this connection.
    pub(crate) fn projects(&self) -> Vec<String> {
        let known = self.identities.lock().map(|known| known.keys().cloned().collect::<Vec<_>>());
        known.unwrap_or_default().into_iter().filter(|project| !project.is_empty()).collect()
    }
}

/// Signals that an answer carries: they are delivered once it is written out.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryReceipt {
    /// The project that they belong to.
    pub project_id: String,
    /// Their ids.
    pub message_ids: Vec<String>,
}

impl DeliveryReceipt {
    /// What is delivered with an answer of which this much is shown: the signals of a pickup, and mail whose reader the answer
    /// names itself. A message that was shortened in a list goes on waiting.
    pub(crate) fn of(answer: &Value, shown: &Value) -> Option<Self> {
        let DeliveredInput { project, message_ids } =
            AnswerView(answer).delivery_as_shown(AnswerView(shown))?;
        Some(Self { project_id: project?, message_ids })
    }
}

/// Marks of answers that are not written out yet.
#[derive(Default, Debug)]
pub struct Receipts(Mutex<Vec<(RequestId, DeliveryReceipt)>>);

impl Receipts {
    /// The answer to this request carries messages.
    pub fn keep_until_written(&self, id: RequestId, mark: DeliveryReceipt) {
        if let Ok(mut waiting) = self.0.lock() {
            waiting.push((id, mark));
        }
    }

    /// The answer to this request, or to any, was written out.
    pub fn answer_written(&self, id: Option<&RequestId>) -> Vec<DeliveryReceipt> {
        let Ok(mut waiting) = self.0.lock() else { return Vec::new() };
        let (done, remaining) =
            std::mem::take(&mut *waiting).into_iter().partition(|(of, _)| id.is_none_or(|id| id == of));
        *waiting = remaining;
        let done: Vec<(RequestId, DeliveryReceipt)> = done;
        done.into_iter().map(|(_, mark)| mark).collect()
    }
}

/// Who calls and where may be said with every call, also of an operation that has no use for it: then it is the caller's.
pub(crate) fn take_caller_fields(action: &Action, input: &mut Map<String, Value>, caller: &mut Caller) {
    for (name, place) in [("identity", &mut caller.identity), ("project", &mut caller.project)] {
        let given = input.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(given) = given.filter(|_| !action.takes(name)) {
            input.remove(name);
            *place = Some(given);
        }
    }
}

/// The key of a write that has no field for one: it is answered once all the same.
pub(crate) fn take_request_id(action: &Action, input: &mut Map<String, Value>) -> Option<String> {
    if action.reads() || action.takes(REQUEST_ID) {
        return None;
    }
    if input.get(REQUEST_ID).is_some_and(Value::is_null) {
        input.remove(REQUEST_ID);
    }
    if !input.get(REQUEST_ID).is_some_and(Value::is_string) {
        return None;
    }
    input.remove(REQUEST_ID).and_then(|key| key.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_remembered_where_it_began() {
        let connection = ConnectionState::default();
        assert_eq!(connection.bound(None), ConnectionIdentity::Nobody);
        connection.session_started(None, "shop", "Donna");
        assert_eq!(connection.bound(None), ConnectionIdentity::One("Donna".into()));
        assert_eq!(connection.bound(Some("shop")), ConnectionIdentity::One("Donna".into()));
        assert_eq!(connection.bound(Some("other")), ConnectionIdentity::Nobody);
    }

    #[test]
    fn two_identities_on_one_connection_are_not_guessed_between() {
        let connection = ConnectionState::default();
        connection.session_started(None, "shop", "Donna");
        connection.session_started(Some("shop"), "shop", "Lola");
        assert_eq!(connection.bound(None), ConnectionIdentity::One("Donna".into()));
        assert_eq!(
            connection.bound(Some("shop")),
            ConnectionIdentity::Several(vec!["Donna".into(), "Lola".into()])
        );
    }

    #[test]
    fn who_has_ended_gives_way_and_still_owns_a_late_call() {
        let connection = ConnectionState::default();
        connection.session_started(None, "shop", "Donna");
        connection.session_ended(None, "shop", "Donna");
        assert_eq!(connection.bound(None), ConnectionIdentity::One("Donna".into()));
        connection.session_started(None, "shop", "Lola");
        assert_eq!(connection.bound(None), ConnectionIdentity::One("Lola".into()));
    }

    #[test]
    fn what_was_shortened_goes_on_waiting() {
        let long = "x".repeat(20_000);
        let message = |id: &str, body: &str| serde_json::json!({ "message_id": id, "body": body });
        for field in ["pending_signals", "items"] {
            let mut answer = serde_json::json!({ "next_step": "", "project_id": "p" });
            answer[field] = serde_json::json!([message("short", "b"), message("long", &long)]);
            if field == "items" {
                answer["deliver"] = serde_json::json!(["short", "long"]);
            }
            let marked = |shown: &Value| DeliveryReceipt::of(&answer, shown).map(|mark| mark.message_ids);
            assert_eq!(marked(&answer), Some(vec!["short".into(), "long".into()]));
            let shown = crate::truncate::truncate(&answer, 3_000, "t").expect("too long");
            assert_eq!(marked(&shown), Some(vec!["short".into()]), "{field}");
        }
        let read =
            serde_json::json!({ "project_id": "p", "message_id": "m", "body": long, "deliver": ["m"] });
        let shown = crate::truncate::truncate(&read, 3_000, "t").expect("too long");
        assert!(
            DeliveryReceipt::of(&read, &shown).is_some(),
            "what was asked for by its id can be read on and read again"
        );
        let dry = serde_json::json!({ "dry_run": true, "pending_signals": [message("s", "b")] });
        assert_eq!(DeliveryReceipt::of(&dry, &dry), None);
    }

    #[test]
    fn a_mark_is_given_once_and_to_its_answer() {
        let receipts = Receipts::default();
        let mark = DeliveryReceipt { project_id: "shop".into(), message_ids: vec!["m".into()] };
        receipts.keep_until_written(RequestId::Number(1), mark.clone());
        assert_eq!(receipts.answer_written(Some(&RequestId::Number(2))), []);
        assert_eq!(receipts.answer_written(Some(&RequestId::Number(1))), [mark]);
        assert_eq!(receipts.answer_written(None), []);
    }
}
