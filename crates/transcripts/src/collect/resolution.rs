//! What ends a failure besides a later success of the same command: more tests that hold it, a git step that was done again,
//! another way where the call itself was wrong, the user's word, the removal of what failed.

use super::checks::piped_steps;
use super::importance::{Importance, importance};
use super::piped::keeps_the_end;
use super::run::Run;
use super::steps::plain_steps;
use crate::shared::shell::is_test;
use crate::shared::words::{has_long_phrase, has_phrase, sentences};

/// The last command that failed.
#[derive(Debug)]
pub(super) struct LastFailure {
    pub run: Run,
    /// The end of its output.
    pub output: String,
    /// The tests that it names as failing which have not passed since; `None` where it may have left some out.
    failing_tests: Option<Vec<String>>,
    /// Whether the call itself was wrong: no such program, task, flag.
    miscalled: bool,
}

/// A command line that ended well later.
pub(super) struct LaterSuccess<'a> {
    pub command: &'a str,
    pub output: &'a str,
    /// Whether it is sure, by its exit code or its output, that it ended well.
    pub is_sure: bool,
}

impl LastFailure {
    /// `printed` is as much of the output as is looked through.
    pub(super) fn new(run: Run, output: String, printed: &str) -> Self {
        let failing_tests = failing_tests(&run.command, printed);
        let miscalled = matches!(run.exit_code, Some(126 | 127)) || names_no_such_call(printed);
        Self { run, output, failing_tests, miscalled }
    }

    /// Whether this success ends the failure.
    pub(super) fn is_resolved_by(&mut self, later: &LaterSuccess<'_>) -> bool {
        if !later.is_sure {
            return false;
        }
        if let Some(tests) = self.failing_tests.as_mut().filter(|_| is_test(later.command)) {
            tests.retain(|test| !has_passed(test, later));
            if tests.is_empty() {
                return true;
            }
        }
        self.git_steps_were_repeated(later.command)
            || compiles_as_much(&self.run.command, later.command)
            || (asks_the_forge(&self.run.command) && verbs(later.command).iter().any(|verb| verb == "push"))
            || (self.miscalled && importance(later.command) >= self.run.worth.max(Importance::Some))
    }

    /// Whether all steps of git that may have failed were done by a later line, and nothing else may have failed.
    fn git_steps_were_repeated(&self, later: &str) -> bool {
        let steps = plain_steps(&self.run.command);
        let only_git = steps.iter().all(|step| {
            let first = step.split_whitespace().next().unwrap_or_default();
            matches!(first, "git" | "cd" | "echo" | "sleep")
        });
        let committed = self.output.lines().any(|line| line.starts_with('[') && line.contains("] "));
        let done = verbs(later);
        let done: Vec<&str> = done.iter().map(String::as_str).collect();
        let ended = ["--continue", "--abort", "--skip"].iter().any(|flag| has_phrase(later, flag));
        let open = verbs(&self.run.command);
        let mut open = open.iter().map(String::as_str).filter(|verb| REPEATED.contains(verb)).peekable();
        only_git
            && open.peek().is_some()
            && open.all(|verb| {
                done.contains(&verb)
                    || (verb == "commit" && committed)
                    || (CONFLICTING.contains(&verb) && (done.contains(&"commit") || ended))
            })
    }

    /// Whether the user's words say that it is mended.
    pub(super) fn is_resolved_by_word(&self, text: &str) -> bool {
        sentences(text).into_iter().filter(|sentence| sentence.len() <= MAX_WORD).any(|sentence| {
            let lower = sentence.to_lowercase().replace('’', "'");
            let any = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&lower, phrase));
            !lower.contains('?') && !any(DOUBTS) && (any(MENDED) || self.was_done_by_user(&lower))
        })
    }

    /// `I pushed the changes manually`, of a push that failed.
    fn was_done_by_user(&self, lower: &str) -> bool {
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let done = words.windows(2).filter(|pair| matches!(pair[0], "i" | "i've" | "have" | "already"));
        let stems = done.filter_map(|pair| pair[1].strip_suffix("ed")).filter(|stem| stem.len() > 3);
        let command: Vec<&str> = self.run.command.split_whitespace().collect();
        let mut stems = stems.flat_map(|stem| [stem.to_owned(), format!("{stem}e"), undoubled(stem)]);
        stems.any(|stem| command.contains(&stem.as_str()))
    }

    /// Whether it ran one of these files, which are there no more.
    pub(super) fn ran_file<'p>(&self, mut paths: impl Iterator<Item = &'p str>) -> bool {
        let command = &self.run.command;
        let mut names =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\'']).trim_start_matches("./"));
        let named: Vec<&str> = names.by_ref().filter(|word| word.contains('.')).collect();
        plain_steps(command).len() == 1 && paths.any(|path| named.contains(&path))
    }
}

