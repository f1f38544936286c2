//! What a command writes: answers on standard output, remarks on standard error.

use std::io::Write;

use baton_model::id::visible;
use baton_ops::answer::AnswerView;
use baton_ops::message::{Delivered, DeliveredInput};
use baton_ops::op::Caller;
use baton_ops::project;
use serde::Serialize;
use serde_json::Value;

use super::{App, Format};
use crate::error::AppError;

impl App {
    /// Writes an answer to standard output: as JSON, or as the text that `render` makes of it.
    pub(crate) fn answer(
        &self,
        value: &Value,
        render: impl FnOnce(&Value) -> String,
    ) -> Result<(), AppError> {
        // Standard output by itself writes a line at a time.
        let mut out = std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout().lock());
        match (self.format, AnswerView(value).items()) {
            (Format::Text, _) => {
                out.write_all(crate::render::for_terminal(&render(value), self.color).as_bytes())?;
            }
            (Format::JsonLines, Some(items)) => {
                for item in items {
                    writeln!(out, "{item}")?;
                }
            }
            (Format::JsonLines, None) => writeln!(out, "{value}")?,
            (Format::Json, _) => writeln!(out, "{value:#}")?,
        }
        out.flush()?;
        Ok(())
    }

    /// Writes the answer of an operation to standard output: as JSON, or as the text that `render` makes of it.
    pub(crate) fn show<T: Serialize>(
        &self,
        answer: &T,
        render: impl FnOnce(&T) -> String,
    ) -> Result<(), AppError> {
        let value = match self.format {
            Format::Text => Value::Null,
            _ => serde_json::to_value(answer).map_err(anyhow::Error::from)?,
        };
        self.answer(&value, |_| render(answer))
    }

    /// Marks messages as delivered whose texts an answer has shown. Where the answer went nowhere, they go on waiting.
    pub(crate) fn mark_delivered(
        &mut self,
        project_id: String,
        message_ids: Vec<String>,
    ) -> Result<(), AppError> {
        if message_ids.is_empty() || is_output_discarded() {
            return Ok(());
        }
        match self.run::<Delivered>(&DeliveredInput { project: Some(project_id), message_ids }) {
            // What such a token reads goes on waiting.
            Err(AppError::Refused(refusal)) if refusal.code == "scope_missing" => {
                self.remark("these go on waiting: a token that only reads marks nothing as delivered");
                Ok(())
            }
            marked => marked.map(drop),
        }
    }

    /// Whether answers are written as text for people.
    pub(crate) fn shows_text(&self) -> bool {
        matches!(self.format, Format::Text)
    }

    /// Says what is wrong with the working copy in which a command is given, where its project is known all the same.
    pub(crate) fn remark_repository(&mut self) {
        if let Some(fault) = self.caller().git_fault {
            self.remark(&format!(
                "warning: git cannot read this working copy: {fault}; `git worktree repair` in its repository mends it if that moved"
            ));
        }
    }

    /// Says that `BATON_PROJECT` named the project of a command, where the folder is one of another project. `used`: that project.
    pub(crate) fn remark_other_project(&mut self, used: &str) {
        let is_named = self.config.vars.get("BATON_PROJECT").is_some_and(|named| !named.is_empty());
        if !is_named || self.project.is_some() || self.quiet {
            return;
        }
        let caller = Caller { project: None, ..self.caller() };
        let here = self.run_as::<project::Show>(&caller, &project::ShowInput::default());
        let own = match here {
            Ok(here) => {
                let own = here.project.project_id;
                let what = format!("this folder is one of project {}", visible(&own));
                Some((own, what))
            }
            // Whether it is a clone is the user's to say: the reason is named, such as a remote that is a path.
            Err(AppError::Refused(no)) if no.code == "project_is_clone" => {
                let of = no.details.get("project_id").and_then(Value::as_str).map(str::to_owned);
                of.map(|of| (of, visible(&no.message)))
            }
            Err(_) => None,
        };
        if let Some((own, what)) = own.filter(|(own, _)| own != used) {
            let (own, used) = (visible(&own), visible(used));
            self.remark(&format!(
                "note: {what}, and BATON_PROJECT sends this to project {used}: `--project {own}` means the former"
            ));
        }
    }

    /// A remark on standard error, for people.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            let text = self.in_words_of_face.map_or_else(|| text.to_owned(), |in_words| in_words(text));
            let _ = writeln!(std::io::stderr(), "{}", crate::render::for_terminal(&text, false));
        }
    }
}

/// Whether standard output is the null device: so it is where a caller closed it, too, since the runtime then opens that.
fn is_output_discarded() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let device = |path| std::fs::metadata(path).ok().map(|found| found.rdev());
        device("/dev/null").is_some_and(|null| device("/dev/stdout") == Some(null))
    }
    #[cfg(not(unix))]
    false
}
