//! Taking over what the readers give out: a file of events for each session, in Baton's cache folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_model::id::visible;
use baton_ops::op::Host;
use baton_transcripts::external_sessions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::program::{Limits, run};
use super::{EnabledReader, EnabledReaders};
use crate::app::App;
use crate::config::trust::sha256;

pub(super) const LIST: Limits = Limits { time: Duration::from_secs(10), bytes: 4 << 20 };
pub(super) const READ: Limits = Limits { time: Duration::from_secs(60), bytes: 64 << 20 };
/// Sessions that are taken over in one call, the first ones of the list.
const MAX_SESSIONS: usize = 50;
const INDEX: &str = "index.json";

/// A session as a reader lists it.
#[derive(Debug, Deserialize)]
pub(super) struct SessionEntry {
    /// By which `read` takes it.
    pub id: String,
    /// When it changed last; without it, it is read anew each time.
    #[serde(default)]
    pub updated_at: Option<Value>,
}

/// Which state of each session was taken over.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    updated_at: BTreeMap<String, Value>,
}

/// Asks every enabled reader for the sessions that are new or have changed. What fails is a remark: other sessions are there.
pub(crate) fn refresh(app: &App) {
    let enabled = EnabledReaders::read(&app.config.config_dir);
    if enabled.readers.is_empty() {
        return;
    }
    let root = external_sessions(app.machine.transcript_env());
    for reader in &enabled.readers {
        let done = match reader.is_same() {
            true => refresh_one(reader, &root.join(&reader.name)),
            false => Err(format!(
                "{} is not the program that you enabled; look at it, then `baton transcripts readers enable {}`",
                visible(&reader.program.display().to_string()),
                reader.name
            )),
        };
        if let Err(why) = done {
            app.remark(&format!("warning: external reader {}: {why}", reader.name));
        }
    }
}

fn refresh_one(reader: &EnabledReader, folder: &Path) -> Result<(), String> {
    let written = |error: std::io::Error| format!("its sessions cannot be kept: {error}");
    crate::private_file::create_folder(folder).map_err(written)?;
    let index_file = folder.join(INDEX);
    let mut index: Index = std::fs::read(&index_file)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    for session in list(reader)?.into_iter().take(MAX_SESSIONS) {
        let file = session_file(folder, &session.id);
        let is_known = session.updated_at.is_some()
            && index.updated_at.get(&session.id) == session.updated_at.as_ref()
            && file.is_file();
        if is_known {
            continue;
        }
        let events = run(&reader.program, &["read", &session.id], READ)?;
        crate::private_file::write(&file, events.as_bytes()).map_err(written)?;
        session.updated_at.into_iter().for_each(|at| drop(index.updated_at.insert(session.id.clone(), at)));
    }
    let text = serde_json::to_vec(&index).map_err(|error| error.to_string())?;
    crate::private_file::write(&index_file, &text).map_err(written)
}

/// The sessions that a reader lists, in its order.
pub(super) fn list(reader: &EnabledReader) -> Result<Vec<SessionEntry>, String> {
    let text = run(&reader.program, &["list"], LIST)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let session: SessionEntry = serde_json::from_str(line)
                .map_err(|error| format!("line {} of its list is no session: {error}", at + 1))?;
            match session.id.is_empty() || session.id.starts_with('-') {
                true => Err(format!("line {} of its list has no usable id", at + 1)),
                false => Ok(session),
            }
        })
        .collect()
}

/// Where the events of a session lie. An id that is no file name is known by its digest.
fn session_file(folder: &Path, id: &str) -> PathBuf {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = match id.len() <= 100 && id.chars().all(is_plain) {
        true => id.to_owned(),
        false => format!("id-{}", &sha256(id.as_bytes())[..32]),
    };
    folder.join(format!("{name}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_leads_out_of_the_folder() {
        let folder = Path::new("/c/readers/own");
        assert_eq!(session_file(folder, "0199-ab_C"), folder.join("0199-ab_C.jsonl"));
        for id in ["../../x", "/etc/passwd", "a b", ".", "ü", &"x".repeat(300)] {
            let file = session_file(folder, id);
            assert!(file.parent() == Some(folder) && file.to_string_lossy().contains("/id-"), "{file:?}");
        }
    }
}
