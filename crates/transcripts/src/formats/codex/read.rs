//! The full read of a rollout.

mod calls;
mod typed;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::Range;
use std::path::Path;

use super::imported;
use super::items;
use super::line;
use super::lineage::{self, Meta, Rollouts, Segment};
use super::scan::{Scan, scan};
use super::script::Script;
use crate::event::{Event, EventKind, SourcePosition, TranscriptInfo, Usage};
use crate::format::Output;
use crate::report::{Report, kind};
use crate::shared::json::Json;
use crate::shared::lines::{self, Line, Lines};
use crate::shared::time;

/// Sub-agents may have sub-agents, but not without end.
const MAX_AGENTS_DEEP: usize = 8;

/// Reads a rollout.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut reader = Reader {
        out: Output::new(sink),
        scan: Scan::default(),
        met: false,
        position: SourcePosition::default(),
        at_ms: None,
        waiting: VecDeque::new(),
        called: HashSet::new(),
        script: None,
        before: SourcePosition::default(),
        own: 0..i64::MAX,
        subagent: None,
        spawned: Vec::new(),
        spent: Spent::default(),
    };
    if reader.file(path).is_err() {
        reader.out.complaints.add(kind::UNREADABLE, 0);
    }
    reader.out.finish()
}

struct Reader<'s> {
    out: Output<'s>,
    scan: Scan,
    /// Whether the session has introduced itself. A fork repeats the introduction of its origin; the first counts.
    met: bool,
    position: SourcePosition,
    at_ms: Option<i64>,
    /// Imported calls without a result, oldest first.
    waiting: VecDeque<String>,
    /// The ids of calls that were told. An item of any other id tells of a call that a program made.
    called: HashSet<String>,
    /// The newest program, until something tells what it did.
    script: Option<Script>,
    /// Length of the files that were read before this one.
    before: SourcePosition,
    /// The numbers of the lines that count in this file.
    own: Range<i64>,
    /// The sub-agent whose rollout is read.
    subagent: Option<String>,
    /// The threads of its sub-agents.
    spawned: Vec<String>,
    spent: Spent,
}

