//! A session in pieces of a few kilobytes, each with the words to find it by and the text to show of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::words::words;
use crate::collect::clean::Cleaner;
use crate::event::{Call, Edit, Event, EventKind, Outcome};
use crate::folders;
use crate::format::by_id;
use crate::header::TranscriptFile;
use crate::shared::diff::MAX_DIFF;
use crate::shared::words::clip_unclean;

/// A passage is closed when its text is this long.
const PASSAGE_BYTES: usize = 8 * 1024;
/// No more of a single message or output is searched: half from its beginning, half from its end.
const MAX_SEARCHED_BYTES: usize = 1024 * 1024;
/// How much of the piece before is among the words of the next one, so that a phrase across the cut is found.
const OVERLAP: usize = 160;
/// Separator between entries, which no query can contain: a phrase never matches across two entries.
const BETWEEN: &str = " \u{e000} ";
/// Begins an entry in the packed text. Cleaned text has no control characters.
const MARK: char = '\u{1}';

/// A piece of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passage {
    /// The words by which it is found.
    pub words: String,
    /// What [`entries`] reads: its entries, packed.
    pub packed: Vec<u8>,
    /// Hash of the passage, to detect a change. The same text gives the same hash in every version.
    pub mark: i64,
}

/// A message, call or result in a passage, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its line in the transcript, see [`crate::event::SourcePosition`].
    pub line: u64,
    /// `user`, `assistant`, `thinking`, `call`, `result`, `summary` or `plan`.
    pub role: String,
    /// Its text.
    pub text: String,
}

/// Gives out the passages of a session, in order, with secrets taken out and the home directory as `~`. Returns the working
/// directories that its entries name.
pub fn passages(found: &TranscriptFile, home: Option<&str>, sink: &mut dyn FnMut(Passage)) -> Vec<String> {
    let Some(format) = by_id(found.agent) else { return Vec::new() };
    let mut named = BTreeSet::new();
    let mut cleaner = Cleaner::new(Some(baton_redact::shared()), home);
    let mut builder = Builder { sink, text: String::new(), words: String::new() };
    format.read_session(&found.path, found.key.as_deref(), &mut |event| {
        folders::take(event, &mut named);
        if let Some((role, text)) = message_text(event) {
            builder.entry(event.position.line, role, &bounded(cleaner.clean_text(&text)));
        }
    });
    builder.close();
    named.into_iter().collect()
}

/// The entries of a passage; none of one that is damaged.
pub fn entries(packed: &[u8]) -> Vec<Entry> {
    let text = zstd::bulk::decompress(packed, 16 * PASSAGE_BYTES).unwrap_or_default();
    let text = String::from_utf8(text).unwrap_or_default();
    let entry = |part: &str| {
        let (head, text) = part.split_once('\n')?;
        let (line, role) = head.split_once(' ')?;
        Some(Entry { line: line.parse().ok()?, role: role.to_owned(), text: text.to_owned() })
    };
    text.split(MARK).filter_map(entry).collect()
}

struct Builder<'s> {
    sink: &'s mut dyn FnMut(Passage),
    text: String,
    words: String,
}

impl Builder<'_> {
    fn entry(&mut self, line: u64, role: &str, text: &str) {
        let (mut rest, mut before) = (text.trim(), "");
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(cut(rest, PASSAGE_BYTES));
            let _ = writeln!(self.text, "{MARK}{line} {role}");
            self.text.push_str(piece);
            self.words.push_str(&words(&format!("{} {piece}", last(before, OVERLAP))));
            self.words.push_str(BETWEEN);
            (before, rest) = (piece, after);
            if self.text.len() >= PASSAGE_BYTES {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        // Compression cannot fail on a text in memory; a passage that it did fail on is found, and shows nothing.
        let packed = zstd::bulk::compress(text.as_bytes(), 3).unwrap_or_default();
        (self.sink)(Passage { words: std::mem::take(&mut self.words), packed, mark: mark(&text) });
    }
}

/// Where a text is cut so that the first part has at most `max` bytes: after a line, else after a word, else anywhere.
fn cut(text: &str, max: usize) -> usize {
    if text.len() <= max {
        return text.len();
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let at = |c: char| text[..end].rfind(c).map(|at| at + 1).filter(|at| *at > max / 2);
    at('\n').or_else(|| at(' ')).unwrap_or(end)
}

fn last(text: &str, max: usize) -> &str {
    let from = (text.len().saturating_sub(max)..=text.len()).find(|at| text.is_char_boundary(*at));
    &text[from.unwrap_or(0)..]
}

/// FNV-1a: the same in every version of everything.
fn mark(text: &str) -> i64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    i64::from_ne_bytes(hash.to_ne_bytes())
}

