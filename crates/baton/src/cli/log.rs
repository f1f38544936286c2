//! `baton log`

use baton_ops::op::Operation;
use std::io::{Read as _, Write};
use std::path::Path;

use baton_model::delta;
use baton_model::refusal::{Kind, Refusal};
use baton_store::export_file::Writer;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::error::Ended;
use crate::{private, render};

/// Read the project's ledger, export it, rebuild a store from it
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    read: Read,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Write the project as JSON lines: its ledger, then what stands beside it
    Export {
        /// File to write, or - for standard output
        file: String,
        /// Also when the ledger's chain is broken: what can still be read of it
        #[arg(long)]
        unverified: bool,
        /// Replace a file that is there; never a store
        #[arg(long)]
        overwrite: bool,
    },
    /// Rebuild a project from an export; refused when the store has it already
    Import {
        /// File to read, or - for standard input
        file: String,
        /// Believe an export that nothing vouches for: one of an older version, or what is left of a damaged one
        #[arg(long)]
        unverified: bool,
    },
}

#[derive(clap::Args)]
struct Read {
    /// Only deltas after this number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: i64,
    /// Only the last span of time: 30m, 24h, 7d
    #[arg(long, value_name = "SPAN")]
    since: Option<String>,
    /// Only this kind
    #[arg(long, value_name = "K", value_parser = PossibleValuesParser::new(delta::Kind::ALL.map(delta::Kind::as_str)))]
    kind: Option<String>,
    /// Go on as new deltas come
    #[arg(long, short)]
    follow: bool,
}

/// Deltas read at once.
const PAGE: i64 = 1_000;

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Some(Verb::Export { file, unverified, overwrite }) => {
            if file != "-" {
                private::check_output(Path::new(&file), overwrite)?;
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
fn export(file: &str, unverified: bool, app: &mut App) -> Result<(), Ended> {
    let mut ledger = Vec::new();
    let (mut after, mut tries) = (0, 0);
    let rest = loop {
        let input = json!({ "project": app.project, "after": after, "limit": PAGE, "chain": true });
        let page = app.call(baton_ops::ledger::LedgerList::NAME, input)?;
        ledger.extend(render::list(&page, "items").iter().cloned());
        after = ledger.last().and_then(|delta: &Value| delta["seq"].as_i64()).unwrap_or(after);
        if !page["next"].is_null() {
            continue;
        }
        let rest = app.call(
            baton_ops::ledger::Export::NAME,
            json!({ "project": app.project, "unverified": unverified }),
        )?;
        let newest = ledger.last().map_or(&json!(""), |delta| &delta["chain"]).clone();
        let project = render::list(&rest, "items").iter().find(|row| row["_type"] == "project");
        if unverified || project.is_some_and(|project| project["chain_head"] == newest) {
            break rest;
        }
        tries += 1;
        if tries == READ_ON {
            let what = "the project is written to faster than it can be exported";
            let hint = "try again, or use `baton backup FILE`, which copies the whole store at one moment";
            return Err(Refusal::new(Kind::Conflict, "export_busy", what, hint).into());
        }
    };
    let rows = render::list(&rest, "items");
    let deltas = ledger.len();
    let mut writer = Writer::new(&render::text(&rest, "project_id"), deltas, rows.len());
    ledger.iter().chain(rows).for_each(|line| writer.line(line));
    let text = writer.finish();
    if file == "-" {
        std::io::stdout().lock().write_all(text.as_bytes())?;
        return Ok(());
    }
    private::write(Path::new(file), text.as_bytes()).map_err(|error| {
        Refusal::invalid(
            "output_unwritable",
            format!("{file} cannot be written: {error}"),
            "choose another file",
        )
    })?;
    let told =
        json!({ "project_id": rest["project_id"], "file": file, "deltas": deltas, "rows": rows.len() });
    app.answer(&told, |a| {
        format!(
            "exported {} deltas and {} rows of {} to {file}\n",
            a["deltas"],
            a["rows"],
            render::text(a, "project_id")
        )
    })
}

fn import(file: &str, unverified: bool, app: &mut App) -> Result<(), Ended> {
    let lines = lines(file, unverified)?;
    let answer =
        app.call(baton_ops::ledger::Import::NAME, json!({ "lines": lines, "unverified": unverified }))?;
    if answer["verified"] != true {
        app.remark("nothing vouches for these lines: what was missing from them is missing now");
    }
    app.answer(&answer, |a| {
        format!(
            "rebuilt project {}: {} deltas, {} rows\n",
            render::text(a, "project_id"),
            a["deltas"],
            a["rows"]
        )
    })
}

/// The lines of a file, each as it is. The last one ends with a line break, else the file was cut.
fn lines(file: &str, unverified: bool) -> Result<Vec<String>, Ended> {
    let invalid = |number: usize, what: &str| {
        Refusal::invalid(
            "export_invalid",
            format!("line {number} of {file} {what}"),
            "give a whole file of `baton log export`",
        )
        .with("line", number)
    };
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

fn read(args: Read, app: &mut App) -> Result<(), Ended> {
    let since = super::since(args.since.as_deref())?;
    if app.format == Format::Json && !args.follow {
        return whole(&args, since, app);
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

/// One page of wanted deltas, and the number up to which the ledger was looked at.
fn page(args: &Read, since: Option<i64>, after: i64, app: &mut App) -> Result<(Vec<Value>, i64), Ended> {
    let answer = app.call(
        baton_ops::ledger::LedgerList::NAME,
        json!({ "project": app.project, "after": after, "kind": args.kind, "session": app.session, "since_ms": since, "limit": PAGE }),
    )?;
    let items = answer["items"].as_array().cloned().unwrap_or_default();
    let last = items.iter().filter_map(|item| item["seq"].as_i64()).max().unwrap_or(after);
    Ok((items, answer["next"].as_i64().unwrap_or(last).max(last)))
}

fn whole(args: &Read, since: Option<i64>, app: &mut App) -> Result<(), Ended> {
    let mut items = Vec::new();
    let mut after = args.after;
    let mut project = Value::Null;
    loop {
        let input = json!({ "project": app.project, "after": after, "kind": args.kind, "session": app.session, "since_ms": since, "limit": PAGE });
        let answer = app.call(baton_ops::ledger::LedgerList::NAME, input)?;
        project.clone_from(&answer["project_id"]);
        items.extend(answer["items"].as_array().cloned().unwrap_or_default());
        match answer["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
    }
    app.answer(&json!({ "project_id": project, "items": items, "next": null }), |_| String::new())
}

fn write(items: &[Value], app: &App) -> Result<(), Ended> {
    let mut out = std::io::stdout().lock();
    for item in items {
        if app.format == Format::Text {
            writeln!(out, "{}", render::for_terminal(line(item).trim_end(), false))?;
        } else {
            writeln!(out, "{item}")?;
        }
    }
    out.flush()?;
    Ok(())
}

fn line(item: &Value) -> String {
    let body = match &item["body"] {
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        other => other.clone(),
    };
    let told = ["summary", "text", "what", "reason", "picker_identity", "surface"]
        .iter()
        .find_map(|k| body[*k].as_str());
    format!(
        "{:>6}  {}  {:<10}  {:<12}  {}",
        render::text(item, "seq"),
        render::text(item, "created_at"),
        render::text(item, "kind"),
        render::text(item, "identity"),
        told.map(baton_model::packet::one_line).map(|t| baton_model::id::visible(&t)).unwrap_or_default()
    )
}
