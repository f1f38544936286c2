//! `baton import-transcript`

use baton_ops::op::Operation;
use serde_json::json;

use super::Who;
use super::summarize::Summarize;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Make a baton of a session whose agent never said goodbye
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: Who,
    /// Session id, a unique prefix, `latest`, or a path to a transcript
    #[arg(default_value = "latest")]
    id: String,
    /// Tool that wrote it: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Offer the baton to this identity only
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Offer the baton to this role only
    #[arg(long, value_name = "R")]
    role: Option<String>,
    #[command(flatten)]
    summarize: Summarize,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let summary = args.summarize.of(&args.id, args.agent.as_deref(), app)?;
    let input = json!({
        "project": app.project, "identity": args.who.identity, "id": args.id, "agent": args.agent, "summary": summary,
        "to": args.to, "role": args.role,
    });
    let answer = app.call(baton_ops::transcript::Import::NAME, input)?;
    app.answer(&answer, |a| {
        let verb = if a["imported_before"] == true { "imported before" } else { "imported" };
        format!(
            "{verb}: baton {} from {} session {}\n  {}\n  the next agent continues with `baton pickup`\n",
            render::text(a, "baton_id"),
            render::text(a, "agent"),
            render::text(a, "transcript_id"),
            render::text(a, "summary")
        )
    })
}
