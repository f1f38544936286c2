//! The messages of version 2: one row each, whose parts stand in it.

use std::borrow::Cow;

use super::{Reader, tools};
use crate::event::{Change, Edit, EventKind, TranscriptInfo};
use crate::report::kind;
use crate::shared::json::Json;
use crate::shared::typed::TypedCommand;
use crate::sqlite::opencode::{MessageRow, Record};

impl Reader<'_> {
    /// Emits a message. In a session that began as a copy, what was copied was paid for in the other one.
    pub(super) fn row(&mut self, message: &Record, row: &MessageRow, forked: bool) {
        let Some(data) = self.emitter.stored(&message.data, message.created_ms) else { return };
        let copied = forked && message.id.ends_with(&format!("_{}", row.seq));
        match row.kind.as_str() {
            "user" => {
                self.stopped = false;
                self.emitter.user(data.get("text").str().unwrap_or_default());
            }
            "assistant" => self.answer(&data),
            "shell" => self.shell(&message.id, &data),
            "compaction" if data.get("status").str() == Some("completed") => {
                self.emitter.compaction(data.get("summary").str().unwrap_or_default());
            }
            "location-switched" => self.emitter.session(TranscriptInfo {
                cwd: data.at_path(&["location", "directory"]).str().map(Cow::Borrowed),
                ..TranscriptInfo::default()
            }),
            "idle" if data.get("outcome").str() == Some("interrupted") => self.interrupted(),
            "compaction" | "synthetic" | "system" | "skill" | "agent-switched" | "model-switched"
            | "idle" => {}
            name => self.emitter.unknown_type(name),
        }
        if !copied {
            self.emitter.spend(tools::usage(data.get("tokens")));
        }
    }

    fn answer(&mut self, data: &Json<'_>) {
        self.emitter.model(data.at_path(&["model", "id"]).str());
        for part in data.get("content").items() {
            let text = part.get("text").str().unwrap_or_default();
            match part.get("type").str().unwrap_or_default() {
                "text" => self.emitter.assistant(text),
                "reasoning" => self.emitter.thinking(text),
                "tool" => self.tool(part),
                "" => self.emitter.complain(kind::BAD_RECORD),
                name => self.emitter.unknown_type(name),
            }
        }
        let files = data.at_path(&["snapshot", "files"]).items().iter().filter_map(Json::str);
        self.loose.extend(files.map(|path| Edit::bare(path, Change::Modified)));
        let error = data.get("error");
        let name = error.get("type").str().unwrap_or_default().to_ascii_lowercase();
        match name.contains("abort") || name.contains("interrupt") {
            true => self.interrupted(),
            false => self.emitter.provider_error(error.get("message").str().unwrap_or(&name)),
        }
    }

    /// The answer that was stopped says so, and the end of the turn once more.
    fn interrupted(&mut self) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.emitter.send(EventKind::Interrupted);
        }
    }

    /// A command that the user ran.
    fn shell(&mut self, id: &str, data: &Json<'_>) {
        let code = data.get("exit").int();
        let output = data.at_path(&["output", "output"]);
        let output = output.str().or_else(|| data.get("output").str()).unwrap_or_default();
        let command = data.get("command").str().unwrap_or_default();
        self.emitter.typed(id, &TypedCommand { command, code, output }, None);
    }
}
