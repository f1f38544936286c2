//! Repeated requests: one mechanism for every write under a key.
//!
//! A kept answer belongs to one caller, project, operation and id, and knows a hash of the body that it answered. The same
//! key with another body is refused, and so is an answer that cannot be read: in neither case the operation runs again.

use baton_model::id::{check_label, identity_key, is_shared_name};
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;
use baton_store::request::{self, Key, StoredAnswer};
use baton_store::{Failure, Tx};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::op::{Caller, Env};

/// Fields that stand in the key, or are the key.
const IN_KEY: [&str; 4] = ["request_id", "project", "from_project_id", "identity"];
/// Fields that say how much of an answer is shown; a retry may ask for more.
const OF_THE_VIEW: [&str; 1] = ["full"];
/// Fields that may hold what is sensitive. Where the body says that they do, no hash of them is kept: a short secret could be
/// guessed from it, and a client of a server sends a stand-in that is another one each time.
const SENSITIVE: [&str; 6] =
    ["body", "content", "description", "agent_context", "handoff_instructions", "packet"];

/// Who asks, as far as a key tells callers apart.
pub(crate) struct Requester<'a> {
    pub(crate) identity: &'a str,
    /// The session that the call names, if it names one.
    pub(crate) session: Option<&'a str>,
}

impl<'a> Requester<'a> {
    /// An identity in the session that its face knows of.
    pub(crate) fn of(env: &'a Env<'_>, identity: &'a str) -> Self {
        Self { identity, session: env.caller.session.as_deref() }
    }

    /// An identity, whatever its session.
    pub(crate) fn identity(identity: &'a str) -> Self {
        Self { identity, session: None }
    }

    /// The caller in a key: the identity, and the token where there is one. `Bot` is the name of many, so that their process
    /// and session count as well. A named identity is one agent: its retry counts from whichever process it comes.
    fn key(&self, caller: &Caller) -> String {
        let mut parts = Vec::new();
        if let Some(bearer) = &caller.grant.bearer {
            parts.push(("token", bearer.token_id.as_str()));
        }
        if is_shared_name(self.identity) {
            parts.push(("machine", caller.location.machine.as_str()));
            parts.push(("process", caller.location.process.as_str()));
            parts.push(("session", self.session.unwrap_or_default()));
        }
        parts.retain(|(_, value)| !value.is_empty());
        let identity = identity_key(self.identity);
        if parts.is_empty() {
            return identity;
        }
        let text: Vec<String> = parts.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{identity} {}", &hash(&text.join("\0"))[..32])
    }
}

/// A request under a key.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    key: Key,
    fingerprint: String,
    /// For how long its answer is kept; without it, for as long as the ledger.
    kept_for: Option<Millis>,
}

impl Request {
    /// The request of a caller under the id that it gave, if it gave one.
    pub(crate) fn of(
        env: &Env<'_>,
        who: &Requester<'_>,
        (project_id, verb): (&str, &'static str),
        request_id: Option<&str>,
        body: &impl Serialize,
    ) -> Result<Option<Self>, Refusal> {
        let Some(id) = request_id else { return Ok(None) };
        check_label("request id", id)?;
        let body = serde_json::to_value(body).map_err(|error| {
            let what = format!("the input cannot be compared with that of a retry: {error}");
            Refusal::invalid("input_invalid", what, "see the operation's schema")
        })?;
        Ok(Some(Self {
            key: Key {
                project_id: project_id.to_owned(),
                caller: who.key(env.caller),
                verb,
                request_id: id.to_owned(),
            },
            fingerprint: fingerprint(body),
            kept_for: None,
        }))
    }

    /// What is done once for all callers, because its key is made of what it is about.
    pub(crate) fn of_content(project_id: &str, verb: &'static str, key: &str) -> Self {
        let key = Key {
            project_id: project_id.to_owned(),
            caller: String::new(),
            verb,
            request_id: key.to_owned(),
        };
        Self { key, fingerprint: String::new(), kept_for: None }
    }

    /// A request whose key is the hash of its content, which is too long for one.
    pub(crate) fn of_hash(project_id: &str, verb: &'static str, content: &Value) -> Self {
        let mut content = content.clone();
        sort(&mut content);
        Self::of_content(project_id, verb, &hash(&content.to_string()))
    }

    /// This request, with an answer that is forgotten after a time.
    pub(crate) fn kept_for(self, span: Millis) -> Self {
        Self { kept_for: Some(span), ..self }
    }

    /// This request under no project: where one was kept that made its project.
    pub(crate) fn outside(&self) -> Self {
        let key = Key { project_id: String::new(), ..self.key.clone() };
        Self { key, ..self.clone() }
    }

    /// The answer that was given before.
    pub(crate) fn earlier_answer<T: DeserializeOwned>(&self, tx: &mut Tx<'_>) -> Result<Option<T>, Failure> {
        let Some(stored) = request::get(tx, &self.key)? else { return Ok(None) };
        if stored.fingerprint != self.fingerprint {
            return Err(self.mismatch_refusal().into());
        }
        match serde_json::from_str(&stored.answer) {
            Ok(answer) => Ok(Some(answer)),
            Err(_) => Err(self.unreadable_refusal().into()),
        }
    }

    /// Keeps the answer in the transaction of the change, with the project's row in hand.
    pub(crate) fn keep(&self, tx: &mut Tx<'_>, now: Millis, answer: &impl Serialize) -> Result<(), Failure> {
        Ok(request::put(tx, &self.key, &self.stored(now, answer)?, now)?)
    }

    /// Keeps the answer where no project's row is in hand; false when it was answered meanwhile.
    pub(crate) fn keep_first(
        &self,
        tx: &mut Tx<'_>,
        now: Millis,
        answer: &impl Serialize,
    ) -> Result<bool, Failure> {
        Ok(request::put_first(tx, &self.key, &self.stored(now, answer)?, now)?)
    }

    fn stored(&self, now: Millis, answer: &impl Serialize) -> Result<StoredAnswer, Refusal> {
        let answer = serde_json::to_string(answer).map_err(|error| {
            let what = format!("the answer cannot be kept as JSON: {error}");
            Refusal::invalid("answer_unwritable", what, "report this")
        })?;
        let expires_at = self.kept_for.map(|span| now.saturating_add(span));
        Ok(StoredAnswer { fingerprint: self.fingerprint.clone(), answer, expires_at })
    }

    fn mismatch_refusal(&self) -> Refusal {
        let Key { verb, request_id, .. } = &self.key;
        Refusal::new(
            Kind::Refused,
            "request_mismatch",
            format!("`{request_id}` was used for another {verb} before, and nothing was written now"),
            "give every new request an id of its own; repeat a request with exactly the input that it had",
        )
        .with("request_id", request_id.as_str())
    }

    fn unreadable_refusal(&self) -> Refusal {
        let Key { verb, request_id, .. } = &self.key;
        Refusal::new(
            Kind::Refused,
            "request_unreadable",
            format!(
                "{verb} was done under `{request_id}` before, and what it answered then is damaged: it is not done again"
            ),
            "look with `baton status` or `baton log` what came of it, and use another id for what is still to be done",
        )
        .with("request_id", request_id.as_str())
    }
}

/// The answer to the same request before, where the request has a key.
pub(crate) fn earlier_answer_of<T: DeserializeOwned>(
    tx: &mut Tx<'_>,
    request: Option<&Request>,
) -> Result<Option<T>, Failure> {
    request.map_or(Ok(None), |request| request.earlier_answer(tx))
}

/// Keeps the answer, where the request has a key.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    request: Option<&Request>,
    answer: &impl Serialize,
) -> Result<(), Failure> {
    request.map_or(Ok(()), |request| request.keep(tx, env.now, answer))
}

