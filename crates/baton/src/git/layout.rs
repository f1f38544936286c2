//! Where the files of a repository lie, read from the disk without running git: a command that only wants to know its project
//! pays a few small reads.
//!
//! A pointer is believed where the other side confirms it: a worktree's folder in the common git folder names the `.git` file
//! that leads there. Otherwise an unpacked archive could pass for a worktree of a repository of the user.

use std::path::{Component, Path, PathBuf};

use baton_model::id::visible;
use baton_model::repository::{NAMES_NO_WORKTREE, Repository, is_commit_id, is_repository_id};

use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};

/// The longest pointer: a `.git` file, `commondir`, `gitdir`, `HEAD` or a branch.
pub(super) const MAX_POINTER_BYTES: u64 = 4096;
/// The largest list of packed branches that is looked through, in bytes.
const MAX_PACKED_REFS_BYTES: u64 = 1024 * 1024;
/// The setting that holds the id of a repository.
pub(crate) const ID_KEY: &str = "baton.repositoryid";

/// The git folders of a working copy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The folder of this working copy: its head and index.
    pub git_dir: PathBuf,
    /// The folder that all working copies share: settings, branches, objects.
    pub common_dir: PathBuf,
}

/// The git folders of the working copy with this top folder; else why they are not believed, in a clause that follows the path.
pub(super) fn layout(root: &Path) -> Result<Layout, String> {
    let git = root.join(".git");
    let Ok(meta) = git.symlink_metadata() else { return Err("has no .git".into()) };
    if meta.is_dir() {
        // Only the folder of a worktree takes its objects and settings from elsewhere, and that is none in a working copy.
        if git.join("commondir").symlink_metadata().is_ok() {
            return Err("is a git folder that takes its settings from another one".into());
        }
        let git = git.canonicalize().map_err(|error| format!("cannot be read: {error}"))?;
        return Ok(Layout { git_dir: git.clone(), common_dir: git });
    }
    let text = RepoFile::new(root, ".git")
        .text(MAX_POINTER_BYTES)
        .map_err(|fault| format!("cannot be read: {fault}"))?;
    let pointer = text.as_deref().map(str::trim).and_then(|text| text.strip_prefix("gitdir:"));
    let Some(pointer) = pointer.map(str::trim).filter(|pointer| !pointer.is_empty()) else {
        return Err("is neither a git folder nor a file that names one".into());
    };
    let shown = visible(pointer);
    let git_dir =
        root.join(pointer).canonicalize().map_err(|_| format!("leads to {shown}, which is not there"))?;
    let elsewhere = || format!("leads to {shown}, which belongs to a working copy in another place");
    match read(&git_dir, "commondir", MAX_POINTER_BYTES) {
        Some(common) => {
            let back = read(&git_dir, "gitdir", MAX_POINTER_BYTES).ok_or_else(elsewhere)?;
            let own = git.canonicalize().map_err(|_| elsewhere())?;
            let named = git_dir.join(back.trim()).canonicalize();
            if named.is_ok_and(|named| named == own) {
                let common_dir = git_dir.join(common.trim()).canonicalize();
                let common_dir =
                    common_dir.map_err(|_| format!("leads to {shown}, whose repository is gone"))?;
                return Ok(Layout { git_dir, common_dir });
            }
            Err(elsewhere())
        }
        None if is_submodule_dir(root, &git_dir)
            || is_beside(root, &git_dir)
            || is_named_by(root, &git_dir) =>
        {
            Ok(Layout { common_dir: git_dir.clone(), git_dir })
        }
        // The git folder inside a working copy is that of the working copy.
        None if git_dir.ends_with(".git") => Err(elsewhere()),
        None => Err(format!("leads to {shown}, {NAMES_NO_WORKTREE}")),
    }
}

/// The git folder of the working copy with this top folder, where it is believed.
pub(crate) fn git_dir(root: &Path) -> Option<PathBuf> {
    layout(root).ok().map(|layout| layout.git_dir)
}

/// The top folder of the linked worktree that has this name in the repository of a working copy, and its git folder.
pub(super) fn worktree_named(root: &Path, name: &str) -> Option<(PathBuf, PathBuf)> {
    if !matches!(Path::new(name).components().collect::<Vec<_>>().as_slice(), [Component::Normal(_)]) {
        return None;
    }
    let git_dir = layout(root).ok()?.common_dir.join("worktrees").join(name).canonicalize().ok()?;
    let named = read(&git_dir, "gitdir", MAX_POINTER_BYTES)?;
    let top = git_dir.join(named.trim()).parent()?.canonicalize().ok()?;
    // Its folder leads back to it.
    (layout(&top).ok()?.git_dir == git_dir).then_some((top, git_dir))
}

