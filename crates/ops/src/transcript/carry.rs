//! `transcript_continue`: record that a session goes on in another tool: its baton, and who holds it from now on.

use std::path::Path;

use baton_model::baton::Baton;
use baton_model::session::ReleaseReason;
use baton_store::{Failure, Tx, baton, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::Meant;
use super::import::Importing;
use super::read::{Wish, read};
use crate::bearer;
use crate::op::{Access, Caller, Cx, Env, Operation, Reach};
use crate::resolve;
use crate::session::{Address, Claiming, Releaser, claim, release};

/// Records that a session is continued.
pub(crate) struct Continue;

/// Input of `transcript_continue`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else that of the session's folder, else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that continues.
    #[serde(default)]
    identity: Option<String>,
    /// Session id, a unique prefix of one, `latest`, or a path.
    id: String,
    /// The tool that wrote it.
    #[serde(default)]
    agent: Option<String>,
    /// The tool that continues.
    to: String,
    /// Whether the caller continues now and holds the baton from here on; else the baton waits.
    #[serde(default)]
    hold: bool,
    /// Take over from whoever holds it, or begin a second line of work from a session that was carried on already.
    #[serde(default)]
    force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    why: Option<String>,
    /// A summary in place of the one made from the facts.
    #[serde(default)]
    summary: Option<String>,
}

/// Answer of `transcript_continue`.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    /// The session that holds the baton; none where it waits.
    session_id: Option<String>,
    /// The baton.
    handoff_id: String,
    /// The session that stands for the transcript.
    from_session_id: String,
    transcript_id: String,
    agent: String,
    summary: String,
    imported_before: bool,
}

impl Operation for Continue {
    const NAME: &'static str = "transcript_continue";
    const DOC: &'static str = "Record that a session of any coding agent goes on in another tool";
    const ACCESS: Access = Access::Write;
    const REACH: Reach = Reach::Disk;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        if let Some(named) = input.project.as_ref().or(cx.env.caller.project.as_ref()) {
            cx.store.read(|tx| resolve::known(tx, named))?;
        }
        let wish = Wish {
            to: Some(input.to.clone()),
            summary: input.summary.clone(),
            project: input.project.clone(),
            ..Wish::of(&input.id, input.agent.as_deref())
        };
        let (meant, packet) = read(cx, &wish)?;
        let project_id = project_of(cx, input.project.as_deref(), &meant)?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut importing = Importing {
                meant: &meant,
                packet: &packet,
                project_id: &project_id,
                identity: meant.format.id(),
                to: Address::default(),
                again: false,
            };
            let mut left = importing.import(tx, env)?;
            if let Some(known) = baton::get(tx, &project_id, &left.baton_id)? {
                if known.spent_by.is_some() && input.force {
                    // What was carried on and wrapped stays as it is; this is a second line from the same session.
                    importing.again = true;
                    left = importing.import(tx, env)?;
                } else {
                    release_the_gone(tx, env, &known, &identity)?;
                }
            }
            let session_id = match input.hold {
                false => None,
                true => Some(claim(tx, env, &project_id, &identity, claiming(&input, &left.baton_id))?),
            };
            let identity = match &session_id {
                Some(id) => session::get(tx, &project_id, id)?.map_or(identity.clone(), |s| s.identity),
                None => identity.clone(),
            };
            Ok(Output {
                project_id: project_id.clone(),
                identity,
                session_id,
                handoff_id: left.baton_id,
                from_session_id: left.session_id,
                transcript_id: left.transcript_id,
                agent: left.agent,
                summary: left.summary,
                imported_before: left.imported_before,
            })
        })
    }
}

fn claiming(input: &Input, baton_id: &str) -> Claiming {
    Claiming { baton_id: baton_id.to_owned(), force: input.force, why: input.why.clone() }
}

/// The project that is named, else the one of the folder in which the session worked, else the caller's.
fn project_of(cx: &mut Cx<'_>, named: Option<&str>, meant: &Meant) -> Result<String, Failure> {
    let caller = cx.env.caller;
    if let (None, None, Some(cwd)) = (named, &caller.project, &meant.header.cwd) {
        let folders = Path::new(cwd).ancestors().map(|folder| folder.display().to_string()).collect();
        let there = Caller { folders, place: caller.place.clone(), ..Caller::default() };
        if let Ok(project_id) = resolve::project_id(cx.store, &there, None) {
            return Ok(project_id);
        }
    }
    resolve::project_id(cx.store, caller, named)
}

/// Releases a holder whose process has ended without a word, so that nobody waits for it to go stale.
fn release_the_gone(tx: &mut Tx<'_>, env: &mut Env<'_>, held: &Baton, by: &str) -> Result<(), Failure> {
    let Some(id) = &held.holder_session_id else { return Ok(()) };
    let Some(mut holder) = session::get(tx, &held.project_id, id)? else { return Ok(()) };
    if holder.is_open() && bearer::is_own(env, &holder) && env.host.process_gone(&holder.place) {
        let why = Some("its process has ended");
        let by = Releaser { identity: by, reason: ReleaseReason::Stale, why, successor: None };
        release(tx, env, &mut holder, &by)?;
    }
    Ok(())
}
