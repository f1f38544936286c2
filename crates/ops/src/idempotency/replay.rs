//! What the answer to a repeated request adds to the first answer: that it is a repetition, and what has changed since.

use baton_model::session::Session;
use baton_model::time::{Millis, ago};
use baton_store::{Failure, Tx, baton, session};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::op::Env;
use crate::ownership;

/// What an answer that may be a repetition has besides its own fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Replay {
    /// The request was answered before: nothing was done now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// What of that answer is not so any more, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// What the fields said then that say now how it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Map<String, Value>>,
}

impl Replay {
    /// Of an answer that was kept.
    pub(crate) fn of(since: Option<String>) -> Self {
        Self { replayed: true, since, answered: None }
    }

    /// Whether what was answered holds no more.
    pub(crate) fn is_over(&self) -> bool {
        self.since.is_some()
    }
}

/// What became of a session and the baton that it held; nothing while both are as they were.
pub(crate) fn of_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    (session_id, baton_id): (&str, Option<&str>),
) -> Result<Option<String>, Failure> {
    let known = session::get(tx, project_id, session_id)?;
    let mut parts: Vec<String> = known.as_ref().and_then(|known| known.ending(env.now)).into_iter().collect();
    parts.extend(known.filter(|known| known.is_open()).and_then(|known| other_process(env, &known)));
    if let Some(held) = baton_id.map(|id| baton::get(tx, project_id, id)).transpose()?.flatten() {
        let holder = match held.holder_session_id.as_deref().filter(|id| *id != session_id) {
            Some(id) => session::get(tx, project_id, id)?,
            None => None,
        };
        parts.extend(holder.map(|holder| holder_text(&holder, held.held_at, env.now)));
        if let Some(next) = held.successor().filter(|_| parts.is_empty()) {
            parts.push(format!("the baton was carried on and wrapped as {next}"));
        }
    }
    Ok((!parts.is_empty()).then(|| parts.join("; ")))
}

/// Where a session of a name goes on, if another process may be at work in it.
fn other_process(env: &Env<'_>, known: &Session) -> Option<String> {
    ownership::is_held_elsewhere(env, known, &known.location).then(|| {
        format!(
            "its session goes on in {}, which is not known to have ended; if you are that agent, set BATON_SESSION={}",
            known.location.describe(),
            known.session_id
        )
    })
}

fn holder_text(holder: &Session, at: Option<Millis>, now: Millis) -> String {
    let when = at.map(|at| format!(" {}", ago(now, at))).unwrap_or_default();
    format!("the baton was taken by {}{when}", holder.identity)
}

/// Marks a kept answer as repeated. Where it holds no more, `since` says why, these fields say how it is, and `answered` has what
/// they said.
pub(crate) fn mark_replayed(answer: &mut Value, since: Option<String>, now_so: &[(&str, Value)]) {
    let Some(fields) = answer.as_object_mut() else { return };
    fields.insert("replayed".to_owned(), json!(true));
    let Some(since) = since else { return };
    let mut answered = Map::new();
    for (name, value) in now_so {
        let was = fields.insert((*name).to_owned(), value.clone());
        answered.insert((*name).to_owned(), was.unwrap_or_default());
    }
    fields.insert("since".to_owned(), json!(since));
    fields.insert("answered".to_owned(), Value::Object(answered));
}
