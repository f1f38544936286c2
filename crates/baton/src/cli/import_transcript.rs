//! `baton import-transcript`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::ActingIdentity;
use super::summarize::Summarize;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Make a baton of a session whose agent never said goodbye
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: ActingIdentity,
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
    /// Make another baton, although the session has one
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    summarize: Summarize,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let summary = args.summarize.of(&args.id, args.agent.as_deref(), app)?;
    let input = json!({
        "project": app.project, "identity": args.who.identity, "id": args.id, "agent": args.agent, "summary": summary,
        "to": args.to, "role": args.role, "again": args.again,
    });
    let answer = app.call(baton_ops::transcript::Import::NAME, input)?;
    app.answer(&answer, |a| {
        let verb = match (a["imported_before"] == true, a["standing"]["by_agent"] == true) {
            (true, true) => "wrapped by its agent before",
            (true, false) => "imported before",
            (false, _) => "imported",
        };
        format!(
            "{verb}: baton {} from {} session {}\n  {}\n{}",
            render::text(a, "baton_id"),
            render::text(a, "agent"),
            render::text(a, "transcript_id"),
            render::text(a, "summary"),
            what_next(a) + &may_be_same(a)
        )
    })
}

/// What may be the same conversation; nothing tells for certain.
fn may_be_same(answer: &Value) -> String {
    let one = |id: &Value| {
        let id = baton_model::id::visible(id.as_str().unwrap_or_default());
        format!(
            "  it may be the same conversation as baton {id}: read both before two agents do the same work\n"
        )
    };
    render::list(answer, "may_be_same").iter().map(one).collect()
}

/// How the baton stands, and what can be done about it.
fn what_next(answer: &Value) -> String {
    let standing = &answer["standing"];
    let go_on = "  the next agent continues with `baton pickup`\n";
    if let Some(earlier) = answer["superseded_baton_id"].as_str() {
        return format!("  it stands in place of baton {earlier}, which nobody had taken\n{go_on}");
    }
    let who = render::text(standing, "holder");
    let taken = match standing["state"].as_str() {
        Some("held") => format!("  {who} has it"),
        Some("abandoned") => format!("  {who} had it and is gone: `baton pickup` takes it"),
        Some("spent") => {
            format!("  {who} went on with it: baton {}", render::text(standing, "next_baton_id"))
        }
        _ => return go_on.to_owned(),
    };
    let kept = match standing["kept_delta_id"].as_str() {
        Some(note) => format!("; what is newer is kept as note {note}"),
        None => String::new(),
    };
    format!("{taken}{kept}\n  `baton import-transcript --again` makes another baton of it all the same\n")
}
