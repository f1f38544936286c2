//! What the user wanted to keep and had removed later is told with the words that took it back.

use super::{Collector, Sentence, SourceRef, prose};
use crate::shared::words::one_line;

/// So much is told of the words that took something back, in characters.
const MAX_WORDS: usize = 80;
/// A longer text is no sentence that wants to keep one thing.
const MAX_SENTENCE: usize = 600;

/// A message of the user that has something removed.
#[derive(Debug)]
pub(super) struct Removal {
    /// The words for what is removed.
    named: Vec<String>,
    words: Sentence,
}

impl Collector<'_> {
    /// Notes what a message of the user has removed.
    pub(super) fn note_removal(&mut self, text: &str, at: &SourceRef) {
        let named = prose::removed_objects(&prose::typed(text));
        if !named.is_empty() {
            let text = one_line(prose::removal(text).unwrap_or(text), MAX_WORDS);
            self.removals.push(Removal { named, words: Sentence { text, at: at.clone() } });
        }
    }

    /// Words that were said on this line; at most `max` characters of them where the user took them back since, with the words by
    /// which he did.
    pub(super) fn with_removal(&self, text: &str, line: u64, max: usize) -> String {
        let objects = if text.len() <= MAX_SENTENCE { prose::kept_objects(text) } else { Vec::new() };
        let removes = |removal: &&Removal| {
            removal.words.at.line > line && removal.named.iter().any(|name| objects.contains(name))
        };
        match self.removals.iter().rev().find(removes).map(|removal| &removal.words) {
            Some(words) => {
                format!("{} — but then (#{}), the user: “{}”", one_line(text, max), words.at.line, words.text)
            }
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SessionScript, texts};
    use crate::event::EventKind;

    #[test]
    fn a_wish_that_was_taken_back_is_told_with_what_took_it_back() {
        let later = "after that, remove the old parser (lexer.rs, parser.rs), nothing else";
        let script = SessionScript::new()
            .user("Rewrite it. You must keep the old parser in place.")
            .edit("a", "new.rs")
            .agent("Done.")
            .add(EventKind::Compaction(
                "Preferences:\n- Keep the old parser beside the new one\n- Never skip tests".into(),
            ))
            .user(later)
            .edit("b", "lib.rs")
            .agent("Removed.");
        let packet = script.summary();
        let suffix =
            " — but then (#6), the user: “remove the old parser (lexer.rs, parser.rs), nothing else”";
        assert_eq!(texts(&packet.constraints), [format!("You must keep the old parser in place.{suffix}")]);
        let summary = packet.metadata["compaction"]["summary"].as_str().expect("a summary").to_owned();
        assert!(summary.contains(&format!("- Keep the old parser beside the new one{suffix}")), "{summary}");
        assert!(summary.contains("- Never skip tests"), "{summary}");
    }

    #[test]
    fn what_was_removed_before_or_is_something_else_takes_nothing_back() {
        let constraints = |first: &'static str, second: &'static str| {
            let script = SessionScript::new().user(first).edit("a", "new.rs").agent("Done.").user(second);
            texts(&script.edit("b", "b.rs").agent("Done.").summary().constraints).join("\n")
        };
        let keep = "You must keep the old parser in place.";
        assert_eq!(constraints(keep, "remove the debug output please"), keep);
        assert_eq!(constraints("remove the old parser", keep), keep);
    }
}
