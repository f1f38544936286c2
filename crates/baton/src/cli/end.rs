//! `baton end`

use baton_ops::op::Operation;
use serde_json::json;

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// End a session that has nothing to hand over
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: Who,
    /// Why
    #[arg(long, value_name = "T")]
    reason: Option<String>,
    /// End a session that is somebody else's
    #[arg(long)]
    force: bool,
    /// Why force is used; written into the ledger
    #[arg(long, value_name = "T", requires = "force")]
    why: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let input = json!({
        "project": app.project, "session": app.session, "identity": args.who.identity, "reason": args.reason,
        "force": args.force, "why": args.why,
    });
    let answer = app.call(baton_ops::session::End::NAME, input)?;
    app.answer(&answer, |a| {
        let freed = match render::id(a, "freed_baton_id") {
            id if id.is_empty() => String::new(),
            id => format!("; baton {id} is open again"),
        };
        format!("ended session {}{freed}\n", render::text(a, "session_id"))
    })
}
