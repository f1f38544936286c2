//! The files that a path given to git names: itself, those in a folder, those of a pattern.

use std::collections::HashSet;

/// How a path names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathMatch {
    /// By its name or by a pattern, so that git refuses it where it ignores the file.
    Named,
    /// It lies in a folder.
    Inside,
}

/// More groups of braces, which multiply, are not looked into: such a path names nothing.
const MAX_GROUPS: usize = 4;

/// Whether a path, a folder or a pattern, `src/*.rs`, `src/{a,b}.rs`, names this file.
pub(super) fn matches(spec: &str, file: &str) -> Option<PathMatch> {
    let spec = spec.strip_prefix(":/").unwrap_or(spec);
    if spec.matches('{').count() > MAX_GROUPS {
        return (spec == file).then_some(PathMatch::Named);
    }
    if spec.contains('{')
        && let Some(all) = alternatives(spec)
    {
        return all.iter().find_map(|one| matches(one, file));
    }
    let rest = file.strip_prefix(spec.trim_end_matches('/'));
    match rest {
        Some("") => return Some(PathMatch::Named),
        Some(rest) if rest.starts_with('/') => return Some(PathMatch::Inside),
        _ => {}
    }
    let is_pattern = spec.contains(['*', '?', '[']);
    let (spec, path): (Vec<char>, Vec<char>) = (spec.chars().collect(), file.chars().collect());
    (is_pattern && fits(&spec, &path, &mut HashSet::new())).then_some(PathMatch::Named)
}

/// `a{b,c}d` as `abd` and `acd`; nothing where the braces hold no alternatives.
fn alternatives(spec: &str) -> Option<Vec<String>> {
    let (before, rest) = spec.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let is_list = inside.contains(',') && !inside.contains('{');
    is_list.then(|| inside.split(',').map(|one| format!("{before}{one}{after}")).collect())
}

/// Whether a pattern of the shell fits all of a path: `*` stays in its folder, `**` does not. `failed` holds the lengths of what was left of
/// both where they did not fit, so that each pair is tried once however many stars there are.
fn fits(spec: &[char], path: &[char], failed: &mut HashSet<(usize, usize)>) -> bool {
    if failed.contains(&(spec.len(), path.len())) {
        return false;
    }
    let is_fit = match (spec, path) {
        ([], []) => true,
        (['*', '*', '/', rest @ ..], _) => {
            fits(rest, path, failed)
                || (0..path.len()).any(|at| path[at] == '/' && fits(rest, &path[at + 1..], failed))
        }
        (['*', '*', rest @ ..], _) => (0..=path.len()).any(|at| fits(rest, &path[at..], failed)),
        (['*', rest @ ..], _) => {
            let folder = path.iter().position(|c| *c == '/').unwrap_or(path.len());
            (0..=folder).any(|at| fits(rest, &path[at..], failed))
        }
        (['[', rest @ ..], [first, more @ ..]) => {
            let end = rest.iter().position(|c| *c == ']');
            end.is_some_and(|end| class_holds(&rest[..end], *first) && fits(&rest[end + 1..], more, failed))
        }
        (['?', rest @ ..], [first, more @ ..]) => *first != '/' && fits(rest, more, failed),
        ([one, rest @ ..], [first, more @ ..]) => one == first && fits(rest, more, failed),
        _ => false,
    };
    if !is_fit {
        failed.insert((spec.len(), path.len()));
    }
    is_fit
}

/// Whether `a-z_`, or `!a-z`, holds a character.
fn class_holds(class: &[char], c: char) -> bool {
    let (is_negated, mut class) = match class {
        ['!' | '^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut holds = false;
    while let Some((first, rest)) = class.split_first() {
        match rest {
            ['-', last, more @ ..] => {
                holds |= (*first..=*last).contains(&c);
                class = more;
            }
            _ => {
                holds |= *first == c;
                class = rest;
            }
        }
    }
    holds != is_negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_files_of_its_folder() {
        for (spec, file) in [
            ("conv/*.py", "conv/cura.py"),
            ("conv/[a-d]?ra.py", "conv/cura.py"),
            ("**/*.py", "conv/x/cura.py"),
            ("**/*.py", "cura.py"),
            ("src/{a,b}.rs", "src/b.rs"),
            (":/a.rs", "a.rs"),
            ("a.rs", "a.rs"),
        ] {
            assert_eq!(matches(spec, file), Some(PathMatch::Named), "{spec}");
        }
        assert_eq!(matches("src/", "src/x/a.rs"), Some(PathMatch::Inside));
        for (spec, file) in [
            ("conv/*.py", "conv/x/cura.py"),
            ("conv/*.py", "conv/cura.pyc"),
            ("conv/[!c]*.py", "conv/cura.py"),
            ("src", "srcs/a.rs"),
            ("src/[a", "src/a"),
        ] {
            assert_eq!(matches(spec, file), None, "{spec}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_or_braces_takes_no_time() {
        let (braces, stars, file) = ("{a,b}".repeat(30), "*a".repeat(60), "a".repeat(200));
        assert_eq!(matches(&format!("x{braces}"), &file), None);
        assert_eq!(matches(&format!("{stars}b"), &file), None);
        assert_eq!(matches(&stars, &file), Some(PathMatch::Named));
    }
}
