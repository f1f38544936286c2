//! What readers do alike: tell events with their place, and of the session and its plan what has changed.

mod walk;

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::event::{
    Call, Category, Edit, Event, EventKind, Outcome, PlanItem, SourcePosition, TYPED_COMMAND, TranscriptInfo,
    Usage,
};
use crate::format::Output;
use crate::report::Report;
use crate::shared::json::Json;
use crate::shared::typed::{self, TypedCommand};
use crate::shared::{call, harness, lines, shell};

/// So many calls may wait for their result at once.
const MAX_OPEN: usize = 256;

/// Emits the events of a transcript.
pub(crate) struct EventEmitter<'s> {
    out: Output<'s>,
    /// Where the record stands that is read.
    pub position: SourcePosition,
    /// Its time.
    pub at_ms: Option<i64>,
    /// The sub-agent whose transcript is read.
    pub subagent: Option<String>,
    seen: TranscriptInfo<'static>,
    usage: Usage,
    plan: Vec<PlanItem>,
    open: VecDeque<Open>,
    pieces: Option<PartialText>,
}

/// Who says something that is written down in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The user.
    User,
    /// The agent, aloud.
    Assistant,
    /// The agent, to itself.
    Thinking,
}

/// What has come of it so far, and where it began.
#[derive(Debug)]
struct PartialText {
    who: Speaker,
    key: String,
    text: String,
    position: SourcePosition,
    at_ms: Option<i64>,
}

/// A call that has no result yet.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// Its id.
    pub id: String,
    /// What kind of work it is.
    pub category: Category,
    /// The file that it changes.
    pub path: Option<String>,
}

/// How a call ended, as far as its format says.
#[derive(Debug, Default)]
pub(crate) struct ToolResult<'a> {
    /// Id of the call.
    pub id: &'a str,
    /// Whether it succeeded.
    pub ok: Option<bool>,
    /// Exit code, where the format has a place for it.
    pub code: Option<i64>,
    /// What it returned.
    pub output: Cow<'a, str>,
    /// Files that it changed.
    pub edits: Vec<Edit>,
}

