//! The full read of a Claude Code session: main chain first, then its sub-agents.

mod marks;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use super::line::{self, Kind, is_interruption, is_summary, kind_of, own_words};
use super::queue::{PromptQueue, QueuedPrompt};
use super::{is_subagent, subagents, tools};
use crate::event::{Event, EventKind, PlanItem, SIDECHAIN, SourcePosition, TranscriptInfo, Usage};
use crate::format::Output;
use crate::report::{Report, kind};
use crate::shared::chain::{self, Chain, Links};
use crate::shared::json::Json;
use crate::shared::lines::{self, Line, Lines, leading_type};
use crate::shared::{plan, time};

/// What the tool writes in place of an answer that was not asked for.
const NO_RESPONSE: &str = "No response requested.";
/// So many commands may run in the background at once.
const MAX_BACKGROUND: usize = 64;
/// How it begins what older versions did not mark as an error.
const ERRORS: [&str; 2] = ["API Error", "Claude AI usage limit reached"];

/// Reads a session with its sub-agents.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut reader = Reader {
        out: Output::new(sink),
        own: is_subagent(path),
        subagent: None,
        seen: TranscriptInfo::default(),
        plan: Vec::new(),
        recent: VecDeque::new(),
        usage: Usage::default(),
        queue: PromptQueue::default(),
        reached: SourcePosition::default(),
        is_on_chain: true,
        typed: None,
        background: VecDeque::new(),
        own_files: subagents(path).into_iter().map(|(id, _)| id).collect(),
    };
    if reader.file(path, true).is_err() {
        reader.out.complaints.add(kind::UNREADABLE, 0);
    }
    reader.unrecorded_prompts(true);
    for (id, path) in subagents(path) {
        reader.subagent = Some(id);
        if reader.file(&path, false).is_err() {
            reader.out.complaints.add(kind::UNREADABLE, 0);
        }
    }
    reader.out.finish()
}

