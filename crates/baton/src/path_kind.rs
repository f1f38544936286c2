//! What a path or glob names in a working copy.

use std::path::Path;

use baton_model::id::visible;
use baton_model::lease::pattern::is_glob;
use baton_model::refusal::Refusal;
use baton_ops::op::PathKind;

use crate::git;

/// What a pattern names below a folder. Links are not followed. Of globs git is asked, so that without it nothing is known.
pub(crate) fn of(folder: &str, pattern: &str) -> Option<PathKind> {
    let folder = Path::new(folder);
    if !is_glob(pattern) {
        return Some(match folder.join(pattern).symlink_metadata() {
            Ok(found) if found.is_dir() => PathKind::Folder,
            Ok(_) => PathKind::File,
            Err(_) => PathKind::Nothing,
        });
    }
    // Brackets are ordinary characters in a pattern of ours.
    let escaped: String =
        pattern.chars().flat_map(|c| "[]\\".contains(c).then_some('\\').into_iter().chain([c])).collect();
    let wanted = format!(":(top,glob){escaped}");
    let found =
        git::read(folder, &["ls-files", "--cached", "--others", "--exclude-standard", "--", &wanted])?;
    Some(if found.is_empty() { PathKind::Nothing } else { PathKind::File })
}

/// What a path names that is no regular file: to open some of these waits for a writer, or reads without an end. Nothing where
/// there is nothing, which opening it says.
pub(crate) fn irregular(path: &Path) -> Option<&'static str> {
    let kind = std::fs::metadata(path).ok()?.file_type();
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
    }
    match (kind.is_dir(), kind.is_file()) {
        (true, _) => Some("a folder"),
        (_, true) => None,
        _ => Some("no regular file"),
    }
}

/// Refuses to read what is no regular file: it may have no end.
pub(crate) fn require_regular(path: &Path, hint: &'static str) -> Result<(), Refusal> {
    let Some(kind) = irregular(path) else { return Ok(()) };
    let shown = visible(&path.display().to_string());
    let what = format!("{shown} is {kind}, and no file that could be read to its end");
    Err(Refusal::invalid("input_unreadable", what, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_named_by_its_kind() {
        let root = tempfile::tempdir().expect("a folder");
        let (pipe, file) = (root.path().join("pipe"), root.path().join("file"));
        std::fs::write(&file, "x").expect("written");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        let paths = [pipe.as_path(), root.path(), Path::new("/dev/null"), &file, Path::new("/nowhere")];
        assert_eq!(paths.map(irregular), [Some("a pipe"), Some("a folder"), Some("a device"), None, None]);
    }

    #[test]
    fn a_folder_a_file_and_nothing_are_told_apart() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(root.path().join("lib/deep")).expect("made");
        std::fs::write(root.path().join("lib/[id].tsx"), "x").expect("written");
        let kind = |pattern: &str| of(&root.path().display().to_string(), pattern);
        assert_eq!(kind("lib"), Some(PathKind::Folder));
        assert_eq!(kind("lib/[id].tsx"), Some(PathKind::File));
        assert_eq!(kind("src"), Some(PathKind::Nothing));
        assert_eq!(kind("lib/*"), None, "no git, no word on globs");
        let made = std::process::Command::new("git").args(["init", "-q"]).current_dir(root.path()).status();
        assert!(made.expect("git runs").success());
        assert_eq!(kind("lib/**"), Some(PathKind::File));
        assert_eq!(kind("lib/[id]*"), Some(PathKind::File));
        assert_eq!(kind("**/*.tsx"), Some(PathKind::File));
        assert_eq!(kind("src/**"), Some(PathKind::Nothing));
        assert_eq!(kind("*.tsx"), Some(PathKind::Nothing));
    }
}
