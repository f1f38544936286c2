//! The chat of Visual Studio Code: its sessions are read. They have no command line, and no session that it would take up can be
//! handed to it.

use baton_transcripts::readers;

use crate::Tool;

/// VS Code Copilot Chat.
pub(crate) static TOOL: Tool = Tool {
    id: "vscode_copilot",
    title: "VS Code Copilot Chat",
    aliases: &["vscode", "vs_code", "copilot_chat", "vs_code_copilot_chat", "vscode_copilot_chat"],
    surface: "vscode_copilot",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::VsCodeCopilot),
    install: None,
    launch: None,
    native: None,
};
