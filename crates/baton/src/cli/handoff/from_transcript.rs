//! `baton handoff from-transcript`

use baton_model::id::visible;
use baton_ops::transcript::{Document, DocumentInput, Events, EventsInput};

use super::super::summarize::Summarize;
use super::trajectory;
use crate::app::{App, Format};
use crate::error::AppError;

#[derive(clap::Args)]
pub(super) struct FromTranscript {
    /// Session id, a unique prefix, `latest`, or a path to a transcript
    #[arg(default_value = "latest")]
    id: String,
    /// Tool that wrote the session: claude, codex, gemini, …
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Tool that should continue
    #[arg(long, value_name = "TOOL")]
    to: Option<String>,
    /// Maximum size of the document, in tokens (2000) or bytes (2KiB)
    #[arg(long, value_name = "N|NKiB")]
    budget: Option<String>,
    /// Level of detail: minimal, standard, verbose or full
    #[arg(long, value_name = "P")]
    preset: Option<String>,
    /// Output format: markdown, json (the packet), jsonl (its events, one per line) or atif (a
    /// trajectory in the form that Harbor and others exchange)
    #[arg(long, value_name = "F", default_value = "markdown", value_parser = ["markdown", "json", "jsonl", "atif"])]
    format: String,
    #[command(flatten)]
    summarize: Summarize,
    /// File to write to; defaults to standard output
    #[arg(short, value_name = "FILE")]
    output: Option<String>,
    /// Overwrite an existing file; never a store
    #[arg(long, requires = "output")]
    overwrite: bool,
}

pub(super) fn run(request: FromTranscript, app: &mut App) -> Result<(), AppError> {
    let FromTranscript { id, agent, to, budget, preset, format, summarize, output, overwrite } = request;
    let output = output.as_deref();
    if let Some(file) = output {
        crate::private_file::check_output(std::path::Path::new(file), overwrite)?;
    }
    crate::readers::refresh(app);
    if matches!(format.as_str(), "jsonl" | "atif") {
        let events = app.run::<Events>(&EventsInput { id, agent })?.items;
        let text = match format.as_str() {
            "atif" => format!("{:#}\n", serde_json::json!(trajectory::of_events(&events))),
            _ => events.iter().map(|event| format!("{event}\n")).collect(),
        };
        return deliver(&text, output, app);
    }
    let summary = summarize.of(&id, agent.as_deref(), app)?;
    let made = app.run::<Document>(&DocumentInput { id, agent, to, budget, preset, summary })?;
    if format == "json" {
        return deliver(&format!("{:#}\n", made.packet), output, app);
    }
    if app.format != Format::Text && output.is_none() {
        return app.show(&made, |_| String::new());
    }
    deliver(&format!("{}\n", made.document), output, app)?;
    app.remark(&format!(
        "{} session {}: about {} tokens",
        visible(&made.agent),
        visible(&made.id),
        made.tokens
    ));
    Ok(())
}

/// Writes a document to a file or to standard output.
fn deliver(text: &str, file: Option<&str>, app: &App) -> Result<(), AppError> {
    use std::io::{IsTerminal, Write};
    match file {
        Some(path) => {
            crate::private_file::write(std::path::Path::new(path), text.as_bytes()).map_err(|error| {
                baton_model::refusal::Refusal::invalid(
                    "output_unwritable",
                    format!("{path} cannot be written: {error}"),
                    "choose another file with -o",
                )
            })?;
            app.remark(&format!("written to {path}"));
        }
        None => {
            let mut out = std::io::stdout().lock();
            // JSON is exact; on a terminal what it does not escape by itself is escaped, which means the same.
            let shown = match (out.is_terminal(), text.starts_with('{')) {
                (true, true) => baton_model::printable::json(text),
                (true, false) => baton_model::printable::block(text),
                (false, _) => text.into(),
            };
            out.write_all(shown.as_bytes()).and_then(|()| out.flush())?;
        }
    }
    Ok(())
}
