//! Which steps of a command line are checks: tests, builds, linters, type checks, formatters, programs of the project.

use super::importance::{Importance, importance};
use super::steps::{bare, without_settings};
use super::unstaged::fed_steps;

/// Whether a step verifies or makes something; git has its own section.
pub(super) fn is_work(step: &str) -> bool {
    let whole = step.trim_start_matches(['(', '{', ' ']);
    let step = bare(step).trim_start_matches(['(', '{', ' ']);
    // The end of a group whose beginning is in a step before.
    let step = if step.contains('(') { step } else { step.trim_end_matches([')', '}', ' ']) };
    let first = step.split_whitespace().next().unwrap_or_default();
    let named = first.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'));
    let fetches = first == "curl" && !["localhost", "127.0.0.1"].iter().any(|host| step.contains(host));
    named
        && !fetches
        && !keeps_an_answer(whole)
        && !NO_CHECKS.contains(&first)
        && !is_look_up(step)
        && !installs(step)
        && !is_inline(step)
        && !is_of_temporary_files(step)
        && !sets_up(step)
        && importance(step) > Importance::Look
}

/// Whether a step only keeps what a command prints: `id=$(git rev-parse HEAD)`, `name=$(echo "$path" | sed 's/a/b/')`.
pub(super) fn keeps_an_answer(step: &str) -> bool {
    let Some((name, value)) = step.trim_start().split_once('=') else { return false };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let value = value.trim_start_matches('"');
    let close = match value {
        value if value.starts_with("$(") => ')',
        value if value.starts_with('`') => '`',
        _ => return false,
    };
    is_name && step.trim_end().trim_end_matches('"').ends_with(close)
}

/// Whether a program is only asked: for its version, its usage, or what it knows.
pub(super) fn is_look_up(step: &str) -> bool {
    let words: Vec<&str> = step.split_whitespace().collect();
    let asks = |word: &&str| matches!(*word, "--version" | "--help" | "-V" | "--dry-run");
    match words.as_slice() {
        [_, rest @ ..] if rest.iter().any(asks) && !rest.contains(&"--") => true,
        [_, "version" | "help" | "linters" | "completion", ..] => true,
        ["go", "env" | "doc" | "list", ..]
        | [
            "npm" | "pnpm" | "yarn" | "bun",
            "ls" | "list" | "view" | "info" | "config" | "why" | "outdated" | "root",
            ..,
        ]
        | ["pip" | "pip3", "list" | "show" | "freeze", ..]
        | ["cargo", "tree" | "metadata" | "search", ..]
        | ["mise", "tasks" | "ls" | "which" | "where" | "env" | "current", ..]
        | ["docker" | "podman", "ps" | "images" | "logs" | "inspect", ..]
        | ["kubectl", "get" | "describe" | "logs", ..]
        | ["brew", "list" | "info" | "search", ..]
        | ["make", "-n", ..]
        | ["just", "--list" | "-l", ..] => true,
        _ => false,
    }
}

/// Whether a step fetches packages or tools, or counts up a version.
fn installs(step: &str) -> bool {
    let words: Vec<&str> = step.split_whitespace().filter(|word| *word != "sudo").collect();
    match words.as_slice() {
        ["go", "install", rest @ ..] => rest.iter().any(|word| word.contains('@')),
        ["npm" | "pnpm" | "yarn" | "bun", "install" | "i" | "ci" | "add" | "version" | "link", ..]
        | ["yarn" | "pnpm"]
        | [
            "pip" | "pip3" | "pipx" | "brew" | "apt" | "apt-get" | "gem" | "bundle" | "composer" | "poetry",
            "install" | "add",
            ..,
        ]
        | ["uv", "pip" | "add" | "sync", ..]
        | ["python" | "python3", "-m", "pip" | "venv", ..]
        | ["mise" | "asdf" | "nvm" | "rustup", "install" | "use" | "trust" | "add", ..]
        | ["golangci-lint", "cache", ..] => true,
        ["npm" | "pnpm" | "yarn" | "bun", "run", name, ..] => name.starts_with("version"),
        _ => false,
    }
}

