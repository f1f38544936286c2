//! `baton end`

use baton_model::id::{short, visible};
use baton_ops::session::{End, EndInput};

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// End a session that has nothing to hand over
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Reason for ending the session
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    reason: Option<String>,
    /// End another agent's session
    #[arg(long)]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let input = EndInput {
        project: app.project.clone(),
        session: app.session.clone(),
        identity: args.who.identity,
        reason: args.reason,
        force: args.force,
        why: args.why,
    };
    let ended = app.run::<End>(&input)?;
    app.show(&ended, |ended| {
        let freed = ended.freed_baton_id.as_deref().map(visible);
        let freed = freed.map(|id| format!("; baton {} is open again", short(&id))).unwrap_or_default();
        let reminders = render::reminders(&ended.reminders);
        format!("ended session {}{freed}\n{reminders}", visible(&ended.session_id))
    })
}
