//! Claude Code: `~/.claude/projects/<slug>/<uuid>.jsonl`, a tree of lines linked by `parentUuid`.
//!
//! Sub-agents write beside it, in `<uuid>/subagents/agent-*.jsonl`; they are read with their session.

mod chain;
mod header;
mod line;
mod read;
mod tools;

use std::path::{Path, PathBuf};

use crate::event::Event;
use crate::format::Format;
use crate::header::{Found, Header};
use crate::places::Env;
use crate::report::Report;
use crate::shared::chunk;
use crate::shared::json::Json;

/// The format.
#[derive(Debug)]
pub struct Claude;

const ID: &str = "claude";

impl Format for Claude {
    fn id(&self) -> &'static str {
        ID
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["claude_code", "claudecode", "cc"]
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(Found)) {
        let projects = env.dir_or_home("CLAUDE_CONFIG_DIR", ".claude").join("projects");
        for project in entries(&projects) {
            for path in entries(&project).into_iter().filter(|path| is_session(path)) {
                Found::at(ID, &path).into_iter().for_each(&mut *found);
            }
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(40).any(|line| {
            let json =
                std::str::from_utf8(line).ok().and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
            let talk = matches!(json.get("type").str(), Some("user" | "assistant"));
            let named = json.get("sessionId").str().is_some() || json.get("uuid").str().is_some();
            (talk && !json.get("message").is_null() && json.get("payload").is_null())
                || (named && !json.get("type").is_null() && json.get("payload").is_null() && is_known(&json))
        })
    }

    fn header(&self, found: &Found) -> Header {
        header::header(found).redacted()
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }
}

fn is_known(json: &Json<'_>) -> bool {
    json.get("type").str().is_some_and(|name| line::kind_of(name) != line::Kind::Unknown)
}

/// The entries of a directory by name, so that every run gives the same order.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|one| one.path()).collect();
    paths.sort_unstable();
    paths
}

fn is_session(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}

/// The transcripts of the sub-agents of a session, with the id of each.
fn subagents(path: &Path) -> Vec<(String, PathBuf)> {
    let named = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned();
        Some((id, path))
    };
    entries(&path.with_extension("").join("subagents")).into_iter().filter_map(named).collect()
}
