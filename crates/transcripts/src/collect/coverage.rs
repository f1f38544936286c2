//! Which checks look at all that others look at: the same, more tests, a whole suite, a stronger compiler.

use super::steps::{Step, bare, chain, plain_steps, without_settings};
use crate::shared::shell::is_test;

/// The command without what only shortens or redirects its output: two lines of one core do the same.
pub(super) fn core(command: &str) -> &str {
    let first = command.split(" | ").next().unwrap_or(command);
    first.split(" 2>").next().unwrap_or(first).trim()
}

/// Whether the success of one command makes the failure of another good: it is the same, or it runs the same tests with
/// other output, or more tests than those.
pub(super) fn makes_good(failed: &str, passed: &str) -> bool {
    let bare = |command| without_settings(core(command));
    if bare(failed) == bare(passed) || ran_in(failed, passed) {
        return true;
    }
    let words = |command| -> Vec<&str> {
        let telling = |word: &&str| {
            !TELLING.contains(word) && !word.starts_with("--color") && !word.starts_with("--tb=")
        };
        bare(command).split_whitespace().filter(telling).collect()
    };
    let (failed_words, passed_words) = (words(failed), words(passed));
    if let (["go", verb @ ("test" | "build" | "vet"), failed @ ..], ["go", same, passed @ ..]) =
        (failed_words.as_slice(), passed_words.as_slice())
        && verb == same
    {
        return GoTests::of(passed).cover(&GoTests::of(failed));
    }
    is_test(failed)
        && is_test(passed)
        && failed_words.strip_prefix(passed_words.as_slice()).is_some_and(|rest| {
            // With `-p api` or `--features x` less was tested, or other code.
            rest.iter().all(|word| !word.starts_with('-'))
        })
}

/// Whether a check that passed looks at all that another one looks at, though it may do so in other ways: a success says so
/// much only where something was changed in between.
pub(super) fn covers(failed: &str, passed: &str) -> bool {
    makes_good(failed, passed) || suite_covers(failed, passed) || compiles_as_much(failed, passed)
}

/// What `go test`, `go build` or `go vet` was asked to look at.
#[derive(Debug, Default)]
struct GoTests<'a> {
    packages: Vec<&'a str>,
    /// Which of their tests; all without one.
    only: Option<&'a str>,
    flags: Vec<&'a str>,
}

impl<'a> GoTests<'a> {
    fn of(words: &[&'a str]) -> Self {
        let mut found = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let (flag, value) =
                word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
            match flag {
                "-run" => found.only = value.or_else(|| words.next()),
                "-count" | "-timeout" | "-p" | "-parallel" => drop(value.or_else(|| words.next())),
                "-tags" => found.flags.extend(value.or_else(|| words.next())),
                _ if word.starts_with('-') => found.flags.push(word),
                _ => found.packages.push(word),
            }
        }
        found.flags.sort_unstable();
        found
    }

    /// Whether all that the other ran is among what this one ran.
    fn cover(&self, other: &Self) -> bool {
        let holds = |package: &str| {
            self.packages.iter().any(|own| match own.strip_suffix("/...") {
                Some(folder) => package.trim_end_matches("/...").starts_with(folder),
                None => *own == package,
            })
        };
        self.flags == other.flags
            && (self.only.is_none() || self.only == other.only)
            && self.packages.is_empty() == other.packages.is_empty()
            && other.packages.iter().all(|package| holds(package))
    }
}

/// Flags of test runners that change only how results are printed.
const TELLING: &[&str] = &[
    "-q",
    "-qq",
    "--quiet",
    "-v",
    "-vv",
    "--verbose",
    "-s",
    "-x",
    "--no-fail-fast",
    "--nocapture",
    "--",
    "--ci",
];

/// The words of a step, without settings, filters and what changes only how results are printed.
fn telling_words(step: &str) -> Vec<&str> {
    let telling = |word: &&str| !TELLING.contains(word) && !word.contains('>');
    without_settings(core(step)).split_whitespace().filter(telling).collect()
}

/// Programs that run the tasks of a project, and the runners of tests that the tasks of each may call; any where none is named.
const TASK_RUNNERS: &[(&str, &[&str])] = &[
    ("npm", JAVASCRIPT),
    ("pnpm", JAVASCRIPT),
    ("yarn", JAVASCRIPT),
    ("bun", JAVASCRIPT),
    ("composer", &["phpunit", "vendor/bin/phpunit"]),
    ("rake", &["rspec", "bundle"]),
    ("mise", &[]),
    ("just", &[]),
    ("task", &[]),
    ("make", &[]),
];
const JAVASCRIPT: &[&str] =
    &["npx", "bunx", "pnpm", "yarn", "vitest", "jest", "mocha", "node", "bun", "ava", "tap"];
