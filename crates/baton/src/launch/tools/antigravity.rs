//! Starting Antigravity.

use crate::launch::Tool;

/// How Antigravity is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "antigravity",
    title: "Antigravity",
    program: "agy",
    surface: "antigravity",
    start: &["{prompt:-i}"],
    resume: &["--conversation", "{id}", "{prompt:-i}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "https://antigravity.google",
};
