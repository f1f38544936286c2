//! What command lines and their output say about themselves.

/// Exit code and output, where a tool puts lines such as `Exit code: 1`, `Process exited with code 1` and `Output:` in
/// front of what the command printed.
pub(crate) fn split_exit_code(text: &str) -> (Option<i64>, &str) {
    if let Some((code, printed)) = sandboxed(text) {
        return (Some(code), printed);
    }
    let mut code = None;
    let mut rest = text;
    // One wrapper may stand inside another.
    for _ in 0..2 {
        let Some((head, body)) = split_preamble(rest) else { break };
        code = head.lines().find_map(exit_line).or(code);
        rest = body;
    }
    if code.is_none() {
        let (first, body) = rest.split_once('\n').unwrap_or((rest, ""));
        if let Some(found) = exit_line(first) {
            return (Some(found), body);
        }
    }
    (code, rest)
}

/// `failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: …`, as Codex writes
/// where a command ended badly in its sandbox.
fn sandboxed(text: &str) -> Option<(i64, &str)> {
    let rest = text.strip_prefix("failed in sandbox ")?;
    let (head, printed) = rest.split_once(", stdout: ")?;
    let code = head.lines().next()?.rsplit_once("exit code: ")?.1.trim().parse().ok()?;
    Some((code, printed))
}

/// The lines before `Output:`, if they are nothing but a preamble.
fn split_preamble(text: &str) -> Option<(&str, &str)> {
    let starts =
        ["Exit code: ", "Wall time: ", "Chunk ID: ", "Command: ", "Process exited", "Process running"];
    if !starts.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    let at = text
        .find("\nOutput:\n")
        .map(|at| (at, at + 9))
        .or_else(|| text.strip_suffix("\nOutput:").map(|head| (head.len(), text.len())))?;
    Some((&text[..at.0], &text[at.1..]))
}

/// `Exit code 3`, `Exit code: 3`, `Error: Exit code 3` or `Process exited with code 3`.
fn exit_line(line: &str) -> Option<i64> {
    let line = line.strip_prefix("Error: ").unwrap_or(line);
    let number = line.strip_prefix("Exit code").or_else(|| line.strip_prefix("Process exited with code"))?;
    number.trim_start_matches(':').trim().parse().ok()
}

/// The exit code that a tool tells in words of its own, before or after what the command printed, as in
/// `Command failed with exit code: 2.` or `[Process exited with code 2]`.
pub(crate) fn told_exit(text: &str) -> Option<i64> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().rev().take(4).find_map(exit_code).or_else(|| lines().take(2).find_map(exit_code))
}

/// The output without the words that [`told_exit`] read: what the command itself said last is more telling.
pub(crate) fn without_exit(text: &str) -> &str {
    let text = text.trim_end();
    let (rest, last) = text.rsplit_once('\n').unwrap_or(("", text));
    if exit_code(last.trim()).is_some() {
        return rest.trim_end();
    }
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if exit_code(first.trim()).is_some() { rest.trim_start_matches('\n') } else { text }
}

/// What the command itself printed: without the lines in which the tool tells this exit code or announces the output.
pub(crate) fn bare_output(text: &str, code: i64) -> &str {
    let is_frame = |line: &str| {
        let line = line.trim();
        let status = line.strip_prefix("<exited with exit code ").and_then(|rest| rest.strip_suffix('>'));
        matches!(line, "" | "Output:" | "Command output:")
            || exit_code(line) == Some(code)
            || status.and_then(|number| number.parse().ok()) == Some(code)
    };
    let mut text = text;
    while let Some((first, rest)) = text.split_once('\n').filter(|(first, _)| is_frame(first)) {
        let _ = first;
        text = rest;
    }
    while let Some((rest, last)) = text.rsplit_once('\n').filter(|(_, last)| is_frame(last)) {
        let _ = last;
        text = rest;
    }
    if is_frame(text) { "" } else { text }
}

fn exit_code(line: &str) -> Option<i64> {
    const MARKS: &[&str] = &["exit code", "exited with code", "exit status"];
    let lower = line.to_ascii_lowercase();
    let (at, mark) = MARKS.iter().find_map(|mark| Some((lower.rfind(mark)?, mark)))?;
    // A command may print such words too: only those that a tool would put there count.
    let before = lower[..at].trim_start_matches(['[', '(', '<', '*']).trim();
    let spoken = ["command", "process", "failed with", "completed with", "system>", "error:"];
    let is_told = before.is_empty() || spoken.iter().any(|word| before.contains(word));
    let rest = lower[at + mark.len()..].trim_start_matches([':', ' ']);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').len();
    let ends = !rest[digits..].starts_with(|c: char| c.is_alphanumeric());
    rest[..digits].parse().ok().filter(|_| is_told && ends && line.len() < 400)
}

