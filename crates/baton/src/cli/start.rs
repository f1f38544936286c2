//! `baton start`

use baton_model::id::visible;
use baton_ops::session::{Start, StartInput};

use super::ActingIdentity;
use crate::app::App;
use crate::changes::carry;
use crate::error::AppError;
use crate::{render, unwrapped};

/// Start a new session; use `baton pickup` to continue another agent's work
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Tool that runs the agent: claude_code, codex, gemini_cli, human, …; detected if omitted
    #[arg(long, value_name = "S")]
    surface: Option<String>,
    /// Release another active session of this identity
    #[arg(long)]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
    /// Idempotency key: a retry with it returns the first answer
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let mut started = app.run::<Start>(&StartInput {
        project: app.project.clone(),
        identity: args.who.identity,
        surface: args.surface,
        force: args.force,
        why: args.why,
        request_id: args.request_id,
    })?;
    app.remark_repository();
    app.remark_other_project(&started.project_id);
    carry::remark_interrupted(app);
    let own = Some(started.session_id.as_str());
    let left = unwrapped::remarks(app, (&started.project_id, &started.card), (own, None));
    started.rules_reminders.extend(left.clone());
    started.card.reminders.extend(left);
    app.show(&started, |started| {
        let verb = match (&started.replay.since, started.resumed) {
            (Some(since), _) => {
                let since = visible(since);
                format!("not at work any more: {since}\n  this request was answered before with")
            }
            (None, true) => "already at work:".to_owned(),
            (None, false) => "started".to_owned(),
        };
        let (session, identity) = (visible(&started.session_id), visible(&started.identity));
        format!("{verb} session {session} as {identity}\n\n{}", render::card(&started.card))
    })
}