/// Whether a folder below a working copy is another working copy of the same repository.
pub(crate) fn is_own_worktree(root: &Path, folder: &Path) -> bool {
    folder.starts_with(root)
        && layout(folder).is_ok_and(|inner| {
            inner.git_dir != inner.common_dir
                && layout(root).is_ok_and(|own| own.common_dir == inner.common_dir)
        })
}

/// Whether a git folder is that of a submodule here: it lies in the git folder of the repository above.
fn is_submodule_dir(root: &Path, git_dir: &Path) -> bool {
    root.ancestors().skip(1).filter(|above| above.join(".git").symlink_metadata().is_ok()).any(|above| {
        layout(above).is_ok_and(|above| {
            let inside = |folder: &Path| git_dir.starts_with(folder.join("modules"));
            inside(&above.git_dir) || inside(&above.common_dir)
        })
    })
}

/// Whether the settings of a git folder name this working copy as theirs: what `git init --separate-git-dir` makes is followed once
/// its user has set `core.worktree`.
fn is_named_by(root: &Path, git_dir: &Path) -> bool {
    let named = Settings::of(git_dir).worktree.and_then(|named| git_dir.join(named).canonicalize().ok());
    named.is_some() && named == root.canonicalize().ok()
}

/// Whether a git folder lies beside the file that names it, as a bare repository with worktrees round it.
fn is_beside(root: &Path, git_dir: &Path) -> bool {
    root.canonicalize().is_ok_and(|root| git_dir.parent() == Some(&root))
}

/// The repository of the working copy with this top folder; else why none is believed, in a sentence.
pub(crate) fn repository(root: &Path) -> Result<Repository, String> {
    let layout = layout(root)
        .map_err(|fault| format!("{} {fault}", visible(&root.join(".git").display().to_string())))?;
    let settings = Settings::of(&layout.common_dir);
    let head = read(&layout.git_dir, "HEAD", MAX_POINTER_BYTES).unwrap_or_default();
    let (branch, commit) = match head.trim().strip_prefix("ref:").map(str::trim) {
        // A repository with another store of references says so in place of one: git reads it.
        _ if uses_reftable(&head) => {
            super::state::head(root).map(|git| (git.branch, git.commit)).unwrap_or_default()
        }
        Some(name) => {
            (name.strip_prefix("refs/heads/").map(str::to_owned), branch_commit(&layout.common_dir, name))
        }
        None => (None, Some(head.trim().to_owned())),
    };
    let main = match layout.common_dir.file_name() {
        // A bare repository has no main working copy.
        _ if settings.is_bare => None,
        // As it was come by: links on the way to it stay in its path.
        _ if layout.git_dir == layout.common_dir => Some(root),
        Some(name) if name == ".git" => layout.common_dir.parent(),
        _ => None,
    };
    Ok(Repository {
        is_worktree: layout.git_dir != layout.common_dir,
        main: main.map(|main| main.display().to_string()),
        id: settings.id,
        remote: settings.remote.map(|url| absolute_remote(main.unwrap_or(root), url)),
        branch,
        commit: commit.filter(|id| is_commit_id(id)),
        common_dir: layout.common_dir.display().to_string(),
        host: None,
    })
}

/// The address of a remote. A path is made absolute and free of links where it leads to a folder, so that clones by different paths
/// have one address. A relative one counts from the top folder, and `shop` means `shop.git` where there is no `shop`, as git takes it.
pub(crate) fn absolute_remote(root: &Path, url: String) -> String {
    let is_relative = url.starts_with("./") || url.starts_with("../") || url == "..";
    let path = url.strip_prefix("file://").unwrap_or(&url);
    let folder = |path: &str| root.join(path).canonicalize().ok();
    let target = match is_relative || path.starts_with('/') {
        true => folder(path).or_else(|| folder(&format!("{}.git", path.trim_end_matches('/')))),
        false => None,
    };
    target.map_or(url, |path| path.display().to_string())
}

/// The bare repository in whose git folder a path lies.
pub(crate) fn bare_folder(path: &Path) -> Option<&Path> {
    let is_bare = |folder: &&Path| {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
    };
    path.ancestors().find(is_bare)
}

