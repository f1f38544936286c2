//! What a pickup shows of the work of sessions that never wrapped: another agent's words, shown as such.

use baton_model::delta::{Kind, Row};
use baton_model::id::visible;
use baton_ops::session::{HolderQuestion, Recovered};

use super::message::beginning;
use crate::render;

/// The most entries that are shown beside the last checkpoint, the newest of them.
const MAX_ENTRIES: usize = 20;

/// The last summary and state that were saved, the other words that were left, and how all of it is read. Nothing, where nothing was
/// saved or said.
pub(super) fn recovered_text(recovered: &Recovered) -> String {
    if !recovered.deltas.iter().any(is_left) {
        return questions_text(&recovered.questions);
    }
    let mut text = format!("recovered from {}, which never wrapped:\n", holders(recovered));
    let mut has_more = false;
    match recovered.summary() {
        Some(summary) => text.push_str(&part(summary, &mut has_more)),
        None if recovered.last_checkpoint.is_some() => {
            text.push_str("it saved its state, without a summary\n");
        }
        None => {}
    }
    if let Some(state) = recovered.state() {
        text.push_str(&format!("its state:\n{}", part(&format!("{state:#}"), &mut has_more)));
    }
    // Several sessions may have left something: none hides the words of another.
    for (row, summary) in recovered.summaries().into_iter().skip(1) {
        text.push_str(&format!(
            "checkpoint of {}:\n{}",
            visible(&row.identity),
            part(summary, &mut has_more)
        ));
    }
    let entries: Vec<(&Row, String)> =
        recovered.deltas.iter().filter_map(|row| Some((row, entry_text(row)?))).collect();
    let first = entries.len().saturating_sub(MAX_ENTRIES);
    has_more |= first > 0 || checkpoints(recovered) > 1;
    for (row, words) in &entries[first..] {
        let head = format!("{} of {}:\n", row.kind.as_str(), visible(&row.identity));
        text.push_str(&(head + &part(words, &mut has_more)));
    }
    if has_more {
        let commands: Vec<String> =
            ids(recovered).iter().map(|id| format!("baton handoff from-session {id} --json")).collect();
        text.push_str(&format!("  … there is more: {}\n", commands.join("; ")));
    }
    text + &questions_text(&recovered.questions)
}

/// What those sessions had asked, with the answers: the mail of their names does not come here.
fn questions_text(questions: &[HolderQuestion]) -> String {
    let mut text = String::new();
    for one in questions {
        let (from, to) = (visible(&one.from), visible(&one.to));
        let words = one.body.as_deref().filter(|body| *body != one.subject);
        let words =
            words.map(|body| format!("{}\n{body}", one.subject)).unwrap_or_else(|| one.subject.clone());
        text.push_str(&format!("{from} had asked {to}:\n{}", render::quoted(&words)));
        for answer in &one.answers {
            let body = answer.body.as_deref().unwrap_or("encrypted for others");
            text.push_str(&format!("{} answered:\n{}", visible(&answer.from), render::quoted(body)));
        }
        if one.answers.is_empty() {
            text.push_str("  not answered yet; the answer goes to the one who asked\n");
        }
    }
    text
}

/// Whether an entry is something that was saved or said.
fn is_left(row: &Row) -> bool {
    row.kind == Kind::Checkpoint || entry_text(row).is_some()
}

/// The sessions that saved or said something; the one that is meant where no entry says which.
fn ids(recovered: &Recovered) -> Vec<String> {
    let has_left = |id: &&String| {
        recovered.deltas.iter().any(|row| row.session_id.as_ref() == Some(*id) && is_left(row))
    };
    let ids: Vec<String> = recovered.sessions.iter().filter(has_left).map(|id| visible(id)).collect();
    if ids.is_empty() { vec![visible(&recovered.session)] } else { ids }
}

/// In words.
fn holders(recovered: &Recovered) -> String {
    match ids(recovered).as_slice() {
        [one] => format!("session {one}"),
        several => format!("sessions {}", several.join(", ")),
    }
}

/// What an entry says, unless it is shown elsewhere or tells only that something happened.
fn entry_text(row: &Row) -> Option<String> {
    let is_word =
        [Kind::Note, Kind::Decision, Kind::Remember, Kind::Research, Kind::Methodology].contains(&row.kind);
    if is_word { row.full_text() } else { None }
}

