//! Budgets: a file, a function, the median function.

use std::collections::BTreeSet;

use crate::exempt::{Exempt, FILES, FUNCTIONS};
use crate::source::{Kind, Source, Violation};

const FILE: usize = 400;
const TEST_FILE: usize = 500;
const FUNCTION: usize = 60;
pub(crate) const MEDIAN: usize = 10;

pub(crate) fn files(source: &Source) -> Vec<Violation> {
    files_but(source, FILES)
}

pub(crate) fn functions(source: &Source) -> Vec<Violation> {
    functions_but(source, FUNCTIONS)
}

fn files_but(source: &Source, exempt: &[Exempt]) -> Vec<Violation> {
    let (lines, budget) = file_lines(source);
    if lines <= allowed(exempt, &source.path, budget) {
        return Vec::new();
    }
    let what = format!(
        "{lines} lines, the budget is {budget}: split the file by subject, or name it in house/exempt.rs"
    );
    vec![Violation::new(&source.path, 1, what)]
}

fn functions_but(source: &Source, exempt: &[Exempt]) -> Vec<Violation> {
    let long = |f: &Function| f.lines > allowed(exempt, &format!("{}::{}", source.path, f.name), FUNCTION);
    let what = |f: &Function| {
        format!(
            "fn {} has {} lines, the budget is {FUNCTION}: give its parts names of their own",
            f.name, f.lines
        )
    };
    list(source).iter().filter(|f| long(f)).map(|f| Violation::new(&source.path, f.line, what(f))).collect()
}

fn allowed(exempt: &[Exempt], what: &str, budget: usize) -> usize {
    exempt.iter().find(|entry| entry.what == what).map_or(budget, |entry| entry.lines)
}

/// Lines that count, and how many there may be: code for tests inside a production file does not count.
fn file_lines(source: &Source) -> (usize, usize) {
    if source.tokens.iter().all(|token| token.test) {
        return (source.lines, TEST_FILE);
    }
    let mut test_lines = BTreeSet::new();
    for pair in source.tokens.windows(2).filter(|pair| pair[0].test && pair[1].test) {
        test_lines.extend(pair[0].line..=pair[1].line);
    }
    (source.lines - test_lines.len(), FILE)
}

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

/// The functions with a body, in production code.
fn list(source: &Source) -> Vec<Function> {
    let starts = source.production().filter(|(at, token)| token.text == "fn" && is_named(source, *at));
    starts.filter_map(|(at, _)| function(source, at)).collect()
}

fn is_named(source: &Source, at: usize) -> bool {
    source.tokens[at].kind == Kind::Word
        && source.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Word)
}

fn function(source: &Source, start: usize) -> Option<Function> {
    let mut at = start;
    while !source.is(at, "{") {
        let token = source.tokens.get(at)?;
        match token.kind {
            Kind::Open => at = source.closing(at),
            Kind::Close => return None,
            _ if token.text == ";" => return None,
            _ => {}
        }
        at += 1;
    }
    let line = source.tokens[start].line;
    let lines = source.tokens[source.closing(at)].line - line + 1;
    Some(Function { name: source.tokens[start + 1].text.clone(), line, lines })
}

pub(crate) fn lengths(source: &Source) -> Vec<usize> {
    list(source).iter().map(|function| function.lines).collect()
}

/// How many there are, and the one in the middle.
pub(crate) fn median(mut lengths: Vec<usize>) -> (usize, usize) {
    lengths.sort_unstable();
    (lengths.len(), lengths.get(lengths.len() / 2).copied().unwrap_or(0))
}

/// Exemptions that name nothing, are not needed any more, or give no reason.
pub(crate) fn stale(sources: &[Source]) -> Vec<Violation> {
    let file =
        |entry: &Exempt| sources.iter().any(|s| s.path == entry.what && file_lines(s).0 > file_lines(s).1);
    let long = |s: &Source, entry: &Exempt| {
        list(s).iter().any(|f| f.lines > FUNCTION && format!("{}::{}", s.path, f.name) == entry.what)
    };
    let function = |entry: &Exempt| sources.iter().any(|s| long(s, entry));
    let files = FILES.iter().filter(|entry| entry.reason.is_empty() || !file(entry));
    let functions = FUNCTIONS.iter().filter(|entry| entry.reason.is_empty() || !function(entry));
    let what = |entry: &Exempt| {
        format!("the exemption of {} is not needed or gives no reason: remove it", entry.what)
    };
    files.chain(functions).map(|e| Violation::new("crates/model/tests/house/exempt.rs", 1, what(e))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXEMPT: &[Exempt] = &[
        Exempt { what: "crates/model/src/a.rs", lines: 410, reason: "a table" },
        Exempt { what: "crates/model/src/a.rs::f", lines: 62, reason: "a table" },
    ];

    fn source(path: &str, text: &str) -> Source {
        Source::new(path, text)
    }

    fn long_function(lines: usize) -> String {
        format!("impl X {{ fn f<T>(a: [u8; 3]) -> T where T: Y {{{}}} }}", "\n".repeat(lines - 1))
    }

    #[test]
    fn a_long_file_is_found() {
        let text = "use a;\n".repeat(401);
        let found = files_but(&source("crates/model/src/b.rs", &text), EXEMPT);
        assert!(found[0].what.starts_with("401 lines"), "{found:?}");
        assert_eq!(files_but(&source("crates/model/src/a.rs", &text), EXEMPT), []);
        assert_eq!(files_but(&source("crates/model/tests/b.rs", &text), EXEMPT), []);
        assert_eq!(files_but(&source("crates/model/tests/b.rs", &"use a;\n".repeat(501)), EXEMPT).len(), 1);
    }

    #[test]
    fn tests_inside_a_file_do_not_count() {
        let text =
            format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "use a;\n".repeat(399), "use b;\n".repeat(300));
        assert_eq!(files_but(&source("crates/model/src/b.rs", &text), &[]), []);
    }

    #[test]
    fn a_long_function_is_found() {
        let found = |path: &str, lines| functions_but(&source(path, &long_function(lines)), EXEMPT);
        assert_eq!(found("crates/model/src/b.rs", 60), []);
        assert!(found("crates/model/src/b.rs", 61)[0].what.starts_with("fn f has 61 lines"));
        assert_eq!(found("crates/model/src/a.rs", 61), []);
        assert_eq!(found("crates/model/tests/b.rs", 61), []);
    }

    #[test]
    fn declarations_and_function_pointers_have_no_length() {
        let text =
            "trait T { fn a(&self) -> u8; fn b(&self) { } } struct S { f: fn(u8) -> u8 } const fn c() {\n}";
        assert_eq!(lengths(&source("crates/model/src/b.rs", text)), [1, 2]);
        assert_eq!(median(vec![9, 1, 4]), (3, 4));
    }

    #[test]
    fn a_text_that_looks_like_code_is_none() {
        let text =
            "const A: &str = \"fn f() {\"; const B: char = '{'; // fn g() {\nfn h() { let s = r#\"}\"#; }";
        assert_eq!(lengths(&source("crates/model/src/b.rs", text)), [1]);
    }
}
