//! Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, with facts about the session in `workspace.yaml` and its
//! plan in `plan.md` beside it.

mod read;

use std::path::Path;

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
pub struct Copilot;

const ID: &str = "copilot";

impl TranscriptReader for Copilot {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.dir_or_home("COPILOT_HOME", ".copilot");
        for entry in entries(&root.join("session-state")) {
            // Early versions had no directory for a session.
            let flat = entry.path().extension().is_some_and(|end| end == "jsonl");
            let one = if flat {
                TranscriptFile::entry(ID, &entry)
            } else {
                TranscriptFile::from_path(ID, &entry.path().join("events.jsonl"))
            };
            one.into_iter().for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        const OWN: &[&str] =
            &["session.start", "session.resume", "user.message", "assistant.message", "assistant.turn_start"];
        chunk::lines(head).take(20).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            json.get("type").str().is_some_and(|name| OWN.contains(&name))
                && matches!(json.get("data"), Json::Obj(_))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        let mut header = heading::of_lines(found, read_header_line);
        let facts = sidecar::text(&found.path.with_file_name("workspace.yaml"));
        let fact = |key| sidecar::flat(&facts, key).map(str::to_owned);
        header.cwd = fact("cwd").or(header.cwd);
        header.branch = fact("branch").or(header.branch);
        header.repo = fact("repository").or(header.repo);
        header.title = fact("name").or(header.title);
        header
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    let (name, data) = (json.get("type").str().unwrap_or_default(), json.get("data"));
    heading::time(header, json.get("timestamp"));
    heading::keep(&mut header.model, data.first(&["selectedModel", "newModel", "model"]));
    match name {
        "session.start" | "session.resume" => {
            if header.id.is_empty() {
                header.id = data.get("sessionId").str().unwrap_or_default().to_owned();
            }
            let context = data.get("context");
            heading::keep(&mut header.cwd, context.get("cwd").str());
            heading::keep(&mut header.branch, context.get("branch").str());
            heading::keep(&mut header.repo, context.get("repository").str());
        }
        "user.message" if read::is_main(json) => {
            heading::prompt(header, data.get("content").str().unwrap_or_default())
        }
        "assistant.message" => header.empty = false,
        _ => {}
    }
}
