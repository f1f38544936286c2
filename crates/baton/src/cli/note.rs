//! `baton note` and `baton decide`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::{Who, read_input};
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Add a remark to the ledger
#[derive(clap::Args)]
pub struct NoteArgs {
    #[command(flatten)]
    who: Who,
    /// The text, or - for standard input
    text: String,
    /// A tag; give it several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// What it is: note, remember, research or methodology
    #[arg(long, value_name = "K", default_value = "note", value_parser = ["note", "remember", "research", "methodology"])]
    kind: String,
}

/// Record a decision, with its reason and what was rejected
#[derive(clap::Args)]
pub struct DecideArgs {
    #[command(flatten)]
    who: Who,
    /// What was decided, or - for standard input
    what: String,
    /// Why
    #[arg(long, value_name = "T")]
    why: Option<String>,
    /// An option that was rejected
    #[arg(long, value_name = "T")]
    rejected: Vec<String>,
    /// A tag; give it several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
}

pub fn run(args: NoteArgs, app: &mut App) -> Result<(), Ended> {
    let input = json!({
        "project": app.project, "session": app.session, "identity": args.who.identity, "kind": args.kind,
        "text": given(args.text)?, "tags": args.tags,
    });
    add(input, app)
}

pub fn decide(args: DecideArgs, app: &mut App) -> Result<(), Ended> {
    let input = json!({
        "project": app.project, "session": app.session, "identity": args.who.identity, "kind": "decision",
        "text": given(args.what)?, "why": args.why, "rejected": args.rejected, "tags": args.tags,
    });
    add(input, app)
}

fn given(text: String) -> Result<String, Ended> {
    if text == "-" { read_input("-") } else { Ok(text) }
}

fn add(input: Value, app: &mut App) -> Result<(), Ended> {
    let answer = app.call(baton_ops::ledger::Note::NAME, input)?;
    app.answer(&answer, |a| {
        format!("noted as {} by {}\n", render::id(a, "delta_id"), render::text(a, "identity"))
    })
}
