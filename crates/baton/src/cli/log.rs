//! `baton log`

mod brought;
mod line;

use std::io::{Read as _, Write};
use std::path::Path;

use baton_model::delta;
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::repository::is_commit_id;
use baton_ops::ledger::{
    DeltaListOutput, Export, ExportInput, ExportOutput, Import, ImportInput, ImportOutput, LedgerList,
    LedgerListInput, Row,
};
use baton_ops::session::{CommitOrigin, CommitOriginInput};
use baton_store::export_file::Writer;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use serde_json::Value;

use crate::app::{App, Format};
use crate::error::AppError;
use crate::{git, path_kind, private_file, render};
use brought::remark_brought;
use line::line;

/// Show the project's ledger, export it, or rebuild a store from an export
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Export the project as JSON lines: its ledger, then everything stored beside it
    Export {
        /// File to write, or - for standard output
        file: String,
        /// Export what can still be read, even if the ledger's chain is broken
        #[arg(long)]
        unverified: bool,
        /// Overwrite an existing file; never a store
        #[arg(long)]
        overwrite: bool,
    },
    /// Rebuild a project from an export; refused if the store already has it
    Import {
        /// File to read, or - for standard input
        file: String,
        /// Accept an export that cannot be verified: one from an older version, or what is left of a damaged one
        #[arg(long)]
        unverified: bool,
    },
}

#[derive(clap::Args)]
struct ReadArgs {
    /// Only entries after this sequence number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: i64,
    /// How far to look back: 30m, 24h, 7d
    #[arg(long, value_name = "SPAN")]
    since: Option<String>,
    /// Only entries of this kind
    #[arg(long, value_name = "K", value_parser = PossibleValuesParser::new(delta::Kind::ALL.map(delta::Kind::as_str)))]
    kind: Option<String>,
    /// Only entries of the sessions in which this commit was made
    #[arg(long, value_name = "SHA", conflicts_with_all = ["follow", "after"])]
    commit: Option<String>,
    /// Only the newest entries, so many; 0 for all
    #[arg(short, value_name = "N", conflicts_with_all = ["follow", "commit"])]
    n: Option<usize>,
    /// Keep printing new entries as they arrive
    #[arg(long, short)]
    follow: bool,
}

/// Deltas read at once.
const PAGE: i64 = 1_000;

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Some(Verb::Export { file, unverified, overwrite }) => {
            if file != "-" {
                private_file::check_output(Path::new(&file), overwrite)?;
            }
            export(&file, unverified, app)
        }
        Some(Verb::Import { file, unverified }) => import(&file, unverified, app),
        None => read(args.read, app),
    }
}

/// How often an export reads on because the project was written to meanwhile.
const READ_ON: usize = 20;

/// Every line of the project: the ledger page by page, then the rest, which names the newest delta. What was appended in
/// between is read as well, so that both are of one moment.
fn export(file: &str, unverified: bool, app: &mut App) -> Result<(), AppError> {
    let mut ledger: Vec<Row> = Vec::new();
    let (mut after, mut tries) = (0, 0);
    let rest = loop {
        let project = app.project.clone();
        let input =
            LedgerListInput { project, after, limit: Some(PAGE), chain: true, ..LedgerListInput::default() };
        let page = app.run::<LedgerList>(&input)?;
        ledger.extend(page.items);
        after = ledger.last().map_or(after, |delta| delta.seq);
        if page.next.is_some() {
            continue;
        }
        let rest = app.run::<Export>(&ExportInput { project: input.project, unverified })?;
        let newest = ledger.last().map_or(Some(""), |delta| delta.chain.as_deref());
        if unverified || (newest.is_some() && rest.chain_head() == newest) {
            break rest;
        }
        tries += 1;
        if tries == READ_ON {
            let what = "the project is written to faster than it can be exported";
            let hint = "try again, or use `baton backup FILE`, which copies the whole store at one moment";
            return Err(Refusal::new(Kind::Conflict, "export_busy", what, hint).into());
        }
    };
    let (deltas, rows) = (ledger.len(), rest.items.len());
    let text = export_text(&ledger, &rest)?;
    if file == "-" {
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(());
    }
    private_file::write(Path::new(file), text.as_bytes()).map_err(|error| {
        Refusal::invalid(
            "output_unwritable",
            format!("{file} cannot be written: {error}"),
            "choose another file",
        )
    })?;
    app.show(&ExportSummary { project_id: &rest.project_id, file, deltas, rows }, |_| {
        format!("exported {deltas} deltas and {rows} rows of {} to {file}\n", visible(&rest.project_id))
    })
}

