//! What `baton continue` answers.

use std::path::Path;

use baton_model::id::visible;
use baton_ops::transcript::{ContinueOutput, WorkHolder};
use serde::Serialize;

use super::plan::{Plan, Warning};
use crate::app::{App, Format};
use crate::error::AppError;
use crate::launch::native::WrittenSession;
use crate::launch::{self, Prompt};
use crate::render;

/// What the command answers.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    project_id: &'a str,
    identity: &'a str,
    session_id: Option<&'a str>,
    handoff_id: &'a str,
    command: String,
    program: &'a str,
    argv: &'a [String],
    cwd: &'a Path,
    #[serde(rename = "in")]
    tool: &'a str,
    resumes: bool,
    transcript_id: &'a str,
    agent: &'a str,
    file: Option<&'a Path>,
    warnings: &'a [Warning],
    /// Who left the baton, who had it before, and whose session is at work, where these are others than the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holder: Option<&'a WorkHolder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    native: Option<NativeSession<'a>>,
    /// Who can read the session, where it was pushed encrypted: its words are not recorded then.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    encrypted_for: &'a [String],
}

/// A session of the tool that was written.
#[derive(Serialize)]
struct NativeSession<'a> {
    id: &'a str,
    path: &'a Path,
    messages: usize,
}

pub(super) fn answer<'a>(
    plan: &'a Plan,
    argv: &'a [String],
    (prompt, carried): (Option<&'a Prompt>, Option<&'a WrittenSession>),
    (recorded, readers): (&'a ContinueOutput, Option<&'a Vec<String>>),
) -> Answer<'a> {
    Answer {
        project_id: &recorded.project_id,
        identity: &recorded.identity,
        session_id: recorded.session_id.as_deref(),
        handoff_id: &recorded.handoff_id,
        command: launch::shell_line(&plan.cwd, plan.launcher.program(), argv),
        program: plan.launcher.program(),
        argv,
        cwd: &plan.cwd,
        tool: plan.launcher.tool.id,
        resumes: plan.resumes,
        transcript_id: &plan.id,
        agent: &plan.agent,
        file: prompt.and_then(|prompt| prompt.file.as_deref()),
        warnings: &plan.warnings,
        left_by: recorded.left_by.as_deref(),
        taken_from: recorded.taken_from.as_deref(),
        held_by: recorded.held_by.as_deref(),
        holder: recorded.holder.as_ref(),
        native: carried.map(|WrittenSession { id, path, messages, .. }| NativeSession {
            id,
            path,
            messages: *messages,
        }),
        encrypted_for: readers.map_or(&[], Vec::as_slice),
    }
}

pub(super) fn report(plan: &Plan, answer: &Answer<'_>, print: bool, app: &App) -> Result<(), AppError> {
    let warnings = render::warnings(answer.warnings.iter().map(|warning| &warning.message));
    app.remark(warnings.trim_end());
    let baton = render::short_id(answer.handoff_id);
    if !answer.encrypted_for.is_empty() {
        let readers: Vec<String> = answer.encrypted_for.iter().map(|name| visible(name)).collect();
        app.remark(&format!(
            "the session is encrypted for {}: baton {baton} records that it goes on, and none of its words",
            readers.join(", ")
        ));
    }
    remark_others(answer, app);
    if print {
        let project = visible(answer.project_id);
        app.remark(&match answer.held_by {
            None => format!("recorded: baton {baton} waits in project {project}"),
            Some(holder) => {
                format!("recorded: baton {baton} of project {project} is held by {}", visible(holder))
            }
        });
        for file in answer.file.into_iter().chain(answer.native.as_ref().map(|native| native.path)) {
            app.remark(&format!("written: {}", visible(&file.to_string_lossy())));
        }
        return app.show(answer, |answer| format!("{}\n", answer.command));
    }
    app.remark(&format!(
        "{} session {} goes on in {} as {}, baton {baton}, in {}",
        plan.agent,
        render::short_id(answer.transcript_id),
        plan.launcher.tool.title,
        visible(answer.identity),
        plan.cwd.display()
    ));
    match app.format {
        Format::Text => Ok(()),
        Format::Json | Format::JsonLines => app.show(answer, |_| String::new()),
    }
}

/// Whose the baton is beside the caller, and who may still be at work.
fn remark_others(answer: &Answer<'_>, app: &App) {
    let baton = render::short_id(answer.handoff_id);
    if let Some(name) = answer.left_by {
        app.remark(&format!("baton {baton} of this session was left by {}", visible(name)));
    }
    if let Some(name) = answer.taken_from {
        app.remark(&format!("baton {baton} was {}'s, who had picked it up", visible(name)));
    }
    if let Some(holder) = answer.holder {
        let (name, id) = (visible(&holder.identity), render::short_id(&holder.session_id));
        app.remark(&format!("{name} may still be at work on it, in session {id}"));
    }
}
