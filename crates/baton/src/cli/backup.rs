//! `baton backup` and `baton restore`

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use baton_store::{Store, Target};
use serde_json::json;

use crate::app::App;
use crate::error::Ended;
use crate::host;

/// Copy the store to a file, also while others work on it
#[derive(clap::Args)]
pub struct BackupArgs {
    /// File to write; it must not exist yet
    file: PathBuf,
}

/// Put a backup in the store's place; the store that was there is kept beside it
#[derive(clap::Args)]
pub struct RestoreArgs {
    /// Backup to read
    file: PathBuf,
    /// Replace a store that exists
    #[arg(long)]
    yes: bool,
}

pub fn backup(args: BackupArgs, app: &mut App) -> Result<(), Ended> {
    if args.file.exists() {
        let what = format!("{} exists already", args.file.display());
        return Err(Refusal::new(Kind::Refused, "file_exists", what, "choose another file").into());
    }
    app.store()?.backup(&args.file)?;
    // A backup that cannot be read is none: it is opened and checked before it is reported.
    let faults = Store::open_read_only(&Target::File(args.file.clone()))?.check()?;
    if !faults.is_empty() {
        return Err(anyhow::anyhow!("the backup is not sound: {}", faults.join("; ")).into());
    }
    let bytes = fs::metadata(&args.file)?.len();
    let answer = json!({ "store": app.config.store.to_string(), "file": args.file, "bytes": bytes });
    app.answer(&answer, |_| format!("backed up to {} ({bytes} bytes)\n", args.file.display()))
}

pub fn restore(args: RestoreArgs, app: &mut App) -> Result<(), Ended> {
    app.refuse_remote()?;
    let Target::File(store) = app.config.store.clone() else {
        return Err(Refusal::new(
            Kind::Refused,
            "restore_file_only",
            "only a store in a file can be restored",
            "use the database's own tools",
        )
        .into());
    };
    let faults = Store::open_read_only(&Target::File(args.file.clone()))?.check()?;
    if !faults.is_empty() {
        let what = format!("{} is not a sound store: {}", args.file.display(), faults.join("; "));
        return Err(Refusal::new(Kind::Refused, "backup_unsound", what, "choose another backup").into());
    }
    if store.exists() && !args.yes {
        let what = format!("{} exists already", store.display());
        return Err(Refusal::new(
            Kind::Refused,
            "store_exists",
            what,
            "say --yes to put the backup in its place; the old one is kept beside it",
        )
        .into());
    }
    let kept = store.exists().then(|| aside(&store)).transpose()?;
    if let Some(folder) = store.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(&args.file, &store)?;
    let faults = Store::open(&app.config.store, host::now())?.check()?;
    let answer = json!({ "store": store, "from": args.file, "kept": kept, "sound": faults.is_empty() });
    app.answer(&answer, |_| {
        let kept = kept.as_ref().map(|k| format!("; the one before is {}", k.display())).unwrap_or_default();
        format!("restored {} from {}{kept}\n", store.display(), args.file.display())
    })
}

/// Moves a store and its side files out of the way. The old one is never deleted.
fn aside(store: &Path) -> Result<PathBuf, Ended> {
    let with = |path: &Path, tail: &str| PathBuf::from(format!("{}{tail}", path.display()));
    let kept = with(store, &format!(".before-{}", host::now()));
    fs::rename(store, &kept)?;
    for tail in ["-wal", "-shm"] {
        if with(store, tail).exists() {
            fs::rename(with(store, tail), with(&kept, tail))?;
        }
    }
    Ok(kept)
}