/// Names of tasks that run all tests of a project.
const WIDE: &[&str] = &["ci", "all", "full"];
/// Options of test runners that choose other code or other tests than a plain run.
const CHOICES: &[&str] = &[
    "-tags",
    "--features",
    "--all-features",
    "-race",
    "-p",
    "--package",
    "-m",
    "--config",
    "-c",
    "--project",
];

/// A task of a project that runs tests: `npm test`, `mise run test:ci`.
struct TestTask<'a> {
    program: &'a str,
    /// `ci` of `test:ci`; empty of `test`.
    kind: &'a str,
    /// Runners that it may call; any where there are none.
    runners: &'static [&'static str],
}

impl<'a> TestTask<'a> {
    /// The task of a step, if it is run as a whole.
    fn of(words: &[&'a str]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        let (_, runners) = TASK_RUNNERS.iter().find(|(name, _)| name == program)?;
        let rest = match rest {
            ["run" | "r", rest @ ..] => rest,
            rest => rest,
        };
        let [name] = rest else { return None };
        let kind = match *name {
            "t" | "test" | "tests" => "",
            "ci" => "ci",
            "check" if *program == "make" => "",
            name => name.strip_prefix("test")?.strip_prefix([':', '-', '_', '.'])?,
        };
        Some(Self { program, kind, runners })
    }

    fn is_wide(&self) -> bool {
        WIDE.contains(&self.kind)
    }

    /// Whether this task runs what a test runner was called for.
    fn runs(&self, direct: &[&str]) -> bool {
        let Some(runner) = direct.first() else { return false };
        // What drives a browser is seldom part of the tests of a project.
        let drives = direct.iter().any(|word| matches!(*word, "playwright" | "cypress"));
        let is_ours = self.runners.is_empty() || self.runners.contains(runner);
        let mut choices = direct.iter().enumerate().filter_map(|(at, word)| {
            let (flag, value) =
                word.split_once('=').map_or((*word, None), |(flag, value)| (flag, Some(value)));
            CHOICES.contains(&flag).then(|| value.or(direct.get(at + 1).copied()).unwrap_or_default())
        });
        let is_runner = !TASK_RUNNERS.iter().any(|(name, _)| name == runner) || direct.len() > 2;
        let chosen =
            |value: &str| value.len() > 2 && self.kind.split([':', '-', '_']).any(|part| part == value);
        let is_apart = |value: &str| value.split(|c: char| !c.is_alphanumeric()).any(|part| part == "e2e");
        let is_chosen = |value: &str| if self.is_wide() { !is_apart(value) } else { chosen(value) };
        // What only builds the tests, under tags that a plain run may lack, says more than that run.
        let builds = direct.starts_with(&["go", "test"]) && direct.contains(&"-c");
        is_runner && is_ours && !drives && !builds && choices.all(is_chosen)
    }
}

/// Whether a task that runs all tests of a project passed, one of which failed by itself.
fn suite_covers(failed: &str, passed: &str) -> bool {
    let Some(suite) = TestTask::of(&telling_words(passed)) else { return false };
    let failed_words = telling_words(failed);
    match TestTask::of(&failed_words) {
        Some(part) => {
            part.program == suite.program && suite.is_wide() && !part.is_wide() && !is_of_browsers(part.kind)
        }
        None => {
            let chosen = |word: &str| CHOICES.contains(&word.split('=').next().unwrap_or(word));
            let plain =
                suite.kind.is_empty() || suite.is_wide() || failed_words.iter().any(|word| chosen(word));
            is_test(failed) && plain && suite.runs(&failed_words)
        }
    }
}

fn is_of_browsers(kind: &str) -> bool {
    ["e2e", "ui", "browser"].iter().any(|word| kind.contains(word))
}

/// Whether a compiler that passed looks at all that the one that failed looks at.
fn compiles_as_much(failed: &str, passed: &str) -> bool {
    const MORE: &[(&[&str], &[&[&str]])] = &[
        (&["go", "build"], &[&["go", "vet"], &["go", "test"]]),
        (
            &["cargo", "check"],
            &[&["cargo", "build"], &["cargo", "clippy"], &["cargo", "test"], &["cargo", "nextest"]],
        ),
        (&["cargo", "build"], &[&["cargo", "test"], &["cargo", "nextest"], &["cargo", "run"]]),
    ];
    let failed = plain_steps(failed);
    let [failed] = failed.as_slice() else { return false };
    let failed = step_words(failed);
    let Some((less, more)) = MORE.iter().find(|(less, _)| failed.starts_with(less)) else { return false };
    plain_steps(passed).iter().map(|step| step_words(step)).any(|passed| {
        more.iter().any(|more| passed.starts_with(more))
            && failed[less.len()..].iter().all(|word| passed.contains(word))
    })
}

/// The words of a step without redirections.
fn step_words(step: &str) -> Vec<&str> {
    step.split_whitespace().filter(|word| !word.contains('>')).collect()
}

/// Whether a chain that ended well ran this step, or these steps, and nothing between them changed the folder.
fn ran_in(failed: &str, passed: &str) -> bool {
    let (failed, passed) = (chain(failed), chain(passed));
    if passed.iter().any(|step| matches!(step.joint, "||" | ";")) {
        return false;
    }
    let folder = |steps: &[Step]| -> Vec<String> {
        steps.iter().filter(|step| step.text.starts_with("cd ")).map(|step| step.text.clone()).collect()
    };
    let wanted: Vec<&str> =
        failed.iter().filter(|step| !step.text.starts_with("cd ")).map(|step| bare(&step.text)).collect();
    let piped = |step: &Step| step.text.contains(" | ");
    let ran = |wanted: &&str| passed.iter().any(|step| bare(&step.text) == *wanted && !piped(step));
    !wanted.is_empty() && folder(&failed) == folder(&passed) && wanted.iter().all(ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_made_good_by_the_same_tests_or_more_of_them() {
        for (failed, passed) in [
            ("cargo test", "cargo test -q"),
            ("cargo test 2>&1 | tail -5", "cargo test"),
            ("cargo test parser::", "cargo test --quiet"),
            ("pytest tests/test_a.py -x", "pytest -q"),
            ("make", "make"),
            ("go test ./cmd/cli/strategy/... -v", "go test ./cmd/cli/..."),
            ("go test -v -run TestX -count=1 ./a/b", "go test ./..."),
            ("go test -tags=it ./a", "go test -tags it ./a"),
        ] {
            assert!(makes_good(failed, passed), "{failed} by {passed}");
        }
        for (failed, passed) in [
            ("go test ./...", "go test ./a/..."),
            ("go test ./a", "go test -run TestX ./a"),
            ("go test -tags it ./a", "go test ./a"),
            ("go test -race ./a", "go test ./a"),
            ("cargo test", "cargo test parser::"),
            ("cargo test -p api", "cargo test -p cli"),
            ("cargo test --features x", "cargo test"),
            ("cargo build", "cargo build --release"),
            ("npm test", "npm run lint"),
            ("cd a && npm test", "cd b && npm test"),
        ] {
            assert!(!makes_good(failed, passed), "{failed} by {passed}");
        }
    }

    #[test]
    fn a_whole_suite_covers_a_test_of_its_language() {
        for (failed, passed) in [
            ("npx vitest run src/cart.test.ts", "npm test"),
            ("go test -run TestX ./a", "mise run test"),
            ("go test -tags integration -run TestX ./a", "mise run test:integration"),
            ("go test -tags=integration ./a -v", "mise run test:ci"),
            ("mise run test", "mise run test:ci"),
            ("pytest tests/test_a.py::test_b", "make test"),
            ("go build ./cmd/a", "go build ./cmd/..."),
            ("go build ./a", "go vet ./a"),
        ] {
            assert!(covers(failed, passed), "{failed} by {passed}");
        }
        for (failed, passed) in [
            ("npx vitest run src/cart.test.ts", "mise run lint"),
            ("go test -run TestX ./a", "npm test"),
            ("go test -tags integration ./a", "mise run test"),
            ("npx playwright test", "npm test"),
            ("npm run test:e2e", "npm test"),
            ("npm run test:e2e", "npm run test:ci"),
            ("go test -tags e2e -c ./e2e/...", "mise run test:ci"),
            ("mise run test:ci", "mise run test"),
            ("cargo test -p api", "make test"),
            ("make lint", "make test"),
            ("npm test", "npm test -- one"),
        ] {
            assert!(!covers(failed, passed), "{failed} by {passed}");
        }
    }
}
