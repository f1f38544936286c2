//! What ends a failure besides a later success of the same command: more tests that hold it, a git step that was done again,
//! another way where the call itself was wrong, the user's word, the removal of what failed.

use super::SourceRef;
use super::calls::Calls;
use super::check_filter::is_inline;
use super::checks::Checks;
use super::coverage::{core, covers, makes_good};
use super::failing_tests::{all_failing_tests, has_passed};
use super::git::is_commit_line;
use super::importance::{Importance, importance};
use super::miscall::{is_miscall, names_wrong_call};
use super::run::Run;
use super::steps::{git_words, plain_steps};
use crate::shared::shell::is_test;
use crate::shared::words::{has_phrase, sentences};

/// The last command that failed.
#[derive(Debug)]
pub(super) struct LastFailure {
    pub run: Run,
    /// The end of its output.
    pub output: String,
    /// The tests that it names as failing which have not passed since; `None` where it may have left some out.
    failing_tests: Option<Vec<String>>,
    /// Whether the call itself was wrong: no such program, task, flag.
    pub miscalled: bool,
}

/// A command line that ended well later.
#[derive(Debug)]
pub(super) struct LaterSuccess<'a> {
    pub command: &'a str,
    pub output: &'a str,
    /// Whether it is sure, by its exit code or its output, that it ended well.
    pub is_sure: bool,
}

impl LastFailure {
    /// `printed` is as much of the output as is looked through.
    pub(super) fn new(run: Run, output: String, printed: &str) -> Self {
        let failing_tests = all_failing_tests(&run.command, printed);
        let miscalled = is_miscall(&run.command, run.exit_code, printed);
        Self { run, output, failing_tests, miscalled }
    }

    /// Whether this success ends the failure.
    pub(super) fn is_resolved_by(&mut self, later: &LaterSuccess<'_>) -> bool {
        if !later.is_sure {
            return false;
        }
        if let Some(tests) = self.failing_tests.as_mut().filter(|_| is_test(later.command)) {
            tests.retain(|test| !has_passed(test, later));
            if tests.is_empty() {
                return true;
            }
        }
        git_steps_were_repeated(&self.run.command, &self.output, later.command)
            || (asks_the_forge(&self.run.command) && verbs(later.command).iter().any(|verb| verb == "push"))
            || (self.miscalled && importance(later.command) >= self.run.importance.max(Importance::Some))
    }

    /// Whether it is of all tests that another one is of, and of more.
    fn is_of_more_than(&self, other: &Self) -> bool {
        let (whole, part) = (&self.run.command, &other.run.command);
        is_test(whole) && core(whole) != core(part) && covers(part, whole) && !covers(whole, part)
    }

    /// Whether the user's words say that it is mended.
    pub(super) fn is_resolved_by_word(&self, text: &str) -> bool {
        sentences(text).into_iter().filter(|sentence| sentence.len() <= MAX_WORD).any(|sentence| {
            let lower = sentence.to_lowercase().replace('’', "'");
            let any = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&lower, phrase));
            !lower.contains('?') && !any(DOUBTS) && (any(MENDED) || self.was_done_by_user(&lower))
        })
    }

    /// `I pushed the changes manually`, of a push that failed.
    fn was_done_by_user(&self, lower: &str) -> bool {
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let done = words.windows(2).filter(|pair| matches!(pair[0], "i" | "i've" | "have" | "already"));
        let stems = done.filter_map(|pair| pair[1].strip_suffix("ed")).filter(|stem| stem.len() > 3);
        let command: Vec<&str> = self.run.command.split_whitespace().collect();
        let mut stems = stems.flat_map(|stem| [stem.to_owned(), format!("{stem}e"), undoubled(stem)]);
        stems.any(|stem| command.contains(&stem.as_str()))
    }

    /// Whether it ran one of these files, which are there no more.
    pub(super) fn ran_file<'p>(&self, mut paths: impl Iterator<Item = &'p str>) -> bool {
        let command = &self.run.command;
        let mut names =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\'']).trim_start_matches("./"));
        let named: Vec<&str> = names.by_ref().filter(|word| word.contains('.')).collect();
        plain_steps(command).len() == 1 && paths.any(|path| named.contains(&path))
    }
}

impl Calls {
    /// Keeps the last failure; that of a part of the tests that failed before leaves the failure of all of them open.
    pub(super) fn failed(&mut self, failure: LastFailure) {
        let whole = self.failure.take().filter(|whole| whole.is_of_more_than(&failure));
        self.wider_failure = whole.or(self.wider_failure.take());
        self.failure = Some(failure);
    }

