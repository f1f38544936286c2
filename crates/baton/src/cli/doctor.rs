//! `baton doctor`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::live;
use crate::recall::report;
use crate::render;

/// Check that the store is sound and what is installed in your tools
#[derive(clap::Args)]
pub struct Args {}

pub fn run(_: Args, app: &mut App) -> Result<(), Ended> {
    let mut answer = app.call(baton_ops::ledger::StoreCheck::NAME, json!({}))?;
    answer["store"] = json!(app.config.ledger());
    if let Some(redis) = app.config.redis.as_ref().filter(|_| app.config.server.is_none()) {
        let (state, why) = live::probe(redis);
        answer["redis"] = json!({ "url": redis.to_string(), "state": state.as_str(), "why": why });
    }
    let tools = super::install::report(&super::install::places(app, crate::install::Scope::User)?);
    let dangling = |tool: &Value| tool["mcp"] == "dangling" || tool["hooks"] == "dangling";
    let sound = answer["sound"] == true && !tools.iter().any(dangling);
    answer["tools"] = tools.into();
    answer["repository"] = super::trust::report(app);
    answer["trusted"] = super::trust::listed(app).into();
    let recall = report::report(app)?;
    let sound = sound && report::is_well(recall.as_ref());
    if let Some(recall) = recall {
        answer["recall"] = recall;
    }
    app.answer(&answer, show)?;
    // The answer names the faults; only the exit code is left to say.
    if sound { Ok(()) } else { Err(Ended::Told) }
}

fn show(answer: &Value) -> String {
    let verdict = if answer["sound"] == true { "sound" } else { "NOT sound" };
    let projects = match answer["projects"].as_i64().unwrap_or_default() {
        1 => "1 project".to_owned(),
        n => format!("{n} projects"),
    };
    let mut text = format!(
        "store {} ({}), {projects}: {verdict}\n",
        render::text(answer, "store"),
        render::text(answer, "engine"),
    );
    for fault in render::list(answer, "faults").iter().filter_map(Value::as_str) {
        text.push_str(&format!("  {fault}\n"));
    }
    for next in render::list(answer, "next").iter().filter_map(Value::as_str) {
        text.push_str(&format!("  next: {next}\n"));
    }
    text.push_str(&report::show(&answer["recall"]));
    if answer["redis"].is_object() {
        let redis = &answer["redis"];
        let why = render::text(redis, "why");
        let why = if why.is_empty() { why } else { format!(": {why}; the ledger keeps everything") };
        text.push_str(&format!(
            "redis {} is {}{why}\n",
            render::text(redis, "url"),
            render::text(redis, "state")
        ));
    }
    text.push_str(&super::trust::describe(&answer["repository"]));
    let stale = render::list(answer, "trusted").iter().filter(|row| row["state"] != "trusted");
    for row in stale {
        let folder = baton_model::id::visible(&render::text(row, "folder"));
        text.push_str(&format!("{folder}: its trusted settings are {}\n", render::text(row, "state")));
    }
    let tools: Vec<_> = render::list(answer, "tools").iter().map(super::install::row).collect();
    text + &render::section("tools", &tools)
}
