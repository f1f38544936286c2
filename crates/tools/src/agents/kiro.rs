//! Kiro: servers only. Its hooks stand in the files of single agents, which are the user's own.

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::install::{HookContextFormat, Install};
use crate::launch::Launch;
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};

/// Kiro.
pub(crate) static TOOL: Tool = Tool {
    id: "kiro",
    title: "Kiro",
    aliases: &["kiro_cli", "amazon_q", "q"],
    surface: "kiro",
    programs: &["kiro-cli"],
    mcp_client_names: &["kiro", "q-cli", "q-dev-cli"],
    reader: Some(&readers::Kiro),
    storage: Some(Storage {
        files: &[
            StoredFile { path: "~/.local/share/kiro-cli/data.sqlite3", variable: None },
            StoredFile { path: "~/.kiro/sessions/GROUP/ID.jsonl", variable: None },
            StoredFile {
                path: "~/.config/Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions/WORKSPACE/ID.json",
                variable: None,
            },
        ],
        evidence: Evidence::OtherReaders,
        note: "Also `amazon-q`, its earlier name.",
    }),
    install: Some(Install {
        home: |places| places.home.join(".kiro"),
        editor_programs: &[],
        wants: |places, scope| {
            let user = places.home.join(".kiro/settings/mcp.json");
            Some(vec![server(places, places.scoped(scope, user, ".kiro/settings/mcp.json"))])
        },
        remark: "hooks of Kiro belong to one agent: add `baton hook session-start --agent kiro` to its `agentSpawn`",
        package: None,
        trust: None,
        answer: HookContextFormat::Plain,
        tried: "",
        note: "Hooks belong to single agents: add `baton hook session-start --agent kiro` to `agentSpawn`.",
    }),
    launch: Some(Launch {
        start: &["chat", "{mode}", "{prompt}"],
        resume: &["chat", "--resume-id", "{id}", "{mode}", "{prompt}"],
        modes: &[(PermissionMode::Full, &["--trust-all-tools"])],
        headless: None,
        vars: None,
        get: "https://kiro.dev/cli",
        tried: "",
        note: "",
    }),
    native: None,
};
