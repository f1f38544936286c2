//! Where settings come from: flags over the environment over `.baton.toml` over the user's configuration file.
//!
//! This file is the only one that reads the environment, the working directory and configuration files.
#![allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

mod beads_file;
mod faults;
mod file;
mod github;
mod home;
mod keys;
mod memory_index;
mod notify;
mod redact;
mod redis;
mod repository;
mod server;
pub(crate) mod trust;
mod wrap;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;
use baton_model::route::Policy;
use baton_model::session::Limits;
use baton_model::time::parse_span;
use baton_store::Target;
use baton_transcripts::redact::Rules;

pub(crate) use faults::setting;
pub(crate) use github::{GitHub, key_pair};
use keys::KEYS;
pub(crate) use keys::variables;
pub(crate) use memory_index::{Embeddings, MemoryIndexConfig, Qdrant};
pub(crate) use notify::{NotifySettings, SECRET_KEYS};
pub(crate) use redis::{Endpoint as RedisPlace, Node, Redis};
pub(crate) use repository::{NAME as REPOSITORY_FILE, RepositoryFile};
pub(crate) use server::Server;
pub(crate) use wrap::ChangesMode;

use crate::repo_file::RepoFile;

/// Everything that was decided outside the command line.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Which store.
    pub store: Target,
    /// What keeps live state beside it.
    pub redis: Option<Redis>,
    /// The server that takes its place.
    pub server: Option<Server>,
    /// Identity from the environment or a file.
    pub identity: Option<String>,
    /// Project from the environment or a file.
    pub project: Option<String>,
    /// Session from the environment.
    pub session: Option<String>,
    /// Tool that runs us.
    pub surface: String,
    /// What stands in for the process of the caller.
    pub process: Option<String>,
    /// The process that keeps what the agent does and ends its session: `baton run` or `baton work` started the agent.
    pub supervisor: Option<String>,
    /// What stands in for the id of the machine.
    pub machine: Option<String>,
    /// The cut-offs of liveness.
    pub limits: Limits,
    /// The router's policy: its thresholds and the recipient of its escalations.
    pub route: Policy,
    /// Whether a hook leaves a baton where a session stops or ends, in place of a checkpoint.
    pub auto_wrap: bool,
    /// Whether agents are told the subjects of what waits.
    pub subjects: bool,
    /// What an empty line answers when `baton run --then` asks whether the next tool goes on.
    pub run_continue: bool,
    /// Whether what is not committed goes with a baton.
    pub wrap_changes: ChangesMode,
    /// The git remote in which what goes along is kept, if not in the ledger: its name, or its address.
    pub wrap_changes_remote: Option<String>,
    /// How a person is told outside the terminal.
    pub notify: NotifySettings,
    /// Secret with which webhook calls are signed.
    pub webhook_secret: Option<String>,
    /// How GitHub is reached.
    pub github: GitHub,
    /// How memories are recalled.
    pub memory_index: MemoryIndexConfig,
    /// The user's own rules for secrets.
    pub redact: Rules,
    /// The Beads file that is kept in step with the tasks.
    pub beads_file: Option<RepoFile>,
    /// The settings file of the repository that the working directory is in.
    pub repository: Option<RepositoryFile>,
    /// The user's home directory.
    pub home: PathBuf,
    /// Where Baton's settings and keys are.
    pub config_dir: PathBuf,
    /// Where Baton keeps its own data.
    pub data_dir: PathBuf,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The environment, for readers of other tools' files.
    pub vars: BTreeMap<String, String>,
    /// Where each setting came from.
    pub origins: BTreeMap<&'static str, (String, String)>,
    /// The settings that cannot be read and have their default, for a command that shows them; any other one is refused then.
    pub faults: Vec<Refusal>,
}

/// Whether the agent behind this call is supervised, see [`Config::supervisor`]. A hook asks before it has time to read
/// settings.
pub(crate) fn is_supervised() -> bool {
    std::env::var_os("BATON_SUPERVISOR").is_some_and(|process| !process.is_empty())
}

