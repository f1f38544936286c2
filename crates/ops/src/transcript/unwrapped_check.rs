//! `transcript_unwrapped`: which conversations left no baton.

use baton_model::conversation::Conversation;
use baton_model::refusal::Refusal;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Row;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;
use crate::session::conversation::{self, FROM_TRANSCRIPT, NativeId};

/// An agent that wraps says a last word after it.
const LAST_WORDS: Millis = 60_000;
/// The most conversations of one question.
const MAX_CONVERSATIONS: usize = 50;
/// How many of the newest sessions are asked when the last agent wrapped.
const SESSIONS: i64 = 50;

/// Tells which conversations left no baton.
pub struct Unwrapped;

/// Input of `transcript_unwrapped`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnwrappedInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The conversations, at most 50.
    pub conversations: Vec<ConversationExtent>,
}

/// A conversation, and how far its transcript reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationExtent {
    /// The tool that wrote it.
    pub agent: String,
    /// The tool's own id of the session.
    pub id: String,
    /// When its first entry was written, in epoch milliseconds.
    #[serde(default)]
    pub created_at_ms: Option<Millis>,
    /// Its working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// When its last entry was written, in epoch milliseconds.
    pub updated_at_ms: Millis,
    /// Size of its transcript; 0 where it shares a file with others.
    #[serde(default)]
    pub bytes: i64,
}

impl ConversationExtent {
    /// The id under which the conversation is known.
    pub(super) fn native_id(&self) -> NativeId<'_> {
        NativeId { tool: &self.agent, id: &self.id, created_at: self.created_at_ms, cwd: self.cwd.as_deref() }
    }

    /// That of a listed transcript; none where it is unknown when it was written.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let bytes = if row.key.is_some() { 0 } else { i64::try_from(row.bytes).unwrap_or(i64::MAX) };
        Some(Self {
            agent: row.agent.clone(),
            id: row.id.clone(),
            created_at_ms: row.created_at.map(|at| at.0),
            cwd: row.cwd.clone(),
            updated_at_ms: row.updated_at?.0,
            bytes,
        })
    }
}

/// Answer of `transcript_unwrapped`: those that left no baton, or went on long after it.
#[derive(Default, Serialize, Deserialize)]
pub struct UnwrappedOutput {
    /// The project.
    pub project_id: String,
    /// The conversations, in the order of the question.
    pub items: Vec<ConversationExtent>,
}

impl Operation for Unwrapped {
    const META: Meta = Meta::read("transcript_unwrapped", "Tell which conversations left no baton");
    type Input = UnwrappedInput;
    type Output = UnwrappedOutput;

    fn run(input: UnwrappedInput, cx: &mut Cx<'_>) -> Result<UnwrappedOutput, Failure> {
        let count = input.conversations.len();
        if count > MAX_CONVERSATIONS {
            let what = format!("{count} conversations are asked for, of at most {MAX_CONVERSATIONS}");
            return Err(Refusal::invalid("too_many", what, "ask for fewer at a time").into());
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let wrapped_at = last_wrap(tx, &project_id)?;
            let mut items = Vec::new();
            for one in &input.conversations {
                let known = conversation::find(tx, env, &project_id, one.native_id())?;
                let is_left = match known.as_ref().and_then(|known| Some((known, known.baton_id.as_deref()?)))
                {
                    Some((known, baton_id)) => goes_beyond(tx, known, baton_id, one)?,
                    None => wrapped_at.is_none_or(|wrapped_at| is_after(one, wrapped_at)),
                };
                items.extend(is_left.then(|| one.clone()));
            }
            Ok(UnwrappedOutput { project_id: project_id.clone(), items })
        })
    }
}

/// When an agent of the project last wrapped by itself. Which conversation it had is not always known; what was made of a transcript is.
fn last_wrap(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<Millis>, Failure> {
    let sessions = session::newest(tx, project_id, SESSIONS)?;
    let wrapped =
        sessions.iter().filter(|one| one.has_wrapped() && !FROM_TRANSCRIPT.contains(&one.last_verb.as_str()));
    Ok(wrapped.filter_map(|one| one.release.as_ref().map(|release| release.at)).max())
}

/// Whether a conversation of which no baton is known may be another one than that of an agent that wrapped at this time.
fn is_after(one: &ConversationExtent, wrapped_at: Millis) -> bool {
    let has_begun = one.created_at_ms.is_none_or(|at| at <= wrapped_at);
    let last_words = if has_begun { LAST_WORDS } else { 0 };
    one.updated_at_ms > wrapped_at.saturating_add(last_words)
}

/// Whether a conversation went on after its baton.
fn goes_beyond(
    tx: &mut Tx<'_>,
    known: &Conversation,
    baton_id: &str,
    one: &ConversationExtent,
) -> Result<bool, Failure> {
    if !known.is_behind(one.bytes, one.updated_at_ms) {
        return Ok(false);
    }
    let left_at = baton::get(tx, &known.project_id, baton_id)?.map_or(0, |left| left.created_at);
    Ok(one.updated_at_ms > left_at.max(known.last_entry_at).saturating_add(LAST_WORDS))
}