/// Exit code and output where every fact stands on a line after its name: `Output: …`, `Exit Code: 1`, `Signal: 0`.
pub(crate) fn unlabel(text: &str) -> (Option<i64>, String) {
    const DROPPED: &[&str] =
        &["Command: ", "Directory: ", "Signal: ", "Process Group PGID: ", "Background PIDs: ", "Exit Code: "];
    let dropped = |line: &&str| {
        DROPPED.iter().any(|label| line.starts_with(label))
            || matches!(
                *line,
                "<untrusted_context>" | "</untrusted_context>" | "Error: (none)" | "Output: (empty)"
            )
    };
    let code = text.lines().rev().find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok());
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !dropped(line))
        .map(|line| line.strip_prefix("Output: ").unwrap_or(line))
        .collect();
    (code, lines.join("\n"))
}

/// The command line out of an argument list such as `["bash", "-lc", "npm test"]`.
pub(crate) fn from_args(args: &[&str]) -> String {
    match args {
        [shell, flag, command] if flag.starts_with('-') && flag.ends_with('c') && is_shell(shell) => {
            (*command).to_owned()
        }
        _ => args.iter().map(|arg| quote(arg)).collect::<Vec<_>>().join(" "),
    }
}

fn is_shell(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    matches!(name, "bash" | "sh" | "zsh" | "dash" | "fish" | "ksh")
}

fn quote(arg: &str) -> String {
    let plain = !arg.is_empty()
        && arg.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:,@+%".contains(&byte));
    if plain { arg.to_owned() } else { format!("'{}'", arg.replace('\'', "'\\''")) }
}

/// Test runners: the words that a command begins with.
const RUNNERS: &[&[&str]] = &[
    &["cargo", "test"],
    &["cargo", "nextest"],
    &["npm", "test"],
    &["npm", "t"],
    &["npm", "run", "test"],
    &["yarn", "test"],
    &["yarn", "run", "test"],
    &["pnpm", "test"],
    &["pnpm", "run", "test"],
    &["bun", "test"],
    &["bun", "run", "test"],
    &["deno", "test"],
    &["npx", "jest"],
    &["npx", "vitest"],
    &["npx", "mocha"],
    &["npx", "playwright", "test"],
    &["jest"],
    &["vitest"],
    &["mocha"],
    &["pytest"],
    &["py.test"],
    &["python", "-m", "pytest"],
    &["python3", "-m", "pytest"],
    &["python", "-m", "unittest"],
    &["python3", "-m", "unittest"],
    &["uv", "run", "pytest"],
    &["poetry", "run", "pytest"],
    &["tox"],
    &["nox"],
    &["go", "test"],
    &["gotestsum"],
    &["make", "test"],
    &["make", "check"],
    &["just", "test"],
    &["mise", "run", "test"],
    &["mise", "r", "test"],
    &["nx", "test"],
    &["turbo", "test"],
    &["turbo", "run", "test"],
    &["hatch", "test"],
    &["hatch", "run", "test"],
    &["pnpm", "vitest"],
    &["pnpm", "jest"],
    &["yarn", "vitest"],
    &["yarn", "jest"],
    &["bunx", "vitest"],
    &["npx", "ava"],
    &["task", "test"],
    &["mvn", "test"],
    &["mvn", "verify"],
    &["gradle", "test"],
    &["./gradlew", "test"],
    &["./mvnw", "test"],
    &["bundle", "exec", "rspec"],
    &["rspec"],
    &["rake", "test"],
    &["rails", "test"],
    &["phpunit"],
    &["vendor/bin/phpunit"],
    &["composer", "test"],
    &["dotnet", "test"],
    &["swift", "test"],
    &["ctest"],
    &["mix", "test"],
    &["sbt", "test"],
    &["bazel", "test"],
    &["zig", "build", "test"],
    &["node", "--test"],
    &["./test"],
    &["./tests"],
    &["./run_tests"],
    &["bats"],
    &["meson", "test"],
    &["stack", "test"],
    &["cabal", "test"],
    &["flutter", "test"],
    &["dart", "test"],
];

