//! Text as a row of words.

/// What follows of a word that is longer than this is left out: keys and pictures in base64 are no words. The beginning
/// stays, so that it is found by it.
const MAX_WORD_LEN: usize = 64;

/// The words of a text, with single spaces between them. Signs of Chinese, Japanese and Korean and pictographs are words
/// of their own, because nothing stands between them; everything that is neither letter nor digit is a space.
pub fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut length = 0;
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || (!c.is_ascii() && is_letter(c)) {
            length += 1;
            if length <= MAX_WORD_LEN {
                words.push(c);
            }
            continue;
        }
        length = 0;
        if is_sign(c) {
            space(&mut words);
            words.push(c);
        }
        space(&mut words);
    }
    words.truncate(words.trim_end().len());
    words
}

fn space(words: &mut String) {
    if !words.is_empty() && !words.ends_with(' ') {
        words.push(' ');
    }
}

/// Letters, digits, and the marks that stand on letters.
fn is_letter(c: char) -> bool {
    !is_sign(c) && (c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c))
}

/// A word by itself: ideographs, kana, Hangul, pictographs.
pub(super) fn is_sign(c: char) -> bool {
    matches!(u32::from(c), 0x2600..=0x27bf | 0x2e80..=0x2fff | 0x3005..=0x3007 | 0x3040..=0x31ff | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x1f000..=0x1faff | 0x20000..=0x3ffff)
}

/// A character as the index compares it: small, and Latin letters without their accents.
pub(super) fn fold(c: char) -> char {
    let small = c.to_lowercase().next().unwrap_or(c);
    match small {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' => 'i',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ý' | 'ÿ' => 'y',
        'ś' | 'ŝ' | 'ş' | 'š' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_and_digits() {
        assert_eq!(words("let x_1 = a.b(\"c\") && !d;"), "let x 1 a b c d");
        assert_eq!(words("src/Foo.rs:12 ─┐ café"), "src Foo rs 12 café");
        assert_eq!(words("\0\u{1}\"'*()^:-"), "");
    }

    #[test]
    fn signs_without_spaces_between_them_are_words() {
        assert_eq!(words("修复bug了🎉🎉ok"), "修 复 bug 了 🎉 🎉 ok");
    }

    #[test]
    fn a_word_without_an_end_keeps_its_beginning() {
        let long = words(&format!("{} b", "a".repeat(1_000)));
        assert_eq!(long, format!("{} b", "a".repeat(MAX_WORD_LEN)));
    }
}
