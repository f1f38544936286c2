//! Which commands mattered.

use super::checks::ran_in;
use super::steps::without_settings;
use crate::shared::shell::is_test;

/// How much a command matters for the continuation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Importance {
    /// It only looked.
    Look,
    /// Anything else.
    Some,
    /// It built, checked, committed, deployed.
    Work,
    /// It ran tests.
    Test,
}

/// Commands that look at things and change nothing.
const LOOKS: &[&str] = &[
    "ls", "cat", "head", "tail", "less", "grep", "rg", "ag", "find", "fd", "pwd", "cd", "echo", "wc",
    "which", "type", "tree", "stat", "file", "du", "df", "ps", "env", "printenv", "date", "whoami", "diff",
    "sort", "jq", "awk", "nl", "true", "test", "[", "sleep", "export", "set", "source", "printf", "sed",
    "tr", "cut", "uniq", "xxd", "realpath", "dirname", "basename",
];
/// Subcommands of git that look.
const GIT_LOOKS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "blame",
    "ls-files",
    "rev-parse",
    "remote",
    "grep",
    "describe",
    "config",
    "fetch",
];
/// Subcommands of the programs of forges that look.
const FORGE_LOOKS: &[(&str, &str)] = &[
    ("pr", "view"),
    ("pr", "list"),
    ("pr", "diff"),
    ("pr", "status"),
    ("mr", "view"),
    ("mr", "list"),
    ("mr", "diff"),
    ("issue", "view"),
    ("issue", "list"),
    ("run", "list"),
    ("release", "view"),
    ("release", "list"),
    ("repo", "view"),
];
/// Options by which a call of a forge's interface sends something.
const FORGE_WRITES: &[&str] = &["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"];
/// Words by which work is done.
const WORK: &[&str] = &[
    "build",
    "check",
    "clippy",
    "fmt",
    "lint",
    "run",
    "commit",
    "push",
    "merge",
    "rebase",
    "install",
    "migrate",
    "deploy",
    "publish",
    "verify",
    "compile",
    "bench",
    "vet",
    "tsc",
    "mypy",
    "ruff",
    "eslint",
    "prettier",
    "docker",
    "kubectl",
    "terraform",
    "make",
    "cmake",
    "mvn",
    "gradle",
    "golangci-lint",
    "clang-tidy",
    "playwright",
    "tox",
    "sbt",
    "bazel",
    "ninja",
    "pylint",
    "flake8",
    "psql",
    "checkout",
    "switch",
    "apply",
    "add",
    "npm",
    "cargo",
    "go",
];

/// How much a command line matters: as much as its most important step.
pub(super) fn importance(command: &str) -> Importance {
    if is_test(command) {
        return Importance::Test;
    }
    let line = command.split("<<").next().unwrap_or_default();
    let steps = steps(line).into_iter().filter(|step| !step.trim().is_empty());
    steps.map(step_worth).max().unwrap_or(Importance::Look)
}

/// The steps of a command line; what stands in quotes is not looked into.
pub(super) fn steps(line: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let (mut start, mut quote, mut escaped) = (0, None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (mark, '\\') if mark != Some('\'') => escaped = true,
            (Some(mark), _) if mark == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '\n' | ';' | '|' | '&') => {
                all.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    all.push(&line[start..]);
    all
}

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
    if let (["go", "test", failed @ ..], ["go", "test", passed @ ..]) =
        (failed_words.as_slice(), passed_words.as_slice())
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

/// What `go test` was asked to run.
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

fn step_worth(step: &str) -> Importance {
    let is_setting = |word: &&str| word.contains('=') && !word.starts_with(['-', '.', '/']);
    let skipped =
        |word: &&str| is_setting(word) || matches!(*word, "sudo" | "time" | "exec" | "env" | "(" | "timeout");
    let mut words: Vec<&str> =
        without_settings(step).split_whitespace().skip_while(skipped).take(4).collect();
    if let Some(program) = words.first_mut() {
        // `/usr/bin/grep` looks as `grep` does.
        *program = ["/usr/bin/", "/bin/", "/usr/local/bin/"]
            .iter()
            .find_map(|folder| program.strip_prefix(folder))
            .unwrap_or(program);
    }
    match words.as_slice() {
        [] => Importance::Look,
        ["git", verb, ..] if GIT_LOOKS.contains(verb) => Importance::Look,
        ["gh" | "glab", noun, verb, ..] if FORGE_LOOKS.contains(&(*noun, *verb)) => Importance::Look,
        ["gh" | "glab", "api", ..] if !step.split_whitespace().any(|word| FORGE_WRITES.contains(&word)) => {
            Importance::Look
        }
        ["sed", rest @ ..] if rest.iter().any(|word| word.starts_with("-i")) => Importance::Some,
        [name, ..] if LOOKS.contains(name) || name.starts_with(['>', '<']) || name.parse::<u8>().is_ok() => {
            Importance::Look
        }
        words if words.iter().any(|word| WORK.contains(word)) => Importance::Work,
        _ => Importance::Some,
    }
}

/// Whether a failure of this command with this exit code is only an answer: `grep` found nothing, checks have not ended.
pub(super) fn only_answers(command: &str, exit_code: Option<i64>) -> bool {
    const PENDING: i64 = 8;
    match exit_code {
        Some(1) => importance(command) == Importance::Look,
        Some(PENDING) => command.contains("gh pr checks"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_matters_as_much_as_its_most_important_step() {
        for (command, wanted) in [
            ("ls -la && cat x", Importance::Look),
            ("grep -A 5 'a\\|npm run' x; true", Importance::Look),
            ("git log --oneline | head", Importance::Look),
            ("git add -A && git commit -m 'x'", Importance::Work),
            ("RUST_LOG=debug cargo clippy", Importance::Work),
            ("cd app && npm test", Importance::Test),
            ("./scripts/seed.sh", Importance::Some),
            ("cat > a.txt <<EOF\ncargo build\nEOF", Importance::Look),
            ("/usr/bin/grep -o x a.log | sort -u", Importance::Look),
        ] {
            assert_eq!(importance(command), wanted, "{command}");
        }
    }

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
}
