//! `baton config`

use serde_json::{Map, json};

use super::trust;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Show the settings and where each came from
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show the settings and where each came from
    Show,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let Verb::Show = args.verb;
    let config = &app.config;
    let limits = config.limits;
    let mut settings = Map::new();
    for (key, value) in [
        ("store", config.store.to_string()),
        ("stale_after", format!("{}s", limits.stale_after / 1000)),
        ("live_after", format!("{}s", limits.live_after / 1000)),
        ("auto_wrap", config.auto_wrap.to_string()),
        ("route.fallback_after", format!("{}s", config.route.fallback_after / 1000)),
        ("route.escalate_after", format!("{}s", config.route.escalate_after / 1000)),
        ("route.max_attempts", config.route.max_attempts.to_string()),
        ("route.human", config.route.human.clone()),
    ] {
        settings.insert(key.into(), json!({ "value": value, "from": "default" }));
    }
    for (key, (value, from)) in &config.origins {
        let value = match *key {
            "store" => config.store.to_string(),
            "server" => config.ledger(),
            "redis_url" => config.redis.as_ref().map(ToString::to_string).unwrap_or_default(),
            "webhook_secret" => "[hidden]".to_owned(),
            _ => value.clone(),
        };
        settings.insert((*key).into(), json!({ "value": value, "from": from }));
    }
    let answer =
        json!({ "settings": settings, "repository": trust::report(app), "trusted": trust::listed(app) });
    app.answer(&answer, |a| {
        let rows = a["settings"].as_object().into_iter().flatten();
        let table = render::table(
            &rows
                .map(|(key, v)| vec![key.clone(), render::text(v, "value"), render::text(v, "from")])
                .collect::<Vec<_>>(),
        );
        table + &trust::describe(&a["repository"])
    })
}
