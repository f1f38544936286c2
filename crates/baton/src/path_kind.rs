//! What a path or glob names in a working copy.

use std::path::Path;

use baton_model::lease::pattern::is_glob;
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

#[cfg(test)]
mod tests {
    use super::*;

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
