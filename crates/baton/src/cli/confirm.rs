//! Asking before something is changed that is not Baton's own.

use std::io::{IsTerminal, Write};

use baton_model::refusal::{Kind, Refusal};

use crate::app::{App, Format};
use crate::error::AppError;
use crate::render;

/// A change that is shown before it is made.
pub(super) struct Confirmation<'a> {
    /// What would change.
    pub diff: &'a str,
    /// The question, without its answers.
    pub question: &'static str,
    /// The refusal where there is no user to ask: code, what is wrong, what to do.
    pub unanswerable: (&'static str, &'static str, &'static str),
    /// Its code where the answer is no.
    pub declined: &'static str,
}

impl Confirmation<'_> {
    /// Asks on the terminal; anything but yes is a refusal.
    pub(super) fn ask(&self, app: &App) -> Result<(), AppError> {
        let mut err = std::io::stderr();
        if app.format != Format::Text || !std::io::stdin().is_terminal() || !err.is_terminal() {
            let (code, what, hint) = self.unanswerable;
            return Err(Refusal::new(Kind::Refused, code, what, hint).with("diff", self.diff).into());
        }
        write!(err, "{}\n{} [y/N] ", render::for_terminal(self.diff, false), self.question)?;
        err.flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        let hint = "nothing was changed; ask again when you like";
        Err(Refusal::new(Kind::Refused, self.declined, "you said no", hint).into())
    }
}
