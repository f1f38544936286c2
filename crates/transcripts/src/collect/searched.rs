//! Names that a session had to do with: those that it searched for and those that its edits define, the latest first.

use super::SourceRef;

/// How many names are kept.
const MAX_NAMES: usize = 80;
/// How many lines of one edit are looked at.
const MAX_LINES: usize = 400;
/// Names shorter than this say too little.
const MIN_CHARS: usize = 4;

/// Words of languages that stand in many patterns.
const COMMON: &[&str] = &[
    "func",
    "function",
    "type",
    "struct",
    "return",
    "error",
    "errors",
    "const",
    "interface",
    "import",
    "package",
    "class",
    "self",
    "this",
    "from",
    "true",
    "false",
    "null",
    "none",
    "string",
    "test",
    "tests",
    "impl",
    "enum",
    "trait",
    "async",
    "await",
    "export",
    "default",
    "static",
    "public",
    "private",
    "void",
    "todo",
    "file",
    "name",
    "path",
    "data",
    "value",
    "main",
];

/// Names in the order of their last search, the latest last.
#[derive(Debug, Default)]
pub(super) struct Identifiers(Vec<(String, SourceRef)>);

impl Identifiers {
    /// A search for this pattern, a regular expression or a glob, and what it printed. A name that was not found is none of the
    /// code; where only files or a count were printed, the one name of a pattern was found.
    pub(super) fn add(&mut self, pattern: &str, printed: &str, at: &SourceRef) {
        let names = names(pattern);
        let is_only = names.len() == 1 && has_matches(printed);
        for name in names {
            // What stands in the output only as a part of longer names is none.
            let is_shown = memchr::memmem::find(printed.as_bytes(), name.as_bytes()).is_some();
            if (is_only && !is_shown) || is_name_in(printed, &name) {
                self.put(name, at);
            }
        }
    }

    /// The names that the lines of an edit define; one whose definition it takes away is gone.
    pub(super) fn defined_in(&mut self, diff: &str, at: &SourceRef) {
        let with = |mark: char| {
            diff.lines().filter(move |line| line.starts_with(mark)).take(MAX_LINES).filter_map(definition)
        };
        let lines = |mark: char| diff.lines().filter(move |line| line.starts_with(mark)).take(MAX_LINES);
        let added: Vec<&str> = with('+').chain(lines('+').filter_map(constant)).collect();
        let mut removed: Vec<&str> = with('-').chain(lines('-').filter_map(constant)).collect();
        removed.retain(|name| !added.contains(name));
        self.0.retain(|(known, _)| !removed.contains(&known.as_str()));
        for name in with('+') {
            self.put(name.to_owned(), at);
        }
    }

    /// The names, the latest first. Plain words, which many files hold, are none.
    pub(super) fn latest_first(&self) -> impl Iterator<Item = &(String, SourceRef)> {
        self.0.iter().rev().filter(|(name, _)| is_compound(name))
    }

    fn put(&mut self, name: String, at: &SourceRef) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, at.clone()));
        let excess = self.0.len().saturating_sub(MAX_NAMES);
        self.0.drain(..excess);
    }
}

/// Whether a name stands somewhere by itself.
fn is_name_in(text: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    memchr::memmem::find_iter(text.as_bytes(), name.as_bytes())
        .any(|at| !text[..at].ends_with(goes_on) && !text[at + name.len()..].starts_with(goes_on))
}

/// Whether a search printed something else than that there is nothing.
fn has_matches(printed: &str) -> bool {
    let first = printed.trim_start().lines().next().unwrap_or_default().to_lowercase();
    !first.is_empty()
        && !["no match", "no files found", "0 match", "no results"].iter().any(|none| first.starts_with(none))
}

/// `loadUser`, `load_user`: written as a name, not as a word; `FAIL` and `User` are words.
fn is_compound(name: &str) -> bool {
    let has_lower = name.chars().any(char::is_lowercase);
    name.trim_matches('_').contains('_') || (has_lower && name.chars().skip(1).any(char::is_uppercase))
}