/// The longest sentence that is taken for the user's word on a failure.
const MAX_WORD: usize = 160;
/// Steps of git that are done again when they fail.
const REPEATED: &[&str] =
    &["push", "commit", "merge", "rebase", "cherry-pick", "revert", "pull", "fetch", "clone"];
/// Steps that may stop at conflicts, which a commit ends.
const CONFLICTING: &[&str] = &["merge", "rebase", "cherry-pick", "revert", "pull"];
const MENDED: &[&str] = &[
    "works now",
    "work now",
    "it works",
    "that works",
    "it worked",
    "that worked",
    "that fixed it",
    "is fixed",
    "it's fixed",
    "i fixed",
    "i've fixed",
    "fixed it",
    "is solved",
    "it's solved",
    "solved it",
    "i solved",
    "is resolved",
    "it's resolved",
    "passes now",
    "pass now",
    "passing now",
    "is passing",
    "are passing",
    "is green",
    "are green",
    "all green",
];
/// Words that take the meaning out of those above.
const DOUBTS: &[&str] = &[
    "not",
    "isn't",
    "doesn't",
    "don't",
    "didn't",
    "aren't",
    "wasn't",
    "won't",
    "no",
    "never",
    "still",
    "until",
    "if",
    "when",
    "once",
    "should",
    "make sure",
    "so that",
    "but",
    "how",
    "whether",
    "before",
    "after",
    "unless",
    "as soon as",
];

/// `committ` of `committed` as `commit`.
fn undoubled(stem: &str) -> String {
    let mut chars: Vec<char> = stem.chars().collect();
    if chars.len() > 2 && chars[chars.len() - 1] == chars[chars.len() - 2] {
        chars.pop();
    }
    chars.into_iter().collect()
}

/// The verbs of git in a command line.
fn verbs(command: &str) -> Vec<String> {
    plain_steps(command).iter().filter_map(|step| git_verb(step)).map(str::to_owned).collect()
}

