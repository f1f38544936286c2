//! Starting Cline.

use baton_transcripts::PermissionMode;

use crate::launch::Tool;

/// How Cline is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "cline",
    title: "Cline",
    program: "cline",
    surface: "cline",
    start: &["{mode}", "-i", "{prompt}"],
    resume: &["--id", "{id}", "{mode}", "{prompt}"],
    modes: &[(PermissionMode::Plan, &["-p"])],
    headless: None,
    vars: None,
    native: None,
    get: "npm install -g cline",
};
