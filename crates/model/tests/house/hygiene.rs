//! The tree as a guest sees it: small lock file, tidy root, nothing unfinished, no path of somebody's machine.

use std::collections::BTreeSet;

use crate::source::Violation;

/// 400, and four for the Redis client that is on our list of licences (docs/internals/dependencies.md says why).
const PACKAGES: usize = 404;
const ENTRIES: usize = 20;

/// The only home directory that documentation and tests speak of.
const EXAMPLE_HOME: &str = "you";

pub(crate) fn lock_file(text: &str) -> Vec<Violation> {
    let packages = text.lines().filter(|line| *line == "[[package]]").count();
    let what = format!(
        "{packages} packages, the budget is {PACKAGES}: drop a dependency or a feature (`cargo tree -d`)"
    );
    (packages > PACKAGES).then(|| Violation::new("Cargo.lock", 1, what)).into_iter().collect()
}

pub(crate) fn root(tracked: &[String]) -> Vec<Violation> {
    let entries: BTreeSet<&str> = tracked.iter().filter_map(|path| path.split('/').next()).collect();
    let what = format!("{} entries in the root, the budget is {ENTRIES}: {entries:?}", entries.len());
    (entries.len() > ENTRIES).then(|| Violation::new(".", 1, what)).into_iter().collect()
}

/// What the map of the code may have; reasons and protocols belong into `docs/internals`.
const MAP_WORDS: usize = 1_500;
const LINE_WIDTH: usize = 120;

/// Documents for engineers: short lines, and a map that is read in one go. Tables may be wide.
pub(crate) fn document(path: &str, text: &str) -> Vec<Violation> {
    if path != "ARCHITECTURE.md" && !path.starts_with("docs/internals/") {
        return Vec::new();
    }
    let wide = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('|') && line.chars().count() > LINE_WIDTH);
    let mut found: Vec<Violation> = wide
        .map(|(at, _)| Violation::new(path, at + 1, format!("a line over {LINE_WIDTH} characters: wrap it")))
        .collect();
    let words = text.split_whitespace().count();
    if path == "ARCHITECTURE.md" && words > MAP_WORDS {
        let what = format!("{words} words, the budget is {MAP_WORDS}: move reasons to docs/internals");
        found.push(Violation::new(path, 1, what));
    }
    found
}

/// Tests that a document names (`module::name`, or a name that ends in `…`), of which the sources have none.
pub(crate) fn unknown_tests(path: &str, text: &str, sources: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let named =
            line.split('`').skip(1).step_by(2).filter(|code| code.contains("::") && !code.contains(' '));
        for code in named {
            let name = code.rsplit("::").next().unwrap_or_default();
            let is_there = match name.strip_suffix('…') {
                Some(begin) => sources.contains(&format!("fn {begin}")),
                None => ["fn ", "mod "].iter().any(|kind| has_word(sources, &format!("{kind}{name}"))),
            };
            if !is_there {
                found.push(Violation::new(
                    path,
                    at + 1,
                    format!("there is no test `{code}`: name the one that holds this"),
                ));
            }
        }
    }
    found
}

pub(crate) fn text(path: &str, text: &str) -> Vec<Violation> {
    let is_code = path.rsplit('/').next().is_some_and(|name| !name.contains('.'))
        || [".rs", ".sql", ".toml", ".sh"].iter().any(|end| path.ends_with(end));
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let unfinished = unfinished().into_iter().filter(|mark| is_code && has_word(line, mark));
        let marks = unfinished
            .map(|mark| format!("{mark} is left: finish it, or open an issue and say so in a sentence"));
        let paths = machine_paths(line).into_iter().map(|path| {
            format!("{path} is a path of one machine: write /home/{EXAMPLE_HOME}/… or a relative one")
        });
        found.extend(marks.chain(paths).map(|what| Violation::new(path, at + 1, what)));
    }
    found
}

/// Assembled, so that this file does not contain them.
fn unfinished() -> [String; 4] {
    [["to", "do!("].concat(), ["unimple", "mented!("].concat(), ["FIX", "ME"].concat(), "X".repeat(3)]
}

fn has_word(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
        !part(before) && (word.ends_with('(') || !part(after))
    })
}

