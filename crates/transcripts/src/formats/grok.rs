//! Grok Build: `~/.grok/sessions/<directory, encoded>/<id>/updates.jsonl`, the updates of the Agent Client Protocol, with
//! facts about the session in `summary.json`. Messages are written down in pieces.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;

use crate::event::{Call, Category, Change, Edit, Event, TranscriptInfo};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, Speaker, ToolResult};
use crate::shared::json::{Json, join};
use crate::shared::{call, heading, plan, sidecar};

/// The format.
#[derive(Debug)]
pub struct Grok;

const ID: &str = "grok";
const UPDATES: &str = "updates.jsonl";
const HEAD: usize = 32 * 1024;

impl TranscriptReader for Grok {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for project in entries(&env.dir_or_home("GROK_HOME", ".grok").join("sessions")) {
            let files = entries(&project.path()).into_iter().map(|entry| entry.path().join(UPDATES));
            files.filter_map(|path| TranscriptFile::from_path(ID, &path)).for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            Json::parse(&text)
                .is_ok_and(|json| json.at_path(&["params", "update", "sessionUpdate"]).str().is_some())
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = heading::of_lines(found, read_header_line);
        if let Some(prompt) = first_prompt(&found.path) {
            header.title = None;
            header.first_prompt = None;
            heading::prompt(&mut header, &prompt);
            header.title = header.first_prompt.clone();
        }
        let text = summary(&found.path);
        let about = sidecar::json(&text);
        let fact = |json: &Json<'_>| json.str().map(str::to_owned);
        header.id =
            fact(about.at_path(&["info", "id"])).or_else(|| dir_name(&found.path)).unwrap_or(header.id);
        header.cwd = fact(about.at_path(&["info", "cwd"]));
        header.title =
            about.first(&["generated_title", "session_summary"]).map(str::to_owned).or(header.title);
        header.model = about.first(&["current_model_id", "model"]).map(str::to_owned).or(header.model);
        header.subagent =
            about.get("parent_session_id").str().is_some() && about.get("session_kind").str() != Some("fork");
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let mut emitter = EventEmitter::new(sink);
        let mut reported = false;
        emitter.each_line(path, &mut |emitter, json| {
            if !std::mem::replace(&mut reported, true) {
                session(emitter, path);
            }
            update(emitter, json.at_path(&["params", "update"]), json.at_path(&["params", "_meta"]));
        });
        emitter.finish()
    }
}

fn summary(path: &Path) -> String {
    sidecar::text(&path.with_file_name("summary.json"))
}

/// A session goes by the name of its directory.
fn dir_name(path: &Path) -> Option<String> {
    path.file_name().filter(|name| *name == UPDATES)?;
    path.parent()?.file_name()?.to_str().map(str::to_owned)
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    let update = json.at_path(&["params", "update"]);
    heading::time(header, json.get("timestamp"));
    match update.get("sessionUpdate").str() {
        Some("user_message_chunk") => {
            heading::prompt(header, update.at_path(&["content", "text"]).str().unwrap_or_default())
        }
        Some("agent_message_chunk" | "tool_call") => header.empty = false,
        _ => {}
    }
}

/// The first prompt, out of the pieces in which it is written down.
fn first_prompt(path: &Path) -> Option<String> {
    let head = chunk::head(File::open(path).ok()?, HEAD).ok()?;
    let mut prompt = String::new();
    for line in chunk::lines(&head) {
        let text = String::from_utf8_lossy(line);
        let json = Json::parse(&text).unwrap_or(Json::Null);
        let update = json.at_path(&["params", "update"]);
        if update.get("sessionUpdate").str() == Some("user_message_chunk") {
            prompt.push_str(update.at_path(&["content", "text"]).str().unwrap_or_default());
        } else if !prompt.is_empty() {
            break;
        }
    }
    Some(prompt).filter(|prompt| !prompt.trim().is_empty())
}

