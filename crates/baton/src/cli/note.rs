//! `baton note` and `baton decide`

use baton_model::id::{short, visible};
use baton_ops::ledger::{Entry, Note, NoteInput};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::{ActingIdentity, read_input};
use crate::app::App;
use crate::error::AppError;

/// Add a note to the ledger
#[derive(clap::Args)]
pub(super) struct NoteArgs {
    #[command(flatten)]
    who: ActingIdentity,
    /// Text of the note, or - for standard input
    text: String,
    /// Tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Kind of note: note, remember, research or methodology
    #[arg(long, value_name = "K", default_value = "note", value_parser = PossibleValuesParser::new(["note", "remember", "research", "methodology"]).map(|word| entry(&word)))]
    kind: Entry,
}

/// Record a decision, its reason and the options that were rejected
#[derive(clap::Args)]
pub(super) struct DecideArgs {
    #[command(flatten)]
    who: ActingIdentity,
    /// The decision, or - for standard input
    what: String,
    /// Reason for the decision
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    why: Option<String>,
    /// Option that was rejected; may be repeated
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    rejected: Vec<String>,
    /// Tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
}

pub(super) fn run(args: NoteArgs, app: &mut App) -> Result<(), AppError> {
    let text = read_text(args.text)?;
    add(NoteInput { identity: args.who.identity, kind: args.kind, text, tags: args.tags, ..own(app) }, app)
}

pub(super) fn decide(args: DecideArgs, app: &mut App) -> Result<(), AppError> {
    let input = NoteInput {
        identity: args.who.identity,
        kind: Entry::Decision,
        text: read_text(args.what)?,
        why: args.why,
        rejected: args.rejected,
        tags: args.tags,
        ..own(app)
    };
    add(input, app)
}

fn own(app: &App) -> NoteInput {
    NoteInput { project: app.project.clone(), session: app.session.clone(), ..NoteInput::default() }
}

fn read_text(text: String) -> Result<String, AppError> {
    if text == "-" { read_input("-") } else { Ok(text) }
}

fn entry(word: &str) -> Entry {
    match word {
        "remember" => Entry::Remember,
        "research" => Entry::Research,
        "methodology" => Entry::Methodology,
        _ => Entry::Note,
    }
}

fn add(input: NoteInput, app: &mut App) -> Result<(), AppError> {
    let word = if matches!(input.kind, Entry::Decision) { "decision" } else { "note" };
    let noted = app.run::<Note>(&input)?;
    app.show(&noted, |noted| {
        let id = visible(&noted.delta_id);
        format!("{word} {} by {}\n", short(&id), visible(&noted.identity))
    })
}