/// Absolute paths that only exist where the author sat.
fn machine_paths(line: &str) -> Vec<String> {
    let homes = [["/ho", "me/"].concat(), ["/Us", "ers/"].concat()];
    let mut found: Vec<String> =
        starts(line, &["/wo", "rk/"].concat()).map(|rest| cut(rest).to_owned()).collect();
    for home in homes {
        let users = starts(line, &home).filter(|rest| is_somebody(&rest[home.len()..]));
        found.extend(users.map(|rest| cut(rest).to_owned()));
    }
    found
}

/// The occurrences that start a path, so not `src/…` or `~/…`.
fn starts<'a>(line: &'a str, prefix: &str) -> impl Iterator<Item = &'a str> {
    let inside = |c: char| c.is_alphanumeric() || "._-~/})>*".contains(c);
    let hits = line.match_indices(prefix).map(|(at, _)| at).collect::<Vec<_>>();
    hits.into_iter().filter(move |&at| !line[..at].ends_with(inside)).map(|at| &line[at..])
}

fn cut(rest: &str) -> &str {
    &rest[..rest.find(|c: char| c.is_whitespace() || "\"'`)>,;".contains(c)).unwrap_or(rest.len())]
}

/// A user's name follows, and it is not the example's.
fn is_somebody(rest: &str) -> bool {
    let name: &str =
        &rest[..rest.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).unwrap_or(rest.len())];
    !name.is_empty() && name != EXAMPLE_HOME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_lock_file_is_found() {
        assert_eq!(lock_file(&"[[package]]\n".repeat(PACKAGES)), []);
        assert_eq!(lock_file(&"[[package]]\n".repeat(PACKAGES + 1)).len(), 1);
    }

    #[test]
    fn a_full_root_is_found() {
        let entries = |count: usize| {
            (0..count).flat_map(|n| [format!("d{n}/a"), format!("d{n}/b")]).collect::<Vec<_>>()
        };
        assert_eq!(root(&entries(20)), []);
        assert_eq!(root(&entries(21)).len(), 1);
    }

    #[test]
    fn a_long_map_and_wide_lines_are_found() {
        let wide = "x".repeat(LINE_WIDTH + 1);
        assert_eq!(document("docs/internals/a.md", &wide).len(), 1);
        assert_eq!(document("docs/internals/a.md", &format!("| {wide} |")), []);
        assert_eq!(document("docs/guide.md", &wide), []);
        assert_eq!(document("ARCHITECTURE.md", &"word\n".repeat(MAP_WORDS)), []);
        assert_eq!(document("ARCHITECTURE.md", &"word\n".repeat(MAP_WORDS + 1)).len(), 1);
    }

    #[test]
    fn a_test_that_is_not_there_is_found() {
        let sources = "fn one_holds() {} mod store { } fn longer_name_of_a_test() {}";
        let named =
            "Held by `a::one_holds`, `b::store`, `c::longer_name_…`, `d::gone`, `e::gone_…`, not `f :: g`.";
        assert_eq!(unknown_tests("docs/a.md", named, sources).len(), 2);
    }

    #[test]
    fn unfinished_code_is_found() {
        for mark in unfinished() {
            assert_eq!(text("crates/a/src/b.rs", &format!("a\n{mark}) b")).len(), 1, "{mark}");
            assert_eq!(text("docs/a.md", &mark), []);
        }
        assert_eq!(text("test", "mktemp /tmp/a.XXXXXX"), []);
    }

    #[test]
    fn machine_paths_are_found() {
        let bad =
            [["/ho", "me/ann/x"].concat(), ["\"/wo", "rk/main\""].concat(), ["cd /Us", "ers/ann"].concat()];
        for line in bad {
            assert_eq!(text("docs/a.md", &line).len(), 1, "{line}");
        }
        let inside = ["src", "~", "https://x.org"].map(|before| format!("{before}/{}/a.rs", "work"));
        for line in ["/home/you/project", "/home/<name>"].into_iter().chain(inside.iter().map(String::as_str))
        {
            assert_eq!(text("docs/a.md", line), [], "{line}");
        }
    }
}
