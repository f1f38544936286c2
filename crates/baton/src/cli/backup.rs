//! `baton backup` and `baton restore`

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::project::redacted_address;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::ledger::{StoreCheck, StoreCheckInput, StoreCheckOutput};
use baton_ops::op::BeginsStore;
use baton_store::restore::{self, ReplacedStore, StagedRestore};
use baton_store::revocations::Revocations;
use baton_store::{Fault, FaultKind, Store, Target, project, token};
use serde::Serialize;

use crate::app::App;
use crate::effect_ownership::Succession;
use crate::error::AppError;
use crate::launch::shell_word;
use crate::{clock, effect_ownership, open_files, private_file};

/// Copy the store to a file, even while it is in use
#[derive(clap::Args)]
pub(super) struct BackupArgs {
    /// File to write; it must not exist yet
    file: PathBuf,
}

/// Replace the store with a backup; the old store is kept beside it
///
/// No other process may have the store open: stop servers, agents and workers first. The backup may be any store in a
/// file, including one with its log beside it, such as one kept by an earlier restore.
#[derive(clap::Args)]
pub(super) struct RestoreArgs {
    /// Backup to read
    file: PathBuf,
    /// Replace an existing store
    #[arg(long)]
    yes: bool,
    /// Accept a store whose log is missing, with only what had reached the file
    #[arg(long)]
    incomplete: bool,
}

/// A database is backed up with its own tools.
fn refuse_database(store: &Target) -> Result<(), Refusal> {
    match store {
        Target::Postgres(_) => Err(Refusal::new(
            Kind::Refused,
            "backup_of_database",
            "the ledger is in PostgreSQL, of which `baton backup` makes no copy",
            "back the database up with `pg_dump`, or copy the ledger to a file: `baton store copy URL FILE`",
        )),
        _ => Ok(()),
    }
}

pub(super) fn backup(args: BackupArgs, app: &mut App) -> Result<(), AppError> {
    if fs::symlink_metadata(&args.file).is_ok() {
        let what = format!("{} exists already", args.file.display());
        return Err(Refusal::new(Kind::Refused, "file_exists", what, "choose another file").into());
    }
    app.refuse_remote()?;
    refuse_database(&app.config.store)?;
    app.require_named_store(BeginsStore::Never)?;
    refuse_left_log(&args.file)?;
    let store = app.config.store.clone();
    if let Target::File(store) = &store {
        refuse_side_file(&args.file, store)?;
    }
    // Nor is it a name beside another store.
    private_file::refuse_store(&args.file)?;
    // Where the backup is put beside a store that lives on, it is known as a copy of that.
    let machine = app.machine.id.clone();
    effect_ownership::note_first(app.store()?, &machine, clock::now())?;
    app.store()?.backup(&args.file)?;
    // A backup that cannot be read is none: it is opened and checked before it is reported.
    let faults = Store::open_read_only(&Target::File(args.file.clone()))?.check()?;
    if !faults.is_empty() {
        let what = format!("the backup is not sound: {}", faults.join("; "));
        let hint = "take out what Baton did not make; or `baton store copy` to another file, which takes the rows alone";
        return Err(Refusal::new(Kind::Refused, "backup_unsound", what, hint).into());
    }
    let bytes = fs::metadata(&args.file)?.len();
    let backup = Backup { store: store.to_string(), file: &args.file, bytes };
    app.show(&backup, |_| format!("backed up to {} ({bytes} bytes)\n", args.file.display()))
}

/// What `baton backup` answers.
#[derive(Serialize)]
struct Backup<'a> {
    store: String,
    file: &'a Path,
    bytes: u64,
}

/// What `baton restore` answers.
#[derive(Serialize)]
struct RestoreOutput<'a> {
    store: &'a Path,
    from: &'a Path,
    /// The store that was there before.
    kept: Option<&'a Path>,
    /// The command that puts it back.
    undo: Option<String>,
    sound: bool,
    projects: usize,
    /// The store that goes on to carry out issues and webhooks, until this one takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects_held_for: Option<String>,
    /// The access tokens that open it from now on.
    tokens: &'a [RestoredToken],
    /// The addresses outside that are told of what is written.
    webhooks: &'a [RestoredWebhook],
    /// Nothing says what was revoked since the backup, and it has valid access tokens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    revocations_unknown: bool,
}

