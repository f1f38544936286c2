//! Starting OpenCode.

use baton_transcripts::Manner;

use crate::launch::{Headless, Tool};

/// How OpenCode is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "opencode",
    title: "OpenCode",
    program: "opencode",
    surface: "opencode",
    start: &["{mode}", "{prompt:--prompt}"],
    resume: &["--session", "{id}", "{mode}", "{prompt:--prompt}"],
    modes: &[(Manner::Plan, &["--agent", "plan"]), (Manner::Full, &["--auto"])],
    headless: Some(Headless {
        words: &["run", "{mode}", "{more}", "{prompt}"],
        // Without a terminal it edits files by itself.
        modes: &[(Manner::Edits, &[])],
    }),
    vars: None,
    native: None,
    get: "npm install -g opencode-ai",
};