/// A variable of the environment that is no setting: it decides in which folder the settings are read, or names the time zone.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Makes a folder the working directory, and returns its absolute path.
pub(crate) fn enter(folder: &Path) -> std::io::Result<PathBuf> {
    std::env::set_current_dir(folder)?;
    std::env::current_dir()
}

/// Reads the configuration as it is in another folder than the working directory.
pub(crate) fn load_at(folder: Option<PathBuf>) -> Result<Config, Refusal> {
    let (vars, home, cwd) = environment(folder)?;
    let config = from_parts(vars, home, cwd)?;
    redact::install(&config.redact)?;
    Ok(config)
}

/// Reads the configuration for a command that shows settings: one that cannot be read has its default and is named in [`Config::faults`].
pub(crate) fn load_readable(folder: Option<PathBuf>) -> Result<Config, Refusal> {
    let (vars, home, cwd) = environment(folder)?;
    let config = faults::readable(Sources::read(vars, home, cwd)?)?;
    redact::install(&config.redact)?;
    Ok(config)
}

/// The settings that a process in this folder has, for what a server does there: on the server's own store.
pub(crate) fn in_folder(server: &Config, folder: &Path) -> Result<Config, Refusal> {
    let there = from_parts(server.vars.clone(), server.home.clone(), Some(folder.to_owned()))?;
    Ok(Config { store: server.store.clone(), redis: server.redis.clone(), server: None, ..there })
}

/// The variables, the home and the folder.
fn environment(folder: Option<PathBuf>) -> Result<(Variables, PathBuf, Option<PathBuf>), Refusal> {
    let mut vars = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let Ok(name) = name.into_string() else { continue };
        match value.into_string() {
            Ok(value) => _ = vars.insert(name, value),
            // Ignoring a variable that is not UTF-8 would select another identity or store than the one configured.
            Err(_) if OURS.iter().any(|ours| name.starts_with(ours)) => return Err(no_text_refusal(&name)),
            Err(_) => {}
        }
    }
    let home = home::of(&vars)?;
    let cwd = folder.or_else(|| std::env::current_dir().ok());
    if let Some(folder) = cwd.as_deref().filter(|folder| folder.to_str().is_none()) {
        return Err(folder_no_text_refusal(folder));
    }
    Ok((vars, home, cwd))
}

impl Config {
    /// Works on this store: said on the command line, it wins over a server of the settings.
    pub(crate) fn use_store(&mut self, url: &str) -> Result<(), Refusal> {
        self.store = Target::read(url)?;
        self.server = None;
        self.origins.insert("store", (url.to_owned(), "--store".into()));
        Ok(())
    }

    /// The name of the person here, else the one that is acted under.
    pub(crate) fn user_name(&self) -> Option<String> {
        self.notify.me.as_ref().or(self.identity.as_ref()).cloned()
    }

    /// Where the ledger is, as people name it.
    pub(crate) fn ledger(&self) -> String {
        self.server.as_ref().map_or_else(|| self.store.to_string(), |server| server.url.clone())
    }
}

/// The ledger that a process with these variables, and `--store` on its command line, opens in this folder.
pub(crate) fn ledger_of(
    vars: BTreeMap<String, String>,
    home: PathBuf,
    cwd: Option<PathBuf>,
    store: Option<&str>,
) -> Result<String, Refusal> {
    let mut config = from_parts(vars, home, cwd)?;
    store.map_or(Ok(()), |url| config.use_store(url))?;
    Ok(config.ledger())
}

/// The path by which other programs start this one: the one on the search path, which outlives an update, else its own.
pub(crate) fn own_program(vars: &BTreeMap<String, String>) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let itself = own.canonicalize().unwrap_or_else(|_| own.clone());
    let path = vars.get("PATH").map(String::as_str).unwrap_or_default();
    let known = std::env::split_paths(path)
        .map(|folder| folder.join("baton"))
        .find(|program| program.is_absolute() && program.canonicalize().is_ok_and(|real| real == itself));
    Some(known.unwrap_or(own))
}

