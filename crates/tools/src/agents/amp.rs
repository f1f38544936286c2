//! Amp: servers only, in `settings.json`; it has no hooks that are documented.

use baton_transcripts::{PermissionMode, readers};
use serde_json::json;

use crate::Tool;
use crate::install::{EntryContent, HookContextFormat, Install, InstallEntry, InstallPart, Scope};
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Amp.
pub(crate) static TOOL: Tool = Tool {
    id: "amp",
    title: "Amp",
    aliases: &["ampcode", "amp_cli", "sourcegraph_amp"],
    surface: "amp",
    programs: &["amp"],
    mcp_client_names: &["amp-mcp-client", "ampcode"],
    reader: Some(&readers::Amp),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.local/share/amp/threads/T-ID.json", variable: None }],
        evidence: Evidence::OtherReaders,
        note: "Its present versions keep threads on their server: `amp threads export ID > FILE`, then name the file.",
    }),
    install: Some(Install {
        home: |places| places.config("amp"),
        editor_programs: &[],
        wants: |places, scope| {
            let value = json!({ "command": places.baton, "args": ["mcp"] });
            let what = EntryContent::Member { at: &["amp.mcpServers"], value };
            let file = places.config("amp").join("settings.json");
            (scope == Scope::User).then(|| vec![InstallEntry { part: InstallPart::Mcp, file, what }])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "",
    }),
    launch: Some(Launch {
        start: &["{mode}", "{prompt:-x}"],
        resume: &["threads", "continue", "{id}", "{mode}"],
        modes: &[(PermissionMode::Full, &["--dangerously-allow-all"])],
        headless: None,
        vars: None,
        get: "npm install -g @sourcegraph/amp",
        tried: "",
        note: "One answer, then it ends: `amp threads continue` goes on on the terminal.",
    }),
    native: None,
};
