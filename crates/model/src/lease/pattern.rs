//! Paths and globs, and whether two of them can mean the same file.
//!
//! `*` and `?` stop at a slash, `**` does not, a pattern that ends in a slash means everything below. Brackets and braces
//! are ordinary characters: files are called `[id].tsx`.

use crate::id::visible;
use crate::refusal::Refusal;

/// The longest pattern.
const MAX_PATTERN_LEN: usize = 512;

/// A pattern from the root of the repository, in the one form that is kept; refused when it leads outside.
pub fn check(text: &str) -> Result<String, Refusal> {
    let slashes = text.trim().replace('\\', "/");
    let mut parts: Vec<&str> = slashes.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if slashes.ends_with('/') && !parts.is_empty() {
        parts.push("**");
    }
    let outside = slashes.starts_with('/') || parts.contains(&"..") || slashes.get(1..3) == Some(":/");
    let pattern = parts.join("/");
    if outside
        || pattern.is_empty()
        || pattern.len() > MAX_PATTERN_LEN
        || pattern.chars().any(char::is_control)
    {
        return Err(Refusal::invalid(
            "pattern_invalid",
            format!("`{}` is no path or glob in the repository", visible(text)),
            "name it from the root of the repository: src/cart.py, src/**, docs/*.md",
        ));
    }
    Ok(pattern)
}

/// One step of a pattern.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    Char(char),
    /// `?`: any character but a slash.
    One,
    /// `*`: any number of them.
    Star,
    /// `**`: any number of any characters.
    Deep,
    /// `**/`: no folders at all, or what follows.
    Folders,
    /// Inside those folders, up to a slash.
    Inside,
}

fn steps(pattern: &str) -> Vec<Step> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut steps = Vec::with_capacity(chars.len());
    let mut at = 0;
    while at < chars.len() {
        let begins = at == 0 || chars[at - 1] == '/';
        let stars = chars[at..].iter().take_while(|c| **c == '*').count();
        match (stars, chars[at]) {
            (0, '?') => steps.push(Step::One),
            (0, c) => steps.push(Step::Char(c)),
            (1, _) => steps.push(Step::Star),
            (_, _) if begins && chars.get(at + stars) == Some(&'/') => {
                steps.extend([Step::Folders, Step::Inside]);
                at += 1;
            }
            (_, _) => steps.push(Step::Deep),
        }
        at += stars.max(1);
    }
    steps
}

/// What a step may take, and where it leads: staying, or going on.
fn moves(steps: &[Step], at: usize) -> Option<(TokenMatch, usize)> {
    Some(match steps.get(at)? {
        Step::Char(c) => (TokenMatch::Just(*c), at + 1),
        Step::One => (TokenMatch::NoSlash, at + 1),
        Step::Star => (TokenMatch::NoSlash, at),
        Step::Deep | Step::Inside => (TokenMatch::Any, at),
        Step::Folders => return None,
    })
}

#[derive(Clone, Copy)]
enum TokenMatch {
    Just(char),
    NoSlash,
    Any,
}

impl TokenMatch {
    /// A character that both take.
    fn meet(self, other: Self) -> bool {
        match (self, other) {
            (Self::Just(a), Self::Just(b)) => a == b,
            (Self::Just(a), Self::NoSlash) | (Self::NoSlash, Self::Just(a)) => a != '/',
            _ => true,
        }
    }

    fn takes_slash_with(self, other: Self) -> bool {
        let takes = |one: Self| matches!(one, Self::Any | Self::Just('/'));
        takes(self) && takes(other)
    }
}

/// Whether a pattern has wildcards; one without is a single path.
pub fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether two patterns can mean the same file. A name may be that of a folder, so that it means what is below it, too.
pub fn touches(a: &str, b: &str) -> bool {
    overlap(a, b) || below(a).is_some_and(|a| overlap(&a, b)) || below(b).is_some_and(|b| overlap(a, &b))
}

/// What lies below a pattern that ends in a name.
fn below(pattern: &str) -> Option<String> {
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    (!is_glob(name)).then(|| format!("{pattern}/**"))
}

/// Whether there is a path that both patterns match. Both run side by side over every path at once.
pub fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (steps(a), steps(b));
    let width = b.len() + 1;
    let mut seen = vec![false; (a.len() + 1) * width];
    let mut open = vec![(0, 0)];
    while let Some((i, j)) = open.pop() {
        if std::mem::replace(&mut seen[i * width + j], true) {
            continue;
        }
        if i == a.len() && j == b.len() {
            return true;
        }
        open.extend(for_nothing(&a, i).map(|to| (to, j)));
        open.extend(for_nothing(&b, j).map(|to| (i, to)));
        if let (Some((ta, to_a)), Some((tb, to_b))) = (moves(&a, i), moves(&b, j))
            && ta.meet(tb)
        {
            open.extend(next(&a, i, to_a, &b, j, to_b, ta.takes_slash_with(tb)));
        }
    }
    false
}

/// Where a step leads that takes nothing: stars may.
fn for_nothing(steps: &[Step], at: usize) -> impl Iterator<Item = usize> {
    let (past, inside) = match steps.get(at) {
        Some(Step::Star | Step::Deep) => (Some(at + 1), None),
        Some(Step::Folders) => (Some(at + 2), Some(at + 1)),
        _ => (None, None),
    };
    past.into_iter().chain(inside)
}

