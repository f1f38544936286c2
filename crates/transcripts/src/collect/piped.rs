//! Checks that ran through a pipe: the exit code is that of the pipe's last program, so that the output has to tell.

use super::importance::{Importance, importance};
use super::miscall::is_miscall;
use super::pipes::{piped_commands, piped_steps};

/// What is told of the last failure where the exit code is not the check's.
const FAILED: &str = "failed by its output";
/// In so many last lines a tool says that all went well.
const LAST_LINES: usize = 5;
/// Programs that let the end of what they read through.
const KEEP_THE_END: &[&str] = &["tail", "cat", "tee"];
/// Programs that end with 1 where they found nothing.
const FINDERS: &[&str] = &["grep", "egrep", "rg"];

/// The last program of a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PipeTail {
    program: String,
    /// Otherwise it found nothing.
    ended_well: bool,
}

impl PipeTail {
    fn outcome(&self) -> String {
        let how = if self.ended_well { "ended ok" } else { "found nothing" };
        format!("{} behind it {how}", self.program)
    }
}

/// How a check ended that ran through a pipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PipeEnd {
    /// Its output says that it passed.
    Passed,
    /// Its output says that it failed.
    Failed(PipeTail),
    /// Its output does not tell.
    Unknown(PipeTail),
}

impl PipeEnd {
    /// What is told in place of an exit code; nothing where that of the pipe may stand. The outcome of the pipe is what the tool
    /// recorded, so it stands beside what the output shows.
    pub(super) fn word(&self) -> Option<String> {
        match self {
            Self::Passed => None,
            Self::Failed(filter) => Some(format!("{}, but the output shows a failure", filter.outcome())),
            Self::Unknown(filter) => Some(format!("{}; its own exit code is unknown", filter.outcome())),
        }
    }

    /// How the last failure is told that its output shows.
    pub(super) fn failure_word(&self) -> Option<String> {
        matches!(self, Self::Failed(_)).then(|| FAILED.to_owned())
    }

    /// Whether neither exit code nor output tell how the check ended.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Whether the check succeeded, where known.
    pub(super) fn ok(&self) -> Option<bool> {
        match self {
            Self::Passed => Some(true),
            Self::Failed(_) => Some(false),
            Self::Unknown(_) => None,
        }
    }
}

/// Whether a check of this command line ran through a pipe whose exit code says nothing of the check.
pub(super) fn hides_exit_code(line: &str, exit_code: Option<i64>, ok: Option<bool>) -> bool {
    let steps = piped_steps(line);
    let found_nothing = || {
        let last = steps.last().and_then(|filters| filters.last());
        last.is_some_and(|filter| FINDERS.contains(&program(filter)))
    };
    let says_nothing = match exit_code {
        Some(code) => code == 0 || code == 1 && found_nothing(),
        None => ok == Some(true),
    };
    says_nothing && !steps.is_empty() && !line.contains("pipefail")
}

/// How the checks of a command line ended by their output; `exit_code` is the pipe's.
pub(super) fn end_by_output(line: &str, output: &str, exit_code: Option<i64>) -> PipeEnd {
    let steps = piped_steps(line);
    let printed = output.lines().count();
    let whole = steps.iter().flatten().all(|filter| keeps_the_end(filter, printed));
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let passed = lines.iter().rposition(|line| says_passed(line));
    let passed = passed.filter(|at| whole && at + LAST_LINES >= lines.len());
    let commands = piped_commands(line);
    let is_silent = commands.iter().all(|command| passes_in_silence(command));
    let names_failures =
        !commands.is_empty() && commands.iter().all(|command| always_names_a_failure(command));
    let filter = || PipeTail {
        program: steps
            .last()
            .and_then(|filters| filters.last())
            .map_or("", |filter| program(filter))
            .to_owned(),
        ended_well: exit_code.is_none_or(|code| code == 0),
    };
    let is_check = commands.iter().any(|command| importance(command) >= Importance::Work);
    if is_miscall(line, exit_code, output) {
        return PipeEnd::Failed(filter());
    }
    let fails = |(at, line): (usize, &&str)| {
        is_check && says_failed(line)
            || (is_silent && names_place(line))
            || (is_check && names_error(line) && passed.is_none_or(|passed| at > passed))
    };
    if lines.iter().enumerate().any(fails) {
        return PipeEnd::Failed(filter());
    }
    let passed_in_silence = whole && (is_silent && lines.is_empty() || names_failures);
    if passed.is_some() || passed_in_silence { PipeEnd::Passed } else { PipeEnd::Unknown(filter()) }
}

/// Whether a runner of tasks has a last word for every task that fails, so that all went well where it does not say so.
fn always_names_a_failure(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    matches!(
        words.as_slice(),
        ["npm" | "pnpm" | "yarn" | "bun" | "mise", "run", ..]
            | ["npm" | "pnpm" | "yarn", "test", ..]
            | ["make" | "just", ..]
    )
}

/// Whether an output says that there were no tests, and names none that ran.
pub(super) fn ran_no_tests(output: &str) -> bool {
    const NONE: &[&str] = &[
        "no tests to run",
        "matched no packages",
        "No tests found",
        "No test files found",
        "collected 0 items",
        "no tests ran",
        "running 0 tests",
        "0 passed",
    ];
    let is_none = |line: &str| NONE.iter().any(|words| line.contains(words));
    let ran = |line: &str| {
        let line = line.trim();
        line.starts_with("--- ")
            || counts(line, "passed")
            || line.starts_with("ok ") && !line.contains("[no test")
    };
    output.lines().any(is_none) && !output.lines().any(|line| says_failed(line.trim()) || ran(line))
}