/// The constant or variable that a line defines: `-const claudeDir = ".claude"`, `-    static MAX: usize`.
fn constant(line: &str) -> Option<&str> {
    const KEYWORDS: &[&str] = &["const", "var", "let", "static", "val", "mod"];
    let words = line.get(1..)?.trim_start();
    let words =
        ["export ", "pub "].iter().fold(words, |words, before| words.strip_prefix(before).unwrap_or(words));
    let rest =
        KEYWORDS.iter().find_map(|keyword| words.strip_prefix(keyword)?.strip_prefix(' '))?.trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    rest.get(..end).filter(|name| name.chars().count() >= MIN_CHARS)
}

/// The name that a line defines: `+func (s *Store) Load(`, `+    def load(self)`, `+pub(crate) fn load<T>(`.
fn definition(line: &str) -> Option<&str> {
    const KEYWORDS: &[&str] =
        &["func", "fn", "def", "class", "struct", "enum", "trait", "interface", "type", "function"];
    let words = line.get(1..)?.trim_start();
    let (at, keyword) = words.split_whitespace().take(5).find_map(|word| {
        let keyword = KEYWORDS.iter().find(|keyword| **keyword == word)?;
        Some((words.find(word)?, *keyword))
    })?;
    let rest = words.get(at + keyword.len()..)?.trim_start();
    // The receiver of a method in Go.
    let rest = match rest.strip_prefix('(') {
        Some(receiver) => receiver.split_once(')')?.1.trim_start(),
        None => rest,
    };
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let name = rest.get(..end)?;
    (name.chars().count() >= MIN_CHARS && !COMMON.contains(&name.to_lowercase().as_str())).then_some(name)
}

/// Whether this is the id of a commit or the like.
fn is_digest(word: &str) -> bool {
    word.len() > 6
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

fn names(pattern: &str) -> Vec<String> {
    // A class such as `\b` or `\s` is no letter of the name that follows.
    let mut plain = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
            plain.push(' ');
        } else {
            plain.push(c);
        }
    }
    let words = plain.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let telling = |word: &&str| {
        word.chars().count() >= MIN_CHARS
            && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !COMMON.contains(&word.to_lowercase().as_str())
            && !is_digest(word)
    };
    words.filter(telling).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &Identifiers) -> Vec<&str> {
        names.latest_first().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn the_names_of_a_pattern_are_known_without_its_marks() {
        assert_eq!(names(r"func\s+(\w+) *ParseUser\(|\bload_session\b"), ["ParseUser", "load_session"]);
        let mut searched = Identifiers::default();
        for pattern in ["alphaOne|betaTwo", "gammaThree|FAIL|session", "alphaOne"] {
            searched.add(pattern, pattern, &SourceRef::default());
        }
        assert_eq!(order(&searched), ["alphaOne", "gammaThree", "betaTwo"], "plain words are no names");
    }

    #[test]
    fn a_name_that_an_edit_defines_is_known_until_one_takes_it_away() {
        let mut names = Identifiers::default();
        let at = SourceRef::default();
        names.defined_in("+func (s *Store) LoadAll(x int) {\n-func Gone() {\n+  return funcs", &at);
        names.defined_in("+    pub(crate) fn save_all<T>(x: T) {\n+// a type of it", &at);
        assert_eq!(order(&names), ["save_all", "LoadAll"]);
        names.defined_in(
            "-func (s *Store) LoadAll(x int) {\n-pub fn save_all() {\n+pub fn save_all(x: u8) {",
            &at,
        );
        assert_eq!(order(&names), ["save_all"]);
    }

    #[test]
    fn a_name_that_was_searched_for_and_not_found_is_none() {
        let mut names = Identifiers::default();
        names.add("loadUser|load_all", "src/a.rs:7: fn load_all()", &SourceRef::default());
        names.add("saveUser", "No matches found", &SourceRef::default());
        names.add("drop_user", "Found 2 files\nsrc/a.rs\nsrc/b.rs", &SourceRef::default());
        names.add("drop_one|drop_two", "Found 2 files\nsrc/a.rs\nsrc/b.rs", &SourceRef::default());
        let order: Vec<&str> = names.latest_first().map(|(name, _)| name.as_str()).collect();
        assert_eq!(order, ["drop_user", "load_all"]);
    }
}
