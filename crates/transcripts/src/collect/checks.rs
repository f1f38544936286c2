//! The last state of everything that was run: each step of a command line once, with how it ended last.

mod dropped;
mod line_outcome;
mod of_subagents;

use std::collections::HashSet;

pub(super) use line_outcome::LineOutcome;
pub(super) use of_subagents::SubagentChecks;

use super::SourceRef;
use super::chain_outcome::{LineEnd, OK, StepOutcome, outcomes};
use super::check_filter::is_work;
use super::coverage::covers;
use super::echoed;
use super::failing_tests::FailingTests;
use super::importance::{Importance, importance};
use super::past_runs::puts_aside_and_back;
use super::piped::{PipeEnd, ran_no_tests};
use super::pipes::pipe;
use super::resolution::LaterSuccess;
use super::steps::{Step, bare, chain};
use crate::shared::shell::is_test;
use crate::shared::words::one_line;

const MAX_CHECKS: usize = 60;
const MAX_COMMAND: usize = 240;
/// So much of an error and of a command is told where both stand in one remark.
const MAX_BEFORE: usize = 80;
/// How the last run of a check stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckState {
    Passed,
    Failed,
    /// Neither its exit code nor its output tell.
    Unknown,
    /// It failed, and another command has made that good since.
    MadeGood,
    /// It failed, and a check has passed since that looks at all that it looks at.
    Covered,
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
    pub at: SourceRef,
    state: CheckState,
    /// What makes two steps the same.
    key: String,
    runs: u64,
    importance: Importance,
    last: u64,
    /// The line on which it passed last.
    passed_at: Option<u64>,
    /// The folder that the line went to before it.
    folder: Option<String>,
    /// How many changes of source files came before it.
    edits: u64,
    /// The tests that it named as failing and that have not passed since.
    failing: FailingTests,
    /// When its last run began, where the transcript tells it.
    pub(super) at_ms: Option<i64>,
    /// Commands that its last run printed as those which it ran.
    echoed: Vec<String>,
    /// Where it was started once more, if the transcript does not tell how that run ended.
    pub began_again_at: Option<SourceRef>,
}

impl Check {
    /// Takes out the tests that a later run passed.
    fn tests_passed(&mut self, later: &LaterSuccess<'_>) {
        if self.state == CheckState::Failed && self.failing.pass(later) {
            self.made_good(later.command);
        }
    }

    fn made_good(&mut self, by: &str) {
        // Behind a pipe no exit code says that it failed.
        let failed = if self.exit_code.is_none() { "failed; " } else { "" };
        let by = one_line(by, MAX_BEFORE);
        self.note = Some(format!("{failed}not run again; what failed in it passed since with `{by}`"));
        self.state = CheckState::MadeGood;
    }

    /// Whether a later check that passed looks at all that this one looked at.
    fn is_covered_by(&self, passed: &Check) -> bool {
        passed.is_after(self)
            && same_folder(&self.folder, &passed.folder)
            && covers(&self.command, &passed.command)
            && echoed::may_include(&passed.echoed, &self.command)
    }

    /// Whether it is known to have run after another one. Lines of different transcripts cannot be compared.
    fn is_after(&self, other: &Check) -> bool {
        match self.at.subagent == other.at.subagent {
            true => self.at.line > other.at.line,
            false => self.at_ms.zip(other.at_ms).is_some_and(|(own, other)| own > other),
        }
    }
}

/// Whether two steps may have run in one folder; where a line goes nowhere it may be in the one that another line names as a
/// whole.
fn same_folder(one: &Option<String>, other: &Option<String>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other,
        (Some(folder), None) | (None, Some(folder)) => folder.starts_with(['/', '~']),
        (None, None) => true,
    }
}

/// Steps by their last run, the latest last.
#[derive(Debug, Default)]
pub(super) struct Checks {
    list: Vec<Check>,
    runs: u64,
    edits: u64,
    /// Steps that verified nothing: a wrong call, a run of no tests.
    void: HashSet<String>,
    /// When the line that is looked at began.
    now_ms: Option<i64>,
}

