//! What happened in a thread, session by session: what was asked, changed, run, decided, committed and handed over.

use baton_model::delta::{Delta, Kind};
use baton_model::packet::{Packet, ValidatedPacket};
use baton_model::session::{ReleaseReason, Session};
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, baton, delta, session, session_commit};
use serde::{Deserialize, Serialize};

use crate::op::Env;
use crate::ownership;
use crate::page::{Position, row_limit};
use crate::session::{LeftBaton, left_baton};

/// The most entries of a session.
const ENTRIES: usize = 100;
/// The most rows of each kind that a packet tells.
const ROWS: usize = 40;

/// A session in its thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadSession {
    /// Its id.
    pub session_id: String,
    /// Whose it was.
    pub identity: String,
    /// The tool that it worked through.
    pub surface: String,
    /// The branch that it worked on, as its agent last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last heard of.
    pub last_heartbeat: Timestamp,
    /// When it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at: Option<Timestamp>,
    /// Why it was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_reason: Option<ReleaseReason>,
    /// Whether it is open and heard of.
    pub live: bool,
    /// What it wrote into the ledger and committed, the oldest first.
    pub entries: Vec<ThreadEntry>,
    /// It wrote more, before these.
    pub more: bool,
    /// What its packet tells of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<ThreadWork>,
    /// The baton that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<LeftBaton>,
    /// The document of that baton; only where the whole thread is given away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadEntry {
    /// When.
    pub at: Timestamp,
    /// `start`, `pickup`, `checkpoint`, `note`, `decision`, `wrap`, `release`, `commit`, …
    pub kind: String,
    /// Its words; of a commit, its id.
    pub text: String,
}

/// What a packet tells of the work of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadWork {
    /// What was asked: first and last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// The files that were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ThreadChange>,
    /// Checks and commands that were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ThreadCommand>,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<ThreadDecision>,
    /// What comes next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// How many rows the packet has besides.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadChange {
    /// Its path.
    pub path: String,
    /// How.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCommand {
    /// The command line.
    pub command: String,
    /// Its exit code, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadDecision {
    /// What.
    pub what: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A page of a thread.
pub(crate) struct Story {
    pub(crate) title: String,
    pub(crate) sessions: Vec<ThreadSession>,
    pub(crate) next: Option<String>,
}

/// The newest sessions of a thread before a place, the earliest of them first.
pub(crate) fn story(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, thread_id): (&str, &str),
    (before, limit): (&Position, usize),
) -> Result<Story, Failure> {
    let place = (before.at, before.id.as_str());
    let mut found = session::of_thread(tx, (project_id, thread_id), place, row_limit(limit + 1))?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| is_more);
    let next = last.map(|last| Position { at: last.started_at, id: last.session_id.clone() }.to_string());
    found.reverse();
    let mut sessions = Vec::with_capacity(found.len());
    for of in &found {
        sessions.push(thread_session(tx, env, of)?);
    }
    Ok(Story { title: title(&sessions), sessions, next })
}

/// The session that left a baton, and no other.
pub(crate) fn baton_story(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, baton_id): (&str, &str),
) -> Result<Story, Failure> {
    let giver = match baton::get(tx, project_id, baton_id)? {
        Some(left) => session::get(tx, project_id, &left.session_id)?,
        None => None,
    };
    let mut sessions = Vec::new();
    if let Some(of) = &giver {
        sessions.push(thread_session(tx, env, of)?);
    }
    Ok(Story { title: title(&sessions), sessions, next: None })
}

fn title(sessions: &[ThreadSession]) -> String {
    let left = sessions.iter().rev().find_map(|of| of.left.as_ref()).map(|left| left.summary.clone());
    let title = || {
        let entries = sessions.iter().rev().flat_map(|of| of.entries.iter().rev());
        entries.into_iter().find(|entry| entry.kind == "checkpoint").map(|entry| entry.text.clone())
    };
    left.or_else(title).unwrap_or_default()
}

fn thread_session(tx: &mut Tx<'_>, env: &Env<'_>, of: &Session) -> Result<ThreadSession, Failure> {
    let view = ownership::view(env, of);
    let mut deltas = delta::newest_of_session(tx, &of.project_id, &of.session_id, row_limit(ENTRIES + 1))?;
    let more = deltas.len() > ENTRIES;
    deltas.truncate(ENTRIES);
    let left = left_baton(tx, env, of)?;
    let wrap = left.as_ref().and_then(|left| deltas.iter().find(|one| one.delta_id == left.baton_id));
    let work = match wrap {
        Some(wrap) => Some(work(ValidatedPacket::parse_stored(wrap.body.clone())?.view())),
        None => None,
    };
    let mut entries: Vec<ThreadEntry> = deltas.iter().map(entry).collect();
    let commits = session_commit::of(tx, &of.project_id, &of.session_id, row_limit(ENTRIES))?;
    let commit = |made: baton_model::repository::MadeCommit| ThreadEntry {
        at: Timestamp(made.at),
        kind: "commit".to_owned(),
        text: made.id,
    };
    entries.extend(commits.into_iter().map(commit));
    entries.reverse();
    entries.sort_by_key(|entry| entry.at.0);
    Ok(ThreadSession {
        session_id: view.session_id,
        identity: view.identity,
        surface: view.surface,
        branch: view.copy.and_then(|copy| copy.branch),
        started_at: view.started_at,
        last_heartbeat: view.last_heartbeat,
        live: view.released_at.is_none() && view.live,
        released_at: view.released_at,
        release_reason: view.release_reason,
        entries,
        more,
        work: work.filter(|work| *work != ThreadWork::default()),
        left,
        document: None,
    })
}

fn entry(of: &Delta) -> ThreadEntry {
    let text = match of.kind {
        Kind::Decision => decision(of),
        _ => of.headline(),
    };
    ThreadEntry { at: Timestamp(of.created_at), kind: of.kind.as_str().to_owned(), text }
}

/// A decision with its reason.
fn decision(of: &Delta) -> String {
    let body = of.body_json();
    match body.get("why").and_then(serde_json::Value::as_str).filter(|why| !why.is_empty()) {
        Some(why) => format!("{}: {why}", of.headline()),
        None => of.headline(),
    }
}

fn work(packet: &Packet) -> ThreadWork {
    let texts = packet.requests.iter().flat_map(|request| [&request.first, &request.last]);
    let mut requests: Vec<String> = texts.flatten().map(|text| text.text.clone()).collect();
    requests.dedup();
    let change = |file: &baton_model::packet::FileChange| ThreadChange {
        path: file.path.clone(),
        change: file.change.clone(),
    };
    let command = |run: &baton_model::packet::Command| ThreadCommand {
        command: run.command.clone(),
        exit_code: run.exit_code,
    };
    let decided =
        |one: &baton_model::packet::Decision| ThreadDecision { what: one.what.clone(), why: one.why.clone() };
    let commands: Vec<_> = packet.checks.iter().chain(&packet.commands).collect();
    let rows = [packet.files_modified.len(), commands.len(), packet.decisions.len(), packet.next_steps.len()];
    ThreadWork {
        requests,
        files: packet.files_modified.iter().take(ROWS).map(change).collect(),
        commands: commands.into_iter().take(ROWS).map(command).collect(),
        decisions: packet.decisions.iter().take(ROWS).map(decided).collect(),
        next_steps: packet.next_steps.iter().take(ROWS).map(|step| step.text.clone()).collect(),
        omitted: rows.iter().map(|count| count.saturating_sub(ROWS)).sum(),
    }
}
