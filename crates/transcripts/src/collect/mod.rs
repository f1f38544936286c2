//! From events to a hand-off packet, without a model: the same transcript gives the same packet.

mod also_said;
mod answers;
mod assent;
mod builtin;
mod calls;
mod capped;
mod chain_outcome;
mod change_times;
mod check_filter;
mod checks;
pub(crate) mod clean;
mod compaction;
mod coverage;
mod draft;
mod echoed;
mod error_line;
mod failed_edits;
mod failing_tests;
mod files;
mod files_tree;
mod finish;
mod fit;
mod forge_checks;
mod formatters;
mod git;
mod git_begun;
mod git_status;
mod importance;
mod label;
mod last_answer;
mod line_paste;
mod miscall;
mod net_lines;
mod open;
mod open_call;
mod options;
mod own_repository;
mod paragraph;
mod past_runs;
mod pathspec;
mod piped;
mod pipes;
mod plan_list;
mod proposal;
mod prose;
mod remarks;
mod reply;
mod request;
mod request_weight;
mod resolution;
mod run;
mod running;
mod searched;
mod session;
mod shell_edits;
mod show;
mod steps;
mod stopped;
mod subagents;
mod taken_back;
mod tally;
mod thrown_away;
mod touched;
mod unstaged;
mod work_tree;

use std::path::Path;

use baton_packet::packet::{Attempt, Decision, Packet};
use baton_redact::Redactor;

use calls::{Calls, Changes};
use capped::BoundedList;
use clean::Cleaner;
use files::Files;
pub use label::short_id;
use last_answer::LastAnswers;
use line_paste::LinePaste;
pub use options::Options;
use proposal::{ProposedPlan, is_plan_file};
use remarks::Remarks;
use reply::DoneCall;
pub use request_weight::is_request;
use running::RunningRequests;
pub use show::{show, show_session};
use stopped::words_of_rejection;
use taken_back::Removal;
use thrown_away::ThrownAway;
use work_tree::TreeEvent;

use crate::event::{Category, Event, EventKind, Outcome, PlanItem, TYPED_COMMAND, TranscriptInfo, Usage};
use crate::format::TranscriptReader;

/// How many short messages of the user are kept, and how long one may be, in bytes.
const MAX_ORDERS: usize = 200;
const MAX_ORDER: usize = 200;
/// How many findings since the last request are kept.
const MAX_FINDINGS: usize = 6;
const MAX_ANSWER: usize = 6 * 1024;
const MAX_MESSAGE: usize = 1536;
const MAX_COMPACTION: usize = 8 * 1024;
/// So much of a summary is read, before what is of the past is left out.
const MAX_COMPACTION_READ: usize = 128 * 1024;
const MAX_PROVIDER_ERROR: usize = 400;

/// Reads a transcript and sums it up.
pub fn summarize(path: &Path, format: &dyn TranscriptReader, options: &Options) -> Packet {
    summarize_session(path, None, format, options)
}

/// Reads the conversation of this key, see [`crate::TranscriptFile::key`], and sums it up.
pub fn summarize_session(
    path: &Path,
    key: Option<&str>,
    format: &dyn TranscriptReader,
    options: &Options,
) -> Packet {
    let redactor = options.redact.then(baton_redact::shared);
    let mut collector = Collector::new(options, redactor);
    let report = format.read_session(path, key, &mut |event| collector.event(event));
    collector.finish(format.id(), path, report)
}

/// Where a fact stands: the line, and the sub-agent in whose transcript it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceRef {
    line: u64,
    subagent: Option<String>,
}

/// A sentence and its place.
#[derive(Debug, Clone)]
struct Sentence {
    text: String,
    at: SourceRef,
}

/// A decision that holds so far.
#[derive(Debug)]
struct StandingDecision {
    decision: Decision,
    at: SourceRef,
    /// The things that it names.
    named: Vec<String>,
    /// Who said it.
    role: &'static str,
    /// Whether files were changed and committed after the user agreed to it.
    is_carried_out: bool,
}

