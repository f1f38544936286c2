//! `baton status`

use baton_ops::op::Operation;
use serde_json::json;

use super::watch;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Show who works on what and which hand-offs wait
#[derive(clap::Args)]
pub struct Args {
    /// Draw it again every second until interrupted; on a pipe, a line for every change
    #[arg(long, short)]
    watch: bool,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    if args.watch {
        return watch::run(app);
    }
    let answer = app.call(baton_ops::session::Status::NAME, json!({ "project": app.project }))?;
    app.answer(&answer, render::card)
}