impl<'s> EventEmitter<'s> {
    /// An emitter without any event yet.
    pub(crate) fn new(sink: &'s mut dyn FnMut(&Event<'_>)) -> Self {
        Self {
            out: Output::new(sink),
            position: SourcePosition::default(),
            at_ms: None,
            subagent: None,
            seen: TranscriptInfo::default(),
            usage: Usage::default(),
            plan: Vec::new(),
            open: VecDeque::new(),
            pieces: None,
        }
    }

    /// Goes over to a sub-agent, for good.
    pub(crate) fn switch(&mut self, agent: String) {
        self.flush();
        self.subagent = Some(agent);
    }

    /// Begins to count the records of a sub-agent's own session, and gives back where the count stood.
    pub(crate) fn enter(&mut self, agent: &str) -> (Option<String>, SourcePosition) {
        self.flush();
        (self.subagent.replace(agent.to_owned()), std::mem::take(&mut self.position))
    }

    /// Goes on where the count stood.
    pub(crate) fn leave(&mut self, outer: (Option<String>, SourcePosition)) {
        self.flush();
        (self.subagent, self.position) = outer;
    }

    /// Adds a piece of text; consecutive pieces of one speaker and key are merged.
    pub(crate) fn piece(&mut self, who: Speaker, key: &str, text: &str) {
        let goes_on =
            |open: &PartialText| open.who == who && open.key == key && open.text.len() < lines::MAX_LINE;
        match self.pieces.as_mut().filter(|open| goes_on(open)) {
            Some(open) => open.text.push_str(text),
            None => {
                self.flush();
                let (place, at_ms) = (self.position, self.at_ms);
                self.pieces = Some(PartialText {
                    who,
                    key: key.to_owned(),
                    text: text.to_owned(),
                    position: place,
                    at_ms,
                });
            }
        }
    }

    /// Emits the pending text, merged from pieces.
    fn flush(&mut self) {
        let Some(message) = self.pieces.take() else { return };
        let now = (self.position, self.at_ms);
        (self.position, self.at_ms) = (message.position, message.at_ms);
        match message.who {
            Speaker::User => self.user(&message.text),
            Speaker::Assistant => self.assistant(&message.text),
            Speaker::Thinking => self.thinking(&message.text),
        }
        (self.position, self.at_ms) = now;
    }

    /// Tells an event.
    pub(crate) fn send(&mut self, what: EventKind<'_>) {
        self.flush();
        let agent = self.subagent.as_deref().map(|agent| Cow::Owned(agent.to_owned()));
        self.out.send(&Event { position: self.position, at_ms: self.at_ms, subagent: agent, what });
    }

    /// Emits a message of the user, unless a tool wrote all of it; a command that the user ran becomes a call.
    pub(crate) fn user(&mut self, text: &str) {
        if let Some(command) = typed::in_message(text) {
            let id = format!("typed-{}", self.position.line);
            return self.typed(&id, &command, None);
        }
        let own = harness::own_words(text);
        if !own.trim().is_empty() {
            self.send(EventKind::User(Cow::Borrowed(own)));
        }
    }

    /// Emits a command that the user ran, and its end.
    pub(crate) fn typed(&mut self, id: &str, command: &TypedCommand<'_>, ok: Option<bool>) {
        self.call(Call {
            id: Cow::Borrowed(id),
            name: Cow::Borrowed(TYPED_COMMAND),
            category: Category::Shell,
            target: Cow::Borrowed(command.command),
            ..Call::default()
        });
        let output = Cow::Borrowed(command.output);
        self.end_call(ToolResult { id, ok, code: command.code, output, edits: Vec::new() });
    }

    /// Emits a message of the agent, unless it is blank.
    pub(crate) fn assistant(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(EventKind::Assistant(Cow::Borrowed(text)));
        }
    }

    /// Emits an error of the provider, unless it is blank.
    pub(crate) fn provider_error(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(EventKind::ProviderError(Cow::Borrowed(text)));
        }
    }

    /// Emits a thought of the agent, unless it is blank.
    pub(crate) fn thinking(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(EventKind::Thinking(Cow::Borrowed(text)));
        }
    }

    /// Emits a summary, unless it is blank.
    pub(crate) fn compaction(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.send(EventKind::Compaction(Cow::Borrowed(text)));
        }
    }

    /// Emits the plan, unless it is empty or unchanged.
    pub(crate) fn plan(&mut self, items: impl Into<Option<Vec<PlanItem>>>) {
        let news = items.into().filter(|items| !items.is_empty() && *items != self.plan);
        if let Some(items) = news {
            if self.subagent.is_none() {
                self.plan.clone_from(&items);
            }
            self.send(EventKind::Plan(items));
        }
    }

    /// Emits a call.
    pub(crate) fn call(&mut self, call: Call<'_>) {
        self.open.push_back(Open {
            id: call.id.clone().into_owned(),
            category: call.category.clone(),
            path: call.edits.first().map(|edit| edit.path.clone()),
        });
        if self.open.len() > MAX_OPEN {
            self.open.pop_front();
        }
        self.send(EventKind::Call(call));
    }

    /// Emits a call, and the plan if the call writes one.
    pub(crate) fn call_with(&mut self, call: Call<'_>, input: &Json<'_>) {
        let plan = call::plan(&call.name, input);
        self.call(call);
        self.plan(plan);
    }

    /// Emits the outcome of a call unchanged.
    pub(crate) fn outcome(&mut self, outcome: Outcome<'_>) {
        self.open.retain(|open| open.id != outcome.id);
        self.send(EventKind::Outcome(outcome));
    }

    /// The oldest call that has no result yet.
    pub(crate) fn waiting(&self) -> Option<&Open> {
        self.open.front()
    }

    /// A call that has no result yet.
    pub(crate) fn open(&self, id: &str) -> Option<&Open> {
        self.open.iter().rev().find(|open| open.id == id)
    }

    /// Emits the outcome of a call. An exit code is looked for in the output of commands only.
    pub(crate) fn end_call(&mut self, ended: ToolResult<'_>) {
        let at = self.open.iter().rposition(|open| open.id == ended.id);
        let open = at.and_then(|at| self.open.remove(at));
        let shell = open.is_some_and(|open| open.category == Category::Shell);
        let reported = shell::told_exit(&ended.output).filter(|_| shell && ended.code.is_none());
        let exit_code = ended.code.or(reported);
        let ok = exit_code.map(|code| code == 0).or(ended.ok);
        let output = match reported {
            Some(_) => Cow::Borrowed(shell::without_exit(&ended.output)),
            None => Cow::Borrowed(ended.output.as_ref()),
        };
        self.send(EventKind::Outcome(Outcome {
            id: Cow::Borrowed(ended.id),
            ok,
            exit_code,
            output,
            edits: ended.edits,
        }));
    }

    /// Emits the session's facts that are new.
    pub(crate) fn session(&mut self, news: TranscriptInfo<'_>) {
        if self.subagent.is_some() {
            return;
        }
        let fresh = |seen: &mut Option<Cow<'static, str>>, new: Option<Cow<'_, str>>| {
            let new = new.filter(|new| !new.is_empty() && seen.as_deref() != Some(new.as_ref()))?;
            *seen = Some(Cow::Owned(new.into_owned()));
            seen.clone()
        };
        let id = news.id.filter(|_| self.seen.id.is_none());
        let news = TranscriptInfo {
            id: fresh(&mut self.seen.id, id),
            cwd: fresh(&mut self.seen.cwd, news.cwd),
            branch: fresh(&mut self.seen.branch, news.branch),
            commit: fresh(&mut self.seen.commit, news.commit),
            model: fresh(&mut self.seen.model, news.model),
            version: fresh(&mut self.seen.version, news.version),
        };
        if news != TranscriptInfo::default() {
            self.send(EventKind::Session(news));
        }
    }

    /// Emits the model that answers.
    pub(crate) fn model(&mut self, model: Option<&str>) {
        self.session(TranscriptInfo { model: model.map(Cow::Borrowed), ..TranscriptInfo::default() });
    }

    /// Adds tokens used on the main line, and emits the total.
    pub(crate) fn spend(&mut self, more: Usage) {
        if self.subagent.is_none() && more != Usage::default() {
            self.usage = self.usage.plus(more);
            self.send(EventKind::Usage(self.usage));
        }
    }

    /// What it all came to.
    pub(crate) fn finish(mut self) -> Report {
        self.flush();
        self.out.finish()
    }
}
