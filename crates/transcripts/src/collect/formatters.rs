//! Which commands write files anew in their own style: the lines of an edited file may be others then.

use super::steps::plain_steps;
use crate::shared::shell::is_test;

/// Words that stand for a formatter among the words of a task of the project: `make fmt`, `npm run format`.
const TASKS: &[&str] = &["fmt", "format", "prettier", "autoformat", "reformat", "codestyle"];
/// Programs that run the tasks of a project.
const RUNNERS: &[&str] = &[
    "make",
    "just",
    "mise",
    "task",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "rake",
    "gradle",
    "./gradlew",
    "mvn",
    "bazel",
    "tox",
    "nox",
    "hatch",
    "poetry",
    "pdm",
    "uv",
    "npx",
    "bunx",
    "deno",
    "biome",
    "dprint",
    "dotnet",
    "mix",
    "composer",
    "turbo",
    "nx",
    "trunk",
    "pre-commit",
    "lefthook",
    "treefmt",
    "prettier",
    "eslint",
    "oxlint",
    "stylelint",
];
/// Formatters of one language, and the endings of its files.
const OF_ONE: &[(&[&str], &[&str])] = &[
    (&["cargo", "fmt"], &[".rs"]),
    (&["cargo", "fix"], &[".rs"]),
    (&["rustfmt"], &[".rs"]),
    (&["go", "fmt"], &[".go"]),
    (&["gofmt"], &[".go"]),
    (&["gofumpt"], &[".go"]),
    (&["goimports"], &[".go"]),
    (&["golangci-lint", "fmt"], &[".go"]),
    (&["golangci-lint", "run", "--fix"], &[".go"]),
    (&["black"], &[".py", ".pyi", ".ipynb"]),
    (&["isort"], &[".py", ".pyi"]),
    (&["ruff", "format"], &[".py", ".pyi", ".ipynb"]),
    (&["ruff", "check", "--fix"], &[".py", ".pyi", ".ipynb"]),
    (&["clang-format", "-i"], &[".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".mm"]),
    (&["swiftformat"], &[".swift"]),
    (&["ktlint", "-F"], &[".kt", ".kts"]),
    (&["rubocop", "-a"], &[".rb"]),
    (&["rubocop", "-A"], &[".rb"]),
    (&["terraform", "fmt"], &[".tf", ".tfvars"]),
    (&["zig", "fmt"], &[".zig"]),
    (&["shfmt", "-w"], &[".sh", ".bash"]),
    (&["stylua"], &[".lua"]),
    (&["php-cs-fixer", "fix"], &[".php"]),
];
/// Words by which a formatter only says what it would change.
const ONLY_CHECKS: &[&str] =
    &["--check", "--list-different", "--diff", "--list", "-check", "--dry-run", "--verify"];
/// Programs of which these short options say the same.
const LISTING: &[&str] = &["gofmt", "gofumpt", "goimports", "shfmt", "prettier", "make"];
const SHORT_CHECKS: &[&str] = &["-l", "-d", "-n"];

/// For each step of a command line that formats the endings of what it may change; none of them stands for all.
pub(super) fn formatted(line: &str) -> Vec<&'static [&'static str]> {
    plain_steps(line).iter().filter_map(|step| of_step(step)).collect()
}

fn of_step(step: &str) -> Option<&'static [&'static str]> {
    let words: Vec<&str> = step.split_whitespace().collect();
    let has = |wanted: &str| words.contains(&wanted);
    if is_test(step) || words.iter().any(|word| ONLY_CHECKS.contains(word)) {
        return None;
    }
    // `npx prettier`, `uv run black`, `python -m black`, `./node_modules/.bin/prettier`
    let skipped = |word: &&&str| {
        matches!(**word, "npx" | "bunx" | "uv" | "poetry" | "run" | "python" | "python3" | "-m" | "exec")
    };
    let begin: Vec<&str> = words.iter().skip_while(skipped).copied().collect();
    let program = begin.first().map(|word| word.rsplit('/').next().unwrap_or(word))?;
    if LISTING.contains(&program) && words.iter().any(|word| SHORT_CHECKS.contains(word)) {
        return None;
    }
    let is_one =
        |(name, _): &&(&[&str], &[&str])| name[0] == program && name[1..].iter().all(|word| has(word));
    if let Some((_, endings)) = OF_ONE.iter().find(is_one) {
        return Some(*endings);
    }
    let first = words.first().copied().unwrap_or_default();
    let is_runner = RUNNERS.contains(&first) || RUNNERS.contains(&program);
    let names_task = |word: &&str| {
        let parts: Vec<&str> = word.split([':', '-', '.', '/', '_']).collect();
        !word.starts_with('-')
            && parts.iter().any(|part| TASKS.contains(part))
            && !parts.iter().any(|part| matches!(*part, "check" | "verify" | "diff" | "lint"))
    };
    let fixes = ["--fix", "--write", "-w", "lint:fix", "lint-fix"].iter().any(|word| has(word));
    let formats = match program {
        "prettier" => fixes,
        "pre-commit" => has("run"),
        _ => fixes || words.iter().any(names_task),
    };
    (is_runner && formats).then_some(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatter_is_known_by_its_name_or_its_task_and_one_that_only_checks_is_none() {
        let all: &[&[&str]] = &[&[]];
        for line in [
            "mise run fmt",
            "make fmt && make lint",
            "npm run format",
            "npx prettier --write src",
            "pnpm format:fix",
            "npx eslint --fix .",
            "cd web && yarn lint:fix",
            "deno fmt",
        ] {
            assert_eq!(formatted(line), all, "{line}");
        }
        for (line, ending) in [
            ("cargo fmt --all", ".rs"),
            ("gofmt -s -w .", ".go"),
            ("uv run ruff format src", ".py"),
            ("python -m black .", ".py"),
            ("/usr/local/bin/gofumpt -w a.go", ".go"),
        ] {
            let found = formatted(line);
            assert!(found.len() == 1 && found[0].contains(&ending), "{line}: {found:?}");
        }
        for line in [
            "cargo fmt --check",
            "gofmt -l .",
            "npm run format:check",
            "npx prettier --check .",
            "git log --format=%h",
            "make lint",
            "ls fmt",
            "cat prettier.config.js",
            "mise run lint",
            "cargo test fmt",
        ] {
            assert_eq!(formatted(line), [&[] as &[&str]; 0], "{line}");
        }
    }
}
