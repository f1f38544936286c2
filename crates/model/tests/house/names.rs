//! Names: the word that an engineer would search for. A past participle, a question word or a pronoun names nothing.
//! Types, modules and functions have the longer list; bindings the verbs of a story, in tests, too; a few words are no identifier
//! of any kind. A function that makes a refusal says so.

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

/// Words that are no name of a variable, a parameter or what a pattern binds.
const NO_BINDINGS: [&str; 6] = ["asked", "came", "kept", "meant", "said", "told"];

/// Bindings that are called by such a word, where they are made or used. Fields, methods and functions are not bindings;
/// where a field has such a name, `Field { kept: stored }` says what is in it.
pub(crate) fn bindings(source: &Source) -> Vec<Violation> {
    let mut found = Vec::new();
    let (mut groups, mut is_import) = (Vec::new(), false);
    for (at, token) in source.tokens.iter().enumerate() {
        match (token.kind, token.text.as_str()) {
            (Kind::Open, open) => groups.push(open),
            (Kind::Close, _) => _ = groups.pop(),
            (Kind::Word, "use") => is_import = true,
            (Kind::Sign, ";") => is_import = false,
            (Kind::Word, word) if NO_BINDINGS.contains(&word) && !is_import => {
                let what = format!("the binding `{word}` names nothing: say what it is, in the trade's word");
                let is_bad = is_binding(source, at, groups.last() == Some(&"{"));
                found.extend(is_bad.then(|| Violation::new(&source.path, token.line, what)));
            }
            _ => {}
        }
    }
    found
}

/// Words that are no identifier of any kind in production code: no field, variant or parameter either. A name in JSON that is one of
/// them stays behind `#[serde(rename)]`.
const NO_IDENTIFIERS: [&str; 10] =
    ["came", "door", "pulse", "stand_in", "talk", "teller", "told", "unsaid", "wish", "worth"];

/// Identifiers that are such a word.
pub(crate) fn identifiers(source: &Source) -> Vec<Violation> {
    let words = source.production().map(|(_, token)| token).filter(|token| token.kind == Kind::Word);
    let bad = words.filter(|token| NO_IDENTIFIERS.contains(&token.text.to_lowercase().as_str()));
    bad.map(|token| {
        let what = format!("`{}` names nothing: say what it is, in the trade's word", token.text);
        Violation::new(&source.path, token.line, what)
    })
    .collect()
}

/// Functions that make a refusal and whose name does not say so. One that takes a refusal and adds to it is none.
pub(crate) fn refusals(source: &Source) -> Vec<Violation> {
    let functions = source.production().filter(|(at, _)| source.is(*at, "fn"));
    functions.filter_map(|(at, _)| unnamed_refusal(source, at)).collect()
}

/// The violation of the function at `at`, if it is one.
fn unnamed_refusal(source: &Source, at: usize) -> Option<Violation> {
    let name = source.tokens.get(at + 1).filter(|token| token.kind == Kind::Word)?;
    let signature = source.tokens.get(at + 2..)?;
    let end = signature.iter().position(|token| matches!(token.text.as_str(), "{" | ";"))?;
    let signature: Vec<&str> = signature.get(..end)?.iter().map(|token| token.text.as_str()).collect();
    let arrow = signature.windows(2).rposition(|pair| pair == ["-", ">"])?;
    let (arguments, result) = signature.split_at(arrow);
    let makes =
        result.last() == Some(&"Refusal") && !result.contains(&"<") && !arguments.contains(&"Refusal");
    let what = "makes a refusal: end its name with `_refusal`, or return `Result<(), Refusal>` and begin it with `require_`";
    (makes && !["refusal", "refuse"].iter().any(|word| name.text.contains(word)))
        .then(|| Violation::new(&source.path, name.line, format!("`fn {}` {what}", name.text)))
}

/// Whether the word at `at` is neither a field nor a method nor a function nor part of a path.
fn is_binding(source: &Source, at: usize, in_braces: bool) -> bool {
    let before = |text: &str| at > 0 && source.is(at - 1, text);
    let is_member = before(".") && !(at > 1 && source.is(at - 2, "."));
    let is_path = before("::") || before("fn") || before("'") || source.is(at + 1, "::");
    // Of a doc comment before a field only the `#` is among the tokens.
    let begins = ["{", ",", "pub", ")", "]", "#"].into_iter().any(before);
    let is_field = source.is(at + 1, ":") && in_braces && begins;
    let is_call = source.is(at + 1, "(");
    !is_member && !is_path && !is_field && !is_call
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
        assert!(found("struct KnownNames;\nenum A { Told }\nfn b(who: u8) { let seen = who; }\n").is_empty());
        assert!(found("#[cfg(test)]\nmod tests {\n  fn told() {}\n}\n").is_empty());
    }

    #[test]
    fn a_field_a_variant_and_a_parameter_are_no_such_identifiers() {
        let flagged = |text: &str| -> Vec<usize> {
            identifiers(&Source::new("crates/ops/src/a.rs", text))
                .iter()
                .map(|violation| violation.line)
                .collect()
        };
        assert_eq!(
            flagged("struct A {\n  told: u8,\n}\nenum B {\n  Wish,\n}\nfn c(talk: u8) {}\n"),
            [2, 5, 7]
        );
        assert!(flagged("struct A { told_at: u8 }\nfn b() { c(\"told\"); }\n").is_empty());
        assert!(flagged("#[cfg(test)]\nmod tests {\n  fn a() { let talk = 1; }\n}\n").is_empty());
    }

    #[test]
    fn a_function_that_makes_a_refusal_says_so() {
        let silent = |text: &str| -> Vec<usize> {
            refusals(&Source::new("crates/ops/src/a.rs", text))
                .iter()
                .map(|violation| violation.line)
                .collect()
        };
        assert_eq!(
            silent("fn unknown(id: &str) -> Refusal {\n}\nfn none() -> refusal::Refusal {}\n"),
            [1, 3]
        );
        assert!(
            silent("fn unknown_refusal(id: &str) -> Refusal {}\nfn with_id(of: Refusal) -> Refusal {}\n")
                .is_empty()
        );
        assert!(silent("fn check() -> Result<(), Refusal> {}\nfn a() -> u8 { b::<Refusal>() }\n").is_empty());
    }

    fn bound(text: &str) -> Vec<usize> {
        bindings(&Source::new("crates/ops/src/a.rs", text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_variable_a_parameter_and_a_pattern_are_no_verbs_of_a_story() {
        assert_eq!(bound("fn a(\n  told: u8,\n) {\n  let mut said = 1;\n}\n"), [2, 4]);
        assert_eq!(bound("fn a() {\n  if let Some(kept) = b {}\n  c.map(|asked| 1);\n}\n"), [2, 3]);
        assert_eq!(bound("fn a() {\n  let B { came, .. } = b;\n  for (meant, _) in 0..c {}\n}\n"), [2, 3]);
        assert_eq!(bound("#[cfg(test)]\nmod tests {\n  fn a() { let told = 1; }\n}\n"), [3]);
    }

    #[test]
    fn fields_methods_functions_and_longer_names_are_no_such_bindings() {
        assert!(bound("struct A { pub kept: u8, told: u8, /** Why. */ asked: u8 }\nfn said() {}\nuse a::{told, b};\n").is_empty());
        assert!(
            bound("fn a() { let told_at = A { kept: b, told: c.told }; said(b.said(), d::kept); }\n")
                .is_empty()
        );
        assert!(bound("fn a() { let A { kept: stored, .. } = b; f(\"told\"); }\n").is_empty());
    }
}
