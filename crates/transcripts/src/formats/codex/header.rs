//! What a listing shows of a rollout, from beginning and end of its file.

use std::fs::File;
use std::io;
use std::path::Path;

use super::line;
use super::lineage::{self, Meta, Rollouts};
use crate::header::{Header, TranscriptFile};
use crate::report::{Complaint, kind};
use crate::shared::json::Json;
use crate::shared::time;
use crate::shared::words::unclean_line;
use crate::shared::{chunk, heading, lines};

const HEAD: usize = 64 * 1024;
const WIDEST: usize = 4 * 1024 * 1024;
const TAIL: usize = 16 * 1024;
/// The type of the lines that name the model.
const TURN_CONTEXT: &str = "turn_context";

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = found.header();
    header.id =
        lineage::ids(&found.path).map_or_else(|| heading::stem(found), |(thread, _)| thread.to_owned());
    header.empty = true;
    if fill(&mut header, found).is_err() {
        header.complaints.push(Complaint { kind: kind::UNREADABLE.to_owned(), count: 1, first_line: 0 });
    } else if header.empty {
        header.complaints.push(Complaint { kind: kind::EMPTY.to_owned(), count: 1, first_line: 0 });
    }
    header
}

fn fill(header: &mut Header, found: &TranscriptFile) -> io::Result<()> {
    let mut meta = None;
    let mut limit = HEAD;
    let head = loop {
        let head = chunk::head(chunk::open(&found.path)?, limit)?;
        if !head.is_empty() {
            let meta = meta.get_or_insert_with(|| place(&head, &found.path));
            chunk::lines(&head).try_for_each(|line| scan(line, meta.first_own, header));
        }
        if header.first_prompt.is_some() || head.len() + HEAD < limit || limit >= WIDEST {
            break head;
        }
        limit = (limit * 8).min(WIDEST);
    };
    let packed = found.path.extension().is_some_and(|extension| extension == "zst");
    let tail = match packed {
        true => Vec::new(),
        false => {
            let mut file = File::open(&found.path)?;
            let has_end = |tail: &[u8]| last_time(tail).is_some();
            chunk::last_lines(&mut file, found.stamp.size, head.len() as u64, (TAIL, WIDEST), has_end)?
        }
    };
    for end in [&tail, &head] {
        if last(end, header, packed) {
            break;
        }
    }
    if let Some(meta) = meta.filter(Meta::has_base) {
        from_base(header, meta, &found.path);
    }
    header.title = header.first_prompt.as_deref().map(|text| unclean_line(text, 120));
    Ok(())
}

/// What a rollout says about its place among others. Few say anything, which shows without reading them once more.
fn place(head: &[u8], path: &Path) -> Meta {
    let has_base = lines::may_hold(head, "\"history_base\"", "{");
    let is_subagent = memchr::memmem::find(head, b"\"subagent\"").is_some();
    if has_base || is_subagent { Meta::of(path) } else { Meta::default() }
}

/// What began in another file is named by what was said there; a fork by what it was made for, if that was said.
fn from_base(header: &mut Header, meta: Meta, path: &Path) {
    let is_named = meta.forked && header.first_prompt.is_some();
    let (segments, _) = meta.segments(path, &Rollouts::around(path));
    let Some(first) = segments.first().filter(|first| first.end.is_some() && !is_named) else { return };
    let mut began = Header { empty: true, ..Header::default() };
    let head = first.open().and_then(|file| chunk::head(file, WIDEST)).unwrap_or_default();
    chunk::lines(&head).try_for_each(|line| scan(line, 0, &mut began));
    header.empty &= began.empty;
    header.first_prompt = began.first_prompt.or(header.first_prompt.take());
    header.model = header.model.take().or(began.model);
}

