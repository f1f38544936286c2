//! Where settings come from: flags over the environment over `.baton.toml` over the user's configuration file.
//!
//! This file is the only one that reads the environment, the working directory and configuration files.
#![allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

mod file;
mod github;
mod recall;
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

pub(crate) use github::GitHub;
pub(crate) use recall::{Embeddings, Qdrant, Recall};
pub(crate) use redis::{Node, Place as RedisPlace, Redis};
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
    /// What an empty line answers when `baton run --then` asks whether the next tool goes on.
    pub run_continue: bool,
    /// Whether what is not committed goes with a baton.
    pub wrap_changes: ChangesMode,
    /// Secret with which webhook calls are signed.
    pub webhook_secret: Option<String>,
    /// How GitHub is reached.
    pub github: GitHub,
    /// How memories are recalled.
    pub recall: Recall,
    /// The user's own rules for secrets.
    pub redact: Rules,
    /// The Beads file that is kept in step with the tasks.
    pub tasks_mirror: Option<RepoFile>,
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
}

/// The settings that a file may hold and the variables that override them.
const KEYS: [(&str, &[&str]); 28] = [
    ("store", &["BATON_STORE"]),
    ("redis_url", &["BATON_REDIS_URL"]),
    ("server", &["BATON_SERVER"]),
    ("server_ca", &["BATON_SERVER_CA"]),
    ("identity", &["BATON_IDENTITY", "PRISM_AGENT_IDENTITY"]),
    ("project", &["BATON_PROJECT"]),
    ("surface", &["BATON_SURFACE"]),
    ("stale_after", &["BATON_STALE_AFTER"]),
    ("live_after", &["BATON_LIVE_AFTER"]),
    ("auto_wrap", &["BATON_AUTO_WRAP"]),
    ("run.continue", &["BATON_RUN_CONTINUE"]),
    ("webhook_secret", &["BATON_WEBHOOK_SECRET"]),
    ("github_api", &["BATON_GITHUB_API"]),
    ("github_app_id", &["BATON_GITHUB_APP_ID"]),
    ("github_app_installation", &["BATON_GITHUB_APP_INSTALLATION"]),
    ("github_poll", &["BATON_GITHUB_POLL"]),
    ("qdrant_url", &["BATON_QDRANT_URL"]),
    ("qdrant_collection", &["BATON_QDRANT_COLLECTION"]),
    ("embeddings_url", &["BATON_EMBEDDINGS_URL"]),
    ("embeddings_model", &["BATON_EMBEDDINGS_MODEL"]),
    ("redact.patterns", &["BATON_REDACT_PATTERNS"]),
    ("redact.allow", &["BATON_REDACT_ALLOW"]),
    ("tasks.mirror", &["BATON_TASKS_MIRROR"]),
    ("wrap.changes", &["BATON_WRAP_CHANGES"]),
    ("route.fallback_after", &["BATON_ROUTE_FALLBACK_AFTER"]),
    ("route.escalate_after", &["BATON_ROUTE_ESCALATE_AFTER"]),
    ("route.max_attempts", &["BATON_ROUTE_MAX_ATTEMPTS"]),
    ("route.human", &["BATON_ROUTE_HUMAN"]),
];

/// Every setting that a variable overrides, with that variable.
pub(crate) fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    KEYS.iter().flat_map(|(setting, names)| names.iter().map(|name| (*setting, *name)))
}

/// Reads the configuration.
pub(crate) fn load() -> Result<Config, Refusal> {
    load_at(None)
}

/// Whether somebody supervises the agent behind this call, see [`Config::supervisor`]. A hook asks before it has time to read
/// settings.
pub(crate) fn is_supervised() -> bool {
    std::env::var_os("BATON_SUPERVISOR").is_some_and(|process| !process.is_empty())
}

/// Reads the configuration as it is in another folder than the working directory.
pub(crate) fn load_at(folder: Option<PathBuf>) -> Result<Config, Refusal> {
    let mut vars = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let Ok(name) = name.into_string() else { continue };
        match value.into_string() {
            Ok(value) => _ = vars.insert(name, value),
            // Ignoring a variable that is not UTF-8 would select another identity or store than the one configured.
            Err(_) if OURS.iter().any(|ours| name.starts_with(ours)) => return Err(no_text(&name)),
            Err(_) => {}
        }
    }
    let home = PathBuf::from(
        vars.get("HOME").or_else(|| vars.get("USERPROFILE")).cloned().unwrap_or_else(|| "/".into()),
    );
    let cwd = folder.or_else(|| std::env::current_dir().ok());
    let config = from_parts(vars, home, cwd)?;
    redact::install(&config.redact)?;
    Ok(config)
}

