//! Crush: servers only; its one hook runs before tools.

use baton_transcripts::readers;
use serde_json::json;

use crate::Tool;
use crate::install::{HookContextFormat, Install};
use crate::launch::Launch;
use crate::shapes::server_at;
use crate::storage::{Evidence, Storage, StoredFile};

/// Crush.
pub(crate) static TOOL: Tool = Tool {
    id: "crush",
    title: "Crush",
    aliases: &["charm_crush"],
    surface: "crush",
    programs: &["crush"],
    mcp_client_names: &["crush"],
    reader: Some(&readers::Crush),
    storage: Some(Storage {
        files: &[StoredFile { path: "PROJECT/.crush/crush.db", variable: None }],
        evidence: Evidence::UserSessions("a database of a public repository"),
        note: "In the projects that Crush lists, and in the folders that are asked about.",
    }),
    install: Some(Install {
        home: |places| places.config("crush"),
        editor_programs: &[],
        wants: |places, scope| {
            let file = places.scoped(scope, places.config("crush").join("crush.json"), "crush.json");
            let server = json!({ "type": "stdio", "command": places.baton, "args": ["mcp"] });
            Some(vec![server_at(file, &["mcp"], server)])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "",
    }),
    launch: Some(Launch {
        start: &["run", "{prompt}"],
        resume: &["-s", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://github.com/charmbracelet/crush",
        tried: "",
        note: "One answer, then it ends: `crush -C` goes on on the terminal.",
    }),
    native: None,
};
