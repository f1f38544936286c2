//! Starting Amp.

use baton_transcripts::PermissionMode;

use crate::launch::Tool;

/// One answer, then it ends: `amp threads continue` goes on on the terminal.
pub static TOOL: Tool = Tool {
    id: "amp",
    title: "Amp",
    program: "amp",
    surface: "amp",
    start: &["{mode}", "{prompt:-x}"],
    resume: &["threads", "continue", "{id}", "{mode}"],
    modes: &[(PermissionMode::Full, &["--dangerously-allow-all"])],
    headless: None,
    vars: None,
    native: None,
    get: "npm install -g @sourcegraph/amp",
};
