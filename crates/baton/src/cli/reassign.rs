//! `baton reassign`

use baton_model::id::visible;
use baton_ops::session::{Reassign, ReassignInput};

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;

/// Give a stuck or dead session's work to another agent
///
/// Its last checkpoint becomes a baton, addressed to whom `--to` names, and the session is released.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Session id or a unique prefix
    session_id: String,
    /// Identity or tool that should continue
    #[arg(long, value_name = "NAME")]
    to: String,
    /// Accept a name that no agent of the project has had yet: the baton waits for it
    #[arg(long)]
    wait: bool,
    /// Whose session it is, as far as you know: refused if it is another's
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,
    /// Reason; recorded in the ledger
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    why: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let input = ReassignInput {
        project: app.project.clone(),
        identity: args.who.identity,
        session: args.session_id,
        to: args.to,
        wait: args.wait,
        holder: args.holder,
        why: args.why,
    };
    let given = app.run::<Reassign>(&input)?;
    app.show(&given, |given| {
        let (baton, to) = (visible(&given.baton_id), visible(&given.to));
        let changes = super::changes::earlier_list(&given.earlier_changes);
        format!("reassigned: baton {baton} waits for {to}\n  {}\n{changes}", visible(&given.summary))
    })
}
