//! Qwen Code: hooks and servers in `settings.json`. Without a terminal it announces no session, so the first prompt is used.
//! Its sessions: a line for each message, each naming the one before.

use baton_model::refusal::Refusal;
use baton_transcripts::{PermissionMode, readers};
use serde_json::{Value, json};

use crate::Tool;
use crate::install::{HookContextFormat, Install};
use crate::launch::Launch;
use crate::native::{Native, NativeSession, NativeTarget, SessionId, SessionPlaces, Turn};
use crate::shapes::{groups, server};
use crate::storage::{Evidence, Storage, StoredFile};

/// Qwen Code.
pub(crate) static TOOL: Tool = Tool {
    id: "qwen",
    title: "Qwen Code",
    aliases: &["qwen_code", "qwencode"],
    surface: "qwen",
    programs: &["qwen"],
    mcp_client_names: &["qwen"],
    reader: Some(&readers::Qwen),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.qwen/projects/SLUG/chats/ID.jsonl", variable: Some("QWEN_HOME") }],
        evidence: Evidence::Program("0.15.10"),
        note: "",
    }),
    install: Some(Install {
        home: |places| places.dir("QWEN_HOME", ".qwen"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.dir("QWEN_HOME", ".qwen");
            let file = places.scoped(scope, folder.join("settings.json"), ".qwen/settings.json");
            let events = [
                ("UserPromptSubmit", "prompt"),
                ("PreCompact", "before-compaction"),
                ("SessionEnd", "session-end"),
            ];
            let mut wants = groups(places, "qwen", &file, 10_000, &events);
            wants.push(server(places, file));
            Some(wants)
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::Nested,
        tried: "",
        note: "UserPromptSubmit is answered once a session.",
    }),
    launch: Some(Launch {
        start: &["{mode}", "{folder:--include-directories}", "{prompt:-i}"],
        resume: &["--resume", "{id}", "{mode}", "{folder:--include-directories}", "{prompt:-i}"],
        modes: &[
            (PermissionMode::Plan, &["--approval-mode", "plan"]),
            (PermissionMode::Edits, &["--approval-mode", "auto-edit"]),
            (PermissionMode::Full, &["--approval-mode", "yolo"]),
        ],
        headless: None,
        vars: None,
        get: "npm install -g @qwen-code/qwen-code",
        tried: "",
        note: "",
    }),
    native: Some(Native {
        tried: "0.15.10",
        id: SessionId::OlderUuid,
        records,
        target: native_target,
        resume: None,
    }),
};

fn records(session: &NativeSession) -> Vec<Value> {
    let line = |(index, (id, before, turn)): (usize, (String, Option<String>, &Turn))| {
        let (kind, role) = if turn.user { ("user", "user") } else { ("assistant", "model") };
        json!({
            "uuid": id, "parentUuid": before, "sessionId": session.id, "timestamp": session.at(index), "type": kind,
            "cwd": session.cwd(), "version": "0.15.10", "gitBranch": session.branch,
            "message": { "role": role, "parts": [{ "text": turn.text }] },
        })
    };
    session.chain().into_iter().enumerate().map(line).collect()
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("QWEN_HOME", ".qwen");
    let chats = root.join("projects").join(session.slug()).join("chats");
    Ok(NativeTarget { main: chats.join(format!("{}.jsonl", session.id)), extra_files: Vec::new() })
}