impl Checks {
    /// A command line ended; what is known of its steps that ran through a pipe is told apart.
    pub(super) fn ran(&mut self, line: &str, ended: LineOutcome<'_>, at: &SourceRef) {
        self.runs += 1;
        self.now_ms = ended.at_ms;
        let steps = chain(line);
        if puts_aside_and_back(line) {
            return;
        }
        if ended.is_miscall {
            self.void.extend(steps.iter().map(|step| bare(&step.text).to_owned()));
            return;
        }
        let telling: Vec<usize> = (0..steps.len()).filter(|at| is_work(&steps[*at].text)).collect();
        let end = LineEnd { exit_code: ended.exit_code, ok: ended.ok, printed: ended.printed };
        let mut outcomes = outcomes(&steps, end);
        // Which step of several an error belongs to is not known: the first that may have failed tells it.
        let mut error = ended.error;
        for &index in &telling {
            let step = &steps[index].text;
            let by_output = ended.piped.filter(|_| pipe(step, Importance::Some).is_some());
            let Some(outcome) = outcomes.get_mut(index).and_then(Option::take) else { continue };
            let (code, note) = match by_output.and_then(PipeEnd::word) {
                Some(word) => (None, Some(word)),
                None => outcome,
            };
            if is_test(step) && ran_no_tests(ended.printed) {
                self.void.insert(bare(step).to_owned());
                continue;
            }
            let state = match (code, note.as_deref()) {
                (Some(0), _) | (None, Some(OK)) => CheckState::Passed,
                (None, None) => CheckState::Unknown,
                _ if by_output.is_some_and(PipeEnd::is_unknown) => CheckState::Unknown,
                _ => CheckState::Failed,
            };
            let error = error.take_if(|_| state == CheckState::Failed);
            let note = [note, error].into_iter().flatten().reduce(|all, part| format!("{all}: {part}"));
            let folder = steps[..index].iter().rev().find_map(|step| step.text.strip_prefix("cd "));
            let printed = ended.printed;
            if state == CheckState::Passed && is_test(step) {
                let later = LaterSuccess { command: step, output: printed, is_sure: true };
                self.list.iter_mut().for_each(|check| check.tests_passed(&later));
            }
            // How a program ended that is not known for a check is all that it tells.
            if state == CheckState::Unknown && note.is_none() && importance(step) < Importance::Work {
                continue;
            }
            self.put(step, (code, note), state, (at, folder));
            self.name_tests(step, printed);
        }
    }

    /// Keeps which tests the run that was put last names as failing, where it failed or does not tell.
    fn name_tests(&mut self, step: &str, printed: &str) {
        let Some(check) = self.list.last_mut().filter(|check| check.key == bare(step)) else { return };
        check.echoed = echoed::commands(printed);
        let (before, edits) = (std::mem::take(&mut check.failing), check.edits);
        if check.state != CheckState::Passed && (is_test(step) || printed.contains("--- FAIL")) {
            check.failing = FailingTests::after(before, step, printed, edits);
        }
    }

    /// A line began again, and how it ended is not known: what is told of an earlier run of its steps may be over.
    pub(super) fn began_again(&mut self, line: &str, at: &SourceRef) {
        for step in work_steps(line) {
            let is_earlier = |check: &&mut Check| {
                check.key == bare(&step.text) && check.at.subagent == at.subagent && check.at.line < at.line
            };
            if let Some(check) = self.list.iter_mut().find(is_earlier) {
                check.began_again_at = Some(at.clone());
            }
        }
    }

    /// A source file was changed.
    pub(super) fn source_changed(&mut self) {
        self.edits += 1;
    }

