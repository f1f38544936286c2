//! Starting Kimi CLI.

use crate::launch::Tool;

/// The older program of the same name. How it takes a first prompt on the terminal is not documented.
pub static TOOL: Tool = Tool {
    id: "kimi_cli",
    title: "Kimi CLI",
    program: "kimi",
    surface: "kimi",
    start: &[],
    resume: &["--session", "{id}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "https://moonshotai.github.io/kimi-cli",
};
