//! Pi: servers only; an extension of ours would be program text in a place that changes from version to version.
//! Its sessions: a line for each message, each naming the one before.

use std::path::PathBuf;

use baton_model::refusal::Refusal;
use baton_transcripts::readers;
use serde_json::{Value, json};

use crate::Tool;
use crate::install::{HookContextFormat, Install, Places, Scope};
use crate::launch::Launch;
use crate::native::{Chain, Native, NativeSession, NativeTarget, SessionId, SessionPlaces, Step};
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};
use crate::work::{Act, OwnCall, Work};

/// Pi.
pub(crate) static TOOL: Tool = Tool {
    id: "pi",
    title: "Pi",
    aliases: &["pi_agent", "pi_coding_agent", "omp", "oh_my_pi", "openclaw"],
    surface: "pi",
    programs: &["pi"],
    mcp_client_names: &["pi-mcp"],
    reader: Some(&readers::Pi),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.pi/agent/sessions/DIRECTORY/TIME_ID.jsonl",
                variable: Some("PI_CODING_AGENT_DIR"),
            },
            StoredFile { path: "~/.omp/agent/sessions/DIRECTORY/TIME_ID.jsonl", variable: None },
            StoredFile {
                path: "~/.openclaw/agents/AGENT/agent/openclaw-agent.sqlite",
                variable: Some("OPENCLAW_STATE_DIR"),
            },
            StoredFile {
                path: "~/.openclaw/agents/AGENT/sessions/ID.jsonl",
                variable: Some("OPENCLAW_STATE_DIR"),
            },
        ],
        evidence: Evidence::Program("0.74.2"),
        note: "Tried is Pi. OpenClaw (a database since 2026.7.2) is read as its source describes it, omp as other programs do.",
    }),
    install: Some(Install {
        home: folder,
        editor_programs: &[],
        wants: |places, scope| {
            (scope == Scope::User).then(|| vec![server(places, folder(places).join("mcp.json"))])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "",
    }),
    launch: Some(Launch {
        start: &["{prompt}"],
        resume: &["--session", "{id}", "{prompt}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "npm install -g @earendil-works/pi-coding-agent",
        tried: "",
        note: "",
    }),
    native: Some(Native {
        tried: "1.6.0",
        id: SessionId::AnyUuid,
        calls,
        records,
        target: native_target,
        resume: None,
        import: None,
    }),
};

fn folder(places: &Places) -> PathBuf {
    places.dir("PI_CODING_AGENT_DIR", ".pi/agent")
}

fn records(session: &NativeSession) -> Vec<Value> {
    let mut lines = vec![
        json!({ "type": "session", "version": 3, "id": session.id, "timestamp": session.at(0), "cwd": session.cwd() }),
    ];
    let mut chain = Chain::default();
    let mut line = |mut message: Value| {
        let link = session.link(&mut chain);
        message["timestamp"] = json!(session.now);
        lines.push(json!({ "type": "message", "id": link.id, "parentId": link.before, "timestamp": link.at, "message": message }));
    };
    for step in &session.steps {
        match step {
            Step::User(text) => {
                line(json!({ "role": "user", "content": [{ "type": "text", "text": text }] }))
            }
            Step::Assistant(text) => line(answer(json!([{ "type": "text", "text": text }]), "stop")),
            Step::Call(call) => {
                let id = session.call_id("call_");
                let content =
                    json!([{ "type": "toolCall", "id": id, "name": call.name, "arguments": call.input }]);
                line(answer(content, "toolUse"));
                line(json!({
                    "role": "toolResult", "toolCallId": id, "toolName": call.name,
                    "content": [{ "type": "text", "text": call.output }], "isError": call.ok == Some(false),
                }));
            }
        }
    }
    lines
}

/// What the agent says. Without a count of tokens the tool takes no session up.
fn answer(content: Value, reason: &str) -> Value {
    let cost = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 });
    let usage =
        json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost });
    json!({
        "role": "assistant", "content": content, "api": "none", "provider": "none", "model": "none",
        "usage": usage, "stopReason": reason,
    })
}

/// Its own calls.
fn calls(work: &Work) -> Option<Vec<OwnCall>> {
    let one = |name, input, output| Some(vec![work.call(name, input, output)]);
    match &work.act {
        Act::Command(line) => {
            let output = match work.failure() {
                Some(code) => format!("{}\n\nCommand exited with code {code}", work.output),
                None => work.printed("(no output)"),
            };
            one("bash", json!({ "command": line }), output)
        }
        Act::Read { path, first, lines } => {
            one("read", json!({ "path": path, "offset": first, "limit": lines }), work.result())
        }
        Act::Edit { path, hunks } => {
            let pairs = work.replacements(hunks, |old, new| {
                work.call("edit", json!({ "oldText": old, "newText": new }), String::new())
            })?;
            let edits: Vec<Value> = pairs.into_iter().map(|call| call.input).collect();
            let output = format!("Successfully replaced {} block(s) in {path}.", edits.len());
            one("edit", json!({ "path": path, "edits": edits }), output)
        }
        Act::Create { path, content } => {
            let output = format!("Successfully wrote {} bytes to {path}", content.len());
            one("write", json!({ "path": path, "content": content }), output)
        }
        Act::Delete { .. } => None,
    }
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("PI_CODING_AGENT_DIR", ".pi/agent");
    let folder = format!("--{}--", session.cwd().trim_start_matches('/').replace(['/', '\\', ':'], "-"));
    let name = format!("{}_{}.jsonl", session.at(0).replace([':', '.'], "-"), session.id);
    Ok(NativeTarget { main: root.join("sessions").join(folder).join(name), extra_files: Vec::new() })
}
