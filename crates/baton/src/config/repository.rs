//! The settings file of a repository, `.baton.toml`. A repository may come from a stranger, so by itself it sets next to
//! nothing: it may suggest a name for a project that is not there yet, and name a file for the tasks inside itself. Everything
//! else counts only once the user has said `baton trust` for this folder and this content.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use sha2::{Digest, Sha256};

use super::{file, trust};
use crate::git;
use crate::repo_file::{RepoFile, SMALL, stays_inside};

/// The name of the file.
pub const NAME: &str = ".baton.toml";

/// A repository's file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of its content.
    pub digest: String,
    /// Whether the user trusts this content in this folder.
    pub is_trusted: bool,
    /// Everything it sets.
    pub given: Vec<(&'static str, String)>,
    /// Which of that does not count.
    pub ignored: Vec<&'static str>,
}

impl RepositoryFile {
    /// The file that counts in this folder: the nearest, up to the top of the working copy. One above it is another's.
    pub fn of(cwd: &Path, config_dir: &Path) -> Result<Option<Self>, Refusal> {
        let top = git::root(cwd);
        let own = |folder: &&Path| top.as_deref().is_none_or(|top| folder.starts_with(top));
        let there = |folder: &&Path| folder.join(NAME).symlink_metadata().is_ok();
        let Some(folder) = cwd.ancestors().take_while(own).find(there) else { return Ok(None) };
        let path = folder.join(NAME);
        let root = top.as_deref().unwrap_or(folder);
        let inside = path.strip_prefix(root).unwrap_or(&path);
        let text = RepoFile::new(root, inside).text(SMALL);
        let text = match text.map_err(|fault| file::unreadable(&path, &fault.to_string()))? {
            Some(text) => text,
            None => return Ok(None),
        };
        Self::read(folder, &text, config_dir).map(Some)
    }

    fn read(folder: &Path, text: &str, config_dir: &Path) -> Result<Self, Refusal> {
        let path = folder.join(NAME);
        let given = file::parse(text, &visible(&path.display().to_string()))?;
        let digest: String =
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let is_trusted = trust::Trusted::read(config_dir).holds(folder, &digest);
        let ignored =
            given.iter().filter(|(key, value)| !is_trusted && !is_allowed(key, value)).map(|(key, _)| *key);
        let ignored = ignored.collect();
        Ok(Self { path, digest, is_trusted, given, ignored })
    }

    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The settings that count.
    pub fn counted(&self) -> impl Iterator<Item = &(&'static str, String)> {
        self.given
            .iter()
            .filter(|(key, _)| !self.ignored.contains(key) && (self.is_trusted || *key != "project"))
    }

    /// The project that it names without being trusted: believed where there is no such project yet.
    pub fn claim(&self) -> Option<&str> {
        let named = self.given.iter().find(|(key, _)| *key == "project" && !self.is_trusted);
        named.map(|(_, project)| project.as_str())
    }

    /// The file for the tasks, held to this folder unless the user trusts what leads out of it.
    pub fn mirror(&self, path: &str) -> RepoFile {
        match stays_inside(Path::new(path)) {
            true => RepoFile::new(self.folder(), path),
            false => RepoFile::named(&self.folder().join(path)),
        }
    }
}

/// What a repository may set without being trusted.
fn is_allowed(key: &str, value: &str) -> bool {
    match key {
        "project" => true,
        // A text of tasks, and nothing that a tool would run or read as its settings.
        "tasks.mirror" => value.ends_with(".jsonl") && stays_inside(Path::new(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::KEYS;
    use super::*;

    #[test]
    fn a_repository_sets_nothing_but_what_the_list_allows() {
        let allowed: Vec<&str> =
            KEYS.iter().map(|(key, _)| *key).filter(|key| is_allowed(key, "x.jsonl")).collect();
        assert_eq!(allowed, ["project", "tasks.mirror"]);
        for bad in [
            "../x.jsonl",
            "/home/you/x.jsonl",
            "a/../../x.jsonl",
            "../../.ssh/authorized_keys",
            ".git/x.jsonl",
            ".GIT/hooks/x.jsonl",
            ".envrc",
            "AGENTS.md",
            "",
        ] {
            assert!(!is_allowed("tasks.mirror", bad), "{bad}");
        }
    }

    #[test]
    fn the_nearest_file_of_the_working_copy_counts_and_none_above_it() {
        let dir = tempfile::tempdir().expect("dir");
        let at = |path: &str| dir.path().join(path);
        for folder in ["repo/.git", "repo/sub/deep", "repo/nested/.git"] {
            std::fs::create_dir_all(at(folder)).expect("folder");
        }
        std::fs::write(at(NAME), "project = \"above\"").expect("written");
        let found = |folder: &str| {
            let file = RepositoryFile::of(&at(folder), &at("config")).expect("read");
            file.and_then(|file| file.claim().map(str::to_owned))
        };
        assert_eq!(found("repo"), None, "a file above the repository is another's");
        std::fs::write(at("repo/.baton.toml"), "project = \"own\"").expect("written");
        assert_eq!(found("repo/sub/deep").as_deref(), Some("own"));
        assert_eq!(found("repo/nested"), None, "nor does one of the repository around it");
        std::fs::write(at("repo/sub/.baton.toml"), "project = \"sub\"").expect("written");
        assert_eq!(found("repo/sub/deep").as_deref(), Some("sub"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_none_or_lies_elsewhere_is_refused() {
        let dir = tempfile::tempdir().expect("dir");
        let repo = dir.path().join("repo");
        std::fs::create_dir_all(repo.join(".git")).expect("folder");
        let file = repo.join(NAME);
        let refused = || {
            let refusal = RepositoryFile::of(&repo, dir.path()).expect_err("refused");
            assert_eq!(refusal.code, "config_invalid");
            let _ = std::fs::remove_file(&file).or_else(|_| std::fs::remove_dir(&file));
            refusal.message
        };
        std::fs::write(dir.path().join("theirs"), "store = \"/x\"").expect("written");
        std::os::unix::fs::symlink("../theirs", &file).expect("link");
        assert!(refused().contains("leads out of the repository"));
        std::os::unix::fs::symlink("/dev/zero", &file).expect("link");
        assert!(refused().contains("leads out of the repository"));
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("fifo");
        assert!(refused().contains("a FIFO"));
        std::fs::create_dir(&file).expect("folder");
        assert!(refused().contains("a folder"));
        std::fs::write(&file, [0xff, 0xfe, b'=']).expect("written");
        assert!(refused().contains("not UTF-8"));
        std::fs::write(&file, vec![b'#'; usize::try_from(SMALL).expect("small") + 1]).expect("written");
        assert!(refused().contains("larger than"));
        std::fs::write(&file, format!("project = {}1{}", "[".repeat(20_000), "]".repeat(20_000)))
            .expect("written");
        assert!(refused().contains("TOML"));
    }
}
