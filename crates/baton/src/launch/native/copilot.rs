//! Copilot CLI: a folder for each session, with its events and a card.

use baton_model::refusal::Refusal;
use serde_json::{Value, json};

use super::{Native, NativeTarget, Places, Session};

/// How a session of Copilot CLI is written.
pub const NATIVE: Native = Native { records, place, resume: None };

fn records(session: &Session) -> Vec<Value> {
    let start = super::new_id(session.now);
    let context = json!({ "cwd": session.cwd(), "gitRoot": session.cwd(), "branch": session.branch });
    let data = json!({
        "sessionId": session.id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102",
        "startTime": session.at(0), "context": context,
    });
    let mut lines = vec![
        json!({ "type": "session.start", "data": data, "id": start, "timestamp": session.at(0), "parentId": null }),
    ];
    for (index, (id, before, turn)) in session.chain().into_iter().enumerate() {
        let kind = if turn.user { "user.message" } else { "assistant.message" };
        let data =
            json!({ "content": turn.text, "messageId": format!("m{index}"), "turnId": index.to_string() });
        lines.push(json!({
            "type": kind, "data": data, "id": id, "timestamp": session.at(index),
            "parentId": before.unwrap_or_else(|| start.clone()),
        }));
    }
    lines
}

fn place(session: &Session, places: &Places<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("COPILOT_HOME", ".copilot");
    let folder = root.join("session-state").join(&session.id);
    let branch =
        session.branch.as_ref().map(|branch| format!("branch: {}\n", json!(branch))).unwrap_or_default();
    let card = format!(
        "id: {}\ncwd: {}\n{branch}name: {}\nuser_named: false\ncreated_at: {at}\nupdated_at: {at}\n",
        session.id,
        json!(session.cwd()),
        json!(session.title),
        at = session.at(0),
    );
    let beside = vec![(folder.join("workspace.yaml"), card)];
    Ok(NativeTarget { main: folder.join("events.jsonl"), beside })
}
