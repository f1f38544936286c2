//! Windsurf: `~/.windsurf/transcripts/<trajectory>.jsonl`, a line for every step, written once the hook for transcripts is registered.
//! What it keeps by itself below `~/.codeium/windsurf` is encrypted and not read. Steps have no times.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Category, Event, EventKind, TranscriptInfo};
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::{call, heading};

/// The format.
#[derive(Debug)]
pub struct Windsurf;

const ID: &str = "windsurf";
const PROMPT: &str = "user_input";
const ANSWER: &str = "planner_response";

impl TranscriptReader for Windsurf {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        for entry in entries(&env.home.join(".windsurf/transcripts")) {
            if entry.path().extension().is_some_and(|end| end == "jsonl") {
                TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            let name = json.get("type").str().unwrap_or_default();
            matches!(name, PROMPT | ANSWER | "code_action") && matches!(json.get(name), Json::Obj(_))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        heading::of_lines(found, |json, header| match json.get("type").str().unwrap_or_default() {
            PROMPT => heading::prompt(header, prompt(json)),
            ANSWER => header.empty = false,
            name => heading::keep(&mut header.cwd, folder(json.get(name))),
        })
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        let mut emitter = EventEmitter::new(sink);
        let id = path.file_stem().and_then(|stem| stem.to_str());
        let mut session = Some(TranscriptInfo { id: id.map(Cow::Borrowed), ..TranscriptInfo::default() });
        emitter.each_line(path, &mut |emitter, json| {
            session.take().into_iter().for_each(|session| emitter.session(session));
            step(emitter, json);
        });
        emitter.finish()
    }
}

fn prompt<'a>(json: &'a Json<'a>) -> &'a str {
    json.get(PROMPT).first(&["user_response", "query"]).unwrap_or_default()
}

/// The folder that a command ran in.
fn folder<'a>(step: &'a Json<'a>) -> Option<&'a str> {
    step.get("cwd").str().filter(|folder| Path::new(folder).is_absolute())
}

fn step(emitter: &mut EventEmitter<'_>, json: &Json<'_>) {
    let name = json.get("type").str().unwrap_or_default();
    let content = json.get(name);
    match name {
        PROMPT => emitter.user(prompt(json)),
        ANSWER => {
            emitter.thinking(content.get("thinking").str().unwrap_or_default());
            emitter.assistant(content.get("response").str().unwrap_or_default());
        }
        _ if matches!(content, Json::Obj(_)) => tool(emitter, name, content, json.get("status").str()),
        _ => emitter.unknown_type(name),
    }
    if json.get("status").str() == Some("canceled") {
        emitter.send(EventKind::Interrupted);
    }
}

/// A call with its result: one line holds both.
fn tool(emitter: &mut EventEmitter<'_>, name: &str, content: &Json<'_>, status: Option<&str>) {
    let cwd = folder(content).map(Cow::Borrowed);
    emitter.session(TranscriptInfo { cwd, ..TranscriptInfo::default() });
    let id = format!("step-{}", emitter.position.line);
    let parsed = content.get("arguments").str().and_then(|text| Json::parse(text).ok());
    let args = parsed.as_ref().unwrap_or(content);
    let server = || content.get("server_name").str().unwrap_or("server");
    let named = match content.get("tool_name").str().filter(|_| name == "mcp_tool") {
        Some(tool) => Cow::Owned(format!("mcp__{}__{tool}", server())),
        None => Cow::Borrowed(name),
    };
    let call = call::call(&id, &named, args);
    let shell = call.category == Category::Shell;
    emitter.call_with(call, args);
    let code = content.get("exit_code").int();
    let ok = match status {
        Some("done") => (!shell).then_some(true),
        Some("error" | "canceled") => Some(false),
        _ => return,
    };
    let output = Cow::Borrowed(content.first(&["output", "result", "error", "stdout"]).unwrap_or_default());
    emitter.end_call(ToolResult { id: &id, ok, code, output, edits: Vec::new() });
}
