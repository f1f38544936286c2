//! The journal of an application: what each path held and what it shall hold, in the git folder, before the first is written.
//!
//! | file in `baton-apply` | holds |
//! | --- | --- |
//! | `old/N`, `new/N` | content of the N-th path before and after |
//! | `index`, `index.old` | the index after and before |
//! | `plan` | the paths; from its rename on an interruption is finished by the next call |
//! | `written` | nothing; every path was written |
//! | `baton` | the id of the baton with which the changes came |
//!
//! The index comes last, by the rename of git's own `index.lock`, which keeps other git processes out until then.

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::changes::temporary_name;
use baton_model::shell::shell_word;
use serde::{Deserialize, Serialize};

use super::Fault;
use super::committed::CommittedPaths;
use super::files::{
    Kind, fault, inside, put, read, read_entry, remove, remove_if_there, remove_temporary, text, write,
};
use super::plumbing::Repo;
use super::recovery::{Recovered, Recovery};

/// The folder of the journal, and the file that the applying process locks; in the git folder.
pub(super) const FOLDER: &str = "baton-apply";
pub(super) const LOCK: &str = "baton-apply.lock";

/// A step of applying; each is safe to be interrupted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Prepares the journal: content before and after, the new index.
    Prepare,
    /// Takes git's lock of the index.
    LockIndex,
    /// Makes the journal valid.
    Plan,
    /// Writes or removes one path; its number.
    Path(usize),
    /// Puts the new index in place.
    Index,
    /// Removes the journal.
    Finish,
}

/// One path: what it holds, what it shall hold.
#[derive(Debug)]
pub(crate) struct Change {
    pub path: Vec<u8>,
    pub old: Option<(Kind, Vec<u8>)>,
    pub new: Option<(Kind, Vec<u8>)>,
}

/// A path in the plan; content lies beside it.
#[derive(Debug, Serialize, Deserialize)]
struct PlanEntry {
    path: Vec<u8>,
    old: Option<Kind>,
    new: Option<Kind>,
}

/// Held by the one process that applies here; the system releases it at the end of the process.
pub(crate) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] fs::File);

impl Lock {
    pub(crate) fn take(git_dir: &Path) -> Result<Self, Fault> {
        let path = git_dir.join(LOCK);
        let file = fs::File::options().create(true).append(true).open(&path).map_err(fault("open", &path))?;
        file.try_lock().map_err(|_| Fault::Busy(path.display().to_string()))?;
        Ok(Self(file))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

pub(crate) struct Journal<'a> {
    repo: &'a Repo<'a>,
    dir: PathBuf,
    changes: Vec<Change>,
}

impl<'a> Journal<'a> {
    /// Begins a journal; it counts only from its plan on. `write_index` writes the new index into it. Where something cannot be
    /// written, nothing of it is left: on a full disk it may hold the last bytes.
    pub(crate) fn begin(
        repo: &'a Repo<'a>,
        _: &Lock,
        changes: Vec<Change>,
        write_index: &mut dyn FnMut(&Self) -> Result<(), Fault>,
    ) -> Result<Self, Fault> {
        let journal = Self { repo, dir: repo.git_dir.join(FOLDER), changes };
        journal.check_temporaries()?;
        if let Err(fault) = journal.write_content().and_then(|()| write_index(&journal)) {
            let _ = fs::remove_dir_all(&journal.dir);
            return Err(fault);
        }
        Ok(journal)
    }

