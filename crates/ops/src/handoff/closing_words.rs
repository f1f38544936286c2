//! The words of a person who closed the issue of a hand-off that had ended here before Baton saw the close: a late result, read once.

use baton_model::actor::Actor;
use baton_model::handoff::{Handoff, LateWords, State};
use baton_model::issue::IssueAnswer;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, handoff};

use super::details::{HandoffDetails, IssueClose, SeenIssue};
use super::{edit, late_words};
use crate::op::Env;

/// Whether the words of the person who closed an issue are to be asked for, though its hand-off has ended and its task is closed.
pub fn awaits_closing_words(
    tx: &mut Tx<'_>,
    known: &Handoff,
    closed_at: Option<Millis>,
) -> Result<bool, Failure> {
    Ok(is_over(known.state) && is_foreign_unread_close(known, closed_at) && edit::is_settled(tx, known)?)
}

/// Whether a hand-off that has ended waits for its own step at the issue, whose answer tells who has closed it.
pub(super) fn is_held_back(tx: &mut Tx<'_>, known: &Handoff, is_open: bool) -> Result<bool, Failure> {
    Ok(!is_open && is_over(known.state) && !edit::is_settled(tx, known)?)
}

/// Keeps the words of a close that was not Baton's own as a late result. Returns whether there were any.
pub(super) fn keep(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &mut Handoff,
    closed_at: Option<Millis>,
    (by, kind, words): (Actor<'_>, LateWords, &str),
) -> Result<bool, Failure> {
    if !awaits_closing_words(tx, known, closed_at)? {
        return Ok(false);
    }
    late_words::keep(tx, env, known, by, (kind, words))?;
    *known = handoff::get(tx, &known.handoff_id)?.unwrap_or_else(|| known.clone());
    Ok(true)
}

/// Notes that the words of this close were read.
pub(super) fn note_read(tx: &mut Tx<'_>, known: &mut Handoff, closed_at: Millis) -> Result<(), Failure> {
    let mut details = HandoffDetails::of(known);
    if details.words_read_of.replace(closed_at) == Some(closed_at) {
        return Ok(());
    }
    known.plan = details.to_text();
    Ok(handoff::put(tx, known)?)
}

/// Notes what the answer to a change of our own says of the issue. What is seen of it later is compared with that.
pub(super) fn note_answer(known: &mut Handoff, answer: &IssueAnswer) {
    let mut details = HandoffDetails::of(known);
    details.issue_close = answer.closed_at.map(|at| IssueClose { at, is_own: answer.is_own_close });
    let seen = SeenIssue { at: answer.updated_at, is_open: answer.closed_at.is_none() };
    if is_over(known.state) && details.issue_seen.as_ref().is_none_or(|before| before.at <= seen.at) {
        details.issue_seen = Some(seen);
    }
    known.plan = details.to_text();
}

fn is_over(state: State) -> bool {
    matches!(state, State::Completed | State::Declined | State::Cancelled | State::Expired)
}

/// Whether a close is not the one that Baton made, and was not read yet. Without an answer to a change of our own it is not known whose
/// it is.
fn is_foreign_unread_close(known: &Handoff, closed_at: Option<Millis>) -> bool {
    let details = HandoffDetails::of(known);
    let (Some(at), Some(close)) = (closed_at, details.issue_close) else { return false };
    (at != close.at || !close.is_own) && details.words_read_of != Some(at)
}
