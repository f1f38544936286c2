//! Starting Pi.

use crate::launch::{Tool, native};

/// How Pi is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "pi",
    title: "Pi",
    program: "pi",
    surface: "pi",
    start: &["{prompt}"],
    resume: &["--session", "{id}", "{prompt}"],
    modes: &[],
    headless: None,
    vars: None,
    native: Some(&native::PI),
    get: "npm install -g @mariozechner/pi-coding-agent",
};