    fn put(
        &mut self,
        text: &str,
        (exit_code, note): StepOutcome,
        state: CheckState,
        (at, folder): (&SourceRef, Option<&str>),
    ) {
        if text.chars().count() > MAX_COMMAND {
            return;
        }
        let key = bare(text).to_owned();
        let known = self.list.iter().position(|check| check.key == key);
        let before = known.map(|slot| self.list.remove(slot));
        let passed_before = before.as_ref().and_then(|check| check.passed_at);
        let failing = before.as_ref().map(|check| check.failing.clone()).unwrap_or_default();
        self.list.push(Check {
            command: text.replace(" 2>&1", ""),
            exit_code,
            note,
            at: at.clone(),
            state,
            key,
            runs: before.map_or(0, |check| check.runs) + 1,
            importance: importance(text),
            last: self.runs,
            passed_at: if state == CheckState::Passed { Some(at.line) } else { passed_before },
            folder: folder.map(str::to_owned),
            edits: self.edits,
            failing,
            at_ms: self.now_ms,
            echoed: Vec::new(),
            began_again_at: None,
        });
        if self.list.len() > MAX_CHECKS {
            self.list.remove(0);
        }
    }

    /// Whether every step of a command line that failed there has passed since.
    pub(super) fn passed_since(&self, line: &str, at: &SourceRef) -> bool {
        let steps = work_steps(line);
        !steps.is_empty() && steps.iter().all(|step| self.has_passed(step, at))
    }

    /// Whether every step of a line passed when it was run last; of a sub-agent's line, whose place says nothing of the time.
    pub(super) fn all_pass(&self, line: &str) -> bool {
        let steps = work_steps(line);
        let passes = |step: &Step| {
            let is_passed =
                |check: &Check| check.key == bare(&step.text) && check.state == CheckState::Passed;
            self.list.iter().any(is_passed)
        };
        !steps.is_empty() && steps.iter().all(passes)
    }

    /// Whether the last state of every step of a command line that failed there is told by that run or a later one.
    pub(super) fn cover(&self, line: &str, at: &SourceRef) -> bool {
        let steps = work_steps(line);
        let is_covered = |step: &Step| {
            let key = bare(&step.text);
            let since = |check: &Check| check.at.line >= at.line && check.at.subagent == at.subagent;
            self.list.iter().any(|check| check.key == key && since(check))
        };
        !steps.is_empty() && steps.iter().all(is_covered)
    }

    /// Says of the failed steps of a line that another command made them good.
    pub(super) fn mended(&mut self, line: &str, by: &str) {
        let keys: Vec<String> = work_steps(line).iter().map(|step| bare(&step.text).to_owned()).collect();
        let failed = |check: &&mut Check| check.state == CheckState::Failed && keys.contains(&check.key);
        self.list.iter_mut().filter(failed).for_each(|check| check.made_good(by));
    }

    /// Whether the step that failed by its output there has passed since: the only one with a pipe, behind steps that passed,
    /// since it would not have run otherwise.
    pub(super) fn piped_step_passed_since(&self, line: &str, at: &SourceRef) -> bool {
        let all_joined = chain(line).iter().all(|step| matches!(step.joint, "" | "&&"));
        let mut piped =
            work_steps(line).into_iter().filter(|step| pipe(&step.text, Importance::Some).is_some());
        let (step, more) = (piped.next(), piped.next());
        step.is_some_and(|step| all_joined && more.is_none() && self.has_passed(&step, at))
    }

    /// The steps of a command line that failed there which have not passed since; the whole line where none has.
    pub(super) fn still_failing(&self, line: &str, at: &SourceRef) -> String {
        let steps = work_steps(line);
        let failing: Vec<&str> =
            steps.iter().filter(|step| !self.has_passed(step, at)).map(|step| step.text.as_str()).collect();
        if failing.is_empty() || failing.len() == steps.len() {
            line.to_owned()
        } else {
            failing.join(" && ")
        }
    }

