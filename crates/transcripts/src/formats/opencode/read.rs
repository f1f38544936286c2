//! The full read of a session, then of its sub-agents.

mod v2;

use std::borrow::Cow;
use std::path::Path;

use super::store::{self, Store};
use super::tools;
use crate::event::{Change, Edit, Event, EventKind, Outcome};
use crate::report::Report;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::sqlite::opencode::{Record, Session};
use crate::sqlite::{self, Fault};

/// Sub-agents may have sub-agents, but not without end.
const MAX_DEPTH: usize = 8;

/// Reads a session: of this key in a database, of the older layout, or exported.
pub(super) fn read(path: &Path, key: Option<&str>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut reader = Reader {
        emitter: EventEmitter::new(sink),
        edited: Vec::new(),
        loose: Vec::new(),
        summary: false,
        stopped: false,
    };
    if let Err(fault) = reader.source(path, key) {
        reader.emitter.complain(fault.kind());
    }
    reader.emitter.finish()
}

/// What the user wrote in a part.
pub(super) fn own_text<'a>(part: &'a Json<'a>) -> Option<&'a str> {
    let own = part.get("type").str() == Some("text")
        && !part.get("synthetic").is_true()
        && !part.get("ignored").is_true();
    part.get("text").str().filter(|text| own && !text.trim().is_empty())
}

/// From where on a session was undone.
struct RevertPoint {
    message: String,
    part: Option<String>,
}

struct Reader<'s> {
    emitter: EventEmitter<'s>,
    /// Paths changed by tools.
    edited: Vec<String>,
    /// Changes that the tool found in the working copy, by whatever they were made.
    loose: Vec<Edit>,
    /// Whether the message is the summary of a compaction.
    summary: bool,
    /// Whether it was said that the user stopped the turn.
    stopped: bool,
}

