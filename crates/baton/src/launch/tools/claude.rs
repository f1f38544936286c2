//! Starting Claude Code.

use baton_transcripts::PermissionMode;

use crate::launch::{Headless, Tool, native};

/// `--add-dir` takes every word up to the next flag, so it stands last.
pub static TOOL: Tool = Tool {
    id: "claude",
    title: "Claude Code",
    program: "claude",
    surface: "claude_code",
    start: &["{mode}", "{prompt}", "{folder:--add-dir}"],
    resume: &["--resume", "{id}", "{mode}", "{prompt}", "{folder:--add-dir}"],
    modes: &[
        (PermissionMode::Plan, &["--permission-mode", "plan"]),
        (PermissionMode::Edits, &["--permission-mode", "acceptEdits"]),
        (PermissionMode::Full, &["--dangerously-skip-permissions"]),
    ],
    headless: Some(Headless {
        words: &["{folder:--add-dir}", "{mode}", "{more}", "{prompt:-p}"],
        modes: &[],
    }),
    vars: None,
    native: Some(&native::CLAUDE),
    get: "npm install -g @anthropic-ai/claude-code",
};
