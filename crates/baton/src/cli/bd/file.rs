//! Beads' file of issues.

use baton_ops::task as tasks;
use serde::Serialize;

use super::{Out, write};
use crate::cli::beads;
use crate::error::AppError;

pub(super) fn export(output: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    if let Some(path) = output {
        return beads::export(out.app, &path).map(drop);
    }
    let input = tasks::BeadsExportInput { project: out.project(), ..tasks::BeadsExportInput::default() };
    let exported = out.app.run::<tasks::BeadsExport>(&input)?;
    write(&exported.items.iter().map(|item| format!("{}\n", item.line)).collect::<String>())
}

/// What an import did.
#[derive(Serialize)]
struct Imported {
    source: String,
    created: usize,
    updated: usize,
    skipped: usize,
    dedup_skipped: usize,
    memories: usize,
    ids: Vec<String>,
    dry_run: bool,
}

pub(super) fn import(path: Option<String>, dry_run: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let source = path.unwrap_or_else(|| ".beads/issues.jsonl".to_owned());
    let actor = out.identity();
    let done = beads::import(out.app, &source, actor.as_deref(), dry_run)?;
    let imported = Imported {
        source,
        created: done.created,
        updated: done.updated,
        skipped: done.unchanged,
        dedup_skipped: 0,
        memories: done.memories,
        ids: done.ids,
        dry_run,
    };
    out.print(&imported, |done| format!("✓ Imported: {} created, {} updated\n", done.created, done.updated))
}
