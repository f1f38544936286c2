//! Reads the changes of a working copy. Nothing of the repository is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use baton_model::baton_file::is_plain_export;
use baton_model::changes::{GitOperation, MARK_LEFT, is_settings, is_temporary};

use super::exports::{self, ExportNotes};
use super::files::{Kind, check_regular, fault, inside, is_reserved, metadata, read_entry, text};
use super::plumbing::{Entry, Repo, SUBMODULE, Scratch};
use super::registration::{DOCUMENT, is_registration, is_rewritten};
use super::secret::Secret;
use super::status::Status;
use super::submodules::submodules_beside;
use super::unfinished::unfinished;
use super::{Changes, Fault, LeftOut, Limits, Unconverted, scratch_folder};
use crate::git::GitRunner;

/// How many of the largest files a refusal names.
const MAX_NAMED_FILES: usize = 5;

/// Captures what is not committed in the working copy with this top folder. Copies are made below `temporary`.
pub(crate) fn capture(
    git: &dyn GitRunner,
    root: &Path,
    temporary: &Path,
    limits: Limits,
    exports: &ExportNotes,
) -> Result<Changes, Fault> {
    let repo = Repo::open(git, root)?;
    check_rule_files(&repo)?;
    let dir = scratch_folder::folder_in(temporary).map_err(fault("create a folder in", temporary))?;
    let scratch =
        Scratch { index: Some(copy_index(&repo, dir.path())?), objects: Some(repo.quarantine(dir.path())?) };
    let capture = Capture { repo, scratch, dir: dir.path(), limits, exports };
    let base = capture.repo.head()?;
    let mut status = Status::read(&capture.repo, &capture.scratch)?;
    refuse_unmerged(&capture.repo, &mut status)?;
    let mut index_tree = capture.index_tree()?;
    let base_tree = capture.repo.tree(&capture.scratch, base.as_deref())?;
    let mut staged = capture.repo.diff(&capture.scratch, &base_tree, &index_tree)?;
    let registration = capture.staged_registration(&staged)?;
    if capture.reset(registration)? {
        index_tree = capture.index_tree()?;
        staged = capture.repo.diff(&capture.scratch, &base_tree, &index_tree)?;
    }
    let mut left_out = Vec::new();
    let files = capture.read(&staged, &mut status, &mut left_out)?;
    // Submodules that were staged go back to the commit of the base: the target may not have another one.
    let is_submodule = |entry: &&Entry| entry.mode == SUBMODULE || entry.old_mode == SUBMODULE;
    if capture.reset(staged.iter().filter(is_submodule))? {
        index_tree = capture.index_tree()?;
        staged = capture.repo.diff(&capture.scratch, &base_tree, &index_tree)?;
    }
    let (worktree_tree, written) = capture.worktree_tree(&files, index_tree.len())?;
    let index_commit = capture.commit(&index_tree, base.as_deref(), "index")?;
    let worktree_commit = capture.commit(&worktree_tree, Some(&index_commit), "worktree")?;
    let unstaged = capture.repo.diff(&capture.scratch, &base_tree, &worktree_tree)?;
    let is_in_tree = |file: &Unconverted| unstaged.iter().any(|entry| entry.path == file.path);
    let unconverted: Vec<Unconverted> = written.into_iter().filter(|file| !is_in_tree(file)).collect();
    let paths = staged.iter().chain(&unstaged).map(|entry| &entry.path);
    let mut names: Vec<String> =
        paths.chain(unconverted.iter().map(|file| &file.path)).map(|path| text(path)).collect();
    names.sort();
    names.dedup();
    let pack = capture.pack(&worktree_commit, base.as_deref())?;
    Ok(Changes {
        base,
        index_tree,
        worktree_tree,
        index_commit,
        worktree_commit,
        files: names,
        unconverted,
        left_out,
        unfinished: unfinished(&capture.repo)?,
        pack,
        ..Changes::default()
    })
}

/// Refuses files with conflicts, and says what git is in the middle of.
fn refuse_unmerged(repo: &Repo<'_>, status: &mut Status) -> Result<(), Fault> {
    let files = std::mem::take(&mut status.unmerged);
    if files.is_empty() {
        return Ok(());
    }
    let mut begun = unfinished(repo)?.into_iter().map(|one| one.operation);
    let begun = begun.find(|one| *one != GitOperation::Bisect);
    Err(Fault::Unmerged { files, begun })
}

