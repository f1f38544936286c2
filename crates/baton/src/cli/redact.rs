//! `baton redact`

use std::io::Read;

use baton_model::refusal::Refusal;
use baton_transcripts::redact;
use serde_json::json;

use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Take secrets out of standard input, as out of all that Baton passes on
#[derive(clap::Args)]
pub struct Args {
    /// Show only what was found, by kind, and end with 1 if there was anything
    #[arg(long)]
    check: bool,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let hint = "give text, or the text of it: strings FILE | baton redact";
        Refusal::invalid("input_invalid", "standard input is not UTF-8 text", hint)
    })?;
    let redacted = redact::shared().redact(&text);
    let total: usize = redacted.counts.values().sum();
    if args.check {
        app.answer(&json!({ "secrets": total, "counts": redacted.counts }), |a| {
            let rows = a["counts"].as_object().into_iter().flatten();
            render::table(
                &rows.map(|(kind, count)| vec![count.to_string(), kind.clone()]).collect::<Vec<_>>(),
            )
        })?;
        return if total == 0 { Ok(()) } else { Err(Ended::Told) };
    }
    redacted.counts.iter().for_each(|(kind, count)| app.remark(&format!("{count} {kind}")));
    app.answer(&json!({ "secrets": total, "counts": redacted.counts, "text": redacted.text }), |a| {
        a["text"].as_str().unwrap_or_default().to_owned()
    })
}
