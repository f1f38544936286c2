//! Pieces of prose: sentences, single lines, text cut to a size that says what was cut.

use std::borrow::Cow;

/// At most `max` bytes of the beginning; what is left out is said.
pub(crate) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… [{} bytes left out]", &text[..end], text.len() - end)
}

/// How far behind a cut a secret is looked for that begins before it.
const MARGIN: usize = 8 * 1024;

/// The beginning of a text without its secrets, with more than `max` bytes of it: they go before it is cut, else what is left of one
/// that was cut in two is not known for one.
fn without_secrets(text: &str, max: usize) -> (Cow<'_, str>, usize) {
    let end = (0..=text.len().min(max + MARGIN)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    (baton_redact::shared().redact(&text[..end]).text, text.len() - end)
}

/// [`clip`] of a text that was not cleaned yet.
pub(crate) fn clip_unclean(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let (clean, beyond) = without_secrets(text, max);
    let end = (0..=clean.len().min(max)).rev().find(|at| clean.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… [{} bytes left out]", &clean[..end], clean.len() - end + beyond)
}

/// [`one_line`] of a text that was not cleaned yet.
pub(crate) fn unclean_line(text: &str, max: usize) -> String {
    // A character has at most four bytes.
    one_line(&without_secrets(text, max * 4).0, max)
}

/// At most `max` bytes of the end, from the beginning of a line where there is one; what is left out is said.
pub(crate) fn clip_front(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let start = (text.len() - max..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let start = text[start..].find('\n').map_or(start, |at| start + at + 1);
    format!("[{start} bytes left out] …\n{}", &text[start..])
}

/// At most `max` bytes of the beginning and the end, which concludes; what is left out between them is said.
pub(crate) fn clip_middle(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let front = max * 2 / 5;
    let end = (0..=front).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let rest = clip_front(&text[end..], max - front);
    format!("{}… {rest}", &text[..end])
}

/// The text on one line, at most `max` characters, an ellipsis for the rest.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        let needed = word.chars().count() + usize::from(chars > 0);
        if chars + needed > max {
            let room = max.saturating_sub(chars + 2);
            if chars == 0 {
                line.extend(word.chars().take(room));
            }
            line.push('…');
            break;
        }
        if chars > 0 {
            line.push(' ');
        }
        line.push_str(word);
        chars += needed;
    }
    line
}

/// The sentences and list items of a text, without code blocks, quotations and list markers.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with(['>', '|', '<']) && !line.is_empty() {
            split(unmarked(line), &mut all);
        }
    }
    all
}

/// A line without its list marker or heading sign.
pub(crate) fn unmarked(line: &str) -> &str {
    let line = line.trim().trim_start_matches('#').trim_start();
    let bare =
        line.strip_prefix("- [ ] ").or_else(|| line.strip_prefix("- ")).or_else(|| line.strip_prefix("* "));
    let bare = bare.or_else(|| line.strip_prefix("• ")).unwrap_or(line);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits).then(|| &bare[digits..]);
    numbered
        .and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))
        .unwrap_or(bare)
        .trim()
}

/// Whether a line is an item of a list.
pub(crate) fn is_item(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with('#') && !line.is_empty() && unmarked(line).len() < line.len()
}

fn split<'t>(line: &'t str, all: &mut Vec<&'t str>) {
    let (mut start, mut open) = (0, 0_usize);
    for (at, c) in line.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            '.' | '!' | '?' => {}
            _ => continue,
        }
        let ends = matches!(c, '.' | '!' | '?')
            && line[at + 1..].starts_with(' ')
            && !(open > 0 && is_closed_soon(line, at))
            && !is_abbreviation(&line[..at]);
        if ends {
            all.push(line[start..=at].trim());
            start = at + 1;
        }
    }
    all.push(line[start..].trim());
    all.retain(|sentence| !sentence.is_empty());
}

/// Whether a parenthesis that is open here is closed soon: what stands in it belongs to the sentence around it.
fn is_closed_soon(line: &str, at: usize) -> bool {
    const SOON: usize = 120;
    line[at..].bytes().take(SOON).any(|byte| byte == b')')
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or(before);
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf" | "approx")
        || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text contains the phrase as whole words; both in lower case.
pub(crate) fn has_phrase(text: &str, phrase: &str) -> bool {
    let Some(first) = phrase.bytes().next() else { return false };
    // A sentence is short: building a searcher takes longer than the search.
    memchr::memchr_iter(first, text.as_bytes())
        .any(|at| text.as_bytes()[at..].starts_with(phrase.as_bytes()) && is_apart(text, at, phrase))
}

/// [`has_phrase`] for a text of many lines.
pub(crate) fn has_long_phrase(text: &str, phrase: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), phrase).any(|at| is_apart(text, at, phrase))
}

/// Whether the phrase that stands here begins and ends with words of the text.
fn is_apart(text: &str, at: usize, phrase: &str) -> bool {
    !text[..at].ends_with(is_word_char) && !text[at + phrase.len()..].starts_with(is_word_char)
}

/// Whether a character goes on with a word.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-' || (!c.is_ascii() && c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters_and_says_so() {
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("aäb", 2), "a… [3 bytes left out]");
        assert_eq!(clip_front("one\ntwo\nthree", 8), "[8 bytes left out] …\nthree");
        assert_eq!(clip_middle("beginning\nmiddle\nthe end", 15), "beginn… [11 bytes left out] …\nthe end");
        assert_eq!(clip_middle("short", 15), "short");
        assert_eq!(one_line("  a\n b  c", 9), "a b c");
        assert_eq!(one_line("aaa bbb ccc", 8), "aaa bbb…");
    }

    #[test]
    fn sentences_leave_out_code_and_markers() {
        let text =
            "Fixed it. Remaining: e.g. tests!\n```\ncode. More.\n```\n- [ ] item one\n2. item two\n> quoted";
        assert_eq!(sentences(text), ["Fixed it.", "Remaining: e.g. tests!", "item one", "item two"]);
    }

    #[test]
    fn a_sentence_does_not_end_in_a_parenthesis() {
        let one = "after that, remove the old files (main.ts, cli.ts right? nothing else), and add a map.";
        assert_eq!(sentences(one), [one]);
        assert_eq!(
            sentences("It works (a? Yes. It is 1) so. Go on!"),
            ["It works (a? Yes. It is 1) so.", "Go on!"]
        );
        assert_eq!(sentences("An open ( one. And more."), ["An open ( one.", "And more."]);
        assert_eq!(sentences("Nice :) so. Go on."), ["Nice :) so.", "Go on."]);
    }

    #[test]
    fn phrases_are_whole_words() {
        assert!(has_phrase("you must not", "must"));
        assert!(!has_phrase("mustard", "must"));
        assert!(!has_phrase("a never-ending story", "never"));
        for text in ["a\nno such\nno", "no-one\nano", "no"] {
            assert_eq!(has_long_phrase(text, "no"), has_phrase(text, "no"), "{text}");
        }
    }
}
