//! Gemini CLI: hooks and servers in `settings.json`; its timeouts are milliseconds.
//! Its sessions: it loads a session from a file and copies it into its own store, so the file is ours.

use std::path::PathBuf;

use baton_model::refusal::Refusal;
use baton_transcripts::{PermissionMode, readers};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Tool;
use crate::install::{HookContextFormat, Install, NAME, PackageMark, Places, TrustMark};
use crate::launch::{Approval, Headless, Launch};
use crate::native::{Native, NativeResume, NativeSession, NativeTarget, SessionId, SessionPlaces};
use crate::shapes::{groups, server};
use crate::storage::{Evidence, Storage, StoredFile};

/// Gemini CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "gemini",
    title: "Gemini CLI",
    aliases: &["gemini_cli", "google_gemini"],
    surface: "gemini_cli",
    programs: &["gemini"],
    mcp_client_names: &["gemini-cli"],
    reader: Some(&readers::Gemini),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.gemini/tmp/PROJECT/chats/session-ID.jsonl",
            variable: Some("GEMINI_CLI_HOME"),
        }],
        evidence: Evidence::Tests,
        note: "Older versions: `.json`.",
    }),
    install: Some(Install {
        home: folder,
        editor_programs: &[],
        wants: |places, scope| {
            let file = places.scoped(scope, folder(places).join("settings.json"), ".gemini/settings.json");
            // `PreCompress` is called before every round, whether or not anything is compressed: it says nothing.
            let events = [("SessionStart", "session-start"), ("SessionEnd", "session-end")];
            let mut wants = groups(places, "gemini", &file, 10_000, &events);
            wants.push(server(places, file));
            Some(wants)
        },
        remark: "",
        package: Some(|places| PackageMark::Folder(folder(places).join("extensions").join(NAME))),
        trust: Some(|places| TrustMark::Folders {
            file: match places.vars.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH").filter(|path| !path.is_empty()) {
                Some(named) => PathBuf::from(named),
                None => folder(places).join("trustedFolders.json"),
            },
            settings: folder(places).join("settings.json"),
        }),
        answer: HookContextFormat::Nested,
        tried: "yes",
        note: "Its PreCompress is called at every round, compression or not.",
    }),
    launch: Some(Launch {
        start: &["{mode}", "{folder:--include-directories}", "{prompt:-i}"],
        resume: &["--resume", "{id}", "{mode}", "{folder:--include-directories}", "{prompt:-i}"],
        modes: &[
            (PermissionMode::Plan, &["--approval-mode", "plan"]),
            (PermissionMode::Edits, &["--approval-mode", "auto_edit"]),
            (PermissionMode::Full, &["--approval-mode", "yolo"]),
        ],
        headless: Some(Headless {
            words: &["{mode}", "{folder:--include-directories}", "{more}", "{prompt:-p}"],
            resume: &[
                "--resume",
                "{id}",
                "{mode}",
                "{folder:--include-directories}",
                "{more}",
                "{prompt:-p}",
            ],
            modes: &[],
            approval: Some(Approval {
                words: &["yolo", "-y", "--yolo", "--allowed-tools", "--policy"],
                flag: "--allowed-tools mcp_baton_*",
            }),
        }),
        vars: None,
        get: "npm install -g @google/gemini-cli",
        tried: "",
        note: "",
    }),
    native: Some(Native {
        tried: "yes",
        id: SessionId::AnyUuid,
        records,
        target: native_target,
        resume: Some(NativeResume {
            words: &["--session-file", "{id}", "{mode}", "{folder:--include-directories}", "{prompt:-i}"],
            headless: &[
                "--session-file",
                "{id}",
                "{mode}",
                "{folder:--include-directories}",
                "{more}",
                "{prompt:-p}",
            ],
        }),
    }),
};

fn folder(places: &Places) -> PathBuf {
    places.dir("GEMINI_CLI_HOME", "").join(".gemini")
}

fn records(session: &NativeSession) -> Vec<Value> {
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

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    Ok(NativeTarget { main: places.own.join(format!("{}.jsonl", session.id)), extra_files: Vec::new() })
}
