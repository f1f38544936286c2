//! Starting Kimi Code.

use crate::launch::Tool;

/// One answer, then it ends: `kimi --continue` goes on on the terminal.
pub static TOOL: Tool = Tool {
    id: "kimi",
    title: "Kimi Code",
    program: "kimi",
    surface: "kimi",
    start: &["{prompt:-p}"],
    resume: &["--session", "{id}", "{prompt:-p}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "https://moonshotai.github.io/kimi-code",
};
