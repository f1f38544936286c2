//! `baton status`

use serde_json::json;

use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Show who works on what and which hand-offs wait
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: Args, app: &mut App) -> Result<(), Ended> {
    let answer = app.call("session_status", json!({ "project": app.project }))?;
    app.answer(&answer, render::card)
}
