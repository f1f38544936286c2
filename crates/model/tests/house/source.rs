//! A Rust source as a flat list of tokens: comments gone, strings read, test code marked.

use std::fmt::{self, Display};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// One broken rule: where, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Violation {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Violation {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Fails with every violation, one per line.
#[track_caller]
pub(crate) fn report(violations: Vec<Violation>) {
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} broken:\n{}\n", lines.len(), lines.join("\n"));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Text,
    Sign,
    Open,
    Close,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub kind: Kind,
    pub text: String,
    pub line: usize,
    /// Compiled for tests only.
    pub test: bool,
}

/// One file of the workspace; `path` is relative to its root.
pub(crate) struct Source {
    pub path: String,
    pub lines: usize,
    pub tokens: Vec<Token>,
    pub complaint: Option<Violation>,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let mut tokens = Vec::new();
        let complaint = match text.parse::<TokenStream>() {
            Ok(stream) => {
                flatten(stream, &mut tokens);
                None
            }
            Err(error) => Some(Violation::new(path, error.span().start().line, "these are not Rust tokens")),
        };
        mark_tests(&mut tokens);
        join_parts(&mut tokens);
        let mut source = Self { path: path.to_owned(), lines: text.lines().count(), tokens, complaint };
        if source.is_test_file() {
            source.mark_all();
        }
        source
    }

    /// The directory under `crates/`, for a file that belongs to a crate.
    pub(crate) fn krate(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Tests and benchmarks by their place in the tree.
    pub(crate) fn is_test_file(&self) -> bool {
        self.path.starts_with("bench/")
            || self.path.split('/').any(|part| part == "tests" || part == "benches")
    }

    pub(crate) fn mark_all(&mut self) {
        self.tokens.iter_mut().for_each(|token| token.test = true);
    }

    pub(crate) fn production(&self) -> impl Iterator<Item = (usize, &Token)> {
        self.tokens.iter().enumerate().filter(|(_, token)| !token.test)
    }

    pub(crate) fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind != Kind::Text && token.text == text)
    }

    /// Files of modules that exist for tests only: `#[cfg(test)] mod name;`.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let (folder, file) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let folder = match file {
            "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
            _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
        };
        let declared = |at: &usize| self.is(*at, "mod") && self.tokens[*at].test && self.is(at + 2, ";");
        let names = (0..self.tokens.len()).filter(declared).map(|at| &self.tokens[at + 1].text);
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    /// Every path that is written in production code, imports spelled out: `use std::{fs, io}` names two.
    pub(crate) fn paths(&self) -> Vec<(Vec<&str>, usize)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.path_at(at, &[], &mut found);
        }
        found
    }

    fn path_at<'a>(&'a self, at: usize, before: &[&'a str], found: &mut Vec<(Vec<&'a str>, usize)>) -> usize {
        let token = &self.tokens[at];
        if token.kind != Kind::Word || token.test {
            return at + 1;
        }
        let mut path = before.to_vec();
        path.push(&token.text);
        let mut at = at + 1;
        while self.is(at, "::") {
            match self.tokens.get(at + 1) {
                Some(next) if next.kind == Kind::Word => path.push(&next.text),
                Some(next) if next.text == "{" => return self.path_list(at + 2, &path, found),
                _ => break,
            }
            at += 2;
        }
        found.push((path, token.line));
        at
    }

    fn path_list<'a>(
        &'a self,
        mut at: usize,
        before: &[&'a str],
        found: &mut Vec<(Vec<&'a str>, usize)>,
    ) -> usize {
        while at < self.tokens.len() && !self.is(at, "}") {
            at = self.path_at(at, before, found);
        }
        at + 1
    }

    /// The token that closes the group opened at `open`.
    pub(crate) fn closing(&self, open: usize) -> usize {
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len() - 1
    }
}

fn flatten(stream: TokenStream, out: &mut Vec<Token>) {
    let mut trees = stream.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let line = tree.span().start().line;
        let mut push = |kind, text: String, line| out.push(Token { kind, text, line, test: false });
        match tree {
            TokenTree::Ident(word) => push(Kind::Word, word.to_string(), line),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                match string_value(&text) {
                    Some(value) => push(Kind::Text, value, line),
                    None => push(Kind::Sign, text, line),
                }
            }
            TokenTree::Punct(sign) if sign.as_char() == ':' && sign.spacing() == Spacing::Joint => {
                let double = trees.next_if(|next| matches!(next, TokenTree::Punct(p) if p.as_char() == ':'));
                push(Kind::Sign, if double.is_some() { "::" } else { ":" }.to_owned(), line);
            }
            TokenTree::Punct(sign) => push(Kind::Sign, sign.to_string(), line),
            // A doc comment arrives as `#[doc = "…"]`.
            TokenTree::Group(group) if group.stream().to_string().starts_with("doc =") => {}
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                push(Kind::Open, open.to_owned(), line);
                flatten(group.stream(), out);
                let line = group.span_close().end().line;
                out.push(Token { kind: Kind::Close, text: close.to_owned(), line, test: false });
            }
        }
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// What a string literal says; `None` for numbers, characters and the like.
fn string_value(literal: &str) -> Option<String> {
    let start = literal.find('"').filter(|&at| literal[..at].chars().all(|c| "brc#".contains(c)))?;
    let body = &literal[start + 1..literal.rfind('"')?];
    if literal[..start].contains('r') {
        return Some(body.to_owned());
    }
    let mut value = String::new();
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        match (c, if c == '\\' { rest.next() } else { None }) {
            ('\\', Some('\n')) => rest = rest.as_str().trim_start().chars(),
            ('\\', Some('n' | 't' | 'r')) => value.push(' '),
            ('\\', Some(escaped)) => value.push(escaped),
            _ => value.push(c),
        }
    }
    Some(value)
}