/// Hash of a body without what stands in the key. What is null is as good as left out, and the order of fields says nothing.
fn fingerprint(mut body: Value) -> String {
    if let Some(fields) = body.as_object_mut() {
        let is_sensitive = fields.get("sensitive") == Some(&Value::Bool(true));
        fields.retain(|name, _| {
            let is_secret = is_sensitive && SENSITIVE.contains(&name.as_str());
            !is_secret && !IN_KEY.contains(&name.as_str()) && !OF_THE_VIEW.contains(&name.as_str())
        });
        fields.retain(|_, value| !value.is_null());
    }
    sort(&mut body);
    hash(&body.to_string())
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(fields) => {
            fields.values_mut().for_each(sort);
            fields.sort_keys();
        }
        _ => {}
    }
}

/// SHA-256 of a text, in hexadecimal.
pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use baton_model::access::{Bearer, Grant};
    use baton_model::session::ProcessLocation;
    use serde_json::json;

    use super::*;

    fn caller(process: &str, token: Option<&str>) -> Caller {
        let bearer = token.map(|id| Bearer { token_id: id.into(), name: "ci".into(), identities: None });
        Caller {
            location: ProcessLocation { machine: "m".into(), process: process.into() },
            grant: Grant { bearer, ..Grant::default() },
            ..Caller::default()
        }
    }

    fn key(identity: &str, process: &str, token: Option<&str>, session: Option<&str>) -> String {
        Requester { identity, session }.key(&caller(process, token))
    }

    #[test]
    fn a_name_is_one_caller_in_every_process_and_without_case() {
        assert_eq!(key("Ann", "1", None, None), key("aNN", "2", None, Some("s")));
        assert_ne!(key("Ann", "1", None, None), key("Ben", "1", None, None));
    }

    #[test]
    fn tokens_and_bots_are_told_apart() {
        let all = [
            key("Ann", "1", None, None),
            key("Ann", "1", Some("t1"), None),
            key("Ann", "1", Some("t2"), None),
            key("Bot", "1", None, None),
            key("Bot", "2", None, None),
            key("Bot", "1", None, Some("s")),
            key("Bot", "1", Some("t1"), None),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all.iter().skip(at + 1).all(|other| other != one), "{one}");
        }
    }

    #[test]
    fn a_body_is_compared_by_what_it_says() {
        let same = |a: Value, b: Value| fingerprint(a) == fingerprint(b);
        assert!(same(json!({ "a": 1, "b": { "x": 1, "y": 2 } }), json!({ "b": { "y": 2, "x": 1 }, "a": 1 })));
        assert!(same(json!({ "a": 1, "request_id": "r", "identity": "Ann" }), json!({ "a": 1, "c": null })));
        assert!(!same(json!({ "a": 1 }), json!({ "a": "1" })));
        assert!(!same(json!({ "a": [1, 2] }), json!({ "a": [2, 1] })));
        assert!(!same(json!({ "body": "x" }), json!({ "body": "y" })));
    }

    #[test]
    fn no_hash_of_what_is_sensitive_is_kept() {
        let of = |body: &str| fingerprint(json!({ "sensitive": true, "body": body, "to": "Ann" }));
        assert_eq!(of("1234"), of("5678"));
        let other = fingerprint(json!({ "sensitive": true, "body": "1234", "to": "Ben" }));
        assert_ne!(of("1234"), other);
    }
}
