//! Repositories in folders of their own, and git as a test calls it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::changes::{Applied, Changes, ExportNotes, Fault, Limits};
use crate::git::Plumbing;

fn command(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"] {
        command.env_remove(name);
    }
    command
}

/// A bare repository and clones of it.
pub(crate) struct Stage {
    pub dir: tempfile::TempDir,
    settings: Vec<String>,
}

impl Stage {
    /// With these files in its first commit.
    pub(crate) fn new(files: &[(&str, &str)], settings: &[&str]) -> Self {
        let stage = Self {
            dir: tempfile::tempdir().expect("dir"),
            settings: settings.iter().map(|s| (*s).to_owned()).collect(),
        };
        git(stage.dir.path(), &["init", "-q", "-b", "main", "first"]);
        let first = stage.dir.path().join("first");
        for (name, text) in files {
            write(&first, name.as_bytes(), text.as_bytes());
        }
        commit(&first);
        stage
    }

    pub(crate) fn clone(&self, name: &str) -> PathBuf {
        let mut args = vec!["clone", "-q"];
        args.extend(self.settings.iter().flat_map(|setting| ["-c", setting]));
        args.extend(["first", name]);
        git(self.dir.path(), &args);
        self.dir.path().join(name)
    }
}

pub(crate) fn git<S: AsRef<OsStr>>(root: &Path, args: &[S]) -> String {
    let output = command(root).args(args).output().expect("git runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn commit(root: &Path) {
    git(root, &["add", "-A"]);
    git(root, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]);
}

pub(crate) fn capture(root: &Path) -> Result<Changes, Fault> {
    crate::changes::capture(&Plumbing, root, above(root), Limits::default(), &ExportNotes::of(above(root)))
}

pub(crate) fn apply(root: &Path, changes: &Changes) -> Result<Applied, Fault> {
    crate::changes::apply(&Plumbing, root, above(root), changes, &mut |_| Ok(()))
}

pub(crate) fn status(root: &Path) -> String {
    git(root, &["status", "--porcelain=v2", "-z", "--untracked-files=all"])
}

/// The status by what the files hold alone. Git takes a staged file whose size differs from the noted one for changed without looking
/// into it, also where its line ends alone became others and are converted: of entries without such notes it compares the content.
pub(crate) fn status_of_contents(root: &Path) -> String {
    let scratch = tempfile::tempdir().expect("a folder");
    let index = scratch.path().join("index");
    let listed = scratch.path().join("entries");
    let output = command(root).args(["ls-files", "--stage", "-z"]).output().expect("git runs");
    fs::write(&listed, output.stdout).expect("written");
    let made = command(root)
        .args(["update-index", "-z", "--index-info"])
        .env("GIT_INDEX_FILE", &index)
        .stdin(fs::File::open(&listed).expect("there"))
        .status();
    assert!(made.expect("git runs").success());
    let status = ["status", "--porcelain=v2", "-z", "--untracked-files=all"];
    let output = command(root).args(status).env("GIT_INDEX_FILE", &index).output().expect("git runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn at(root: &Path, name: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(name))
}

/// Makes room for a file, whatever lies there or above it.
fn clear(root: &Path, name: &[u8]) -> PathBuf {
    let path = at(root, name);
    for above in path.ancestors().skip(1).take_while(|above| *above != root) {
        if above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            fs::remove_file(above).expect("removed");
        }
    }
    remove(root, name);
    fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    path
}

pub(crate) fn remove(root: &Path, name: &[u8]) {
    let path = at(root, name);
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path).expect("removed"),
        Ok(_) => fs::remove_file(&path).expect("removed"),
        Err(_) => {}
    }
}

pub(crate) fn write(root: &Path, name: &[u8], bytes: &[u8]) {
    fs::write(clear(root, name), bytes).expect("written");
}

pub(crate) fn make_executable(root: &Path, name: &[u8]) {
    let path = at(root, name);
    if path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode");
    }
}

pub(crate) fn link(root: &Path, name: &[u8], target: &str) {
    symlink(target, clear(root, name)).expect("link");
}

pub(crate) fn rename(root: &Path, from: &[u8], to: &[u8]) {
    if at(root, from).symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        let bytes = fs::read(at(root, from)).expect("read");
        remove(root, from);
        write(root, to, &bytes);
    }
}

/// Every file below a folder with mode and content; of the working tree without the git folder.
pub(crate) fn files(root: &Path) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let meta = entry.symlink_metadata().expect("meta");
            let name = entry.strip_prefix(root).expect("below").as_os_str().as_bytes().to_owned();
            if name == b".git" {
                continue;
            } else if meta.is_dir() {
                folders.push(entry);
            } else if meta.is_symlink() {
                let target = fs::read_link(&entry).expect("link").into_os_string().into_vec();
                found.insert(name, (0o120_000, target));
            } else {
                found.insert(name, (meta.permissions().mode() & 0o100, fs::read(&entry).expect("read")));
            }
        }
    }
    found
}

/// The folder that holds a working copy: what is temporary goes there.
pub(crate) fn above(root: &Path) -> &Path {
    root.parent().expect("a folder above")
}
