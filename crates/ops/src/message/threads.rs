//! `mail_threads`: the mail threads of a project, newest first, for observers.

use baton_model::message::Message;
use baton_model::time::Timestamp;
use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// How many of the newest messages are looked at.
const MAX_SCANNED_MESSAGES: i64 = 1_000;

/// Lists threads.
pub struct Threads;

/// Input of `mail_threads`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadsInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// At most so many.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

impl Default for ThreadsInput {
    fn default() -> Self {
        Self { project: Default::default(), limit: default_limit() }
    }
}

fn default_limit() -> usize {
    50
}

/// A thread.
#[derive(Serialize, Deserialize)]
pub struct ThreadRow {
    /// The message that it began with.
    pub thread_id: String,
    /// Its newest message.
    pub message_id: String,
    /// The subject of the oldest message that was looked at.
    pub subject: String,
    /// The type of the newest.
    #[serde(rename = "type")]
    pub kind: String,
    /// Who wrote or was written to, in the order of their first message.
    pub people: Vec<String>,
    /// How many messages were looked at.
    pub messages: usize,
    /// How many of these their receivers still have to read or acknowledge.
    pub waiting: usize,
    /// Who wrote the newest.
    pub last_from: String,
    /// When.
    pub last_at: Timestamp,
}

/// Answer of `mail_threads`: the threads of the newest 1,000 messages, the last written to first. No bodies, and nothing is
/// marked as read.
#[derive(Serialize, Deserialize)]
pub struct ThreadsOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<ThreadRow>,
    /// Whether there are more threads, or older messages.
    pub more: bool,
}

impl Operation for Threads {
    const META: Meta =
        Meta::read("mail_threads", "List the mail threads of a project, the last written to first");
    type Input = ThreadsInput;
    type Output = ThreadsOutput;

    fn run(input: ThreadsInput, cx: &mut Cx<'_>) -> Result<ThreadsOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let now = cx.env.now;
        let newest = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(message::newest(tx, &project_id, i64::MAX, MAX_SCANNED_MESSAGES)?)
        })?;
        let mut threads: Vec<Vec<&Message>> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for message in &newest {
            let place = *places.entry(message.thread()).or_insert_with(|| {
                threads.push(Vec::new());
                threads.len() - 1
            });
            if let Some(thread) = threads.get_mut(place) {
                thread.push(message);
            }
        }
        let more = threads.len() > input.limit
            || i64::try_from(newest.len()).is_ok_and(|count| count == MAX_SCANNED_MESSAGES);
        let items = threads.iter().take(input.limit).filter_map(|thread| row(thread, now)).collect();
        Ok(ThreadsOutput { project_id, items, more })
    }
}

/// A thread, whose newest message is the first.
fn row(thread: &[&Message], now: i64) -> Option<ThreadRow> {
    let (last, first) = (thread.first()?, thread.last()?);
    let mut people: Vec<String> = Vec::new();
    for name in thread.iter().rev().flat_map(|m| [m.author().label(), m.to_identity.clone()]) {
        if !people.contains(&name) {
            people.push(name);
        }
    }
    Some(ThreadRow {
        thread_id: last.thread().to_owned(),
        message_id: last.message_id.clone(),
        subject: first.subject.clone(),
        kind: last.kind.clone(),
        people,
        messages: thread.len(),
        waiting: thread.iter().filter(|m| m.is_waiting(now)).count(),
        last_from: last.author().label(),
        last_at: Timestamp(last.created_at),
    })
}
