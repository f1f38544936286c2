//! What people change about an issue itself: its title, body and labels.

use baton_model::handoff::Handoff;
use baton_model::issue_conversation::{IssueText, MAX_TEXT_BYTES, body_changes, head};
use baton_model::saga::{Kind, Step};
use baton_store::{Failure, Tx, handoff_step, issue_text};

use super::steps::{draft, draft_of_task};
use super::tracker::TrackerEventInput;
use super::tracker_comments::without_secrets;

/// The most labels that are kept, and the longest title and label, in bytes.
const MAX_LABELS: usize = 100;
const MAX_LINE_BYTES: usize = 1_024;

/// What became of the text of an issue that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextNews {
    /// It was known so.
    None,
    /// It differs from what was seen before.
    Changed,
    /// A change of Baton's own is on its way to the issue: it is to be looked at again.
    HeldBack,
}

/// Notes how an issue stands, unless a newer state of it was seen.
pub(super) fn note(tx: &mut Tx<'_>, known: &Handoff, input: &TrackerEventInput) -> Result<TextNews, Failure> {
    let (Some(title), Some(at)) = (&input.title, input.updated_at) else { return Ok(TextNews::None) };
    let before = issue_text::of(tx, &known.handoff_id)?;
    let seen_before = before.as_ref().filter(|before| before.title.is_some());
    if seen_before.is_some_and(|before| at < before.updated_at) {
        return Ok(TextNews::None);
    }
    let line = |text: &String| head(&without_secrets(text), MAX_LINE_BYTES).to_owned();
    let labels: Vec<String> = input.labels.iter().take(MAX_LABELS).map(line).collect();
    let before = before.unwrap_or_default();
    let mut labels_ever = before.labels_ever.clone();
    labels_ever.extend(labels.iter().filter(|label| !before.labels_ever.contains(label)).cloned());
    labels_ever.truncate(2 * MAX_LABELS);
    let present = input.body.as_deref().unwrap_or_default();
    let sent_body = match &before.sent_body {
        Some(sent) => Some(sent.clone()),
        // One that was published before this was kept: what is seen first is what was sent.
        None if is_published(tx, known)? => Some(present.to_owned()),
        None => None,
    };
    let ours = match &sent_body {
        Some(sent) => sent.clone(),
        // A packet that cannot be written out any more is compared with nothing.
        None => draft(known).map_or_else(|_| present.to_owned(), |draft| draft.body),
    };
    let (added, body_removed) = body_changes(&ours, present);
    let added = without_secrets(&added);
    let body_added = match head(&added, MAX_TEXT_BYTES) {
        whole if whole.len() == added.len() => added,
        start => format!("{start}\n(shortened; the whole is on GitHub)"),
    };
    let text = IssueText {
        title: Some(line(title)),
        labels,
        labels_ever,
        body_added,
        body_removed,
        sent_body,
        edited_by: before.edited_by.clone(),
        updated_at: at,
    };
    let text_is_theirs = !text.body_added.is_empty() || body_removed > 0;
    let without_time = |text: &IssueText| IssueText { updated_at: 0, ..text.clone() };
    let is_same = without_time(&text) == without_time(&before);
    if !is_same && is_being_edited(tx, known)? {
        return Ok(TextNews::HeldBack);
    }
    let edited_by = if is_same { text.edited_by } else { input.edited_by.clone() };
    issue_text::put(tx, &known.handoff_id, &IssueText { edited_by, ..text })?;
    let is_news = before.title.is_some() || text_is_theirs;
    Ok(if !is_same && is_news { TextNews::Changed } else { TextNews::None })
}

/// Notes what a task was published with: it may change here without its issue.
pub(super) fn note_published(tx: &mut Tx<'_>, known: &Handoff) -> Result<(), Failure> {
    let sent_body = Some(draft_of_task(tx, known)?.body);
    let before = issue_text::of(tx, &known.handoff_id)?.unwrap_or_default();
    Ok(issue_text::put(tx, &known.handoff_id, &IssueText { sent_body, ..before })?)
}

fn is_published(tx: &mut Tx<'_>, known: &Handoff) -> Result<bool, Failure> {
    Ok(handoff_step::of(tx, &known.handoff_id)?.iter().any(|step| step.kind == Kind::Publish))
}

fn is_being_edited(tx: &mut Tx<'_>, known: &Handoff) -> Result<bool, Failure> {
    let steps = handoff_step::of(tx, &known.handoff_id)?;
    Ok(steps.iter().any(|step| step.kind == Kind::Edit && !Step::is_over(step)))
}
