//! The tests that a run names as failing, until they pass: a later run of a part of them says nothing of the others.

use std::collections::HashMap;

use super::importance::Importance;
use super::piped::keeps_the_end;
use super::pipes::{pipe, piped_steps};
use super::resolution::LaterSuccess;
use crate::shared::shell::is_test;

/// So many of an output are kept, and so many are named.
const MAX_TESTS: usize = 200;
const MAX_NAMED: usize = 8;
/// Before the tests that failed in a run. The document tells a check with it at greater length.
const FAILING: &str = "failing tests";

/// What the runs of one check named as failing.
#[derive(Debug, Clone, Default)]
pub(super) struct FailingTests {
    /// By the last run that told.
    last: Vec<String>,
    /// By runs before it, of which it printed only a part.
    before: Vec<String>,
    /// The package of each of them, where the output says it.
    packages: HashMap<String, String>,
    /// Those that passed since, each alone or with others.
    passed: Vec<String>,
    /// Whether these are all that failed.
    is_complete: bool,
    /// How many changes of source files came before the run.
    edits: u64,
}

impl FailingTests {
    /// What a run that did not pass, after so many changes of source files, adds to the runs before it.
    pub(super) fn after(before: Self, step: &str, printed: &str, edits: u64) -> Self {
        let last = named_as_failing(printed);
        let packages = packages(printed);
        let filters = pipe(step, Importance::Some).unwrap_or_default();
        let is_part = filters
            .iter()
            .any(|filter| !keeps_the_end(filter, printed.lines().count()) || filter.starts_with("tail"));
        if !is_part && !last.is_empty() {
            let is_complete = all_failing_tests(step, printed).is_some();
            return Self { last, is_complete, edits, packages, ..Self::default() };
        }
        // What was changed since may have mended what a part does not show, unless that is one test that was looked for.
        let is_named = |test: &String| filters.iter().any(|filter| filter.contains(test.as_str()));
        let is_of_one = before.last.iter().chain(&before.before).any(is_named);
        let still_holds = before.edits == edits || is_of_one;
        let shown = LaterSuccess { command: "", output: printed, is_sure: true };
        let mut older: Vec<String> = before.last.into_iter().chain(before.before).collect();
        older.retain(|test| still_holds && !last.contains(test) && !has_passed(test, &shown));
        let is_complete = older.is_empty() && all_failing_tests(step, printed).is_some();
        let packages = before.packages.into_iter().chain(packages).collect();
        let mut own = Self { last, before: older, packages, passed: before.passed, is_complete, edits };
        own.drop_passed_packages(&shown);
        own
    }

    /// Takes out what a run of tests that passed ran. Gives whether nothing that failed is left.
    pub(super) fn pass(&mut self, later: &LaterSuccess<'_>) -> bool {
        let was_open = !self.is_empty();
        for list in [&mut self.last, &mut self.before] {
            let (passed, open): (Vec<String>, Vec<String>) =
                std::mem::take(list).into_iter().partition(|test| has_passed(test, later));
            *list = open;
            self.passed.extend(passed);
        }
        self.drop_passed_packages(later);
        was_open && self.is_empty() && self.is_complete
    }

    /// Takes out what only runs before named, where a later run of its whole package passed. Whether that ran each of these tests is not
    /// shown, so they are not said to have passed.
    fn drop_passed_packages(&mut self, later: &LaterSuccess<'_>) {
        if selects_tests(later.command) {
            return;
        }
        let passed = |package: &String| {
            let is_it = |line: &str| {
                let mut words = line.split_whitespace();
                words.next() == Some("ok") && words.next() == Some(package) && !line.contains("[no test")
            };
            memchr::memmem::find(later.output.as_bytes(), package.as_bytes()).is_some()
                && later.output.lines().any(is_it)
        };
        let packages = &self.packages;
        self.before.retain(|test| !packages.get(test).is_some_and(passed));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty() && self.before.is_empty()
    }

    /// What is told of them beside what is known of the run, where that does not name them all.
    pub(super) fn note(&self, known: Option<&str>) -> Option<String> {
        let is_named = |test: &String| known.is_some_and(|note| note.contains(test.as_str()));
        if self.is_empty()
            || (self.last.iter().all(is_named) && self.before.is_empty() && self.passed.is_empty())
        {
            return None;
        }
        let mut parts = Vec::new();
        if !self.last.is_empty() {
            parts.push(format!("{FAILING}: {}", listed(&self.last)));
        }
        if !self.before.is_empty() {
            parts.push(format!(
                "{FAILING} of the run before, which this one does not show: {}",
                listed(&self.before)
            ));
        }
        if !self.passed.is_empty() {
            parts.push(format!("passed since: {}", listed(&self.passed)));
        }
        Some(parts.join("; "))
    }
}

fn listed(tests: &[String]) -> String {
    let named = tests.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match tests.len().saturating_sub(MAX_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// The tests that an output names as failing, if it names all of them.
pub(super) fn all_failing_tests(command: &str, printed: &str) -> Option<Vec<String>> {
    let broken = ["[build failed]", "error[E", "error: could not compile", "ERROR collecting", "panic: "];
    let is_broken = |line: &str| broken.iter().any(|mark| line.contains(mark));
    if !is_test(command) && !printed.contains("--- FAIL")
        || printed.lines().any(is_broken)
        || is_cut(command, printed)
    {
        return None;
    }
    let tests = named_as_failing(printed);
    (!tests.is_empty()).then_some(tests)
}

/// The tests that an output names as failing, as far as it names them.
fn named_as_failing(printed: &str) -> Vec<String> {
    let mut tests: Vec<String> = Vec::new();
    for test in printed.lines().filter_map(failing_test).take(MAX_TESTS) {
        if !tests.iter().any(|known| known == test) {
            tests.push(test.to_owned());
        }
    }
    // A part of a test passes with the whole.
    let all = tests.clone();
    tests.retain(|test| {
        !all.iter().any(|other| test.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
    });
    tests
}

/// Whether a command runs a part of the tests of a package, as far as it says so: also in a variable, as `TESTFLAGS="-run X"`.
fn selects_tests(command: &str) -> bool {
    ["-run", "-test.", "-skip", "-short"].iter().any(|flag| command.contains(flag))
}

/// The packages of the tests that an output names as failing, in the words of Go: the line of a package comes after its tests.
fn packages(printed: &str) -> HashMap<String, String> {
    let (mut found, mut tests) = (HashMap::new(), Vec::new());
    for line in printed.lines() {
        if let Some(test) = failing_test(line).filter(|_| line.contains("--- FAIL: ")) {
            tests.push(test.to_owned());
            continue;
        }
        let mut words = line.split_whitespace();
        let package = match (words.next(), words.next()) {
            (Some("FAIL"), Some(package)) if package.contains(['/', '.']) => package,
            // The line of their own package was filtered out.
            (Some("ok"), _) => {
                tests.clear();
                continue;
            }
            _ => continue,
        };
        found.extend(tests.drain(..).map(|test| (test, package.to_owned())));
        if found.len() > MAX_TESTS {
            break;
        }
    }
    found
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
pub(super) fn has_passed(test: &str, later: &LaterSuccess<'_>) -> bool {
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
