//! Claude Code: a line for each message, each naming the one before.

use baton_model::refusal::Refusal;
use serde_json::{Value, json};

use super::{Native, NativeTarget, Places, Session};

/// How a session of Claude Code is written.
pub const NATIVE: Native = Native { records, place, resume: None };

/// Beyond this the tool cuts the folder's name and adds a mark of its own making.
const LONGEST: usize = 200;

fn records(session: &Session) -> Vec<Value> {
    let mut lines = Vec::new();
    for (index, (id, before, turn)) in session.chain().into_iter().enumerate() {
        let message = match turn.user {
            true => json!({ "role": "user", "content": turn.text }),
            false => json!({
                "id": format!("msg_{}", id.replace('-', "")), "type": "message", "role": "assistant",
                // Without a model the tool waits for ever; this one says that no model of its own wrote it.
                "model": "<synthetic>", "content": [{ "type": "text", "text": turn.text }], "stop_reason": "end_turn",
                "usage": { "input_tokens": 0, "output_tokens": 0 },
            }),
        };
        lines.push(json!({
            "parentUuid": before, "isSidechain": false, "userType": "external", "entrypoint": "cli",
            "cwd": session.cwd(), "sessionId": session.id, "gitBranch": session.branch,
            "type": if turn.user { "user" } else { "assistant" }, "message": message, "uuid": id,
            "timestamp": session.at(index),
        }));
    }
    lines.push(json!({ "type": "custom-title", "customTitle": session.title, "sessionId": session.id }));
    lines
}

fn place(session: &Session, places: &Places<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("CLAUDE_CONFIG_DIR", ".claude");
    let named = places.tools.vars.get("CLAUDE_CODE_PROJECT_DIR_NAME").filter(|name| !name.is_empty());
    let folder = named.cloned().unwrap_or_else(|| session.slug());
    if folder.len() > LONGEST {
        let what = "the folder's path is too long for Claude Code to be found again";
        return Err(Refusal::invalid("native_unwritable", what, "leave --native out"));
    }
    let main = root.join("projects").join(folder).join(format!("{}.jsonl", session.id));
    Ok(NativeTarget { main, beside: Vec::new() })
}