/// Prefixes and names of the variables that select the store, the folders and the identity.
const OURS: [&str; 4] = ["BATON_", "PRISM_AGENT_IDENTITY", "XDG_", "HOME"];

fn no_text_refusal(variable: &str) -> Refusal {
    let what = format!("the variable {variable} is not UTF-8 text");
    Refusal::invalid("config_invalid", what, "give it a value in UTF-8, or unset it")
}

/// Two folders whose names differ only in such bytes would be one, and the project of the one would be that of the other.
fn folder_no_text_refusal(folder: &Path) -> Refusal {
    let what = format!("the name of the folder {} is not UTF-8 text", folder.display());
    let hint = "rename it, or work in another one: by its name Baton knows to which project a folder belongs";
    Refusal::invalid("folder_invalid", what, hint)
}

/// Variables by their names.
type Variables = BTreeMap<String, String>;

/// What the settings are read from.
#[derive(Clone)]
struct Sources {
    vars: Variables,
    home: PathBuf,
    cwd: Option<PathBuf>,
    data_dir: PathBuf,
    config_dir: PathBuf,
    repository: Option<RepositoryFile>,
    origins: BTreeMap<&'static str, (String, String)>,
}

impl Sources {
    fn read(vars: Variables, home: PathBuf, cwd: Option<PathBuf>) -> Result<Self, Refusal> {
        let dir =
            |var: &str, fallback: &str| home::xdg_dir(&vars, var).unwrap_or_else(|| home.join(fallback));
        let data_dir = dir("XDG_DATA_HOME", ".local/share").join("baton");
        let config_dir = dir("XDG_CONFIG_HOME", ".config").join("baton");
        let repository =
            cwd.as_deref().map(|cwd| RepositoryFile::of(cwd, &config_dir)).transpose()?.flatten();
        let origins = settings(&vars, &config_dir, repository.as_ref())?;
        Ok(Self { vars, home, cwd, data_dir, config_dir, repository, origins })
    }
}

fn from_parts(vars: Variables, home: PathBuf, cwd: Option<PathBuf>) -> Result<Config, Refusal> {
    let sources = Sources::read(vars, home, cwd)?;
    config(sources.clone()).map_err(|refusal| faults::locate(refusal, &sources))
}

/// The settings of these sources. A refusal names the setting in its details.
fn config(sources: Sources) -> Result<Config, Refusal> {
    let Sources { vars, home, cwd, data_dir, config_dir, repository, origins } = sources;
    let setting = |key: &str| origins.get(key).map(|(value, _)| value.clone());
    let spans = |key: &str, usual| span(key, setting(key), usual);
    let switches = |key: &str| switch(key, setting(key), true);
    let (auto_wrap, run_continue) = (switches("auto_wrap")?, switches("run.continue")?);
    let changes =
        ChangesMode::read(setting("wrap.changes")).map_err(|refusal| faults::of("wrap.changes", refusal))?;
    let route = policy(setting, spans)?;
    let store = store_target(setting("store"), &data_dir)?;
    let given = |name: &str| vars.get(name).filter(|v| !v.is_empty()).cloned();
    Ok(Config {
        store,
        redis: redis::read(&origins)?,
        server: server::read(&origins, given("BATON_TOKEN"))?,
        identity: setting("identity"),
        project: setting("project"),
        session: given("BATON_SESSION"),
        surface: setting("surface").unwrap_or_default(),
        process: given("BATON_PROCESS"),
        supervisor: given("BATON_SUPERVISOR"),
        machine: given("BATON_MACHINE"),
        limits: limits(spans)?,
        route,
        auto_wrap,
        subjects: switches("subjects")?,
        run_continue,
        wrap_changes: changes,
        wrap_changes_remote: setting("wrap.changes_remote").filter(|remote| !remote.trim().is_empty()),
        notify: NotifySettings::read(&setting)?,
        webhook_secret: setting("webhook_secret"),
        github: github::read(&setting, &given)?,
        memory_index: memory_index::read(&origins, &given)?,
        redact: redact::read(&origins)?,
        beads_file: origins
            .get("tasks.mirror")
            .and_then(|(value, origin)| beads_file::file(value, origin, repository.as_ref(), cwd.as_deref())),
        repository,
        home,
        config_dir,
        data_dir,
        cwd,
        vars,
        origins,
        faults: Vec::new(),
    })
}

