//! The runs of this machine, and whose conversation each was found to be: so that two in one folder do not take the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use baton_model::time::Millis;
use serde::{Deserialize, Serialize};

use super::find_transcript::{Conversation, Rival};
use crate::{private, process};

/// What an earlier run was found to have written counts for so long.
const RETENTION: Millis = 86_400_000;

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
        let _ = private::create_folder(&folder);
        let place = Self { file: folder.join(format!("{session_id}.json")), folder, run };
        place.write();
        place
    }

    fn write(&self) {
        if let Ok(text) = serde_json::to_vec(&self.run) {
            let _ = private::write(&self.file, &text);
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

    /// The conversations of other runs, and those runs of which none is known. What is long over is forgotten.
    pub(super) fn others(&self, now: Millis) -> (BTreeSet<Conversation>, Vec<Rival>) {
        let (mut taken, mut rivals) = (BTreeSet::new(), Vec::new());
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let run = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Run>(&text).ok());
            let Some(run) = run.filter(|_| path != self.file) else { continue };
            let has_ended = process::has_ended(&run.process);
            match run.conversation {
                _ if has_ended && now.saturating_sub(run.began) > RETENTION => _ = fs::remove_file(&path),
                Some(conversation) => _ = taken.insert(conversation),
                None if !has_ended => rivals.push(Rival { cwd: run.cwd, began: run.began, tool: run.tool }),
                None => {}
            }
        }
        (taken, rivals)
    }
}

impl Drop for Registration {
    /// What is known of its conversation stays: another run of the same time may look for its own.
    fn drop(&mut self) {
        if self.run.conversation.is_none() {
            let _ = fs::remove_file(&self.file);
        }
    }
}
