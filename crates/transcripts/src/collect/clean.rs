//! What text goes through before it leaves: no secrets, no home directory, no control characters, no excess.

use std::borrow::Cow;
use std::collections::BTreeMap;

use baton_redact::Redactor;

use crate::printable::printable;
use crate::shared::words::{clip, clip_front};

/// No more of an output is looked at; what is kept of it is far less.
const WINDOW: usize = 1024 * 1024;

/// Cleans text and counts what it redacted.
#[derive(Debug)]
pub(crate) struct Cleaner<'r> {
    redactor: Option<&'r Redactor>,
    home: Option<String>,
    /// Redactions by kind.
    pub counts: BTreeMap<&'static str, usize>,
}

impl<'r> Cleaner<'r> {
    /// A cleaner; without a redactor secrets stay.
    pub(crate) fn new(redactor: Option<&'r Redactor>, home: Option<&str>) -> Self {
        let home =
            home.map(|home| home.trim_end_matches(['/', '\\']).to_owned()).filter(|home| home.len() > 1);
        Self { redactor, home, counts: BTreeMap::new() }
    }

    /// All of a text. What is not printed goes first: colours within a name would hide a secret from the rules, and
    /// taking them out afterwards would show it.
    pub(crate) fn clean_text(&mut self, text: &str) -> String {
        let printable = printable(text);
        let redacted = match self.redactor {
            None => Cow::Borrowed(printable.as_str()),
            Some(redactor) => {
                let redacted = redactor.redact(&printable);
                redacted
                    .counts
                    .iter()
                    .for_each(|(kind, count)| *self.counts.entry(kind).or_insert(0) += count);
                redacted.text
            }
        };
        match &self.home {
            Some(home) => tilde(&redacted, home),
            None => redacted.into_owned(),
        }
    }

    /// At most `max` bytes of the beginning. Secrets go first, so that none is cut in two and missed.
    pub(crate) fn text(&mut self, text: &str, max: usize) -> String {
        clip(self.clean_text(text.trim()).trim(), max)
    }

    /// At most `max` bytes of the end, by whole lines.
    pub(crate) fn tail(&mut self, text: &str, max: usize) -> String {
        let window = text.len().saturating_sub(WINDOW);
        let from = memchr::memchr(b'\n', &text.as_bytes()[window..])
            .filter(|_| window > 0)
            .map_or(0, |at| window + at + 1);
        clip_front(self.clean_text(text[from..].trim_end()).trim_end(), max)
    }
}

/// The text with the home directory as `~`, where it stands as a path of its own or begins one.
fn tilde(text: &str, home: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in text.match_indices(home) {
        let rest = &text[at + home.len()..];
        let whole = !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if whole && at >= done {
            out.push_str(&text[done..at]);
            out.push('~');
            done = at + home.len();
        }
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_becomes_a_tilde_only_as_a_whole_path() {
        let mut cleaner = Cleaner::new(None, Some("/srv/you/"));
        assert_eq!(cleaner.clean_text("/srv/you/x /srv/youth /srv/you:"), "~/x /srv/youth ~:");
    }

    #[test]
    fn terminal_colours_and_control_characters_are_dropped() {
        assert_eq!(Cleaner::new(None, None).clean_text("\u{1b}[31mred\u{1b}[0m\u{0}\r\nb\u{7}"), "red\nb");
    }

    #[test]
    fn a_sequence_swallows_no_text() {
        for (text, wanted) in [
            ("\u{1b}[38;5;1m\u{1b}[Kred\u{1b}[m", "red"),
            ("\u{1b}[修复 words", "修复 words"),
            ("\u{1b}[12", ""),
            ("\u{1b}]8;;https://x.org\u{7}link\u{1b}]8;;\u{1b}\\ end", "link end"),
            ("\u{1b}]0;title that never ends\nwords", "]0;title that never ends\nwords"),
            ("\u{1b}", ""),
        ] {
            assert_eq!(Cleaner::new(None, None).clean_text(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, wanted) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("x\u{e0041}", "x\\u{e0041}"),
            ("👩\u{200d}💻 ❤\u{fe0f} می\u{200c}خواهم", "👩\u{200d}💻 ❤\u{fe0f} می\u{200c}خواهم"),
            ("pass\u{200d}word", "pass\\u{200d}word"),
        ] {
            assert_eq!(Cleaner::new(None, None).clean_text(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn colours_and_control_characters_hide_no_secret() {
        let redactor = Redactor::new();
        for text in ["DB_\u{1b}[01;31mPASSWORD\u{1b}[m=s3cret99", "DB_PASS\u{0}WORD=s3c\u{8}ret99"] {
            let out = Cleaner::new(Some(&redactor), None).clean_text(text);
            assert_eq!(out, "DB_PASSWORD=[redacted:password]");
        }
    }

    #[test]
    fn a_secret_across_the_cut_is_gone_before_the_cut() {
        let redactor = Redactor::new();
        let mut cleaner = Cleaner::new(Some(&redactor), None);
        let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8".repeat(3));
        let out = cleaner.text(&format!("token {secret} end"), 20);
        assert!(!out.contains("a1B2"), "{out}");
        assert_eq!(cleaner.counts.get("github-token"), Some(&1));
    }
}
