//! `commit_origin`: the sessions in which commits were made, with what was asked there, what was decided and what was handed on.

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::packet::{Decision, ValidatedPacket};
use baton_model::refusal::Refusal;
use baton_model::repository::is_commit_id;
use baton_model::session::{Session, View};
use baton_model::time::{Millis, Timestamp};
use baton_store::{Failure, Tx, baton, delta, session, session_commit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership::{self, is_at_work};
use crate::resolve;

/// The most commits of one question.
const MAX_COMMITS: usize = 200;
/// The most commits of a session that an answer names.
const MAX_NAMED_COMMITS: i64 = 50;

/// Reads where commits come from.
pub struct CommitOrigin;

/// Input of `commit_origin`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommitOriginInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Full ids of commits, 200 at the most.
    #[serde(default)]
    pub commits: Vec<String>,
    /// Ids of batons or sessions, as the trailer `Baton:` of a commit has them.
    #[serde(default)]
    pub trailers: Vec<String>,
}

/// Answer of `commit_origin`.
#[derive(Serialize, Deserialize)]
pub struct CommitOriginOutput {
    /// The project.
    pub project_id: String,
    /// The sessions, the newest first.
    pub items: Vec<OriginRow>,
}

/// A session in which commits were made.
#[derive(Clone, Serialize, Deserialize)]
pub struct OriginRow {
    /// The session.
    #[serde(flatten)]
    pub session: View,
    /// Commits that were made while it was open in their working copy, the oldest first.
    pub commits: Vec<OriginCommit>,
    /// Which of the asked commits were made in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matching_commits: Vec<String>,
    /// Which of the asked trailers name it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matching_trailers: Vec<String>,
    /// What the user asked for last, as the packet that it left says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The packet's summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Decisions that were recorded in it, then those of the packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// The baton that it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_baton_id: Option<String>,
}

/// A commit of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginCommit {
    /// Its full id.
    pub id: String,
    /// When it was made.
    pub made_at: Timestamp,
}

impl Operation for CommitOrigin {
    const META: Meta =
        Meta::read("commit_origin", "Say in which sessions commits were made, and what was decided there");
    type Input = CommitOriginInput;
    type Output = CommitOriginOutput;

    fn run(input: CommitOriginInput, cx: &mut Cx<'_>) -> Result<CommitOriginOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            check(&input)?;
            let mut origins = OriginSessions::default();
            for commit in &input.commits {
                for id in session_commit::sessions(tx, &project_id, &commit.to_ascii_lowercase())? {
                    origins.of(id).commits.push(commit.clone());
                }
            }
            for trailer in &input.trailers {
                if let Some(id) = session_of_trailer(tx, &project_id, trailer)? {
                    origins.of(id).trailers.push(trailer.clone());
                }
            }
            in_open_sessions(tx, env, (&project_id, &input.commits), &mut origins)?;
            let mut items = Vec::new();
            for origin in origins.sessions {
                if let Some(of) = session::get(tx, &project_id, &origin.session_id)? {
                    let mut row = row(tx, env, &of)?;
                    row.commits.extend(origin.unsaved);
                    (row.matching_commits, row.matching_trailers) = (origin.commits, origin.trailers);
                    items.push(row);
                }
            }
            items.sort_by_key(|row| std::cmp::Reverse(row.session.started_at.0));
            Ok(CommitOriginOutput { project_id, items })
        })
    }
}

/// Sessions that were found.
#[derive(Default)]
struct OriginSessions {
    sessions: Vec<OriginSession>,
}

/// A session, and by which of the asked ids it was found.
#[derive(Default)]
struct OriginSession {
    session_id: String,
    commits: Vec<String>,
    trailers: Vec<String>,
    /// Commits that the session has made and not yet noted.
    unsaved: Vec<OriginCommit>,
}

impl OriginSessions {
    /// The entry of a session, new where it was not found before.
    fn of(&mut self, session_id: String) -> &mut OriginSession {
        let known = self.sessions.iter().position(|known| known.session_id == session_id);
        let at = known.unwrap_or(self.sessions.len());
        if known.is_none() {
            self.sessions.push(OriginSession { session_id, ..OriginSession::default() });
        }
        &mut self.sessions[at]
    }
}