    fn write_content(&self) -> Result<(), Fault> {
        let journal = self;
        for folder in ["old", "new"] {
            let folder = journal.dir.join(folder);
            fs::create_dir_all(&folder).map_err(fault("create", &folder))?;
        }
        for (n, change) in journal.changes.iter().enumerate() {
            for (folder, side) in [("old", &change.old), ("new", &change.new)] {
                if let Some((_, bytes)) = side {
                    write(&journal.dir.join(folder).join(n.to_string()), bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Says of which baton the changes are.
    pub(crate) fn name_baton(&self, baton_id: &str) -> Result<(), Fault> {
        write(&self.dir.join("baton"), baton_id.as_bytes())
    }

    /// A file of the user's with the name of a temporary one would be lost.
    fn check_temporaries(&self) -> Result<(), Fault> {
        let mut found = Vec::new();
        for (n, change) in self.changes.iter().enumerate() {
            let full = inside(&self.repo.root, &change.path)?;
            let temporary = full.with_file_name(temporary_name(n));
            if temporary.symlink_metadata().is_ok() {
                found.push(
                    temporary.strip_prefix(&self.repo.root).unwrap_or(&temporary).display().to_string(),
                );
            }
        }
        if found.is_empty() { Ok(()) } else { Err(Fault::Obstacles(found)) }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn keep_old_index(&self) -> Result<(), Fault> {
        match read(&self.repo.git_dir.join("index"))? {
            Some(bytes) => write(&self.dir.join("index.old"), &bytes),
            None => Ok(()),
        }
    }

    /// Applies the changes; an error takes them back. `check` runs once git's lock is held.
    pub(crate) fn run(
        &mut self,
        check: &dyn Fn() -> Result<(), Fault>,
        watch: &mut dyn FnMut(Step) -> std::io::Result<()>,
    ) -> Result<(), Fault> {
        let mut is_locked = false;
        let outcome = self.steps(check, watch, &mut is_locked);
        if outcome.is_err() {
            // Before the plan nothing was written, and what is there now may be the user's.
            if self.dir.join("plan").exists() {
                self.put_old()?;
            }
            if is_locked {
                remove_if_there(&self.lock_path())?;
            }
            self.remove()?;
        }
        outcome
    }

    fn steps(
        &self,
        check: &dyn Fn() -> Result<(), Fault>,
        watch: &mut dyn FnMut(Step) -> std::io::Result<()>,
        is_locked: &mut bool,
    ) -> Result<(), Fault> {
        let mut step = |step: Step| watch(step).map_err(fault("write to", &self.repo.root));
        step(Step::LockIndex)?;
        self.lock_index()?;
        *is_locked = true;
        if read(&self.repo.git_dir.join("index"))? != read(&self.dir.join("index.old"))? {
            return Err(Fault::Busy(self.repo.git_dir.join("index").display().to_string()));
        }
        check()?;
        self.check_state()?;
        step(Step::Plan)?;
        self.write_plan()?;
        self.put_new(&mut |n| step(Step::Path(n)))?;
        write(&self.dir.join("written"), b"")?;
        step(Step::Index)?;
        self.put_index()?;
        // All is applied: what fails from here on is finished by the next call.
        if step(Step::Finish).is_ok() {
            let _ = self.remove();
        }
        Ok(())
    }

    fn lock_path(&self) -> PathBuf {
        self.repo.git_dir.join("index.lock")
    }

    /// Git's lock, with the new index in it from the first moment.
    fn lock_index(&self) -> Result<(), Fault> {
        let path = self.lock_path();
        match fs::hard_link(self.dir.join("index"), &path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Fault::Busy(path.display().to_string()))
            }
            Err(error) => Err(fault("create", &path)(error)),
        }
    }

    fn write_plan(&self) -> Result<(), Fault> {
        let kind = |side: &Option<(Kind, Vec<u8>)>| side.as_ref().map(|(kind, _)| *kind);
        let plan: Vec<PlanEntry> = self
            .changes
            .iter()
            .map(|c| PlanEntry { path: c.path.clone(), old: kind(&c.old), new: kind(&c.new) })
            .collect();
        let bytes = serde_json::to_vec(&plan).map_err(|error| Fault::Invalid(error.to_string()))?;
        let (temporary, path) = (self.dir.join("plan.tmp"), self.dir.join("plan"));
        write(&temporary, &bytes)?;
        fs::rename(&temporary, &path).map_err(fault("write", &path))
    }

    /// Refuses, before anything is written, where a path holds neither its old nor its new content.
    fn check_state(&self) -> Result<(), Fault> {
        let mut edited = Vec::new();
        for (n, change) in self.changes.iter().enumerate() {
            let found = read_entry(&self.repo.root, &change.path)?;
            if found != change.old && found != change.new {
                edited.push((n, change));
            }
        }
        if edited.is_empty() { Ok(()) } else { Err(self.edited(&edited)) }
    }

    /// The fault for files that hold neither of their two contents, by their numbers.
    fn edited(&self, edited: &[(usize, &Change)]) -> Fault {
        let restore = |(n, change): &(usize, &Change)| {
            let path = shell_word(&self.repo.root.join(text(&change.path)).display().to_string());
            let old = shell_word(&self.dir.join("old").join(n.to_string()).display().to_string());
            match change.old.as_ref().map(|(kind, _)| *kind) {
                None => format!("rm -r {path}"),
                Some(Kind::Link) => format!("ln -sfn \"$(cat {old})\" {path}"),
                Some(kind) => {
                    format!(
                        "install -m {} {old} {path}",
                        if kind == Kind::Executable { "755" } else { "644" }
                    )
                }
            }
        };
        Fault::Edited {
            files: edited.iter().map(|(_, change)| text(&change.path)).collect(),
            restore: edited.iter().map(restore).collect(),
        }
    }

    /// The numbers of the paths in the order in which they are written: removals first, so that a file can take a folder's place.
    fn order(&self) -> Vec<usize> {
        let (put_list, removals): (Vec<usize>, Vec<usize>) =
            (0..self.changes.len()).partition(|n| self.changes[*n].new.is_some());
        removals.into_iter().chain(put_list).collect()
    }

    /// Writes the paths that are not written yet; an edit meanwhile stops it.
    fn put_new(&self, step: &mut dyn FnMut(usize) -> Result<(), Fault>) -> Result<(), Fault> {
        for n in self.order() {
            step(n)?;
            self.put_side(n, Side::New)?;
        }
        self.remove_temporaries()
    }

    /// Takes back what was written. In the reverse order, with nothing half written left, each path needs no more room than it had
    /// before: a full disk is no reason to stop. What cannot be taken back does not keep the others from it.
    fn put_old(&self) -> Result<(), Fault> {
        let mut outcome = self.remove_temporaries();
        for n in self.order().into_iter().rev() {
            outcome = outcome.and(self.put_side(n, Side::Old));
        }
        outcome
    }

    fn put_side(&self, n: usize, to: Side) -> Result<(), Fault> {
        let change = &self.changes[n];
        let found = read_entry(&self.repo.root, &change.path)?;
        let (from, wanted) = match to {
            Side::Old => (&change.new, &change.old),
            Side::New => (&change.old, &change.new),
        };
        if found == *wanted {
            return Ok(());
        }
        if found != *from {
            // Edited meanwhile: taking back leaves the edit.
            return if to == Side::Old { Ok(()) } else { Err(self.edited(&[(n, change)])) };
        }
        match wanted {
            None => remove(&self.repo.root, &change.path),
            Some(wanted) => put(&self.repo.root, &change.path, wanted, &temporary_name(n)),
        }
    }

    /// Has paths stay as they are that the commit has so by now.
    fn keep_committed(&mut self) -> Result<(), Fault> {
        let committed = CommittedPaths::read(self.repo)?;
        for change in &mut self.changes {
            if committed.has(self.repo, &change.path)? {
                change.old = read_entry(&self.repo.root, &change.path)?;
            }
        }
        Ok(())
    }

    fn remove_temporaries(&self) -> Result<(), Fault> {
        for (n, change) in self.changes.iter().enumerate() {
            remove_temporary(&self.repo.root, &change.path, &temporary_name(n))?;
        }
        Ok(())
    }

    fn put_index(&self) -> Result<(), Fault> {
        let (lock, own) = (self.lock_path(), self.repo.git_dir.join("index"));
        fs::rename(&lock, &own).map_err(fault("write", &own))
    }

    /// The plan goes first: without it the rest is no journal.
    fn remove(&self) -> Result<(), Fault> {
        remove_if_there(&self.dir.join("plan"))?;
        fs::remove_dir_all(&self.dir).map_err(fault("remove", &self.dir))
    }

    /// Finishes what was interrupted after its plan, drops what was interrupted before.
    pub(crate) fn recover(repo: &'a Repo<'a>, _: &Lock) -> Result<Recovered, Fault> {
        let dir = repo.git_dir.join(FOLDER);
        match dir.symlink_metadata() {
            Err(_) => return Ok(Recovered::nothing()),
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(Fault::Invalid(format!("{} is no folder", dir.display()))),
        }
        let plan = read(&dir.join("plan"))?;
        let is_valid = plan.is_some();
        let changes = plan.map(|plan| read_plan(&dir, &plan)).transpose()?.unwrap_or_default();
        let mut journal = Self { repo, dir, changes };
        let baton_id = read(&journal.dir.join("baton"))?.map(|id| text(&id));
        let new = read(&journal.dir.join("index"))?;
        let is_locked = new.is_some() && read(&journal.lock_path())? == new;
        let has_old_index = read(&repo.git_dir.join("index"))? == read(&journal.dir.join("index.old"))?;
        let is_written = journal.dir.join("written").exists();
        let mut recovery = if is_valid { Recovery::Finished } else { Recovery::Nothing };
        if is_valid && (is_locked || (has_old_index && !is_written)) {
            journal.check_state()?;
            if !is_locked {
                // The lock was removed meanwhile.
                journal.lock_index()?;
            }
            journal.put_new(&mut |_| Ok(()))?;
            journal.put_index()?;
        } else if is_valid && !is_written {
            // The index was written by another since: only taking back is safe, of what was not committed.
            journal.keep_committed()?;
            journal.check_state()?;
            journal.put_old()?;
            recovery = Recovery::TakenBack;
        } else if is_locked {
            remove_if_there(&journal.lock_path())?;
            recovery = Recovery::Unlocked;
        }
        journal.remove()?;
        Ok(Recovered { recovery, baton_id })
    }
}

fn read_plan(dir: &Path, plan: &[u8]) -> Result<Vec<Change>, Fault> {
    let plan: Vec<PlanEntry> =
        serde_json::from_slice(plan).map_err(|error| Fault::Invalid(error.to_string()))?;
    let side = |folder: &str, n: usize, kind: Option<Kind>| -> Result<Option<(Kind, Vec<u8>)>, Fault> {
        let Some(kind) = kind else { return Ok(None) };
        let path = dir.join(folder).join(n.to_string());
        let bytes = read(&path)?.ok_or_else(|| Fault::Invalid(format!("{} is gone", path.display())))?;
        Ok(Some((kind, bytes)))
    };
    let entries = plan.into_iter().enumerate();
    entries
        .map(|(n, e)| Ok(Change { old: side("old", n, e.old)?, new: side("new", n, e.new)?, path: e.path }))
        .collect()
}