impl Reader<'_> {
    fn source(&mut self, path: &Path, key: Option<&str>) -> Result<(), Fault> {
        if let Some(store) = Store::above(path) {
            let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            return self.session(&store, id, 0);
        }
        if path.extension().is_some_and(|end| end == "json") {
            self.export(path);
            return Ok(());
        }
        let store = Store::Db(sqlite::open(path)?);
        let newest = || store.newest();
        let id = key.map(|key| Ok(Some(key.to_owned()))).unwrap_or_else(newest)?;
        id.map_or(Ok(()), |id| self.session(&store, &id, 0))
    }

    fn session(&mut self, store: &Store, id: &str, depth: usize) -> Result<(), Fault> {
        let Some(session) = store.session(id)? else { return Ok(()) };
        let undone = self.begin(&session);
        let mut open = Vec::new();
        store.messages(id, &mut |message| {
            open.push(message);
            true
        })?;
        for message in &open {
            if undone.as_ref().is_some_and(|undone| undone.message == message.id && undone.part.is_none()) {
                break;
            }
            match &message.row {
                Some(row) => self.row(message, row, session.forked),
                None => self.stored(store, message, undone.as_ref())?,
            }
            if undone.as_ref().is_some_and(|undone| undone.message == message.id) {
                break;
            }
        }
        self.changes();
        // Version 2 has no list; what version 1 left is not kept up.
        let is_first = open.iter().all(|message| message.row.is_none());
        if is_first && undone.is_none() && self.emitter.subagent.is_none() {
            let todos = store.todos(id)?;
            self.emitter.plan(todos);
        }
        for child in store.children(id)?.iter().filter(|_| depth < MAX_DEPTH) {
            let outer = self.emitter.enter(child);
            self.session(store, child, depth + 1)?;
            self.emitter.leave(outer);
        }
        Ok(())
    }

    /// A document of one session with all its messages.
    fn export(&mut self, path: &Path) {
        let text = self.emitter.document(path);
        let doc = Json::parse(&text).unwrap_or(Json::Null);
        let info = doc.get("info");
        if !matches!(info, Json::Obj(_)) {
            return;
        }
        let session = Session { branch: None, ..store::session(info) };
        self.begin(&session);
        let undone = undone(info.get("revert"));
        for message in doc.get("messages").items() {
            let id = message.at_path(&["info", "id"]).str().unwrap_or_default();
            let here = undone.as_ref().filter(|undone| undone.message == id);
            if here.is_some_and(|undone| undone.part.is_none()) {
                break;
            }
            self.emitter.record(0, message.at_path(&["info", "time", "created"]).int());
            let parts: Vec<(&str, &Json<'_>)> = message
                .get("parts")
                .items()
                .iter()
                .map(|part| (part.get("id").str().unwrap_or_default(), part))
                .collect();
            self.message(message.get("info"), &parts, here);
            if here.is_some() {
                break;
            }
        }
        self.changes();
    }

    /// Tells about the session; gives back from where on it was undone.
    fn begin(&mut self, session: &Session) -> Option<RevertPoint> {
        if self.emitter.subagent.is_none() {
            self.emitter.at_ms = session.created_ms;
            let field = |value: &Option<String>| value.clone().map(Cow::Owned);
            self.emitter.session(crate::event::TranscriptInfo {
                id: Some(Cow::Borrowed(&session.id)),
                cwd: field(&session.directory),
                branch: field(&session.branch),
                version: field(&session.version),
                ..crate::event::TranscriptInfo::default()
            });
        }
        let revert = session.revert.as_deref().unwrap_or("null");
        undone(&Json::parse(revert).unwrap_or(Json::Null))
    }

    fn stored(&mut self, store: &Store, message: &Record, undone: Option<&RevertPoint>) -> Result<(), Fault> {
        let mut records = Vec::new();
        let read = store.parts(&message.id, &mut |part| {
            records.push(part);
            true
        });
        let bytes = records.iter().chain([message]).map(|record| record.data.len()).sum();
        self.emitter.record(bytes, message.created_ms);
        let info = self.emitter.value(&message.data).unwrap_or(Json::Null);
        let created = info.at_path(&["time", "created"]).int();
        self.emitter.at_ms = self.emitter.at_ms.or(created);
        let values: Vec<(&str, Json<'_>)> = records
            .iter()
            .filter_map(|record| Some((record.id.as_str(), self.emitter.value(&record.data)?)))
            .collect();
        let parts: Vec<(&str, &Json<'_>)> = values.iter().map(|(id, part)| (*id, part)).collect();
        self.message(&info, &parts, undone.filter(|undone| undone.message == message.id));
        read
    }

    fn message(&mut self, info: &Json<'_>, parts: &[(&str, &Json<'_>)], undone: Option<&RevertPoint>) {
        let cut = undone.and_then(|undone| undone.part.as_deref());
        let parts = parts.iter().take_while(|(id, _)| cut != Some(*id)).map(|(_, part)| *part);
        if info.get("role").str() == Some("user") {
            let texts: Vec<&str> = parts.filter_map(own_text).collect();
            self.emitter.user(&texts.join("\n"));
            let diffs = info.at_path(&["summary", "diffs"]).items();
            self.loose.extend(diffs.iter().filter_map(tools::file));
            return;
        }
        self.summary = info.get("summary").is_true();
        self.emitter.model(info.get("modelID").str());
        parts.for_each(|part| self.part(part));
        self.emitter.spend(tools::usage(info.get("tokens")));
        match info.at_path(&["error", "name"]).str() {
            None => {}
            Some("MessageAbortedError") => self.emitter.send(EventKind::Interrupted),
            Some(name) => {
                let message =
                    info.at_path(&["error", "data", "message"]).str().filter(|text| !text.trim().is_empty());
                self.emitter.provider_error(message.unwrap_or(name));
            }
        }
    }

    fn part(&mut self, part: &Json<'_>) {
        let text = part.get("text").str().unwrap_or_default();
        match part.get("type").str().unwrap_or_default() {
            "text" if part.get("synthetic").is_true() || part.get("ignored").is_true() => {}
            "text" if self.summary => self.emitter.send(EventKind::Compaction(Cow::Borrowed(text))),
            "text" => self.emitter.assistant(text),
            "reasoning" => self.emitter.thinking(text),
            "tool" => self.tool(part),
            "patch" => {
                let files = part.get("files").items().iter().filter_map(Json::str);
                self.loose.extend(files.map(|path| Edit::bare(path, Change::Modified)));
            }
            "step-start" | "step-finish" | "file" | "compaction" | "subtask" | "agent" | "snapshot"
            | "retry" => {}
            name => self.emitter.unknown_type(name),
        }
    }

    fn tool(&mut self, part: &Json<'_>) {
        let call = tools::call(part);
        let outcome = tools::outcome(part, &call);
        let message_ms = self.emitter.at_ms;
        let (time, own) = (part.at_path(&["state", "time"]), part.get("time"));
        let start = time.get("start").int().or(own.get("ran").int()).or(own.get("created").int());
        self.emitter.at_ms = start.or(message_ms);
        self.emitter.call_with(call, part.at_path(&["state", "input"]));
        if let Some(outcome) = outcome {
            let end = time.get("end").int().or(own.get("completed").int());
            self.emitter.at_ms = end.or(self.emitter.at_ms);
            self.edited.extend(outcome.edits.iter().map(|edit| edit.path.clone()));
            self.emitter.outcome(outcome);
        }
        self.emitter.at_ms = message_ms;
    }

    /// Emits the changes that no tool reported: made by commands or by hand.
    fn changes(&mut self) {
        let edited = std::mem::take(&mut self.edited);
        let mut reported: Vec<Edit> = Vec::new();
        // What says how a file changed comes first, what only names it last.
        let (full, bare): (Vec<Edit>, Vec<Edit>) =
            std::mem::take(&mut self.loose).into_iter().partition(|edit| edit.diff.is_some());
        for edit in full.into_iter().chain(bare) {
            let known = |path: &String| is_same(path, &edit.path);
            if !edited.iter().any(known)
                && !reported.iter().any(|one| known(&one.path) && edit.diff.is_none())
            {
                reported.push(edit);
            }
        }
        if !reported.is_empty() {
            let id = Cow::Borrowed("working copy");
            self.emitter.outcome(Outcome { id, ok: Some(true), edits: reported, ..Outcome::default() });
        }
    }
}

fn undone(revert: &Json<'_>) -> Option<RevertPoint> {
    let message = revert.get("messageID").str()?.to_owned();
    Some(RevertPoint { message, part: revert.get("partID").str().map(str::to_owned) })
}

/// Whether two paths, of which one may be relative, name the same file.
fn is_same(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
    };
    ends(one, other) || ends(other, one)
}