fn checkpoints(recovered: &Recovered) -> usize {
    recovered.deltas.iter().filter(|row| row.kind == Kind::Checkpoint).count()
}

/// The beginning of a text, quoted, and whether that is not all of it.
fn part(text: &str, has_more: &mut bool) -> String {
    let shown = beginning(text);
    *has_more |= shown.len() < text.trim_end().len();
    render::quoted(&shown)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn row(seq: i64, kind: Kind, body: &Value) -> Value {
        let session = if seq < 3 { "s1" } else { "s2" };
        json!({ "seq": seq, "delta_id": format!("d{seq}"), "kind": kind, "project_id": "p", "session_id": session, "identity": "Donna",
            "created_at": "2026-11-20T10:00:00.000Z", "body": body })
    }

    fn shown(sessions: &[&str], deltas: Vec<Value>) -> String {
        let last = deltas.iter().rev().find(|row| row["kind"] == "checkpoint").cloned();
        let recovered = json!({ "session": sessions.last(), "sessions": sessions, "note": "n", "last_checkpoint": last, "deltas": deltas });
        recovered_text(&serde_json::from_value(recovered).expect("what was recovered"))
    }

    #[test]
    fn the_last_state_and_every_note_are_shown_and_the_way_to_the_rest() {
        let text = shown(
            &["s1", "s2"],
            vec![
                row(1, Kind::Pickup, &json!({})),
                row(2, Kind::Checkpoint, &json!({ "summary": "half", "state": { "at": 2 } })),
                row(3, Kind::Decision, &json!({ "what": "use jiff", "why": "no clock" })),
                row(4, Kind::Note, &json!({ "text": "ask Tom" })),
                row(5, Kind::Checkpoint, &json!({ "summary": null, "state": { "at": 3 } })),
            ],
        );
        assert_eq!(
            text,
            "recovered from sessions s1, s2, which never wrapped:\n  │ half\nits state:\n  │ {\n  │   \"at\": 3\n  │ }\n\
             decision of Donna:\n  │ use jiff (no clock)\nnote of Donna:\n  │ ask Tom\n\
             \u{20} … there is more: baton handoff from-session s1 --json; baton handoff from-session s2 --json\n"
        );
    }

    #[test]
    fn the_last_words_of_each_session_are_shown() {
        let saved = |seq, summary: &str| row(seq, Kind::Checkpoint, &json!({ "summary": summary }));
        let text =
            shown(&["s1", "s2"], vec![saved(1, "older"), saved(2, "the lexer"), saved(3, "the parser")]);
        assert!(text.contains("│ the parser\ncheckpoint of Donna:\n  │ the lexer\n"), "{text}");
        assert!(text.contains("from-session s1 --json; baton handoff from-session s2 --json"), "{text}");
        assert!(!text.contains("older"), "{text}");
    }

    #[test]
    fn sessions_that_left_nothing_are_not_named() {
        let began = vec![row(1, Kind::Pickup, &json!({})), row(3, Kind::Pickup, &json!({}))];
        assert_eq!(shown(&["s1", "s2"], began), "");
        let text = shown(
            &["s1", "s2"],
            vec![row(1, Kind::Note, &json!({ "text": "ask Tom" })), row(3, Kind::Pickup, &json!({}))],
        );
        assert_eq!(text, "recovered from session s1, which never wrapped:\nnote of Donna:\n  │ ask Tom\n");
    }

    #[test]
    fn what_is_long_or_much_is_cut_and_says_so() {
        let long = "x".repeat(9_000);
        let text = shown(&["s"], vec![row(1, Kind::Checkpoint, &json!({ "summary": long }))]);
        assert!(text.len() < 5_000 && text.contains("there is more"), "{}", text.len());
        let notes = (0..25).map(|n| row(n, Kind::Note, &json!({ "text": format!("note{n};") }))).collect();
        let text = shown(&["s"], notes);
        assert!(!text.contains("note4;") && text.contains("note5;") && text.contains("note24;"), "{text}");
        assert!(text.contains("there is more"), "{text}");
        let text = shown(&["s"], vec![row(1, Kind::Note, &json!({ "text": "one" }))]);
        assert!(!text.contains("there is more"), "{text}");
    }
}
