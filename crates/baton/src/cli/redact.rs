//! `baton redact`

use std::collections::BTreeMap;
use std::io::Read;

use baton_model::refusal::Refusal;
use baton_transcripts::redact;
use serde::Serialize;

use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Redact secrets from standard input, as Baton does in what it reads from transcripts
#[derive(clap::Args)]
pub(super) struct Args {
    /// Print only the number of secrets of each kind; exit with code 1 if there were any
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let hint = "give text, or the text of it: strings FILE | baton redact";
        Refusal::invalid("input_invalid", "standard input is not UTF-8 text", hint)
    })?;
    let redacted = redact::shared().redact(&text);
    let total: usize = redacted.counts.values().sum();
    if args.check {
        let found = MatchRow { secrets: total, counts: &redacted.counts, text: None };
        app.show(&found, |found| {
            let rows = found.counts.iter().map(|(kind, count)| vec![count.to_string(), kind.to_string()]);
            render::table(&rows.collect::<Vec<_>>())
        })?;
        return if total == 0 { Ok(()) } else { Err(AppError::Reported) };
    }
    redacted.counts.iter().for_each(|(kind, count)| app.remark(&format!("{count} {kind}")));
    let found = MatchRow { secrets: total, counts: &redacted.counts, text: Some(&redacted.text) };
    app.show(&found, |_| redacted.text.to_string())
}

/// What `baton redact` answers.
#[derive(Serialize)]
struct MatchRow<'a> {
    secrets: usize,
    /// How many of each kind.
    counts: &'a BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}
