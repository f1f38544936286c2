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
use crate::native::{Native, NativeResume, NativeSession, NativeTarget, SessionId, SessionPlaces, Step};
use crate::shapes::{groups, server};
use crate::storage::{Evidence, Storage, StoredFile};
use crate::work::{Act, OwnCall, Work};

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
        calls,
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
        import: None,
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
    for (index, step) in session.steps.iter().enumerate() {
        let line = |kind: &str, content: Value| json!({ "id": session.new_id(), "timestamp": session.at(index), "type": kind, "content": content });
        match step {
            Step::User(text) => lines.push(line("user", json!([{ "text": text }]))),
            Step::Assistant(text) => lines.push(line("gemini", json!(text))),
            Step::Call(call) => {
                // The words before a call stand in its record: two answers of the model never follow each other.
                let words = lines.pop_if(|last| last["type"] == "gemini" && last["toolCalls"].is_null());
                let mut answer = words.unwrap_or_else(|| line("gemini", json!("")));
                answer["toolCalls"] = json!([tool_call(session, call, &session.at(index))]);
                lines.push(answer);
            }
        }
    }
    lines
}

fn tool_call(session: &NativeSession, call: &OwnCall, at: &str) -> Value {
    let id = session.call_id(&format!("{}_", call.name));
    let (status, key) = match call.ok {
        // A command that fails is a success to the tool.
        Some(false) if call.exit_code.is_none() => ("error", "error"),
        _ => ("success", "output"),
    };
    let response = json!({ "id": id, "name": call.name, "response": { key: call.output } });
    json!({
        "id": id, "name": call.name, "args": call.input, "status": status, "timestamp": at,
        "result": [{ "functionResponse": response }],
    })
}

/// Its own calls.
fn calls(work: &Work) -> Option<Vec<OwnCall>> {
    calls_named("replace", work)
}

/// The calls of Gemini CLI and of its offspring, in which another tool replaces text.
pub(super) fn calls_named(replace: &'static str, work: &Work) -> Option<Vec<OwnCall>> {
    let one = |name, input, output| Some(vec![work.call(name, input, output)]);
    match &work.act {
        Act::Command(line) => {
            let mut output = format!("Output: {}", work.printed("(empty)"));
            if let Some(code) = work.failure() {
                output += &format!("\nExit Code: {code}");
            }
            one("run_shell_command", json!({ "command": line }), output)
        }
        Act::Read { path, first, lines } => {
            let input = json!({ "file_path": path, "start_line": first, "end_line": first + lines.saturating_sub(1) });
            one("read_file", input, work.result())
        }
        Act::Edit { path, hunks } => work.replacements(hunks, |old, new| {
            let input = json!({ "file_path": path, "old_string": old, "new_string": new });
            work.call(replace, input, format!("Successfully modified file: {path} (1 replacements)."))
        }),
        Act::Create { path, content } => {
            let input = json!({ "file_path": path, "content": content });
            one("write_file", input, format!("Successfully created and wrote to new file: {path}."))
        }
        Act::Delete { .. } => None,
    }
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    Ok(NativeTarget { main: places.own.join(format!("{}.jsonl", session.id)), extra_files: Vec::new() })
}
