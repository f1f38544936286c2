//! Puts captured changes into a working copy that has none of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::capture::copy_index;
use super::case::check_case;
use super::conflict::other_line_fault;
use super::files::{Kind, fault, from_bytes, inside, metadata, read_entry, text};
use super::journal::{Change, Journal, Lock, Step};
use super::merge::Merge;
use super::plumbing::{Entry, Repo, SUBMODULE, Scratch, items};
use super::registration::{DOCUMENT, OwnTree, is_rewritten};
use super::unpack::{check_id, check_names, unpack, with_missing_commit};
use super::{Changes, Fault, Limits, Unconverted, scratch_folder};
use crate::git::GitRunner;

/// What was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Whether the working copy stands at another commit than the changes did, so that they were merged.
    pub is_merge: bool,
    /// The paths that were written or removed, as text.
    pub files: Vec<String>,
    /// Whether all of it was there before.
    pub was_there: bool,
    /// Settings files of the changes that were left out, as text: each working copy has its own.
    pub settings: Vec<String>,
}

/// Applies changes to the working copy with this top folder: all of them or none. Copies are made below `temporary`. `watch` is
/// called before each step; an error from it takes everything back.
pub(crate) fn apply(
    git: &dyn GitRunner,
    root: &Path,
    temporary: &Path,
    changes: &Changes,
    watch: &mut dyn FnMut(Step) -> std::io::Result<()>,
) -> Result<Applied, Fault> {
    let mut repo = Repo::open(git, root)?;
    let lock = Lock::take(&repo.git_dir)?;
    Journal::recover(&repo, &lock)?;
    let dir = scratch_folder::folder_in(temporary).map_err(fault("create a folder in", temporary))?;
    let is_clean = check_clean(&repo);
    if matches!(is_clean, Err(Fault::LocalChanges(_)))
        && let Some(applied) = applied_before(git, root, temporary, changes)
    {
        return Ok(applied);
    }
    if let Err(Fault::LocalChanges(files)) = is_clean {
        return Err(with_missing_commit(&repo, changes, files)?);
    }
    is_clean?;
    // Line ends differ between a file on the disk and git's object of it; in a merge that is no change.
    repo.set_renormalized(repo.head()? != changes.base);
    let repo = repo;
    let target = Target::of(&repo, changes, dir.path())?;
    let plan = target.repo.diff(&target.scratch, &target.head_tree, &target.worktree_tree)?;
    let mut plan: Vec<Entry> =
        plan.into_iter().filter(|entry| entry.mode != SUBMODULE && entry.old_mode != SUBMODULE).collect();
    if !target.is_merge {
        plan.extend(unconverted(changes)?);
    }
    if plan.iter().any(|entry| entry.path == DOCUMENT) && is_rewritten(&repo)? {
        return Err(Fault::LocalChanges(vec![text(DOCUMENT)]));
    }
    check_case(&repo, (&target.scratch, &target.worktree_tree), &plan)?;
    check_obstacles(&repo, &plan)?;
    check_hidden(&repo, &plan)?;
    let files = plan.iter().map(|entry| text(&entry.path)).collect();
    let change_list = target.contents(&plan)?;
    // New files alone are no change of the index, so that a working copy that has them counts as clean.
    let is_there = !plan.is_empty() && change_list.iter().all(|change| change.old == change.new);
    if is_there && target.index_tree == target.head_tree {
        return Ok(target.was_there());
    }
    target.keep_index_objects()?;
    let mut journal = Journal::begin(&repo, &lock, change_list, &mut |journal| {
        target.write_index(journal)?;
        changes.baton_id.iter().try_for_each(|baton_id| journal.name_baton(baton_id))?;
        watch(Step::Prepare).map_err(fault("write to", &repo.root))
    })?;
    journal.run(&|| check_clean(&repo), watch)?;
    Ok(Applied { files, was_there: false, ..target.was_there() })
}

/// The answer where a working copy holds just what applying the changes would make of it. Untracked files of its own count for nothing.
fn applied_before(git: &dyn GitRunner, root: &Path, temporary: &Path, changes: &Changes) -> Option<Applied> {
    let mut repo = Repo::open(git, root).ok()?;
    repo.set_renormalized(repo.head().ok()? != changes.base);
    let dir = scratch_folder::folder_in(temporary).ok()?;
    let target = Target::of(&repo, changes, dir.path()).ok()?;
    target.is_there(dir.path()).ok()?.then(|| target.was_there())
}

