//! Starting Codex.

use baton_transcripts::PermissionMode;

use crate::launch::{Headless, Tool, native};

/// Commands may run in a daemon that an earlier Codex has started, with the environment of that one: variables go by a flag.
pub static TOOL: Tool = Tool {
    id: "codex",
    title: "Codex",
    program: "codex",
    surface: "codex",
    start: &["{mode}", "{cwd:-C}", "{prompt}"],
    resume: &["resume", "{id}", "{mode}", "{cwd:-C}", "{prompt}"],
    modes: &[
        (PermissionMode::Plan, &["--sandbox", "read-only"]),
        (PermissionMode::Edits, &["--sandbox", "workspace-write", "--ask-for-approval", "on-request"]),
        (PermissionMode::Full, &["--dangerously-bypass-approvals-and-sandbox"]),
    ],
    headless: Some(Headless {
        words: &["exec", "--skip-git-repo-check", "{mode}", "{folder:--add-dir}", "{more}", "{prompt}"],
        // Headless runs have no user to confirm a prompt.
        modes: &[(PermissionMode::Edits, &["--sandbox", "workspace-write"])],
    }),
    vars: Some(("-c", "shell_environment_policy.set.{name}={value}")),
    native: Some(&native::CODEX),
    get: "npm install -g @openai/codex",
};
