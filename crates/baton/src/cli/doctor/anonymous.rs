//! Text that others may read: without secrets, and without the names and places of this machine.

/// What stands in the place of a path.
const PATH: &str = "PATH";
/// What stands in the place of a name.
const NAME: &str = "NAME";

/// Replaces names and places.
pub(super) struct Anonymizer {
    /// Places whole, the longest first, so that one with a blank in it goes as a whole, too.
    places: Vec<String>,
    /// Names without case.
    names: Vec<String>,
}

impl Anonymizer {
    pub(super) fn new(places: Vec<String>, names: Vec<String>) -> Self {
        let mut places: Vec<String> = places.into_iter().filter(|place| place.len() > 1).collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.len()));
        let names = names.into_iter().map(|name| folded(name.trim())).filter(|name| name.len() > 1);
        Self { places, names: names.collect() }
    }

    /// The text as others may read it.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut text = baton_redact::shared().redact(text).text.into_owned();
        for place in &self.places {
            text = without(&text, place, PATH, |c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        }
        for name in &self.names {
            text = without(&text, name, NAME, char::is_alphanumeric);
        }
        words(&text)
    }
}

/// Lower case; a character whose lower case has another length in bytes stays, so that offsets hold.
fn folded(text: &str) -> String {
    let fold = |c: char| {
        let mut lower = c.to_lowercase();
        let one = lower.next().filter(|one| one.len_utf8() == c.len_utf8());
        one.filter(|_| lower.next().is_none()).unwrap_or(c)
    };
    text.chars().map(fold).collect()
}

/// The text with each occurrence of a word, in whichever case, replaced where no character of a longer word stands beside it.
fn without(text: &str, word: &str, placeholder: &str, is_part: impl Fn(char) -> bool) -> String {
    let (lower, word) = (folded(text), folded(word));
    let (mut out, mut from) = (String::new(), 0);
    for (at, _) in lower.match_indices(&word) {
        let end = at + word.len();
        let is_whole = !lower[..at].chars().next_back().is_some_and(&is_part)
            && !lower[end..].chars().next().is_some_and(&is_part);
        if let (true, true, Some(before)) = (is_whole, at >= from, text.get(from..at)) {
            out.push_str(before);
            out.push_str(placeholder);
            from = end;
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The text with every word that looks like a place, an address or a mailbox replaced.
fn words(text: &str) -> String {
    let is_between = |c: char| c.is_whitespace() || "\"'`(),;<>[]{}".contains(c);
    let (mut out, mut word) = (String::new(), String::new());
    for c in text.chars() {
        if is_between(c) {
            out.push_str(&placeholder(&word));
            word.clear();
            out.push(c);
        } else {
            word.push(c);
        }
    }
    out + &placeholder(&word)
}

fn placeholder(word: &str) -> String {
    let end = word.trim_end_matches([':', '.', '!', '?']).len();
    let (inner, after) = word.split_at(end);
    let shown = match inner {
        inner if inner.contains("://") => "URL",
        inner if inner.contains('@') => "NAME@HOST",
        inner if inner.contains(['/', '\\']) => PATH,
        inner => inner,
    };
    format!("{shown}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places_are_replaced_and_our_own_words_stay() {
        let places = ["/srv/ann", "/srv/ann/My Work", "/"].map(str::to_owned).to_vec();
        let anonymizer = Anonymizer::new(places, ["Ann", "shop", "x"].map(str::to_owned).to_vec());
        for (text, expected) in [
            ("run `baton install claude`", "run `baton install claude`"),
            ("mend the file: /srv/ann/My Work/a.json: no JSON", "mend the file: PATH: no JSON"),
            ("shop: delta 5 is damaged", "NAME: delta 5 is damaged"),
            ("\u{130} ANN", "\u{130} NAME"),
            ("the workshop of Ann's", "the workshop of NAME's"),
            ("postgres://ann@db.example/shop (postgres)", "URL (postgres)"),
            ("write to ann@example.org.", "write to NAME@HOST."),
            ("~/.claude/settings.json and C:\\Users\\ann\\x", "PATH and PATH"),
            ("/srv/annabel is another's", "PATH is another's"),
            (
                concat!("token ghp_", "aBcDeFgHiJkL", "mNoPqRsTuVwX", "yZ0123456789"),
                "token [redacted:github-token]",
            ),
        ] {
            assert_eq!(anonymizer.clean(text), expected, "{text}");
        }
    }
}