/// Refuses where a file would be overwritten whose changes git does not show, or where git would not show what is applied.
fn check_hidden(repo: &Repo<'_>, plan: &[Entry]) -> Result<(), Fault> {
    let hidden = repo.hidden(&Scratch::default())?;
    let is_hit = |entry: &&Entry| {
        let found = hidden.iter().find(|one| one.path == entry.path);
        found.is_some_and(|one| one.is_changed || !one.is_outside || entry.mode == "000000")
    };
    let hit: Vec<String> = plan.iter().filter(is_hit).map(|entry| text(&entry.path)).collect();
    if hit.is_empty() { Ok(()) } else { Err(Fault::HiddenChanges(hit)) }
}

/// Files that the trees do not tell apart from the base.
fn unconverted(changes: &Changes) -> Result<Vec<Entry>, Fault> {
    let entry = |file: &Unconverted| {
        check_id(&file.id)?;
        let (path, mode, id) = (file.path.clone(), file.mode.clone(), file.id.clone());
        Ok(Entry { path, old_mode: mode.clone(), mode, old_id: id.clone(), id, status: "M".into() })
    };
    changes.unconverted.iter().map(entry).collect()
}

fn check_clean(repo: &Repo<'_>) -> Result<(), Fault> {
    let status = repo.tracked_status(&Scratch::default())?;
    let is_only_unstaged = |item: &&[u8]| item.starts_with(b" M ");
    let path = |item: &[u8]| item.get(3..).map(<[u8]>::to_vec);
    let unstaged: Vec<Vec<u8>> = items(&status).filter(is_only_unstaged).filter_map(path).collect();
    let unchanged = repo.unchanged_by_time(&Scratch::default(), &unstaged)?;
    let is_change =
        |item: &&[u8]| !is_only_unstaged(item) || path(item).is_none_or(|path| !unchanged.contains(&path));
    let mut local: Vec<String> =
        items(&status).filter(is_change).filter_map(|item| item.get(3..)).map(text).collect();
    // What `baton init` wrote is this working copy's own.
    if unstaged.iter().any(|path| path == DOCUMENT) && is_rewritten(repo)? {
        local.retain(|path| path.as_bytes() != DOCUMENT);
    }
    // A submodule whose commit is staged is a change, unlike what lies in it.
    if repo.head()?.is_some() {
        let args = ["diff-index", "--cached", "--name-only", "-z", "--ignore-submodules=none", "HEAD", "--"];
        let staged = repo.run(&Scratch::default(), &args, b"")?;
        let news: Vec<String> = items(&staged).map(text).filter(|path| !local.contains(path)).collect();
        local.extend(news);
    }
    if local.is_empty() { Ok(()) } else { Err(Fault::LocalChanges(local)) }
}

/// Whether a file that git does not track is the one that would be written.
fn is_there(repo: &Repo<'_>, entry: &Entry) -> Result<bool, Fault> {
    let Some((kind, bytes)) = read_entry(&repo.root, &entry.path)? else { return Ok(false) };
    let id = repo.line(&Scratch::default(), &["hash-object", "--stdin"], &bytes)?;
    Ok(Kind::of_mode(&entry.mode) == Some(kind) && id == entry.id)
}

/// Refuses where something that git does not track would be overwritten by something else.
fn check_obstacles(repo: &Repo<'_>, plan: &[Entry]) -> Result<(), Fault> {
    let gone: Vec<&[u8]> = plan.iter().filter(|e| e.old_mode != "000000").map(|e| &*e.path).collect();
    let mut obstacles = Vec::new();
    for entry in plan.iter().filter(|entry| entry.mode != "000000") {
        let full = inside(&repo.root, &entry.path)?;
        for (at, _) in entry.path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            let above = &entry.path[..at];
            let meta = inside(&repo.root, above)?.symlink_metadata();
            if meta.is_ok_and(|meta| !meta.is_dir()) && !gone.contains(&above) {
                obstacles.push(text(above));
            }
        }
        match metadata(&repo.root, &entry.path)? {
            Some(meta) if meta.is_dir() => walk(&full, &entry.path, &gone, &mut obstacles)?,
            Some(_) if entry.old_mode == "000000" && !is_there(repo, entry)? => {
                obstacles.push(text(&entry.path));
            }
            _ => {}
        }
    }
    obstacles.sort();
    obstacles.dedup();
    if obstacles.is_empty() { Ok(()) } else { Err(Fault::Obstacles(obstacles)) }
}

/// The files below a folder that the plan does not remove.
fn walk(folder: &Path, path: &[u8], gone: &[&[u8]], found: &mut Vec<String>) -> Result<(), Fault> {
    for entry in fs::read_dir(folder).map_err(fault("read", folder))? {
        let entry = entry.map_err(fault("read", folder))?;
        let below = [path, b"/", entry.file_name().as_encoded_bytes()].concat();
        if entry.file_type().map_err(fault("read", folder))?.is_dir() {
            walk(&entry.path(), &below, gone, found)?;
        } else if !gone.contains(&&*below) {
            found.push(text(&below));
        }
    }
    Ok(())
}

