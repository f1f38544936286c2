//! One thing has one key in every JSON answer: a baton is `baton_id`, a hand-off `handoff_id`. A former key may stay beside it.

use std::collections::BTreeSet;

use crate::source::{Kind, Source, Violation};

/// Crates whose types are answers.
const ANSWERS: [&str; 2] = ["crates/ops/src/", "crates/model/src/"];

/// Answers that name a baton or a hand-off by another key alone.
pub(crate) fn one_key(source: &Source) -> Vec<Violation> {
    if !ANSWERS.iter().any(|place| source.path.starts_with(place)) {
        return Vec::new();
    }
    types(source).into_iter().filter_map(|of| of.violation(&source.path)).collect()
}

struct Type {
    name: String,
    line: usize,
    fields: BTreeSet<String>,
}

impl Type {
    fn violation(&self, path: &str) -> Option<Violation> {
        let is_of = |word: &str| self.name.contains(word);
        let is_input = ["Input", "Request", "Query"].iter().any(|end| self.name.ends_with(end));
        let has = |field: &str| self.fields.contains(field);
        let is_about = is_of("Baton") || is_of("Handoff") || self.name == "Waiting";
        if !is_about || is_input || !(has("id") || has("delta_id")) {
            return None;
        }
        let is_named = has("baton_id") || has("handoff_id");
        (!is_named).then(|| {
            let what =
                format!("`{}` names a baton or a hand-off: the key is `baton_id` or `handoff_id`", self.name);
            Violation::new(path, self.line, what)
        })
    }
}

/// The public types with their public fields.
fn types(source: &Source) -> Vec<Type> {
    let tokens = &source.tokens;
    let word =
        |at: usize| tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| token.text.as_str());
    let mut found: Vec<Type> = Vec::new();
    for (at, token) in source.production() {
        match (word(at), word(at + 1)) {
            (Some("struct"), Some(name)) => {
                found.push(Type { name: name.to_owned(), line: token.line, fields: BTreeSet::new() });
            }
            (Some("enum" | "impl" | "fn" | "trait" | "mod"), _) => {
                found.push(Type { name: String::new(), line: token.line, fields: BTreeSet::new() });
            }
            (Some("pub"), Some(field)) if source.is(at + 2, ":") => {
                if let Some(of) = found.last_mut() {
                    of.fields.insert(field.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baton_by_another_key_alone_is_found() {
        let check = |text: &str| one_key(&Source::new("crates/ops/src/x.rs", text)).len();
        assert_eq!(check("pub struct PickedBaton { pub delta_id: String }"), 1);
        assert_eq!(check("pub struct PickedBaton { pub delta_id: String, pub baton_id: String }"), 0);
        assert_eq!(
            check("pub struct HandoffRow { pub id: String } pub struct Task { pub handoff_id: String }"),
            1
        );
        assert_eq!(check("pub struct BatonInput { pub id: String }"), 0, "what is asked may be either");
        assert_eq!(check("pub struct Task { pub id: String }"), 0);
    }
}
