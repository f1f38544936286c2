//! `baton trust`

mod document;
mod report;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use serde::Serialize;

use document::Document;
pub(super) use report::{Report, describe, name_ignored, report};

use super::init::DOCUMENT;
use crate::app::{App, Format};
use crate::config::trust::{Entry, TrustStore, sha256};
use crate::config::{REPOSITORY_FILE, RepositoryFile, SECRET_KEYS};
use crate::error::AppError;
use crate::render;
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};

/// Trust a repository's .baton.toml as your own until it changes
///
/// Without trust, a repository's file can only name a new project and a file for tasks inside the repository. This
/// command shows what else it sets and asks. The same goes for the tracker named in docs/PROJECT.md, if it is not the
/// repository you cloned. Trust covers this folder and this content: any change ends it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Folder in the repository; defaults to the working directory
    folder: Option<PathBuf>,
    /// List what is trusted
    #[arg(long, conflicts_with_all = ["remove", "yes"])]
    list: bool,
    /// Stop trusting the folder's file
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Stop trusting a repository's .baton.toml
#[derive(clap::Args)]
pub(super) struct UntrustArgs {
    /// Folder in the repository; defaults to the working directory
    folder: Option<PathBuf>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    if args.list {
        return list(app);
    }
    let folder = folder(args.folder, app)?;
    if args.remove { remove(&folder, app) } else { add(&folder, args.yes, app) }
}

pub(super) fn untrust(args: UntrustArgs, app: &mut App) -> Result<(), AppError> {
    let folder = folder(args.folder, app)?;
    remove(&folder, app)
}

fn folder(named: Option<PathBuf>, app: &App) -> Result<PathBuf, Refusal> {
    let cwd = app.config.cwd.clone().unwrap_or_default();
    let folder = named.map_or_else(|| cwd.clone(), |folder| cwd.join(folder));
    folder.canonicalize().map_err(|error| {
        let what = format!("{} is not there: {error}", visible(&folder.display().to_string()));
        Refusal::new(Kind::NotFound, "folder_unknown", what, "name a folder of the repository")
    })
}

fn add(folder: &Path, yes: bool, app: &mut App) -> Result<(), AppError> {
    let file = RepositoryFile::nearest(folder, &app.config.config_dir)?;
    if let Some(fault) = file.as_ref().and_then(|file| file.fault.clone()) {
        return Err(fault.into());
    }
    let document = Document::of(folder, app);
    let settings: Vec<Setting> =
        file.iter().flat_map(settings).chain(document.iter().map(Document::setting)).collect();
    let paths = file.iter().map(|file| file.path.clone());
    let mut paths = paths.chain(document.iter().map(|document| document.root.join(DOCUMENT)));
    let Some(path) = paths.next() else {
        let what = format!("there is no {REPOSITORY_FILE} for {}", visible(&folder.display().to_string()));
        let hint = "a repository without one has nothing to be trusted with";
        return Err(Refusal::new(Kind::NotFound, "settings_missing", what, hint).into());
    };
    let changed = file.as_ref().is_some_and(|file| !file.is_trusted)
        || document.as_ref().is_some_and(|document| !document.is_trusted);
    let mut trusted = TrustStore::read(&app.config.config_dir);
    if changed {
        if !yes {
            ask(&path, &settings, app)?;
        }
        file.iter().for_each(|file| trusted.add(file.folder(), &file.digest));
        document.iter().for_each(|document| trusted.add_document(&document.root, &document.digest));
        keep(&trusted, app)?;
    }
    let held = file.as_ref().map(RepositoryFile::folder);
    let held = held.or(document.as_ref().map(|document| document.root.as_path())).unwrap_or(folder);
    let answer = TrustOutput {
        folder: held.display().to_string(),
        sha256: file.as_ref().map(|file| file.digest.clone()),
        trusted: true,
        changed,
        settings,
    };
    let name = if file.is_some() { REPOSITORY_FILE } else { DOCUMENT };
    let next = document.as_ref().filter(|_| changed);
    let next = next.map_or("", |document| {
        let claim = file.as_ref().and_then(RepositoryFile::claim).map(str::to_owned);
        document.next_step(claim, app)
    });
    app.show(&answer, |answer| {
        let folder = visible(&answer.folder);
        match answer.changed {
            true => format!("trusted: {name} of {folder}, as it is now\n{next}"),
            false => format!("{name} of {folder} is trusted already\n"),
        }
    })
}

/// What `baton trust` answers.
#[derive(Serialize)]
struct TrustOutput {
    folder: String,
    sha256: Option<String>,
    trusted: bool,
    changed: bool,
    settings: Vec<Setting>,
}

/// What `baton untrust` answers.
#[derive(Serialize)]
struct UntrustOutput {
    folder: String,
    trusted: bool,
    changed: bool,
}

/// A setting of a repository's file, and whether it counts.
#[derive(Serialize)]
struct Setting {
    key: &'static str,
    value: String,
    counts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
}

/// What a file sets: each with whether it counts without trust.
fn settings(file: &RepositoryFile) -> Vec<Setting> {
    let row = |(key, value): &(&'static str, String)| {
        let secret = *key == "webhook_secret" || SECRET_KEYS.contains(key);
        let value = if secret { "[hidden]".to_owned() } else { visible(value) };
        Setting { key, value, counts: !file.ignored.contains(key), file: None }
    };
    file.given.iter().map(row).collect()
}