/// An access token that opens the restored store.
#[derive(Serialize)]
struct RestoredToken {
    token_id: String,
    name: String,
}

/// An address to which the restored store has the entries of a project sent.
#[derive(Serialize)]
struct RestoredWebhook {
    project_id: String,
    address: String,
}

/// SQLite would read the log of another store that lies under this name into the backup.
fn refuse_left_log(file: &Path) -> Result<(), Refusal> {
    let sides = ["-wal", "-shm", "-journal"].map(|ending| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        std::path::PathBuf::from(name)
    });
    let Some(side) = sides.iter().find(|side| fs::symlink_metadata(side).is_ok()) else { return Ok(()) };
    let what = format!("{} is left of another store of this name", side.display());
    Err(Refusal::new(Kind::Refused, "file_exists", what, "move it away, or choose another file"))
}

/// A backup beside the store under the name of its log would be taken for its log.
fn refuse_side_file(file: &Path, store: &Path) -> Result<(), Refusal> {
    // The folder of a bare name is the working directory.
    let parent =
        |path: &Path| path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
    let folder = |path: &Path| {
        let folder = parent(path).unwrap_or_else(|| ".".into());
        folder.canonicalize().unwrap_or(folder)
    };
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let (Some(file_name), Some(store_name)) = (name(file), name(store)) else { return Ok(()) };
    let ending = file_name.strip_prefix(&store_name).unwrap_or_default();
    if !["-wal", "-shm", "-journal", "-lock"].contains(&ending) || folder(file) != folder(store) {
        return Ok(());
    }
    let what = format!("{} is a name that the store itself uses", file.display());
    Err(Refusal::invalid("file_reserved", what, "choose another file"))
}

pub(super) fn restore(args: RestoreArgs, app: &mut App) -> Result<(), AppError> {
    app.refuse_remote()?;
    let Target::File(store) = app.config.store.clone() else {
        return Err(Refusal::new(
            Kind::Refused,
            "restore_file_only",
            "only a store in a file can be restored",
            "unset BATON_STORE (or take `store` out of the settings) to restore a store in a file; a database is restored with its own tools",
        )
        .into());
    };
    let is_named = app.config.origins.get("store").is_some_and(|(_, origin)| origin == "--store");
    admit(&args, &store, is_named)?;
    let mut step = |step| -> Result<(), Fault> {
        tracing::debug!(?step, "the restore goes on");
        Ok(())
    };
    let draft = StagedRestore::build(&args.file, &store, args.incomplete, clock::now(), &mut step)
        .map_err(|fault| unfit(fault, &args.file))?;
    keep_revocations(draft.path(), &store)?;
    let (tokens, webhooks) = openings(draft.path())?;
    let revives = !can_be_read(&store) && !tokens.is_empty();
    let checked = check(&draft, app)?;
    refuse_users(&store)?;
    let succession = Succession::of(&store, draft.path(), &app.machine.id)?;
    let previous = draft.install(clock::now(), &mut step).map_err(|fault| in_use(fault, &store))?;
    let undo = previous.as_ref().map(|previous| undo(previous, &store));
    let restored = RestoreOutput {
        store: &store,
        from: &args.file,
        kept: previous.as_ref().map(|previous| previous.path.as_path()),
        undo,
        sound: true,
        projects: checked.projects,
        effects_held_for: effects_held_for(succession, &store, app),
        tokens: &tokens,
        webhooks: &webhooks,
        revocations_unknown: revives,
    };
    app.show(&restored, show)
}

/// The store that carries out issues and webhooks in place of the restored one: a backup may lie beside a store that lives on. Notes the
/// restored file where it is the one that does.
fn effects_held_for(succession: Succession, store: &Path, app: &App) -> Option<String> {
    let now = clock::now();
    let mut restored = Store::open_existing(&Target::File(store.to_owned()), now).ok()?;
    let other = succession.note(&mut restored, &app.machine.id, now).ok().flatten();
    other.map(|other| other.place)
}

