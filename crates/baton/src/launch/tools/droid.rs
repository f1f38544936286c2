//! Starting Factory Droid.

use crate::launch::Tool;

/// How Factory Droid is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "droid",
    title: "Factory Droid",
    program: "droid",
    surface: "droid",
    start: &["{prompt}"],
    resume: &["--resume", "{id}", "{prompt}"],
    modes: &[],
    headless: None,
    vars: None,
    native: None,
    get: "https://docs.factory.ai/cli",
};
