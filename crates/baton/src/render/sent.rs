//! What the sender sees on the card: the hand-offs that the project sent, unread messages, and questions without an answer.

use baton_model::handoff::State;
use baton_model::id::visible;
use baton_model::shell::shell_word;
use baton_ops::card::{OpenQuestion, SentHandoff, Unread};

use super::{quotation, short_id, time_ago};

/// The hand-offs that the project sent, a line each; nothing where there are none.
pub(crate) fn section(sent: &[SentHandoff]) -> String {
    super::section("sent hand-offs", &sent.iter().map(row).collect::<Vec<_>>())
}

fn row(one: &SentHandoff) -> Vec<String> {
    vec![
        short_id(&one.handoff_id),
        one.state.as_str().to_owned(),
        one.subject.as_deref().map(quotation).unwrap_or_default(),
        format!("to {}", visible(one.receiver())),
        time_ago(one.age_since()),
        detail(one),
    ]
}

/// Who has it or ended it, why it stands where it stands, as which it was left anew, what came late, and the command that helps.
pub(crate) fn detail(one: &SentHandoff) -> String {
    let by = one.actor().map(|name| format!("by {}", visible(&name)));
    let why = one.why.as_deref().map(|why| match one.state {
        State::Completed | State::Declined => format!("\"{}\"", visible(why)),
        _ => visible(why),
    });
    let late = one.late.as_ref().map(|late| {
        let words = late.result.as_deref().map(|words| format!(": {}", quotation(words)));
        format!(
            "{} of {}{}",
            late.kind.label(),
            visible(&late.by_type.label(&late.by)),
            words.unwrap_or_default()
        )
    });
    let anew = one.replaced_by.as_deref().map(left_anew);
    let help = one.help.as_deref().map(|help| format!("`{help}`"));
    [by, why, anew, late, help].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// That a hand-off was left anew, and as which one.
pub(crate) fn left_anew(id: &str) -> String {
    format!("left anew as {}", short_id(id))
}

/// The unread messages of the caller, a line each.
pub(super) fn unread(unread: Option<&Unread>) -> String {
    let Some(unread) = unread else { return String::new() };
    let mut rows: Vec<Vec<String>> = unread
        .items
        .iter()
        .map(|one| {
            vec![
                visible(&one.kind),
                format!("from {}", visible(&one.from)),
                one.subject.as_deref().map(quotation).unwrap_or_default(),
                time_ago(one.created_at),
            ]
        })
        .collect();
    let more = unread.total.saturating_sub(unread.items.len());
    if more > 0 {
        rows.push(vec![format!("and {more} more")]);
    }
    let title =
        format!("unread for {}: {} (`baton mail inbox --bodies`)", visible(&unread.identity), unread.total);
    super::section(&title, &rows)
}

/// The unanswered questions, a line each, with how the caller answers.
pub(super) fn questions(open: &[OpenQuestion]) -> String {
    let row = |one: &OpenQuestion| {
        let id = short_id(&one.message_id);
        let (other, state) = match (one.is_own, one.is_read) {
            (true, Some(false)) => (format!("to {}", visible(&one.to)), "not read yet".to_owned()),
            (true, Some(true)) => (format!("to {}", visible(&one.to)), "read, not answered".to_owned()),
            (true, None) => (format!("to {}", visible(&one.to)), "not answered".to_owned()),
            (false, _) => {
                let to = shell_word(&one.to);
                let help = format!("`baton mail send --as {to} --reply-to {id} --text …` answers");
                (format!("from {}", visible(&one.from)), help)
            }
        };
        let about = one.subject.as_deref().map(quotation).unwrap_or_default();
        vec![id, visible(&one.kind), about, other, time_ago(one.created_at), state]
    };
    super::section("open questions", &open.iter().map(row).collect::<Vec<_>>())
}