fn message_text(event: &Event<'_>) -> Option<(&'static str, String)> {
    Some(match &event.what {
        EventKind::User(text) => ("user", text.to_string()),
        EventKind::Assistant(text) => ("assistant", text.to_string()),
        EventKind::Thinking(text) => ("thinking", text.to_string()),
        EventKind::Compaction(text) => ("summary", text.to_string()),
        EventKind::ProviderError(text) => ("error", text.to_string()),
        EventKind::Call(call) => ("call", called(call)),
        EventKind::Outcome(outcome) => ("result", outcome_text(outcome)),
        EventKind::Plan(items) => {
            ("plan", items.iter().map(|item| format!("{}: {}\n", item.status, item.title)).collect())
        }
        EventKind::Session(_) | EventKind::Usage(_) | EventKind::Interrupted | EventKind::Steering => {
            return None;
        }
    })
}

fn called(call: &Call<'_>) -> String {
    let mut text = format!("{} {}", call.name, call.target);
    // What is written into a file stands in the change of it.
    if let Some(plan) = call.proposal.as_deref().filter(|_| call.edits.is_empty()) {
        let _ = write!(text, "\n{plan}");
    }
    changes(&mut text, &call.edits);
    text
}

fn outcome_text(outcome: &Outcome<'_>) -> String {
    let mut text = match outcome.exit_code {
        Some(code) if code != 0 => format!("exit {code}\n"),
        _ => String::new(),
    };
    text.push_str(&outcome.output);
    changes(&mut text, &outcome.edits);
    text
}

fn changes(text: &mut String, edits: &[Edit]) {
    for edit in edits {
        let diff = clip_unclean(edit.diff.as_deref().unwrap_or_default(), MAX_DIFF);
        let _ = write!(text, "\n{}\n{diff}", edit.path);
    }
}

fn bounded(text: String) -> String {
    if text.len() <= MAX_SEARCHED_BYTES {
        return text;
    }
    let begin = (0..=MAX_SEARCHED_BYTES / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n… {}", &text[..begin], last(&text, MAX_SEARCHED_BYTES / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(texts: &[(u64, &str)]) -> Vec<Passage> {
        let mut all = Vec::new();
        let mut sink = |passage| all.push(passage);
        let mut builder = Builder { sink: &mut sink, text: String::new(), words: String::new() };
        texts.iter().for_each(|(line, text)| builder.entry(*line, "user", text));
        builder.close();
        all
    }

    #[test]
    fn entries_come_back_as_they_went_in() {
        let all = built(&[(3, "first\nline"), (9, "修复 🎉"), (12, "  ")]);
        assert_eq!(all.len(), 1);
        let entry = |line, text: &str| Entry { line, role: "user".to_owned(), text: text.to_owned() };
        assert_eq!(entries(&all[0].packed), [entry(3, "first\nline"), entry(9, "修复 🎉")]);
        assert_eq!(all[0].words, "first line \u{e000} 修 复 🎉 \u{e000} ");
        assert_eq!(entries(b"no passage"), []);
    }

    #[test]
    fn a_long_text_is_cut_between_words_and_a_phrase_across_the_cut_is_found() {
        let text = (0..5_000).map(|n| format!("word{n} ")).collect::<String>();
        let all = built(&[(1, &text)]);
        assert!(all.len() > 3 && all.iter().all(|p| p.words.len() < 2 * PASSAGE_BYTES), "{}", all.len());
        for pair in all.windows(2) {
            let end = entries(&pair[0].packed).pop().map(|entry| entry.text).unwrap_or_default();
            let last = end.split_whitespace().last().unwrap_or_default().to_owned();
            let next = format!("{last} word{}", last[4..].parse::<u64>().unwrap() + 1);
            assert!(pair[1].words.contains(&next), "{next}");
        }
        let whole: String = all.iter().flat_map(|p| entries(&p.packed)).map(|entry| entry.text).collect();
        assert_eq!(whole, text.trim());
    }

    #[test]
    fn text_without_any_space_is_cut_at_a_character() {
        let text = "é".repeat(20_000);
        let whole: String =
            built(&[(1, &text)]).iter().flat_map(|p| entries(&p.packed)).map(|entry| entry.text).collect();
        assert_eq!(whole, text);
    }

    #[test]
    fn what_was_appended_changes_no_earlier_passage() {
        let text = "some words of a message\n".repeat(200);
        let short: Vec<(u64, &str)> = (1..20).map(|line| (line, text.as_str())).collect();
        let long: Vec<(u64, &str)> = (1..25).map(|line| (line, text.as_str())).collect();
        let (short, long) = (built(&short), built(&long));
        assert_eq!(short[..short.len() - 1], long[..short.len() - 1]);
    }

    #[test]
    fn of_a_giant_both_ends_are_searched() {
        let giant = bounded(format!("begin {} end", "x ".repeat(MAX_SEARCHED_BYTES)));
        assert!(
            giant.len() <= MAX_SEARCHED_BYTES + 10 && giant.starts_with("begin") && giant.ends_with("end")
        );
    }
}
