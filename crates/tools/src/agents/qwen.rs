//! Qwen Code: hooks and servers in `settings.json`. Without a terminal it announces no session, so the first prompt is used.
//! Its sessions: a line for each message, each naming the one before.

use baton_model::refusal::Refusal;
use baton_transcripts::{PermissionMode, readers};
use serde_json::{Value, json};

use super::gemini::calls_named;
use crate::Tool;
use crate::install::{HookContextFormat, Install};
use crate::launch::Launch;
use crate::native::{Chain, Native, NativeSession, NativeTarget, SessionId, SessionPlaces, Step};
use crate::shapes::{groups, server};
use crate::storage::{Evidence, Storage, StoredFile};
use crate::work::{Act, OwnCall, Work};

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
        calls,
        records,
        target: native_target,
        resume: None,
        import: None,
    }),
};

/// Its own calls: those of Gemini CLI, but for the name of one, and for how a part of a file is named.
fn calls(work: &Work) -> Option<Vec<OwnCall>> {
    let mut calls = calls_named("edit", work)?;
    if let Act::Read { path, first, lines } = &work.act {
        for call in &mut calls {
            call.input = json!({ "file_path": path, "offset": first.saturating_sub(1), "limit": lines });
        }
    }
    Some(calls)
}

fn records(session: &NativeSession) -> Vec<Value> {
    let mut chain = Chain::default();
    let mut lines = Vec::new();
    let mut line = |kind: &str, role: &str, part: Value| {
        let link = session.link(&mut chain);
        lines.push(json!({
            "uuid": link.id, "parentUuid": link.before, "sessionId": session.id, "timestamp": link.at, "type": kind,
            "cwd": session.cwd(), "version": "0.15.10", "gitBranch": session.branch,
            "message": { "role": role, "parts": [part] },
        }));
        lines.len() - 1
    };
    let mut results = Vec::new();
    for step in &session.steps {
        match step {
            Step::User(text) => _ = line("user", "user", json!({ "text": text })),
            Step::Assistant(text) => _ = line("assistant", "model", json!({ "text": text })),
            Step::Call(call) => {
                let id = session.call_id("call_");
                let part = json!({ "functionCall": { "id": id, "name": call.name, "args": call.input } });
                line("assistant", "model", part);
                let failed = call.ok == Some(false) && call.exit_code.is_none();
                let (status, key) = if failed { ("error", "error") } else { ("success", "output") };
                let response = json!({ "id": id, "name": call.name, "response": { key: call.output } });
                let at = line("tool_result", "user", json!({ "functionResponse": response }));
                results.push((at, json!({ "callId": id, "status": status, "resultDisplay": call.output })));
            }
        }
    }
    for (at, result) in results {
        lines[at]["toolCallResult"] = result;
    }
    lines
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("QWEN_HOME", ".qwen");
    let chats = root.join("projects").join(session.slug()).join("chats");
    Ok(NativeTarget { main: chats.join(format!("{}.jsonl", session.id)), extra_files: Vec::new() })
}
