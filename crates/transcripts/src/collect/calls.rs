//! Tool calls and how they ended: commands, tests, failures, activity.

use std::collections::{BTreeMap, VecDeque};

use super::SourceRef;
use super::capped::BoundedList;
use super::change_times::ChangeTimes;
use super::check_filter::is_trial;
use super::checks::{Checks, LineOutcome, SubagentChecks};
use super::clean::Cleaner;
use super::coverage::makes_good;
use super::error_line::error_line;
use super::failed_edits::FailedEdits;
use super::files::relative;
use super::forge_checks::forge_checks;
use super::git::{GitState, is_commit_line};
use super::importance::{Importance, importance, only_answers};
use super::miscall::{is_in_wrong_folder, is_miscall};
pub(super) use super::open_call::Open;
use super::piped::{self, PipeEnd};
use super::resolution::{LastFailure, LaterSuccess};
pub(super) use super::run::Run;
use super::searched::Identifiers;
use super::shell_edits;
use super::stopped::Stopped;
use super::subagents::SubagentFailures;
use super::tally::CategoryTally;
use super::touched::{TouchedFiles, read_by, searched_by};
use super::work_tree::TreeEvent;
use crate::event::{Call, Category, Change, Edit, Outcome};
use crate::shared::shell;
use crate::shared::words::{clip_unclean, one_line};

/// What is told of a call that never ended.
pub(super) const NO_OUTCOME: &str = "no outcome";
/// Beside a command that the agent did not run.
const BY_USER: &str = "run by the user";
const MAX_OPEN: usize = 256;
const MAX_ENDED: usize = 256;
const MAX_COMMANDS: usize = 100;
/// Of the commands kept, this many are simply the last ones.
const FRESH_COMMANDS: usize = 40;
/// A list of at most so many commands is kept whole.
const SHORT_LIST: usize = 12;
const MAX_COMMAND: usize = 600;
const MAX_TAIL: usize = 4096;
/// So much of the end of an output is looked through for how a check ended.
const MAX_JUDGED: usize = 64 * 1024;

/// What a call changed, and where it stands.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub edits: Vec<Edit>,
    pub by_git: Vec<TreeEvent>,
    pub at: SourceRef,
}

/// All calls of a session.
#[derive(Debug)]
pub(super) struct Calls {
    open: BoundedList<Open>,
    ended: VecDeque<String>,
    /// Commands of the main line.
    pub commands: BoundedList<Run>,
    /// Calls of the main line by category.
    pub tallies: BTreeMap<Category, CategoryTally>,
    /// The last failure that was not made good.
    pub failure: Option<LastFailure>,
    /// The failure of more tests than the last one is of, which stays when those pass.
    pub wider_failure: Option<LastFailure>,
    /// Calls of every sub-agent.
    pub subagents: BTreeMap<String, u64>,
    /// What failed in the hands of sub-agents and was not made good.
    pub subagent_failures: SubagentFailures,
    /// The last state of every step of theirs.
    pub subagent_checks: SubagentChecks,
    /// Edits that did not take place.
    pub failed_edits: FailedEdits,
    /// When each file was changed last, where the transcript tells it: lines of different agents cannot be compared.
    pub changed_ms: ChangeTimes,
    /// What git said.
    pub git: GitState,
    /// Files of the main line, and how much each matters.
    pub touched: TouchedFiles,
    /// The last state of every step of its commands.
    pub checks: Checks,
    /// What it searched for.
    pub searched: Identifiers,
    pub root: Option<String>,
    /// The folder in which commands run now, where the transcript tells it.
    pub cwd: Option<String>,
}

impl Calls {
    /// No calls yet.
    pub(super) fn new() -> Self {
        Self {
            open: BoundedList::new(MAX_OPEN),
            ended: VecDeque::new(),
            commands: BoundedList::new(MAX_COMMANDS),
            tallies: BTreeMap::new(),
            failure: None,
            wider_failure: None,
            subagents: BTreeMap::new(),
            subagent_failures: SubagentFailures::default(),
            subagent_checks: SubagentChecks::default(),
            failed_edits: FailedEdits::new(),
            changed_ms: ChangeTimes::default(),
            git: GitState::default(),
            touched: TouchedFiles::default(),
            checks: Checks::default(),
            searched: Identifiers::default(),
            root: None,
            cwd: None,
        }
    }

