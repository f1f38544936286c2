//! `baton log`

use std::io::Write;

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::time::parse_span;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::error::Ended;
use crate::{host, render};

/// Read the project's ledger
#[derive(clap::Args)]
pub struct Args {
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
    let since = match &args.since {
        None => None,
        Some(text) => Some(
            host::now()
                - parse_span(text).ok_or_else(|| {
                    Refusal::invalid(
                        "span_invalid",
                        format!("`{text}` is not a span of time"),
                        "write it as 30m, 24h or 7d",
                    )
                })?,
        ),
    };
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
fn page(args: &Args, since: Option<i64>, after: i64, app: &mut App) -> Result<(Vec<Value>, i64), Ended> {
    let answer = app.call(
        "ledger_list",
        json!({ "project": app.project, "after": after, "kind": args.kind, "session": app.session, "since_ms": since, "limit": PAGE }),
    )?;
    let items = answer["items"].as_array().cloned().unwrap_or_default();
    let last = items.iter().filter_map(|item| item["seq"].as_i64()).max().unwrap_or(after);
    Ok((items, answer["next"].as_i64().unwrap_or(last).max(last)))
}

fn whole(args: &Args, since: Option<i64>, app: &mut App) -> Result<(), Ended> {
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