/// What an export came to.
#[derive(Serialize)]
struct ExportSummary<'a> {
    project_id: &'a str,
    file: &'a str,
    deltas: usize,
    rows: usize,
}

/// The text of an export.
fn export_text(ledger: &[Row], rest: &ExportOutput) -> Result<String, AppError> {
    let mut writer = Writer::new(&visible(&rest.project_id), ledger.len(), rest.items.len());
    for delta in ledger {
        writer.line(&serde_json::to_value(delta).map_err(anyhow::Error::from)?);
    }
    rest.items.iter().for_each(|row| writer.line(row));
    Ok(writer.finish())
}

fn import(file: &str, unverified: bool, app: &mut App) -> Result<(), AppError> {
    let lines = lines(file, unverified)?.into_iter().map(Value::String).collect();
    let rebuilt = app.run::<Import>(&ImportInput { lines, unverified })?;
    if !rebuilt.verified {
        app.remark("nothing vouches for these lines: what was missing from them is missing now");
    }
    match rebuilt.messages_delivered {
        0 => {}
        1 => app.remark("a message was sent after the receiver's project was exported: it is in its mailbox now"),
        several => app.remark(&format!(
            "{several} messages were sent after the receiver's project was exported: they are in its mailbox now"
        )),
    }
    for id in &rebuilt.handoffs_without_task {
        app.remark(&format!(
            "hand-off {id} was left after the receiver's project was exported, so that its task is missing: its packet is there \
             (`baton handoff show {id}`); to have the task, export both projects again and import them into an empty store"
        ));
    }
    for id in &rebuilt.batons_held_and_moved {
        app.remark(&format!(
            "baton {id} is held by an open session, and `baton project merge` has left it anew in another project of this store: \
             two agents may have the same work"
        ));
    }
    remark_brought(&rebuilt, app);
    app.show(&rebuilt, |rebuilt| {
        let ImportOutput { project_id, deltas, rows, .. } = rebuilt;
        let id = visible(project_id);
        format!(
            "rebuilt project {id}: {deltas} deltas, {rows} rows\n\
             in a working copy of it, `baton init --join {id}` has Baton work with it\n"
        )
    })
}

/// The lines of a file, each as it is. The last one ends with a line break, else the file was cut.
fn lines(file: &str, unverified: bool) -> Result<Vec<String>, AppError> {
    let invalid = |number: usize, what: &str| {
        Refusal::invalid(
            "export_invalid",
            format!("line {number} of {file} {what}"),
            "give a whole file of `baton log export`",
        )
        .with("line", number)
    };
    if file != "-" {
        path_kind::require_regular(Path::new(file), "give a regular file, or - for standard input")?;
    }
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    let bytes = bytes.map_err(|error| {
        let what = format!("{file} cannot be read: {error}");
        Refusal::invalid("input_unreadable", what, "give a file that exists, or - for standard input")
    })?;
    let mut lines = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = std::str::from_utf8(line).map_err(|_| invalid(index + 1, "is not UTF-8"))?;
        lines.push(line.to_owned());
    }
    match lines.pop() {
        Some(rest) if !rest.is_empty() && !unverified => {
            Err(invalid(lines.len() + 1, "has no line break at its end: the file was cut").into())
        }
        Some(rest) => {
            lines.extend(Some(rest).filter(|rest| !rest.is_empty()));
            Ok(lines)
        }
        None => Ok(lines),
    }
}