/// How tokens are counted.
#[derive(Default)]
struct Spent {
    /// Whether there are records of it, which tell all that events do.
    is_recorded: bool,
    /// Whether what is read belongs to another thread, which this one is a fork of.
    is_base: bool,
    /// What that one used.
    base: Usage,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path) -> io::Result<()> {
        let (meta, rollouts) = (Meta::of(path), Rollouts::around(path));
        let (id, forked) = (meta.id.clone(), meta.forked);
        let (in_parts, first_own) = (meta.has_base(), meta.first_own);
        if in_parts || first_own > 0 {
            self.introduce(path);
        }
        let (segments, is_whole) = meta.segments(path, &rollouts);
        if !is_whole {
            self.out.complaints.add(kind::MISSING_PART, 0);
        }
        for segment in &segments {
            let end = segment.end.map_or(i64::MAX, |end| end.ordinal);
            self.own = if segment.end.is_none() { first_own..end } else { 0..end };
            self.spent.is_base = forked && segment.end.is_some();
            match (self.segment(segment), segment.end) {
                (Err(error), None) => return Err(error),
                (Err(_), Some(_)) => self.out.complaints.add(kind::MISSING_PART, 0),
                (Ok(()), _) => {}
            }
        }
        self.subagents(&id, &rollouts, 0);
        Ok(())
    }

    fn segment(&mut self, segment: &Segment) -> io::Result<()> {
        self.scan = scan(segment)?;
        let mut lines = Lines::new(segment.open()?);
        let mut count = 0;
        while let Some(line) = lines.next_line() {
            self.line(&line);
            count += 1;
        }
        self.flush_script();
        self.out.report.lines += count;
        if lines.failed() {
            self.out.complaints.add(kind::UNREADABLE, self.before.line + count);
        }
        self.out.report.bytes += lines.position();
        self.before.line += count;
        self.before.offset += lines.position();
        Ok(())
    }

    /// Tells of the session before what stands in other files.
    fn introduce(&mut self, path: &Path) {
        let text = lineage::introduction(path).unwrap_or_default();
        let json = Json::parse(&text).unwrap_or(Json::Null);
        self.at_ms = json.get("timestamp").str().and_then(time::parse);
        self.meta(json.get("payload"));
    }

    /// Reads the rollouts of the sub-agents that were named, if they say that they are this thread's.
    fn subagents(&mut self, parent: &str, rollouts: &Rollouts, depth: usize) {
        let mut ids = std::mem::take(&mut self.spawned);
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        for id in ids.into_iter().filter(|_| depth < MAX_AGENTS_DEEP) {
            let Some(path) = rollouts.of(&id) else { continue };
            let meta = Meta::of(path);
            if meta.parent.as_deref() != Some(parent) || meta.id != id {
                continue;
            }
            let outer = (self.subagent.replace(id.clone()), std::mem::take(&mut self.before));
            self.own = meta.first_own..i64::MAX;
            if self.segment(&Segment { path: path.clone(), end: None }).is_err() {
                self.out.complaints.add(kind::MISSING_PART, 0);
            }
            self.subagents(&id, rollouts, depth + 1);
            (self.subagent, self.before) = outer;
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        let ignored = line.bytes.and_then(line::leading_type).is_some_and(line::is_ignored);
        if ignored || self.scan.is_dropped(line.position.line) {
            return;
        }
        let position = SourcePosition {
            line: self.before.line + line.position.line,
            offset: self.before.offset + line.position.offset,
        };
        let line = Line { position, ..*line };
        let Some(text) = lines::text(&line, &mut self.out.complaints) else { return };
        let Some(json) = lines::value(&text, &line, &mut self.out.complaints) else { return };
        if json.get("ordinal").int().is_some_and(|ordinal| !self.own.contains(&ordinal)) {
            return;
        }
        (self.position, self.at_ms) = (position, json.get("timestamp").str().and_then(time::parse));
        self.record(&json);
    }

    fn record(&mut self, json: &Json<'_>) {
        let payload = json.get("payload");
        match json.get("type").str().unwrap_or_default() {
            "session_meta" => self.meta(payload),
            "turn_context" => self.turn_context(payload),
            "response_item" => self.item(payload),
            "event_msg" => self.event(payload),
            "compacted" => self.send(EventKind::Compaction(payload.get("message").text())),
            "token_usage_record" => {
                self.spent.is_recorded = true;
                self.usage(payload.get("thread_token_usage"));
            }
            name if line::is_bare(name) => self.item(json),
            name if line::is_ignored(name) || json.get("record_type").str() == Some("state") => {}
            "" if json.get("id").str().is_some() && !json.get("timestamp").is_null() => self.meta(json),
            name => self.out.complaints.add_unknown_type(name, self.position.line),
        }
    }

    fn send(&mut self, what: EventKind<'_>) {
        self.send_at(self.position, self.at_ms, what);
    }

    fn send_at(&mut self, position: SourcePosition, at_ms: Option<i64>, what: EventKind<'_>) {
        // Facts and costs are those of the main line.
        if self.subagent.is_none() || !matches!(what, EventKind::Session(_) | EventKind::Usage(_)) {
            let subagent = self.subagent.clone().map(Cow::Owned);
            self.out.send(&Event { position, at_ms, subagent, what });
        }
    }

    fn meta(&mut self, meta: &Json<'_>) {
        if std::mem::replace(&mut self.met, true) {
            return;
        }
        let field = |value: &'_ Json<'_>| value.str().map(|text| Cow::Owned(text.to_owned()));
        self.send(EventKind::Session(TranscriptInfo {
            id: meta.first(&["id", "session_id"]).map(|id| Cow::Owned(id.to_owned())),
            cwd: field(meta.get("cwd")),
            branch: field(meta.at_path(&["git", "branch"])),
            commit: field(meta.at_path(&["git", "commit_hash"])),
            model: field(meta.get("model")),
            version: field(meta.get("cli_version")),
        }));
    }

    fn turn_context(&mut self, context: &Json<'_>) {
        let field = |key| context.get(key).str().map(Cow::Borrowed);
        self.send(EventKind::Session(TranscriptInfo {
            cwd: field("cwd"),
            model: field("model"),
            ..TranscriptInfo::default()
        }));
    }

    fn item(&mut self, item: &Json<'_>) {
        match item.get("type").str().unwrap_or("message") {
            "message" => self.message(item),
            "reasoning" => self.reasoning(item),
            "function_call" => self.function_call(item),
            "custom_tool_call" => self.custom_call(item),
            "local_shell_call" => self.call(items::local_shell_call(item)),
            "function_call_output" | "custom_tool_call_output" => self.output(item),
            "web_search_call" => self.web_search(item),
            name if line::is_ignored_item(name) => {}
            name => self.out.complaints.add_unknown_type(name, self.position.line),
        }
    }

    fn message(&mut self, item: &Json<'_>) {
        let message = item.get("content").text();
        let role = item.get("role").str();
        if matches!(role, Some("user" | "assistant")) && imported::is_imported(&message) {
            return self.imported(&message, role == Some("user"));
        }
        match role {
            Some("user") => {
                self.typed(item.get("content"));
                if let Some(text) = line::prompt(item.get("content")) {
                    self.send(EventKind::User(Cow::Owned(text)));
                }
            }
            // What the model wrote to compact the conversation.
            Some("assistant") if item.at_path(&["metadata", "compaction_output"]).is_true() => {}
            Some("assistant") => {
                let text = item.get("content").text();
                if !text.trim().is_empty() {
                    self.send(EventKind::Assistant(text));
                }
            }
            _ => {}
        }
    }

    fn reasoning(&mut self, item: &Json<'_>) {
        let text = item.get("summary").text();
        if !text.is_empty() {
            self.send(EventKind::Thinking(text));
        }
    }

    fn event(&mut self, event: &Json<'_>) {
        self.spawned.extend(items::subagents(event).into_iter().map(str::to_owned));
        match event.get("type").str().unwrap_or_default() {
            "user_message" if !self.scan.user_items => {
                let text = event.get("message").str().and_then(line::own_words);
                text.into_iter().for_each(|text| self.send(EventKind::User(Cow::Borrowed(text))));
            }
            "agent_message" if !self.scan.agent_items => {
                event
                    .get("message")
                    .str()
                    .into_iter()
                    .for_each(|text| self.send(EventKind::Assistant(Cow::Borrowed(text))));
            }
            "token_count" if self.spent.is_recorded => {}
            "token_count" => self.usage(event.at_path(&["info", "total_token_usage"])),
            "turn_aborted" => self.send(EventKind::Interrupted),
            "error" | "stream_error" => self.provider_error(event),
            // Where a turn ended with an error, it is said here and, in 0.169, nowhere else.
            "task_complete" if !event.get("error").is_null() => self.provider_error(event),
            "item_completed" => self.completed(event.get("item")),
            "exec_command_end" | "patch_apply_end" => {
                items::outcome(event).into_iter().for_each(|outcome| self.send(EventKind::Outcome(outcome)));
            }
            name if line::is_ignored_event(name) => {}
            name => self.out.complaints.add_unknown_part("event_msg", name),
        }
    }

    fn provider_error(&mut self, event: &Json<'_>) {
        let message = event.get("message").str().or_else(|| event.at_path(&["error", "message"]).str());
        if let Some(text) = message.filter(|text| !text.trim().is_empty()) {
            self.send(EventKind::ProviderError(Cow::Borrowed(text)));
        }
    }

    fn completed(&mut self, item: &Json<'_>) {
        self.spawned.extend(items::subagents(item).into_iter().map(str::to_owned));
        match item.get("type").str() {
            Some("UserMessage") if !self.scan.user_items => {
                if let Some(text) = line::prompt(item.get("content")) {
                    self.send(EventKind::User(Cow::Owned(text)));
                }
            }
            Some("AgentMessage") if !self.scan.agent_items => {
                self.send(EventKind::Assistant(item.get("content").text()))
            }
            _ => self.completed_call(item),
        }
    }

    fn usage(&mut self, total: &Json<'_>) {
        let Some(usage) = items::usage(total) else { return };
        // A fork counts on from what the other thread had used.
        match self.spent.is_base {
            true => self.spent.base = usage,
            false => self.send(EventKind::Usage(usage.minus(self.spent.base))),
        }
    }
}