/// Gathers what a hand-off needs from the events of one session.
#[derive(Debug)]
pub struct Collector<'r> {
    cleaner: Cleaner<'r>,
    session: TranscriptInfo<'static>,
    /// The first working directory: what is in it is named relative to it.
    root: Option<String>,
    started_ms: Option<i64>,
    last_ms: Option<i64>,
    last_line: u64,
    first_request: Option<Sentence>,
    last_request: Option<Sentence>,
    /// The last request that says by itself what it wants.
    full_request: Option<Sentence>,
    /// The request before the last one, where that is to do it again.
    request_before: Option<Sentence>,
    /// The request that the user's last words correct, which were said while a call was rejected.
    corrected: Option<Sentence>,
    /// Whether nothing but a greeting was asked for so far.
    only_courtesy: bool,
    /// Whether the agent worked on the first request, so that it is one though it is a bare command.
    has_begun: bool,
    running: RunningRequests,
    /// The user's word that the work goes on, where it came after the last request.
    go_on: Option<Sentence>,
    /// The line on which the user spoke last.
    spoke_at: u64,
    /// How many requests came since the plan was set.
    requests_since_plan: u64,
    /// What the user said last, while the agent has done nothing since.
    draft: Option<Sentence>,
    line_paste: LinePaste,
    last_answer: Option<Sentence>,
    answers: LastAnswers,
    /// The last call that ended, if nothing was said after it.
    last_done: Option<DoneCall>,
    /// Whether the agent did anything after the last request.
    answered: bool,
    /// Whether it said anything after it.
    replied: bool,
    /// The last call and its id, if nothing was said after it.
    at_work: Option<(SourceRef, String)>,
    interrupted: Option<SourceRef>,
    /// What the provider refused a request with, and when, if the agent did nothing after it.
    provider_stop: Option<(String, Option<i64>)>,
    plan: Vec<PlanItem>,
    plan_at: SourceRef,
    /// Whether the agent called the work complete since the plan was set, with tests that pass, and the user asked for more.
    plan_is_complete: bool,
    proposed: Option<ProposedPlan>,
    compactions: u64,
    compaction: Option<Sentence>,
    /// Whether anything was asked for or done since the last summary.
    work_went_on: bool,
    /// The line of the last change of a file.
    changed_at: u64,
    /// The lines of commands that threw work away, and of which files.
    thrown_away: Vec<ThrownAway>,
    /// The line of the agent's last message, where that set out to mend a fault.
    sets_out_at: Option<u64>,
    /// The lines of messages that told of a fault which was mended right after.
    mended_at: Vec<u64>,
    usage: Option<Usage>,
    constraints: BoundedList<Sentence>,
    /// Short messages of the user.
    orders: BoundedList<Sentence>,
    /// What the user had removed.
    removals: BoundedList<Removal>,
    decisions: BoundedList<StandingDecision>,
    /// How many decisions were taken back by later ones.
    superseded: u64,
    questions: BoundedList<(String, SourceRef)>,
    /// What the agent offered at the end of an answer, while the user only asks something else.
    offer: Option<(String, SourceRef)>,
    /// What the agent told beside what it did next, since the last request.
    findings: BoundedList<Sentence>,
    attempts: BoundedList<(Attempt, SourceRef)>,
    recent: BoundedList<(&'static str, Sentence)>,
    remarks: Remarks,
    calls: Calls,
    files: Files,
}

impl<'r> Collector<'r> {
    /// Nothing gathered yet. Without a redactor secrets stay.
    pub fn new(options: &Options, redactor: Option<&'r Redactor>) -> Self {
        Self {
            cleaner: Cleaner::new(redactor, options.home.as_deref()),
            session: TranscriptInfo::default(),
            root: None,
            started_ms: None,
            last_ms: None,
            last_line: 0,
            first_request: None,
            last_request: None,
            full_request: None,
            request_before: None,
            corrected: None,
            only_courtesy: false,
            has_begun: false,
            running: RunningRequests::default(),
            go_on: None,
            spoke_at: 0,
            requests_since_plan: 0,
            draft: None,
            line_paste: LinePaste::default(),
            last_answer: None,
            answers: LastAnswers::default(),
            last_done: None,
            answered: true,
            replied: true,
            at_work: None,
            interrupted: None,
            provider_stop: None,
            plan: Vec::new(),
            plan_at: SourceRef::default(),
            plan_is_complete: false,
            proposed: None,
            compactions: 0,
            compaction: None,
            work_went_on: false,
            changed_at: 0,
            thrown_away: Vec::new(),
            sets_out_at: None,
            mended_at: Vec::new(),
            usage: None,
            constraints: BoundedList::new(40),
            orders: BoundedList::new(MAX_ORDERS),
            removals: BoundedList::new(40),
            decisions: BoundedList::new(40),
            superseded: 0,
            questions: BoundedList::new(20),
            offer: None,
            findings: BoundedList::new(MAX_FINDINGS),
            attempts: BoundedList::new(30),
            recent: BoundedList::new(options.recent_messages),
            remarks: Remarks::default(),
            calls: Calls::new(),
            files: Files::default(),
        }
    }

