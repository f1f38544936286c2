//! `baton handoff export`, `import` and `reclaim`: a baton as a file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use baton_model::baton_file::{BatonFile, FORMAT, MAX_BYTES, PortableBaton, Receipt, VERSION};
use baton_model::id::{short, visible};
use baton_model::markdown::{Options, render as document};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::changes::{Upload, UploadInput};
use baton_ops::key::{List, ListInput, Row};
use baton_ops::portable::{
    BatonExport, BatonExportInput, BatonExportOutput, BatonImport, BatonImportInput, BatonImportOutput,
    BatonReclaim, BatonReclaimInput,
};
use baton_ops::session::{Status, StatusInput};
use baton_ops::transcript::{Events, EventsInput};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::ActingIdentity;
use super::export_remarks::{kept_back_text, remark_left_behind, remark_unpushed};
use crate::app::App;
use crate::changes::{ExportNotes, carry};
use crate::error::AppError;
use crate::keys::{self, Keys, Protection};
use crate::{path_kind, private_file, render};

/// The longest passphrase that is read, in bytes.
const MAX_PASSPHRASE_BYTES: u64 = 4096;

#[derive(clap::Args)]
pub(super) struct Export {
    /// Baton to export; defaults to the only one that waits for you
    baton: Option<String>,
    /// File to write, or - for standard output
    #[arg(short, long, value_name = "FILE|-", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    #[command(flatten)]
    who: ActingIdentity,
    /// Encrypt it to a public key (age1…), or to the key of an identity of the project; may be repeated
    #[arg(long, value_name = "KEY|NAME", conflicts_with = "passphrase_file")]
    encrypt_to: Vec<String>,
    /// Encrypt it with the passphrase in this file, or - for standard input
    #[arg(long, value_name = "FILE|-")]
    passphrase_file: Option<PathBuf>,
    /// Add a session of your coding agent, secrets redacted: its id, or `latest`
    #[arg(long, value_name = "SESSION")]
    transcript: Option<String>,
    /// Write once more what was exported before
    #[arg(long)]
    again: bool,
    /// Overwrite an existing file; never a store
    #[arg(long)]
    overwrite: bool,
    /// Show what would be written without writing anything
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub(super) struct Import {
    /// File that `baton handoff export` wrote, or - for standard input
    file: PathBuf,
    #[command(flatten)]
    who: ActingIdentity,
    /// Private key that opens it, in the format of age-keygen; your keys of the project are tried as well
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,
    /// File with the passphrase that opens it
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// File to write the transcript to that came with it, as events, one per line
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Let it wait beside one that was imported from another file of the same baton
    #[arg(long)]
    again: bool,
}

#[derive(clap::Args)]
pub(super) struct Reclaim {
    /// Baton that was exported
    baton: String,
    /// Take it back although its work is known to go on elsewhere
    #[arg(long, requires = "why")]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
    #[command(flatten)]
    who: ActingIdentity,
}

pub(super) fn export(args: Export, app: &mut App) -> Result<(), AppError> {
    if let Some(file) = args.output.as_ref().filter(|file| !is_stdout(file)) {
        private_file::check_output(file, args.overwrite)?;
    }
    let mut input = BatonExportInput {
        project: app.project.clone(),
        identity: args.who.identity.clone(),
        baton_id: args.baton.clone(),
        again: args.again,
        dry_run: true,
    };
    // Whatever can fail does so before the baton leaves the ledger.
    let preview = app.run::<BatonExport>(&input)?;
    let changes_parts = changes_parts(&preview, app)?;
    let transcript = transcript(args.transcript.as_deref(), app)?;
    let protection = protection(&args, &preview.project_id, app)?;
    let Some(file) = args.output.filter(|_| !args.dry_run) else {
        remark_unpushed(&preview.baton, app);
        remark_left_behind(&preview, app);
        return show(&preview, None, app);
    };
    input.dry_run = false;
    input.baton_id = Some(preview.baton.baton_id.clone());
    input.project = Some(preview.project_id.clone());
    let mut exported = app.run::<BatonExport>(&input)?;
    // The file holds the content, wherever it was kept.
    exported.baton.changes.iter_mut().for_each(|manifest| manifest.remote = None);
    let written = BatonFile {
        format: FORMAT.into(),
        version: VERSION,
        document: document_of(&exported.baton)?,
        baton: exported.baton.clone(),
        changes_parts,
        transcript,
    };
    if let Err(error) = write(&written, protection.as_ref(), &file, app) {
        if !exported.exported_before {
            let (identity, baton_id) = (args.who.identity, exported.baton.baton_id);
            let project = input.project;
            let input = BatonReclaimInput { project, identity, baton_id, ..BatonReclaimInput::default() };
            app.run::<BatonReclaim>(&input)?;
        }
        return Err(error);
    }
    remark_unpushed(&exported.baton, app);
    remark_left_behind(&exported, app);
    for earlier in &exported.earlier_changes {
        app.remark(&format!(
            "not in the file: {}\n  here: apply them, `baton wrap --with-changes`, and export the baton that this leaves",
            earlier.message
        ));
    }
    if is_stdout(&file) {
        let id = short(&exported.baton.baton_id);
        app.remark(&format!("exported: baton {id}\n  back here: baton handoff reclaim {id}"));
        return Ok(());
    }
    show(&exported, Some(&file), app)
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// The content of the changes, as the ledger keeps it.
fn changes_parts(of: &BatonExportOutput, app: &mut App) -> Result<Vec<String>, AppError> {
    let Some(manifest) = &of.baton.changes else { return Ok(Vec::new()) };
    Ok(carry::parts(&carry::content_of(app, &of.project_id, &of.baton.baton_id, manifest)?))
}

fn transcript(wanted: Option<&str>, app: &mut App) -> Result<Vec<Value>, AppError> {
    let Some(id) = wanted else { return Ok(Vec::new()) };
    Ok(app.run::<Events>(&EventsInput { id: id.to_owned(), agent: None })?.items)
}

fn document_of(baton: &PortableBaton) -> Result<String, Refusal> {
    let packet = baton.sealed_packet()?;
    Ok(document(packet.view(), &Options::default()).text)
}

fn protection(args: &Export, project_id: &str, app: &mut App) -> Result<Option<Protection>, AppError> {
    if let Some(file) = &args.passphrase_file {
        return Ok(Some(Protection::Passphrase(passphrase(file)?)));
    }
    if args.encrypt_to.is_empty() {
        return Ok(None);
    }
    let mut keys = Vec::new();
    for named in &args.encrypt_to {
        if named.starts_with("age1") {
            keys::check(named)?;
            keys.push(named.clone());
        } else {
            keys.push(key_of(named, project_id, app)?);
        }
    }
    Ok(Some(Protection::Recipients(keys)))
}

/// The public key of an identity of the project.
fn key_of(name: &str, project_id: &str, app: &mut App) -> Result<String, AppError> {
    let listed =
        app.run::<List>(&ListInput { project: Some(project_id.to_owned()), name: Some(name.to_owned()) })?;
    let is_theirs = |row: &&Row| row.key.name.eq_ignore_ascii_case(name);
    listed.items.iter().find(is_theirs).map(|row| row.key.public_key.clone()).ok_or_else(|| {
        let what = format!("{} has no key in project {project_id}", visible(name));
        let hint = "`baton key list` names those that have one; or give the public key itself: age1…";
        Refusal::new(Kind::NotFound, "key_unknown", what, hint).into()
    })
}

fn write(file: &BatonFile, protection: Option<&Protection>, path: &Path, app: &App) -> Result<(), AppError> {
    let text = format!("{}\n", json!(file));
    let text = match protection {
        Some(protection) => {
            let text = keys::encrypt_file(protection, &text)?;
            // Nothing else tells it from any other encrypted file in a working copy.
            ExportNotes::of(&app.config.data_dir)
                .note(text.as_bytes())
                .map_err(|error| unwritable_refusal(&app.config.data_dir, &error))?;
            text
        }
        None => text,
    };
    let outcome = match is_stdout(path) {
        true => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
        false => private_file::write(path, text.as_bytes()),
    };
    outcome.map_err(|error| unwritable_refusal(path, &error).into())
}

fn unwritable_refusal(path: &Path, error: &std::io::Error) -> Refusal {
    let what = format!("{} cannot be written: {error}", visible(&path.display().to_string()));
    Refusal::invalid("output_unwritable", what, "choose another file with -o")
}

/// What was exported, and where it is.
#[derive(Serialize)]
struct ExportAnswer<'a> {
    #[serde(flatten)]
    exported: &'a BatonExportOutput,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

fn show(exported: &BatonExportOutput, file: Option<&Path>, app: &mut App) -> Result<(), AppError> {
    let answer = ExportAnswer { exported, file: file.map(|file| file.display().to_string()) };
    app.show(&answer, |_| {
        let baton = &exported.baton;
        let id = short(&baton.baton_id);
        let changes = baton.changes.as_ref().map(super::super::changes::summary).unwrap_or_default();
        let Some(file) = file else {
            return format!("nothing was written: baton {id}, left by {}, would be exported\n{changes}", visible(&baton.identity));
        };
        let name = visible(&file.display().to_string());
        let kept_back = kept_back_text(&exported.kept_back);
        format!(
            "exported: baton {id}, left by {}, is in {name}\n{changes}{kept_back}  there: baton handoff import {name}\n  back here: baton handoff reclaim {id}\n{}",
            visible(&baton.identity),
            crate::render::reminders(&exported.words_of_others)
        )
    })
}

pub(super) fn import(args: Import, app: &mut App) -> Result<(), AppError> {
    if let Some(file) = &args.transcript {
        private_file::check_output(file, false).map_err(|refusal| match refusal.code {
            "file_exists" => Refusal { hint: "choose another file; nothing was imported".into(), ..refusal },
            _ => refusal,
        })?;
    }
    if !is_stdout(&args.file) {
        let hint = "give a file that `baton handoff export` wrote, or - for standard input";
        path_kind::require_regular(&args.file, hint)?;
    }
    let content = read(&args.file, MAX_BYTES)?;
    let text = plain_text(content, &args, app)?;
    let BatonFile { baton, changes_parts, transcript, .. } = BatonFile::parse(&text)?;
    // Before anything is imported: what cannot be written is known by then.
    let written = args.transcript.as_deref().filter(|_| !transcript.is_empty());
    let is_new = written.is_some_and(|file| file.symlink_metadata().is_err());
    if let Some(file) = written {
        let lines: String = transcript.iter().map(|event| format!("{event}\n")).collect();
        private_file::write(file, lines.as_bytes()).map_err(|error| Refusal {
            hint: "choose another file with --transcript; nothing was imported".into(),
            ..unwritable_refusal(file, &error)
        })?;
    }
    let who = args.who.identity;
    let imported = import_baton((baton, changes_parts), (who, args.again), app).inspect_err(|_| {
        // Where it was not imported, its transcript is of no use. A pipe or device was there before, and stays.
        if let Some(file) = written.filter(|_| is_new) {
            let _ = std::fs::remove_file(file);
        }
    })?;
    app.show(&imported, |imported| {
        let word = if imported.imported_before { "imported before" } else { "imported" };
        let (id, project) = (short(&imported.baton_id), &imported.project_id);
        let apply = if imported.has_changes { " --apply" } else { "" };
        let (now, next) = match &imported.progress {
            None => ("waits in".to_owned(), format!("  go on: baton pickup --handoff {id}{apply}\n")),
            Some(progress) => (format!("which {progress}, in"), String::new()),
        };
        format!(
            "{word}: baton {id}, left by {}, {now} project {project}\n  {}\n{next}{}",
            visible(&imported.identity),
            visible(&imported.summary),
            imported.receipts.iter().map(receipt).collect::<String>()
        )
    })
}

/// Keeps what came of a baton: first its changes, then the baton itself.
fn import_baton(
    (baton, changes_parts): (PortableBaton, Vec<String>),
    (identity, again): (Option<String>, bool),
    app: &mut App,
) -> Result<BatonImportOutput, AppError> {
    let project = app.project.clone();
    if let Some(manifest) = &baton.changes {
        manifest.check()?;
        if manifest.remote.is_some() {
            return Err(
                baton_model::baton_file::invalid_refusal("names a remote in place of its content").into()
            );
        }
        for (part, content) in (0..).zip(changes_parts) {
            let content_hash = manifest.content_hash.clone();
            app.run::<Upload>(&UploadInput { project: project.clone(), content_hash, part, content })?;
        }
    }
    app.run::<BatonImport>(&BatonImportInput { project, identity, baton, again })
}

pub(super) fn reclaim(args: Reclaim, app: &mut App) -> Result<(), AppError> {
    let Reclaim { baton: baton_id, force, why, who } = args;
    let project = app.project.clone();
    let input = BatonReclaimInput { project, identity: who.identity, baton_id, force, why };
    let taken = app.run::<BatonReclaim>(&input)?;
    app.show(&taken, |taken| {
        let id = short(&taken.baton_id);
        let elsewhere = taken.picked_up_elsewhere.as_ref().map(receipt).unwrap_or_default();
        format!(
            "baton {id} waits in project {} again; whoever has the file can still import it\n{elsewhere}",
            taken.project_id
        )
    })
}

fn receipt(receipt: &Receipt) -> String {
    let (id, by) = (short(&receipt.baton_id), visible(&receipt.picked_up_by));
    format!("  baton {id}: {by} picked it up elsewhere, {}\n", render::time_ago(receipt.picked_up_at))
}

/// What a file holds, decrypted where it is encrypted.
fn plain_text(content: Vec<u8>, args: &Import, app: &mut App) -> Result<String, AppError> {
    if keys::is_encrypted(&content) {
        let passphrase = args.passphrase_file.as_deref().map(passphrase).transpose()?;
        let mut key_files = args.key.clone();
        // Keys are of projects; a file may be opened before its folder is registered.
        if let Ok(own) =
            app.run::<Status>(&StatusInput { project: app.project.clone(), ..StatusInput::default() })
        {
            key_files.extend(Keys::new(app.config.config_dir.join("keys")).files(&own.project_id)?);
        }
        return Ok(keys::decrypt_file(&content, passphrase.as_deref(), &key_files, MAX_BYTES)?);
    }
    let text =
        String::from_utf8(content).map_err(|_| baton_model::baton_file::invalid_refusal("is no text"))?;
    Ok(text)
}

fn passphrase(file: &Path) -> Result<String, Refusal> {
    let content = read(file, MAX_PASSPHRASE_BYTES)?;
    let text = String::from_utf8(content).unwrap_or_default();
    let phrase = text.lines().next().unwrap_or_default();
    if phrase.is_empty() {
        let what = "the file with the passphrase is empty, or no text";
        return Err(Refusal::invalid("passphrase_invalid", what, "write the passphrase into its first line"));
    }
    Ok(phrase.to_owned())
}

/// A file, or standard input for `-`; at most so many bytes.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
    let mut content = Vec::new();
    let shown = visible(&path.display().to_string());
    let taken = if path == Path::new("-") {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut content)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut content))
    };
    taken.map_err(|error| {
        let what = format!("{shown} cannot be read: {error}");
        Refusal::new(Kind::NotFound, "file_unreadable", what, "check its path")
    })?;
    if content.len() as u64 > most {
        let what = format!("{shown} has more than {most} bytes");
        let hint = "name a file that `baton handoff export` wrote";
        return Err(Refusal::invalid("file_too_large", what, hint));
    }
    Ok(content)
}