    /// Names what calls worked on as seen from the root, which was not known before.
    pub(super) fn make_relative(&mut self, root: &str) {
        for open in self.open.items_mut().filter(|open| open.category != Category::Shell) {
            open.target = relative(&open.target, Some(root));
        }
        for (_, tally) in self.tallies.iter_mut().filter(|(category, _)| **category != Category::Shell) {
            let samples = tally.last.iter_mut().chain(&mut tally.failing);
            let longest = tally.longest.as_mut().map(|(_, sample)| sample);
            samples.chain(longest).for_each(|sample| *sample = relative(sample, Some(root)));
        }
        self.touched.make_relative(root);
        self.failed_edits.make_relative(root);
        self.root = Some(root.to_owned());
    }

    /// A call begins.
    pub(super) fn begin(
        &mut self,
        call: &Call<'_>,
        at: &SourceRef,
        at_ms: Option<i64>,
        root: Option<&str>,
        cleaner: &mut Cleaner<'_>,
    ) {
        match &at.subagent {
            Some(agent) => *self.subagents.entry(agent.clone()).or_insert(0) += 1,
            None => self.tallies.entry(call.category.clone()).or_default().count += 1,
        }
        // A command line is kept as it was typed, even if it begins with a path.
        let shell = call.category == Category::Shell;
        let target = if shell { call.target.clone().into_owned() } else { relative(&call.target, root) };
        self.open.push(Open {
            key: key(&call.id, at),
            name: call.name.clone().into_owned(),
            category: call.category.clone(),
            target: cleaner.text(&target, MAX_COMMAND),
            cwd: self.cwd.clone(),
            edits: match shell && call.edits.is_empty() && target.len() > MAX_COMMAND {
                true => shell_edits::edits(&target),
                false => call.edits.clone(),
            },
            lines: call.lines.clone(),
            at: at.clone(),
            at_ms,
            importance: if shell { importance(&call.target) } else { Importance::Look },
            answered: false,
        });
    }

    /// A call ends; gives the edits that took place by it, and where.
    pub(super) fn end(
        &mut self,
        outcome: &Outcome<'_>,
        at: &SourceRef,
        at_ms: Option<i64>,
        cleaner: &mut Cleaner<'_>,
    ) -> Option<Changes> {
        let key = key(&outcome.id, at);
        let Some(open) = self.open.iter().rev().find(|open| open.key == key) else {
            // Some versions report changed files under an id that no call had.
            let news = !outcome.edits.is_empty() && outcome.ok == Some(true) && !self.ended.contains(&key);
            let by_git = Vec::new();
            return news.then(|| Changes { edits: outcome.edits.clone(), by_git, at: at.clone() });
        };
        let (ok, exit_code) = (outcome.ok, outcome.exit_code);
        if open.category == Category::Shell && ok.is_none() && exit_code.is_none() {
            self.open.items_mut().filter(|open| open.key == key).for_each(|open| open.answered = true);
            return None;
        }
        let mut open = self.open.take(|open| open.key == key)?;
        self.ended.push_back(key);
        if self.ended.len() > MAX_ENDED {
            self.ended.pop_front();
        }
        if open.at.subagent.is_none() {
            let took = open.at_ms.zip(at_ms).map(|(from, to)| to - from);
            let stopped = Stopped::of(outcome);
            let piped = self.piped(&open, outcome, cleaner).filter(|_| stopped.is_none());
            let (ok, exit_code) = match &piped {
                Some(end) => (end.ok(), exit_code.filter(|_| *end == PipeEnd::Passed)),
                None => (ok, exit_code),
            };
            let word = stopped.map(|stopped| stopped.word().to_owned());
            let word = word.or_else(|| piped.as_ref().and_then(PipeEnd::word));
            let word = word.unwrap_or_else(|| outcome_word(&open.category, ok, exit_code));
            self.tally(&open, &word, ok == Some(false) && stopped.is_none(), took);
            if let (Category::Shell, Some(stopped)) = (&open.category, stopped) {
                self.push(open.run(None, None, Some(stopped.word().to_owned())));
                self.git_stopped(&open, stopped);
            } else if open.category == Category::Shell {
                self.command(&open, outcome, piped.as_ref(), cleaner);
                self.git_ended(&open, outcome, ok);
            }
        }
        self.note_subagent(&open, outcome, cleaner);
        let edits = edits_of(&mut open, outcome);
        self.note_edits(&open, ok, &edits, &outcome.output, cleaner);
        if open.at.subagent.is_none() && ok != Some(false) {
            self.note_use(&open, outcome, &edits, cleaner);
        }
        let is_command = open.at.subagent.is_none() && open.category == Category::Shell;
        let by_git = if is_command { self.by_git(&open, outcome) } else { Vec::new() };
        let edits = if ok == Some(false) { Vec::new() } else { edits };
        (!edits.is_empty() || !by_git.is_empty()).then_some(Changes { edits, by_git, at: open.at })
    }

