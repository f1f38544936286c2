//! Kimi Code: `~/.kimi-code/sessions/<project>/<session>/agents/main/wire.jsonl`, with facts about the session in
//! `state.json`. Sub-agents write in `agents/agent-*/wire.jsonl`; they are read with their session.

mod read;

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::json::Json;
use crate::shared::{heading, sidecar};

/// The format.
#[derive(Debug)]
pub struct Kimi;

const ID: &str = "kimi";
const WIRE: &str = "wire.jsonl";

impl TranscriptReader for Kimi {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.dir_or_home("KIMI_CODE_HOME", ".kimi-code");
        for project in entries(&root.join("sessions")) {
            let wires = entries(&project.path())
                .into_iter()
                .map(|one| one.path().join("agents").join("main").join(WIRE));
            wires.filter_map(|path| TranscriptFile::from_path(ID, &path)).for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(40).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            json.get("type").str().is_some_and(read::is_own)
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = heading::of_lines(found, read_header_line);
        let about = Sidecar::of(&found.path);
        header.id = about.id.unwrap_or(header.id);
        header.cwd = about.cwd.or(header.cwd);
        header.title = about.title.or(header.title);
        header.subagent = agent_of(&found.path).is_some_and(|agent| agent != "main");
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    let time = json.get("time");
    heading::time(header, if time.is_null() { json.get("created_at") } else { time });
    heading::keep(&mut header.cwd, json.get("cwd").str());
    heading::keep(&mut header.model, json.first(&["model", "modelId"]));
    match json.get("type").str().unwrap_or_default() {
        "context.append_message" => {
            let message = json.get("message");
            match message.get("role").str() {
                Some("user") if read::is_prompt(message) => {
                    heading::prompt(header, &message.get("content").text())
                }
                Some("assistant") => header.empty = false,
                _ => {}
            }
        }
        "context.append_loop_event" => header.empty &= json.at_path(&["event", "part"]).is_null(),
        _ => {}
    }
}

/// What stands beside the transcript.
#[derive(Debug, Default)]
struct Sidecar {
    id: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
}

impl Sidecar {
    fn of(wire: &Path) -> Self {
        let Some(dir) = session_dir(wire) else { return Self::default() };
        let text = sidecar::text(&dir.join("state.json"));
        let state = sidecar::json(&text);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let name = dir.file_name().and_then(|name| name.to_str());
        let cwd = owned(state.first(&["cwd", "workDir", "workdir"]));
        Self {
            id: owned(state.first(&["id", "sessionId"]).or(name)),
            cwd: cwd.or_else(|| indexed(dir)),
            title: owned(state.first(&["title"])),
        }
    }
}

/// The working directory as the index of all sessions has it.
fn indexed(dir: &Path) -> Option<String> {
    let index = sidecar::text(&dir.ancestors().nth(3)?.join("session_index.jsonl"));
    let name = dir.file_name()?.to_str()?;
    let line = index.lines().rev().find(|line| line.contains(name))?;
    sidecar::json(line).get("workDir").str().map(str::to_owned)
}

/// The directory of a session in which this transcript lies.
fn session_dir(wire: &Path) -> Option<&Path> {
    agent_of(wire)?;
    wire.ancestors().nth(3)
}

/// The agent whose transcript this is.
fn agent_of(wire: &Path) -> Option<&str> {
    let dir = wire.parent()?;
    dir.parent()?.file_name().filter(|name| *name == "agents")?;
    dir.file_name()?.to_str()
}

/// The transcripts of the sub-agents of a session, with the name of each.
fn subagents(wire: &Path) -> Vec<(String, PathBuf)> {
    let Some(agents) = wire.parent().and_then(Path::parent).filter(|_| agent_of(wire) == Some("main")) else {
        return Vec::new();
    };
    let named = |entry: &DirEntry| {
        let name = entry.file_name().to_str()?.to_owned();
        let path = entry.path().join(WIRE);
        (name != "main" && path.is_file()).then_some((name, path))
    };
    entries(agents).iter().filter_map(named).collect()
}
