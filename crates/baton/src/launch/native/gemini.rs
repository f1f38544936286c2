//! Gemini CLI: it loads a session from a file and copies it into its own store, so the file is ours.

use baton_model::refusal::Refusal;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Native, NativeTarget, Places, Session};

/// How a session of Gemini CLI is written.
pub const NATIVE: Native = Native {
    records,
    place,
    resume: Some(&["--session-file", "{id}", "{mode}", "{folder:--include-directories}", "{prompt:-i}"]),
};

fn records(session: &Session) -> Vec<Value> {
    let hash: String = Sha256::digest(session.cwd()).iter().map(|byte| format!("{byte:02x}")).collect();
    let at = session.at(0);
    let mut lines = vec![
        json!({ "sessionId": session.id, "projectHash": hash, "startTime": at, "lastUpdated": at, "kind": "main" }),
    ];
    for (index, (id, _, turn)) in session.chain().into_iter().enumerate() {
        let content = if turn.user { json!([{ "text": turn.text }]) } else { json!(turn.text) };
        lines.push(json!({
            "id": id, "timestamp": session.at(index), "type": if turn.user { "user" } else { "gemini" }, "content": content,
        }));
    }
    lines
}

fn place(session: &Session, places: &Places<'_>) -> Result<NativeTarget, Refusal> {
    Ok(NativeTarget { main: places.own.join(format!("{}.jsonl", session.id)), beside: Vec::new() })
}