    /// The call that this outcome ends: its kind, and the call on one line.
    pub(super) fn label_of(&self, outcome: &Outcome<'_>, at: &SourceRef) -> Option<(Category, String)> {
        let key = key(&outcome.id, at);
        self.open.iter().rev().find(|open| open.key == key).map(|open| (open.category.clone(), open.label()))
    }

    /// Notes which files a call read or changed, and what it searched for.
    fn note_use(&mut self, open: &Open, outcome: &Outcome<'_>, edits: &[Edit], cleaner: &mut Cleaner<'_>) {
        self.touched.call();
        let root = self.root.as_deref();
        for edit in edits.iter().filter(|edit| !edit.path.ends_with('/')) {
            self.touched.touch(&relative(&cleaner.clean_text(&edit.path), root));
            if let Some(diff) = &edit.diff {
                self.searched.defined_in(&cleaner.clean_text(&clip_unclean(diff, MAX_JUDGED)), &open.at);
            }
        }
        match open.category {
            Category::Read => {
                for path in open.target.lines() {
                    self.touched.read(path, open.lines.clone(), &open.at);
                }
            }
            Category::Search => self.searched.add(&open.target, &outcome.output, &open.at),
            Category::Shell if succeeded(outcome) && edits.is_empty() => {
                searched_by(&open.target)
                    .into_iter()
                    .for_each(|pattern| self.searched.add(pattern, &outcome.output, &open.at));
                for (path, lines) in read_by(&open.target, root) {
                    self.touched.read(&relative(&path, root), lines, &open.at);
                }
            }
            _ => {}
        }
    }

    /// The calls that never ended.
    pub(super) fn still_open(&mut self) -> Vec<Open> {
        let open = std::mem::replace(&mut self.open, BoundedList::new(MAX_OPEN)).into_vec();
        for call in open.iter().filter(|call| call.at.subagent.is_none()) {
            let word = if call.answered { "exit code unknown" } else { NO_OUTCOME };
            self.tally(call, word, false, None);
            if call.category == Category::Shell && !call.target.is_empty() {
                let note = if call.is_typed() { format!("{BY_USER}; {word}") } else { word.to_owned() };
                self.checks.began_again(&call.target, &call.at);
                self.push(call.run(None, None, Some(note)));
            }
        }
        open
    }

    /// Takes out what only looked, or asked and got `no` for an answer, of few commands what did so before `past`; gives how many.
    pub(super) fn keep_what_mattered(&mut self, past: u64) -> u64 {
        let before = self.commands.iter().count();
        self.commands.retain(|run| match before > SHORT_LIST {
            true => run.importance > Importance::Look && !is_trial(&run.command),
            false => run.importance > Importance::Look || run.at.line >= past || run.ok == Some(false),
        });
        (before - self.commands.iter().count()) as u64
    }

    /// A failure was made good, by a command in other words where one is given.
    pub(super) fn mended(&mut self, failure: &LastFailure, by: Option<&str>) {
        let run = &failure.run;
        let same = |other: &&mut Run| other.at == run.at && other.command == run.command;
        self.commands.items_mut().filter(same).for_each(|run| run.mended = true);
        if let Some(by) = by.filter(|by| !makes_good(&run.command, by)) {
            self.checks.mended(&run.command, by);
        }
    }

    /// The last test run and whether it passed.
    pub(super) fn last_test(&self) -> Option<&Run> {
        self.commands.iter().rev().find(|run| run.importance == Importance::Test)
    }

    /// How a check that ran through a pipe ended, where the exit code does not tell.
    pub(super) fn piped(
        &self,
        open: &Open,
        outcome: &Outcome<'_>,
        cleaner: &mut Cleaner<'_>,
    ) -> Option<PipeEnd> {
        let hidden = open.category == Category::Shell
            && piped::hides_exit_code(&open.target, outcome.exit_code, outcome.ok);
        let mut printed = || cleaner.tail(&outcome.output, MAX_JUDGED);
        hidden.then(|| piped::end_by_output(&open.target, &printed(), outcome.exit_code))
    }

