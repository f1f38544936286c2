//! A transcript that was found.

use std::path::{Path, PathBuf};

use baton_model::repository::{Repository, WorkingCopy};
use baton_model::time::Millis;
use baton_transcripts::{Header, TranscriptReader};

use super::copy_file::TranscriptCopy;
use crate::op::Host;
use crate::session::conversation::NativeId;

/// A transcript that was found: the file, which session in it, and how to read it.
pub(super) struct FoundTranscript {
    pub(super) path: PathBuf,
    /// Which of several sessions in the file; none where the file is one.
    pub(super) key: Option<String>,
    pub(super) format: &'static dyn TranscriptReader,
    pub(super) header: Header,
    /// Sessions of the ledger that it began or wrapped, as far as they were looked for.
    pub(super) sessions: Vec<String>,
    /// The line on which its agent wrapped last, likewise.
    pub(super) wrapped_line: Option<u64>,
    /// When something was asked for or done in it last, likewise.
    pub(super) last_work_at: Option<Millis>,
    /// What was pushed, where the file is a copy.
    pub(super) copy: Option<Box<TranscriptCopy>>,
    /// The folder of another machine in which a copy was written.
    pub(super) written_in: Option<String>,
    /// Every folder that its entries name, as far as they were looked for.
    pub(super) folders: Vec<String>,
    /// The projects in which its hooks spoke, the first one first, where another machine says so.
    pub(super) noted: Vec<String>,
}

impl FoundTranscript {
    /// The id under which its conversation is known.
    pub(super) fn native_id(&self) -> NativeId<'_> {
        let Header { id, created_at_ms, cwd, .. } = &self.header;
        let cwd = cwd.as_deref().or(self.written_in.as_deref());
        NativeId { tool: self.format.id(), id, created_at: *created_at_ms, cwd }
    }

    /// Reads which folders its entries name.
    pub(super) fn with_folders(mut self) -> Self {
        if self.copy.is_none() && self.folders.is_empty() {
            self.folders = baton_transcripts::working_folders(&self.path, self.key.as_deref(), self.format);
        }
        self
    }

    /// The working copy that the session worked in: the folder and branch that its transcript names, of which the folder may have
    /// another branch by now.
    pub(super) fn working_copy(&self, host: &dyn Host) -> Option<WorkingCopy> {
        let cwd = self.header.cwd.as_deref()?;
        let around = host.repository(cwd);
        if let Some(gone) = self.gone_copy(host, cwd, around.as_ref()) {
            return Some(gone);
        }
        let (root, repository) = around.map_or((None, None), |(root, own)| (Some(root), Some(own)));
        let known = repository.as_ref();
        let branch = self.header.branch.clone().or_else(|| known?.branch.clone());
        let commit = known.filter(|own| own.branch == branch).and_then(|own| own.commit.clone());
        let is_worktree = known.is_some_and(|own| own.is_worktree);
        let root = root.unwrap_or_else(|| cwd.to_owned());
        Some(WorkingCopy { root, branch, commit, is_worktree, host: None })
    }

    /// The working copy of a session whose folder is gone. The repository around that is another place, unless the folder was a plain one
    /// on the branch that is checked out in it.
    fn gone_copy(
        &self,
        host: &dyn Host,
        cwd: &str,
        around: Option<&(String, Repository)>,
    ) -> Option<WorkingCopy> {
        let branch = self.header.branch.as_deref();
        let (top, around) = around.map_or((None, None), |(top, own)| (Some(top.as_str()), Some(own)));
        let is_plain = branch.is_some() && around.is_some_and(|own| own.branch.as_deref() == branch);
        if is_plain || host.has_folder(cwd) != Some(false) {
            return None;
        }
        Some(WorkingCopy {
            root: highest_gone(host, cwd, top).to_owned(),
            branch: branch.map(str::to_owned),
            commit: None,
            is_worktree: around.is_some(),
            host: None,
        })
    }

    /// The name for people of the tool that wrote it.
    pub(super) fn title(&self) -> &'static str {
        let id = self.format.id();
        baton_tools::by_name(id).map_or(id, |tool| tool.title)
    }

    /// The surface that sessions of the tool are registered under.
    pub(super) fn surface(&self) -> &'static str {
        let id = self.format.id();
        baton_tools::by_name(id).map_or(id, |tool| tool.surface)
    }
}

/// The highest folder that is gone of this one and those above it, below the top folder of a repository around them: a worktree that was
/// removed is gone with what lay in it.
fn highest_gone<'a>(host: &dyn Host, cwd: &'a str, top: Option<&str>) -> &'a str {
    let Some(top) = top else { return cwd };
    let folders = Path::new(cwd).ancestors().filter_map(Path::to_str);
    let below = folders.take_while(|folder| *folder != top);
    below.take_while(|folder| host.has_folder(folder) == Some(false)).last().unwrap_or(cwd)
}
