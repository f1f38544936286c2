//! What text goes through before it leaves: no secrets, no home directory, no control characters, no excess.

use std::borrow::Cow;
use std::collections::BTreeMap;

use baton_redact::Redactor;

use crate::shared::words::{clip, clip_front};

/// No more of an output is looked at; what is kept of it is far less.
const WINDOW: usize = 1024 * 1024;

/// Cleans text and counts what it redacted.
#[derive(Debug)]
pub struct Cleaner<'r> {
    redactor: Option<&'r Redactor>,
    home: Option<String>,
    /// Redactions by kind.
    pub counts: BTreeMap<&'static str, usize>,
}

impl<'r> Cleaner<'r> {
    /// A cleaner; without a redactor secrets stay.
    pub fn new(redactor: Option<&'r Redactor>, home: Option<&str>) -> Self {
        let home =
            home.map(|home| home.trim_end_matches(['/', '\\']).to_owned()).filter(|home| home.len() > 1);
        Self { redactor, home, counts: BTreeMap::new() }
    }

    /// All of a text.
    pub fn whole(&mut self, text: &str) -> String {
        let redacted = match self.redactor {
            None => Cow::Borrowed(text),
            Some(redactor) => {
                let redacted = redactor.redact(text);
                redacted
                    .counts
                    .iter()
                    .for_each(|(kind, count)| *self.counts.entry(kind).or_insert(0) += count);
                redacted.text
            }
        };
        let printable = printable(&redacted);
        match &self.home {
            Some(home) => tilde(&printable, home),
            None => printable,
        }
    }

    /// At most `max` bytes of the beginning. Secrets go first, so that none is cut in two and missed.
    pub fn text(&mut self, text: &str, max: usize) -> String {
        clip(self.whole(text.trim()).trim(), max)
    }

    /// At most `max` bytes of the end, by whole lines.
    pub fn tail(&mut self, text: &str, max: usize) -> String {
        let window = text.len().saturating_sub(WINDOW);
        let from = memchr::memchr(b'\n', &text.as_bytes()[window..])
            .filter(|_| window > 0)
            .map_or(0, |at| window + at + 1);
        clip_front(self.whole(text[from..].trim_end()).trim_end(), max)
    }
}

/// The text without terminal sequences and control characters.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
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
        assert_eq!(cleaner.whole("/srv/you/x /srv/youth /srv/you:"), "~/x /srv/youth ~:");
    }

    #[test]
    fn terminal_colours_and_control_characters_are_dropped() {
        assert_eq!(Cleaner::new(None, None).whole("\u{1b}[31mred\u{1b}[0m\u{0}\r\nb\u{7}"), "red\nb");
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
