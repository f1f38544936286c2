//! Qwen Code: `~/.qwen/projects/<slug>/chats/<session id>.jsonl`, a tree of lines linked by `parentUuid` as in Claude
//! Code, with messages as in Gemini CLI. The plan stands beside it, in `~/.qwen/todos/<session id>.json`.

mod read;

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk::{self, entries};
use crate::shared::heading;
use crate::shared::json::Json;

/// The format.
#[derive(Debug)]
pub struct Qwen;

const ID: &str = "qwen";

impl TranscriptReader for Qwen {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.dir_or_home("QWEN_HOME", ".qwen");
        for project in entries(&root.join("projects")) {
            let chats = entries(&project.path().join("chats"));
            let sessions =
                chats.iter().filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl"));
            sessions.filter_map(|entry| TranscriptFile::entry(ID, entry)).for_each(&mut *found);
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(40).any(|line| {
            let text = String::from_utf8_lossy(line);
            let json = Json::parse(&text).unwrap_or(Json::Null);
            json.get("sessionId").str().is_some()
                && matches!(json.at_path(&["message", "parts"]), Json::Arr(_))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        heading::of_lines(found, read_header_line)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}

fn read_header_line(json: &Json<'_>, header: &mut Header) {
    if header.id.is_empty() {
        header.id = json.get("sessionId").str().unwrap_or_default().to_owned();
    }
    heading::keep(&mut header.cwd, json.get("cwd").str());
    heading::keep(&mut header.branch, json.get("gitBranch").str());
    heading::time(header, json.get("timestamp"));
    match (json.get("type").str(), json.get("subtype").str()) {
        (Some("user"), _) if !read::is_side(json) => heading::prompt(header, &read::prompt(json)),
        (Some("assistant"), _) => {
            header.empty = false;
            heading::keep(&mut header.model, json.get("model").str());
        }
        (_, Some("custom_title")) => {
            heading::keep(&mut header.title, json.get("systemPayload").first(&["customTitle", "title"]));
        }
        _ => {}
    }
}

/// The plan of a session, beside the transcripts.
fn todos(path: &Path) -> Option<PathBuf> {
    let root = path.parent()?.parent()?.parent()?.parent()?;
    Some(root.join("todos").join(path.file_stem()?).with_extension("json"))
}