/// The trees that the working copy shall have, with their objects in a quarantine.
struct Target<'a> {
    repo: &'a Repo<'a>,
    scratch: Scratch,
    head: Option<String>,
    head_tree: String,
    index_tree: String,
    worktree_tree: String,
    is_merge: bool,
    /// Settings files that the changes hold and the working copy does not get.
    settings: Vec<String>,
}

impl<'a> Target<'a> {
    fn of(repo: &'a Repo<'a>, changes: &Changes, dir: &Path) -> Result<Self, Fault> {
        let head = repo.head()?;
        let scratch = unpack(repo, changes, dir)?;
        let head_tree = repo.tree(&scratch, head.as_deref())?;
        check_names(repo, &scratch, changes)?;
        let is_merge = head != changes.base;
        let OwnTree { tree: mut worktree_tree, settings } = OwnTree::of(repo, &scratch, changes, dir)?;
        let settings = settings.iter().map(|path| text(path)).collect();
        let mut index_tree = changes.index_tree.clone();
        if is_merge {
            let (base, head) = match (&changes.base, &head) {
                (Some(base), Some(head)) => (base, head),
                (Some(base), None) => return Err(Fault::NoHead(base.clone())),
                (None, _) => return Err(Fault::NoBase),
            };
            let merge = Merge::begin(repo, &scratch, (base, head))?;
            let merged = |theirs: &str| {
                merge.tree(theirs).map_err(|fault| other_line_fault(fault, repo, &scratch, (base, head)))
            };
            // The working tree first: its conflicts are those that a person recognises.
            worktree_tree = merged(&worktree_tree)?;
            index_tree = merged(&index_tree)?;
        }
        Ok(Self { repo, scratch, head, head_tree, index_tree, worktree_tree, is_merge, settings })
    }

    /// The answer where nothing had to be written.
    fn was_there(&self) -> Applied {
        let (is_merge, settings) = (self.is_merge, self.settings.clone());
        Applied { is_merge, files: Vec::new(), was_there: true, settings }
    }