/// Where one common character leads. `**/` is over only behind a slash, so it may go on only with one.
fn next(
    a: &[Step],
    i: usize,
    to_a: usize,
    b: &[Step],
    j: usize,
    to_b: usize,
    slash: bool,
) -> Vec<(usize, usize)> {
    let ends = |steps: &[Step], at: usize, to: usize| match steps.get(at) {
        Some(Step::Inside) if slash => vec![to, at + 1],
        _ => vec![to],
    };
    let (from_a, from_b) = (ends(a, i, to_a), ends(b, j, to_b));
    from_a.iter().flat_map(|x| from_b.iter().map(move |y| (*x, *y))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check_overlap(a: &str, b: &str, expected: bool) {
        assert_eq!(overlap(a, b), expected, "{a} {b}");
        assert_eq!(overlap(b, a), expected, "{b} {a}");
    }

    #[test]
    fn patterns_meet_where_a_path_matches_both() {
        check_overlap("src/a.rs", "src/a.rs", true);
        check_overlap("src/a.rs", "src/b.rs", false);
        check_overlap("src/*", "src/a.rs", true);
        check_overlap("src/*", "src/deep/a.rs", false);
        check_overlap("src/**", "src/deep/a.rs", true);
        check_overlap("src/**", "docs/**", false);
        check_overlap("src/*.rs", "src/cart*", true);
        check_overlap("src/*.rs", "src/*.py", false);
        check_overlap("**/*.rs", "src/deep/a.rs", true);
        check_overlap("**/*.rs", "a.rs", true);
        check_overlap("**/a.rs", "ba.rs", false);
        check_overlap("**/test/**", "src/**", true);
        check_overlap("a/**/z", "a/z", true);
        check_overlap("a/**/z", "a/b/c/z", true);
        check_overlap("a/**/z", "az", false);
        check_overlap("a?c", "abc", true);
        check_overlap("a?c", "a/c", false);
        check_overlap("**", "anything/at/all", true);
        check_overlap("app/[id].tsx", "app/[id].tsx", true);
        check_overlap("app/[id].tsx", "app/i.tsx", false);
    }

    #[test]
    fn a_name_means_what_lies_below_it() {
        for (a, b, expected) in [
            ("lib", "lib/a.rs", true),
            ("lib", "lib/deep/a.rs", true),
            ("lib", "lib/**", true),
            ("lib", "library/a.rs", false),
            ("lib", "src/lib/a.rs", false),
            ("**/lib", "src/lib/a.rs", true),
            ("**/lib", "src", true),
            ("src/*", "src/deep/a.rs", false),
            ("lib/a.rs", "lib/b.rs", false),
        ] {
            assert_eq!((touches(a, b), touches(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn one_form_is_kept_and_what_leads_outside_is_refused() {
        for (text, expected) in
            [("./src//a.rs", "src/a.rs"), ("src/", "src/**"), ("a\\b", "a/b"), (" **/x ", "**/x")]
        {
            assert_eq!(super::check(text).as_deref(), Ok(expected), "{text}");
        }
        for bad in ["", "/", "/etc/passwd", "../x", "a/../../b", "C:/x", "a\nb", "."] {
            assert_eq!(super::check(bad).expect_err(bad).code, "pattern_invalid");
        }
    }

    /// The plainest matcher that there is, to hold the clever one against.
    fn matches(pattern: &[Step], path: &[char]) -> bool {
        let rest = |n: usize| path.get(n..).unwrap_or_default();
        match pattern.split_first() {
            None => path.is_empty(),
            Some((Step::Char(c), more)) => path.first() == Some(c) && matches(more, rest(1)),
            Some((Step::One, more)) => path.first().is_some_and(|c| *c != '/') && matches(more, rest(1)),
            Some((Step::Star, more)) => {
                matches(more, path) || (path.first().is_some_and(|c| *c != '/') && matches(pattern, rest(1)))
            }
            Some((Step::Deep, more)) => {
                matches(more, path) || (!path.is_empty() && matches(pattern, rest(1)))
            }
            Some((Step::Folders, more)) => matches(&more[1..], path) || matches(more, path),
            Some((Step::Inside, more)) => {
                (0..path.len()).any(|n| path[n] == '/' && matches(more, rest(n + 1)))
            }
        }
    }

    fn any_pattern() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec!["a", "b", "/", "*", "?", "**", "**/", "a/"]);
        prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn two_patterns_overlap_exactly_if_some_path_matches_both(a in any_pattern(), b in any_pattern()) {
            let alphabet = ['a', 'b', '/', 'c'];
            let (sa, sb) = (steps(&a), steps(&b));
            let mut found = false;
            let mut paths: Vec<Vec<char>> = vec![Vec::new()];
            for _ in 0..=6 {
                found = found || paths.iter().any(|path| matches(&sa, path) && matches(&sb, path));
                paths = paths.iter().flat_map(|p| alphabet.iter().map(move |c| [p.as_slice(), &[*c]].concat())).collect();
            }
            if found {
                prop_assert!(overlap(&a, &b), "{} {}", a, b);
            } else if overlap(&a, &b) {
                // Only a path longer than those that were tried may be the one; short patterns need none.
                prop_assert!(a.len() + b.len() > 6, "{} {}", a, b);
            }
        }
    }
}