/// Whether a store lies there whose revocations were taken over.
fn can_be_read(store: &Path) -> bool {
    let read = |mut known: Store| known.read(|tx| Ok(Revocations::of(tx)?)).is_ok();
    Store::open_read_only(&Target::File(store.to_owned())).is_ok_and(read)
}

/// Who can read a store from elsewhere: the access tokens that are valid, and where its entries are sent.
fn openings(store: &Path) -> Result<(Vec<RestoredToken>, Vec<RestoredWebhook>), AppError> {
    let mut store = Store::open_read_only(&Target::File(store.to_owned()))?;
    Ok(store.read(|tx| {
        let valid = token::list(tx)?.into_iter().filter(|token| token.is_valid(clock::now()));
        let tokens =
            valid.map(|token| RestoredToken { token_id: token.token_id, name: token.name }).collect();
        let mut webhooks = Vec::new();
        for project_id in project::ids(tx)? {
            if let Some(url) = project::webhook(tx, &project_id)? {
                webhooks.push(RestoredWebhook { project_id, address: redacted_address(&url) });
            }
        }
        Ok((tokens, webhooks))
    })?)
}

/// Revokes in the restored store what the store of the settings has as revoked, where that is another one: the backup may be from before.
/// What is in the place of the restored store was asked already.
fn keep_revocations(draft: &Path, store: &Path) -> Result<(), AppError> {
    let Ok(settings) = crate::config::load_at(None) else { return Ok(()) };
    let is_same = matches!(&settings.store, Target::File(file) if restore::is_same(file, store));
    if is_same || settings.store == Target::Memory {
        return Ok(());
    }
    let read = |mut known: Store| known.read(|tx| Ok(Revocations::of(tx)?)).ok();
    let Some(revoked) = Store::open_read_only(&settings.store).ok().and_then(read) else { return Ok(()) };
    let mut restored = Store::open_existing(&Target::File(draft.to_owned()), clock::now())?;
    Ok(restored.write_shared(|tx| Ok(revoked.write(tx)?))?)
}

fn show(restored: &RestoreOutput<'_>) -> String {
    let projects = match restored.projects {
        1 => "1 project".to_owned(),
        n => format!("{n} projects"),
    };
    let (store, from) = (restored.store.display(), restored.from.display());
    let mut text = format!("restored {store} from {from}: {projects}, sound\n");
    if let (Some(previous), Some(undo)) = (restored.kept, &restored.undo) {
        text += &format!("  kept: {}\n  undo: {undo}\n", previous.display());
    }
    if let Some(other) = &restored.effects_held_for {
        text += &format!(
            "  issues and webhooks stay with {}, of which this is a copy, until you say `baton --store {} store take-over`\n",
            visible(other),
            shell_word(&store.to_string())
        );
    }
    if !restored.tokens.is_empty() {
        let names: Vec<String> = restored.tokens.iter().map(|token| visible(&token.name)).collect();
        text += &format!(
            "  access tokens that open it: {}; `baton token revoke NAME` takes one back\n",
            names.join(", ")
        );
    }
    for RestoredWebhook { project_id, address } in restored.webhooks {
        let (project_id, address) = (visible(project_id), visible(address));
        text +=
            &format!("  entries of {project_id} are sent to {address}: `baton project show {project_id}`\n");
    }
    if restored.revocations_unknown {
        text += "  access tokens and shares that were revoked since this backup are valid again: look at `baton token list` and `baton share list`\n";
    }
    text
}

