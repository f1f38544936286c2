//! Starting OpenCode.

use baton_transcripts::Manner;

use crate::launch::Tool;

/// How OpenCode is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "opencode",
    title: "OpenCode",
    program: "opencode",
    surface: "opencode",
    start: &["{mode}", "{prompt:--prompt}"],
    resume: &["--session", "{id}", "{mode}", "{prompt:--prompt}"],
    modes: &[(Manner::Plan, &["--agent", "plan"]), (Manner::Full, &["--auto"])],
    vars: None,
    native: None,
    get: "npm install -g opencode-ai",
};
