//! `mail_threads`: the mail threads of a project, newest first, for observers.

use std::collections::HashSet;

use baton_model::actor::ActorType;
use baton_model::message::Message;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Messages that are read at once.
const BATCH_SIZE: i64 = 500;

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
    /// `next` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

impl Default for ThreadsInput {
    fn default() -> Self {
        Self { project: Default::default(), limit: default_limit(), before: None }
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
    /// The subject of its first message.
    pub subject: String,
    /// The type of the newest.
    #[serde(rename = "type")]
    pub kind: String,
    /// Who wrote or was written to, in the order of their first message.
    pub people: Vec<String>,
    /// How many messages it has.
    pub messages: usize,
    /// How many of these their receivers still have to read or acknowledge.
    pub waiting: usize,
    /// Who wrote the newest.
    pub last_from: String,
    /// What kind of actor that is; absent where it is an agent.
    #[serde(default, skip_serializing_if = "ActorType::is_agent")]
    pub last_from_type: ActorType,
    /// When.
    pub last_at: Timestamp,
}

/// Answer of `mail_threads`: threads, the last written to first. No bodies, and nothing is marked as read.
#[derive(Serialize, Deserialize)]
pub struct ThreadsOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<ThreadRow>,
    /// Whether there are more threads.
    pub more: bool,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<i64>,
}

impl Operation for Threads {
    const META: Meta =
        Meta::read("mail_threads", "List the mail threads of a project, the last written to first");
    type Input = ThreadsInput;
    type Output = ThreadsOutput;

    fn run(input: ThreadsInput, cx: &mut Cx<'_>) -> Result<ThreadsOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let now = cx.env.now;
        let before = input.before.unwrap_or(i64::MAX);
        let (threads, more) = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            threads_before(tx, &project_id, before, input.limit.max(1))
        })?;
        let newest = |thread: &Vec<Message>| thread.last().map(|message| message.seq);
        let next = threads.last().and_then(newest).filter(|_| more);
        let items = threads.iter().filter_map(|thread| row(thread, now)).collect();
        Ok(ThreadsOutput { project_id, items, more, next })
    }
}

/// The threads that were last written to before a number of the ledger, each with all its messages; whether there are more.
fn threads_before(
    tx: &mut Tx<'_>,
    project_id: &str,
    before: i64,
    limit: usize,
) -> Result<(Vec<Vec<Message>>, bool), Failure> {
    let (mut threads, mut seen, mut position) = (Vec::new(), HashSet::new(), before);
    loop {
        let batch = message::newest(tx, project_id, position, BATCH_SIZE)?;
        for found in &batch {
            position = found.seq;
            if !seen.insert(found.thread().to_owned()) {
                continue;
            }
            let thread = message::of_thread(tx, project_id, found.thread())?;
            // One that was written to since stands on a page before.
            if thread.last().is_none_or(|newest| newest.seq >= before) {
                continue;
            }
            if threads.len() == limit {
                return Ok((threads, true));
            }
            threads.push(thread);
        }
        if i64::try_from(batch.len()).is_ok_and(|count| count < BATCH_SIZE) {
            return Ok((threads, false));
        }
    }
}

/// A thread, whose newest message is the last.
fn row(thread: &[Message], now: i64) -> Option<ThreadRow> {
    let (first, last) = (thread.first()?, thread.last()?);
    let mut people: Vec<String> = Vec::new();
    for name in thread.iter().flat_map(|m| [m.author().label(), m.to_identity.clone()]) {
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
        last_from_type: last.from_type,
        last_at: Timestamp(last.created_at),
    })
}
