//! What a listing shows of a Gemini CLI session.

use std::fs::File;
use std::io;

use super::{fold, message, project_root};
use crate::header::{Header, TranscriptFile};
use crate::shared::json::Json;
use crate::shared::{chunk, document, heading};

const HEAD: usize = 256 * 1024;
const TAIL: usize = 32 * 1024;

/// Reads a header.
pub(super) fn header(found: &TranscriptFile) -> Header {
    let mut header = heading::of_lines(found, read_header_line);
    if header.empty
        && let Ok(Some(parts)) = document(found)
    {
        header.complaints.clear();
        header.id.clear();
        for part in &parts {
            let text = String::from_utf8_lossy(part);
            Json::parse(&text).into_iter().for_each(|json| read_header_line(&json, &mut header));
        }
        header.title = header.title.take().or_else(|| header.first_prompt.clone());
        // Of a longer file the last message that is seen here is not the last one.
        let is_whole = found.stamp.size <= HEAD as u64;
        let last = last_time(&parts).filter(|_| is_whole);
        header.updated_at_ms = last.or(Some(found.stamp.mtime_ms()));
        if header.id.is_empty() {
            header.id = heading::stem(found);
        }
        if header.empty {
            heading::complain(&mut header, crate::report::kind::EMPTY);
        }
    }
    if let Some(root) = project_root(&found.path) {
        header.cwd = Some(root);
    }
    header
}

/// Takes what a record says.
fn read_header_line(json: &Json<'_>, header: &mut Header) {
    if json.get("type").is_null() {
        let set = json.get("$set");
        let about = if set.is_null() { json } else { set };
        let mut info = fold::SessionInfo::default();
        info.take(about);
        if header.id.is_empty() {
            header.id = info.id.unwrap_or_default();
        }
        header.created_at_ms = header.created_at_ms.or(info.started_ms);
        header.subagent |= info.subagent;
        heading::keep(&mut header.cwd, info.cwd.as_deref());
        heading::keep(&mut header.title, info.title.as_deref());
        about.get("messages").items().iter().for_each(|one| look_at_message(one, header));
        return;
    }
    look_at_message(json, header);
}

fn look_at_message(json: &Json<'_>, header: &mut Header) {
    heading::time(header, json.get("timestamp"));
    heading::keep(&mut header.model, json.get("model").str());
    match json.get("type").str() {
        Some("user") => {
            let text = json.get("content").text();
            heading::keep(&mut header.cwd, message::context_root(&text));
            heading::prompt(header, &message::prompt(json.get("content")));
        }
        Some("gemini" | "model" | "assistant") => header.empty = false,
        _ => {}
    }
}

/// The facts and whole messages in beginning and end of a file that is one document; of a small one in all of it.
fn document(found: &TranscriptFile) -> io::Result<Option<Vec<Vec<u8>>>> {
    let mut file = File::open(&found.path)?;
    let mut head = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(&file, HEAD as u64), &mut head)?;
    let Some(from) = document::field(&head, 0, "messages") else { return Ok(None) };
    let mut parts: Vec<Vec<u8>> =
        document::elements(&head, from).into_iter().map(|range| head[range].to_vec()).collect();
    let tail = chunk::last_lines(&mut file, found.stamp.size, 0, (TAIL, TAIL), |_| true)?;
    for (key, bytes) in
        ["sessionId", "startTime", "summary", "kind"].iter().flat_map(|key| [(key, &head), (key, &tail)])
    {
        let name = format!("\"{key}\":");
        let Some(at) = memchr::memmem::find(bytes, name.as_bytes()) else { continue };
        if let Some(end) = document::value_end(
            bytes,
            at + name.len() + usize::from(bytes.get(at + name.len()) == Some(&b' ')),
        ) {
            parts.insert(0, [b"{", &bytes[at..end], b"}"].concat());
        }
    }
    Ok(Some(parts))
}

fn last_time(parts: &[Vec<u8>]) -> Option<i64> {
    parts.iter().rev().find_map(|part| {
        let text = String::from_utf8_lossy(part);
        Json::parse(&text).ok()?.get("timestamp").time()
    })
}
