//! Settings that cannot be read: which, where each stands, and the settings without them.

use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::Refusal;

use super::{Config, Sources, config};

/// The detail of a refusal that names its setting.
const SETTING: &str = "setting";

/// Settings without which a command would look at another ledger than the one that is meant.
const LEDGER: [&str; 4] = ["store", "server", "server_ca", "redis_url"];

/// A refusal of the value of a setting.
pub(super) fn of(key: &str, refusal: Refusal) -> Refusal {
    refusal.with(SETTING, key)
}

/// The setting of a refusal, if it is about one.
pub(crate) fn setting(refusal: &Refusal) -> Option<&str> {
    refusal.details.get(SETTING)?.as_str()
}

/// The same refusal, with the variable or the file that gives the value; a repository's file with the line.
pub(super) fn locate(refusal: Refusal, sources: &Sources) -> Refusal {
    let origin = setting(&refusal).and_then(|key| Some((key.to_owned(), sources.origins.get(key)?)));
    let Some((key, (_, origin))) = origin else { return refusal };
    match &sources.repository {
        _ if refusal.message.starts_with(origin) => refusal,
        Some(file) if Path::new(origin) == file.path => file.locate(&key, refusal),
        _ => {
            let place = visible(origin.strip_prefix("env ").unwrap_or(origin));
            Refusal { message: format!("{place}: {}", refusal.message), ..refusal }
        }
    }
}

/// The settings with the default of each that cannot be read, and those refusals.
pub(super) fn readable(mut sources: Sources) -> Result<Config, Refusal> {
    let mut faults = Vec::new();
    loop {
        let refusal = match config(sources.clone()) {
            Ok(config) => return Ok(Config { faults, ..config }),
            Err(refusal) => locate(refusal, &sources),
        };
        let key = setting(&refusal).filter(|key| !LEDGER.contains(key));
        if key.and_then(|key| sources.origins.remove(key)).is_none() {
            return Err(refusal);
        }
        faults.push(refusal);
    }
}
