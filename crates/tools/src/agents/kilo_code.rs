//! Kilo Code, the extension: servers only; it has no hooks.

use std::path::PathBuf;

use baton_transcripts::readers;

use crate::Tool;
use crate::install::{HookContextFormat, Install, Places};
use crate::shapes::server;
use crate::storage::{Evidence, Storage, StoredFile};

/// Kilo Code.
pub(crate) static TOOL: Tool = Tool {
    id: "kilo_code",
    title: "Kilo Code",
    aliases: &["kilocode"],
    surface: "kilo_code",
    programs: &[],
    mcp_client_names: &["kilo-code"],
    reader: Some(&readers::KILO_CODE),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.config/Code/User/globalStorage/kilocode.kilo-code/tasks/ID/ui_messages.json",
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
            Some(vec![server(places, places.scoped(scope, user, ".kilocode/mcp.json"))])
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
    places.extension("kilocode.kilo-code")
}
