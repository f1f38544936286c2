//! Beads' file of issues.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_ops::task as tasks;
use serde::Serialize;

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
pub(super) struct Included {
    /// Short-lived issues.
    pub(super) ephemeral: bool,
    /// Memories of the ledger.
    pub(super) memories: bool,
}

pub(super) fn export(output: Option<String>, included: &Included, out: &mut Out<'_>) -> Result<(), AppError> {
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
struct Imported {
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

pub(super) fn import(path: Option<String>, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let actor = out.identity();
    let source = path.unwrap_or_else(|| beads_file(out).display().to_string());
    let given = match source.as_str() {
        "-" => {
            let mut file = tempfile::Builder::new().prefix("bd-").tempfile().map_err(anyhow::Error::from)?;
            std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
            Some(file)
        }
        _ => None,
    };
    let path = given.as_ref().map_or_else(|| source.clone(), |file| file.path().display().to_string());
    // The lines of the mirrored file have the ids that every clone knows.
    let is_mirror = out.app.config.beads_file.as_ref().is_some_and(|own| own.path() == Path::new(&path));
    let named = if is_mirror { None } else { nameless::with_ids(&path, out)? };
    let path = named.as_ref().map_or(path, |file| file.path().display().to_string());
    let done = beads::import(out.app, &path, actor.as_deref(), dry_run)?;
    beads::remark_findings(out.app, &done);
    let imported = Imported {
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
