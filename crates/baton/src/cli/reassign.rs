//! `baton reassign`

use baton_ops::op::Operation;
use serde_json::json;

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Make the hand-off of a session for it, release it, and address the baton
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: Who,
    /// The session, by its id or a unique prefix
    session_id: String,
    /// Identity or tool that is to continue
    #[arg(long, value_name = "NAME")]
    to: String,
    /// Why; written into the ledger
    #[arg(long, value_name = "T")]
    why: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let answer = app.call(
        baton_ops::session::Reassign::NAME,
        json!({
            "project": app.project, "identity": args.who.identity, "session": args.session_id, "to": args.to,
            "why": args.why,
        }),
    )?;
    app.answer(&answer, |a| {
        let (baton, to) = (render::text(a, "baton_id"), render::text(a, "to"));
        format!("reassigned: baton {baton} waits for {to}\n  {}\n", render::text(a, "summary"))
    })
}
