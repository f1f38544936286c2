//! The last state of everything that was run: each step of a command line once, with how it ended last.

use super::Location;
use super::importance::{Importance, importance, makes_good};
use super::piped::PipeEnd;
use super::steps::{Step, bare, chain, without_settings};
use crate::shared::words::one_line;

const MAX_CHECKS: usize = 60;
const MAX_COMMAND: usize = 240;

/// How the last run of a check stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckState {
    Passed,
    Failed,
    /// Neither its exit code nor its output tell.
    Unknown,
    /// It failed, and another command has made that good since.
    MadeGood,
}

/// A step and how it ended when it was run last.
#[derive(Debug, Clone)]
pub(super) struct Check {
    /// The step as it was typed last.
    pub command: String,
    /// Its exit code; absent where it is not known which step of several failed.
    pub exit_code: Option<i64>,
    /// What is known in place of a code.
    pub note: Option<String>,
    /// Place of the last run.
    pub at: Location,
    state: CheckState,
    /// What makes two steps the same.
    key: String,
    runs: u64,
    worth: Importance,
    last: u64,
    /// The line on which it passed last.
    passed_at: Option<u64>,
}

impl Check {
    fn made_good(&mut self, by: &str) {
        self.note = Some(format!("made good since by `{}`", one_line(by, 80)));
        self.state = CheckState::MadeGood;
    }
}

/// Steps by their last run, the latest last.
#[derive(Debug, Default)]
pub(super) struct Checks {
    list: Vec<Check>,
    runs: u64,
}

/// How a command line ended.
#[derive(Debug, Default)]
pub(super) struct LineOutcome<'a> {
    pub exit_code: Option<i64>,
    /// Whether it succeeded, where known.
    pub ok: Option<bool>,
    /// What is known of the steps that ran through a pipe.
    pub piped: Option<&'a PipeEnd>,
    /// The line of its output that says most about its failure.
    pub error: Option<String>,
}

impl Checks {
    /// A command line ended; what is known of its steps that ran through a pipe is told apart.
    pub(super) fn ran(&mut self, line: &str, ended: LineOutcome<'_>, at: &Location) {
        self.runs += 1;
        let steps = chain(line);
        let telling: Vec<usize> = (0..steps.len()).filter(|at| is_work(&steps[*at].text)).collect();
        // Which step of several an error belongs to is not known: the first that may have failed tells it.
        let mut error = ended.error;
        for &index in &telling {
            let by_output = ended.piped.filter(|_| pipe(&steps[index].text).is_some());
            let (code, note) = match by_output.and_then(PipeEnd::word) {
                Some(word) => (None, Some(word)),
                None => outcome(&steps, index, ended.exit_code, ended.ok),
            };
            let state = match (code, &note) {
                (Some(0), _) => CheckState::Passed,
                (None, None) => CheckState::Unknown,
                _ if by_output.is_some_and(PipeEnd::is_unknown) => CheckState::Unknown,
                _ => CheckState::Failed,
            };
            let error = error.take_if(|_| state == CheckState::Failed);
            let note = [note, error].into_iter().flatten().reduce(|all, part| format!("{all}: {part}"));
            self.put(&steps[index].text, (code, note), state, at);
        }
    }

    fn put(
        &mut self,
        text: &str,
        (exit_code, note): (Option<i64>, Option<String>),
        state: CheckState,
        at: &Location,
    ) {
        if text.chars().count() > MAX_COMMAND {
            return;
        }
        let key = bare(text).to_owned();
        let known = self.list.iter().position(|check| check.key == key);
        let before = known.map(|slot| self.list.remove(slot));
        let passed_before = before.as_ref().and_then(|check| check.passed_at);
        let passed_at = if state == CheckState::Passed { Some(at.line) } else { passed_before };
        let runs = before.map_or(0, |check| check.runs) + 1;
        let worth = importance(text);
        let command = text.replace(" 2>&1", "");
        self.list.push(Check {
            command,
            exit_code,
            note,
            at: at.clone(),
            state,
            key,
            runs,
            worth,
            last: self.runs,
            passed_at,
        });
        if self.list.len() > MAX_CHECKS {
            self.list.remove(0);
        }
    }