    /// Whether the index is that of the changes, every file of their working tree lies in the working copy as it is there, and none
    /// that they delete.
    fn is_there(&self, dir: &Path) -> Result<bool, Fault> {
        let own = dir.join("own");
        fs::create_dir(&own).map_err(fault("create", &own))?;
        let scratch =
            Scratch { index: Some(copy_index(self.repo, &own)?), objects: self.scratch.objects.clone() };
        if self.repo.line(&scratch, &["write-tree"], b"")? != self.index_tree {
            return Ok(false);
        }
        // In the copy of the index: what is known of unchanged files by their times stays known.
        self.repo.run(&scratch, &["read-tree", "-i", "-m", &self.worktree_tree], b"")?;
        let status = self.repo.tracked_status(&scratch)?;
        if items(&status).any(|item| item.get(1).is_some_and(|unstaged| *unstaged != b' ')) {
            return Ok(false);
        }
        for before in [&self.head_tree, &self.index_tree] {
            for entry in self.repo.diff(&self.scratch, before, &self.worktree_tree)? {
                let is_deleted = entry.mode == "000000" && entry.old_mode != SUBMODULE;
                if is_deleted && metadata(&self.repo.root, &entry.path)?.is_some_and(|meta| !meta.is_dir()) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// What lies at each path now, and what shall.
    fn contents(&self, plan: &[Entry]) -> Result<Vec<Change>, Fault> {
        let ids: String = plan.iter().map(|entry| format!("{}\n", entry.id)).collect();
        self.check_size(plan)?;
        let out = self.repo.run(&self.scratch, &["cat-file", "--batch"], ids.as_bytes())?;
        let converted = self.converted(plan)?;
        let mut rest = out.as_slice();
        let mut changes = Vec::new();
        for entry in plan {
            let bytes = next_object(&mut rest)?;
            let new = match (Kind::of_mode(&entry.mode), bytes) {
                (Some(kind), Some(_)) if kind != Kind::Link && converted.contains(&entry.path) => {
                    Some((kind, self.checked_out(entry)?))
                }
                (Some(kind), Some(bytes)) => Some((kind, bytes.to_owned())),
                (None, _) if entry.mode == "000000" => None,
                _ => return Err(Fault::Invalid(format!("{:?} has mode {}", text(&entry.path), entry.mode))),
            };
            let old = read_entry(&self.repo.root, &entry.path)?;
            changes.push(Change { path: entry.path.clone(), old, new });
        }
        Ok(changes)
    }

    /// The paths to which a merge gives the line ends that a checkout gives them: what git has merged is as its objects are.
    fn converted(&self, plan: &[Entry]) -> Result<BTreeSet<Vec<u8>>, Fault> {
        let paths: Vec<&[u8]> =
            plan.iter().filter(|entry| entry.mode != "000000").map(|entry| &*entry.path).collect();
        if self.is_merge { self.repo.converted(&self.scratch, &paths) } else { Ok(BTreeSet::new()) }
    }

    /// The content of a path as a checkout writes it.
    fn checked_out(&self, entry: &Entry) -> Result<Vec<u8>, Fault> {
        let Some(path) = from_bytes(&entry.path)?.to_str().map(|path| format!("--path={path}")) else {
            return self.repo.run(&self.scratch, &["cat-file", "blob", &entry.id], b"");
        };
        self.repo.run(&self.scratch, &["cat-file", "--filters", &path, &entry.id], b"")
    }

    /// A small pack may unfold to much content.
    fn check_size(&self, plan: &[Entry]) -> Result<(), Fault> {
        let ids: String =
            plan.iter().filter(|e| e.mode != "000000").map(|entry| format!("{}\n", entry.id)).collect();
        let args = ["cat-file", "--batch-check=%(objectsize)"];
        let sizes = self.repo.line(&self.scratch, &args, ids.as_bytes())?;
        let size: u64 = sizes.lines().filter_map(|size| size.parse::<u64>().ok()).sum();
        // A merge writes whole files of which the capture held a part of the lines.
        let limit = Limits::default().bytes * 4;
        if size <= limit { Ok(()) } else { Err(Fault::ByteLimit { largest: Vec::new(), limit }) }
    }

    /// Adds to the repository what its index will name.
    fn keep_index_objects(&self) -> Result<(), Fault> {
        if self.index_tree == self.head_tree {
            return Ok(());
        }
        let without = self.head.as_ref().map(|head| format!("^{head}\n")).unwrap_or_default();
        let args = ["pack-objects", "--revs", "--thin", "--stdout", "-q"];
        let revisions = format!("{}\n{without}", self.index_tree);
        let pack = self.repo.run(&self.scratch, &args, revisions.as_bytes())?;
        self.repo.run(&Scratch::default(), &["index-pack", "--stdin", "--fix-thin"], &pack).map(drop)
    }

    /// Makes the new index from the old one, so that git need not read unchanged files again.
    fn write_index(&self, journal: &Journal<'_>) -> Result<(), Fault> {
        let index = copy_index(self.repo, journal.dir())?;
        journal.keep_old_index()?;
        let scratch = Scratch { index: Some(index), objects: None };
        let head = self.head.as_deref().map(|_| ());
        match head {
            // Of the files only their times may differ here, which is no change: git compares nothing but the trees.
            Some(()) => self.repo.run(&scratch, &["read-tree", "-m", "-i", &self.index_tree], b""),
            None => self.repo.run(&scratch, &["read-tree", &self.index_tree], b""),
        }
        .map(drop)
    }
}

/// What differs between the base and the captured working tree, as a patch.
pub(crate) fn patch(
    git: &dyn GitRunner,
    root: &Path,
    temporary: &Path,
    changes: &Changes,
) -> Result<Vec<u8>, Fault> {
    let repo = Repo::open(git, root)?;
    let dir = scratch_folder::folder_in(temporary).map_err(fault("create a folder in", temporary))?;
    let scratch = unpack(&repo, changes, dir.path())?;
    let base = repo.tree(&scratch, changes.base.as_deref())?;
    let args = [
        "diff-tree",
        "-r",
        "-p",
        "-M",
        "--binary",
        "--full-index",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
    ];
    repo.run(&scratch, &[&args[..], &[&base, &changes.worktree_tree, "--"]].concat(), b"")
}

/// The next object of `cat-file --batch`; none where it is missing, as for a deletion.
fn next_object<'a>(rest: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
    let invalid = || Fault::Invalid("git did not answer with an object".into());
    let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(invalid)?;
    let facts = text(&rest[..end]);
    *rest = &rest[end + 1..];
    let mut words = facts.split(' ');
    let (_, kind, size) = (words.next(), words.next(), words.next());
    match kind {
        Some("missing") => Ok(None),
        Some("blob") => {
            let size: usize = size.and_then(|size| size.parse().ok()).ok_or_else(invalid)?;
            let bytes = rest.get(..size).ok_or_else(invalid)?;
            *rest = rest.get(size + 1..).ok_or_else(invalid)?;
            Ok(Some(bytes))
        }
        _ => Err(invalid()),
    }
}
