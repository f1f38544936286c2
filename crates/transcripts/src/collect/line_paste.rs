//! A file that was pasted into a terminal which sent each of its lines as a message of its own.

use super::{Collector, Sentence, SourceRef};

/// So many lines of code that follow each other as messages are pasted.
const MIN_LINES: usize = 5;
/// No user types them at this pace, in milliseconds for one, nor words at the other.
const MAX_GAP: i64 = 20_000;
const MAX_GAP_OF_WORDS: i64 = 3000;
/// A longer message is no line.
const MAX_LINE: usize = 2000;

/// The messages of the user that follow each other closely.
#[derive(Debug, Default)]
pub(super) struct LinePaste {
    /// Their places, from the first that looks like code.
    run: Vec<SourceRef>,
    /// How many of them look like code.
    code: usize,
    last_ms: Option<i64>,
    /// What was asked for before them.
    before: Option<Requests>,
    /// Whether the agent called something, and whether it spoke, between them.
    was_answered: bool,
    was_replied: bool,
    is_found: bool,
}

/// The requests as they stood.
#[derive(Debug, Clone)]
struct Requests {
    first: Option<Sentence>,
    last: Option<Sentence>,
    full: Option<Sentence>,
    again: Option<Sentence>,
}

impl Collector<'_> {
    /// Notes a message of the user; whether it is a line of what was pasted, which is told as a whole.
    pub(super) fn is_pasted_line(&mut self, text: &str, at: &SourceRef) -> bool {
        let now = self.last_ms;
        let is_code = looks_like_code(text);
        let gap = self.line_paste.last_ms.zip(now).map(|(before, now)| now - before);
        if !gap.is_some_and(|gap| (0..=MAX_GAP).contains(&gap)) {
            self.line_paste = LinePaste::default();
        }
        self.line_paste.last_ms = now;
        if self.line_paste.run.is_empty() {
            if !is_code || now.is_none() {
                return false;
            }
            self.line_paste.before = Some(Requests {
                first: self.first_request.clone(),
                last: self.last_request.clone(),
                full: self.full_request.clone(),
                again: self.request_before.clone(),
            });
        }
        let paste = &mut self.line_paste;
        if !paste.run.is_empty() {
            paste.was_answered |= self.answered;
            paste.was_replied |= self.replied;
        }
        paste.run.push(at.clone());
        paste.code += usize::from(is_code);
        paste.is_found |= paste.code >= MIN_LINES && paste.code * 3 >= paste.run.len() * 2;
        // Words that took longer to come may be the user's, unless more of the file follows.
        let may_be_typed = !is_code && gap.is_some_and(|gap| gap > MAX_GAP_OF_WORDS);
        let is_first = paste.before.as_ref().is_none_or(|before| before.last.is_none());
        if !paste.is_found || may_be_typed || is_first {
            return false;
        }
        self.tell_paste(at);
        true
    }

    /// Puts the requests back as they were before the first line, and says with the last of them what was pasted.
    fn tell_paste(&mut self, at: &SourceRef) {
        let run = self.line_paste.run.clone();
        let Some(before) = self.line_paste.before.clone() else { return };
        run.iter().for_each(|line| self.forget_message(line));
        (self.first_request, self.full_request, self.request_before) =
            (before.first, before.full, before.again);
        let note = format!(
            " — then a text was pasted that came in as {} messages, a line each (#{}–#{})",
            run.len(),
            run.first().map_or(0, |first| first.line),
            at.line
        );
        self.last_request = before.last.map(|last| Sentence { text: last.text + &note, at: last.at });
        self.go_on = None;
        // What the agent does between two lines answers the request before them.
        self.spoke_at = run.first().map_or(at.line, |first| first.line);
        let paste = &self.line_paste;
        (self.answered, self.replied) = (paste.was_answered, paste.was_replied);
        (self.interrupted, self.at_work) = (None, None);
    }
}

