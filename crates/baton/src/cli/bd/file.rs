//! Beads' file of issues.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use baton_model::id::visible;
use baton_ops::task as tasks;
use serde::Serialize;
use tempfile::NamedTempFile;

use super::memory::ledger_memories;
use super::{Out, nameless, write};
use crate::cli::beads;
use crate::error::AppError;

/// The file of issues of this folder's repository.
pub(super) fn beads_file(out: &mut Out<'_>) -> PathBuf {
    if let Some(mirror) = &out.app.config.beads_file {
        return mirror.path();
    }
    let caller = out.app.caller();
    let root = caller.git_root.or_else(|| caller.folders.first().cloned()).unwrap_or_default();
    PathBuf::from(root).join(".beads/issues.jsonl")
}

/// What an export holds beside the issues that last.
pub(super) struct ExportOptions {
    /// Short-lived issues.
    pub(super) ephemeral: bool,
    /// Memories of the ledger.
    pub(super) memories: bool,
}

pub(super) fn export(
    output: Option<String>,
    included: &ExportOptions,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let memories = if included.memories { ledger_memories(out)? } else { String::new() };
    if let Some(path) = output {
        let exported = beads::export(out.app, &path)?;
        out.remark(&format!("✓ Exported {} issues to {}", exported.tasks, visible(&path)));
        if !memories.is_empty() {
            let mut file = OpenOptions::new().append(true).open(&path)?;
            file.write_all(memories.as_bytes())?;
        }
        return Ok(());
    }
    out.app.sync_beads_file(None);
    let ephemeral = included.ephemeral;
    let input =
        tasks::BeadsExportInput { project: out.project(), ephemeral, ..tasks::BeadsExportInput::default() };
    let exported = out.app.run::<tasks::BeadsExport>(&input)?;
    let issues: String = exported.items.iter().map(|item| format!("{}\n", item.line)).collect();
    write(&(issues + &memories))
}

/// What an import did.
#[derive(Serialize)]
struct ImportOutput {
    source: String,
    created: usize,
    updated: usize,
    skipped: usize,
    /// Deleted issues that were not known.
    deleted: usize,
    dedup_skipped: usize,
    memories: usize,
    ids: Vec<String>,
    dry_run: bool,
}

/// How long the first bytes of a pipe are waited for that was not asked for: an agent's command may have one that never ends.
const PIPE_PATIENCE: Duration = Duration::from_secs(1);

fn new_file() -> Result<NamedTempFile, AppError> {
    Ok(tempfile::Builder::new().prefix("bd-").tempfile().map_err(anyhow::Error::from)?)
}

/// What comes on standard input, in a file.
fn standard_input() -> Result<NamedTempFile, AppError> {
    let mut file = new_file()?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
    Ok(file)
}

/// What was piped in, in a file; nothing where standard input is a terminal, is empty, or says nothing for a while.
fn piped_input() -> Result<Option<NamedTempFile>, AppError> {
    if std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let (sender, chunks) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = std::io::stdin().lock().read(&mut buffer).map(|count| buffer[..count].to_vec());
            let is_over = read.as_ref().map_or(true, Vec::is_empty);
            if sender.send(read).is_err() || is_over {
                return;
            }
        }
    });
    let Ok(Ok(first)) = chunks.recv_timeout(PIPE_PATIENCE) else { return Ok(None) };
    if first.is_empty() {
        return Ok(None);
    }
    let mut file = new_file()?;
    file.write_all(&first)?;
    for chunk in chunks {
        file.write_all(&chunk?)?;
    }
    Ok(Some(file))
}

pub(super) fn import(path: Option<String>, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let actor = out.identity();
    // What is piped in is meant, also without `-`.
    let given = match path.as_deref() {
        Some("-") => Some(standard_input()?),
        Some(_) => None,
        None => piped_input()?,
    };
    let source = match &given {
        Some(_) => "-".to_owned(),
        None => path.unwrap_or_else(|| beads_file(out).display().to_string()),
    };
    let path = given.as_ref().map_or_else(|| source.clone(), |file| file.path().display().to_string());
    // The lines of the mirrored file have the ids that every clone knows.
    let is_mirror = out.app.config.beads_file.as_ref().is_some_and(|own| own.path() == Path::new(&path));
    let named = if is_mirror { None } else { nameless::with_ids(&path, out)? };
    let path = named.as_ref().map_or(path, |file| file.path().display().to_string());
    let done = beads::import(out.app, &path, actor.as_deref(), dry_run)?;
    beads::remark_findings(out.app, &done);
    let imported = ImportOutput {
        source,
        created: done.created,
        deleted: done.deleted,
        updated: done.updated,
        skipped: done.unchanged,
        dedup_skipped: 0,
        memories: done.memories,
        ids: done.ids,
        dry_run,
    };
    out.print(&imported, |done| {
        let word = if done.dry_run { "Would import" } else { "✓ Imported" };
        let deleted = match done.deleted {
            0 => String::new(),
            deleted => format!(", {deleted} noted as deleted"),
        };
        format!("{word}: {} created, {} updated{deleted}\n", done.created, done.updated)
    })
}