fn read(args: ReadArgs, app: &mut App) -> Result<(), AppError> {
    let since = super::earliest_instant(args.since.as_deref())?;
    if let Some(commit) = &args.commit {
        return print_of_commit(&args, commit, since, app);
    }
    if let Some(n) = args.n.filter(|n| *n > 0) {
        return print_newest(&args, since, n, app);
    }
    if app.format == Format::Json && !args.follow {
        return print_all(&args, since, app);
    }
    let mut after = args.after;
    loop {
        let (page, cursor) = page(&args, since, after, app)?;
        write(&page, app)?;
        let more = cursor > after && page_is_full(cursor, after);
        after = cursor;
        if !more && !args.follow {
            return Ok(());
        }
        if !more {
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
    }
}

fn page_is_full(cursor: i64, after: i64) -> bool {
    cursor - after >= PAGE
}

/// What is wanted of the ledger after this number.
fn page_input(args: &ReadArgs, since: Option<i64>, after: i64, app: &App) -> LedgerListInput {
    LedgerListInput {
        project: app.project.clone(),
        after,
        kind: args.kind.clone(),
        session: app.session.clone(),
        since_ms: since,
        limit: Some(PAGE),
        ..LedgerListInput::default()
    }
}

/// One page of wanted deltas, and the number up to which the ledger was looked at.
fn page(args: &ReadArgs, since: Option<i64>, after: i64, app: &mut App) -> Result<(Vec<Row>, i64), AppError> {
    let page = app.run::<LedgerList>(&page_input(args, since, after, app))?;
    let last = page.items.iter().map(|row| row.seq).max().unwrap_or(after);
    Ok((page.items, page.next.unwrap_or(last).max(last)))
}

fn print_all(args: &ReadArgs, since: Option<i64>, app: &mut App) -> Result<(), AppError> {
    let all = all_of(args, since, app)?;
    app.show(&all, |_| String::new())
}

/// The newest of the wanted entries, in their order.
fn print_newest(args: &ReadArgs, since: Option<i64>, n: usize, app: &mut App) -> Result<(), AppError> {
    let mut all = all_of(args, since, app)?;
    all.items.drain(..all.items.len().saturating_sub(n));
    if app.format == Format::Json {
        return app.show(&all, |_| String::new());
    }
    write(&all.items, app)
}

/// Every wanted entry.
fn all_of(args: &ReadArgs, since: Option<i64>, app: &mut App) -> Result<DeltaListOutput, AppError> {
    let mut items = Vec::new();
    let mut input = page_input(args, since, args.after, app);
    let project_id = loop {
        let page = app.run::<LedgerList>(&input)?;
        items.extend(page.items);
        match page.next {
            Some(next) => input.after = next,
            None => break page.project_id,
        }
    };
    Ok(DeltaListOutput { project_id, items, next: None, earlier: None, is_isolated: false })
}

/// What was written in the sessions in which a commit was made.
fn print_of_commit(args: &ReadArgs, commit: &str, since: Option<i64>, app: &mut App) -> Result<(), AppError> {
    let folder = app.config.cwd.clone().unwrap_or_default();
    let given = || Some(commit.to_ascii_lowercase()).filter(|id| is_commit_id(id));
    let Some(id) = git::commit_id(&folder, commit).or_else(given) else {
        let what = format!("git finds no commit `{}` here", visible(commit));
        let hint = "repeat it in a working copy that has the commit, or give its full id";
        return Err(Refusal::invalid("commit_invalid", what, hint).into());
    };
    let trailers =
        git::commits(&folder, std::slice::from_ref(&id)).into_iter().flat_map(|c| c.trailers).collect();
    let input = CommitOriginInput { project: app.project.clone(), commits: vec![id], trailers };
    let origin = app.run::<CommitOrigin>(&input)?;
    if origin.items.is_empty() {
        let what = format!(
            "project {} knows no session in which {} was made",
            visible(&origin.project_id),
            visible(commit)
        );
        let hint = "commits are noted while a session is open in their working copy; `baton log --since SPAN` looks by time";
        return Err(Refusal::new(Kind::NotFound, "commit_unknown", what, hint).into());
    }
    let mut items = Vec::new();
    for row in origin.items {
        let session = Some(row.session.session_id);
        let mut input = LedgerListInput { session, ..page_input(args, since, 0, app) };
        loop {
            let page = app.run::<LedgerList>(&input)?;
            items.extend(page.items);
            match page.next {
                Some(next) => input.after = next,
                None => break,
            }
        }
    }
    items.sort_by_key(|row| row.seq);
    if app.format == Format::Json {
        let project_id = origin.project_id;
        return app.show(
            &DeltaListOutput { project_id, items, next: None, earlier: None, is_isolated: false },
            |_| String::new(),
        );
    }
    write(&items, app)
}

fn write(rows: &[Row], app: &App) -> Result<(), AppError> {
    let mut out = std::io::stdout().lock();
    for row in rows {
        if app.format == Format::Text {
            writeln!(out, "{}", render::for_terminal(line(row).trim_end(), false))?;
        } else {
            writeln!(out, "{}", serde_json::to_string(row).map_err(anyhow::Error::from)?)?;
        }
    }
    out.flush()?;
    Ok(())
}