/// The store that was named, or the one beside Baton's own data.
fn store_target(named: Option<String>, data_dir: &Path) -> Result<Target, Refusal> {
    named.map_or_else(|| Ok(Target::File(data_dir.join("baton.db"))), |text| Target::read(&text))
}

/// Every setting that was given, with where: a repository's file over the user's, the environment over both.
fn settings(
    vars: &BTreeMap<String, String>,
    config_dir: &Path,
    repository: Option<&RepositoryFile>,
) -> Result<BTreeMap<&'static str, (String, String)>, Refusal> {
    let mut origins = BTreeMap::new();
    let own = config_dir.join("config.toml");
    for (key, value) in file::read(&own)? {
        origins.insert(key, (value, own.display().to_string()));
    }
    if let Some(file) = repository {
        for (key, value) in file.counted() {
            origins.insert(key, (value.clone(), file.path.display().to_string()));
        }
    }
    for (key, names) in KEYS {
        if let Some((name, value)) =
            names.iter().find_map(|n| Some((*n, vars.get(*n).filter(|v| !v.is_empty())?)))
        {
            origins.insert(key, (value.clone(), format!("env {name}")));
        }
    }
    Ok(origins)
}

fn limits(span: impl Fn(&str, i64) -> Result<i64, Refusal>) -> Result<Limits, Refusal> {
    let usual = Limits::default();
    Ok(Limits {
        stale_after: span("stale_after", usual.stale_after)?,
        live_after: span("live_after", usual.live_after)?,
    })
}

fn policy(
    setting: impl Fn(&str) -> Option<String>,
    span: impl Fn(&str, i64) -> Result<i64, Refusal>,
) -> Result<Policy, Refusal> {
    let usual = Policy::default();
    let most = "route.max_attempts";
    Ok(Policy {
        fallback_after: span("route.fallback_after", usual.fallback_after)?,
        escalate_after: span("route.escalate_after", usual.escalate_after)?,
        max_attempts: count(most, setting(most), usual.max_attempts)?,
        human: setting("route.human").unwrap_or(usual.human),
    })
}

fn span(key: &str, text: Option<String>, default: i64) -> Result<i64, Refusal> {
    let Some(text) = text else { return Ok(default) };
    parse_span(&text).ok_or_else(|| {
        let what = format!("`{key}` is `{text}`, which is not a span of time");
        faults::of(key, Refusal::invalid("config_invalid", what, "write it as 90s, 10m or 2h"))
    })
}

fn count(key: &str, text: Option<String>, default: i64) -> Result<i64, Refusal> {
    let Some(text) = text else { return Ok(default) };
    text.trim().parse().ok().filter(|n| *n >= 0).ok_or_else(|| {
        let what = format!("`{key}` is `{text}`, which is not a number of 0 or more");
        faults::of(key, Refusal::invalid("config_invalid", what, "write it as 5"))
    })
}

fn switch(key: &str, text: Option<String>, usual: bool) -> Result<bool, Refusal> {
    match text.as_deref().map(str::trim) {
        None => Ok(usual),
        Some("false" | "0" | "no" | "off") => Ok(false),
        Some("true" | "1" | "yes" | "on") => Ok(true),
        Some(other) => {
            let what = format!("`{key}` is `{other}`, which is neither true nor false");
            Err(faults::of(key, Refusal::invalid("config_invalid", what, "write it as true or false")))
        }
    }
}

/// Settings for a test: these variables and nothing else.
#[cfg(test)]
pub(crate) fn of_test(vars: BTreeMap<String, String>) -> Config {
    from_parts(vars, PathBuf::from("/nowhere"), None).expect("valid settings")
}

#[cfg(test)]
mod tests;