    /// Takes an event in.
    pub fn event(&mut self, event: &Event<'_>) {
        let at =
            SourceRef { line: event.position.line, subagent: event.subagent.as_deref().map(str::to_owned) };
        let main = at.subagent.is_none();
        if main {
            self.started_ms = self.started_ms.or(event.at_ms);
            self.last_ms = event.at_ms.or(self.last_ms);
            self.last_line = self.last_line.max(at.line);
        }
        match &event.what {
            EventKind::Call(call) => {
                self.calls.begin(call, &at, event.at_ms, self.root.as_deref(), &mut self.cleaner);
                // What the user runs is no work of the agent.
                if main && call.name != TYPED_COMMAND {
                    self.proposal(call, &at);
                    if !matches!(call.category, Category::Task | Category::Ask) {
                        self.remarks.work_began();
                    }
                    self.provider_stop = None;
                    self.work_went_on |= !matches!(call.category, Category::Read | Category::Search);
                    (self.answered, self.interrupted) = (true, None);
                    // Who ends by ticking off the plan is not at work.
                    let works = call.category != Category::Task;
                    self.at_work = works.then(|| (at, call.id.clone().into_owned()));
                }
            }
            EventKind::Outcome(outcome) => self.call_ended(outcome, at, event.at_ms),
            EventKind::ProviderError(text) if main => {
                self.provider_stop = Some((self.cleaner.text(text.trim(), MAX_PROVIDER_ERROR), event.at_ms));
            }
            what if main => self.collect_message(what, at),
            _ => {}
        }
    }

    /// A call ended.
    fn call_ended(&mut self, outcome: &Outcome<'_>, at: SourceRef, at_ms: Option<i64>) {
        let main = at.subagent.is_none();
        self.came_back(&outcome.id);
        let call = self.calls.label_of(outcome, &at);
        let changed = self.calls.end(outcome, &at, at_ms, &mut self.cleaner);
        let command = call.as_ref().map(|(_, call)| call.clone()).unwrap_or_default();
        let Changes { edits, by_git, at: began } = changed.unwrap_or_default();
        let root = self.root.as_deref();
        edits.iter().for_each(|edit| self.files.apply(edit, root, &began));
        if by_git.iter().any(|event| matches!(event, TreeEvent::Committed { .. })) {
            self.decisions_committed(began.line);
        }
        let root = self.root.as_deref();
        by_git.into_iter().for_each(|event| self.files.tree_event(event, root, &began));
        self.taken_back(&command, &began);
        if main && edits.iter().any(|edit| !is_plan_file(&edit.path)) {
            self.changed_at = at.line;
            if let Some(line) = self.sets_out_at.take() {
                self.remarks.mended(line);
                self.mended_at.push(line);
            }
        }
        if main {
            self.answers.call_ended();
            self.proposal_ended(outcome, edits.len() as u64);
            self.note_end(call.as_ref(), outcome, &at);
            if let Some(words) = words_of_rejection(outcome) {
                self.rejected(words, call.as_ref().map(|(_, call)| call.as_str()), at);
            } else if let Some((kind, task)) = call {
                self.answered_call(&kind, &task, outcome, &at);
            }
        }
    }

    /// A call came back. Where it stands in the message of the last answer, that was said about what it did.
    fn came_back(&mut self, id: &str) {
        let answer = self.last_answer.as_ref().map(|answer| answer.at.line);
        self.at_work.take_if(|(at, known)| known == id && Some(at.line) == answer);
    }

    /// What is said on the main line.
    fn collect_message(&mut self, what: &EventKind<'_>, at: SourceRef) {
        match what {
            EventKind::Session(session) => self.session(session),
            EventKind::User(text) => {
                self.user(text, at);
                self.running.steers = false;
            }
            EventKind::Assistant(text) => self.assistant(text, at),
            EventKind::Plan(items) => {
                (self.plan, self.plan_at) = (items.clone(), at);
                (self.requests_since_plan, self.plan_is_complete) = (0, false);
            }
            EventKind::Compaction(text) => {
                self.compactions += 1;
                let text = self.cleaner.text(&compaction::bare(text), MAX_COMPACTION_READ);
                (self.compaction, self.work_went_on) = (Some(Sentence { text, at }), false);
            }
            EventKind::Usage(usage) => self.usage = Some(*usage),
            EventKind::Interrupted => self.interrupted = Some(at),
            EventKind::Steering => self.running.steers = true,
            EventKind::Thinking(_)
            | EventKind::Call(_)
            | EventKind::Outcome(_)
            | EventKind::ProviderError(_) => {}
        }
    }
}

#[cfg(test)]
mod judged_claims_tests;
#[cfg(test)]
mod judged_ends_tests;
#[cfg(test)]
mod judged_tests;
#[cfg(test)]
mod judged_words_tests;
#[cfg(test)]
mod piped_tests;
#[cfg(test)]
mod resolution_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod stopped_tests;
#[cfg(test)]
mod tests;
