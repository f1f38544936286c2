//! Names: the word that an engineer would search for. A past participle, a question word or a pronoun names nothing.

use crate::source::{Kind, Source, Violation};

/// Words that are no name of a type or a module, nor of a function that stands alone.
const NO_NAMES: [&str; 58] = [
    "ahead",
    "alone",
    "among",
    "asked",
    "asks",
    "before",
    "begun",
    "behind",
    "beside",
    "between",
    "came",
    "cast",
    "come",
    "done",
    "driven",
    "earlier",
    "elsewhere",
    "ended",
    "found",
    "gathered",
    "given",
    "gone",
    "heard",
    "held",
    "here",
    "how",
    "kept",
    "known",
    "left",
    "made",
    "manner",
    "meant",
    "named",
    "said",
    "say",
    "says",
    "seen",
    "shelf",
    "spoken",
    "stand",
    "standing",
    "taken",
    "talk",
    "tell",
    "teller",
    "told",
    "unsaid",
    "want",
    "wanted",
    "what",
    "when",
    "which",
    "who",
    "whole",
    "whom",
    "why",
    "wish",
    "worth",
];

/// Functions whose names are among them because a trait or a library asks for that name.
const FUNCTIONS_ALLOWED: [&str; 0] = [];

/// Types, traits, modules and functions that are called by such a word alone. Tests name freely.
pub(crate) fn names(source: &Source) -> Vec<Violation> {
    let pairs = source.tokens.iter().zip(source.tokens.iter().skip(1));
    let declared = pairs.filter(|(keyword, name)| {
        !name.test
            && keyword.kind == Kind::Word
            && name.kind == Kind::Word
            && matches!(keyword.text.as_str(), "struct" | "enum" | "trait" | "type" | "mod" | "fn")
    });
    let bad = declared.filter(|(keyword, name)| {
        let word = name.text.to_lowercase();
        let is_allowed = keyword.text == "fn" && FUNCTIONS_ALLOWED.contains(&word.as_str());
        NO_NAMES.contains(&word.as_str()) && !is_allowed
    });
    bad.map(|(keyword, name)| {
        let what =
            format!("`{} {}` names nothing: say what it is, in the trade's word", keyword.text, name.text);
        Violation::new(&source.path, name.line, what)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<usize> {
        names(&Source::new("crates/ops/src/a.rs", text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_participle_or_a_question_word_is_no_name() {
        assert_eq!(found("pub struct Told;\nenum Who { A }\nmod beside;\nfn said() {}\n"), [1, 2, 3, 4]);
        assert_eq!(found("trait Known {}\ntype Wish = u8;\n"), [1, 2]);
    }

    #[test]
    fn a_longer_name_a_variant_a_variable_and_a_test_are_free() {
        assert!(
            found("struct KnownNames;\nenum A { Told }\nfn b(said: u8) { let kept = said; }\n").is_empty()
        );
        assert!(found("#[cfg(test)]\nmod tests {\n  fn told() {}\n}\n").is_empty());
    }
}
