//! What people change about an issue itself: its title, body and labels.

use baton_model::handoff::Handoff;
use baton_model::issue::labels;
use baton_model::issue_conversation::{IssueText, MAX_TEXT_BYTES, body_changes, head};
use baton_model::saga::{Kind, Step};
use baton_store::{Failure, Tx, handoff_step, issue_text, task};

use super::details::HandoffDetails;
use super::tracker::TrackerEventInput;
use super::tracker_input::without_secrets;

/// The most labels that are kept, and the longest title and label, in bytes.
const MAX_LABELS: usize = 100;
const MAX_LINE_BYTES: usize = 1_024;

/// The last line of what people wrote into an issue's text, where that is more than is kept.
pub(super) const REST_ON_GITHUB: &str = "(shortened; the whole is on GitHub)";

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
    // Both without secrets: a line of ours that loses one here is no edit.
    let present = without_secrets(input.body.as_deref().unwrap_or_default());
    // Of one that was sent before this was kept, or by a request whose answer was lost, what is seen first is what was sent.
    let sent_body = before.sent_body.clone().unwrap_or_else(|| present.clone());
    let (added, body_removed) = body_changes(&sent_body, &present);
    let body_added = match head(&added, MAX_TEXT_BYTES) {
        whole if whole.len() == added.len() => added,
        start => format!("{start}\n{REST_ON_GITHUB}"),
    };
    let text = IssueText {
        title: Some(line(title)),
        labels,
        labels_ever,
        body_added,
        body_removed,
        sent_body: Some(sent_body),
        edited_by: before.edited_by.clone(),
        edited_at: before.edited_at,
        updated_at: at,
    };
    let text_is_theirs = !text.body_added.is_empty() || body_removed > 0;
    let before = IssueText { sent_body: text.sent_body.clone(), ..before };
    let is_same = text == IssueText { updated_at: at, ..before.clone() };
    if !is_same && is_being_edited(tx, known)? {
        return Ok(TextNews::HeldBack);
    }
    let (task_title, of_task) = task_words(tx, known)?;
    let text = match text.has_new_edits(&before, &task_title, &of_task) || before.title.is_none() {
        true => IssueText { edited_by: input.edited_by.clone(), edited_at: at, ..text },
        // A poll has seen the edit first and does not know whose it is: the event of that moment does.
        false if is_same && at == before.edited_at => {
            IssueText { edited_by: text.edited_by.or_else(|| input.edited_by.clone()), ..text }
        }
        // What brought this is Baton's, or is no edit: whose the edits are stays as it is.
        false => text,
    };
    issue_text::put(tx, &known.handoff_id, &text)?;
    let is_news = before.title.is_some() || text_is_theirs;
    Ok(if !is_same && is_news { TextNews::Changed } else { TextNews::None })
}

/// Keeps the text that is about to be sent: what another version would write, or the task says later, is not what people see. Where an
/// earlier request with another text may have arrived, what is seen first counts.
pub(super) fn note_sent(
    tx: &mut Tx<'_>,
    known: &Handoff,
    (body, is_unknown): (&str, bool),
) -> Result<(), Failure> {
    if known.issue_number.is_some() {
        return Ok(());
    }
    let before = issue_text::of(tx, &known.handoff_id)?.unwrap_or_default();
    let body = without_secrets(body);
    let sent_body = match is_unknown {
        true => before.sent_body.clone().filter(|earlier| *earlier == body),
        false => Some(body),
    };
    if sent_body == before.sent_body {
        return Ok(());
    }
    Ok(issue_text::put(tx, &known.handoff_id, &IssueText { sent_body, ..before })?)
}

/// Title and labels that the issue has of its task.
pub(super) fn task_words(tx: &mut Tx<'_>, known: &Handoff) -> Result<(String, Vec<String>), Failure> {
    let task = match &known.task_id {
        Some(id) => task::get(tx, &known.to_project_id, id)?,
        None => None,
    };
    let (title, labels) = match task {
        Some(task) => (task.title, labels(&task.labels, task.priority)),
        None => {
            let details = HandoffDetails::of(known);
            (known.subject.clone(), labels(&details.tags, details.priority))
        }
    };
    // What the issue has is compared without secrets.
    Ok((without_secrets(&title), labels.iter().map(|label| without_secrets(label)).collect()))
}

fn is_being_edited(tx: &mut Tx<'_>, known: &Handoff) -> Result<bool, Failure> {
    let steps = handoff_step::of(tx, &known.handoff_id)?;
    Ok(steps.iter().any(|step| step.kind == Kind::Edit && !Step::is_over(step)))
}
