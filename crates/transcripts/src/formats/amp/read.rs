//! The full read of a thread.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Category, Event, EventKind, Outcome, TranscriptInfo, Usage};
use crate::report::Report;
use crate::shared::call;
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;
use crate::shared::shell;
use crate::shared::time;
use crate::shared::uri;
use crate::shared::words::unclean_line;

/// Reads a thread, and gives out its title.
pub(super) fn read(path: &Path, title: &mut Option<String>, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut reader = Reader { emitter: EventEmitter::new(sink), kinds: Vec::new(), used: false };
    let text = reader.emitter.document(path);
    let doc = Json::parse(&text).unwrap_or(Json::Null);
    *title = doc.get("title").str().map(|title| unclean_line(title, 120));
    reader.facts(&doc);
    for message in doc.get("messages").items() {
        let times = [
            message.at_path(&["meta", "sentAt"]),
            message.at_path(&["usage", "timestamp"]),
            message.get("createdAt"),
        ];
        let blocks = message.get("content").items().iter().map(|block| block.get("startTime"));
        reader.emitter.record(0, times.into_iter().chain(blocks).find_map(moment));
        reader.message(message);
    }
    reader.ledger(&doc);
    reader.emitter.finish()
}

struct Reader<'s> {
    emitter: EventEmitter<'s>,
    /// Kinds of the calls, by id.
    kinds: Vec<(String, Category)>,
    /// Whether messages reported their usage.
    used: bool,
}

impl Reader<'_> {
    fn facts(&mut self, doc: &Json<'_>) {
        let first = doc.at_path(&["env", "initial"]);
        let tree = first.get("trees").items().first().unwrap_or(&Json::Null);
        let tags = first.get("tags").items().iter().filter_map(Json::str);
        let model = tags.filter_map(|tag| tag.strip_prefix("model:")).next_back();
        let git = tree.get("repository");
        self.emitter.at_ms = moment(doc.get("created"));
        self.emitter.session(TranscriptInfo {
            id: doc.get("id").str().map(Cow::Borrowed),
            cwd: tree.get("uri").str().map(|uri| Cow::Owned(uri::path(uri))),
            branch: git.get("ref").str().map(|name| Cow::Borrowed(name.trim_start_matches("refs/heads/"))),
            commit: git.get("sha").str().map(Cow::Borrowed),
            model: model.map(Cow::Borrowed),
            version: first.at_path(&["platform", "clientVersion"]).str().map(Cow::Borrowed),
        });
    }

    fn message(&mut self, message: &Json<'_>) {
        let user = message.get("role").str() == Some("user");
        self.emitter.model(message.at_path(&["usage", "model"]).str());
        for block in message.get("content").items() {
            self.block(block, user);
        }
        if let Some(text) = message.get("content").str() {
            if user { self.emitter.user(text) } else { self.emitter.assistant(text) }
        }
        let usage = usage(message.get("usage"));
        self.used |= usage != Usage::default();
        self.emitter.spend(usage);
        if message.at_path(&["state", "type"]).str() == Some("cancelled") {
            self.emitter.send(EventKind::Interrupted);
        }
    }

    fn block(&mut self, block: &Json<'_>, user: bool) {
        let text = block.get("text").str().unwrap_or_default();
        match block.get("type").str().unwrap_or_default() {
            "text" if block.get("hidden").is_true() => {}
            "text" if user => self.emitter.user(text),
            "text" => self.emitter.assistant(text),
            "thinking" => self.emitter.thinking(block.get("thinking").str().unwrap_or_default()),
            "summary" => {
                let summary = block
                    .at_path(&["summary", "summary"])
                    .str()
                    .or(block.get("summary").str())
                    .unwrap_or(text);
                self.emitter.send(EventKind::Compaction(Cow::Borrowed(summary)));
            }
            "tool_use" => self.call(block),
            "tool_result" => self.result(block),
            "image" | "redacted_thinking" | "provider" | "server_tool_use" => {}
            name => self.emitter.unknown_type(name),
        }
    }

    fn call(&mut self, block: &Json<'_>) {
        // Some programs that write such files put a sentence in place of the call.
        let Some(name) = block.get("name").str() else { return };
        let (id, input) = (block.get("id").str().unwrap_or_default(), block.get("input"));
        let call = call::call(id, name, input);
        self.kinds.push((id.to_owned(), call.category.clone()));
        self.emitter.call_with(call, input);
    }

    fn result(&mut self, block: &Json<'_>) {
        let id = block.first(&["toolUseID", "tool_use_id"]).unwrap_or_default();
        let shell = self.kinds.iter().any(|(known, kind)| known == id && *kind == Category::Shell);
        let run = block.get("run");
        let result = run.get("result");
        let done = match run.get("status").str() {
            Some("done") => true,
            Some("in-progress" | "queued" | "blocked-on-user") => return,
            _ => false,
        };
        let error = run.at_path(&["error", "message"]).str().or(run.get("error").str());
        let output = error.or(result.str()).or(result.first(&["output", "diff", "text"])).unwrap_or_default();
        let status = result.get("exitCode").int().or_else(|| shell::told_exit(output));
        let exit_code = status.filter(|_| shell);
        let ok = match (done, shell, exit_code) {
            (false, ..) => Some(false),
            (true, _, Some(code)) => Some(code == 0),
            (true, true, None) => None,
            (true, false, None) => Some(true),
        };
        let (id, output) = (Cow::Borrowed(id), Cow::Borrowed(output));
        self.emitter.outcome(Outcome { id, ok, exit_code, output, edits: Vec::new() });
    }

    /// Older threads keep what they used in one place.
    fn ledger(&mut self, doc: &Json<'_>) {
        if self.used {
            return;
        }
        for event in doc.at_path(&["usageLedger", "events"]).items() {
            let tokens = event.get("tokens");
            let (input, output) = (tokens.get("input").count(), tokens.get("output").count());
            self.emitter.model(event.get("model").str());
            self.emitter.spend(Usage { input, output, ..Usage::default() });
        }
    }
}

/// A time: a number in a thread of this machine, in what was exported also a text.
fn moment(value: &Json<'_>) -> Option<i64> {
    value.int().map(time::millis).or_else(|| value.str().and_then(time::parse))
}

fn usage(usage: &Json<'_>) -> Usage {
    Usage {
        input: usage.get("inputTokens").count(),
        cache_read: usage.get("cacheReadInputTokens").count(),
        cache_write: usage.get("cacheCreationInputTokens").count(),
        output: usage.get("outputTokens").count(),
    }
}
