//! Codex: `~/.codex/sessions/Y/M/D/rollout-*.jsonl`, cold ones packed as `.jsonl.zst`, archived ones beside.
//!
//! A line is an envelope `{timestamp, type, payload}`. Messages stand in it twice, as `response_item` and as
//! `event_msg`; the first is what the model sees and is taken, the second only where a file has nothing else. A file may go on
//! from a part of another one, see [`lineage`].

mod header;
mod imported;
mod items;
mod line;
mod lineage;
mod read;
mod scan;
mod script;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use crate::event::Event;
use crate::format::TranscriptReader;
use crate::header::{Header, TranscriptFile};
use crate::permission_mode::{LineMode, PermissionMode, field};
use crate::places::TranscriptEnv;
use crate::report::Report;
use crate::shared::chunk;
use crate::shared::json::Json;

/// The format.
#[derive(Debug)]
pub struct Codex;

const ID: &str = "codex";
/// Where rollouts are, in the tool's home.
const PARTS: [&str; 2] = ["sessions", "archived_sessions"];
/// `sessions/2026/11/21/` and nothing deeper.
const MAX_DEPTH: usize = 4;

impl TranscriptReader for Codex {
    fn id(&self) -> &'static str {
        ID
    }

    fn find(&self, env: &TranscriptEnv, found: &mut dyn FnMut(TranscriptFile)) {
        let root = env.dir_or_home("CODEX_HOME", ".codex");
        let mut all = Vec::new();
        PARTS.iter().for_each(|part| walk(&root.join(part), MAX_DEPTH, &mut |one| all.push(one)));
        let newest = reverted(&all);
        all.retain(|one| is_newest(&one.path, &newest));
        all.into_iter().for_each(found);
    }

    fn sniff(&self, head: &[u8]) -> bool {
        chunk::lines(head).take(20).any(|line| {
            let json =
                std::str::from_utf8(line).ok().and_then(|text| Json::parse(text).ok()).unwrap_or(Json::Null);
            let name = json.get("type").str().unwrap_or_default();
            line::is_known(name) && matches!(json.get("payload"), Json::Obj(_))
        })
    }

    fn header(&self, found: &TranscriptFile) -> Header {
        header::header(found)
    }

    fn read(&self, path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
        read::read(path, sink)
    }

    fn permission_mode(&self) -> Option<LineMode> {
        Some(line_mode)
    }
}

/// The threads that a revert went on with in another file, each with the name of its newest.
fn reverted(all: &[TranscriptFile]) -> HashMap<String, OsString> {
    let mut newest: HashMap<String, OsString> = HashMap::new();
    let ids = |one: &'_ TranscriptFile| lineage::ids(&one.path).map(|(thread, _)| thread.to_owned());
    let again =
        |one: &&TranscriptFile| lineage::ids(&one.path).is_some_and(|(thread, rollout)| thread != rollout);
    for one in all.iter().filter(again) {
        let (Some(thread), Some(name)) = (ids(one), one.path.file_name()) else { continue };
        let latest = newest.entry(thread).or_default();
        *latest = name.to_owned().max(std::mem::take(latest));
    }
    newest
}

/// Whether a file is the one that its thread goes on in.
fn is_newest(path: &Path, newest: &HashMap<String, OsString>) -> bool {
    let thread = lineage::ids(path).map(|(thread, _)| thread).unwrap_or_default();
    newest.get(thread).is_none_or(|name| path.file_name().is_some_and(|own| own == name))
}

/// The mode that a line sets.
fn line_mode(line: &[u8]) -> Option<PermissionMode> {
    match field(line, "\"sandbox_policy\":{\"type\":\"")? {
        "read-only" => Some(PermissionMode::Plan),
        "workspace-write" => Some(PermissionMode::Edits),
        "danger-full-access" if field(line, "\"approval_policy\":\"") == Some("never") => {
            Some(PermissionMode::Full)
        }
        _ => Some(PermissionMode::Ask),
    }
}

fn walk(dir: &Path, depth: usize, found: &mut dyn FnMut(TranscriptFile)) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        match rollout(name) {
            // Where a packed file was unpacked again, the plain one is the live one.
            Some(Compression::Yes(plain)) if dir.join(plain).exists() => {}
            Some(_) => TranscriptFile::entry(ID, &entry).into_iter().for_each(&mut *found),
            None if depth > 0 && entry.path().is_dir() => walk(&entry.path(), depth - 1, found),
            None => {}
        }
    }
}

/// Whether a rollout is packed; if so, the name that it has unpacked.
enum Compression<'n> {
    No,
    Yes(&'n str),
}

/// What kind of rollout a file of this name is, if it is one.
fn rollout(name: &str) -> Option<Compression<'_>> {
    if !name.starts_with("rollout-") {
        return None;
    }
    match name.strip_suffix(".zst") {
        Some(plain) => plain.ends_with(".jsonl").then_some(Compression::Yes(plain)),
        None => name.ends_with(".jsonl").then_some(Compression::No),
    }
}
