//! The terms of a text: what two texts have in common when they say the same in other forms of its words.

/// What follows of a word that is longer is left out: keys and pictures in base64 are no words.
const MAX_TERM_LEN: usize = 64;

/// Words that say nothing about what a text is about; the indexes leave them away. Sorted.
const COMMON: [&str; 48] = [
    "a", "about", "an", "and", "are", "as", "at", "be", "because", "been", "but", "by", "can", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "not",
    "of", "on", "or", "our", "so", "that", "the", "this", "to", "was", "we", "were", "what", "when", "which",
    "why", "will", "with",
];

/// The terms of a text in their order, as often as they stand there: runs of letters and digits in lower case, Latin letters
/// without accents, common words left away, English endings folded. Where nothing stands between words (Chinese, Japanese,
/// Korean), each sign is one.
pub fn terms(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        let sign = is_sign(c);
        if c.is_alphanumeric() && !sign {
            word.extend(c.to_lowercase().map(fold));
            continue;
        }
        take(&mut word, &mut all);
        if sign {
            all.push(c.to_string());
        }
    }
    take(&mut word, &mut all);
    all
}

/// Whether a word says nothing about what a text is about.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

fn take(word: &mut String, all: &mut Vec<String>) {
    if !word.is_empty() && !is_common(word) {
        let cut = word.char_indices().nth(MAX_TERM_LEN).map_or(word.len(), |(at, _)| at);
        all.push(stem(&word[..cut]));
    }
    word.clear();
}

/// Strips English endings of plurals and verb forms. Only words that are long enough to stay distinct are cut, and only
/// where the stem is the same word.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return word.to_owned();
    }
    let verb = |ending: &str| {
        let rest = word.strip_suffix(ending).filter(|rest| rest.len() >= 3 && rest.bytes().any(is_vowel))?;
        let bytes = rest.as_bytes();
        let doubled =
            matches!(bytes, [.., a, b] if a == b && !is_vowel(*a) && !matches!(a, b'l' | b's' | b'z'));
        Some(rest[..rest.len() - usize::from(doubled)].to_owned())
    };
    if let Some(rest) =
        word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")).filter(|rest| rest.len() >= 2)
    {
        return format!("{rest}y");
    }
    let cut = verb("ing").or_else(|| verb("ed")).or_else(|| {
        let sibilant = ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| word.ends_with(ending));
        let plural = word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
        (sibilant || plural).then(|| word[..word.len() - 1 - usize::from(sibilant)].to_owned())
    });
    // "caches", "caching" and "cache" meet without their last e.
    let cut = cut.unwrap_or_else(|| word.to_owned());
    cut.strip_suffix('e').filter(|rest| rest.len() >= 3).map(str::to_owned).unwrap_or(cut)
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// A sign that is a word by itself.
fn is_sign(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0x20000..=0x3ffff)
}

/// A small Latin letter without its accent.
pub(super) fn fold(c: char) -> char {
    match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' | 'į' => 'i',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ś' | 'ş' | 'š' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text}");
    }

    #[test]
    fn forms_of_a_word_meet() {
        for group in [
            &["deploy", "deploys", "deployed", "deploying"][..],
            &["cache", "caches", "cached", "caching"],
            &["retry", "retries", "retried"],
            &["plan", "plans", "planned", "planning"],
            &["box", "boxes"],
            &["miss", "misses", "missed", "missing"],
            &["queue", "queues", "queued"],
        ] {
            let stems: Vec<_> = group.iter().map(|word| stem(word)).collect();
            assert!(stems.windows(2).all(|two| two[0] == two[1]), "{group:?} became {stems:?}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        for (a, b) in
            [("redis", "red"), ("status", "stat"), ("access", "acces"), ("sing", "s"), ("v7s", "v7")]
        {
            assert_ne!(stem(a), stem(b), "{a} {b}");
        }
    }

    #[test]
    fn a_text_is_words_without_the_common_ones() {
        check("Why is `retry_after` NOT in the Café's v7?", &["retry", "after", "caf", "s", "v7"]);
        check("修复 bug", &["修", "复", "bug"]);
        check("", &[]);
        assert_eq!(terms(&"x".repeat(1_000))[0].len(), MAX_TERM_LEN);
        assert!(COMMON.is_sorted());
    }
}
