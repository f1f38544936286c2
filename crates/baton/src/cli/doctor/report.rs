//! `baton doctor --report`: what a report of a bug needs. Words that people chose (titles, names of tokens, folders) are counted and
//! not shown; what is shown passes the [`Anonymizer`].

use baton_store::{MIGRATIONS, Target};
use serde::Serialize;

use super::anonymous::Anonymizer;
use super::diagnosis::{Diagnosis, diagnose, installed_tools};
use super::memory_index;
use crate::app::App;
use crate::cli::config_show::SettingFault;
use crate::cli::tool_report;
use crate::cli::trust::TrustState;
use crate::config::Config;
use crate::error::AppError;

/// What is shown to others.
#[derive(Serialize)]
struct BugReport {
    version: &'static str,
    platform: String,
    store: StoreReport,
    /// The agents that were found, and how Baton stands in each.
    agents: Vec<String>,
    findings: Vec<String>,
}

/// The store.
#[derive(Serialize)]
struct StoreReport {
    engine: String,
    /// How many migrations its tables have; none where it was not opened.
    schema: Option<usize>,
    projects: Option<usize>,
    sound: Option<bool>,
}

pub(super) fn run(app: &mut App) -> Result<(), AppError> {
    let diagnosis = diagnose(app);
    let anonymizer = Anonymizer::new(places(app), names(app));
    let (agents, findings, sound, projects) = match &diagnosis {
        Ok(diagnosis) => {
            let agents = diagnosis.tools.iter().map(tool_report::state).collect();
            let ledger = diagnosis.ledger.as_ref();
            (
                agents,
                findings(diagnosis),
                ledger.map(|ledger| ledger.sound),
                ledger.map(|ledger| ledger.projects),
            )
        }
        // A store that cannot be opened is what many reports are about.
        Err(error) => {
            let agents = installed_tools(app)?.iter().map(tool_report::state).collect();
            (agents, vec![fault(error, app)], None, None)
        }
    };
    let engine = match &diagnosis {
        Ok(Diagnosis { ledger: Some(ledger), .. }) => ledger.engine.to_string(),
        _ if app.config.server.is_some() => "a server's".to_owned(),
        _ => match app.config.store {
            Target::Postgres(_) => "postgres".to_owned(),
            _ => "sqlite".to_owned(),
        },
    };
    // A store that was opened here has every migration: others are brought up to date or refused.
    let schema = (diagnosis.is_ok() && app.config.server.is_none()).then_some(MIGRATIONS.len());
    let report = BugReport {
        version: env!("CARGO_PKG_VERSION"),
        platform: platform(),
        store: StoreReport { engine, schema, projects, sound },
        agents,
        findings: findings
            .iter()
            .flat_map(|text| text.lines())
            .map(|line| anonymizer.clean(line.trim()))
            .collect(),
    };
    app.show(&report, text)
}

/// What the diagnosis found, a text for each.
fn findings(diagnosis: &Diagnosis) -> Vec<String> {
    let count = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let mut found: Vec<String> = diagnosis.setting_faults.iter().map(SettingFault::public_text).collect();
    found.extend(diagnosis.not_checked.iter().map(|why| format!("the store was not checked: {why}")));
    found.extend(diagnosis.ledger.iter().flat_map(|ledger| ledger.faults.iter().cloned()));
    found.extend(diagnosis.redis.as_ref().map(|redis| {
        let why = redis.why.as_ref().filter(|why| !why.is_empty()).map(|why| format!(": {why}"));
        format!("redis is {}{}", redis.state, why.unwrap_or_default())
    }));
    found.extend(diagnosis.memory_index.as_ref().map(memory_index::Report::text));
    let untrusted = diagnosis.trusted.iter().filter(|file| file.state != TrustState::Trusted).count();
    found.extend(diagnosis.repository.as_ref().map(|_| "the repository has a .baton.toml".to_owned()));
    found.extend(count(untrusted, "trusted settings of repositories have changed or are gone"));
    found.extend(count(diagnosis.worktrees.len(), "worktrees are projects of their own"));
    found.extend(count(diagnosis.handoffs.len(), "hand-offs do not arrive"));
    found.extend(count(diagnosis.interrupted_pushes.len(), "interrupted pushes of changes"));
    found.extend(
        diagnosis.effects_held_for.as_ref().map(|_| "another store carries out the effects".to_owned()),
    );
    found.extend(diagnosis.tools.iter().filter_map(tool_report::finding));
    found
}

