//! `baton heartbeat`

use baton_ops::op::Operation;
use serde_json::json;

use super::Who;
use crate::app::{App, Format};
use crate::error::Ended;

/// Say that a session is still there; prints nothing
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: Who,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let input = json!({ "project": app.project, "session": app.session, "identity": args.who.identity });
    let answer = app.call(baton_ops::session::Heartbeat::NAME, input)?;
    if app.format == Format::Text { Ok(()) } else { app.answer(&answer, |_| String::new()) }
}