/// Whether a git folder is there and its settings hold this id.
pub(crate) fn holds_id(common_dir: &Path, id: &str) -> bool {
    Settings::of(common_dir).id.as_deref() == Some(id)
}

/// The commits of a shallow repository whose parents are not in it.
pub(super) fn cut_commits(root: &Path) -> Vec<String> {
    let text =
        layout(root).ok().and_then(|layout| read(&layout.common_dir, "shallow", MAX_PACKED_REFS_BYTES));
    let ids = text.iter().flat_map(|text| text.lines()).map(str::trim);
    ids.filter(|id| is_commit_id(id)).map(str::to_owned).collect()
}

/// Whether references are kept in another store than files (`reftable`), by what stands in the file of the head.
pub(crate) fn uses_reftable(head: &str) -> bool {
    head.trim().strip_prefix("ref:").is_some_and(|name| name.trim() == "refs/heads/.invalid")
}

/// The commit of a branch: in a file of its own, else in the list of packed ones.
fn branch_commit(common_dir: &Path, name: &str) -> Option<String> {
    if let Some(id) = read(common_dir, name, MAX_POINTER_BYTES) {
        return Some(id.trim().to_owned());
    }
    let packed = read(common_dir, "packed-refs", MAX_PACKED_REFS_BYTES)?;
    let of =
        |line: &str| line.split_once(' ').filter(|(_, packed)| *packed == name).map(|(id, _)| id.to_owned());
    packed.lines().find_map(of)
}

fn read(folder: &Path, name: &str, limit: u64) -> Option<String> {
    RepoFile::new(folder, name).text(limit).ok().flatten()
}

/// What is taken out of git's settings of a repository. Includes are not followed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Settings {
    id: Option<String>,
    remote: Option<String>,
    worktree: Option<String>,
    is_bare: bool,
}

impl Settings {
    fn of(common_dir: &Path) -> Self {
        read(common_dir, "config", MAX_SMALL_FILE_BYTES).as_deref().map(Self::parse).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let (mut settings, mut section) = (Self::default(), String::new());
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                section = section_name(name.0);
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                settings.is_bare |= section == "core" && line.eq_ignore_ascii_case("bare");
                continue;
            };
            let value = plain(value);
            match (section.as_str(), key.trim().to_ascii_lowercase().as_str()) {
                ("baton", "repositoryid") => settings.id = Some(value).filter(|id| is_repository_id(id)),
                ("remote.origin", "url") if settings.remote.is_none() => settings.remote = Some(value),
                ("core", "worktree") => settings.worktree = Some(value),
                ("core", "bare") => settings.is_bare = matches!(value.as_str(), "true" | "yes" | "on" | "1"),
                _ => {}
            }
        }
        settings
    }
}

/// `remote "origin"` as `remote.origin`.
fn section_name(text: &str) -> String {
    match text.split_once('"') {
        Some((name, rest)) => format!("{}.{}", name.trim().to_ascii_lowercase(), rest.trim_end_matches('"')),
        None => text.trim().to_ascii_lowercase(),
    }
}

/// A value without its quotes and what follows as a comment.
fn plain(value: &str) -> String {
    let value = value.trim();
    match value.strip_prefix('"') {
        Some(rest) => rest.split('"').next().unwrap_or_default().to_owned(),
        None => value.split([';', '#']).next().unwrap_or_default().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_on_the_disk_is_the_folder_that_git_takes() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let [plain, bare] = ["shop", "shop.git"].map(|name| root.join(name).display().to_string());
        std::fs::create_dir(&bare).expect("made");
        assert_eq!(absolute_remote(&root, plain.clone()), bare);
        assert_eq!(absolute_remote(&root, "./shop/".into()), bare);
        std::fs::create_dir(&plain).expect("made");
        assert_eq!(absolute_remote(&root, plain.clone()), plain);
    }

    #[test]
    fn settings_are_read_as_git_writes_them() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = git@h:o/r.git\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n[remote \"other\"]\n\turl = x\n[Baton]\n\
            \trepositoryId = 0199aaaa-0000-7000-8000-000000000001 ; ours\n";
        let read = Settings::parse(text);
        assert_eq!(read.id.as_deref(), Some("0199aaaa-0000-7000-8000-000000000001"));
        assert_eq!((read.remote.as_deref(), read.is_bare), (Some("git@h:o/r.git"), false));
        let read = Settings::parse("[core]\n bare\n[baton]\nrepositoryid = \"../../etc\"\n");
        assert_eq!(read, Settings { is_bare: true, ..Settings::default() });
    }
}