/// Whether a program or script of the project is called to set something up or to end it: `./dev.sh create-files`.
fn sets_up(step: &str) -> bool {
    const VERBS: &[&str] = &[
        "setup",
        "set",
        "init",
        "create",
        "configure",
        "config",
        "start",
        "stop",
        "enable",
        "disable",
        "uninstall",
        "clean",
        "cleanup",
        "reset",
        "teardown",
        "seed",
        "prepare",
        "provision",
        "up",
        "down",
        "login",
        "logout",
    ];
    let mut words = without_settings(step).split_whitespace();
    let is_shell = |word: &&str| matches!(*word, "bash" | "sh" | "zsh" | "python" | "python3" | "node");
    let program = words.find(|word| !is_shell(word) && !word.starts_with('-'));
    let is_own = program.is_some_and(|program| program.contains('/') || program.ends_with(".sh"));
    let verb = words.next().and_then(|word| word.split(['-', '_', ':']).next());
    // `./gradlew clean build` builds.
    is_own && verb.is_some_and(|verb| VERBS.contains(&verb)) && importance(step) < Importance::Work
}

/// Whether a step runs a program that stands in the command line itself: a trial, which is not run again.
pub(super) fn is_inline(step: &str) -> bool {
    const INTERPRETERS: &[&str] = &[
        "python", "python3", "node", "bun", "deno", "ruby", "perl", "php", "tsx", "ts-node", "npx", "bunx",
        "uv", "bash", "sh", "zsh",
    ];
    let words: Vec<&str> = step.split_whitespace().take(6).collect();
    let Some((program, rest)) = words.split_first() else { return false };
    let is_code = |word: &&str| matches!(*word, "-e" | "-c" | "--eval" | "eval" | "-");
    let mut before = rest.iter().take_while(|word| !word.contains('.') && !word.contains('/'));
    INTERPRETERS.contains(program) && (before.any(is_code) || step.contains("<<"))
}

/// Whether a step looks at a file that was put aside for a trial; a program that was built there is one of the project.
fn is_of_temporary_files(step: &str) -> bool {
    let is_temporary = |word: &str| {
        ["/tmp/", "/var/folders/", "/private/tmp/"].iter().any(|folder| word.starts_with(folder))
    };
    let words: Vec<&str> = step.split_whitespace().collect();
    let Some((program, rest)) = words.split_first() else { return false };
    let is_script = |word: &str| word.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let mut arguments = rest.iter().enumerate().filter(|(at, word)| {
        // What is written there tells nothing.
        !word.starts_with('-')
            && (*at == 0 || !matches!(rest[at - 1], "-o" | "--output" | "--out" | "--target-dir"))
    });
    (is_temporary(program) && is_script(program)) || arguments.any(|(_, word)| is_temporary(word))
}

/// Whether a command line only tries something out: a program in its own words, a file that was put aside, a look.
pub(super) fn is_trial(line: &str) -> bool {
    let tries =
        |step: &str| is_inline(step) || is_of_temporary_files(step) || importance(step) == Importance::Look;
    fed_steps(line).iter().all(|step| tries(step))
}

/// Words of the shell, and programs whose outcome says nothing about the work.
const NO_CHECKS: &[&str] = &[
    "git", "gh", "glab", "exit", "return", "for", "while", "until", "do", "done", "if", "then", "elif",
    "else", "fi", "case", "esac", "kill", "pkill", "mkdir", "rm", "cp", "mv", "touch", "chmod", "chown",
    "ln", "read", "wait", "trap", "break", "continue", "unset", "alias", "pushd", "popd", "tee", "xargs",
    "rmdir", "wget", "code", "open", "claude", "sed", "perl", "command", "hash", "builtin", "local",
    "declare", "cd", "tar", "unzip", "ssh", "scp", "rsync",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_asks_fetches_or_tries_is_no_check() {
        for step in [
            "golangci-lint linters",
            "golangci-lint run --help",
            "suffix=$(echo \"$branch\" | sed 's|a/||')",
            "hash=\"$(echo x | cut -d- -f1)\"",
            "npm install",
            "npm version minor",
            "go install example.org/tool@latest",
            "npx tsx -e \"import './a.js'\"",
            "python3 - <<'EOF'",
            "python3 /tmp/fix.py",
            "golangci-lint run /tmp/try.go",
            "mise tasks",
            "command -v node",
            "/tmp/shop enable --agent x",
            "bash skills/test-shop/test-harness.sh create-files",
            "./scripts/dev.sh setup-repo",
        ] {
            assert!(!is_work(step), "{step}");
        }
        for step in [
            "go install ./cmd/shop",
            "go build -o /tmp/shop ./cmd/shop",
            "/tmp/shop list",
            "./shop list",
            "python3 -m mypy src",
            "python3 scripts/check.py -c prices",
            "node --test",
            "npm run build",
            "bash -n scripts/run.sh",
            "bash skills/test-shop/test-harness.sh verify",
            "./scripts/test.sh",
            "./gradlew clean build",
            "VERSION=$(date) make dist",
        ] {
            assert!(is_work(step), "{step}");
        }
    }
}