/// What is said of a diagnosis that could not be made.
fn fault(error: &AppError, app: &App) -> String {
    match error.to_error() {
        Some(error) => format!("[{}] {}", error.code, error.message),
        None => format!("{} cannot be checked", app.config.ledger()),
    }
}

/// Places of this machine that a text may name.
fn places(app: &mut App) -> Vec<String> {
    let Config { home, config_dir, data_dir, cwd, store, .. } = &app.config;
    let mut places =
        vec![home.display().to_string(), config_dir.display().to_string(), data_dir.display().to_string()];
    places.extend(cwd.iter().map(|cwd| cwd.display().to_string()));
    if let Target::File(path) = store {
        places.push(path.display().to_string());
    }
    places.extend(projects(app).into_iter().flat_map(|project| project.roots));
    places
}

/// Names that a text may have: the user's, the machine's, those of projects and servers.
fn names(app: &mut App) -> Vec<String> {
    let config = &app.config;
    let variable = |name: &str| config.vars.get(name).cloned();
    let mut names: Vec<String> =
        ["USER", "LOGNAME", "USERNAME", "HOSTNAME"].into_iter().filter_map(variable).collect();
    names.extend(config.home.file_name().map(|name| name.to_string_lossy().into_owned()));
    names.extend(config.user_name());
    names.extend(config.project.clone());
    names.extend(config.machine.clone());
    names.extend(crate::host::host_name());
    let indexes = [
        config.memory_index.qdrant.as_ref().map(|qdrant| qdrant.url.clone()),
        config.server.as_ref().map(|server| server.url.clone()),
        config.redis.as_ref().map(ToString::to_string),
        Some(config.store.to_string()),
    ];
    names.extend(indexes.iter().flatten().filter_map(|url| host_of(url)));
    names.extend(projects(app).into_iter().map(|row| row.project.project_id));
    names
}

/// The host of an address.
fn host_of(url: &str) -> Option<String> {
    let authority = url.split_once("://")?.1.split(['/', '?']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    (!host.is_empty()).then(|| host.to_owned())
}

/// The projects of the store. None where it cannot be read: nothing in it is then shown either.
fn projects(app: &mut App) -> Vec<baton_ops::project::Row> {
    let listed = app.run::<baton_ops::project::List>(&baton_ops::project::ListInput::default());
    listed.map(|listed| listed.items).unwrap_or_default()
}

fn platform() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.map(|name| format!(", {}", name.trim_matches('"'))).unwrap_or_default();
    format!("{} {}{name}", std::env::consts::OS, std::env::consts::ARCH)
}

fn text(report: &BugReport) -> String {
    let store = &report.store;
    let schema = store.schema.map(|schema| format!(", schema {schema}")).unwrap_or_default();
    let projects = store.projects.map(|projects| format!(", projects: {projects}")).unwrap_or_default();
    let state = match store.sound {
        Some(true) => "sound",
        Some(false) => "NOT sound",
        None => "not checked",
    };
    let agents = if report.agents.is_empty() { "none".to_owned() } else { report.agents.join(", ") };
    let mut text = format!(
        "baton {}\nplatform: {}\nstore: {}{schema}{projects}: {state}\nagents: {agents}\n",
        report.version, report.platform, store.engine
    );
    if report.findings.is_empty() {
        text.push_str("findings: none\n");
    } else {
        text.push_str("findings:\n");
        text.extend(report.findings.iter().map(|line| format!("- {}\n", baton_model::id::visible(line))));
    }
    text
}
