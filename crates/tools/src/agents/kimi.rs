//! Kimi Code: hooks in `config.toml`, servers in `mcp.json`. Only what a prompt's hook prints reaches the model.

use baton_transcripts::readers;
use serde_json::json;

use crate::Tool;
use crate::install::{EntryContent, HookContextFormat, Install, InstallEntry, InstallPart, Scope};
use crate::launch::Launch;
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};

/// Kimi Code.
pub(crate) static TOOL: Tool = Tool {
    id: "kimi",
    title: "Kimi Code",
    aliases: &["kimi_code"],
    surface: "kimi",
    programs: &["kimi"],
    mcp_client_names: &["kimi"],
    reader: Some(&readers::Kimi),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.kimi-code/sessions/PROJECT/ID/agents/main/wire.jsonl",
            variable: Some("KIMI_CODE_HOME"),
        }],
        evidence: Evidence::Program("2.1.0"),
        note: "",
    }),
    install: Some(Install {
        home: |places| places.dir("KIMI_CODE_HOME", ".kimi-code"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.dir("KIMI_CODE_HOME", ".kimi-code");
            let events = [
                ("UserPromptSubmit", "prompt"),
                ("PreCompact", "before-compaction"),
                ("SessionEnd", "session-end"),
            ];
            let hook = |(event, ours): (&str, &str)| {
                let value = json!({ "event": event, "command": places.hook(ours, "kimi"), "timeout": 10 });
                let what = EntryContent::Table { at: &["hooks"], many: true, value };
                InstallEntry { part: InstallPart::Hooks, file: folder.join("config.toml"), what }
            };
            let mut wants: Vec<InstallEntry> = events.into_iter().map(hook).collect();
            wants.push(server(places, folder.join("mcp.json")));
            (scope == Scope::User).then_some(wants)
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::Plain,
        tried: "",
        note: "UserPromptSubmit is answered once a session.",
    }),
    launch: Some(Launch {
        start: &["{prompt:-p}"],
        resume: &["--session", "{id}", "{prompt:-p}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://moonshotai.github.io/kimi-code",
        tried: "",
        note: "One answer, then it ends: `kimi --continue` goes on on the terminal.",
    }),
    native: None,
};
