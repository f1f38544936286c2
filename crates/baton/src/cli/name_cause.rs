//! Names a cause in the environment of a command: a session that it inherited, a git that did not answer.

use crate::app::{App, Format};
use crate::error::AppError;

/// A session that is over and that the caller did not name itself: its environment does, so that no verb begins another one.
pub(super) fn of_inherited_session(app: &App, error: AppError) -> AppError {
    let AppError::Refused(mut refusal) = error else { return error };
    if refusal.code == "session_released" && app.session.is_none() && app.config.session.is_some() {
        refusal.hint = "BATON_SESSION names it, for all that runs in it: empty the variable to go on in another session \
                        (`BATON_SESSION= baton pickup`, likewise every command after it)"
            .into();
    }
    AppError::Refused(refusal)
}

/// Reports once, for each folder, that git did not answer, so that its information is missing.
pub(super) fn of_silent_git(app: &App) {
    for root in crate::git::unanswered() {
        if !app.quiet && app.format == Format::Text {
            let shown = baton_model::id::visible(&root.display().to_string());
            app.remark(&format!(
                "note: git did not answer in time in {shown}: what it would tell is left out"
            ));
        }
    }
}
