//! `baton log`

use std::io::Write;
use std::path::Path;

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
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
    },
    /// Rebuild a project from an export; refused when the store has it already
    Import {
        /// File to read, or - for standard input
        file: String,
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
    #[arg(long, value_name = "K", value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::as_str)))]
    kind: Option<String>,
    /// Go on as new deltas come
    #[arg(long, short)]
    follow: bool,
}

/// Deltas read at once.
const PAGE: i64 = 1_000;

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Some(Verb::Export { file }) => export(&file, app),
        Some(Verb::Import { file }) => import(&file, app),
        None => read(args.read, app),
    }
}

/// Every line of the project: the ledger page by page, then the rest.
fn export(file: &str, app: &mut App) -> Result<(), Ended> {
    let mut text = String::new();
    let (mut after, mut deltas) = (0, 0);
    loop {
        let answer =
            app.call("ledger_list", json!({ "project": app.project, "after": after, "limit": PAGE }))?;
        for item in render::list(&answer, "items") {
            text.push_str(&format!("{item}\n"));
            deltas += 1;
        }
        match answer["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
    }
    let rest = app.call("ledger_export", json!({ "project": app.project }))?;
    let rows = render::list(&rest, "items");
    rows.iter().for_each(|row| text.push_str(&format!("{row}\n")));
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

fn import(file: &str, app: &mut App) -> Result<(), Ended> {
    let text = super::read_input(file)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(index, line)| {
        serde_json::from_str(line).map_err(|error| {
            let what = format!("line {} of {file} is not JSON: {error}", index + 1);
            Refusal::invalid("export_invalid", what, "give a whole file of `baton log export`")
        })
    });
    let lines = lines.collect::<Result<Vec<Value>, Refusal>>()?;
    let answer = app.call("ledger_import", json!({ "lines": lines }))?;
    app.answer(&answer, |a| {
        format!(
            "rebuilt project {}: {} deltas, {} rows\n",
            render::text(a, "project_id"),
            a["deltas"],
            a["rows"]
        )
    })
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
        "ledger_list",
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
        let answer = app.call("ledger_list", input)?;
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
            writeln!(out, "{}", line(item).trim_end())?;
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
