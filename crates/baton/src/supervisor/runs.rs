//! The runs of this machine, and whose conversation each was found to be: so that two in one folder do not take the same.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_model::time::Millis;
use serde::{Deserialize, Serialize};

use super::find_transcript::Conversation;
use crate::{private_file, process};

/// What an earlier run was found to have written counts for so long.
const RETENTION: Millis = 86_400_000;
/// The extension of the file in which hooks name the run's conversation.
const REPORTS: &str = "hooks";

/// A conversation that a hook of the run's agent named.
#[derive(Serialize, Deserialize)]
struct HookReport {
    /// The agent's process: an agent that the run's agent starts inherits the environment, and is another process.
    process: String,
    id: String,
}

/// Records that a hook of this process was called for this conversation in this session. Nothing happens where no run is.
pub(crate) fn report(data_dir: &Path, session_id: &str, process: &str, id: &str) {
    let Some(file) = run_file(data_dir, session_id).filter(|file| file.is_file()) else { return };
    let report = HookReport { process: process.to_owned(), id: id.to_owned() };
    if let Ok(line) = serde_json::to_string(&report) {
        // A report that cannot be written is no proof; another may follow.
        let _ =
            private_file::append(&file.with_extension(REPORTS)).and_then(|mut file| writeln!(file, "{line}"));
    }
}

/// The file of a run; none for what is no id of a session.
fn run_file(data_dir: &Path, session_id: &str) -> Option<PathBuf> {
    let is_id =
        !session_id.is_empty() && session_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_id.then(|| data_dir.join("runs").join(format!("{session_id}.json")))
}

/// What a run says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Run {
    /// The process that supervises it.
    pub process: String,
    /// The tool that it runs, if it is known.
    pub tool: Option<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// When it began.
    pub began: Millis,
    /// Its conversation, once that is known.
    pub conversation: Option<Conversation>,
}

/// The place of one run among the others.
pub(super) struct Registration {
    folder: PathBuf,
    file: PathBuf,
    run: Run,
}

impl Registration {
    /// Says that this run has begun. Where that cannot be written, others do not see it.
    pub(super) fn take(data_dir: &Path, session_id: &str, run: Run) -> Self {
        let folder = data_dir.join("runs");
        let _ = private_file::create_folder(&folder);
        let place = Self { file: folder.join(format!("{session_id}.json")), folder, run };
        place.write();
        place
    }

    fn write(&self) {
        if let Ok(text) = serde_json::to_vec(&self.run) {
            let _ = private_file::write(&self.file, &text);
        }
    }

    /// The conversation that was found to be this run's.
    pub(super) fn bound(&self) -> Option<&Conversation> {
        self.run.conversation.as_ref()
    }

    /// From now on this conversation is this run's.
    pub(super) fn bind(&mut self, conversation: &Conversation) {
        if self.run.conversation.as_ref() != Some(conversation) {
            self.run.conversation = Some(conversation.clone());
            self.write();
        }
    }

    /// The conversations that hooks of the run's agent named. The first that was called is the agent's own.
    pub(super) fn reported(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file.with_extension(REPORTS)).unwrap_or_default();
        let reports: Vec<HookReport> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let Some(own) = reports.first().map(|first| first.process.clone()) else { return Vec::new() };
        reports.into_iter().filter(|report| report.process == own).map(|report| report.id).collect()
    }

    /// The conversations of other runs. What is long over is forgotten.
    pub(super) fn others(&self, now: Millis) -> BTreeSet<Conversation> {
        let mut taken = BTreeSet::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == REPORTS) {
                remove_if_old(&path);
                continue;
            }
            let run = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Run>(&text).ok());
            let Some(run) = run.filter(|_| path != self.file) else { continue };
            let has_ended = process::has_ended(&run.process);
            match run.conversation {
                _ if has_ended && now.saturating_sub(run.began) > RETENTION => _ = fs::remove_file(&path),
                Some(conversation) => _ = taken.insert(conversation),
                None => {}
            }
        }
        taken
    }
}

/// Removes a file that was not written to for as long as runs count.
fn remove_if_old(path: &Path) {
    let changed = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let retention = Duration::from_millis(RETENTION.unsigned_abs());
    if changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > retention) {
        let _ = fs::remove_file(path);
    }
}

impl Drop for Registration {
    /// What is known of its conversation stays: another run of the same time may look for its own.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.file.with_extension(REPORTS));
        if self.run.conversation.is_none() {
            let _ = fs::remove_file(&self.file);
        }
    }
}