/// The steps of a command line; what stands in quotes is not looked into.
pub(crate) fn steps(line: &str) -> Vec<&str> {
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

/// Whether a command line runs tests.
pub(crate) fn is_test(command: &str) -> bool {
    steps(command).into_iter().any(is_test_step)
}

fn is_test_step(step: &str) -> bool {
    let is_setting = |word: &&str| word.contains('=') && !word.starts_with(['-', '.', '/']);
    let prefix =
        |word: &&str| is_setting(word) || matches!(*word, "sudo" | "time" | "exec" | "timeout" | "env" | "(");
    let is_duration = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit() || byte == b's');
    let words: Vec<&str> =
        step.split_whitespace().skip_while(|word| prefix(word) || is_duration(word)).collect();
    let runs = |runner: &&[&str]| {
        words.len() >= runner.len()
            && words.iter().zip(*runner).enumerate().all(|(at, (word, wanted))| {
                // `npm run test:unit` and `./test.sh` are test runs too.
                word == wanted || (at + 1 == runner.len() && extends(word, wanted))
            })
    };
    RUNNERS.iter().any(runs)
}

fn extends(word: &str, wanted: &str) -> bool {
    wanted.contains("test") && word.strip_prefix(wanted).is_some_and(|rest| rest.starts_with([':', '.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_runs_are_told_from_other_commands() {
        for command in [
            "cargo test -p x",
            "cd a && npm test",
            "CI=1 npm run test:unit",
            "timeout 60 pytest -q | tail",
            "./test.sh",
            "python3 -m pytest",
            "go test ./...",
            "make test",
        ] {
            assert!(is_test(command), "{command}");
        }
        for command in [
            "cargo build",
            "cat test",
            "git commit -m 'cargo test'",
            "ls tests",
            "npm install",
            "echo go",
            "",
        ] {
            assert!(!is_test(command), "{command}");
        }
    }

    #[test]
    fn exit_codes_are_read_in_every_dialect() {
        for (text, code, output) in [
            ("Exit code 3\n3", Some(3), "3"),
            ("Error: Exit code 127", Some(127), ""),
            ("Exit code: 1\nWall time: 2 seconds\nOutput:\nboom\n", Some(1), "boom\n"),
            (
                "Chunk ID: f9\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\na\n",
                Some(0),
                "a\n",
            ),
            ("Wall time: 0 seconds\nOutput:\nExit code: 2\nWall time: 0 seconds\nOutput:\nx", Some(2), "x"),
            ("plain", None, "plain"),
            (
                "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: a, stderr: b",
                Some(2),
                "a, stderr: b",
            ),
            ("failed in sandbox, says the manual", None, "failed in sandbox, says the manual"),
        ] {
            assert_eq!(split_exit_code(text), (code, output), "{text}");
        }
    }

    #[test]
    fn exit_codes_told_in_words_are_told_from_what_a_command_prints() {
        for (text, code) in [
            ("boom\n\nCommand exited with code 2", Some(2)),
            ("<system>ERROR: Command failed with exit code: 1.</system>\nboom", Some(1)),
            ("boom\n[Process exited with code 127]", Some(127)),
            ("Error: Command failed (exit code: 3)\nboom", Some(3)),
            ("boom\nexit code: -1", Some(-1)),
            ("make: *** exit status 2 in sub", None),
            ("see exit code 3 of the manual", None),
            ("plain", None),
        ] {
            assert_eq!(told_exit(text), code, "{text}");
        }
        for text in ["boom\n\nCommand exited with code 2", "Exit code: 1\n\nboom", "boom"] {
            assert_eq!(without_exit(text), "boom");
        }
    }

    #[test]
    fn labelled_output_loses_its_labels() {
        let text = "Command: x\nDirectory: (root)\nOutput: a\nb\nError: (none)\nExit Code: 3\nSignal: 0\nProcess Group PGID: 9";
        assert_eq!(unlabel(text), (Some(3), "a\nb".to_owned()));
        assert_eq!(unlabel("<untrusted_context>\nOutput: a\n</untrusted_context>"), (None, "a".to_owned()));
    }

    #[test]
    fn a_shell_around_a_command_is_taken_off() {
        assert_eq!(from_args(&["/bin/bash", "-lc", "npm test"]), "npm test");
        assert_eq!(from_args(&["git", "commit", "-m", "it's"]), r"git commit -m 'it'\''s'");
    }
}
