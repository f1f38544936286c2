//! Which commands mattered.

use super::check_filter::{is_look_up, keeps_an_answer};
use super::steps::{bare, without_settings};
use crate::shared::shell::is_test;
pub(super) use crate::shared::shell::steps;

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
    "ls",
    "cat",
    "head",
    "tail",
    "less",
    "grep",
    "rg",
    "ag",
    "find",
    "fd",
    "pwd",
    "cd",
    "echo",
    "wc",
    "which",
    "type",
    "tree",
    "stat",
    "file",
    "du",
    "df",
    "ps",
    "env",
    "printenv",
    "date",
    "whoami",
    "diff",
    "sort",
    "jq",
    "awk",
    "nl",
    "true",
    "test",
    "[",
    "sleep",
    "export",
    "set",
    "source",
    "printf",
    "sed",
    "tr",
    "cut",
    "uniq",
    "xxd",
    "realpath",
    "dirname",
    "basename",
    "rev",
    "tac",
    "column",
    "od",
    "hexdump",
    "strings",
    "md5",
    "md5sum",
    "shasum",
    "sha1sum",
    "sha256sum",
    "base64",
    "yes",
    "seq",
    "comm",
    "cmp",
    "hostname",
    "uname",
    "id",
    "lsof",
    "man",
    "code",
    "open",
    "mkdir",
    "touch",
    "chmod",
    "clear",
    "history",
    "whereis",
    "yq",
    "cloc",
    "tokei",
    "read",
    "done",
    "do",
    "while",
    "for",
    "fi",
    "then",
    "else",
    "esac",
    "break",
    "continue",
    "local",
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
    "ls-tree",
    "ls-remote",
    "show-ref",
    "cat-file",
    "merge-base",
    "rev-list",
    "reflog",
    "name-rev",
    "shortlog",
    "for-each-ref",
    "check-ignore",
    "whatchanged",
    "count-objects",
    "symbolic-ref",
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
    ("run", "view"),
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

fn step_worth(step: &str) -> Importance {
    const BEFORE: &[&str] = &["do", "then", "else", "if", "while", "until"];
    if let Some((_, rest)) = step.trim().split_once(' ').filter(|(word, _)| BEFORE.contains(word)) {
        return step_worth(rest);
    }
    if matches!(step.split_whitespace().next(), Some("done" | "fi" | "for" | "read")) {
        return Importance::Look;
    }
    // `id=$(gh pr view --json id)` is worth what the command in it is.
    if keeps_an_answer(step) {
        let inner = step
            .split_once('=')
            .map_or("", |(_, value)| value)
            .trim()
            .trim_matches(['"', '$', '(', ')', '`']);
        return steps(inner).into_iter().map(step_worth).max().unwrap_or(Importance::Look);
    }
    // A comment, and a variable whose command is parted by a pipe: `id=$(git show` and `grep x)`.
    let step = match step.trim_start().split_once("=$(") {
        _ if step.trim_start().starts_with('#') => return Importance::Look,
        Some((name, rest)) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => rest,
        _ => step,
    };
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
        ["git", "-C", _, verb, ..] if GIT_LOOKS.contains(verb) => Importance::Look,
        ["git", verb, ..] if GIT_LOOKS.contains(verb) => Importance::Look,
        ["git", "worktree" | "stash" | "remote" | "submodule", "list" | "show" | "status", ..] => {
            Importance::Look
        }
        ["git", "add", "-p" | "--patch", ..] => Importance::Some,
        ["python" | "python3", "-m", "json.tool", ..] => Importance::Look,
        // What stands behind a pipe and only prints what it read.
        ["python" | "python3", "-c", ..] if step.contains("sys.stdin") && !writes(step) => Importance::Look,
        ["gh" | "glab", noun, verb, ..] if FORGE_LOOKS.contains(&(*noun, *verb)) => Importance::Look,
        ["gh" | "glab", "api", ..] if !step.split_whitespace().any(|word| FORGE_WRITES.contains(&word)) => {
            Importance::Look
        }
        ["sed", rest @ ..] if rest.iter().any(|word| word.starts_with("-i")) => Importance::Some,
        [name, ..] if LOOKS.contains(name) || name.starts_with(['>', '<']) || name.parse::<u8>().is_ok() => {
            Importance::Look
        }
        _ if is_look_up(bare(step)) => Importance::Look,
        words if words.iter().any(|word| WORK.contains(word)) => Importance::Work,
        _ => Importance::Some,
    }
}

/// Whether a program in a command line's own words may change something.
fn writes(step: &str) -> bool {
    ["open(", "write", "os.", "subprocess", "shutil"].iter().any(|word| step.contains(word))
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
            (
                "git ls-tree -r main --name-only | while read path; do\n  # the first line\n  kind=$(git show \"main:$path\" | head -1 | python3 -c \
                 \"import sys,json; print(json.loads(sys.stdin.read()).get('type',''))\")\n  if [ \"$kind\" = \"summary\" ]; then\n    \
                 echo \"$path\"\n    break\n  fi\ndone | head -10",
                Importance::Look,
            ),
            (
                "id=$(git show HEAD | grep Id: | awk '{print $2}')\necho $id | python3 -m json.tool",
                Importance::Look,
            ),
            ("cat x | python3 -c \"import sys; open('a','w').write(sys.stdin.read())\"", Importance::Some),
        ] {
            assert_eq!(importance(command), wanted, "{command}");
        }
    }
}
