//! Pi: servers only; an extension of ours would be program text in a place that changes from version to version.
//! Its sessions: a line for each message, each naming the one before.

use std::path::PathBuf;

use baton_model::refusal::Refusal;
use baton_transcripts::readers;
use serde_json::{Value, json};

use crate::Tool;
use crate::install::{HookContextFormat, Install, Places, Scope};
use crate::launch::Launch;
use crate::native::{Native, NativeSession, NativeTarget, SessionId, SessionPlaces};
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};

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
            StoredFile { path: "~/.openclaw/agents/AGENT/sessions/ID.jsonl", variable: None },
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
        get: "npm install -g @mariozechner/pi-coding-agent",
        tried: "",
        note: "",
    }),
    native: Some(Native { tried: "", id: SessionId::AnyUuid, records, target: native_target, resume: None }),
};

fn folder(places: &Places) -> PathBuf {
    places.dir("PI_CODING_AGENT_DIR", ".pi/agent")
}

fn records(session: &NativeSession) -> Vec<Value> {
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

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("PI_CODING_AGENT_DIR", ".pi/agent");
    let folder = format!("--{}--", session.cwd().trim_start_matches('/').replace(['/', '\\', ':'], "-"));
    let name = format!("{}_{}.jsonl", session.at(0).replace([':', '.'], "-"), session.id);
    Ok(NativeTarget { main: root.join("sessions").join(folder).join(name), extra_files: Vec::new() })
}