    /// Whether every step of a command line that failed there has passed since.
    pub(super) fn passed_since(&self, line: &str, at: &Location) -> bool {
        let steps = work_steps(line);
        !steps.is_empty() && steps.iter().all(|step| self.has_passed(step, at))
    }

    /// Whether the last state of every step of a command line that failed there is told by that run or a later one.
    pub(super) fn cover(&self, line: &str, at: &Location) -> bool {
        let steps = work_steps(line);
        let told = |step: &Step| {
            let key = bare(&step.text);
            let since = |check: &Check| check.at.line >= at.line && check.at.agent == at.agent;
            self.list.iter().any(|check| check.key == key && since(check))
        };
        !steps.is_empty() && steps.iter().all(told)
    }

    /// Says of the failed steps of a line that another command made them good.
    pub(super) fn mended(&mut self, line: &str, by: &str) {
        let keys: Vec<String> = work_steps(line).iter().map(|step| bare(&step.text).to_owned()).collect();
        let failed = |check: &&mut Check| check.state != CheckState::Passed && keys.contains(&check.key);
        self.list.iter_mut().filter(failed).for_each(|check| check.made_good(by));
    }

    /// Whether the step that failed by its output there has passed since: the only one with a pipe, behind steps that passed,
    /// since it would not have run otherwise.
    pub(super) fn piped_step_passed_since(&self, line: &str, at: &Location) -> bool {
        let all_joined = chain(line).iter().all(|step| matches!(step.joint, "" | "&&"));
        let mut piped = work_steps(line).into_iter().filter(|step| pipe(&step.text).is_some());
        let (step, more) = (piped.next(), piped.next());
        step.is_some_and(|step| all_joined && more.is_none() && self.has_passed(&step, at))
    }

    /// The steps of a command line that failed there which have not passed since; the whole line where none has.
    pub(super) fn still_failing(&self, line: &str, at: &Location) -> String {
        let steps = work_steps(line);
        let failing: Vec<&str> =
            steps.iter().filter(|step| !self.has_passed(step, at)).map(|step| step.text.as_str()).collect();
        if failing.is_empty() || failing.len() == steps.len() {
            line.to_owned()
        } else {
            failing.join(" && ")
        }
    }

    fn has_passed(&self, step: &Step, at: &Location) -> bool {
        let same = |check: &&Check| check.key == bare(&step.text);
        // A run of which it is not known how it ended takes nothing back.
        let good = |check: &Check| {
            check.passed_at.is_some_and(|line| line > at.line)
                && matches!(check.state, CheckState::Passed | CheckState::Unknown)
        };
        self.list.iter().find(same).is_some_and(good)
    }

    /// Says of what failed which run has made it good since, or which tests passed later without it.
    fn note_what_passed_later(&mut self) {
        let is_passed = |check: &&Check| check.state == CheckState::Passed;
        let passed: Vec<Check> = self.list.iter().filter(is_passed).cloned().collect();
        for check in self.list.iter_mut().filter(|check| check.state == CheckState::Failed) {
            let later: Vec<&Check> = passed.iter().filter(|other| other.at.line > check.at.line).collect();
            if let Some(good) = later.iter().find(|other| makes_good(&check.command, &other.command)) {
                check.made_good(&good.command);
                continue;
            }
            let tests = later.iter().filter(|other| other.worth == Importance::Test);
            if let Some(test) = tests.max_by_key(|other| other.at.line) {
                let before = check.note.as_deref().map(|note| format!("{note}; ")).unwrap_or_default();
                let test = one_line(&test.command, 80);
                check.note = Some(format!("{before}not run again, `{test}` passed later"));
            }
        }
    }

    /// The steps, those that the next agent is most likely to run again first: tests, then other work; often, lately, and in
    /// few words, because a long command line asked one question.
    pub(super) fn in_order(mut self) -> Vec<Check> {
        self.note_what_passed_later();
        let all = self.runs.max(1);
        let worth = |check: &Check| {
            let kind = match check.worth {
                Importance::Test => 4,
                Importance::Work => 3,
                Importance::Some | Importance::Look => 0,
            };
            let length = check.command.chars().count().min(120) as i64;
            kind * 100 + check.runs.min(10) as i64 * 60 + (check.last * 300 / all) as i64 - length * 3
        };
        self.list.sort_by_key(|check| std::cmp::Reverse(worth(check)));
        self.list
    }
}