/// Refuses what git would read for rules and never finish: a pipe in place of a file.
fn check_rule_files(repo: &Repo<'_>) -> Result<(), Fault> {
    let of_root = [".gitattributes", ".gitignore"].map(|name| repo.root.join(name));
    let of_git = ["info/exclude", "info/attributes"].map(|name| repo.git_dir.join(name));
    for path in of_root.into_iter().chain(of_git) {
        match path.symlink_metadata() {
            // Git itself follows no link here, and a folder holds no rules.
            Ok(meta) if !meta.is_symlink() && !meta.is_dir() => check_regular(&path, &meta)?,
            _ => {}
        }
    }
    Ok(())
}

/// A copy of the index with its time: git takes an entry of the same time for one that may have changed since.
pub(crate) fn copy_index(repo: &Repo<'_>, dir: &Path) -> Result<PathBuf, Fault> {
    let (own, copy) = (repo.git_dir.join("index"), dir.join("index"));
    let Ok(meta) = own.symlink_metadata() else { return Ok(copy) };
    check_regular(&own, &meta)?;
    let time = meta.modified().map_err(fault("read", &own))?;
    fs::copy(&own, &copy).map_err(fault("read", &own))?;
    let file = fs::File::options().append(true).open(&copy).map_err(fault("write", &copy))?;
    file.set_modified(time).map_err(fault("write", &copy))?;
    Ok(copy)
}

/// The captured state of one path: none where it is deleted.
type Content = Option<(Kind, Vec<u8>)>;

/// Why a file does not travel that no commit can hold.
const RESERVED: &str =
    "has a part that git takes for its own folder, here or on another system, so that no commit can hold it";
/// Why a file does not travel that git is told not to look at.
const HIDDEN: &str =
    "is changed or gone, and git is told not to look at it (skip-worktree or assume-unchanged)";

struct Capture<'a> {
    repo: Repo<'a>,
    scratch: Scratch,
    dir: &'a Path,
    limits: Limits,
    exports: &'a ExportNotes,
}

