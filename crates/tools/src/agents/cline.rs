//! Cline, CLI and extension: servers only; its hooks cannot add to the model's context.

use std::path::PathBuf;

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::install::{HookContextFormat, Install, Places, Scope};
use crate::launch::Launch;
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};

/// Cline.
pub(crate) static TOOL: Tool = Tool {
    id: "cline",
    title: "Cline",
    aliases: &["cline_cli", "claude_dev"],
    surface: "cline",
    programs: &["cline"],
    mcp_client_names: &["cline"],
    reader: Some(&readers::CLINE),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.cline/data/sessions/ID/ID.messages.json",
                variable: Some("CLINE_SESSION_DATA_DIR"),
            },
            StoredFile {
                path: "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/ID/ui_messages.json",
                variable: None,
            },
        ],
        evidence: Evidence::Program("3.0.65"),
        note: "Tried is the command line; the extension is read as its source describes it, from every editor made from Visual Studio Code.",
    }),
    install: Some(Install {
        home: |places| {
            let folder = places.dir("CLINE_DIR", ".cline");
            if folder.is_dir() { folder } else { extension(places) }
        },
        editor_programs: &[],
        wants: |places, scope| {
            let own = places.dir("CLINE_DIR", ".cline").join("data/settings/cline_mcp_settings.json");
            let named = places.vars.get("CLINE_MCP_SETTINGS_PATH").filter(|path| !path.is_empty());
            let mut wants = vec![server(places, named.map_or(own, PathBuf::from))];
            if extension(places).is_dir() {
                wants.push(server(places, extension(places).join("settings/cline_mcp_settings.json")));
            }
            (scope == Scope::User).then_some(wants)
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "The settings of the extension too, where it is there. Its hooks do not reach the model.",
    }),
    launch: Some(Launch {
        start: &["{mode}", "-i", "{prompt}"],
        resume: &["--id", "{id}", "{mode}", "{prompt}"],
        modes: &[(PermissionMode::Plan, &["-p"])],
        headless: None,
        vars: None,
        get: "npm install -g cline",
        tried: "",
        note: "",
    }),
    native: None,
};

fn extension(places: &Places) -> PathBuf {
    places.extension("saoudrizwan.claude-dev")
}