/// Whether a message looks like a line of a program.
fn looks_like_code(text: &str) -> bool {
    const STARTS: &[&str] =
        &["import ", "from ", "#", "//", "@", "def ", "class ", "const ", "\"\"\"", "self."];
    const MARKS: &[&str] = &[" = ", "()", "(\"", "('", "self.", "==", "+=", "->", "=>", "{", "}", ";"];
    let line = text.trim();
    let is_line = !line.is_empty() && line.len() <= MAX_LINE && !line.ends_with('?');
    is_line
        && (!line.contains(char::is_alphabetic) && !line.contains(char::is_numeric)
            || matches!(line, "return" | "else:" | "try:" | "pass" | "break" | "continue")
            || STARTS.iter().any(|start| line.starts_with(start))
            || MARKS.iter().any(|mark| line.contains(mark))
            || line.ends_with([':', '(', ',']))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use baton_packet::markdown;
    use baton_packet::packet::Text;

    use super::super::{Options, Packet};
    use super::*;
    use crate::event::{Event, EventKind, SourcePosition};
    use crate::report::Report;

    const ASKED: &str = "improve gui.py and mend the error in line 326 of it please";
    const FILE: &[&str] = &[
        "import sys",
        "src_dir = script_dir / \"src\"",
        "if str(src_dir) not in sys.path:",
        "# Create a notebook",
        "self.frame = ttk.Frame(self.notebook)",
        "Populate the list when it starts",
        "\"\"\"",
        "return",
        "# Get the name of the selected configuration",
    ];

    fn summary(messages: &[(i64, &'static str)]) -> Packet {
        let options = Options::default();
        let mut collector = Collector::new(&options, None);
        let mut send = |line: u64, at_ms: i64, what: EventKind<'static>| {
            let position = SourcePosition { line, offset: 0 };
            collector.event(&Event { position, at_ms: Some(at_ms), subagent: None, what });
        };
        send(1, 0, EventKind::User(ASKED.into()));
        send(2, 10, EventKind::Assistant("Let me look at it.".into()));
        for (line, (at_ms, text)) in (3..).zip(messages) {
            send(line, 100_000 + at_ms, EventKind::User((*text).into()));
        }
        collector.finish("crush", Path::new("x.jsonl"), Report::default())
    }

    fn every(gap: i64) -> Vec<(i64, &'static str)> {
        (1..).map(|at| at * gap).zip(FILE.iter().copied()).collect()
    }

    fn last_request(messages: &[(i64, &'static str)]) -> Text {
        summary(messages).requests.and_then(|requests| requests.last).expect("a request")
    }

    #[test]
    fn a_file_that_came_in_line_by_line_is_one_paste() {
        let packet = summary(&every(1000));
        assert!(packet.recent_messages.iter().all(|turn| !turn.text.contains("src_dir")), "{packet:#?}");
        let last = last_request(&every(1000));
        let note = " — then a text was pasted that came in as 9 messages, a line each (#3–#11)";
        assert_eq!((last.text, last.at.as_deref()), (format!("{ASKED}{note}"), Some("crush:x#1")));
        let slow = every(1000).into_iter().enumerate().map(|(at, (ms, text))| match at {
            0..5 => (ms, text),
            _ => (ms + 7000, text),
        });
        let slow: Vec<(i64, &'static str)> = slow.collect();
        assert_eq!(last_request(&slow).text, format!("{ASKED}{note}"), "words in the middle of it");
        assert!(!last_request(&every(60_000)).text.contains("pasted"));
    }

    #[test]
    fn what_the_agent_says_between_the_lines_is_its_answer() {
        for spoken_after in [3, 7, 8] {
            let options = Options::default();
            let mut collector = Collector::new(&options, None);
            let mut line = 0;
            let mut send = |at_ms: i64, what: EventKind<'static>| {
                line += 1;
                let position = SourcePosition { line, offset: 0 };
                collector.event(&Event { position, at_ms: Some(at_ms), subagent: None, what });
            };
            send(0, EventKind::User(ASKED.into()));
            send(10, EventKind::Assistant("Let me look at it.".into()));
            for (n, text) in FILE.iter().enumerate() {
                send(100_000 + 1000 * n as i64, EventKind::User((*text).into()));
                if n == spoken_after {
                    let answer = "The bracket in line 326 is never closed; I mend it there.";
                    send(100_500 + 1000 * n as i64, EventKind::Assistant(answer.into()));
                }
            }
            let packet = collector.finish("crush", Path::new("x.jsonl"), Report::default());
            let document = markdown::render(&packet, &markdown::Options::default()).text;
            assert!(document.contains("never closed"), "{spoken_after}: {document}");
            let is_before =
                ["nothing was said", "before that request"].iter().any(|words| document.contains(words));
            assert!(!is_before, "{spoken_after}: {document}");
        }
    }

    #[test]
    fn words_after_a_paste_are_the_users() {
        let mut messages = every(1000);
        messages.push((9000 + 8000, "now mend what you see there"));
        assert_eq!(last_request(&messages).text, "now mend what you see there");
    }
}