/// Takes what a line of the beginning says; `None` when nothing more is needed. Lines before the first own one are another's.
fn scan(line: &[u8], first_own: i64, header: &mut Header) -> Option<()> {
    if line::leading_type(line).is_some_and(line::is_ignored) {
        return Some(());
    }
    let text = String::from_utf8_lossy(line);
    let Ok(json) = Json::parse(&text) else { return Some(()) };
    let payload = json.get("payload");
    match json.get("type").str().unwrap_or_default() {
        "session_meta" if header.created_at_ms.is_none() => meta(payload, &json, header),
        _ if json.get("ordinal").int().is_some_and(|ordinal| ordinal < first_own) => {}
        "" if json.get("id").str().is_some() => meta(&json, &json, header),
        TURN_CONTEXT => take(&mut header.model, payload.get("model")),
        "response_item" => message(payload, header),
        "event_msg" => event(payload, header),
        name if line::is_bare(name) => message(&json, header),
        _ => {}
    }
    (header.first_prompt.is_none() || header.model.is_none()).then_some(())
}

fn take(slot: &mut Option<String>, value: &Json<'_>) {
    *slot = value.str().map(str::to_owned).or(slot.take());
}

fn meta(meta: &Json<'_>, json: &Json<'_>, header: &mut Header) {
    header.id = meta.first(&["id", "session_id"]).map_or(std::mem::take(&mut header.id), str::to_owned);
    header.created_at_ms = json.first(&["timestamp"]).or(meta.get("timestamp").str()).and_then(time::parse);
    header.subagent = lineage::is_subagent(meta);
    take(&mut header.cwd, meta.get("cwd"));
    take(&mut header.branch, meta.at_path(&["git", "branch"]));
    take(&mut header.repo, meta.at_path(&["git", "repository_url"]));
}

fn message(item: &Json<'_>, header: &mut Header) {
    let role = item.get("role").str();
    header.empty &= role != Some("assistant") && item.get("call_id").is_null();
    if role == Some("user") {
        prompt(line::prompt(item.get("content")), header);
    }
}

fn event(event: &Json<'_>, header: &mut Header) {
    let item = event.get("item");
    match (event.get("type").str(), item.get("type").str()) {
        (Some("user_message"), _) => {
            prompt(event.get("message").str().and_then(line::own_words).map(str::to_owned), header)
        }
        (_, Some("UserMessage")) => prompt(line::prompt(item.get("content")), header),
        (Some("agent_message"), _) | (_, Some("AgentMessage")) => header.empty = false,
        _ => {}
    }
}

fn prompt(text: Option<String>, header: &mut Header) {
    if let Some(text) = text.filter(|_| header.first_prompt.is_none()) {
        header.first_prompt = Some(unclean_line(&text, 300));
        header.empty = false;
    }
}

/// Takes time and model from the last lines; whether there was a line with a time.
fn last(chunk: &[u8], header: &mut Header, packed: bool) -> bool {
    if packed {
        return true;
    }
    let found = last_time(chunk);
    header.updated_at_ms = found.or(header.updated_at_ms);
    let may_be_context = |line: &&[u8]| {
        line::leading_type(line).is_none_or(|name| name == TURN_CONTEXT)
            && memchr::memmem::find(line, TURN_CONTEXT.as_bytes()).is_some()
    };
    for line in chunk::lines(chunk).rev().filter(may_be_context) {
        let text = String::from_utf8_lossy(line);
        let json = Json::parse(&text).unwrap_or(Json::Null);
        if json.get("type").str() == Some(TURN_CONTEXT) {
            take(&mut header.model, json.at_path(&["payload", "model"]));
            break;
        }
    }
    found.is_some()
}

/// The time of the last line that has one.
fn last_time(chunk: &[u8]) -> Option<i64> {
    let time = |line: &[u8]| {
        let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
        let at = text.find("\"timestamp\":")?;
        time::parse(text[at + 12..].trim_start().trim_start_matches('"').split('"').next()?)
    };
    chunk::lines(chunk).rev().take(50).find_map(time)
}
