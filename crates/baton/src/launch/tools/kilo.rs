//! Starting Kilo CLI.

use crate::launch::Tool;

/// One answer, then it ends: `kilo --continue` goes on on the terminal.
pub static TOOL: Tool = Tool {
    id: "kilo",
    title: "Kilo CLI",
    program: "kilo",
    surface: "kilo",
    start: &["run", "{prompt}"],
    resume: &["run", "--session", "{id}", "{prompt}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "npm install -g @kilocode/cli",
};