impl Config {
    /// Works on this store: said on the command line, it wins over a server of the settings.
    pub(crate) fn use_store(&mut self, url: &str) -> Result<(), Refusal> {
        self.store = Target::read(url)?;
        self.server = None;
        self.origins.insert("store", (url.to_owned(), "--store".into()));
        Ok(())
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

/// The program of this name on the search path; folders that depend on where we are do not count.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    crate::launch::installed(name, &std::env::var("PATH").unwrap_or_default())
}

/// Prefixes and names of the variables that select the store, the folders and the identity.
const OURS: [&str; 4] = ["BATON_", "PRISM_AGENT_IDENTITY", "XDG_", "HOME"];

fn no_text(variable: &str) -> Refusal {
    let what = format!("the variable {variable} is not UTF-8 text");
    Refusal::invalid("config_invalid", what, "give it a value in UTF-8, or unset it")
}

fn from_parts(
    vars: BTreeMap<String, String>,
    home: PathBuf,
    cwd: Option<PathBuf>,
) -> Result<Config, Refusal> {
    let dir = |var: &str, fallback: &str| {
        vars.get(var).filter(|v| !v.is_empty()).map_or_else(|| home.join(fallback), PathBuf::from)
    };
    let data_dir = dir("XDG_DATA_HOME", ".local/share").join("baton");
    let config_dir = dir("XDG_CONFIG_HOME", ".config").join("baton");
    let repository = cwd.as_deref().map(|cwd| RepositoryFile::of(cwd, &config_dir)).transpose()?.flatten();
    let origins = settings(&vars, &config_dir, repository.as_ref())?;
    let setting = |key: &str| origins.get(key).map(|(value, _)| value.clone());
    // A value that the user trusted is named with its line; the others with what they are.
    let placed = |key: &str, refusal: Refusal| match (origins.get(key), repository.as_ref()) {
        (Some((_, origin)), Some(file)) if Path::new(origin) == file.path => file.locate(key, refusal),
        _ => refusal,
    };
    let spans = |key: &str, usual| span(key, setting(key), usual).map_err(|refusal| placed(key, refusal));
    let limits = limits(spans)?;
    let switches = |key: &str| switch(key, setting(key), true).map_err(|refusal| placed(key, refusal));
    let (auto_wrap, run_continue) = (switches("auto_wrap")?, switches("run.continue")?);
    let wrap_changes = ChangesMode::read(setting("wrap.changes"));
    let wrap_changes = wrap_changes.map_err(|no| placed("wrap.changes", no))?;
    let route = policy(setting, spans, placed)?;
    let usual = || Ok(Target::File(data_dir.join("baton.db")));
    let store = setting("store").map_or_else(usual, |text| Target::read(&text))?;
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
        limits,
        route,
        auto_wrap,
        run_continue,
        wrap_changes,
        webhook_secret: setting("webhook_secret"),
        github: github::read(&setting, &given)?,
        recall: recall::read(&origins, &given)?,
        redact: redact::read(&origins)?,
        tasks_mirror: origins
            .get("tasks.mirror")
            .map(|(path, origin)| mirror(path, origin, repository.as_ref(), cwd.as_deref())),
        repository,
        home,
        config_dir,
        data_dir,
        cwd,
        vars,
        origins,
    })
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
    placed: impl Fn(&str, Refusal) -> Refusal,
) -> Result<Policy, Refusal> {
    let usual = Policy::default();
    let most = "route.max_attempts";
    Ok(Policy {
        fallback_after: span("route.fallback_after", usual.fallback_after)?,
        escalate_after: span("route.escalate_after", usual.escalate_after)?,
        max_attempts: count(most, setting(most), usual.max_attempts)
            .map_err(|refusal| placed(most, refusal))?,
        human: setting("route.human").unwrap_or(usual.human),
    })
}

/// A path in a file is meant from that file's folder; one from the environment, from the working directory.
fn mirror(path: &str, origin: &str, repository: Option<&RepositoryFile>, cwd: Option<&Path>) -> RepoFile {
    let origin = Path::new(origin);
    if let Some(file) = repository.filter(|file| file.path == origin) {
        return file.mirror(path);
    }
    let folder = Some(origin).filter(|file| file.is_absolute()).and_then(Path::parent).or(cwd);
    RepoFile::from_user_path(&folder.map_or_else(|| PathBuf::from(path), |folder| folder.join(path)))
}

fn span(key: &str, text: Option<String>, default: i64) -> Result<i64, Refusal> {
    let Some(text) = text else { return Ok(default) };
    parse_span(&text).ok_or_else(|| {
        Refusal::invalid(
            "config_invalid",
            format!("`{key}` is `{text}`, which is not a span of time"),
            "write it as 90s, 10m or 2h",
        )
    })
}

