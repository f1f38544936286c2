//! Commands that a task prints before it runs them: `[test:ci] $ go test -race ./...`, `> vitest run`, `+ cargo test`.

use super::importance::{Importance, importance};
use super::steps::without_settings;

const MAX_COMMANDS: usize = 8;
/// So much of an output is looked through, in lines: a task says at its beginning what it runs, and between its parts.
const MAX_LINES: usize = 400;
/// Options by which other code is built than without them.
const CHOICES: &[&str] = &["-tags", "--tags", "--features", "-F", "--all-features", "-race"];

/// The commands that an output names as those which were run.
pub(super) fn commands(printed: &str) -> Vec<String> {
    let command = |line: &str| -> Option<String> {
        let line = line.trim_start();
        let named =
            line.strip_prefix('[').and_then(|rest| rest.split_once("] $ ")).map(|(_, command)| command);
        let command = named.or_else(|| ["$ ", "> ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)))?;
        (importance(command) >= Importance::Work).then(|| without_settings(command).trim().to_owned())
    };
    printed.lines().take(MAX_LINES).filter_map(command).take(MAX_COMMANDS).collect()
}

/// Whether a task may have run what a command runs by itself. It did not, where it says how it ran the same program and that
/// builds other code.
pub(super) fn may_include(echoed: &[String], command: &str) -> bool {
    let command = without_settings(command);
    let program = |command: &str| command.split_whitespace().next().map(str::to_owned);
    let wanted = choices(command);
    let mut same = echoed.iter().filter(|one| program(one) == program(command)).peekable();
    same.peek().is_none() || same.any(|one| wanted.iter().all(|choice| choices(one).contains(choice)))
}

/// What a command chooses, each with its option: of `-tags=a,b` both.
fn choices(command: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (option, value) =
            word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
        let Some(option) = CHOICES.iter().find(|known| **known == option) else { continue };
        let next = || words.get(at + 1).copied().filter(|word| !word.starts_with('-'));
        let is_alone = matches!(*option, "-race" | "--all-features");
        let value = if is_alone { "" } else { value.or_else(next).unwrap_or_default() };
        found.extend(value.trim_matches(['"', '\'']).split(',').map(|value| (*option, value)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_says_what_it_runs_includes_nothing_else_of_that_program() {
        let printed = "[test:ci] $ go test -tags=integration -race ./...\nok  \tshop\t20.4s\n> shop@1.0.0 test\n> vitest run\n";
        let echoed = commands(printed);
        assert_eq!(echoed, ["go test -tags=integration -race ./...", "vitest run"]);
        for command in
            ["go test -tags integration ./a", "go test -race ./a", "go test ./a", "npx tsc --noEmit"]
        {
            assert!(may_include(&echoed, command), "{command}");
        }
        for command in ["go test -tags e2e -c ./e2e/...", "CGO_ENABLED=1 go test -tags=integration,e2e ./a"] {
            assert!(!may_include(&echoed, command), "{command}");
        }
        assert!(may_include(&[], "go test -tags e2e ./a"), "nothing is known");
    }
}
