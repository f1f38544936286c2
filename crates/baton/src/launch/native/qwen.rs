//! Qwen Code: a line for each message, each naming the one before.

use baton_model::refusal::Refusal;
use serde_json::{Value, json};

use super::{Native, NativeTarget, Places, Session};

/// How a session of Qwen Code is written.
pub const NATIVE: Native = Native { records, place, resume: None };

fn records(session: &Session) -> Vec<Value> {
    let line = |(index, (id, before, turn)): (usize, (String, Option<String>, &super::Turn))| {
        let (kind, role) = if turn.user { ("user", "user") } else { ("assistant", "model") };
        json!({
            "uuid": id, "parentUuid": before, "sessionId": session.id, "timestamp": session.at(index), "type": kind,
            "cwd": session.cwd(), "version": "0.15.10", "gitBranch": session.branch,
            "message": { "role": role, "parts": [{ "text": turn.text }] },
        })
    };
    session.chain().into_iter().enumerate().map(line).collect()
}

fn place(session: &Session, places: &Places<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("QWEN_HOME", ".qwen");
    let chats = root.join("projects").join(session.slug()).join("chats");
    Ok(NativeTarget { main: chats.join(format!("{}.jsonl", session.id)), beside: Vec::new() })
}
