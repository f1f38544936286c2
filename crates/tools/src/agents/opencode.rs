//! OpenCode: a plugin of our own, servers in `opencode.json` or `opencode.jsonc`.
//! Its sessions lie in a database: it imports one from a document, which is ours.

mod session;

use std::path::{Path, PathBuf};

use baton_transcripts::{PermissionMode, readers};
use serde_json::{Value, json};

use crate::Tool;
use crate::install::{HookContextFormat, Install, Places, Scope};
use crate::launch::{Headless, Launch};
use crate::native::{Native, NativeImport, SessionId};
use crate::shapes::{plugin, server_at};
use crate::storage::{Evidence, Storage, StoredFile};

/// OpenCode.
pub(crate) static TOOL: Tool = Tool {
    id: "opencode",
    title: "OpenCode",
    aliases: &["open_code", "oc"],
    surface: "opencode",
    programs: &["opencode"],
    mcp_client_names: &["opencode"],
    reader: Some(&readers::OPENCODE),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.local/share/opencode/opencode.db", variable: Some("OPENCODE_DB") }],
        evidence: Evidence::Tests,
        note: "Before it, JSON files below `storage`. The tables of 2.x are read as the vendor's source describes them.",
    }),
    install: Some(Install {
        home: |places| places.config("opencode"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.config("opencode");
            let file = match scope {
                Scope::User => either(&folder, "opencode"),
                Scope::Project => either(&places.project, "opencode"),
            };
            let own = places.scoped(scope, folder.join("plugins/baton.js"), ".opencode/plugins/baton.js");
            Some(vec![plugin(places, "opencode", own), server_at(file, &["mcp"], server(places))])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::Plain,
        tried: "announcement",
        note: "`opencode.jsonc` where there is one. The plugin runs at the first system prompt, at a compaction and at an error of the session.",
    }),
    launch: Some(Launch {
        start: &["{mode}", "{prompt:--prompt}"],
        resume: &["--session", "{id}", "{mode}", "{prompt:--prompt}"],
        modes: &[(PermissionMode::Plan, &["--agent", "plan"]), (PermissionMode::Full, &["--auto"])],
        headless: Some(Headless {
            words: &["run", "{mode}", "{more}", "{prompt}"],
            resume: &["run", "--session", "{id}", "{mode}", "{more}", "{prompt}"],
            // Without a terminal it edits files by itself.
            modes: &[(PermissionMode::Edits, &[])],
            approval: None,
        }),
        vars: None,
        get: "npm install -g opencode-ai",
        tried: "flags read from its program",
        note: "Version 2 was not tried: its sessions are read as its source describes them.",
    }),
    native: Some(Native {
        tried: "1.18.33",
        id: SessionId::Prefixed("ses_"),
        calls: session::calls,
        records: session::records,
        target: session::target,
        resume: None,
        import: Some(NativeImport {
            words: &["import", "{id}"],
            undo: &["session", "delete", "{id}"],
            settings: &["debug", "config"],
            last_model: session::last_model,
            model: session::model,
        }),
    }),
};

/// The entry of a server.
pub(super) fn server(places: &Places) -> Value {
    json!({ "type": "local", "command": [places.baton, "mcp"], "enabled": true })
}

/// The file with comments, where there is one.
pub(super) fn either(folder: &Path, name: &str) -> PathBuf {
    let commented = folder.join(format!("{name}.jsonc"));
    if commented.is_file() { commented } else { folder.join(format!("{name}.json")) }
}
