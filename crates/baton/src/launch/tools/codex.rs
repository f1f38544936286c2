//! Starting Codex.

use baton_transcripts::Manner;

use crate::launch::{Tool, native};

/// How Codex is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "codex",
    title: "Codex",
    program: "codex",
    surface: "codex",
    start: &["{mode}", "{cwd:-C}", "{prompt}"],
    resume: &["resume", "{id}", "{mode}", "{cwd:-C}", "{prompt}"],
    modes: &[
        (Manner::Plan, &["--sandbox", "read-only"]),
        (Manner::Edits, &["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]),
        (Manner::Full, &["--dangerously-bypass-approvals-and-sandbox"]),
    ],
    native: Some(&native::CODEX),
    get: "npm install -g @openai/codex",
};
