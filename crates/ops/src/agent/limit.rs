//! `agent_limit`: a provider's limit that has stopped an agent, kept for its other processes and for the letters about it.

use baton_model::agent_limit::{LetterBook, UNKNOWN_LIMIT};
use baton_model::id::{check_label, identity_key};
use baton_model::time::{Millis, Timestamp};
use baton_store::request::{self, Key, StoredAnswer};
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Env, Meta, Operation};
use crate::project::require_active;
use crate::resolve;

/// Notes a limit, or reads one.
pub struct Limit;

/// Input of `agent_limit`. Without `reached` and `over` it only reads.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The agent that was stopped.
    #[serde(default)]
    pub identity: Option<String>,
    /// The tool whose provider has stopped it.
    #[serde(default)]
    pub tool: String,
    /// It has reached the limit.
    #[serde(default)]
    pub reached: bool,
    /// How long the provider takes no requests, in milliseconds; nothing where that is not known.
    #[serde(default)]
    pub for_ms: Option<i64>,
    /// The provider takes requests again.
    #[serde(default)]
    pub over: bool,
}

/// Answer of `agent_limit`.
#[derive(Serialize, Deserialize)]
pub struct LimitOutput {
    /// The project.
    pub project_id: String,
    /// The agent.
    pub identity: String,
    /// Until when its provider takes no requests, where that is known.
    pub until: Option<Timestamp>,
    /// Whether the user was not told of this limit yet; now it counts as told.
    pub is_news: bool,
}

impl Operation for Limit {
    const META: Meta =
        Meta::write("agent_limit", "Note the limit at which its provider stopped an agent, or read it");
    type Input = LimitInput;
    type Output = LimitOutput;

    fn run(input: LimitInput, cx: &mut Cx<'_>) -> Result<LimitOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        check_label("tool", &input.tool)?;
        let own = key(&project_id, &identity_key(&identity), &input.tool);
        let Cx { store, env } = cx;
        let (until, is_news) = match (input.reached, input.over) {
            (false, false) => store.read(|tx| {
                resolve::require_project(tx, &project_id)?;
                Ok((known_end(tx, &own, env.now)?, false))
            })?,
            (is_reached, _) => store.write(&[&project_id], |tx| {
                require_active(tx, &project_id)?;
                if is_reached { reach(tx, env, &own, input.for_ms) } else { end(tx, env, &own) }
            })?,
        };
        Ok(LimitOutput { project_id, identity, until: until.map(Timestamp), is_news })
    }
}

/// The row of an agent and its tool; without an agent that of the letters about the tool.
fn key(project_id: &str, caller: &str, tool: &str) -> Key {
    Key {
        project_id: project_id.to_owned(),
        caller: caller.to_owned(),
        verb: Limit::NAME,
        request_id: tool.to_owned(),
    }
}

fn known_end(tx: &mut Tx<'_>, own: &Key, now: Millis) -> Result<Option<Millis>, Failure> {
    let found = request::get(tx, own)?.and_then(|row| row.expires_at);
    Ok(found.filter(|until| *until > now))
}

/// Keeps what is known of a limit until it is over.
fn keep(tx: &mut Tx<'_>, key: &Key, answer: String, until: Millis, now: Millis) -> Result<(), Failure> {
    let row = StoredAnswer { fingerprint: String::new(), answer, expires_at: Some(until) };
    Ok(request::replace(tx, key, &row, now)?)
}

fn reach(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &Key,
    for_ms: Option<Millis>,
) -> Result<(Option<Millis>, bool), Failure> {
    let until = for_ms.map(|span| env.now.saturating_add(span.max(0)));
    if let Some(until) = until {
        keep(tx, own, "{}".to_owned(), until, env.now)?;
    }
    let letters = key(&own.project_id, "", &own.request_id);
    let mut book = LetterBook::read(request::get(tx, &letters)?.map(|row| row.answer).as_deref());
    let is_news = book.note(until, env.now);
    let last = until.unwrap_or_else(|| env.now.saturating_add(UNKNOWN_LIMIT));
    keep(tx, &letters, book.to_text(), last.max(book.last()), env.now)?;
    Ok((until, is_news))
}

/// Forgets the limit: another one is another letter.
fn end(tx: &mut Tx<'_>, env: &Env<'_>, own: &Key) -> Result<(Option<Millis>, bool), Failure> {
    for key in [own.clone(), key(&own.project_id, "", &own.request_id)] {
        if request::get(tx, &key)?.is_some() {
            keep(tx, &key, "{}".to_owned(), env.now, env.now)?;
        }
    }
    Ok((None, false))
}
