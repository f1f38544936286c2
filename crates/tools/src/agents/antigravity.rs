//! Antigravity CLI: a plugin of our own with one hook, servers in `mcp_config.json`.

use baton_transcripts::readers;
use serde_json::json;

use crate::Tool;
use crate::install::{HookContextFormat, Install, InstallPart, Scope};
use crate::launch::Launch;
use crate::shapes::{server, whole_file};
use crate::storage::{Evidence, Storage, StoredFile};

/// Antigravity.
pub(crate) static TOOL: Tool = Tool {
    id: "antigravity",
    title: "Antigravity",
    aliases: &["antigravity_cli", "agy"],
    surface: "antigravity",
    programs: &["agy"],
    mcp_client_names: &["antigravity"],
    reader: Some(&readers::Antigravity),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.gemini/antigravity-cli/brain/ID/.system_generated/logs/transcript_full.jsonl",
                variable: None,
            },
            StoredFile { path: "~/.gemini/antigravity-cli/conversations/ID.db", variable: None },
        ],
        evidence: Evidence::OtherReaders,
        note: "Likewise below `antigravity`, `antigravity-ide` and `antigravity-acp`. The databases have no public schema: of them the words are read, and no results. Older `.pb` files are encrypted.",
    }),
    install: Some(Install {
        home: |places| places.home.join(".gemini/antigravity-cli"),
        editor_programs: &["antigravity"],
        wants: |places, scope| {
            let folder = places.home.join(".gemini/config");
            let command =
                json!({ "type": "command", "command": places.hook("prompt", "antigravity"), "timeout": 10 });
            let hooks = json!({ "baton": { "PreInvocation": [command] } });
            let plugin = json!({ "name": "baton" });
            let wants = vec![
                whole_file(
                    InstallPart::Hooks,
                    folder.join("plugins/baton/plugin.json"),
                    format!("{plugin:#}\n"),
                ),
                whole_file(
                    InstallPart::Hooks,
                    folder.join("plugins/baton/hooks.json"),
                    format!("{hooks:#}\n"),
                ),
                server(places, folder.join("mcp_config.json")),
            ];
            (scope == Scope::User).then_some(wants)
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::Steps,
        tried: "",
        note: "PreInvocation is answered once a session.",
    }),
    launch: Some(Launch {
        start: &["{prompt:-i}"],
        resume: &["--conversation", "{id}", "{prompt:-i}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://antigravity.google",
        tried: "",
        note: "",
    }),
    native: None,
};
