//! `baton start`

use baton_ops::op::Operation;
use serde_json::json;

use super::ActingIdentity;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Begin fresh work; `baton pickup` continues somebody else's
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Tool that works: claude_code, codex, gemini_cli, human, …; else found out
    #[arg(long, value_name = "S")]
    surface: Option<String>,
    /// Release another active session of this identity
    #[arg(long)]
    force: bool,
    /// Why force is used; written into the ledger
    #[arg(long, value_name = "T", requires = "force")]
    why: Option<String>,
    /// Makes a retry return the same session
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let answer = app.call(
        baton_ops::session::Start::NAME,
        json!({
            "project": app.project, "identity": args.who.identity, "surface": args.surface, "force": args.force,
            "why": args.why, "request_id": args.request_id,
        }),
    )?;
    app.answer(&answer, |a| {
        let verb = match (a["since"].as_str(), a["resumed"] == true) {
            (Some(_), _) => {
                let since = render::text(a, "since");
                format!("not at work any more: {since}\n  this request was answered before with")
            }
            (None, true) => "already at work:".to_owned(),
            (None, false) => "started".to_owned(),
        };
        format!(
            "{verb} session {} as {}\n\n{}",
            render::text(a, "session_id"),
            render::text(a, "identity"),
            render::card(a)
        )
    })
}