/// The steps of a command line that do something.
fn work_steps(line: &str) -> Vec<Step> {
    chain(line).into_iter().filter(|step| is_work(&step.text)).collect()
}

/// How a step ended, as far as the end of the whole line tells: all steps of a chain of `&&` that ended well did, the
/// last did as the whole. Which step of several failed is not known.
fn outcome(
    steps: &[Step],
    index: usize,
    exit_code: Option<i64>,
    ok: Option<bool>,
) -> (Option<i64>, Option<String>) {
    let after = &steps[index + 1..];
    let Some(code) = exit_code else {
        return match ok {
            Some(false) => (None, Some("failed".to_owned())),
            _ => (None, None),
        };
    };
    let alone = steps.iter().filter(|step| !step.text.starts_with("cd ")).count() == 1;
    let all_joined = after.iter().all(|step| step.joint == "&&");
    let sure = steps[..=index].iter().all(|step| step.joint != "||");
    match code {
        _ if alone => (Some(code), None),
        0 if all_joined && sure => (Some(0), None),
        0 => (None, None),
        _ if after.is_empty() && steps[index].joint == ";" => (Some(code), None),
        _ => (None, Some(format!("in a chain that ended with exit {code}"))),
    }
}

/// The checks of a command line that ran through a pipe, without the filters.
pub(super) fn piped_commands(line: &str) -> Vec<String> {
    let steps = chain(line).into_iter().filter(|step| is_work(&step.text) && pipe(&step.text).is_some());
    steps.map(|step| without_settings(bare(&step.text)).to_owned()).collect()
}

/// For each check of a command line that ran through a pipe, the filters that it ran through.
pub(super) fn piped_steps(line: &str) -> Vec<Vec<String>> {
    chain(line).iter().filter(|step| is_work(&step.text)).filter_map(|step| pipe(&step.text)).collect()
}

/// The filters through which a check runs, if it is one and there are any.
fn pipe(step: &str) -> Option<Vec<String>> {
    let (mut quote, mut before, mut bars) = (None, ' ', Vec::new());
    for (at, c) in step.char_indices() {
        match (quote, c) {
            _ if before == '\\' => {}
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            // `>|` writes to a file.
            (None, '|') if before != '>' => bars.push(at),
            _ => {}
        }
        before = if before == '\\' { ' ' } else { c };
    }
    let first = step.get(..*bars.first()?)?;
    let ends = bars.iter().skip(1).copied().chain([step.len()]);
    let filters = bars.iter().zip(ends).filter_map(|(from, to)| step.get(from + 1..to));
    let bare = |filter: &str| filter.trim_start_matches('&').trim().to_owned();
    (importance(first) >= Importance::Work).then(|| filters.map(bare).collect())
}

/// Whether a step does something; git has its own section.
fn is_work(step: &str) -> bool {
    let step = bare(step).trim_start_matches(['(', '{', ' ']);
    // The end of a group whose beginning is in a step before.
    let step = if step.contains('(') { step } else { step.trim_end_matches([')', '}', ' ']) };
    let first = step.split_whitespace().next().unwrap_or_default();
    let named = first.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'));
    let fetches = first == "curl" && !["localhost", "127.0.0.1"].iter().any(|host| step.contains(host));
    named
        && !fetches
        && !keeps_an_answer(first, step)
        && !NO_CHECKS.contains(&first)
        && !asks_a_program_about_itself(step)
        && importance(step) > Importance::Look
}

/// Whether a step only keeps what a command prints: `id=$(git rev-parse HEAD)`.
fn keeps_an_answer(first: &str, step: &str) -> bool {
    let value = first.split_once('=').map(|(_, value)| value.trim_start_matches('"'));
    let is_answer = value.is_some_and(|value| value.starts_with("$(") || value.starts_with('`'));
    is_answer && step.trim_end_matches('"').ends_with([')', '`'])
}

