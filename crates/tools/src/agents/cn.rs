//! Continue: sessions of its command line `cn` and of its extension are read.

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Continue.
pub(crate) static TOOL: Tool = Tool {
    id: "continue",
    title: "Continue",
    aliases: &["continue_cli", "continue_dev", "cn"],
    surface: "continue",
    programs: &["cn"],
    mcp_client_names: &[],
    reader: Some(&readers::Continue),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.continue/sessions/ID.json", variable: Some("CONTINUE_GLOBAL_DIR") }],
        evidence: Evidence::VendorSource("1.5.47"),
        note: "Of the extension, too. Messages have no times.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["{mode}", "{prompt}"],
        resume: &["{mode}", "--fork", "{id}", "{prompt}"],
        modes: &[(PermissionMode::Plan, &["--readonly"]), (PermissionMode::Full, &["--auto"])],
        headless: None,
        vars: None,
        get: "npm install -g @continuedev/cli",
        tried: "1.5.47, without a terminal",
        note: "Goes on in a copy: `--resume` only takes up the last session.",
    }),
    native: None,
};
