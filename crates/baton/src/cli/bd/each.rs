//! Several issues in one call.

use baton_model::refusal::{Kind, Refusal};

use super::{Out, print_error};
use crate::error::AppError;

/// What was done with several issues.
pub(super) struct EachIssue<T> {
    done: Vec<T>,
    /// Whether one was refused.
    has_failed: bool,
}

impl<T> EachIssue<T> {
    /// Does something with each issue. One that is refused is named, and does not keep the others from it.
    pub(super) fn try_all(
        ids: &[String],
        out: &mut Out<'_>,
        mut act: impl FnMut(&String, &mut Out<'_>) -> Result<T, AppError>,
    ) -> Result<Self, AppError> {
        let mut each = Self { done: Vec::with_capacity(ids.len()), has_failed: false };
        for id in ids {
            match act(id, out) {
                Ok(done) => each.done.push(done),
                Err(refusal @ AppError::Refused(_)) if ids.len() > 1 => {
                    each.has_failed = true;
                    print_error(&refusal, Some(id))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(each)
    }

    /// What was done, where one refusal fails no call: that of issues which are only shown. None at all is a refusal.
    pub(super) fn or_none_of(self, what: &str) -> Result<Vec<T>, AppError> {
        if self.has_failed && self.done.is_empty() {
            let message = format!("none of {what} is there");
            let hint = "`bd list --all` shows ids; `bd search WORDS` finds issues by their words";
            return Err(Refusal::new(Kind::NotFound, "task_unknown", message, hint).into());
        }
        Ok(self.done)
    }

    /// Prints what was done; the call fails if every one was refused, as in Beads. What was refused is named.
    pub(super) fn print(
        &self,
        out: &Out<'_>,
        print: impl FnOnce(&[T]) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        if !self.done.is_empty() || out.json {
            print(&self.done)?;
        }
        if self.has_failed && self.done.is_empty() { Err(AppError::Reported) } else { Ok(()) }
    }
}
