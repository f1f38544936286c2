//! Claude Code: hooks in `settings.json`, servers in `~/.claude.json` or the project's `.mcp.json`.
//! Its sessions: a line for each message, each naming the one before.

use std::path::Path;

use baton_model::refusal::Refusal;
use baton_model::time::{Millis, rfc3339};
use baton_transcripts::{PermissionMode, readers};
use serde_json::{Value, json};

use crate::Tool;
use crate::install::{HookContextFormat, Install, InstallEntry, PackageMark, Places};
use crate::launch::{Approval, Headless, Launch};
use crate::native::{Chain, Native, NativeSession, NativeTarget, SessionId, SessionPlaces, Step};
use crate::shapes::{groups, server_at};
use crate::storage::{Evidence, Storage, StoredFile};
use crate::work::{Act, OwnCall, Work};

/// Claude Code.
pub(crate) static TOOL: Tool = Tool {
    id: "claude",
    title: "Claude Code",
    aliases: &["claude_code", "claudecode", "cc"],
    surface: "claude_code",
    programs: &["claude"],
    mcp_client_names: &["claude-code"],
    reader: Some(&readers::Claude),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.claude/projects/SLUG/ID.jsonl",
            variable: Some("CLAUDE_CONFIG_DIR"),
        }],
        evidence: Evidence::Tests,
        note: "Sub-agents beside it, below `ID/subagents`.",
    }),
    install: Some(Install {
        home: |places| places.dir("CLAUDE_CONFIG_DIR", ".claude"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.dir("CLAUDE_CONFIG_DIR", ".claude");
            // With a folder of its own, the file with the servers lies in it.
            let servers = match places.vars.get("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
                Some(_) => folder.join(".claude.json"),
                None => places.home.join(".claude.json"),
            };
            let settings = places.scoped(scope, folder.join("settings.json"), ".claude/settings.json");
            let server = json!({ "type": "stdio", "command": places.baton, "args": ["mcp"], "env": {} });
            let mut wants = hooks(places, &settings);
            wants.push(server_at(places.scoped(scope, servers, ".mcp.json"), &["mcpServers"], server));
            Some(wants)
        },
        remark: "",
        package: Some(|places| PackageMark::Enabled {
            file: places.dir("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
            list: "enabledPlugins",
        }),
        trust: None,
        answer: HookContextFormat::Nested,
        tried: "yes",
        note: "",
    }),
    launch: Some(Launch {
        // `--add-dir` takes every word up to the next flag, so it stands last.
        start: &["{mode}", "{prompt}", "{folder:--add-dir}"],
        resume: &["--resume", "{id}", "{mode}", "{prompt}", "{folder:--add-dir}"],
        modes: &[
            (PermissionMode::Plan, &["--permission-mode", "plan"]),
            (PermissionMode::Edits, &["--permission-mode", "acceptEdits"]),
            (PermissionMode::Full, &["--dangerously-skip-permissions"]),
        ],
        headless: Some(Headless {
            words: &["{folder:--add-dir}", "{mode}", "{more}", "{prompt:-p}"],
            resume: &["{folder:--add-dir}", "--resume", "{id}", "{mode}", "{more}", "{prompt:-p}"],
            modes: &[],
            approval: Some(Approval {
                words: &[
                    "bypassPermissions",
                    "--dangerously-skip-permissions",
                    "--allowedTools",
                    "--allowed-tools",
                ],
                flag: "--allowedTools mcp__baton",
            }),
        }),
        vars: None,
        get: "npm install -g @anthropic-ai/claude-code",
        tried: "",
        note: "",
    }),
    native: Some(Native {
        tried: "2.1.197",
        id: SessionId::AnyUuid,
        calls,
        records,
        target: native_target,
        resume: None,
        import: None,
    }),
};

fn hooks(places: &Places, settings: &Path) -> Vec<InstallEntry> {
    let events = [
        ("SessionStart", "session-start"),
        ("PreCompact", "before-compaction"),
        ("PostCompact", "after-compaction"),
        ("StopFailure", "failure"),
        ("SessionEnd", "session-end"),
    ];
    groups(places, "claude", settings, 10, &events)
}

