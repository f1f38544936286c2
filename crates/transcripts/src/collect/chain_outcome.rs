//! How each step of a chain ended, as far as the end of the whole line and its output tell.

use super::importance::Importance;
use super::piped::{names_place, says_failed};
use super::pipes::pipe;
use super::steps::{Step, bare, without_settings};

/// Exit code and remark of a step.
pub(super) type StepOutcome = (Option<i64>, Option<String>);

/// How a command line ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineEnd<'a> {
    pub exit_code: Option<i64>,
    /// Whether it succeeded, where known.
    pub ok: Option<bool>,
    pub printed: &'a str,
}

/// How every step ended; nothing for one that never ran.
pub(super) fn outcomes(steps: &[Step], end: LineEnd<'_>) -> Vec<Option<StepOutcome>> {
    let failed = match (end.exit_code, end.ok) {
        (Some(0), _) | (None, Some(true) | None) => None,
        _ => failing_step(steps, end.printed),
    };
    let one = |index: usize| match failed {
        Some(failed) if index < failed => Some((Some(0), None)),
        Some(failed) if index > failed => None,
        Some(_) => Some((end.exit_code, end.exit_code.is_none().then(|| "failed".to_owned()))),
        None => Some(outcome(steps, index, end)),
    };
    (0..steps.len()).map(one).collect()
}

/// How a step ended, as far as the end of the whole line tells: all steps of a chain of `&&` that ended well did, the
/// last did as the whole.
fn outcome(steps: &[Step], index: usize, end: LineEnd<'_>) -> StepOutcome {
    let after = &steps[index + 1..];
    let alone = steps.iter().filter(|step| !step.text.starts_with("cd ")).count() == 1;
    let all_joined = after.iter().all(|step| step.joint == "&&");
    let sure = steps[..=index].iter().all(|step| step.joint != "||");
    let Some(code) = end.exit_code else {
        return match end.ok {
            Some(false) => (None, Some("failed".to_owned())),
            // A tool that records no codes says that it went well.
            Some(true) if alone || (all_joined && sure) => (None, Some(OK.to_owned())),
            _ => (None, None),
        };
    };
    match code {
        _ if alone => (Some(code), None),
        0 if all_joined && sure => (Some(0), None),
        0 => (None, None),
        _ if after.is_empty() && steps[index].joint == ";" => (Some(code), None),
        _ => (None, Some(format!("in a chain that ended with exit {code}"))),
    }
}

/// What is told of a step that went well by the word of a tool that records no exit codes.
pub(super) const OK: &str = "ok";

/// The step at which a chain of `&&` stopped: the only one that can fail, or the one that the output names.
fn failing_step(steps: &[Step], printed: &str) -> Option<usize> {
    if steps.iter().skip(1).any(|step| step.joint != "&&") {
        return None;
    }
    let lines: Vec<&str> = printed.lines().map(str::trim).collect();
    if lines.iter().any(|line| line.contains("cd: ")) {
        return None;
    }
    let can_fail: Vec<usize> = (0..steps.len()).filter(|at| can_fail(&steps[*at].text)).collect();
    if let [only] = can_fail.as_slice() {
        return Some(*only);
    }
    let mut named = can_fail.iter().copied().filter(|at| is_named(&steps[*at].text, &lines));
    let first = named.next()?;
    named.next().is_none().then_some(first)
}

/// Whether a step can end a chain: a pipe ends as its last program does, and some programs always end well.
fn can_fail(step: &str) -> bool {
    const NEVER: &[&str] = &["cd", "echo", "printf", "export", "true", "sleep", "pwd", "set"];
    const FILTERS: &[&str] = &["tail", "head", "cat", "tee", "sort", "wc", "sed", "tr", "cut", "uniq"];
    let program = |text: &str| text.split_whitespace().next().unwrap_or_default().to_owned();
    let last = pipe(step, Importance::Look).and_then(|filters| filters.last().map(|filter| program(filter)));
    match last {
        Some(filter) => !FILTERS.contains(&filter.as_str()),
        None => !NEVER.contains(&program(step).as_str()),
    }
}