fn git_verb(step: &str) -> Option<&str> {
    let mut words = step.split_whitespace();
    words.next().filter(|word| *word == "git")?;
    loop {
        match words.next()? {
            "-C" | "-c" => drop(words.next()),
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

/// Whether a command only asks for the state of what was pushed: a push makes its answer one of the past.
fn asks_the_forge(command: &str) -> bool {
    const ASK: &[&[&str]] = &[
        &["gh", "pr", "checks"],
        &["gh", "run", "watch"],
        &["gh", "run", "view"],
        &["glab", "ci", "status"],
    ];
    let asks = |step: &String| {
        let words: Vec<&str> = step.split_whitespace().collect();
        ASK.iter().any(|ask| words.starts_with(ask))
    };
    plain_steps(command).iter().any(asks)
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
    let failed = words(failed);
    let Some((less, more)) = MORE.iter().find(|(less, _)| failed.starts_with(less)) else { return false };
    plain_steps(passed).iter().map(|step| words(step)).any(|passed| {
        more.iter().any(|more| passed.starts_with(more))
            && failed[less.len()..].iter().all(|word| passed.contains(word))
    })
}

/// The words of a step without redirections.
fn words(step: &str) -> Vec<&str> {
    step.split_whitespace().filter(|word| !word.contains('>')).collect()
}

/// Whether a line of an output says that the call itself is wrong.
fn names_no_such_call(printed: &str) -> bool {
    const SAY: &[&str] = &[
        "command not found",
        "no such command",
        "unknown command",
        "unknown flag",
        "unknown option",
        "unrecognized option",
        "unrecognized arguments",
        "unrecognized subcommand",
        "unexpected argument",
        "invalid option",
        "Missing script",
        "No rule to make target",
    ];
    let no_task = |line: &str| line.contains("no task ") && line.ends_with(" found");
    SAY.iter().any(|words| has_long_phrase(printed, words))
        || (printed.contains("no task ") && printed.lines().any(no_task))
}

/// The tests that an output names as failing, if it names all of them.
fn failing_tests(command: &str, printed: &str) -> Option<Vec<String>> {
    let broken = ["[build failed]", "error[E", "error: could not compile", "ERROR collecting", "panic: "];
    let is_broken = |line: &str| broken.iter().any(|mark| line.contains(mark));
    if !is_test(command) && !printed.contains("--- FAIL")
        || printed.lines().any(is_broken)
        || is_cut(command, printed)
    {
        return None;
    }
    let mut tests: Vec<String> = printed.lines().filter_map(failing_test).map(str::to_owned).collect();
    tests.sort();
    tests.dedup();
    // A part of a test passes with the whole.
    let all = tests.clone();
    tests.retain(|test| {
        !all.iter().any(|other| test.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
    });
    (!tests.is_empty()).then_some(tests)
}

/// Whether `head` printed all that it may.
fn is_cut(command: &str, printed: &str) -> bool {
    let filters = piped_steps(command).into_iter().flatten();
    let mut heads = filters.filter(|filter| filter.starts_with("head"));
    heads.any(|filter| {
        !keeps_the_end(&filter, printed.lines().count()) && !printed.trim_end().ends_with("FAIL")
    })
}

/// The test that a line names as failing: in the words of Go, Cargo, pytest and nextest.
fn failing_test(line: &str) -> Option<&str> {
    let line = line.trim();
    let first = |rest: &'_ str| -> usize { rest.find(char::is_whitespace).unwrap_or(rest.len()) };
    if let Some(rest) = line.strip_prefix("--- FAIL: ") {
        return Some(&rest[..first(rest)]);
    }
    if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
        return Some(name);
    }
    let case =
        line.strip_prefix("FAILED ").map(|rest| &rest[..first(rest)]).filter(|name| name.contains("::"));
    case.or_else(|| {
        line.strip_prefix("FAIL [")?.split_whitespace().next_back().filter(|name| name.contains("::"))
    })
}

/// Whether a run of tests that passed ran this one: it is named by the command or shown as passed.
fn has_passed(test: &str, later: &LaterSuccess<'_>) -> bool {
    let short = test.rsplit("::").next().unwrap_or(test);
    let apart = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '|' | '$' | '^' | '(' | ')' | '=');
    let ends = |word: &str| word.strip_suffix(short).is_some_and(|path| path.ends_with("::"));
    let named = |word: &str| word == test || word == short || ends(word);
    let shown = |line: &str| {
        let passed = line.starts_with("--- PASS: ") || line.ends_with(" ... ok") || line.contains("PASS");
        passed && line.split(char::is_whitespace).any(|word| word == test || ends(word))
    };
    // Most outputs name none of the tests that failed.
    let is_shown = || {
        memchr::memmem::find(later.output.as_bytes(), short.as_bytes()).is_some()
            && later.output.lines().map(str::trim).any(shown)
    };
    later.command.split(apart).any(named) || is_shown()
}

#[cfg(test)]
mod tests {
    use super::super::tests::SessionScript;

    /// The command of the failure that is told at the end of a session of these commands, each with exit code and output.
    fn last_failure(runs: &[(&'static str, i64, &'static str)]) -> Option<String> {
        let script = SessionScript::new().user("Go on with it");
        let ids = ["a", "b", "c", "d"];
        let script = runs
            .iter()
            .zip(ids)
            .fold(script, |script, ((command, code, output), id)| script.run(id, command, *code, output));
        script.agent("So far.").summary().last_failure.map(|failure| failure.command)
    }

    #[test]
    fn a_failure_ends_when_what_failed_is_done_in_other_words() {
        for (failed, code, printed, passed, output) in [
            ("pytest -q", 2, "ModuleNotFoundError", "PYTHONPATH=. pytest -q", "3 passed"),
            (
                "mise run fmt && mise run lint 2>&1 | tail -50",
                0,
                "[lint] ERROR task failed",
                "mise run lint",
                "0 issues.",
            ),
            (
                "mise run test",
                1,
                "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/x (0.1s)\nFAIL",
                "go test -run 'TestA$' ./a",
                "ok  \ta",
            ),
            (
                "make ci",
                2,
                "--- FAIL: TestA (0.1s)\nFAIL",
                "make more && go test -v ./...",
                "--- PASS: TestA (0.00s)\nPASS",
            ),
            (
                "cargo test",
                101,
                "test a::b ... FAILED\ntest result: FAILED.",
                "cargo test a::b",
                "test a::b ... ok",
            ),
            (
                "git add -A && git commit -m x && git push",
                128,
                "[main 1a2b] x\nfatal: no remote",
                "git push origin main",
                "",
            ),
            (
                "git commit -m 'one thing'",
                1,
                "hook failed",
                "git add . && git commit -m 'other'",
                "[main 12] other",
            ),
            ("git merge origin/main", 1, "CONFLICT", "git add . && git commit --no-edit", "[main 12] Merge"),
            ("git rebase main", 1, "CONFLICT", "GIT_EDITOR=true git rebase --continue", ""),
            ("gh pr checks 7", 1, "lint fail", "git commit -am x && git push", "To github.com"),
            ("mise run lint:full", 1, "mise ERROR no task lint:full found", "golangci-lint run", "0 issues."),
            ("pytst", 127, "pytst: command not found", "pytest", "1 passed"),
            (
                "go build -tags e2e ./e2e/...",
                1,
                "x.go:1:2: undefined: y",
                "go test -tags e2e -c ./e2e/... -o /dev/null",
                "",
            ),
        ] {
            assert_eq!(last_failure(&[(failed, code, printed)]).as_deref(), Some(failed));
            assert_eq!(
                last_failure(&[(failed, code, printed), (passed, 0, output)]),
                None,
                "{failed} by {passed}"
            );
        }
    }

    #[test]
    fn what_was_made_good_in_other_words_is_told_so_and_is_no_failed_attempt() {
        let script = SessionScript::new().user("x").run("a", "make ci", 2, "--- FAIL: TestA (0.1s)\nFAIL");
        let summary = script.run("b", "go test -run TestA ./a", 0, "ok  \ta").summary();
        assert_eq!(summary.failed_attempts, []);
        let check = summary.checks.iter().find(|check| check.command == "make ci").expect("check");
        assert_eq!(check.note.as_deref(), Some("made good since by `go test -run TestA ./a`"));
        let script = SessionScript::new().user("x").run(
            "a",
            "make fmt && make lint | tail",
            0,
            "[lint] ERROR task failed",
        );
        assert_eq!(script.run("b", "make lint", 0, "").summary().failed_attempts, []);
    }

    #[test]
    fn a_failure_stays_where_something_else_passed() {
        for (failed, code, printed, passed, output) in [
            (
                "make ci",
                2,
                "--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\nFAIL",
                "go test -run TestA ./a",
                "ok  \ta",
            ),
            (
                "make ci",
                2,
                "--- FAIL: TestA (0.1s)\nFAIL\tb [build failed]",
                "go test -run TestA ./a",
                "ok  \ta",
            ),
            ("mise run fmt && mise run lint", 1, "no", "mise run lint", "0 issues."),
            ("git commit -m x && git push", 1, "hook failed", "git push", ""),
            ("git push", 1, "rejected", "git fetch", ""),
            ("make && git push", 1, "no", "git push", ""),
            ("gh pr checks 7", 1, "lint fail", "git commit -am x", ""),
            ("pytst", 127, "pytst: command not found", "ls", "a"),
            ("go build ./a", 1, "x.go:1:2: undefined: y", "go test ./b", "ok"),
            ("cargo test", 101, "test a::b ... FAILED", "cargo test a::c", "test a::c ... ok"),
        ] {
            let failure = last_failure(&[(failed, code, printed), (passed, 0, output)]);
            assert_eq!(failure.as_deref(), Some(failed), "by {passed}");
        }
    }

    #[test]
    fn the_user_ends_a_failure_by_his_word_and_by_nothing_less() {
        let failure = |word: &'static str| {
            let script =
                SessionScript::new().user("Push it").run("a", "git push origin main", 128, "fatal: no");
            script.agent("The push failed.").user(word).agent("Good.").summary().last_failure.is_none()
        };
        for word in [
            "I pushed the changes manually. continue with next options.",
            "It works now, go on",
            "ok, I fixed it",
        ] {
            assert!(failure(word), "{word}");
        }
        for word in [
            "Make sure it works now",
            "it still isn't fixed",
            "Have you pushed?",
            "I merged it",
            "tell me when it works",
        ] {
            assert!(!failure(word), "{word}");
        }
    }

    #[test]
    fn a_script_that_failed_and_was_removed_waits_for_nobody() {
        let script = SessionScript::new().user("x").run("a", "python3 try.py", 1, "Traceback");
        assert!(script.run("b", "rm try.py", 0, "").agent("Removed.").summary().last_failure.is_none());
    }
}
