//! Copilot CLI: a file of hooks of our own, servers in `mcp-config.json`.
//! Its sessions: a folder for each session, with its events and a card.

use baton_model::refusal::Refusal;
use baton_transcripts::{PermissionMode, readers};
use serde_json::{Map, Value, json};

use crate::Tool;
use crate::install::{HookContextFormat, Install, InstallPart, Places, Scope};
use crate::launch::Launch;
use crate::native::{Chain, Native, NativeSession, NativeTarget, SessionId, SessionPlaces, Step};
use crate::shapes::{server_at, whole_file};
use crate::storage::{Evidence, Storage, StoredFile};

/// Copilot CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "copilot",
    title: "Copilot CLI",
    aliases: &["copilot_cli", "github_copilot", "github_copilot_cli"],
    surface: "copilot_cli",
    programs: &["copilot"],
    mcp_client_names: &["copilot"],
    reader: Some(&readers::Copilot),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.copilot/session-state/ID/events.jsonl",
            variable: Some("COPILOT_HOME"),
        }],
        evidence: Evidence::Program("1.0.102"),
        note: "",
    }),
    install: Some(Install {
        home: |places| places.dir("COPILOT_HOME", ".copilot"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.dir("COPILOT_HOME", ".copilot");
            let own = places.scoped(scope, folder.join("hooks/baton.json"), ".github/hooks/baton.json");
            let mut wants = vec![whole_file(InstallPart::Hooks, own, hooks(places))];
            if scope == Scope::User {
                let server =
                    json!({ "type": "local", "command": places.baton, "args": ["mcp"], "tools": ["*"] });
                wants.push(server_at(folder.join("mcp-config.json"), &["mcpServers"], server));
            }
            Some(wants)
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::TopLevel,
        tried: "",
        note: "",
    }),
    launch: Some(Launch {
        start: &["{mode}", "{folder:--add-dir}", "{prompt:-i}"],
        resume: &["--resume={id}", "{mode}", "{folder:--add-dir}", "{prompt:-i}"],
        modes: &[
            (PermissionMode::Edits, &["--allow-tool", "write"]),
            (PermissionMode::Full, &["--allow-all-tools"]),
        ],
        headless: None,
        vars: None,
        get: "npm install -g @github/copilot",
        tried: "",
        note: "",
    }),
    native: Some(Native {
        tried: "1.0.102",
        id: SessionId::AnyUuid,
        calls: |_| None,
        records,
        target: native_target,
        resume: None,
        import: None,
    }),
};

fn hooks(places: &Places) -> String {
    let events = [
        ("sessionStart", "session-start"),
        ("preCompact", "before-compaction"),
        ("sessionEnd", "session-end"),
    ];
    let entry = |(event, ours): (&str, &str)| {
        let line = places.hook(ours, "copilot");
        let command = json!({ "type": "command", "bash": line, "powershell": line, "timeoutSec": 10 });
        (event.to_owned(), json!([command]))
    };
    let hooks: Map<String, Value> = events.into_iter().map(entry).collect();
    format!("{:#}\n", json!({ "version": 1, "hooks": hooks }))
}

fn records(session: &NativeSession) -> Vec<Value> {
    let start = session.new_id();
    let context = json!({ "cwd": session.cwd(), "gitRoot": session.cwd(), "branch": session.branch });
    let data = json!({
        "sessionId": session.id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102",
        "startTime": session.at(0), "context": context,
    });
    let mut lines = vec![
        json!({ "type": "session.start", "data": data, "id": start, "timestamp": session.at(0), "parentId": null }),
    ];
    let mut chain = Chain::after(start);
    for (index, step) in session.steps.iter().enumerate() {
        let (kind, text) = match step {
            Step::User(text) => ("user.message", text),
            Step::Assistant(text) => ("assistant.message", text),
            Step::Call(_) => continue,
        };
        let link = session.link(&mut chain);
        let data = json!({ "content": text, "messageId": format!("m{index}"), "turnId": index.to_string() });
        lines.push(json!({
            "type": kind, "data": data, "id": link.id, "timestamp": link.at, "parentId": link.before,
        }));
    }
    lines
}

fn native_target(session: &NativeSession, places: &SessionPlaces<'_>) -> Result<NativeTarget, Refusal> {
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
    let extra_files = vec![(folder.join("workspace.yaml"), card)];
    Ok(NativeTarget { main: folder.join("events.jsonl"), extra_files })
}
