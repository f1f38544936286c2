//! `baton import-transcript`

use baton_model::baton::State;
use baton_model::id::visible;
use baton_ops::transcript::{Import, ImportInput, ImportOutput, WorkHolder};
use baton_transcripts::Complaint;
use baton_transcripts::report::kind;

use super::ActingIdentity;
use super::summarize::Summarize;
use super::transcripts::fault;
use crate::app::App;
use crate::error::AppError;

/// Make a baton from a session whose agent never wrapped
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Session id, a unique prefix, `latest`, or a path to a transcript
    #[arg(default_value = "latest")]
    id: String,
    /// Tool that wrote the session: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Offer the baton to this identity only
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Offer the baton to this role only
    #[arg(long, value_name = "R")]
    role: Option<String>,
    /// Make another baton even if the session already has one
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    summarize: Summarize,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    crate::readers::refresh(app);
    let summary = args.summarize.of(&args.id, args.agent.as_deref(), app)?;
    let imported = app.run::<Import>(&ImportInput {
        project: app.project.clone(),
        identity: args.who.identity,
        id: args.id,
        agent: args.agent,
        summary,
        to: args.to,
        role: args.role,
        again: args.again,
    })?;
    app.show(&imported, |imported| {
        if imported.existing_baton.is_some()
            && let Some(holder) = &imported.holder
        {
            return taken_over(imported, holder);
        }
        let by_agent = imported.existing_baton.as_ref().is_some_and(|existing_baton| existing_baton.by_agent);
        let verb = match (imported.imported_before, by_agent) {
            (true, true) => "wrapped by its agent before",
            (true, false) => "imported before",
            (false, _) => "imported",
        };
        let left_by = imported.existing_baton.as_ref().and_then(|baton| baton.left_by.as_deref());
        let left_by = left_by.map(|name| format!(", left by {},", visible(name))).unwrap_or_default();
        format!(
            "{verb}: baton {}{left_by} from {} session {}\n  {}\n{}",
            visible(&imported.baton_id),
            visible(&imported.agent),
            visible(&imported.transcript_id),
            visible(&imported.summary),
            what_next(imported) + &at_work(imported) + &may_be_same(imported) + &skipped(imported)
        )
    })
}

/// How the work stands where another went on with it: nothing was imported.
fn taken_over(imported: &ImportOutput, holder: &WorkHolder) -> String {
    let name = visible(&holder.identity);
    let note = imported.existing_baton.as_ref().and_then(|baton| baton.kept_delta_id.as_deref());
    let note = note.map(|note| format!("  what the transcript tells is kept for {name} as note {note}\n"));
    format!(
        "not imported: {name} holds the work of {} session {}, as baton {} in session {}\n{}  \
         `baton import-transcript --again` makes another baton of it all the same\n",
        visible(&imported.agent),
        visible(&imported.transcript_id),
        visible(&imported.baton_id),
        visible(&holder.session_id),
        note.unwrap_or_default()
    )
}

/// That the session's own agent may still be at work.
fn at_work(imported: &ImportOutput) -> String {
    let line = |holder: &WorkHolder| {
        let (name, id) = (visible(&holder.identity), visible(&holder.session_id));
        format!(
            "  {name} may still be at work on it, in session {id}: ask before two agents do the same work\n"
        )
    };
    imported.holder.as_ref().map(line).unwrap_or_default()
}

/// What may be the same conversation; nothing tells for certain.
fn may_be_same(imported: &ImportOutput) -> String {
    let baton = |id: &String| {
        let id = visible(id);
        format!(
            "  it may be the same conversation as baton {id}: read both before two agents do the same work\n"
        )
    };
    let session = |id: &String| {
        let id = visible(id);
        format!(
            "  it may be the conversation of session {id}, which has left no baton: `baton log --session {id}` shows what it did\n"
        )
    };
    let batons = imported.may_be_same.iter().map(baton);
    batons.chain(imported.may_be_same_sessions.iter().map(session)).collect()
}

/// What could not be read, and so is not in the baton.
fn skipped(imported: &ImportOutput) -> String {
    let loses = |one: &&Complaint| {
        ![kind::INVALID_UTF8, kind::NUL_BYTES, kind::BROKEN_CHAIN].contains(&one.kind.as_str())
    };
    let line = |one: &Complaint| match one.first_line {
        0 => format!("  not read: {} × {}\n", one.count, fault(&one.kind)),
        line => format!("  not read: {} × {}, first in line {line}\n", one.count, fault(&one.kind)),
    };
    imported.skipped.iter().filter(loses).map(line).collect()
}

/// How the baton stands, and what can be done about it.
fn what_next(imported: &ImportOutput) -> String {
    let go_on = "  the next agent continues with `baton pickup`\n";
    if let Some(earlier) = &imported.superseded_baton_id {
        return format!("  it stands in place of baton {earlier}, which nobody had taken\n{go_on}");
    }
    let Some(existing_baton) = &imported.existing_baton else { return go_on.to_owned() };
    let who = existing_baton.holder.as_deref().map_or_else(|| "somebody".to_owned(), visible);
    let taken = match existing_baton.state {
        State::Open => return go_on.to_owned(),
        State::Held => format!("  {who} has it"),
        State::Abandoned => format!("  {who} had it and is gone: `baton pickup` takes it"),
        State::Spent if existing_baton.next_baton_id.is_none() => {
            "  its agent said that nothing is left to do".to_owned()
        }
        State::Spent => {
            let next = existing_baton.next_baton_id.as_deref().map(|id| format!(": baton {}", visible(id)));
            format!("  {who} continued it{}", next.unwrap_or_default())
        }
    };
    let saved = match &existing_baton.kept_delta_id {
        Some(note) => format!("; what is newer is kept as note {note}"),
        None => String::new(),
    };
    format!("{taken}{saved}\n  `baton import-transcript --again` makes another baton of it all the same\n")
}