/// Whether a program is asked for its version or its usage.
fn asks_a_program_about_itself(step: &str) -> bool {
    let words: Vec<&str> = step.split_whitespace().collect();
    matches!(words.as_slice(), [_, .., "--version" | "--help" | "-V"] | [_, "version" | "help", ..])
}

/// Words of the shell, and programs whose outcome says nothing about the work.
const NO_CHECKS: &[&str] = &[
    "git", "gh", "exit", "return", "for", "while", "until", "do", "done", "if", "then", "elif", "else", "fi",
    "case", "esac", "kill", "pkill", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "read", "wait",
    "trap", "break", "continue", "unset", "alias", "pushd", "popd", "tee", "xargs", "rmdir", "wget", "code",
    "open", "claude", "sed", "perl",
];

/// Whether a chain that ended well ran this step, or these steps, and nothing between them changed the folder.
pub(super) fn ran_in(failed: &str, passed: &str) -> bool {
    let (failed, passed) = (chain(failed), chain(passed));
    if passed.iter().any(|step| matches!(step.joint, "||" | ";")) {
        return false;
    }
    let folder = |steps: &[Step]| -> Vec<String> {
        steps.iter().filter(|step| step.text.starts_with("cd ")).map(|step| step.text.clone()).collect()
    };
    let wanted: Vec<&str> =
        failed.iter().filter(|step| !step.text.starts_with("cd ")).map(|step| bare(&step.text)).collect();
    let piped = |step: &Step| step.text.contains(" | ");
    let ran = |wanted: &&str| passed.iter().any(|step| bare(&step.text) == *wanted && !piped(step));
    !wanted.is_empty() && folder(&failed) == folder(&passed) && wanted.iter().all(ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i64) -> LineOutcome<'static> {
        LineOutcome { exit_code: Some(code), ok: Some(code == 0), ..LineOutcome::default() }
    }

    fn states(runs: &[(&str, i64)]) -> Vec<(String, Option<i64>, Option<String>)> {
        let mut checks = Checks::default();
        for (line, code) in runs {
            checks.ran(line, ended(*code), &Location::default());
        }
        checks.list.into_iter().map(|check| (check.command, check.exit_code, check.note)).collect()
    }

    #[test]
    fn every_step_of_a_chain_that_ended_well_did() {
        let wanted =
            [("mise run fmt".to_owned(), Some(0), None), ("mise run lint".to_owned(), Some(0), None)];
        assert_eq!(states(&[("mise run lint", 1), ("cd a && mise run fmt && mise run lint", 0)]), wanted);
    }

    #[test]
    fn which_step_of_a_chain_failed_is_not_guessed() {
        let in_chain = Some("in a chain that ended with exit 2".to_owned());
        let wanted = [("make a".to_owned(), None, in_chain.clone()), ("make b".to_owned(), None, in_chain)];
        assert_eq!(states(&[("make a && make b", 2)]), wanted);
        assert_eq!(states(&[("make a; echo done", 0)]), [("make a".to_owned(), None, None)]);
        assert_eq!(states(&[("make a || make b", 0)]).first().map(|check| check.1), Some(None));
    }

    #[test]
    fn a_step_is_one_whatever_shortens_its_output() {
        let checks = states(&[("go test ./... 2>&1 | tail -5", 0), ("go test ./...", 1)]);
        assert_eq!(checks, [("go test ./...".to_owned(), Some(1), None)]);
        assert_eq!(
            states(&[("cat a && ls", 0), ("git push", 0), ("printf y | git add -p", 0), ("exit $X", 0)]),
            []
        );
    }

    #[test]
    fn a_chain_is_made_good_step_by_step() {
        let mut checks = Checks::default();
        let at = |line| Location { line, agent: None };
        checks.ran("make a && make b", ended(1), &at(1));
        checks.ran("make a", ended(0), &at(2));
        assert!(!checks.passed_since("make a && make b", &at(1)));
        checks.ran("make c && make b", ended(0), &at(3));
        assert!(checks.passed_since("make a && make b", &at(1)));
        assert!(!checks.passed_since("make a && make b", &at(3)));
        assert_eq!(checks.still_failing("make a && make b && make d", &at(1)), "make d");
        assert_eq!(checks.still_failing("make d && make e", &at(1)), "make d && make e");
    }
}
