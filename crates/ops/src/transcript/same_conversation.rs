//! Whether a transcript and a session of the ledger are one conversation, where neither names the other: no hook ran, and the
//! agent's calls of Baton are not in the transcript.

use std::path::Path;

use baton_model::session::Session;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, conversation, project_root, session};
use baton_tools::{by_name, has_surface};
use baton_transcripts::Filter;

use super::capture_end::registered_here;
use super::find::list;
use super::found_transcript::FoundTranscript;
use crate::op::{Cx, Env};
use crate::session::conversation::FROM_TRANSCRIPT;

/// An agent may register a moment before its tool writes the first entry, or release a moment after the last.
const SLACK: Millis = 60_000;
/// So many of the newest sessions are looked at.
const NEWEST: i64 = 200;

/// What the ledger's sessions are to a transcript.
pub(super) enum SessionMatch {
    /// The only agent of its tool there in that time.
    Same(Box<Session>),
    /// Any of these may be it.
    Unclear(Vec<Session>),
}

/// When a transcript was written.
fn span(transcript: &FoundTranscript) -> Option<(Millis, Millis)> {
    let (from, to) = (transcript.header.created_at_ms?, transcript.header.updated_at_ms?);
    Some((from.saturating_sub(SLACK), to.saturating_add(SLACK)))
}

/// Whether no other transcript of this tool was written in the same folder at the same time.
pub(super) fn is_alone(cx: &mut Cx<'_>, transcript: &FoundTranscript) -> Result<bool, Failure> {
    let (Some((from, to)), Some(cwd)) = (span(transcript), transcript.header.cwd.clone()) else {
        return Ok(false);
    };
    if cx.env.host.is_served() {
        return Ok(false);
    }
    let filter =
        Filter { agents: vec![transcript.format.id().to_owned()], since_ms: Some(from), ..Filter::default() };
    let is_here = |own: &str| Path::new(own).starts_with(&cwd) || Path::new(&cwd).starts_with(own);
    let headers = list(cx, &filter, |listed| {
        listed.retain(|one| {
            one.brief.id != transcript.header.id && one.brief.cwd.as_deref().is_some_and(is_here)
        });
        Ok(())
    })?;
    Ok(!headers.iter().any(|other| other.created_at_ms.is_none_or(|at| at <= to)))
}

/// The sessions of the same tool that worked in the project on this machine while the transcript was written, and belong to no
/// other conversation.
pub(super) fn likeness(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, transcript, is_alone): (&str, &FoundTranscript, bool),
) -> Result<SessionMatch, Failure> {
    let machine = &env.caller.location.machine;
    let (Some((from, to)), Some(cwd)) = (span(transcript), &transcript.header.cwd) else {
        return Ok(SessionMatch::Unclear(Vec::new()));
    };
    let roots = project_root::folders(tx, project_id, machine)?;
    if machine.is_empty() || !roots.iter().any(|root| Path::new(cwd).starts_with(root)) {
        return Ok(SessionMatch::Unclear(Vec::new()));
    }
    let mut found = Vec::new();
    // A session whose tool is not known may be of this conversation where it worked in the same working copy.
    let mut unnamed = Vec::new();
    for own in session::newest(tx, project_id, NEWEST)? {
        let tool = has_surface(transcript.format.id(), &own.surface);
        let is_unnamed = by_name(&own.surface).is_none()
            && own.working_copy.as_ref().is_some_and(|copy| Path::new(cwd).starts_with(&copy.root));
        // One that was begun before the conversation, or lives on without it, is of another.
        let during = own.started_at >= from && own.started_at <= to;
        let own_words = !FROM_TRANSCRIPT.contains(&own.last_verb.as_str());
        if (tool || is_unnamed)
            && during
            && own_words
            && own.location.machine == *machine
            && !registered_here(tx, &own)?
            && conversation::of_session(tx, project_id, &own.session_id)?.is_none()
        {
            if tool { found.push(own) } else { unnamed.push(own) }
        }
    }
    if found.is_empty() && !unnamed.is_empty() {
        return Ok(SessionMatch::Unclear(unnamed));
    }
    match found.pop() {
        Some(own) if is_alone && found.is_empty() => Ok(SessionMatch::Same(Box::new(own))),
        own => {
            found.extend(own);
            Ok(SessionMatch::Unclear(found))
        }
    }
}