    /// A command ended well: what that makes good is no failure any more.
    pub(super) fn succeeded(&mut self, later: &LaterSuccess<'_>) {
        let ends = |failure: &mut LastFailure| {
            makes_good(&failure.run.command, later.command) || failure.is_resolved_by(later)
        };
        let whole = self.wider_failure.take_if(ends);
        let mended = self.failure.take_if(ends);
        if mended.is_some() {
            self.failure = self.wider_failure.take();
        }
        whole.iter().chain(&mended).for_each(|failure| self.mended(failure, Some(later.command)));
    }

    /// Whether a push that failed is settled: git said later that there is nothing left to push.
    pub(super) fn was_pushed_since(&self, run: &Run) -> bool {
        let pushed = self.git.pushed_at.is_some_and(|line| line > run.at.line);
        let verbs = verbs(&run.command);
        let mut work = verbs.iter().filter(|verb| REPEATED.contains(&verb.as_str()));
        let is_push = work.next().is_some_and(|verb| verb == "push") && work.next().is_none();
        pushed && is_push && is_only_git(&run.command)
    }

    /// Forgets the last failure where all of its steps have passed since, each in a command line of its own, or where it was a
    /// look at something before the last words of the session.
    pub(super) fn drop_failure_made_good(&mut self, said_at: u64) {
        self.checks.settle();
        let checks = &self.checks;
        let pushed = self.failure.as_ref().is_some_and(|failure| self.was_pushed_since(&failure.run));
        let passed = self.failure.take_if(|LastFailure { run, .. }| pushed || passed_since(checks, run));
        if passed.is_some() {
            let checks = &self.checks;
            self.failure = self.wider_failure.take().filter(|failure| !passed_since(checks, &failure.run));
        }
        passed.iter().for_each(|failure| self.mended(failure, None));
        // What only looked is no work that waits to be mended once something was said after it.
        self.failure.take_if(|LastFailure { run, output, .. }| {
            let unknown_option =
                output.lines().any(|line| names_wrong_call(line) && !line.contains("not found"));
            let looks =
                run.importance == Importance::Look || (unknown_option && run.importance <= Importance::Some);
            looks && run.at.line < said_at
        });
    }

    /// Forgets the runs that failed, or did not take place, and were made good by a later one.
    pub(super) fn drop_what_was_mended(&mut self) {
        let all: Vec<&Run> = self.commands.iter().collect();
        let open = |run: &&Run| {
            run.ok == Some(false) || (run.ok.is_none() && run.exit_code.is_none() && run.note.is_some())
        };
        let mut mended: Vec<(SourceRef, String)> = Vec::new();
        for run in all.iter().copied().filter(open) {
            let later = || all.iter().filter(|other| other.at.line > run.at.line);
            // Runs of one command are told together.
            let is_repeated = later().any(|other| other.command == run.command);
            let mut successes = later().filter(|other| other.ok == Some(true));
            if self.was_pushed_since(run)
                || !is_repeated && (run.mended || successes.any(|other| is_done_by(run, other)))
                || !is_repeated && later_git_tells_more(run, later().copied())
            {
                mended.push((run.at.clone(), run.command.clone()));
            }
        }
        self.commands
            .retain(|run| !mended.iter().any(|(at, command)| *at == run.at && *command == run.command));
    }
}

/// Whether what failed by this run has passed since.
pub(super) fn passed_since(checks: &Checks, run: &Run) -> bool {
    let by_output = run.exit_code.is_none() && run.ok == Some(false);
    checks.passed_since(&run.command, &run.at)
        || (by_output && checks.piped_step_passed_since(&run.command, &run.at))
}

/// Whether a later run did what this one did not do: the same, the same steps of git, another trial with the same program.
fn is_done_by(run: &Run, later: &Run) -> bool {
    if run.ok != Some(false) {
        return makes_good(&run.command, &later.command)
            || git_steps_were_repeated(&run.command, "", &later.command);
    }
    let program = |command: &str| -> Vec<String> {
        let steps = plain_steps(command);
        let words = steps.last().map(|step| step.split_whitespace().take(2).map(str::to_owned).collect());
        words.unwrap_or_default()
    };
    let tries = |command: &str| plain_steps(command).iter().any(|step| is_inline(step));
    let success = LaterSuccess { command: &later.command, output: "", is_sure: true };
    let note = run.note.as_deref().unwrap_or_default();
    let mut failure = LastFailure::new(run.clone(), String::new(), note);
    makes_good(&run.command, &later.command)
        || (tries(&run.command) && tries(&later.command) && program(&run.command) == program(&later.command))
        || (!failure.miscalled && failure.is_resolved_by(&success))
        || (failure.miscalled && program(&run.command) == program(&later.command))
}

