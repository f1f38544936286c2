//! Starting Goose.

use crate::launch::Tool;

/// How Goose is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "goose",
    title: "Goose",
    program: "goose",
    surface: "goose",
    start: &["run", "--interactive", "{prompt:--text}"],
    resume: &["session", "--resume", "--session-id", "{id}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "https://block.github.io/goose",
};
