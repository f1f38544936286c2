//! The files that a path given to git names: itself, those in a folder, those of a pattern.

/// How a path names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathMatch {
    /// By its name or by a pattern, so that git refuses it where it ignores the file.
    Named,
    /// It lies in a folder.
    Inside,
}

/// Whether a path, a folder or a pattern, `src/*.rs`, `src/{a,b}.rs`, names this file.
pub(super) fn matches(spec: &str, file: &str) -> Option<PathMatch> {
    let spec = spec.strip_prefix(":/").unwrap_or(spec);
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
    (is_pattern && fits(&spec, &path)).then_some(PathMatch::Named)
}

/// `a{b,c}d` as `abd` and `acd`; nothing where the braces hold no alternatives.
fn alternatives(spec: &str) -> Option<Vec<String>> {
    let (before, rest) = spec.split_once('{')?;
    let (inside, after) = rest.split_once('}')?;
    let is_list = inside.contains(',') && !inside.contains('{');
    is_list.then(|| inside.split(',').map(|one| format!("{before}{one}{after}")).collect())
}

/// Whether a pattern of the shell fits all of a path: `*` stays in its folder, `**` does not.
fn fits(spec: &[char], path: &[char]) -> bool {
    match (spec, path) {
        ([], []) => true,
        (['*', '*', '/', rest @ ..], _) => {
            fits(rest, path) || (0..path.len()).any(|at| path[at] == '/' && fits(rest, &path[at + 1..]))
        }
        (['*', '*', rest @ ..], _) => (0..=path.len()).any(|at| fits(rest, &path[at..])),
        (['*', rest @ ..], _) => {
            let folder = path.iter().position(|c| *c == '/').unwrap_or(path.len());
            (0..=folder).any(|at| fits(rest, &path[at..]))
        }
        (['[', rest @ ..], [first, more @ ..]) => {
            let Some(end) = rest.iter().position(|c| *c == ']') else { return false };
            class_holds(&rest[..end], *first) && fits(&rest[end + 1..], more)
        }
        (['?', rest @ ..], [first, more @ ..]) => *first != '/' && fits(rest, more),
        ([one, rest @ ..], [first, more @ ..]) => one == first && fits(rest, more),
        _ => false,
    }
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
}