fn ask(path: &Path, settings: &[Setting], app: &App) -> Result<(), AppError> {
    let mut err = std::io::stderr();
    if app.format != Format::Text || !std::io::stdin().is_terminal() || !err.is_terminal() {
        let what = "trusting a repository's settings is for the user to decide, and there is nobody to ask";
        let refusal =
            Refusal::new(Kind::Refused, "trust_needs_yes", what, "look at the file, then say --yes");
        let settings = serde_json::to_value(settings).map_err(anyhow::Error::from)?;
        return Err(refusal.with("settings", settings).into());
    }
    let path = visible(&path.display().to_string());
    let rows: Vec<Vec<String>> =
        settings.iter().map(|row| vec![row.key.to_owned(), visible(&row.value)]).collect();
    let question = format!("{path} sets\n{}Let all of it count as yours? [y/N] ", render::table(&rows));
    write!(err, "{}", render::for_terminal(&question, false))?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    let hint = "nothing was changed; ask again when you like";
    Err(Refusal::new(Kind::Refused, "trust_declined", "you said no", hint).into())
}

fn remove(folder: &Path, app: &mut App) -> Result<(), AppError> {
    let mut trusted = TrustStore::read(&app.config.config_dir);
    let held = trusted.folders.iter().chain(&trusted.documents).map(|entry| entry.folder.clone());
    // The folder itself, or the one above it whose file counts here.
    let target = held.filter(|known| folder.starts_with(known)).max_by_key(|known| known.as_os_str().len());
    let target = target.unwrap_or_else(|| folder.to_owned());
    let changed = trusted.remove(&target);
    if changed {
        keep(&trusted, app)?;
    }
    let answer = UntrustOutput { folder: target.display().to_string(), trusted: false, changed };
    app.show(&answer, |answer| {
        let folder = visible(&answer.folder);
        let verb = if changed { "no longer trusted" } else { "was not trusted" };
        format!("{verb}: {REPOSITORY_FILE} of {folder}\n")
    })
}

fn keep(trusted: &TrustStore, app: &App) -> Result<(), Refusal> {
    trusted.write(&app.config.config_dir).map_err(|error| {
        let what =
            format!("{} cannot be written: {error}", app.config.config_dir.join("trust.json").display());
        Refusal::new(Kind::Outside, "trust_unwritable", what, "mend the folder and say it again")
    })
}

/// A trusted file.
#[derive(Serialize)]
pub(super) struct TrustedFile {
    /// The folder it is in.
    pub folder: String,
    sha256: String,
    /// Whether it is still the one that was trusted.
    pub state: TrustState,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'static str>,
}

/// Whether a trusted file is still the one that was trusted.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TrustState {
    /// It is.
    Trusted,
    /// It is not there.
    Missing,
    /// It has another content.
    Changed,
}

impl TrustState {
    /// In a word.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Missing => "missing",
            Self::Changed => "changed",
        }
    }
}

/// Every trusted file, and whether it is still the one that was trusted.
pub(super) fn trusted_files(app: &App) -> Vec<TrustedFile> {
    let config_dir = &app.config.config_dir;
    let settings = |entry: &Entry| {
        let now = RepositoryFile::nearest(&entry.folder, config_dir)
            .map(|file| file.filter(|file| file.folder() == entry.folder));
        let state = match now {
            // A trusted content that cannot be read any more is an error of its own.
            Err(_) => TrustState::Trusted,
            Ok(None) => TrustState::Missing,
            Ok(Some(file)) if file.digest == entry.sha256 => TrustState::Trusted,
            Ok(Some(_)) => TrustState::Changed,
        };
        trusted_file(entry, state, None)
    };
    let document = |entry: &Entry| {
        let text = RepoFile::new(&entry.folder, DOCUMENT).text(MAX_SMALL_FILE_BYTES).ok().flatten();
        let state = match text.map(|text| sha256(text.as_bytes()) == entry.sha256) {
            None => TrustState::Missing,
            Some(true) => TrustState::Trusted,
            Some(false) => TrustState::Changed,
        };
        trusted_file(entry, state, Some(DOCUMENT))
    };
    let trusted = TrustStore::read(config_dir);
    trusted.folders.iter().map(settings).chain(trusted.documents.iter().map(document)).collect()
}

fn trusted_file(entry: &Entry, state: TrustState, file: Option<&'static str>) -> TrustedFile {
    TrustedFile { folder: entry.folder.display().to_string(), sha256: entry.sha256.clone(), state, file }
}

/// What `baton trust --list` answers.
#[derive(Serialize)]
struct TrustListOutput {
    items: Vec<TrustedFile>,
}

fn list(app: &mut App) -> Result<(), AppError> {
    app.show(&TrustListOutput { items: trusted_files(app) }, |listed| {
        let row = |row: &TrustedFile| vec![visible(&row.folder), row.state.as_str().to_owned()];
        match listed.items.as_slice() {
            [] => "no repository's settings are trusted\n".to_owned(),
            items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
        }
    })
}
