//! Whether a coding agent is started as it runs without a terminal.

use baton_tools::Launcher;

use crate::app::App;
use crate::picker;

/// Whether a tool that is given a prompt runs without a terminal: there is none, it can, and the user's arguments do not say so
/// themselves.
pub(super) fn starts_headless(launcher: Launcher, more: &[String], app: &App) -> bool {
    if picker::has_terminal() {
        return false;
    }
    if launcher.launch.headless.is_none() {
        app.remark(&format!(
            "there is no terminal, and no way is known to run {} without one: it starts as on a terminal",
            launcher.tool.title
        ));
    }
    launcher.launch.without_terminal(more).is_some()
}
