//! Roo Code: servers only; it has no hooks.

use std::path::PathBuf;

use baton_transcripts::readers;

use crate::Tool;
use crate::install::{HookContextFormat, Install, Places};
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};

/// Roo Code.
pub(crate) static TOOL: Tool = Tool {
    id: "roo",
    title: "Roo Code",
    aliases: &["roo_code", "roo_cline"],
    surface: "roo",
    programs: &[],
    mcp_client_names: &["roo-code"],
    reader: Some(&readers::ROO),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/ID/ui_messages.json",
            variable: None,
        }],
        evidence: Evidence::VendorSource("the extension"),
        note: "From every editor made from Visual Studio Code.",
    }),
    install: Some(Install {
        home: folder,
        editor_programs: &[],
        wants: |places, scope| {
            let user = folder(places).join("settings/mcp_settings.json");
            Some(vec![server(places, places.scoped(scope, user, ".roo/mcp.json"))])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "",
    }),
    launch: None,
    native: None,
};

fn folder(places: &Places) -> PathBuf {
    places.extension("rooveterinaryinc.roo-cline")
}
