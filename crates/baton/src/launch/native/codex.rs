//! Codex: what the model saw, and beside each message the event that its own list takes the title from.

use baton_model::refusal::Refusal;
use serde_json::{Value, json};

use super::{Native, NativeTarget, Places, Session};

/// How a session of Codex is written.
pub const NATIVE: Native = Native { records, place, resume: None };

/// The version whose form this is. Without a version the tool takes no rollout.
const VERSION: &str = "0.169.0";

fn records(session: &Session) -> Vec<Value> {
    let at = session.at(0);
    let git = session.branch.as_ref().map(|branch| json!({ "branch": branch }));
    // No model provider: another than the configured one would be refused.
    let mut lines = vec![json!({ "timestamp": at, "type": "session_meta", "payload": {
        "id": session.id, "session_id": session.id, "timestamp": at, "cwd": session.cwd(), "originator": "codex_cli_rs",
        "cli_version": VERSION, "source": "cli", "git": git,
    }})];
    for (index, turn) in session.turns.iter().enumerate() {
        let (role, kind, event) = match turn.user {
            true => ("user", "input_text", "user_message"),
            false => ("assistant", "output_text", "agent_message"),
        };
        let at = session.at(index + 1);
        lines.push(json!({ "timestamp": at, "type": "event_msg", "payload": { "type": event, "message": turn.text } }));
        let content = json!([{ "type": kind, "text": turn.text }]);
        lines.push(json!({ "timestamp": at, "type": "response_item", "payload": { "type": "message", "role": role, "content": content } }));
    }
    lines
}

fn place(session: &Session, places: &Places<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("CODEX_HOME", ".codex");
    let at = session.at(0);
    let day = at[..10].replace('-', "/");
    let name = format!("rollout-{}-{}.jsonl", at[..19].replace(':', "-"), session.id);
    Ok(NativeTarget { main: root.join("sessions").join(day).join(name), beside: Vec::new() })
}
