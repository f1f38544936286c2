//! Codex: hooks in `hooks.json`, servers in `config.toml`.
//! Its sessions: what the model saw, and beside each message the event that its own list takes the title from.

use baton_model::refusal::Refusal;
use baton_transcripts::{PermissionMode, readers};
use serde_json::{Value, json};

use crate::Tool;
use crate::install::{
    EntryContent, HookContextFormat, Install, InstallEntry, InstallPart, PASSED_ON, PackageMark, Scope,
    TrustMark,
};
use crate::launch::{Headless, Launch};
use crate::native::{Native, NativeSession, NativeTarget, SessionId, SessionPlaces, Step};
use crate::shapes::groups;
use crate::storage::{Evidence, Storage, StoredFile};
use crate::work::{Act, Hunk, OwnCall, Work};

/// Codex.
pub(crate) static TOOL: Tool = Tool {
    id: "codex",
    title: "Codex",
    aliases: &["codex_cli", "openai_codex"],
    surface: "codex",
    programs: &["codex"],
    mcp_client_names: &["codex"],
    reader: Some(&readers::Codex),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.codex/sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl",
                variable: Some("CODEX_HOME"),
            },
            StoredFile {
                path: "~/.codex/archived_sessions/rollout-TIME-ID.jsonl",
                variable: Some("CODEX_HOME"),
            },
        ],
        evidence: Evidence::Tests,
        note: "Also packed as `.jsonl.zst`. A rollout that goes on from another one (`history_base`, since 0.146) is read with it, as the vendor's source describes it.",
    }),
    install: Some(Install {
        home: |places| places.dir("CODEX_HOME", ".codex"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.dir("CODEX_HOME", ".codex");
            let events = [
                ("SessionStart", "session-start"),
                ("PreCompact", "before-compaction"),
                ("PostCompact", "after-compaction"),
                ("StopFailure", "failure"),
                ("SessionEnd", "session-end"),
            ];
            let file = places.scoped(scope, folder.join("hooks.json"), ".codex/hooks.json");
            let mut wants = groups(places, "codex", &file, 10, &events);
            if scope == Scope::User {
                let value = json!({ "command": places.baton, "args": ["mcp"], "env_vars": PASSED_ON });
                let what = EntryContent::Table { at: &["mcp_servers", "baton"], many: false, value };
                wants.push(InstallEntry { part: InstallPart::Mcp, file: folder.join("config.toml"), what });
            }
            Some(wants)
        },
        remark: "Codex runs new hooks only after you have trusted them once: open it and type /hooks",
        package: Some(|places| PackageMark::Enabled {
            file: places.dir("CODEX_HOME", ".codex").join("config.toml"),
            list: "plugins",
        }),
        trust: Some(|places| TrustMark::HookDigests {
            file: places.dir("CODEX_HOME", ".codex").join("config.toml"),
        }),
        answer: HookContextFormat::Nested,
        tried: "yes",
        note: "Trust the hooks once with `/hooks`.",
    }),
    launch: Some(Launch {
        // Commands may run in a daemon that an earlier Codex has started, with the environment of that one: variables go by a flag.
        start: &["{mode}", "{cwd:-C}", "{prompt}"],
        resume: &["resume", "{id}", "{mode}", "{cwd:-C}", "{prompt}"],
        modes: &[
            (PermissionMode::Plan, &["--sandbox", "read-only"]),
            (PermissionMode::Edits, &["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]),
            (PermissionMode::Full, &["--dangerously-bypass-approvals-and-sandbox"]),
        ],
        headless: Some(Headless {
            words: &["exec", "--skip-git-repo-check", "{mode}", "{folder:--add-dir}", "{more}", "{prompt}"],
            resume: &["exec", "--skip-git-repo-check", "{mode}", "{more}", "resume", "{id}", "{prompt}"],
            // Headless runs have no user to confirm a prompt.
            modes: &[(PermissionMode::Edits, &["--sandbox", "workspace-write"])],
            approval: None,
        }),
        vars: Some(("-c", "shell_environment_policy.set.{name}={value}")),
        get: "npm install -g @openai/codex",
        tried: "",
        note: "",
    }),
    native: Some(Native {
        tried: "yes",
        id: SessionId::AnyUuid,
        calls,
        records,
        target: native_target,
        resume: None,
        import: None,
    }),
};

/// The version whose form this is. Without a version the tool takes no rollout.
const VERSION: &str = "0.169.0";

fn records(session: &NativeSession) -> Vec<Value> {
    let at = session.at(0);
    let git = session.branch.as_ref().map(|branch| json!({ "branch": branch }));
    // No model provider: another than the configured one would be refused.
    let mut lines = vec![json!({ "timestamp": at, "type": "session_meta", "payload": {
        "id": session.id, "session_id": session.id, "timestamp": at, "cwd": session.cwd(), "originator": "codex_cli_rs",
        "cli_version": VERSION, "source": "cli", "git": git,
    }})];
    for (index, step) in session.steps.iter().enumerate() {
        let at = session.at(index + 1);
        let mut line = |kind: &str, payload: Value| {
            lines.push(json!({ "timestamp": at, "type": kind, "payload": payload }));
        };
        let (role, kind, event, text) = match step {
            Step::User(text) => ("user", "input_text", "user_message", text),
            Step::Assistant(text) => ("assistant", "output_text", "agent_message", text),
            Step::Call(call) => {
                call_items(session, call).into_iter().for_each(|item| line("response_item", item));
                continue;
            }
        };
        line("event_msg", json!({ "type": event, "message": text }));
        let content = json!([{ "type": kind, "text": text }]);
        line("response_item", json!({ "type": "message", "role": role, "content": content }));
    }
    lines
}

/// The tool that takes a patch as it is written, without JSON around it.
const PATCH: &str = "apply_patch";

/// Its own calls: commands and patches. It reads files by commands, which are not made up here.
fn calls(work: &Work) -> Option<Vec<OwnCall>> {
    let patch = |head: &str, path: &str, body: String, sign: char| {
        let input = format!("*** Begin Patch\n*** {head} File: {path}\n{body}*** End Patch\n");
        let output = format!("Success. Updated the following files:\n{sign} {path}\n");
        Some(vec![work.call(PATCH, input.into(), output)])
    };
    match &work.act {
        Act::Command(line) => {
            let code = work.exit_code.or((work.ok == Some(true)).then_some(0));
            let output = match code {
                Some(code) => format!("Process exited with code {code}\nOutput:\n{}", work.output),
                None => work.result(),
            };
            Some(vec![work.call("exec_command", json!({ "cmd": line }), output)])
        }
        Act::Read { .. } => None,
        // Where nothing stands that was there before, nothing says where the lines go.
        Act::Edit { hunks, .. } if hunks.iter().any(|hunk| hunk.old_text().is_empty()) => None,
        Act::Edit { path, hunks } => {
            let lines = |hunk: &Hunk| hunk.lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let body = hunks.iter().map(|hunk| format!("@@\n{}", lines(hunk))).collect();
            patch("Update", path, body, 'M')
        }
        Act::Create { path, content } => {
            let body = content.lines().map(|line| format!("+{line}\n")).collect();
            patch("Add", path, body, 'A')
        }
        Act::Delete { path } => patch("Delete", path, String::new(), 'D'),
    }
}

fn call_items(session: &NativeSession, call: &OwnCall) -> [Value; 2] {
    let id = session.call_id("call_");
    let output = |kind: &str| json!({ "type": kind, "call_id": id, "output": call.output });
    if call.name == PATCH {
        let item = json!({ "type": "custom_tool_call", "status": "completed", "call_id": id, "name": PATCH, "input": call.input });
        return [item, output("custom_tool_call_output")];
    }
    let arguments = call.input.to_string();
    let item = json!({ "type": "function_call", "name": call.name, "arguments": arguments, "call_id": id });
    [item, output("function_call_output")]
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
    let root = places.tools.dir_or_home("CODEX_HOME", ".codex");
    let at = session.at(0);
    let day = at[..10].replace('-', "/");
    let name = format!("rollout-{}-{}.jsonl", at[..19].replace(':', "-"), session.id);
    Ok(NativeTarget { main: root.join("sessions").join(day).join(name), extra_files: Vec::new() })
}