    fn has_passed(&self, step: &Step, at: &SourceRef) -> bool {
        let same = |check: &&Check| check.key == bare(&step.text);
        // A run of which it is not known how it ended takes nothing back.
        let good = |check: &Check| {
            let passed = check.passed_at.is_some_and(|line| line >= at.line)
                && matches!(check.state, CheckState::Passed | CheckState::Unknown);
            passed || matches!(check.state, CheckState::MadeGood | CheckState::Covered)
        };
        self.list.iter().find(same).is_some_and(good)
    }

    /// Settles what failed and is covered by what passed since; of other tests it says which tests passed later.
    pub(super) fn settle(&mut self) {
        let is_passed = |check: &&Check| check.state == CheckState::Passed;
        let passed: Vec<Check> = self.list.iter().filter(is_passed).cloned().collect();
        let may_fail = |check: &&mut Check| match check.state {
            CheckState::Failed | CheckState::MadeGood => true,
            CheckState::Unknown => !check.failing.is_empty(),
            CheckState::Passed | CheckState::Covered => false,
        };
        for check in self.list.iter_mut().filter(may_fail) {
            if passed.iter().any(|other| check.is_covered_by(other)) {
                check.state = CheckState::Covered;
            }
            if matches!(check.state, CheckState::Covered | CheckState::MadeGood) {
                continue;
            }
            if let Some(tests) = check.failing.note(check.note.as_deref()) {
                let known = check.note.take().and_then(|note| before_error(&note));
                check.note = Some(known.into_iter().chain([tests]).collect::<Vec<_>>().join(": "));
                continue;
            }
            let tests = passed.iter().filter(|other| other.at.line > check.at.line);
            let tests =
                tests.filter(|other| other.importance == Importance::Test && other.edits > check.edits);
            let last =
                tests.max_by_key(|other| other.at.line).filter(|_| check.importance == Importance::Test);
            if let Some(test) = last {
                let before = check.note.as_deref().map(|note| format!("{}; ", short_note(note)));
                let test = one_line(&test.command, MAX_BEFORE);
                check.note = Some(format!("{}`{test}` passed later", before.unwrap_or_default()));
            }
        }
    }

    /// The steps, those that the next agent is most likely to run again first: tests, then other work; often, lately, and in
    /// few words, because a long command line asked one question.
    pub(super) fn in_order(mut self) -> Vec<Check> {
        let all = self.runs.max(1);
        let importance = |check: &Check| {
            let kind = match check.importance {
                Importance::Test => 4,
                Importance::Work => 3,
                Importance::Some | Importance::Look => 0,
            };
            let length = check.command.chars().count().min(120) as i64;
            kind * 100 + check.runs.min(10) as i64 * 60 + (check.last * 300 / all) as i64 - length * 3
        };
        self.list.sort_by_key(|check| std::cmp::Reverse(importance(check)));
        self.list
    }
}

/// What is known of a failed check without its error.
fn before_error(note: &str) -> Option<String> {
    const KNOWN: &[&str] = &["the output shows a failure", "in a chain that ended", "exit code is unknown"];
    let known = KNOWN.iter().find(|known| note.contains(*known))?;
    let end = note.find(*known).and_then(|at| note[at..].find(": ").map(|colon| at + colon));
    Some(note[..end.unwrap_or(note.len())].to_owned())
}

/// What is known of a failed check, where more follows: of what an output shows, that itself.
fn short_note(note: &str) -> String {
    let by_output = note.split_once("the output shows a failure: ");
    let failure = by_output
        .map(|(_, failure)| format!("the output shows a failure: {}", one_line(failure, MAX_BEFORE)));
    failure.unwrap_or_else(|| one_line(note, MAX_BEFORE))
}

/// The steps of a command line that do something.
fn work_steps(line: &str) -> Vec<Step> {
    chain(line).into_iter().filter(|step| is_work(&step.text)).collect()
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
            checks.ran(line, ended(*code), &SourceRef::default());
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
        let at = |line| SourceRef { line, subagent: None };
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
