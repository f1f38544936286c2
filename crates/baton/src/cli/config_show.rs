//! `baton config`

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::trust;
use crate::app::App;
use crate::config::{SECRET_KEYS, setting};
use crate::error::AppError;
use crate::render;

/// Show the settings and where each came from
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show the settings and where each came from
    Show,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let Verb::Show = args.verb;
    let config = &app.config;
    let limits = config.limits;
    let mut settings = Settings::default();
    for (key, value) in [
        ("store", config.store.to_string()),
        ("stale_after", format!("{}s", limits.stale_after / 1000)),
        ("live_after", format!("{}s", limits.live_after / 1000)),
        ("auto_wrap", config.auto_wrap.to_string()),
        ("subjects", config.subjects.to_string()),
        ("run.continue", config.run_continue.to_string()),
        ("wrap.changes", config.wrap_changes.word().to_owned()),
        ("wrap.changes_remote", config.wrap_changes_remote.clone().unwrap_or_default()),
        ("route.fallback_after", format!("{}s", config.route.fallback_after / 1000)),
        ("route.escalate_after", format!("{}s", config.route.escalate_after / 1000)),
        ("route.max_attempts", config.route.max_attempts.to_string()),
        ("route.human", config.route.human.clone()),
    ] {
        settings.set(key, value, "default");
    }
    for (key, (value, from)) in &config.origins {
        let value = match *key {
            "store" => config.store.to_string(),
            "server" => config.ledger(),
            "redis_url" => config.redis.as_ref().map(ToString::to_string).unwrap_or_default(),
            "webhook_secret" => "[hidden]".to_owned(),
            secret if SECRET_KEYS.contains(&secret) => "[hidden]".to_owned(),
            _ => value.clone(),
        };
        settings.set(key, value, from);
    }
    let (repository, trusted) = (trust::report(app), trust::trusted_files(app));
    let answer = ConfigAnswer { settings, faults: SettingFault::list(app), repository, trusted };
    app.show(&answer, |answer| {
        let row = |(key, setting): &(&str, Setting)| {
            vec![(*key).to_owned(), visible(&setting.value), visible(&setting.from)]
        };
        let table = render::table(&answer.settings.0.iter().map(row).collect::<Vec<_>>());
        let faults: String = answer.faults.iter().map(SettingFault::text).collect();
        faults + &table + &answer.repository.as_ref().map(trust::describe).unwrap_or_default()
    })?;
    // The answer names the faults; only the exit code is left to say.
    if answer.faults.is_empty() { Ok(()) } else { Err(AppError::Reported) }
}

/// A setting that cannot be read.
#[derive(Serialize)]
pub(super) struct SettingFault {
    setting: String,
    message: String,
    hint: String,
}

impl SettingFault {
    /// Those of this call.
    pub(super) fn list(app: &App) -> Vec<Self> {
        let fault = |refusal: &Refusal| Self {
            setting: setting(refusal).unwrap_or_default().to_owned(),
            message: refusal.message.clone(),
            hint: refusal.hint.clone(),
        };
        app.config.faults.iter().map(fault).collect()
    }

    /// What others may read of it: not the value.
    pub(super) fn public_text(&self) -> String {
        format!("the setting {} cannot be read", visible(&self.setting))
    }

    /// What a person reads of it.
    pub(super) fn text(&self) -> String {
        let (message, setting) = (visible(&self.message), visible(&self.setting));
        format!(
            "not read: {message}: {}; until then other commands refuse, and here {setting} has its default\n",
            self.hint
        )
    }
}

/// What `baton config show` answers.
#[derive(Serialize)]
struct ConfigAnswer {
    settings: Settings,
    /// Settings that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<SettingFault>,
    repository: Option<trust::Report>,
    trusted: Vec<trust::TrustedFile>,
}

/// A setting, and where it came from.
#[derive(Serialize)]
struct Setting {
    value: String,
    from: String,
}

/// The settings by their names, in the order in which they were first set.
#[derive(Default)]
struct Settings(Vec<(&'static str, Setting)>);

impl Settings {
    fn set(&mut self, key: &'static str, value: String, from: &str) {
        let setting = Setting { value, from: from.to_owned() };
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = setting,
            None => self.0.push((key, setting)),
        }
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, setting) in &self.0 {
            map.serialize_entry(key, setting)?;
        }
        map.end()
    }
}