/// Reads `concat!("a ", b!(), " c")` as the one text it is, with `_` for what is not written there.
fn join_parts(tokens: &mut [Token]) {
    for start in 0..tokens.len().saturating_sub(2) {
        if tokens[start].text != "concat"
            || tokens[start + 1].text != "!"
            || tokens[start + 2].kind != Kind::Open
        {
            continue;
        }
        let mut depth = 1;
        let mut texts: Vec<usize> = Vec::new();
        let mut whole = String::new();
        for (at, token) in tokens.iter().enumerate().skip(start + 3) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                Kind::Text if depth == 1 => {
                    texts.push(at);
                    whole.push_str(&token.text);
                }
                Kind::Word if depth == 1 => whole.push('_'),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        texts.iter().for_each(|&at| tokens[at].text.clear());
        if let Some(&first) = texts.first() {
            tokens[first].text = whole;
        }
    }
}

/// Marks the items under `#[cfg(test)]`, `#[cfg(all(test, …))]` and `#[test]`.
fn mark_tests(tokens: &mut [Token]) {
    let mut at = 0;
    while at < tokens.len() {
        match test_attribute(&tokens[at..]) {
            Some(whole_file) => {
                let end = if whole_file { tokens.len() } else { item_end(tokens, at) };
                tokens[at..end].iter_mut().for_each(|token| token.test = true);
                at = end;
            }
            None => at += 1,
        }
    }
}

/// Whether a test attribute starts here, and if so, whether it is the file's (`#![…]`).
fn test_attribute(tokens: &[Token]) -> Option<bool> {
    let words: Vec<&str> = tokens.iter().take(8).map(|token| token.text.as_str()).collect();
    let (inner, words) = match words.as_slice() {
        ["#", "!", rest @ ..] => (true, rest),
        ["#", rest @ ..] => (false, rest),
        _ => return None,
    };
    let known =
        [&["[", "cfg", "(", "test", ")"][..], &["[", "cfg", "(", "all", "(", "test"], &["[", "test", "]"]];
    known.iter().any(|start| words.starts_with(start)).then_some(inner)
}

/// One past the item at `at`: past its attributes, to the first `;` or `}` that is not inside anything.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            _ => {}
        }
        let ends = token.text == ";" || (token.kind == Kind::Close && token.text == "}");
        if depth == 0 && ends {
            return at + offset + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn production_words(text: &str) -> String {
        let source = Source::new("crates/model/src/a.rs", text);
        source.production().map(|(_, token)| token.text.clone()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_gone_and_strings_are_read() {
        let text = "// a\n/// b\n/* c { */ fn f<'a>() { '{'; \"x\\\"}\\\n   y\"; r#\"q\"z\"#; }";
        assert_eq!(production_words(text), "# fn f < ' a > ( ) { '{' ; x\"}y ; q\"z ; }");
    }

    #[test]
    fn the_parts_of_a_text_are_joined() {
        let text = "a(concat!(\"SELECT \", columns!(\"x\"), \" FROM b\", \" WHERE c\"));";
        assert!(
            production_words(text).contains("( SELECT _ FROM b WHERE c , columns"),
            "{}",
            production_words(text)
        );
    }

    #[test]
    fn test_code_is_marked() {
        assert_eq!(production_words("a; #[cfg(test)] #[x] mod t { fn f() { ; } } b;"), "a ; b ;");
        assert_eq!(production_words("a; #[cfg(all(test, unix))] use x::{y}; b;"), "a ; ; b ;");
        assert_eq!(production_words("#![cfg(test)] a;"), "");
        assert!(production_words("#[cfg(any(test, unix))] kept;").ends_with("kept ;"));
    }

    #[test]
    fn test_modules_in_files_of_their_own_are_found() {
        let modules = |path: &str| Source::new(path, "mod a; #[cfg(test)] mod tests;").test_modules();
        assert_eq!(modules("crates/model/src/packet/mod.rs"), ["crates/model/src/packet/tests"]);
        assert_eq!(modules("crates/model/src/packet.rs"), ["crates/model/src/packet/tests"]);
    }

    #[test]
    fn imports_are_spelled_out() {
        let source =
            Source::new("crates/model/src/a.rs", "use std::{fs::{self, File}, io}; x::y::<Z>(a::b);");
        let paths: Vec<String> = source.paths().iter().map(|(path, _)| path.join("::")).collect();
        assert_eq!(paths, ["use", "std::fs::self", "std::fs::File", "std::io", "x::y", "Z", "a::b"]);
    }
}
