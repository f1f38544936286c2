//! A phrase with its blanks filled: the sentence, and the parts of it that tell.

/// A filled phrase.
#[derive(Debug, Clone)]
pub struct Phrase {
    /// The sentence.
    pub text: String,
    /// Its telling parts, in order.
    pub keys: Vec<String>,
}

/// Fills `{x}` and `{X}` from `with`; fillings and `[parts]` tell.
pub fn fill(phrase: &str, with: &[(char, &str)]) -> Phrase {
    let mut filled = Phrase { text: String::new(), keys: Vec::new() };
    let mut part = None;
    let mut rest = phrase.chars();
    while let Some(c) = rest.next() {
        match c {
            '[' => part = Some(filled.text.len()),
            ']' => {
                let from = part.take().unwrap_or_default();
                filled.keys.push(filled.text[from..].to_owned());
            }
            '{' => {
                let name = rest.next().unwrap_or_default();
                rest.next();
                let value =
                    with.iter().find(|(is, _)| *is == name.to_ascii_lowercase()).map_or("", |(_, v)| v);
                let value = if name.is_uppercase() { capital(value) } else { value.to_owned() };
                filled.text.push_str(&value);
                if part.is_none() {
                    filled.keys.push(value);
                }
            }
            _ => filled.text.push(c),
        }
    }
    filled
}

/// With a capital at the beginning.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillings_and_parts_in_brackets_tell() {
        let phrase = fill("{X} [is not to be] {v}, ok?", &[('x', "the log"), ('v', "cut")]);
        assert_eq!(phrase.text, "The log is not to be cut, ok?");
        assert_eq!(phrase.keys, ["The log", "is not to be", "cut"]);
    }
}
