//! Calls that were wrong in themselves: no such program, task, option or file. They tell nothing of the work.

use super::piped::says_failed;
use super::steps::plain_steps;
use crate::shared::words::has_long_phrase;

/// So many lines at the beginning and at the end of an output may say that the call was wrong.
const LINES: usize = 3;
/// Words by which a program says that it was called wrongly.
const WRONG_CALL: &[&str] = &[
    "command not found",
    "no such command",
    "unknown command",
    "unknown flag",
    "unknown shorthand flag",
    "unknown option",
    "unknown switch",
    "unrecognized option",
    "unrecognized arguments",
    "unrecognized subcommand",
    "unexpected argument",
    "invalid option",
    "illegal option",
];
/// Words by which a runner of tasks says that there is no such task.
const NO_TASK: &[&str] = &["Missing script", "No rule to make target", "does not contain recipe"];

/// Whether a command line failed because of the call itself.
pub(super) fn is_miscall(command: &str, exit_code: Option<i64>, printed: &str) -> bool {
    if matches!(exit_code, Some(126 | 127))
        || ends_of(printed).any(names_no_task)
        || is_in_wrong_folder(printed)
    {
        return true;
    }
    !printed.lines().any(says_failed)
        && (ends_of(printed).any(names_wrong_call) || only_the_program_complains(command, printed))
}

/// Whether a line is a program's word that it was called wrongly.
pub(super) fn names_wrong_call(line: &str) -> bool {
    line.len() < 300 && WRONG_CALL.iter().any(|words| has_long_phrase(line, words))
}

/// Whether a command ran where what it names is not: the shell found no folder to go to, or the tests no folder of theirs.
pub(super) fn is_in_wrong_folder(printed: &str) -> bool {
    let lines =
        || printed.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Exit code"));
    let no_folder = |line: &str| {
        let words: Vec<&str> = line.split(':').map(str::trim).collect();
        words.contains(&"cd") && line.to_lowercase().contains("no such file or directory")
    };
    let only_folder = lines().next().is_some_and(no_folder) && lines().nth(1).is_none();
    let no_package = || {
        lines().any(|line| line.starts_with("stat ") && line.ends_with(": directory not found"))
            && lines().any(|line| line.ends_with("[setup failed]"))
            && !lines().any(|line| line.starts_with("ok ") || line.starts_with("---"))
    };
    only_folder || no_package()
}

fn names_no_task(line: &str) -> bool {
    let no_task = line.contains("no task ") && line.ends_with(" found");
    no_task || NO_TASK.iter().any(|words| has_long_phrase(line, words))
}

/// The first and the last lines of an output.
fn ends_of(printed: &str) -> impl Iterator<Item = &str> {
    let lines = || printed.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().take(LINES).chain(lines().rev().take(LINES))
}

/// Whether an output is nothing but a program's word on its arguments: `go: cannot write multiple packages to …`.
fn only_the_program_complains(command: &str, printed: &str) -> bool {
    let mut lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
    let (Some(line), None) = (lines.next(), lines.next()) else { return false };
    let Some((program, _)) = line.split_once(": ") else { return false };
    let is_program = |step: &String| {
        let first = step.split_whitespace().next().unwrap_or_default();
        first.rsplit('/').next() == Some(program)
    };
    program != "make" && plain_steps(command).iter().any(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_call_is_told_from_a_failure() {
        for (command, code, printed) in [
            ("lint ./...", 127, "(eval):1: command not found: lint"),
            ("shop list --wide | head", 0, "Usage:\n  shop list\n\nError: unknown flag: --wide"),
            ("mise run lint:full", 1, "mise ERROR no task lint:full found"),
            ("npm run chekc", 1, "npm error Missing script: \"chekc\""),
            ("cd web && npm test", 1, "(eval):cd:1: no such file or directory: web"),
            ("cd web && npm test", 1, "bash: line 1: cd: web: No such file or directory"),
            ("go test ./a", 1, "# ./a\nstat /p/a/a: directory not found\nFAIL\t./a [setup failed]\nFAIL"),
            ("go build -o ./a ./cmd/...", 1, "go: cannot write multiple packages to non-directory ./a"),
        ] {
            assert!(is_miscall(command, Some(code), printed), "{command}");
        }
        for (command, code, printed) in [
            ("go test ./...", 1, "--- FAIL: TestFlags\n    got: unknown flag: --wide\nFAIL"),
            ("go build ./...", 1, "a.go:1:2: undefined: b"),
            ("mise run lint", 1, "[lint] sh: golangci-lint: command not found\n[lint] ERROR task failed"),
            ("make all", 2, "make: *** [all] Error 1"),
            ("go test ./a", 1, "a.go:3:8: package b is not in std\nFAIL\t./a [setup failed]\nFAIL"),
            ("./run.sh", 1, "run.sh: line 3: cd: out: No such file or directory\nbuild failed"),
        ] {
            assert!(!is_miscall(command, Some(code), printed), "{command}");
        }
    }
}
