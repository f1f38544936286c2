//! The error log of hooks: a file beside the store, because the output of a hook is not shown.

use std::fs;
use std::io::Write;

use baton_store::Target;

use super::Call;
use crate::config::Config;
use crate::error::{AppError, quote};
use crate::{clock, private_file};

/// Beyond this size the log begins anew, and the one before is kept.
const LIMIT: u64 = 256 * 1024;

/// Appends one line; errors are ignored, because a hook has no channel to report them. The folder is created only with
/// a PostgreSQL store: a SQLite store has created it.
pub(super) fn write(config: &Config, call: &Call, error: &AppError) {
    let text = error.text();
    let what = text.lines().next().unwrap_or_default();
    let file = config.data_dir.join("hooks.log");
    if matches!(config.store, Target::Postgres(_)) {
        let _ = private_file::create_folder(&config.data_dir);
    }
    if fs::metadata(&file).is_ok_and(|meta| meta.len() > LIMIT) {
        let _ = fs::rename(&file, file.with_extension("log.1"));
    }
    let at = baton_model::time::rfc3339(clock::now());
    let line = format!("{at} {} {}: {}\n", quote(&call.agent), quote(&call.event), quote(what));
    let log = private_file::append(&file);
    let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
}
