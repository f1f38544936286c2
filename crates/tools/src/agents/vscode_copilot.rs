//! The chat of Visual Studio Code: its sessions are read. They have no command line, and no session that it would take up can be
//! handed to it.

use baton_transcripts::readers;

use crate::Tool;
use crate::storage::{Evidence, Storage, StoredFile};

/// VS Code Copilot Chat.
pub(crate) static TOOL: Tool = Tool {
    id: "vscode_copilot",
    title: "VS Code Copilot Chat",
    aliases: &["vscode", "vs_code", "copilot_chat", "vs_code_copilot_chat", "vscode_copilot_chat"],
    surface: "vscode_copilot",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::VsCodeCopilot),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.config/Code/User/workspaceStorage/HASH/chatSessions/ID.json",
                variable: None,
            },
            StoredFile {
                path: "~/.config/Code/User/workspaceStorage/HASH/chatSessions/ID.jsonl",
                variable: None,
            },
            StoredFile {
                path: "~/.config/Code/User/globalStorage/emptyWindowChatSessions/ID.json",
                variable: None,
            },
        ],
        evidence: Evidence::VendorSource("the types of its chat"),
        note: "From every editor made from it, also on the far side of a remote connection (`~/.vscode-server`). Cannot be taken up again from a command line.",
    }),
    install: None,
    launch: None,
    native: None,
};