/// Whether later lines did the steps of git that a line failed in, each in its own way, or one of them made the commit and failed
/// in what this one was to do besides: then that one tells how it stands.
fn later_git_tells_more<'r>(run: &Run, later: impl Iterator<Item = &'r Run>) -> bool {
    let steps = |run: &Run| -> Vec<String> {
        verbs(&run.command).into_iter().filter(|verb| REPEATED.contains(&verb.as_str())).collect()
    };
    let mut open: Vec<String> =
        steps(run).into_iter().filter(|verb| verb != "commit" || !run.has_committed).collect();
    if run.ok != Some(false) || open.is_empty() || !is_only_git(&run.command) {
        return false;
    }
    for other in later {
        let done = steps(other);
        let goes_further =
            other.has_committed && !run.has_committed && open.iter().all(|verb| done.contains(verb));
        if goes_further {
            return true;
        }
        open.retain(|verb| match other.ok == Some(true) || other.mended {
            true => !done.contains(verb),
            false => verb != "commit" || !other.has_committed,
        });
    }
    open.is_empty()
}

/// Whether a line does nothing but steps of git.
fn is_only_git(line: &str) -> bool {
    plain_steps(line).iter().all(|step| {
        let first = step.split_whitespace().next().unwrap_or_default();
        matches!(first, "git" | "cd" | "echo" | "sleep")
    })
}

/// Whether all steps of git that may have failed were done by a later line, and nothing else may have failed.
fn git_steps_were_repeated(failed: &str, output: &str, later: &str) -> bool {
    let committed = output.lines().any(is_commit_line);
    let done = verbs(later);
    let done: Vec<&str> = done.iter().map(String::as_str).collect();
    let ended = ["--continue", "--abort", "--skip"].iter().any(|flag| has_phrase(later, flag));
    let open = verbs(failed);
    let mut open = open.iter().map(String::as_str).filter(|verb| REPEATED.contains(verb)).peekable();
    is_only_git(failed)
        && open.peek().is_some()
        && open.all(|verb| {
            done.contains(&verb)
                || (verb == "commit" && committed)
                || (CONFLICTING.contains(&verb) && (done.contains(&"commit") || ended))
        })
}

/// The longest sentence that is taken for the user's word on a failure.
const MAX_WORD: usize = 160;
/// Steps of git that are done again when they fail.
const REPEATED: &[&str] =
    &["push", "commit", "merge", "rebase", "cherry-pick", "revert", "pull", "fetch", "clone"];
/// Steps that may stop at conflicts, which a commit ends.
const CONFLICTING: &[&str] = &["merge", "rebase", "cherry-pick", "revert", "pull"];
const MENDED: &[&str] = &[
    "works now",
    "work now",
    "it works",
    "that works",
    "it worked",
    "that worked",
    "that fixed it",
    "is fixed",
    "it's fixed",
    "i fixed",
    "i've fixed",
    "fixed it",
    "is solved",
    "it's solved",
    "solved it",
    "i solved",
    "is resolved",
    "it's resolved",
    "passes now",
    "pass now",
    "passing now",
    "is passing",
    "are passing",
    "is green",
    "are green",
    "all green",
];
/// Words that take the meaning out of those above.
const DOUBTS: &[&str] = &[
    "not",
    "isn't",
    "doesn't",
    "don't",
    "didn't",
    "aren't",
    "wasn't",
    "won't",
    "no",
    "never",
    "still",
    "until",
    "if",
    "when",
    "once",
    "should",
    "make sure",
    "so that",
    "but",
    "how",
    "whether",
    "before",
    "after",
    "unless",
    "as soon as",
];

/// `committ` of `committed` as `commit`.
fn undoubled(stem: &str) -> String {
    let mut chars: Vec<char> = stem.chars().collect();
    if chars.len() > 2 && chars[chars.len() - 1] == chars[chars.len() - 2] {
        chars.pop();
    }
    chars.into_iter().collect()
}

/// The verbs of git in a command line.
fn verbs(command: &str) -> Vec<String> {
    plain_steps(command).iter().filter_map(|step| git_words(step)).map(|(verb, _)| verb.to_owned()).collect()
}

/// Whether a command only asks for the state of what was pushed: a push makes its answer one of the past.
fn asks_the_forge(command: &str) -> bool {
    const ASK: &[&[&str]] = &[
        &["gh", "pr", "checks"],
        &["gh", "run", "watch"],
        &["gh", "run", "view"],
        &["glab", "ci", "status"],
    ];
    let asks = |step: &String| {
        let words: Vec<&str> = step.split_whitespace().collect();
        ASK.iter().any(|ask| words.starts_with(ask))
    };
    plain_steps(command).iter().any(asks)
}
