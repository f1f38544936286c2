//! Goose: servers in a YAML file, which is shown to be added by hand: no editor of ours would leave it as it is.

use baton_transcripts::readers;
use serde_json::Value;

use crate::Tool;
use crate::install::{EntryContent, HookContextFormat, Install, InstallEntry, InstallPart, Scope};
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Goose.
pub(crate) static TOOL: Tool = Tool {
    id: "goose",
    title: "Goose",
    aliases: &["block_goose", "goose_cli"],
    surface: "goose",
    programs: &["goose"],
    mcp_client_names: &["goose"],
    reader: Some(&readers::Goose),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.local/share/goose/sessions/sessions.db",
                variable: Some("GOOSE_PATH_ROOT"),
            },
            StoredFile { path: "~/.local/share/goose/sessions/ID.jsonl", variable: Some("GOOSE_PATH_ROOT") },
        ],
        evidence: Evidence::OtherReaders,
        note: "",
    }),
    install: Some(Install {
        home: |places| places.config("goose"),
        editor_programs: &[],
        wants: |places, scope| {
            let program = Value::from(places.baton.as_str());
            let text = format!(
                "extensions:\n  baton:\n    enabled: true\n    type: stdio\n    name: baton\n    cmd: {program}\n    args: [mcp]\n"
            );
            let file = places.config("goose").join("config.yaml");
            (scope == Scope::User).then(|| {
                vec![InstallEntry { part: InstallPart::Mcp, file, what: EntryContent::ByHand(text) }]
            })
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "Printed, to be added by hand.",
    }),
    launch: Some(Launch {
        start: &["run", "--interactive", "{prompt:--text}"],
        resume: &["session", "--resume", "--session-id", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://block.github.io/goose",
        tried: "",
        note: "",
    }),
    native: None,
};