/// Beyond this the tool cuts the folder's name and adds a mark of its own making.
const MAX_FOLDER_NAME: usize = 200;

/// Its own calls. A read names its lines always: one without them would pass for the file as it is now.
fn calls(work: &Work) -> Option<Vec<OwnCall>> {
    let one = |name, input, output| Some(vec![work.call(name, input, output)]);
    match &work.act {
        Act::Command(line) => {
            let output = match work.failure() {
                Some(code) => format!("Exit code {code}\n{}", work.output),
                None => work.printed("(Bash completed with no output)"),
            };
            one("Bash", json!({ "command": line }), output)
        }
        Act::Read { path, first, lines } => {
            let input = json!({ "file_path": path, "offset": first, "limit": lines });
            one("Read", input, work.result())
        }
        Act::Edit { path, hunks } => work.replacements(hunks, |old, new| {
            let input =
                json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false });
            work.call("Edit", input, format!("The file {path} has been updated successfully."))
        }),
        Act::Create { path, content } => {
            let input = json!({ "file_path": path, "content": content });
            one("Write", input, format!("File created successfully at: {path}"))
        }
        Act::Delete { .. } => None,
    }
}

fn records(session: &NativeSession) -> Vec<Value> {
    let mut chain = Chain::default();
    let mut lines = Vec::new();
    for step in &session.steps {
        match step {
            Step::User(text) => {
                lines.push(line(session, &mut chain, None, json!({ "role": "user", "content": text })));
            }
            Step::Assistant(text) => {
                let content = json!([{ "type": "text", "text": text }]);
                lines.push(line(session, &mut chain, None, answer(session, content, "end_turn")));
            }
            Step::Call(call) => {
                let id = session.call_id("toolu_");
                let content =
                    json!([{ "type": "tool_use", "id": id, "name": call.name, "input": call.input }]);
                lines.push(line(session, &mut chain, call.at, answer(session, content, "tool_use")));
                let failed = call.ok == Some(false);
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": call.output, "is_error": failed });
                let message = json!({ "role": "user", "content": [result] });
                lines.push(line(session, &mut chain, call.at, message));
            }
        }
    }
    lines.push(json!({ "type": "custom-title", "customTitle": session.title, "sessionId": session.id }));
    lines
}

fn answer(session: &NativeSession, content: Value, reason: &str) -> Value {
    json!({
        "id": session.call_id("msg_"), "type": "message", "role": "assistant",
        // Without a model the tool waits for ever; this one says that no model of its own wrote it.
        "model": "<synthetic>", "content": content, "stop_reason": reason,
        "usage": { "input_tokens": 0, "output_tokens": 0 },
    })
}

/// A line. A call has its own time: the tool compares it with that of the file on disk.
fn line(session: &NativeSession, chain: &mut Chain, at: Option<Millis>, message: Value) -> Value {
    let link = session.link(chain);
    json!({
        "parentUuid": link.before, "isSidechain": false, "userType": "external", "entrypoint": "cli",
        "cwd": session.cwd(), "sessionId": session.id, "gitBranch": session.branch,
        "type": message["role"], "message": message, "uuid": link.id,
        "timestamp": at.map_or(link.at, rfc3339),
    })
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("CLAUDE_CONFIG_DIR", ".claude");
    let named = places.tools.vars.get("CLAUDE_CODE_PROJECT_DIR_NAME").filter(|name| !name.is_empty());
    let folder = named.cloned().unwrap_or_else(|| session.slug());
    if folder.len() > MAX_FOLDER_NAME {
        let what = "the folder's path is too long for Claude Code to be found again";
        return Err(Refusal::invalid("native_unwritable", what, "leave --native out"));
    }
    let main = root.join("projects").join(folder).join(format!("{}.jsonl", session.id));
    Ok(NativeTarget { main, extra_files: Vec::new() })
}
