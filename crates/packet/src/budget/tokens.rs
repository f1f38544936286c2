//! How many tokens a text costs, estimated without a vocabulary.
//!
//! A line is split the way the `o200k_base` tokeniser splits text before it merges bytes (words with the character
//! before them, digits in threes, runs of punctuation, indentation), and each piece is charged the mean that the real
//! tokeniser needs for a piece of its kind and length. The means were measured once, with the published vocabulary,
//! over Markdown, Rust, Python, JSON, diffs, paths, ids, base64 and a dozen languages. Against the real count the
//! estimate lies at -5 to +5 % for Markdown, code, diffs, JSON and ids of some length, at +2 to +3 % for hand-off
//! documents (which were not measured for the means), at 0 to +17 % for other scripts, of which the samples were short,
//! and at -12 % for random letters. Measured again on other files (`bench/fidelity/tokens`, `docs/benchmarks.md`): +1.3
//! % over all documents of the samples, none off by more than 2.9 %. A single short sentence may be 30 % over.
//! Tokenisers with a smaller or another vocabulary were not measured and may need more: leave some of a full window
//! free.
//!
//! The estimate of a text is the sum of the estimates of its lines, so a document can be packed line by line and the
//! total is exact.

/// Estimated tokens of `text`, rounded up.
///
/// ```
/// use baton_packet::budget::estimate_tokens;
/// assert_eq!(estimate_tokens(""), 0);
/// assert_eq!(estimate_tokens("Pick up where it stopped."), 7);
/// ```
pub fn estimate_tokens(text: &str) -> usize {
    usize::try_from(milli_tokens(text).div_ceil(1000)).unwrap_or(usize::MAX)
}

/// Estimated thousandths of a token. Additive over lines: `f(a\n + b) = f(a\n) + f(b)`.
pub(crate) fn milli_tokens(text: &str) -> u64 {
    text.split_inclusive('\n').map(line).sum()
}

/// What stands before a word and belongs to its piece; it decides how likely the vocabulary holds the whole.
#[derive(Clone, Copy, PartialEq)]
enum TokenPrefix {
    Nothing,
    Space,
    Joint,
    Slash,
    Mark,
}

fn line(line: &str) -> u64 {
    let body = line.trim_end_matches(['\n', '\r']);
    let mut cost = 0;
    let mut rest = body;
    let mut opaque_left = 0;
    while let Some(first) = rest.chars().next() {
        if opaque_left == 0 {
            opaque_left = opaque_run(rest, first);
        }
        let (length, piece) = piece(rest, first, opaque_left > 0);
        cost += piece;
        opaque_left = opaque_left.saturating_sub(length);
        rest = rest.get(length..).unwrap_or_default();
    }
    let absorbed = body.trim().is_empty() || body.ends_with(|c: char| c.is_ascii_punctuation());
    cost + if body.len() == line.len() || absorbed { 0 } else { 1000 }
}

/// The length in bytes of the next piece, and its cost.
fn piece(rest: &str, first: char, opaque: bool) -> (usize, u64) {
    if first.is_numeric() {
        let digits = rest.chars().take(3).take_while(|c| c.is_numeric()).map(char::len_utf8).sum();
        return (digits, if first.is_ascii() { 1000 } else { 1500 });
    }
    if first.is_alphabetic() {
        return word(rest, 0, TokenPrefix::Nothing, opaque);
    }
    let after = rest.get(first.len_utf8()..).unwrap_or_default();
    if after.starts_with(char::is_alphabetic) && !is_picture(first) {
        return word(after, first.len_utf8(), prefix_of(first), opaque);
    }
    if first.is_whitespace() {
        return spaces(rest, after);
    }
    symbols(rest)
}

fn prefix_of(first: char) -> TokenPrefix {
    match first {
        ' ' => TokenPrefix::Space,
        '_' | '.' => TokenPrefix::Joint,
        '/' => TokenPrefix::Slash,
        _ => TokenPrefix::Mark,
    }
}

/// Indentation costs one token, but its last space belongs to the word or sign that follows.
fn spaces(rest: &str, after: &str) -> (usize, u64) {
    let run = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if run > 1 {
        return (run - 1, 1000);
    }
    match after.chars().next() {
        Some(next) if rest.starts_with(' ') && !next.is_numeric() && !next.is_whitespace() => {
            let (length, cost) = symbols(after);
            (length + 1, cost)
        }
        _ => (rest.chars().next().map_or(1, char::len_utf8), 1000),
    }
}

/// A word: capitals, then small letters, then perhaps a contraction. `lead` bytes before it belong to it.
fn word(text: &str, lead: usize, before: TokenPrefix, opaque: bool) -> (usize, u64) {
    let (capitals, end) = ascii_word(text).unwrap_or_else(|| any_word(text));
    let letters = text.get(..end).unwrap_or_default();
    let cost = match (letters.is_ascii(), capitals) {
        (false, _) => letters.chars().map(letter).sum::<u64>().max(1000),
        (true, _) if opaque || end > 20 || unpronounceable(letters) => opaque_word(end),
        (true, 2..) => shouted(end),
        (true, _) => plain(end, before),
    };
    (lead + end + contraction(text.get(end..).unwrap_or_default()), cost)
}