impl Capture<'_> {
    fn index_tree(&self) -> Result<String, Fault> {
        self.repo.line(&self.scratch, &["write-tree"], b"")
    }

    /// The document that `baton init` wrote, where it is staged: each working copy has its own.
    fn staged_registration<'a>(&self, staged: &'a [Entry]) -> Result<Option<&'a Entry>, Fault> {
        let added = staged.iter().find(|entry| entry.path == DOCUMENT && entry.status == "A");
        let Some(entry) = added.filter(|entry| Kind::of_mode(&entry.mode).is_some()) else { return Ok(None) };
        let bytes = self.repo.run(&self.scratch, &["cat-file", "blob", &entry.id], b"")?;
        let in_worktree = read_entry(&self.repo.root, &entry.path)?;
        let is_same = in_worktree.is_none_or(|(_, other)| is_registration(DOCUMENT, &other));
        Ok(Some(entry).filter(|_| is_same && is_registration(DOCUMENT, &bytes)))
    }

    /// Takes staged paths back to what the base has. Tells whether there were any.
    fn reset<'a>(&self, staged: impl IntoIterator<Item = &'a Entry>) -> Result<bool, Fault> {
        let mut lines = Vec::new();
        for entry in staged {
            lines.extend_from_slice(
                format!("{} {}\t", entry.old_mode.trim_start_matches("00000"), entry.old_id).as_bytes(),
            );
            lines.extend_from_slice(&entry.path);
            lines.push(0);
        }
        if lines.is_empty() {
            return Ok(false);
        }
        self.repo.run(
            &self.scratch,
            &["update-index", "--add", "--replace", "-z", "--index-info"],
            &lines,
        )?;
        Ok(true)
    }

    /// What the working tree holds at every path that may differ from the base.
    fn read(
        &self,
        staged: &[Entry],
        status: &mut Status,
        left_out: &mut Vec<LeftOut>,
    ) -> Result<BTreeMap<Vec<u8>, Content>, Fault> {
        let Status { unstaged, untracked, .. } = status;
        // Each working copy has its own settings, as far as git holds none of them.
        untracked.retain(|path| !is_settings(path));
        unstaged.retain(|entry| entry.status != "A" || !is_settings(&entry.path));
        let changed: Vec<Vec<u8>> = unstaged.iter().map(|entry| entry.path.clone()).collect();
        let unchanged = self.repo.unchanged_by_time(&self.scratch, &changed)?;
        unstaged.retain(|entry| !unchanged.contains(&entry.path));
        let mut leave = |path: &[u8], reason: &str| {
            left_out.push(LeftOut { path: text(path), reason: reason.to_owned() });
        };
        for path in submodules_beside(&self.repo, &self.scratch, staged.iter().chain(&*unstaged))? {
            leave(&path, "is a submodule with changes of its own, which travel with a wrap in it");
        }
        for hidden in self.repo.hidden(&self.scratch)?.iter().filter(|one| one.is_changed) {
            leave(&hidden.path, HIDDEN);
        }
        for entry in unstaged.iter().filter(|entry| entry.status == "A") {
            leave(&entry.path, MARK_LEFT);
        }
        self.leave_untracked(untracked, &mut leave)?;
        let untracked = untracked.drain(..);
        // Whether git knows the path; one that is only intended to be added is like an untracked one.
        let mut paths: BTreeMap<Vec<u8>, bool> = untracked.map(|path| (path, false)).collect();
        for entry in staged.iter().chain(&*unstaged) {
            if entry.mode == SUBMODULE || entry.old_mode == SUBMODULE {
                leave(&entry.path, "is a submodule: its own commits and changes do not travel");
                // Nor does what took its place.
                let within = [&entry.path[..], b"/"].concat();
                paths.retain(|path, _| *path != entry.path && !path.starts_with(&within));
            } else if entry.mode == "000000" && staged.iter().any(|other| std::ptr::eq(other, entry)) {
                // Removed from the index: what lies there is untracked.
                paths.entry(entry.path.clone()).or_insert(false);
            } else {
                paths.insert(entry.path.clone(), entry.status != "A" || !is_among(unstaged, entry));
            }
        }
        // Each working copy has the document that `baton init` writes.
        if paths.get(DOCUMENT) == Some(&false)
            && read_entry(&self.repo.root, DOCUMENT)?
                .is_some_and(|(_, bytes)| is_registration(DOCUMENT, &bytes))
        {
            paths.remove(DOCUMENT);
        }
        let is_staged = staged.iter().any(|entry| entry.path == DOCUMENT);
        if !is_staged && paths.get(DOCUMENT) == Some(&true) && is_rewritten(&self.repo)? {
            paths.remove(DOCUMENT);
        }
        self.check_size(staged, &paths)?;
        self.contents(paths, &mut leave)
    }

    /// Takes those out of the untracked paths that do not travel whatever they hold.
    fn leave_untracked(
        &self,
        untracked: &mut Vec<Vec<u8>>,
        leave: &mut dyn FnMut(&[u8], &str),
    ) -> Result<(), Fault> {
        untracked.retain(|path| {
            let reason = match (is_reserved(path), is_temporary(path)) {
                (true, _) => RESERVED,
                (false, true) => "is named like a temporary file of Baton's",
                (false, false) => return true,
            };
            leave(path, reason);
            false
        });
        for export in self.exports.take_out(&self.repo.root, untracked)? {
            leave(export.path.as_bytes(), &export.reason);
        }
        Ok(())
    }

    /// What lies at these paths; each with whether git knows it.
    fn contents(
        &self,
        paths: BTreeMap<Vec<u8>, bool>,
        leave: &mut dyn FnMut(&[u8], &str),
    ) -> Result<BTreeMap<Vec<u8>, Content>, Fault> {
        let mut files = BTreeMap::new();
        for (path, is_tracked) in paths {
            if path.ends_with(b"/") {
                leave(&path, "is a repository of its own");
                continue;
            }
            let found = read_entry(&self.repo.root, &path)?;
            let is_other = metadata(&self.repo.root, &path)?.is_some_and(|meta| !meta.is_dir());
            match &found {
                None if is_other => leave(&path, "is neither a file nor a link"),
                None if !is_tracked => {}
                Some((Kind::Link, _)) if path.rsplit(|byte| *byte == b'/').next() == Some(b".gitmodules") => {
                    leave(&path, "is a link, which git refuses for a file of this name");
                }
                Some((Kind::File, bytes)) if !is_tracked && is_plain_export(bytes) => {
                    leave(&path, exports::BATON)
                }
                _ => {
                    match found.as_ref().filter(|_| !is_tracked).and_then(|(_, bytes)| Secret::find(bytes)) {
                        Some(secret) => leave(&path, &secret.reason(&text(&path))),
                        None => _ = files.insert(path, found),
                    }
                }
            }
        }
        Ok(files)
    }

    /// Refuses before content is read.
    fn check_size(&self, staged: &[Entry], paths: &BTreeMap<Vec<u8>, bool>) -> Result<(), Fault> {
        if paths.len() > self.limits.files {
            return Err(Fault::FileLimit { count: paths.len(), limit: self.limits.files });
        }
        let blobs: Vec<&Entry> = staged.iter().filter(|entry| Kind::of_mode(&entry.mode).is_some()).collect();
        let ids: String = blobs.iter().map(|entry| format!("{}\n", entry.id)).collect();
        let args = ["cat-file", "--batch-check=%(objectsize)"];
        let sizes = self.repo.line(&self.scratch, &args, ids.as_bytes())?;
        let mut sizes: Vec<(u64, String)> = sizes
            .lines()
            .zip(blobs)
            .map(|(size, entry)| (size.parse().unwrap_or(0), text(&entry.path)))
            .collect();
        for path in paths.keys().filter(|path| !path.ends_with(b"/")) {
            let size =
                metadata(&self.repo.root, path)?.filter(fs::Metadata::is_file).map_or(0, |meta| meta.len());
            sizes.push((size, text(path)));
        }
        if sizes.iter().map(|(size, _)| size).sum::<u64>() <= self.limits.bytes {
            return Ok(());
        }
        sizes.sort_by(|a, b| b.cmp(a));
        sizes.dedup_by(|a, b| a.1 == b.1);
        let largest =
            sizes.iter().take(MAX_NAMED_FILES).map(|(size, path)| format!("{path} ({size} bytes)")).collect();
        Err(Fault::ByteLimit { largest, limit: self.limits.bytes })
    }

    /// Writes the content as it is into the scratch index. Also gives what it wrote.
    /// `id_length`: of the repository's hashes, SHA-1 or SHA-256.
    fn worktree_tree(
        &self,
        files: &BTreeMap<Vec<u8>, Content>,
        id_length: usize,
    ) -> Result<(String, Vec<Unconverted>), Fault> {
        let blobs = self.dir.join("blobs");
        fs::create_dir(&blobs).map_err(fault("create", &blobs))?;
        let mut list = String::new();
        for (n, (_, bytes)) in files.values().flatten().enumerate() {
            let blob = blobs.join(n.to_string());
            fs::write(&blob, bytes).map_err(fault("write", &blob))?;
            list.push_str(&format!("{}\n", blob.display()));
        }
        let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        let ids = self.repo.line(&self.scratch, &args, list.as_bytes())?;
        let mut ids = ids.lines();
        let zeros = "0".repeat(id_length);
        let (mut gone, mut put, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for (path, found) in files {
            let (lines, facts) = match (found, found.as_ref().and_then(|_| ids.next())) {
                (Some((kind, _)), Some(id)) => {
                    let (mode, id) = (kind.mode().to_owned(), id.to_owned());
                    let facts = format!("{mode} {id}\t");
                    written.push(Unconverted { path: path.clone(), mode, id });
                    (&mut put, facts)
                }
                (None, _) => (&mut gone, format!("0 {zeros}\t")),
                (Some(_), None) => return Err(Fault::Invalid("git hashed too few files".into())),
            };
            inside(&self.repo.root, path)?;
            lines.extend_from_slice(facts.as_bytes());
            lines.extend_from_slice(path);
            lines.push(0);
        }
        gone.append(&mut put);
        self.repo.run(&self.scratch, &["update-index", "--add", "--replace", "-z", "--index-info"], &gone)?;
        Ok((self.repo.line(&self.scratch, &["write-tree"], b"")?, written))
    }

    fn commit(&self, tree: &str, parent: Option<&str>, message: &str) -> Result<String, Fault> {
        let mut args = vec!["commit-tree", tree, "-m", message];
        args.extend(parent.iter().flat_map(|parent| ["-p", parent]));
        self.repo.line(&self.scratch, &args, b"")
    }

    fn pack(&self, commit: &str, base: Option<&str>) -> Result<Vec<u8>, Fault> {
        let args = ["pack-objects", "--revs", "--thin", "--stdout", "-q", "--threads=1", "--compression=0"];
        let without = base.map(|base| format!("^{base}\n")).unwrap_or_default();
        self.repo.run(&self.scratch, &args, format!("{commit}\n{without}").as_bytes())
    }
}

fn is_among(entries: &[Entry], entry: &Entry) -> bool {
    entries.iter().any(|other| std::ptr::eq(other, entry))
}