/// Whether a check prints nothing where all is well.
fn passes_in_silence(command: &str) -> bool {
    const SILENT: &[&[&str]] = &[
        &["go", "build"],
        &["go", "vet"],
        &["go", "install"],
        &["tsc"],
        &["npx", "tsc"],
        &["gcc"],
        &["clang"],
        &["javac"],
    ];
    let words: Vec<&str> = command.split_whitespace().collect();
    SILENT.iter().any(|silent| words.starts_with(silent))
}

/// Whether a line is a compiler's word on a place: `src/a.go:12:3: …`, `src/a.ts(12,3): …`.
pub(super) fn names_place(line: &str) -> bool {
    let mut parts = line.split([':', '(', ',']);
    let (file, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && file.contains('.') && !file.contains(char::is_whitespace) && parts.next().is_some()
}

fn program(filter: &str) -> &str {
    filter.split_whitespace().next().unwrap_or_default()
}

/// Whether the end of what a filter reads is in the lines that were printed; `head` leaves it out where it printed all that
/// it may.
pub(super) fn keeps_the_end(filter: &str, printed: usize) -> bool {
    let limit = || {
        let words = filter.split_whitespace().skip(1);
        let number = words
            .map(|word| word.trim_start_matches("-n").trim_start_matches('-'))
            .find(|word| !word.is_empty());
        number.map_or(Some(10), |number| number.parse::<usize>().ok())
    };
    match program(filter) {
        "head" => limit().is_some_and(|limit| printed < limit),
        // What looks for both words of a test runner lets its last one through.
        program if FINDERS.contains(&program) => {
            let options =
                filter.split_whitespace().filter(|word| word.starts_with('-') && !word.starts_with("--"));
            filter.contains("FAIL")
                && (filter.contains("PASS") || filter.contains("ok"))
                && !options
                    .into_iter()
                    .any(|word| word.contains(['v', 'c', 'q', 'l', 'o', 'm']) && word.len() < 4)
        }
        program => KEEP_THE_END.contains(&program),
    }
}

/// The line of an output that says most of what failed: one that names it, else any that says so.
pub(super) fn failing_line(output: &str) -> Option<&str> {
    let marked = || output.lines().map(str::trim).filter(|line| says_failed(line) || names_error(line));
    marked().find(|line| line.contains(' ')).or_else(|| marked().next())
}

/// Whether a line is a tool's word that a check failed.
pub(super) fn says_failed(line: &str) -> bool {
    let line = without_number(line);
    let counted = |begin: &str| line.starts_with(begin) && counts(line, "failed");
    let word = |word: &str| {
        let rest = line.strip_prefix(word);
        rest.is_some_and(|rest| {
            let none = rest.trim_start_matches([' ', ':', '=', '(', '\t']).starts_with("0");
            rest.is_empty() || (rest.starts_with([' ', '\t', ':', '[', '(']) && !none)
        })
    };
    line.starts_with("--- FAIL")
        || line.starts_with("test result: FAILED")
        || ["npm ERR!", "npm error", "make: ***", "error Command failed", "error: Recipe", "error: script \""]
            .iter()
            .any(|mark| line.starts_with(mark))
        || line.contains("ELIFECYCLE")
        || word("FAIL")
        || word("FAILED")
        || (line.starts_with(['[', 'E']) && line.ends_with("ERROR task failed"))
        || ["=", "Tests:", "Tests ", "Test Files ", "Summary ["].into_iter().any(counted)
}

/// Whether a line begins as an error does; a program under test may print such a line and pass.
fn names_error(line: &str) -> bool {
    let line = without_number(line);
    let errors = ["error:", "error[E", "AssertionError", "panic: "];
    errors.iter().any(|mark| line.starts_with(mark)) || line.contains("): error TS")
}

/// Whether a line is a tool's word that all of a check passed.
fn says_passed(line: &str) -> bool {
    let counted = ["=", "Tests:", "Tests ", "Summary ["].iter().any(|begin| line.starts_with(begin));
    let words = ["test result: ok", "ok  \t", "ok \t", "All checks passed", "0 issues", "BUILD SUCCESS"];
    // The last word of `mise run`, where no task failed.
    let finished = line.strip_prefix("Finished in ").and_then(|time| time.strip_suffix('s'));
    let finished = finished.map(|time| time.strip_suffix('m').unwrap_or(time));
    let is_time =
        |time: &str| !time.is_empty() && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    line == "PASS"
        || finished.is_some_and(is_time)
        || words.iter().any(|word| line.starts_with(word))
        || (counted && counts(line, "passed") && !counts(line, "failed"))
}

/// Whether a line counts something, at least one: `3 failed`.
fn counts(line: &str, what: &str) -> bool {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs.into_iter().any(|(count, word)| *word == what && count.parse::<u64>().is_ok_and(|count| count > 0))
}

/// A line without the number that `grep -n` puts in front of it.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() { rest.strip_prefix([':', '-']).unwrap_or(line) } else { line }
}
