//! Words of the commands that answers suggest.

use crate::id::visible;

/// A text as one word for a shell, quoted where it needs to be. Characters that do not show are escaped, as anywhere in an answer.
pub fn shell_word(text: &str) -> String {
    let text = visible(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_word_with_anything_but_plain_characters_is_quoted() {
        for (text, expected) in [
            ("/src/shop", "/src/shop"),
            ("/my code/shop", "'/my code/shop'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("-rf", "'-rf'"),
            ("$(id)", "'$(id)'"),
        ] {
            assert_eq!(shell_word(text), expected, "{text}");
        }
    }
}
