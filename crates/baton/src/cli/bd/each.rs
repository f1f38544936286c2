//! Several issues in one call.

use super::{Out, in_words_of_bd};
use crate::error::{AppError, quote};

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
                Err(no @ AppError::Refused(_)) if ids.len() > 1 => {
                    each.has_failed = true;
                    let error = &no.to_json()["error"];
                    let said = |key: &str| quote(&in_words_of_bd(error[key].as_str().unwrap_or_default()));
                    out.app.remark(&format!(
                        "Error: {}: {}\nHint: {}",
                        quote(id),
                        said("message"),
                        said("hint")
                    ));
                }
                Err(ended) => return Err(ended),
            }
        }
        Ok(each)
    }

    /// Prints what was done; the call fails if one was refused.
    pub(super) fn print(
        &self,
        out: &Out<'_>,
        print: impl FnOnce(&[T]) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        if !self.done.is_empty() || out.json {
            print(&self.done)?;
        }
        if self.has_failed { Err(AppError::Reported) } else { Ok(()) }
    }
}
