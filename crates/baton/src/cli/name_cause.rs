//! Names a cause in the environment of a command: a session that it inherited, a git that did not answer.

use std::ffi::OsString;

use baton_model::shell::shell_word;

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

/// Commands that a hint names and that act as an agent.
const ACTING_COMMANDS: [&str; 4] =
    ["baton changes apply", "baton changes drop", "baton changes keep", "baton pickup --handoff"];
/// The one of them that may apply changes.
const PICKUP: &str = "baton pickup --handoff";

/// Has the commands of a hint say the name that the refused one was given, and that changes be applied: it is typed as it stands.
pub(super) fn keep_options(error: AppError, words: &[OsString]) -> AppError {
    let AppError::Refused(mut refusal) = error else { return error };
    let words: Vec<&str> =
        words.iter().map_while(|word| word.to_str().filter(|word| *word != "--")).collect();
    let name = words.iter().enumerate().find_map(|(at, word)| match *word {
        "--as" => words.get(at + 1).copied(),
        word => word.strip_prefix("--as="),
    });
    let applies = words.contains(&"--apply") && words.contains(&"pickup");
    let completed = |(at, part): (usize, &str)| {
        let is_command = at % 2 == 1 && ACTING_COMMANDS.iter().any(|command| part.starts_with(command));
        let mut part = part.to_owned();
        if let Some(name) = name.filter(|_| is_command && !part.contains(" --as ")) {
            part.push_str(&format!(" --as {}", shell_word(name)));
        }
        if is_command && applies && part.starts_with(PICKUP) && !part.contains(" --apply") {
            part.push_str(" --apply");
        }
        part
    };
    refusal.hint = refusal.hint.split('`').enumerate().map(completed).collect::<Vec<_>>().join("`");
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