fn count(key: &str, text: Option<String>, default: i64) -> Result<i64, Refusal> {
    let Some(text) = text else { return Ok(default) };
    text.trim().parse().ok().filter(|n| *n >= 0).ok_or_else(|| {
        let what = format!("`{key}` is `{text}`, which is not a number of 0 or more");
        Refusal::invalid("config_invalid", what, "write it as 5")
    })
}

fn switch(key: &str, text: Option<String>, usual: bool) -> Result<bool, Refusal> {
    match text.as_deref().map(str::trim) {
        None => Ok(usual),
        Some("false" | "0" | "no" | "off") => Ok(false),
        Some("true" | "1" | "yes" | "on") => Ok(true),
        Some(other) => {
            let what = format!("`{key}` is `{other}`, which is neither true nor false");
            Err(Refusal::invalid("config_invalid", what, "write it as true or false"))
        }
    }
}

/// Edit distance, for naming the nearest known word.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row.first().copied().unwrap_or_default();
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, y) in b.chars().enumerate() {
            let up = row[j + 1];
            row[j + 1] = (corner + usize::from(x != y)).min(up + 1).min(row[j] + 1);
            corner = up;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// Settings for a test: these variables and nothing else.
#[cfg(test)]
pub(crate) fn of_test(vars: BTreeMap<String, String>) -> Config {
    from_parts(vars, PathBuf::from("/nowhere"), None).expect("valid settings")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(vars: &[(&str, &str)], file: Option<&str>) -> Result<Config, Refusal> {
        let dir = tempfile::tempdir().expect("dir");
        if let Some(text) = file {
            std::fs::write(dir.path().join(".baton.toml"), text).expect("written");
        }
        let vars = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        from_parts(vars, dir.path().join("home"), Some(dir.path().to_owned()))
    }

    #[test]
    fn the_environment_wins_over_a_file() {
        let dir = tempfile::tempdir().expect("dir");
        let own = dir.path().join("baton");
        std::fs::create_dir(&own).expect("folder");
        std::fs::write(own.join("config.toml"), "identity = \"File\"\nstale_after = \"2m\"")
            .expect("written");
        let folder = dir.path().display().to_string();
        let config = check(&[("BATON_IDENTITY", "Env"), ("XDG_CONFIG_HOME", &folder)], None).expect("valid");
        assert_eq!(config.identity.as_deref(), Some("Env"));
        assert_eq!(config.limits.stale_after, 120_000);
        assert_eq!(config.origins["identity"].1, "env BATON_IDENTITY");
    }

    const STRANGER: &str = "store = \"/evil.db\"\nserver = \"http://evil.example\"\nserver_ca = \"/evil.pem\"\nredis_url = \"redis://evil.example\"\n\
        identity = \"Mallory\"\nproject = \"shop\"\nsurface = \"evil\"\nstale_after = \"0s\"\nlive_after = \"0s\"\nauto_wrap = true\n\
        webhook_secret = \"s\"\ngithub_api = \"http://evil.example\"\ngithub_app_id = \"1\"\ngithub_app_installation = \"1\"\n\
        github_poll = \"1s\"\nqdrant_url = \"http://evil.example\"\nqdrant_collection = \"x\"\nembeddings_url = \"http://evil.example\"\n\
        embeddings_model = \"x\"\n[tasks]\nmirror = \"../x/authorized_keys\"\n[wrap]\nchanges = \"always\"\n[route]\nfallback_after = \"1s\"\n\
        escalate_after = \"1s\"\nmax_attempts = 0\nhuman = \"Mallory\"\n[redact]\npatterns = [\"x\"]\nallow = [\"/.*/\"]\n\
        [run]\ncontinue = false\n";

    #[test]
    fn whatever_a_stranger_sets_the_settings_are_those_without_it() {
        let (plain, with) = (check(&[], None).expect("valid"), check(&[], Some(STRANGER)).expect("valid"));
        assert_eq!(with.origins, BTreeMap::new());
        assert_eq!((with.identity, with.project, with.surface), (None, None, String::new()));
        assert_eq!((with.limits, with.auto_wrap, with.webhook_secret), (plain.limits, plain.auto_wrap, None));
        assert_eq!(with.run_continue, plain.run_continue);
        assert_eq!(with.wrap_changes, plain.wrap_changes);
        assert_eq!((with.github.api, with.github.app_id), (plain.github.api, None));
        assert!(with.redis.is_none() && with.server.is_none() && with.tasks_mirror.is_none());
        assert!(with.recall.qdrant.is_none() && with.recall.embeddings.is_none());
        assert!(with.store.to_string().ends_with("home/.local/share/baton/baton.db"), "{}", with.store);
        let file = with.repository.expect("it was read");
        let all: Vec<&str> = KEYS.iter().map(|(key, _)| *key).filter(|key| *key != "project").collect();
        let mut ignored = file.ignored.clone();
        ignored.sort_by_key(|key| all.iter().position(|known| known == key));
        assert_eq!((ignored, file.claim()), (all, Some("shop")), "all of it is named");
    }

    #[test]
    fn what_the_user_trusts_counts_until_it_is_changed() {
        let dir = tempfile::tempdir().expect("dir");
        let (repo, own) = (dir.path().join("repo"), dir.path().join("config/baton"));
        std::fs::create_dir_all(repo.join(".git")).expect("folder");
        let file = repo.join(".baton.toml");
        let text = "stale_after = \"2m\"\nproject = \"shop\"\n";
        std::fs::write(&file, text).expect("written");
        let load = || {
            let vars =
                [("XDG_CONFIG_HOME".to_owned(), dir.path().join("config").display().to_string())].into();
            from_parts(vars, dir.path().join("home"), Some(repo.clone())).expect("valid")
        };
        let read = load().repository.expect("a file");
        let mut trusted = trust::Trusted::default();
        trusted.add(&repo, &read.digest);
        trusted.write(&own).expect("written");
        let with = load();
        assert_eq!((with.limits.stale_after, with.project.as_deref()), (120_000, Some("shop")));
        assert!(with.repository.is_some_and(|file| file.is_trusted && file.ignored.is_empty()));
        std::fs::write(&file, format!("{text}# changed\n")).expect("written");
        let without = load();
        assert_eq!((without.limits, without.project), (Limits::default(), None));
        std::fs::write(&file, text).expect("written");
        trusted.remove(&repo);
        trusted.write(&own).expect("written");
        assert_eq!(load().project, None);
    }

    #[test]
    fn a_trusted_value_that_is_none_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("dir");
        let repo = dir.path().join("repo");
        std::fs::create_dir_all(repo.join(".git")).expect("folder");
        let vars: BTreeMap<_, _> =
            [("XDG_CONFIG_HOME".to_owned(), dir.path().join("config").display().to_string())].into();
        for text in
            ["# x\nstale_after = \"soon\"\n", "# x\nauto_wrap = \"maybe\"\n", "[route]\nmax_attempts = -1\n"]
        {
            std::fs::write(repo.join(".baton.toml"), text).expect("written");
            let load = || from_parts(vars.clone(), dir.path().join("home"), Some(repo.clone()));
            let digest = load().expect("not trusted").repository.expect("a file").digest;
            let mut trusted = trust::Trusted::default();
            trusted.add(&repo, &digest);
            trusted.write(&dir.path().join("config/baton")).expect("written");
            let refusal = load().expect_err("trusted");
            assert!(refusal.message.contains(".baton.toml, line 2: "), "{refusal:?}");
            trusted.remove(&repo);
            trusted.write(&dir.path().join("config/baton")).expect("written");
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest_and_a_strangers_stops_nothing() {
        let config = check(&[], Some("identty = \"x\"\nproject = \"shop\"")).expect("it is ignored");
        let file = config.repository.expect("named");
        assert_eq!((file.claim(), file.given.len()), (None, 0), "as a whole");
        let refusal = file.fault.expect("unknown");
        assert_eq!((refusal.code, refusal.hint.as_str()), ("config_unknown_key", "did you mean `identity`?"));
        let far = check(&[], Some("[theme]\ncolours = 1")).expect("it is ignored");
        let far = far.repository.and_then(|file| file.fault).expect("unknown");
        assert!(!far.hint.contains("did you mean") && !far.details.contains_key("nearest"), "{}", far.hint);
    }

    #[test]
    fn a_span_that_is_none_is_refused() {
        assert_eq!(
            check(&[("BATON_STALE_AFTER", "soon")], None).expect_err("no span").code,
            "config_invalid"
        );
    }

    #[test]
    fn a_table_in_a_file_is_read_and_its_path_is_meant_from_there() {
        let config = check(&[], Some("[tasks]\nmirror = \".beads/issues.jsonl\"")).expect("valid");
        assert!(
            config
                .tasks_mirror
                .is_some_and(|file| file.path().is_absolute() && file.path().ends_with(".beads/issues.jsonl"))
        );
        let config = check(&[], Some("[tasks]\nmirro = \"x\"")).expect("it is ignored");
        let refusal = config.repository.and_then(|file| file.fault).expect("unknown");
        assert_eq!(refusal.hint, "did you mean `tasks.mirror`?");
    }

    #[test]
    fn the_store_lies_in_the_data_directory() {
        let config = check(&[("XDG_DATA_HOME", "/data")], None).expect("valid");
        assert_eq!(config.store.to_string(), "/data/baton/baton.db");
    }
}
