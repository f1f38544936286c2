//! Starting Crush.

use crate::launch::Tool;

/// One answer, then it ends: `crush -C` goes on on the terminal.
pub static TOOL: Tool = Tool {
    id: "crush",
    title: "Crush",
    program: "crush",
    surface: "crush",
    start: &["run", "{prompt}"],
    resume: &["-s", "{id}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "https://github.com/charmbracelet/crush",
};