/// The bytes of the capitals that a word begins with, and those of all its letters.
fn any_word(text: &str) -> (usize, usize) {
    let is_small = |c: char| c.is_alphabetic() && !c.is_uppercase();
    let capitals = text.find(|c: char| !c.is_uppercase()).unwrap_or(text.len());
    let tail = text.get(capitals..).unwrap_or_default();
    (capitals, capitals + tail.find(|c| !is_small(c)).unwrap_or(tail.len()))
}

/// [`any_word`] of a word in ASCII, as nearly all are; none where a letter of another script may follow.
fn ascii_word(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let capitals = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let small = bytes.iter().skip(capitals).take_while(|byte| byte.is_ascii_lowercase()).count();
    let end = capitals + small;
    bytes.get(end).is_none_or(u8::is_ascii).then_some((capitals, end))
}

fn contraction(rest: &str) -> usize {
    if !rest.starts_with('\'') {
        return 0;
    }
    let ends =
        |found: &str| rest.strip_prefix(found).is_some_and(|after| !after.starts_with(char::is_alphabetic));
    ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"].into_iter().find(|found| ends(found)).map_or(0, str::len)
}

/// A word in ASCII letters: common ones are one token, long ones break.
fn plain(length: usize, before: TokenPrefix) -> u64 {
    let (whole, base, each) = match before {
        TokenPrefix::Space => (8, 1055, 90),
        TokenPrefix::Nothing => (6, 1090, 110),
        TokenPrefix::Joint => (5, 1100, 130),
        TokenPrefix::Slash => (3, 1250, 110),
        TokenPrefix::Mark => (2, 1400, 90),
    };
    let jump = if before == TokenPrefix::Slash && length > whole { 550 } else { 0 };
    let over = length.saturating_sub(whole) as u64;
    let rare = length.saturating_sub(13) as u64;
    base + jump + over * each + rare * 250
}

/// Whether a word has a run of consonants that no language writes: keys and random names.
fn unpronounceable(word: &str) -> bool {
    let vowel = |b: u8| b"aeiouyAEIOUY".contains(&b);
    word.len() > 5 && word.as_bytes().split(|b| vowel(*b)).any(|run| run.len() > 4)
}

fn shouted(length: usize) -> u64 {
    (length as u64 * 270).max(1100)
}

fn opaque_word(length: usize) -> u64 {
    (length as u64 * 500 + 350).max(1000)
}

/// How far a run is looked at, so that the estimate stays linear.
const WINDOW: usize = 64;

/// The bytes of a run of letters and digits that no vocabulary holds: ids, digests, base64.
fn opaque_run(rest: &str, first: char) -> usize {
    let lead = if first.is_ascii_alphanumeric() { 0 } else { first.len_utf8() };
    let body = rest.get(lead..).unwrap_or_default();
    let run = body.bytes().take(WINDOW).take_while(u8::is_ascii_alphanumeric).count();
    if run < 8 {
        return 0;
    }
    let bytes = body.as_bytes().get(..run).unwrap_or_default();
    let turns = bytes.windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit()).count();
    let cases = bytes.windows(2).filter(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase()).count();
    if turns >= 2 || (run >= 16 && cases * 5 >= run) { lead + run } else { 0 }
}

/// A letter outside ASCII words, by script.
fn letter(c: char) -> u64 {
    match c {
        '\0'..='\x7f' => 280,
        '\u{80}'..='\u{24f}' => 600,
        '\u{370}'..='\u{3ff}' => 370,
        '\u{400}'..='\u{52f}' => 290,
        '\u{530}'..='\u{6ff}' => 340,
        '\u{900}'..='\u{dff}' => 450,
        '\u{e00}'..='\u{e7f}' => 550,
        '\u{3040}'..='\u{30ff}' => 730,
        '\u{3400}'..='\u{9fff}' => 790,
        '\u{ac00}'..='\u{d7af}' => 620,
        _ => 1500,
    }
}

fn is_picture(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{20e3}' | '\u{2190}'..='\u{2bff}' | '\u{fe00}'..='\u{fe0f}')
        || c >= '\u{1f000}'
}

/// A run of signs: short ones are one token, a repeated sign is nearly free, pictures cost one to three each.
fn symbols(rest: &str) -> (usize, u64) {
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let run = rest.find(|c| !is_sign(c)).unwrap_or(rest.len());
    let text = rest.get(..run).unwrap_or_default();
    let plain = text.find(|c: char| !c.is_ascii()).unwrap_or(text.len());
    if plain == 0 {
        let end = text.find(|c: char| c.is_ascii()).unwrap_or(text.len());
        let signs = text.get(..end).unwrap_or_default();
        return (end.max(1), signs.chars().map(sign).sum::<u64>().max(1000));
    }
    let signs = text.get(..plain).unwrap_or_default();
    let repeated = signs.bytes().all(|b| signs.as_bytes().first() == Some(&b));
    let length = plain as u64;
    (
        plain,
        if repeated { 1000 + 40 * length.saturating_sub(3) } else { 1000 + 420 * length.saturating_sub(3) },
    )
}

fn sign(c: char) -> u64 {
    match c {
        '\u{80}'..='\u{2bff}' => 950,
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => 950,
        '\u{fe00}'..='\u{fe0f}' => 700,
        _ => 2300,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_word_in_ascii_has_the_letters_that_any_word_has(text in "[A-Z]{0,4}[a-z]{0,6}[A-Za-z0-9' é漢]{0,4}\\PC{0,3}") {
            if let Some(found) = ascii_word(&text) {
                prop_assert_eq!(found, any_word(&text));
            }
        }
    }
}