    fn command(
        &mut self,
        open: &Open,
        outcome: &Outcome<'_>,
        piped: Option<&PipeEnd>,
        cleaner: &mut Cleaner<'_>,
    ) {
        let (ok, exit_code) = match piped {
            Some(end) => (end.ok(), outcome.exit_code.filter(|_| *end == PipeEnd::Passed)),
            None => (outcome.ok, outcome.exit_code),
        };
        let failed = ok == Some(false);
        let reported =
            exit_code.map_or(outcome.output.as_ref(), |code| shell::bare_output(&outcome.output, code));
        let tail = if failed { cleaner.tail(reported, MAX_TAIL) } else { String::new() };
        let line = piped.and_then(|_| piped::failing_line(&tail)).or_else(|| error_line(&tail));
        let of_forge = forge_checks(&open.target, &outcome.output);
        let error = of_forge.or_else(|| line.map(|line| one_line(line, 160)));
        let by_user = open.is_typed().then(|| BY_USER.to_owned());
        let parts = [by_user, piped.and_then(PipeEnd::word), error.clone()];
        let note = parts.into_iter().flatten().reduce(|all, part| format!("{all}: {part}"));
        if failed && !only_answers(&open.target, exit_code) {
            let by_output = piped.and_then(PipeEnd::failure_word);
            let printed = cleaner.tail(&outcome.output, MAX_JUDGED);
            self.failed(LastFailure::new(open.run(exit_code, ok, by_output), tail, &printed));
        } else if ok.is_some() || piped.is_none() {
            let later =
                LaterSuccess { command: &open.target, output: &outcome.output, is_sure: ok == Some(true) };
            self.succeeded(&later);
        }
        let printed = outcome.output.as_ref();
        let is_miscall = failed && is_miscall(&open.target, outcome.exit_code, printed);
        let ended = LineOutcome { piped, error, is_miscall, ..LineOutcome::of(outcome, open.at_ms) };
        self.checks.ran(&open.target, ended, &open.at);
        let mut run = open.run(exit_code, ok, note);
        // It tells nothing of what it would have run.
        run.mended = failed && is_in_wrong_folder(printed);
        run.has_committed = printed.lines().any(is_commit_line);
        self.push(run);
    }

    fn push(&mut self, run: Run) {
        self.note_other_way(&run);
        self.commands.push_sparing(
            run,
            |run| run.importance >= Importance::Work || run.ok == Some(false),
            FRESH_COMMANDS,
        );
    }

    fn tally(&mut self, open: &Open, word: &str, failed: bool, took: Option<i64>) {
        let sample = format!("{} → {word}", open.label());
        self.tallies.entry(open.category.clone()).or_default().add(sample, failed, took);
    }
}

/// The file changes of a call: those that its result tells, else those that it asked for or that its command line makes.
fn edits_of(open: &mut Open, outcome: &Outcome<'_>) -> Vec<Edit> {
    // Claude Code says so in words, where nothing else tells.
    if outcome.output.starts_with("File created successfully") {
        open.edits.iter_mut().for_each(|edit| edit.change = Change::Created);
    }
    match (outcome.edits.is_empty(), open.edits.is_empty(), &open.category) {
        (false, ..) => outcome.edits.clone(),
        (true, true, Category::Shell) if succeeded(outcome) => shell_edits::edits(&open.target),
        (true, _, Category::Shell) if !succeeded(outcome) => Vec::new(),
        _ => std::mem::take(&mut open.edits),
    }
}

/// Whether a command ended with 0; some tools say that it did without the code.
fn succeeded(outcome: &Outcome<'_>) -> bool {
    outcome.exit_code == Some(0) || outcome.exit_code.is_none() && outcome.ok == Some(true)
}

/// Ids are unique within one agent's transcript only.
fn key(id: &str, at: &SourceRef) -> String {
    format!("{}/{id}", at.subagent.as_deref().unwrap_or_default())
}

fn outcome_word(category: &Category, ok: Option<bool>, exit_code: Option<i64>) -> String {
    // A tool that edits by a command may tell its exit code; that it went well is all there is to say.
    match (exit_code.filter(|code| *code != 0 || *category == Category::Shell), ok) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(false)) => "failed".to_owned(),
        (None, Some(true)) => "ok".to_owned(),
        (None, None) => "result not recorded".to_owned(),
    }
}
