//! Foreign text that people read: characters that move a cursor, change the direction of reading or do not show at all
//! become visible.
//!
//! A terminal obeys control characters, and a reader does not see what a bidirectional override, a zero-width or a tag
//! character does to a line (CVE-2021-42574, "Trojan Source"; Unicode TR 36 and 39). They are written as `\u{202e}`. What
//! writing needs stays: variation selectors after a sign, joiners within an emoji and between letters of scripts that join.

use std::borrow::Cow;

/// Whether a character shows nothing by itself, or changes what is shown round it.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || is_joiner(c)
        || matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters that are invisible and have a use: zero-width joiners, and how a sign is drawn.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// The characters of a text, each with whether it hides or misleads where it stands.
pub(crate) fn classify_characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = None;
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let c = rest.next()?;
        let bad = is_hidden(c) && !is_of_use(c, before, rest.clone().next());
        before = Some(c);
        Some((c, bad))
    })
}

/// Text on one line: line ends and tabs are made visible, too.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false, escape)
}

/// Text of several lines: line ends and tabs stay.
pub fn block(text: &str) -> Cow<'_, str> {
    replaced(text, |c| matches!(c, '\n' | '\t'), escape)
}

/// The first line with words of a foreign text, cleaned and shortened to at most `most` characters. It holds no quotation mark,
/// so that it cannot end the quotation that it stands in.
pub fn quotable(text: &str, most: usize) -> String {
    excerpt(text, most)
        .replace(['"', '\u{201c}', '\u{201d}', '\u{201e}', '\u{201f}', '\u{ab}', '\u{bb}'], "'")
}

/// The first line with words of a foreign text, cleaned and shortened to at most `most` characters: for a place of its own, where it
/// ends no quotation.
pub fn excerpt(text: &str, most: usize) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = line(&words).into_owned();
    match shown.char_indices().nth(most) {
        None => shown,
        Some(_) => {
            let head: String = shown.chars().take(most.saturating_sub(1)).collect();
            format!("{}…", head.trim_end())
        }
    }
}

/// JSON that says the same and hides nothing: such a character can only stand in a string, where `\u202e` means it.
pub fn json(text: &str) -> Cow<'_, str> {
    replaced(
        text,
        |c| c.is_ascii(),
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        },
    )
}

fn escape(out: &mut String, c: char) {
    out.extend(c.escape_default());
}

fn replaced(text: &str, stays: impl Fn(char) -> bool, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    // Nearly all text is plain.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (c, bad) in classify_characters(text) {
        if bad && !stays(c) { write(&mut shown, c) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether a joiner has an effect at its position. A run of them, or one among plain letters, could only carry hidden
/// text.
fn is_of_use(c: char, before: Option<char>, after: Option<char>) -> bool {
    let (before, after) = (before.unwrap_or(' '), after.unwrap_or(' '));
    match c {
        '\u{fe0e}' | '\u{fe0f}' => is_sign(before),
        '\u{200d}' if is_sign(after) => is_sign(before) || before == '\u{fe0f}',
        '\u{200c}' | '\u{200d}' => joins(before) && joins(after),
        _ => false,
    }
}

/// Signs that are drawn as text or in colour.
fn is_sign(c: char) -> bool {
    matches!(c, '©' | '®' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}') && !is_hidden(c)
}

/// Letters of scripts in which neighbours are joined: Arabic, Syriac, the scripts of India, Khmer, Mongolian.
fn joins(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{7bf}' | '\u{8a0}'..='\u{dff}' | '\u{1780}'..='\u{18aa}' | '\u{fb50}'..='\u{fdff}')
        && !is_hidden(c)
}

/// A text as a sentence: with a full stop, unless it ends in a mark of its own.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of character that hides or misleads.
    const BAD: &str = "\u{0}\u{7}\u{8}\r\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\
        \u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{fff9}\u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{e01ef}";

    #[test]
    fn what_is_quoted_is_one_short_clean_line_that_ends_no_quotation() {
        assert_eq!(quotable("\n  Add  rounding\nsecond", 80), "Add rounding");
        assert_eq!(quotable("add\" - IGNORE “all”", 80), "add' - IGNORE 'all'");
        assert_eq!(quotable("a\u{202e}b\u{1b}[2J", 80), "a\\u{202e}b\\u{1b}[2J");
        assert_eq!(quotable(&"wort ".repeat(40), 12), "wort wort w…");
        assert_eq!(quotable(" \n ", 12), "");
        assert_eq!(excerpt("\n Is  \"x\" on?\nsecond", 80), "Is \"x\" on?");
    }

    #[test]
    fn what_hides_or_misleads_is_made_visible() {
        for c in BAD.chars() {
            let text = format!("a{c}b");
            assert!(is_hidden(c), "{c:?}");
            assert!(!line(&text).contains(c) && !block(&text).contains(c), "{c:?}");
            assert!(line(&text).starts_with('a') && line(&text).ends_with('b'), "{c:?}");
            // A second time nothing is left to do.
            assert_eq!(line(&line(&text)), line(&text), "{c:?}");
        }
        assert!(!line(BAD).chars().any(is_hidden), "{}", line(BAD));
        assert_eq!(line("a\u{202e}b\n"), "a\\u{202e}b\\n");
        assert_eq!(block("a\tb\nc\r"), "a\tb\nc\\r");
    }

    #[test]
    fn what_writing_needs_stays() {
        for text in [
            "Grüße, 日本語, עברית",
            "❤️ ☎︎",
            "👨\u{200d}👩\u{200d}👧",
            "🏳️\u{200d}🌈",
            "می\u{200c}خواهم",
            "ක\u{dca}\u{200d}ර",
        ] {
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn a_run_of_selectors_carries_nothing() {
        for text in ["😀\u{fe0f}\u{fe0e}\u{fe0f}", "a\u{fe0f}", "a\u{200d}b", "😀\u{e0100}\u{e0101}"] {
            let shown = line(text);
            assert!(shown.contains("\\u{"), "{text:?}: {shown}");
        }
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({ "a\u{202e}": format!("x{BAD}y\u{1f600}") });
        let shown = json(&value.to_string()).into_owned();
        assert!(!shown.chars().any(|c| !c.is_ascii() && is_hidden(c)), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn a_sentence_ends_once() {
        for (text, expected) in [
            ("ask Tom", "ask Tom."),
            ("done.", "done."),
            ("did you mean `summary`?", "did you mean `summary`?"),
        ] {
            assert_eq!(sentence(text), expected);
        }
    }
}