/// Finds commits among those that open sessions can have made since they last said where they work: they note them with their next
/// verb, also those that another session has noted already. Only the caller's machine can say it.
fn in_open_sessions(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, commits): (&str, &[String]),
    origins: &mut OriginSessions,
) -> Result<(), Failure> {
    if commits.is_empty() || env.host.is_served() {
        return Ok(());
    }
    for open in session::open(tx, project_id)? {
        let copy =
            open.working_copy.as_ref().filter(|_| open.location.machine == env.caller.location.machine);
        let Some(copy) = copy else { continue };
        let made = env.host.commits_made(&copy.root, open.started_at, copy.commit.as_deref());
        // Of a process that has ended it is known only that it lived at its last command.
        let last = if is_at_work(env, &open) { Millis::MAX } else { open.heartbeat_at };
        for commit in made.unwrap_or_default().into_iter().filter(|commit| commit.at <= last) {
            let Some(id) = commits.iter().find(|id| id.eq_ignore_ascii_case(&commit.id)) else { continue };
            let origin = origins.of(open.session_id.clone());
            if origin.commits.contains(id) {
                continue;
            }
            origin.commits.push(id.clone());
            origin.unsaved.push(OriginCommit { id: commit.id, made_at: Timestamp(commit.at) });
        }
    }
    Ok(())
}

fn check(input: &CommitOriginInput) -> Result<(), Refusal> {
    if input.commits.is_empty() && input.trailers.is_empty() {
        return Err(Refusal::invalid("commit_invalid", "no commit is named", "name one by its full id"));
    }
    if input.commits.len() > MAX_COMMITS || input.trailers.len() > MAX_COMMITS {
        let what = format!("more than {MAX_COMMITS} commits are named");
        return Err(Refusal::invalid("commit_invalid", what, "ask for fewer at once"));
    }
    if let Some(odd) = input.commits.iter().find(|id| !is_commit_id(id)) {
        let what = format!("`{}` is not the full id of a commit", visible(odd));
        return Err(Refusal::invalid("commit_invalid", what, "`git rev-parse COMMIT` prints it"));
    }
    Ok(())
}

/// The session that a trailer names: by its own id, by the baton that it held, or by the baton that it left.
fn session_of_trailer(tx: &mut Tx<'_>, project: &str, trailer: &str) -> Result<Option<String>, Failure> {
    if let Some(named) = session::get(tx, project, trailer)? {
        return Ok(Some(named.session_id));
    }
    let held = baton::get(tx, project, trailer)?;
    Ok(held.map(|baton: Baton| baton.holder_session_id.unwrap_or(baton.session_id)))
}

fn row(tx: &mut Tx<'_>, env: &Env<'_>, of: &Session) -> Result<OriginRow, Failure> {
    let commits = session_commit::of(tx, &of.project_id, &of.session_id, MAX_NAMED_COMMITS)?;
    let left = baton::of_session(tx, &of.project_id, &of.session_id)?;
    let wrap = match &left {
        Some(left) => delta::get(tx, &of.project_id, &left.baton_id)?,
        None => None,
    };
    let packet = wrap.and_then(|wrap| ValidatedPacket::parse_stored(wrap.body).ok());
    let packet = packet.map(|packet| packet.view().clone()).unwrap_or_default();
    let decisions = each_once(recorded(tx, of)?, packet.decisions);
    let request = packet.requests.and_then(|requests| requests.last.or(requests.first));
    Ok(OriginRow {
        session: ownership::view(env, of),
        commits: commits
            .into_iter()
            .map(|commit| OriginCommit { id: commit.id, made_at: Timestamp(commit.at) })
            .collect(),
        matching_commits: Vec::new(),
        matching_trailers: Vec::new(),
        request: request.map(|request| request.text),
        summary: Some(packet.summary).filter(|summary| !summary.is_empty()),
        decisions,
        left_baton_id: left.map(|left| left.baton_id),
    })
}

/// Decisions of a packet after those that were recorded in its session, without those that are among them: a packet made of the ledger
/// has all of them, and what an agent wraps often repeats them.
fn each_once(recorded: Vec<Decision>, of_packet: Vec<Decision>) -> Vec<Decision> {
    let key = |decision: &Decision| decision.what.trim().trim_end_matches('.').to_lowercase();
    let mut found: Vec<Decision> = Vec::new();
    for decision in recorded.into_iter().chain(of_packet) {
        match found.iter_mut().find(|known| key(known) == key(&decision)) {
            Some(known) => {
                known.why = known.why.take().or(decision.why);
                let is_new = |option: &String| !known.rejected.contains(option);
                let more: Vec<String> = decision.rejected.into_iter().filter(is_new).collect();
                known.rejected.extend(more);
            }
            None => found.push(decision),
        }
    }
    found
}

/// The decisions that were recorded in a session.
fn recorded(tx: &mut Tx<'_>, of: &Session) -> Result<Vec<Decision>, Failure> {
    let deltas = delta::of_session(tx, &of.project_id, &of.session_id)?;
    let decisions = deltas.iter().filter(|delta| delta.kind == Kind::Decision);
    Ok(decisions.filter_map(|delta| serde_json::from_str(&delta.body).ok()).collect())
}
