//! Pi: a line for each message, each naming the one before.

use baton_model::refusal::Refusal;
use serde_json::{Value, json};

use super::{Native, NativeTarget, Places, Session};

/// How a session of Pi is written.
pub const NATIVE: Native = Native { records, place, resume: None };

fn records(session: &Session) -> Vec<Value> {
    let mut lines = vec![
        json!({ "type": "session", "version": 3, "id": session.id, "timestamp": session.at(0), "cwd": session.cwd() }),
    ];
    for (index, (id, before, turn)) in session.chain().into_iter().enumerate() {
        let content = json!([{ "type": "text", "text": turn.text }]);
        let mut message = json!({ "role": if turn.user { "user" } else { "assistant" }, "content": content, "timestamp": session.now });
        if !turn.user {
            message["stopReason"] = json!("stop");
        }
        lines.push(json!({ "type": "message", "id": id, "parentId": before, "timestamp": session.at(index), "message": message }));
    }
    lines
}

fn place(session: &Session, places: &Places<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("PI_CODING_AGENT_DIR", ".pi/agent");
    let folder = format!("--{}--", session.cwd().trim_start_matches('/').replace(['/', '\\', ':'], "-"));
    let name = format!("{}_{}.jsonl", session.at(0).replace([':', '.'], "-"), session.id);
    Ok(NativeTarget { main: root.join("sessions").join(folder).join(name), beside: Vec::new() })
}