/// Refuses what is no restore, before anything is read. `is_named`: the store is that of `--store`.
fn admit(args: &RestoreArgs, store: &Path, is_named: bool) -> Result<(), Refusal> {
    if restore::is_same(&args.file, store) {
        let what = format!("{} is the store itself", args.file.display());
        let hint = "name a backup: a file of `baton backup`, or one that a restore has kept";
        return Err(Refusal::invalid("restore_same", what, hint));
    }
    if fs::symlink_metadata(store).is_ok() && !args.yes {
        let what = format!("{} exists already", store.display());
        let hint = "say --yes to put the backup in its place; the old one is kept beside it";
        return Err(Refusal::new(Kind::Refused, "store_exists", what, hint));
    }
    // What lies in the place of the settings is what is left of a store, whatever it holds.
    if is_named && restore::is_foreign(store) {
        let file = store.display().to_string();
        let what = format!("{file} is there and is no store of Baton");
        let hint = format!(
            "name another file with --store; if it is what is left of a damaged store: `mv -n {0} {0}.damaged`, then repeat the command",
            shell_word(&file)
        );
        return Err(Refusal::new(Kind::Refused, "store_foreign", what, hint));
    }
    refuse_users(store)
}

/// Refuses to replace a store that others have open, and says who they are.
fn refuse_users(store: &Path) -> Result<(), Refusal> {
    let users = open_files::of(store);
    if users.is_empty() { Ok(()) } else { Err(used_store_refusal(store, &users)) }
}

fn used_store_refusal(store: &Path, users: &[open_files::Holder]) -> Refusal {
    let named: Vec<String> = users.iter().map(|user| format!("{} ({})", user.pid, user.command)).collect();
    let who = if named.is_empty() {
        "a process that this user cannot see".to_owned()
    } else {
        format!("process {}", named.join(", "))
    };
    let what = format!("{} is in use by {who}", store.display());
    let hint =
        "stop what works on the store (servers, agents' MCP connections, workers), then repeat the command";
    let refusal = Refusal::new(Kind::Conflict, "store_in_use", what, hint);
    match serde_json::to_value(users) {
        Ok(processes) => refusal.with("processes", processes),
        Err(_) => refusal,
    }
}

fn in_use(fault: Fault, store: &Path) -> AppError {
    if fault.kind == FaultKind::Busy {
        used_store_refusal(store, &open_files::of(store)).into()
    } else {
        fault.into()
    }
}

/// What can be done about a backup that is not sound.
const UNSOUND_HINT: &str = "nothing was changed; restore an older backup, or keep what can still be read of this one: \
    `baton doctor --store FILE` names what is broken, `baton store copy --unverified FILE NEW` copies the rest";

/// Why a file is no backup: what the store says of it, with a hint that fits.
fn unfit(fault: Fault, file: &Path) -> AppError {
    match fault.kind {
        FaultKind::Corrupt => {
            let what = format!("{} is not a sound store: {}", file.display(), fault.message);
            Refusal::new(Kind::Refused, "backup_unsound", what, UNSOUND_HINT).into()
        }
        _ => fault.into(),
    }
}

/// What the doctor says of the store that is about to be put in place. Its store is closed again: it has to be one file.
fn check(draft: &StagedRestore, app: &App) -> Result<StoreCheckOutput, AppError> {
    let mut config = app.config.clone();
    config.store = Target::File(draft.path().to_owned());
    let mut other = App::new(config, app.format, false, true);
    let checked = other.run::<StoreCheck>(&StoreCheckInput {})?;
    if checked.sound {
        return Ok(checked);
    }
    let what = format!("the backup is not sound: {}", checked.faults.join("; "));
    Err(Refusal::new(Kind::Refused, "backup_unsound", what, UNSOUND_HINT).into())
}

/// The command that puts the store back that was there. What cannot be restored, because it was damaged, is moved.
fn undo(previous: &ReplacedStore, store: &Path) -> String {
    let (backup, store) = (previous.path.display().to_string(), store.display().to_string());
    if previous.is_whole {
        return format!("baton restore --yes --store {} {}", shell_word(&store), shell_word(&backup));
    }
    let parts =
        ["-wal", "-journal", ""].into_iter().filter(|part| Path::new(&format!("{backup}{part}")).exists());
    let moves = parts.map(|part| {
        format!("mv -f {} {}", shell_word(&format!("{backup}{part}")), shell_word(&format!("{store}{part}")))
    });
    moves.collect::<Vec<_>>().join(" && ")
}
