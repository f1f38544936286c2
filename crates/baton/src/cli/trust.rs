//! `baton trust`

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use serde_json::{Value, json};

use crate::app::{App, Format};
use crate::config::trust::Trusted;
use crate::config::{REPOSITORY_FILE, RepositoryFile};
use crate::error::Ended;
use crate::render;

/// Let the .baton.toml of a repository count as yours, until it changes
///
/// By itself a repository's file names a new project and a file for tasks inside the repository, nothing else. This shows what
/// else it sets and asks. Trust is of this folder and this content: any change ends it.
#[derive(clap::Args)]
pub struct Args {
    /// Folder in the repository; else the working directory
    folder: Option<PathBuf>,
    /// Show what is trusted
    #[arg(long, conflicts_with_all = ["remove", "yes"])]
    list: bool,
    /// Trust the folder's file no longer
    #[arg(long, conflicts_with = "yes")]
    remove: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Trust the .baton.toml of a repository no longer
#[derive(clap::Args)]
pub struct UntrustArgs {
    /// Folder in the repository; else the working directory
    folder: Option<PathBuf>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    if args.list {
        return list(app);
    }
    let folder = folder(args.folder, app)?;
    if args.remove { remove(&folder, app) } else { add(&folder, args.yes, app) }
}

pub fn untrust(args: UntrustArgs, app: &mut App) -> Result<(), Ended> {
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

fn add(folder: &Path, yes: bool, app: &mut App) -> Result<(), Ended> {
    let Some(file) = RepositoryFile::of(folder, &app.config.config_dir)? else {
        let what = format!("there is no {REPOSITORY_FILE} for {}", visible(&folder.display().to_string()));
        let hint = "a repository without one has nothing to be trusted with";
        return Err(Refusal::new(Kind::NotFound, "settings_missing", what, hint).into());
    };
    let shown = shown(&file);
    if !file.is_trusted {
        if !yes {
            ask(&file, app)?;
        }
        let mut trusted = Trusted::read(&app.config.config_dir);
        trusted.add(file.folder(), &file.digest);
        keep(&trusted, app)?;
    }
    let answer = json!({
        "folder": file.folder().display().to_string(), "sha256": file.digest, "trusted": true, "changed": !file.is_trusted, "settings": shown,
    });
    app.answer(&answer, |a| {
        let folder = visible(&render::text(a, "folder"));
        match a["changed"] == true {
            true => format!("trusted: {REPOSITORY_FILE} of {folder}, as it is now\n"),
            false => format!("{REPOSITORY_FILE} of {folder} is trusted already\n"),
        }
    })
}

/// What a file sets: each with whether it counts without trust.
pub fn shown(file: &RepositoryFile) -> Vec<Value> {
    let row = |(key, value): &(&'static str, String)| {
        let secret = *key == "webhook_secret";
        let value = if secret { "[hidden]".to_owned() } else { visible(value) };
        json!({ "key": key, "value": value, "counts": !file.ignored.contains(key) })
    };
    file.given.iter().map(row).collect()
}

fn ask(file: &RepositoryFile, app: &App) -> Result<(), Ended> {
    let mut err = std::io::stderr();
    if app.format != Format::Text || !std::io::stdin().is_terminal() || !err.is_terminal() {
        let what = "trusting a repository's settings is for the user to decide, and there is nobody to ask";
        let refusal =
            Refusal::new(Kind::Refused, "trust_needs_yes", what, "look at the file, then say --yes");
        return Err(refusal.with("settings", shown(file)).into());
    }
    let path = visible(&file.path.display().to_string());
    let rows: Vec<Vec<String>> =
        shown(file).iter().map(|row| vec![render::text(row, "key"), render::text(row, "value")]).collect();
    let question = format!("{path} sets\n{}Let all of it count as yours? [y/N] ", render::table(&rows));
    write!(err, "{}", render::for_terminal(&question, false))?;
    err.flush()?;
    let mut said = String::new();
    std::io::stdin().read_line(&mut said)?;
    if matches!(said.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    let hint = "nothing was changed; ask again when you like";
    Err(Refusal::new(Kind::Refused, "trust_declined", "you said no", hint).into())
}

fn remove(folder: &Path, app: &mut App) -> Result<(), Ended> {
    let mut trusted = Trusted::read(&app.config.config_dir);
    let held = trusted.folders.iter().map(|entry| entry.folder.clone());
    // The folder itself, or the one above it whose file counts here.
    let meant = held.filter(|known| folder.starts_with(known)).max_by_key(|known| known.as_os_str().len());
    let meant = meant.unwrap_or_else(|| folder.to_owned());
    let changed = trusted.remove(&meant);
    if changed {
        keep(&trusted, app)?;
    }
    let answer = json!({ "folder": meant.display().to_string(), "trusted": false, "changed": changed });
    app.answer(&answer, |a| {
        let folder = visible(&render::text(a, "folder"));
        let verb = if changed { "no longer trusted" } else { "was not trusted" };
        format!("{verb}: {REPOSITORY_FILE} of {folder}\n")
    })
}

fn keep(trusted: &Trusted, app: &App) -> Result<(), Refusal> {
    trusted.write(&app.config.config_dir).map_err(|error| {
        let what =
            format!("{} cannot be written: {error}", app.config.config_dir.join("trust.json").display());
        Refusal::new(Kind::Outside, "trust_unwritable", what, "mend the folder and say it again")
    })
}

/// Every trusted file, and whether it is still the one that was trusted.
pub fn listed(app: &App) -> Vec<Value> {
    let config_dir = &app.config.config_dir;
    let row = |entry: &crate::config::trust::Entry| {
        let now = RepositoryFile::of(&entry.folder, config_dir).ok().flatten();
        let now = now.filter(|file| file.folder() == entry.folder);
        let state = match now {
            None => "missing",
            Some(file) if file.digest == entry.sha256 => "trusted",
            Some(_) => "changed",
        };
        json!({ "folder": entry.folder.display().to_string(), "sha256": entry.sha256, "state": state })
    };
    Trusted::read(config_dir).folders.iter().map(row).collect()
}

fn list(app: &mut App) -> Result<(), Ended> {
    let items = listed(app);
    app.answer(&json!({ "items": items }), |a| {
        let rows = render::list(a, "items").iter();
        let rows: Vec<_> =
            rows.map(|row| vec![visible(&render::text(row, "folder")), render::text(row, "state")]).collect();
        if rows.is_empty() {
            "no repository's settings are trusted\n".to_owned()
        } else {
            render::table(&rows)
        }
    })
}

/// The repository's file as `config` and `doctor` show it; null where there is none.
pub fn report(app: &App) -> Value {
    let Some(file) = &app.config.repository else { return Value::Null };
    json!({
        "path": file.path.display().to_string(), "sha256": file.digest, "trusted": file.is_trusted, "ignored": file.ignored,
        "claims": file.claim(), "settings": shown(file),
    })
}

/// The same in a line or two.
pub fn describe(report: &Value) -> String {
    if report.is_null() {
        return String::new();
    }
    let path = visible(&render::text(report, "path"));
    if report["trusted"] == true {
        return format!("{path} is trusted\n");
    }
    let ignored: Vec<&str> = render::list(report, "ignored").iter().filter_map(Value::as_str).collect();
    let mut text = match ignored.as_slice() {
        [] => format!("{path} is not trusted, and sets nothing that it may not\n"),
        keys => format!(
            "{path} is not trusted: {} are ignored (`baton trust` lets them count)\n",
            keys.join(", ")
        ),
    };
    if let Some(claim) = report["claims"].as_str() {
        text.push_str(&format!(
            "{path} names project {}, which counts for a new project only\n",
            visible(claim)
        ));
    }
    text
}

/// Names once, on standard error, what of the repository's file does not count. A content that was named is remembered.
pub fn name_ignored(app: &App) {
    let Some(file) = app.config.repository.as_ref().filter(|file| !file.ignored.is_empty()) else { return };
    if app.quiet || app.format != Format::Text {
        return;
    }
    let folder = app.config.data_dir.join("noted");
    let name = crate::install::record::digest(&format!("{}\n{}", file.path.display(), file.digest));
    let mark = folder.join(name.chars().take(24).collect::<String>());
    if mark.exists() {
        return;
    }
    let path = visible(&file.path.display().to_string());
    app.remark(&format!(
        "note: {path} is a repository's file: {} of it are not counted (`baton config show` tells more)",
        file.ignored.join(", ")
    ));
    // Where nothing can be kept it is named again.
    let _ = crate::private::create_folder(&folder).and_then(|()| crate::private::write(&mark, b""));
}