/// Whether an output names a step as what failed.
fn is_named(step: &str, lines: &[&str]) -> bool {
    let step = without_settings(bare(step));
    let words: Vec<&str> = step.split_whitespace().collect();
    let any = |is: &dyn Fn(&str) -> bool| lines.iter().any(|line| is(line));
    let has = |marks: &[&str]| any(&|line| marks.iter().any(|mark| line.contains(mark)));
    let starts = |marks: &[&str]| any(&|line| marks.iter().any(|mark| line.starts_with(mark)));
    match words.as_slice() {
        ["mise" | "npm" | "pnpm" | "yarn" | "bun" | "just" | "task" | "make", rest @ ..] => {
            let name = rest.iter().find(|word| **word != "run" && !word.starts_with('-'));
            name.is_some_and(|name| any(&|line| names_task(line, name)))
        }
        ["go", "test", ..] => starts(&["--- FAIL", "FAIL"]),
        ["go", "build" | "vet" | "install", ..] => !starts(&["FAIL"]) && any(&names_place),
        ["cargo", "test" | "nextest", ..] => has(&["test result: FAILED", " ... FAILED"]),
        ["pytest", ..] | ["python" | "python3", "-m", "pytest", ..] => {
            starts(&["FAILED "]) || any(&|line| line.starts_with('=') && says_failed(line))
        }
        ["tsc" | "vue-tsc", ..] | ["npx", "tsc" | "vue-tsc", ..] => has(&["error TS"]),
        ["eslint", ..] | ["npx", "eslint", ..] => {
            any(&|line| line.starts_with('✖') && line.contains("problem"))
        }
        ["git", "push", ..] => has(&["failed to push some refs", "Could not read from remote repository"]),
        ["git", "commit", ..] => has(&["pre-commit", "commit-msg hook", "nothing to commit"]),
        ["git", "rebase" | "merge" | "cherry-pick" | "pull", ..] => has(&["CONFLICT ("]),
        _ => false,
    }
}

/// Whether a runner of tasks says in this line that the task failed.
fn names_task(line: &str, name: &str) -> bool {
    let mise = || {
        let rest = line.strip_prefix('[').and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with([']', ':'])) && line.contains("ERROR")
    };
    let make =
        || line.starts_with("make") && line.contains("***") && line.contains(&format!("{name}] Error"));
    mise()
        || make()
        || line.contains(&format!("Lifecycle script `{name}` failed"))
        || line.contains(&format!("Recipe `{name}` failed"))
        || line.contains(&format!("Failed to run task \"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::super::steps::chain;
    use super::*;

    fn ends(line: &str, code: i64, printed: &str) -> Vec<Option<Option<i64>>> {
        let end = LineEnd { exit_code: Some(code), ok: Some(code == 0), printed };
        outcomes(&chain(line), end).into_iter().map(|end| end.map(|(code, _)| code)).collect()
    }

    #[test]
    fn the_step_that_the_output_names_failed_those_before_it_passed_and_those_behind_it_never_ran() {
        let wanted = [Some(Some(0)), Some(Some(1)), None];
        for (line, printed) in [
            (
                "mise run fmt && mise run lint && mise run test",
                "[lint:go] x.go:1:2: no\n[lint:go] ERROR task failed",
            ),
            (
                "npm run lint && npm test && npm run build",
                "npm error Lifecycle script `test` failed with error:",
            ),
            ("cargo fmt && cargo test && cargo doc", "test a ... FAILED\ntest result: FAILED. 0 passed"),
            ("go vet ./... && go test ./... && make dist", "--- FAIL: TestA (0.1s)\nFAIL\tshop/a 0.1s"),
            ("make a && make b && make c", "make: *** [Makefile:3: b] Error 1"),
        ] {
            assert_eq!(ends(line, 1, printed), wanted, "{line}");
        }
        assert_eq!(ends("go build ./... && mise run test 2>&1 | tail -20", 1, "x"), [Some(Some(1)), None]);
        assert_eq!(ends("make a && make b", 2, "no"), [Some(None), Some(None)]);
        assert_eq!(ends("make a; make b && make c", 2, "make: *** [b] Error 1"), [Some(None); 3]);
    }
}
