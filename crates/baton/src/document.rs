//! Reads a document that another project's agent named: only files that git tracks, which every holder of the
//! repository can see.

use std::path::{Component, Path};

use baton_ops::document::{DocumentPath, MAX_BYTES, OmissionReason};

use crate::git;
use crate::repo_file::{Fault, RepoFile};

/// The text of a document below a folder.
pub(crate) fn read(folder: &str, document: DocumentPath<'_>) -> Result<String, OmissionReason> {
    let path = document.path();
    check(path)?;
    let folder = Path::new(folder).canonicalize().map_err(|_| OmissionReason::Missing)?;
    let file = folder.join(path);
    let meta = file.symlink_metadata().map_err(|_| OmissionReason::Missing)?;
    // A link anywhere on the way may lead out, whatever git tracks.
    if file.canonicalize().map_err(|_| OmissionReason::Link)? != file {
        return Err(OmissionReason::Link);
    }
    // Opening a pipe would wait for its writer, so what it is must be known before.
    if !meta.is_file() {
        return Err(OmissionReason::NotAFile);
    }
    if document != DocumentPath::Own && !is_tracked(&folder, path) {
        return Err(OmissionReason::Untracked);
    }
    contents(&folder, path)
}

/// Refuses a path that leaves its folder or is hidden; nothing is asked of the disk.
fn check(path: &str) -> Result<(), OmissionReason> {
    let mut parts = Path::new(path).components().peekable();
    if parts.peek().is_none() {
        return Err(OmissionReason::Outside);
    }
    for part in parts {
        match part {
            Component::Normal(name) if name.as_encoded_bytes().starts_with(b".") => {
                return Err(OmissionReason::Hidden);
            }
            Component::Normal(_) => {}
            _ => return Err(OmissionReason::Outside),
        }
    }
    // What the components leave out (`a//b`, `a/./b`, a slash at the end) would be another name for git.
    let plain = path.split('/').all(|part| !part.is_empty() && part != ".");
    if plain && !path.contains(['\0', '\n']) { Ok(()) } else { Err(OmissionReason::Outside) }
}

/// Whether git tracks a regular file of exactly this path below the folder.
fn is_tracked(folder: &Path, path: &str) -> bool {
    // Git answers from the top of the working copy, where the project may be a folder below.
    let Some(top) = git::root(folder) else { return false };
    let Ok(below) = folder.strip_prefix(&top) else { return false };
    let name = below.join(path);
    let Some(name) = name.to_str() else { return false };
    let args = ["--literal-pathspecs", "ls-files", "--stage", "-z", "--", name];
    let Some(listed) = git::read(folder, &args) else { return false };
    let line = listed.trim_end_matches('\0');
    line.starts_with("100") && line.split_once('\t').is_some_and(|(_, listed)| listed == name)
}

fn contents(folder: &Path, path: &str) -> Result<String, OmissionReason> {
    let longest = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    match RepoFile::new(folder, path).text(longest) {
        // Git takes a file with a zero byte for binary, and a terminal or a model reads on past it.
        Ok(Some(text)) if text.contains('\0') => Err(OmissionReason::NotText),
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(OmissionReason::Missing),
        Err(Fault::TooLarge(_)) => Err(OmissionReason::TooLarge),
        Err(Fault::NotAFile(_)) => Err(OmissionReason::NotAFile),
        Err(Fault::Outside) => Err(OmissionReason::Link),
        Err(Fault::NotText | Fault::Io(_)) => Err(OmissionReason::NotText),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn read(folder: &str, path: &str) -> Result<String, OmissionReason> {
        super::read(folder, DocumentPath::Named(path))
    }

    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        let git = |args: &[&str]| {
            let done = Command::new("git").arg("-C").arg(root.path()).args(args).output().expect("git runs");
            assert!(done.status.success(), "{args:?}: {done:?}");
        };
        git(&["init", "-q"]);
        for (name, text) in [
            ("spec/a.md", "# a"),
            ("spec/*.md", "# a star"),
            (".env", "SECRET=1"),
            ("spec/.hidden/b.md", "# b"),
            ("docs/PROJECT.md", "# own"),
            ("zero.txt", "a\0b"),
            ("large.md", &"x".repeat(MAX_BYTES + 1)),
            ("whole.md", &"x".repeat(MAX_BYTES)),
        ] {
            let file = root.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            fs::write(file, text).expect("written");
        }
        fs::write(root.path().join("bytes.bin"), b"\xff\xfe").expect("written");
        std::os::unix::fs::symlink(".env", root.path().join("link.md")).expect("a link");
        std::os::unix::fs::symlink("/etc", root.path().join("etc")).expect("a link");
        git(&["add", "-f", "."]);
        git(&["rm", "-q", "--cached", "docs/PROJECT.md"]);
        fs::write(root.path().join("notes.md"), "private").expect("written");
        let pipe = Command::new("mkfifo").arg(root.path().join("pipe.md")).status().expect("mkfifo runs");
        assert!(pipe.success());
        root
    }

    #[test]
    fn only_tracked_visible_files_of_the_repository_are_read() {
        let root = repository();
        let folder = root.path().display().to_string();
        for (path, text) in [("spec/a.md", "# a"), ("spec/*.md", "# a star")] {
            assert_eq!(read(&folder, path).as_deref(), Ok(text), "{path}");
        }
        assert_eq!(
            super::read(&folder, DocumentPath::Own).as_deref(),
            Ok("# own"),
            "it is not committed yet"
        );
        assert_eq!(read(&format!("{folder}/spec"), "a.md").as_deref(), Ok("# a"), "a project below the top");
        assert_eq!(read(&folder, "whole.md").map(|text| text.len()), Ok(MAX_BYTES));
        for (path, why) in [
            (".env", OmissionReason::Hidden),
            (".git/config", OmissionReason::Hidden),
            ("spec/.hidden/b.md", OmissionReason::Hidden),
            ("../x", OmissionReason::Outside),
            ("spec/../.env", OmissionReason::Outside),
            ("./spec/a.md", OmissionReason::Outside),
            ("spec//a.md", OmissionReason::Outside),
            ("", OmissionReason::Outside),
            ("/etc/passwd", OmissionReason::Outside),
            ("etc/passwd", OmissionReason::Link),
            ("link.md", OmissionReason::Link),
            ("spec", OmissionReason::NotAFile),
            ("pipe.md", OmissionReason::NotAFile),
            ("notes.md", OmissionReason::Untracked),
            ("docs/PROJECT.md", OmissionReason::Untracked),
            ("large.md", OmissionReason::TooLarge),
            ("bytes.bin", OmissionReason::NotText),
            ("zero.txt", OmissionReason::NotText),
            ("spec/gone.md", OmissionReason::Missing),
        ] {
            assert_eq!(read(&folder, path), Err(why), "{path}");
        }
        assert_eq!(read("/nowhere", "a.md"), Err(OmissionReason::Missing));
    }
}