struct Reader<'s> {
    out: Output<'s>,
    /// Whether a sub-agent's transcript is read for its own sake: then its line is the main line.
    own: bool,
    /// The sub-agent whose file is read.
    subagent: Option<String>,
    /// Facts already emitted.
    seen: TranscriptInfo<'static>,
    plan: Vec<PlanItem>,
    /// The last messages with their usage, which repeats on every block of a message.
    recent: VecDeque<(String, Usage)>,
    usage: Usage,
    /// Prompts typed while the agent was busy.
    queue: PromptQueue,
    /// Where the last record of the agent's own stands.
    reached: SourcePosition,
    /// Whether the last line of talk is part of the conversation, as then are the prompts that are taken up after it.
    is_on_chain: bool,
    /// Id of the command that the user ran last and whose output has not been met.
    typed: Option<String>,
    /// What runs in the background: the tool's id of it, and that of the call.
    background: VecDeque<(String, String)>,
    /// The sub-agents that have a file of their own.
    own_files: Vec<String>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, main: bool) -> io::Result<()> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let links = Links { by_id: false, of: line::links };
        let chain =
            if main { chain::trace(&mut file, size, links, &mut self.out.complaints)? } else { Chain::all() };
        file.rewind()?;
        let mut lines = Lines::new(file.take(size));
        while let Some(line) = lines.next_line() {
            self.line(&line, &chain);
            self.out.report.lines += 1;
        }
        if lines.failed() {
            self.out.complaints.add(kind::UNREADABLE, 0);
        }
        self.out.report.bytes += lines.position();
        Ok(())
    }

    fn line(&mut self, line: &Line<'_>, chain: &Chain) {
        if line.bytes.is_some_and(|bytes| memchr::memmem::find(bytes, b"\"agent_progress\"").is_some()) {
            return self.progress(line);
        }
        let leading = line.bytes.and_then(leading_type).map(kind_of);
        let off = !chain.contains(line.position.line);
        let side = || line.bytes.is_some_and(|bytes| lines::may_hold(bytes, "\"isSidechain\"", "true"));
        if leading == Some(Kind::Turn) && !side() {
            self.is_on_chain = !off;
        }
        if leading == Some(Kind::Ignored) || (leading == Some(Kind::Turn) && off && !side()) {
            return;
        }
        let Some(text) = lines::text(line, &mut self.out.complaints) else { return };
        let Some(json) = lines::value(&text, line, &mut self.out.complaints) else { return };
        let name =
            json.get("type").str().or_else(|| json.at_path(&["message", "role"]).str()).unwrap_or_default();
        let side = json.get("isSidechain").is_true();
        match kind_of(name) {
            Kind::Unknown => self.out.complaints.add_unknown_type(name, line.position.line),
            Kind::About if self.is_on_chain => self.queue.operation(&json, line.position),
            Kind::Turn if side || !off => self.record(name, &json, line.position),
            Kind::About | Kind::Turn | Kind::Ignored => {}
        }
    }

    /// What a sub-agent said and did, where the tool wrote it among the session's own lines and into no other file.
    fn progress(&mut self, line: &Line<'_>) {
        let Some(text) = lines::text(line, &mut self.out.complaints) else { return };
        let Some(json) = lines::value(&text, line, &mut self.out.complaints) else { return };
        let data = json.get("data");
        let (agent, record) = (data.get("agentId").str(), data.get("message"));
        let is_progress = data.get("type").str() == Some("agent_progress");
        let (Some(agent), Some(name), true) = (agent, record.get("type").str(), is_progress) else { return };
        if !self.own_files.iter().any(|known| known == agent) {
            let own = self.subagent.replace(agent.to_owned());
            self.record(name, record, line.position);
            self.subagent = own;
        }
    }

    fn record(&mut self, name: &str, json: &Json<'_>, place: SourcePosition) {
        self.session(json, place);
        match name {
            "user" => self.user(json, place),
            "assistant" => {
                if self.subagent.is_none() && !self.is_side(json) {
                    self.unrecorded_prompts(false);
                    self.reached = place;
                }
                self.assistant(json, place);
            }
            "attachment" => self.attachment(json.get("attachment"), json, place),
            "system" => self.system(json, place),
            _ => {}
        }
    }

    fn send(&mut self, json: &Json<'_>, place: SourcePosition, what: EventKind<'_>) {
        let side = self.is_side(json).then(|| json.get("agentId").str().unwrap_or(SIDECHAIN));
        let agent = self.subagent.as_deref().or(side).map(|agent| Cow::Owned(agent.to_owned()));
        let at_ms = json.get("timestamp").str().and_then(time::parse);
        self.out.send(&Event { position: place, at_ms, subagent: agent, what });
    }

    fn is_side(&self, json: &Json<'_>) -> bool {
        !self.own && json.get("isSidechain").is_true()
    }

    /// Emits the session's fields that have changed since the last call.
    fn session(&mut self, json: &Json<'_>, place: SourcePosition) {
        let field = |seen: &Option<Cow<'static, str>>, value: Option<&str>| {
            value.filter(|value| seen.as_deref() != Some(value)).map(|value| Cow::Owned(value.to_owned()))
        };
        let model = json
            .at_path(&["message", "model"])
            .str()
            .or_else(|| json.at_path(&["attachment", "identity", "modelId"]).str());
        let news = TranscriptInfo {
            id: field(&self.seen.id, json.get("sessionId").str().filter(|_| self.seen.id.is_none())),
            cwd: field(&self.seen.cwd, json.get("cwd").str()),
            branch: field(&self.seen.branch, json.get("gitBranch").str()),
            commit: None,
            model: field(&self.seen.model, model.filter(|model| !model.starts_with('<'))),
            version: field(&self.seen.version, json.get("version").str()),
        };
        if news == TranscriptInfo::default() || self.subagent.is_some() || self.is_side(json) {
            return;
        }
        self.seen.id = news.id.clone().or(self.seen.id.take());
        self.seen.cwd = news.cwd.clone().or(self.seen.cwd.take());
        self.seen.branch = news.branch.clone().or(self.seen.branch.take());
        self.seen.model = news.model.clone().or(self.seen.model.take());
        self.seen.version = news.version.clone().or(self.seen.version.take());
        self.send(json, place, EventKind::Session(news));
    }

    fn user(&mut self, json: &Json<'_>, place: SourcePosition) {
        let content = json.at_path(&["message", "content"]);
        for result in content.items().iter().filter(|block| block.get("type").str() == Some("tool_result")) {
            let outcome = tools::outcome(result, json.get("toolUseResult"));
            if let Some(task) = json.at_path(&["toolUseResult", "backgroundTaskId"]).str() {
                self.background.truncate(MAX_BACKGROUND - 1);
                self.background.push_front((task.to_owned(), outcome.id.clone().into_owned()));
            }
            self.send(json, place, EventKind::Outcome(outcome));
            let detail = json.get("toolUseResult");
            let is_own = self.subagent.is_none() && !self.is_side(json);
            if tools::name_created_task(&mut self.plan, detail)
                || is_own && tools::take_task_list(&mut self.plan, detail)
            {
                self.send(json, place, EventKind::Plan(self.plan.clone()));
            }
        }
        let text = content.text();
        self.queue.recorded(&text);
        if json.get("isCompactSummary").is_true() || is_summary(&text) {
            self.send(json, place, EventKind::Compaction(text));
        } else if is_interruption(&text) {
            self.send(json, place, EventKind::Interrupted);
        } else if json.get("isMeta").is_true() || line::is_foreign(json) {
            // The tool's own words, or those of another agent.
        } else if self.marked(&text, json, place) {
            // The elements say what it is.
        } else if let Some(own) = own_words(&text) {
            self.send(json, place, EventKind::User(Cow::Borrowed(own)));
        }
    }

    fn assistant(&mut self, json: &Json<'_>, place: SourcePosition) {
        let message = json.get("message");
        if self.is_synthetic(json, place) {
            return;
        }
        self.count_usage(json, place);
        if let Some(text) = message.get("content").str() {
            return self.send(json, place, EventKind::Assistant(Cow::Borrowed(text)));
        }
        for block in message.get("content").items() {
            match block.get("type").str() {
                Some("text") => {
                    let Some(text) = block.get("text").str() else { continue };
                    self.send(json, place, EventKind::Assistant(Cow::Borrowed(text)));
                }
                Some("thinking") => {
                    let Some(text) = block.get("thinking").str() else { continue };
                    self.send(json, place, EventKind::Thinking(Cow::Borrowed(text)));
                }
                Some("tool_use" | "server_tool_use") => {
                    self.send(json, place, EventKind::Call(tools::call(block)));
                    self.change_plan(json, block, place);
                }
                Some(name) => self.unknown_part("block", name, line::BLOCKS),
                None => {}
            }
        }
    }

    /// A sub-agent has a list of its own, but ticks off the tasks of the session.
    fn change_plan(&mut self, json: &Json<'_>, block: &Json<'_>, place: SourcePosition) {
        let by_subagent = self.subagent.is_some() || self.is_side(json);
        if by_subagent {
            if tools::tick_off(&mut self.plan, block) {
                let at_ms = json.get("timestamp").str().and_then(time::parse);
                self.out.send(&Event {
                    position: place,
                    at_ms,
                    subagent: None,
                    what: EventKind::Plan(self.plan.clone()),
                });
            }
        } else if tools::change_plan(&mut self.plan, block) {
            self.send(json, place, EventKind::Plan(self.plan.clone()));
        }
    }

    /// Whether no model wrote a line: then it is an error of the provider, or stands where nothing was asked. Conversations that
    /// came from another tool name no model either; their words are an agent's.
    fn is_synthetic(&mut self, json: &Json<'_>, place: SourcePosition) -> bool {
        let is_error = json.get("isApiErrorMessage").is_true();
        if !is_error && json.at_path(&["message", "model"]).str() != Some("<synthetic>") {
            return false;
        }
        let text = json.at_path(&["message", "content"]).text();
        if is_error || ERRORS.iter().any(|start| text.starts_with(start)) {
            self.send(json, place, EventKind::ProviderError(text));
            return true;
        }
        text.trim() == NO_RESPONSE
    }

    /// Adds the usage of a message once, however many lines the message has.
    fn count_usage(&mut self, json: &Json<'_>, place: SourcePosition) {
        let (message, id) = (json.get("message"), json.at_path(&["message", "id"]).str());
        let usage = tools::usage(message.get("usage"));
        let (Some(id), true) = (id, usage != Usage::default()) else { return };
        let known =
            self.recent.iter().position(|(known, _)| known == id).and_then(|at| self.recent.remove(at));
        let before = known.map_or(Usage::default(), |(_, usage)| usage);
        self.usage = tools::sum(self.usage, usage, before);
        self.recent.push_back((id.to_owned(), usage));
        if self.recent.len() > 16 {
            self.recent.pop_front();
        }
        self.send(json, place, EventKind::Usage(self.usage));
    }

    fn attachment(&mut self, attachment: &Json<'_>, json: &Json<'_>, place: SourcePosition) {
        match attachment.get("type").str() {
            // What another agent sent is no word of the user.
            Some("queued_command") if line::is_foreign(attachment) => {
                self.queue.recorded(&attachment.get("prompt").text())
            }
            Some("queued_command") => {
                let prompt = attachment.get("prompt").text();
                self.queue.recorded(&prompt);
                if let Some(own) = own_words(&prompt) {
                    self.send(json, place, EventKind::Steering);
                    self.send(json, place, EventKind::User(Cow::Borrowed(own)));
                }
            }
            Some("todo") => {
                let items = plan::items(attachment.get("content"));
                if !items.is_empty() {
                    self.plan = items;
                    self.send(json, place, EventKind::Plan(self.plan.clone()));
                }
            }
            Some(name) => self.unknown_part("attachment", name, line::ATTACHMENTS),
            None => {}
        }
    }

    /// Prompts that no message repeats: those that were taken up, at the end of the session also those that were not.
    fn unrecorded_prompts(&mut self, is_end: bool) {
        for prompt in self.queue.take_unrecorded() {
            self.prompt(&prompt, prompt.is_steering);
        }
        if !is_end {
            return;
        }
        let waiting: Vec<QueuedPrompt> = self.queue.take_waiting().collect();
        for mut prompt in waiting {
            // What the agent did after it was typed it did without knowing it.
            if prompt.position.line < self.reached.line {
                (prompt.position, prompt.at_ms) = (self.reached, None);
            }
            self.prompt(&prompt, false);
        }
    }

    fn prompt(&mut self, prompt: &QueuedPrompt, is_steering: bool) {
        let Some(own) = own_words(&prompt.text).filter(|_| !prompt.is_command()) else { return };
        let (position, at_ms) = (prompt.position, prompt.at_ms);
        for what in
            is_steering.then_some(EventKind::Steering).into_iter().chain([EventKind::User(own.into())])
        {
            self.out.send(&Event { position, at_ms, subagent: None, what });
        }
    }
}