fn session(emitter: &mut EventEmitter<'_>, path: &Path) {
    let text = summary(path);
    let about = sidecar::json(&text);
    let field = |value: Option<&str>| value.map(|text| Cow::Owned(text.to_owned()));
    emitter.session(TranscriptInfo {
        id: field(about.at_path(&["info", "id"]).str()).or_else(|| dir_name(path).map(Cow::Owned)),
        cwd: field(about.at_path(&["info", "cwd"]).str()),
        model: field(about.first(&["current_model_id", "model"])),
        ..TranscriptInfo::default()
    });
}

fn update(emitter: &mut EventEmitter<'_>, update: &Json<'_>, outer: &Json<'_>) {
    let meta = if update.get("_meta").is_null() { outer } else { update.get("_meta") };
    let index = meta.get("promptIndex").int().map(|index| index.to_string());
    let key = meta.get("promptId").str().map(str::to_owned).or(index).unwrap_or_default();
    let text = || update.at_path(&["content", "text"]).str().unwrap_or_default();
    match update.get("sessionUpdate").str().unwrap_or_default() {
        "user_message_chunk" => emitter.piece(Speaker::User, &key, text()),
        "agent_message_chunk" => emitter.piece(Speaker::Assistant, &key, text()),
        "agent_thought_chunk" => emitter.piece(Speaker::Thinking, &key, text()),
        "tool_call" => {
            begin(emitter, update);
            end(emitter, update);
        }
        "tool_call_update" => end(emitter, update),
        "plan" => emitter.plan(plan::of(update.get("entries"))),
        "available_commands_update"
        | "current_mode_update"
        | "usage_update"
        | "session_info_update"
        | "config_option_update" => {}
        name => emitter.unknown_type(name),
    }
}

fn begin(emitter: &mut EventEmitter<'_>, update: &Json<'_>) {
    let id = update.get("toolCallId").str().unwrap_or_default();
    let (args, title) = (update.get("rawInput"), update.get("title").str().unwrap_or_default());
    let name =
        args.get("name").str().or_else(|| update.at_path(&["_meta", "toolName"]).str()).unwrap_or(title);
    let mut one = call::call(id, name, args);
    if one.category == Category::Other {
        one = by_kind(id, title, update);
    }
    emitter.plan(call::plan(name, args));
    emitter.call(one);
}

/// A call of a tool with an unspecific name: its category comes from the protocol.
fn by_kind<'a>(id: &'a str, title: &'a str, update: &'a Json<'a>) -> Call<'a> {
    let kind = update.get("kind").str().unwrap_or_default();
    let known = match kind {
        "execute" => "shell",
        "delete" | "move" => "edit",
        kind => kind,
    };
    let one = call::call(id, known, update.get("rawInput"));
    let target = if one.target.is_empty() { Cow::Borrowed(title.trim_matches('`')) } else { one.target };
    Call { name: Cow::Borrowed(if kind.is_empty() { title } else { kind }), target, ..one }
}

fn end(emitter: &mut EventEmitter<'_>, update: &Json<'_>) {
    let ok = match update.get("status").str() {
        Some("completed") => true,
        Some("failed") => false,
        _ => return,
    };
    let parts = update.get("content").items();
    let text = join(parts.iter().filter_map(|part| part.at_path(&["content", "text"]).str()));
    let raw = update.get("rawOutput");
    let output = if text.is_empty() {
        Cow::Borrowed(raw.first(&["output", "stdout", "error"]).or(raw.str()).unwrap_or_default())
    } else {
        text
    };
    let code = raw.get("exit_code").int().or_else(|| raw.get("exitCode").int());
    let edits = if ok { parts.iter().filter_map(diff).collect() } else { Vec::new() };
    emitter.end_call(ToolResult {
        id: update.get("toolCallId").str().unwrap_or_default(),
        ok: Some(ok),
        code,
        output,
        edits,
    });
}

fn diff(part: &Json<'_>) -> Option<Edit> {
    let path = part.get("path").str().filter(|_| part.get("type").str() == Some("diff"))?;
    let new = part.get("newText").str().unwrap_or_default();
    Some(match part.get("oldText") {
        Json::Null => Edit::new_text(path, Change::Created, new),
        old => Edit::replaced(path, old.str().unwrap_or_default(), new),
    })
}
