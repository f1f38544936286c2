//! The settings file of a repository, `.baton.toml`. A repository may come from a stranger, so by itself it sets next to
//! nothing: it may suggest a name for a project that is not there yet, and name a file for the tasks inside itself. Everything
//! else counts only once the user has said `baton trust` for this folder and this content.
//!
//! A file that is not trusted stops no command: what cannot be read is ignored as a whole and named.

use std::path::{Path, PathBuf};

use baton_model::changes::SETTINGS_FILE;
use baton_model::id::visible;
use baton_model::refusal::Refusal;

use super::{file, trust};
use crate::git;
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile, stays_inside};

/// The name of the file.
pub(crate) const NAME: &str = SETTINGS_FILE;

/// A repository's file, read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RepositoryFile {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of its content; empty where it has none that could be read.
    pub digest: String,
    /// Whether the user trusts this content in this folder.
    pub is_trusted: bool,
    /// Everything it sets.
    pub given: Vec<(&'static str, String)>,
    /// Which of that does not count.
    pub ignored: Vec<&'static str>,
    /// Why none of it counts, where it cannot be read. A trusted file with a fault is an error instead.
    pub fault: Option<Refusal>,
    /// Nearer ones of which nothing counts, since the user trusts this one and not them.
    pub outranked: Vec<RepositoryFile>,
    /// In which line each key is set.
    lines: Vec<(&'static str, usize)>,
}

impl RepositoryFile {
    /// The file that counts in this folder: the nearest that the user trusts, up to the top of the working copy, then in the main working
    /// copy; where there is none, the nearest. One above the working copy is another's.
    pub(crate) fn of(cwd: &Path, config_dir: &Path) -> Result<Option<Self>, Refusal> {
        let top = git::root(cwd);
        let mut untrusted: Vec<Self> = Vec::new();
        for folder in folders(cwd, top.as_deref()) {
            match Self::in_folder(folder, top.as_deref(), config_dir)? {
                Some(file) if file.is_trusted => return Ok(Some(Self { outranked: untrusted, ..file })),
                file => untrusted.extend(file),
            }
        }
        let of_main = top.as_deref().map_or(Ok(None), |top| Self::of_main(top, cwd, config_dir))?;
        Ok(match of_main {
            Some(file) => Some(Self { outranked: untrusted, ..file }),
            None => untrusted.into_iter().next(),
        })
    }

    /// The nearest file, whether the user trusts it or not.
    pub(crate) fn nearest(cwd: &Path, config_dir: &Path) -> Result<Option<Self>, Refusal> {
        let top = git::root(cwd);
        match folders(cwd, top.as_deref()).next() {
            Some(folder) => Self::in_folder(folder, top.as_deref(), config_dir),
            None => top.as_deref().map_or(Ok(None), |top| Self::of_main(top, cwd, config_dir)),
        }
    }

    /// The file of a folder. `top`: the top of its working copy, if it lies in one.
    fn in_folder(folder: &Path, top: Option<&Path>, config_dir: &Path) -> Result<Option<Self>, Refusal> {
        let path = folder.join(NAME);
        let root = top.unwrap_or(folder);
        let inside = path.strip_prefix(root).unwrap_or(&path);
        match RepoFile::new(root, inside).bytes(MAX_SMALL_FILE_BYTES) {
            Ok(Some(bytes)) => {
                let twin = top.and_then(|top| in_main_working_copy(top, folder));
                Self::read((folder, twin.as_deref()), &bytes, config_dir).map(Some)
            }
            Ok(None) => Ok(None),
            // What has no content was never trusted.
            Err(fault) => Ok(Some(Self::unread(file::unreadable_refusal(&path, &fault.to_string()), path))),
        }
    }

    /// For a linked worktree without a file, the one that the user trusts in the main working copy: git carries an untracked file
    /// into no worktree. It names no file for the tasks here: that one lies in its own working copy.
    fn of_main(top: &Path, cwd: &Path, config_dir: &Path) -> Result<Option<Self>, Refusal> {
        // Only the `.git` of a worktree is a file.
        if !top.join(".git").is_file() {
            return Ok(None);
        }
        let (Some(main), Some(there)) = (in_main_working_copy(top, top), in_main_working_copy(top, cwd))
        else {
            return Ok(None);
        };
        for folder in folders(&there, Some(&main)) {
            let path = folder.join(NAME);
            let inside = path.strip_prefix(&main).unwrap_or(&path);
            let Ok(Some(bytes)) = RepoFile::new(&main, inside).bytes(MAX_SMALL_FILE_BYTES) else { continue };
            let file = Self::read((folder, None), &bytes, config_dir)?;
            if file.is_trusted {
                let given = file.given.into_iter().filter(|(key, _)| *key != "tasks.mirror").collect();
                return Ok(Some(Self { given, ..file }));
            }
        }
        Ok(None)
    }

    /// A file of which nothing counts.
    fn unread(fault: Refusal, path: PathBuf) -> Self {
        Self {
            path,
            digest: String::new(),
            is_trusted: false,
            given: Vec::new(),
            ignored: Vec::new(),
            fault: Some(fault),
            outranked: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Reads the file of a folder. What the user trusts in the main working copy counts in a worktree with the same content.
    fn read(
        (folder, twin): (&Path, Option<&Path>),
        bytes: &[u8],
        config_dir: &Path,
    ) -> Result<Self, Refusal> {
        let path = folder.join(NAME);
        let digest = trust::sha256(bytes);
        let trusted = trust::TrustStore::read(config_dir);
        let is_trusted =
            trusted.holds(folder, &digest) || twin.is_some_and(|twin| trusted.holds(twin, &digest));
        let text = std::str::from_utf8(bytes)
            .map_err(|_| file::unreadable_refusal(&path, &crate::repo_file::Fault::NotText.to_string()));
        let parsed = text.and_then(|text| {
            let given = file::parse(text, &visible(&path.display().to_string()))?;
            let lines = given.iter().map(|(key, _)| (*key, file::line_of(text, key))).collect();
            Ok((given, lines))
        });
        let (given, lines) = match parsed {
            Ok(parsed) => parsed,
            Err(fault) if is_trusted => return Err(fault),
            Err(fault) => return Ok(Self { digest, ..Self::unread(fault, path) }),
        };
        let ignored =
            given.iter().filter(|(key, value)| !counts(key, value, is_trusted)).map(|(key, _)| *key);
        let ignored = ignored.collect();
        let outranked = Vec::new();
        Ok(Self { path, digest, is_trusted, given, ignored, fault: None, outranked, lines })
    }

    /// A refusal of one of its values, with where that stands.
    pub(crate) fn locate(&self, key: &str, refusal: Refusal) -> Refusal {
        let line = self.lines.iter().find(|(known, _)| *known == key).map_or(1, |(_, line)| *line);
        let shown = visible(&self.path.display().to_string());
        let message = format!("{shown}, line {line}: {}", refusal.message);
        Refusal { message, ..refusal }.with("line", line)
    }

    /// The settings that are in the user's own file only: trust has none of them count.
    pub(crate) fn never_counting(&self) -> Vec<&'static str> {
        self.given.iter().filter(|(key, value)| !counts(key, value, true)).map(|(key, _)| *key).collect()
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// The settings that count.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &(&'static str, String)> {
        self.given
            .iter()
            .filter(|(key, _)| !self.ignored.contains(key) && (self.is_trusted || *key != "project"))
    }

    /// The project that it names without being trusted: believed where there is no such project yet.
    pub(crate) fn claim(&self) -> Option<&str> {
        let named = self.given.iter().find(|(key, _)| *key == "project" && !self.is_trusted);
        named.map(|(_, project)| project.as_str())
    }

    /// The file for the tasks, held to this folder unless the user trusts what leads out of it.
    pub(crate) fn beads_file(&self, path: &str) -> RepoFile {
        match stays_inside(Path::new(path)) {
            true => RepoFile::new(self.folder(), path),
            false => RepoFile::from_user_path(&self.folder().join(path)),
        }
    }
}

/// The folders with such a file from one up to a top, the nearest first.
fn folders<'a>(from: &'a Path, top: Option<&'a Path>) -> impl Iterator<Item = &'a Path> {
    let own = move |folder: &&Path| top.is_none_or(|top| folder.starts_with(top));
    from.ancestors().take_while(own).filter(has_file)
}

/// Whether a folder has such a file.
fn has_file(folder: &&Path) -> bool {
    folder.join(NAME).symlink_metadata().is_ok()
}

/// The same folder in the main working copy, where this one is a linked worktree of it.
fn in_main_working_copy(top: &Path, folder: &Path) -> Option<PathBuf> {
    let repository = git::repository(top).ok().filter(|repository| repository.is_worktree)?;
    Some(Path::new(&repository.main?).join(folder.strip_prefix(top).ok()?))
}

/// Whether a key of a repository's file counts. How its user is told is his own, whatever he trusts: it names a program and addresses.
fn counts(key: &str, value: &str, is_trusted: bool) -> bool {
    !key.starts_with("notify.") && (is_trusted || is_allowed(key, value))
}

/// What a repository may set without being trusted.
fn is_allowed(key: &str, value: &str) -> bool {
    match key {
        "project" => true,
        // A text of tasks, and nothing that a tool would run or read as its settings.
        "tasks.mirror" => {
            matches!(value, "true" | "false") || value.ends_with(".jsonl") && stays_inside(Path::new(value))
        }
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

    #[test]
    fn a_trusted_file_above_decides_over_nearer_ones_that_are_not_trusted() {
        let dir = tempfile::tempdir().expect("dir");
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at("repo/sub/deep")).expect("folder");
        std::fs::create_dir_all(at("repo/.git")).expect("folder");
        std::fs::write(at("repo/.baton.toml"), "project = \"own\"").expect("written");
        std::fs::write(at("repo/sub/.baton.toml"), "project = \"sub\"\nstore = \"/x\"").expect("written");
        std::fs::write(at("repo/sub/deep/.baton.toml"), "no = = toml").expect("written");
        let trust = |folder: &str| {
            let digest =
                RepositoryFile::nearest(&at(folder), &at("config")).expect("read").expect("a file").digest;
            let mut trusted = trust::TrustStore::read(&at("config"));
            trusted.add(&at(folder), &digest);
            trusted.write(&at("config")).expect("written");
        };
        let found =
            || RepositoryFile::of(&at("repo/sub/deep"), &at("config")).expect("read").expect("a file");
        assert!(found().fault.is_some() && found().outranked.is_empty(), "none is trusted");
        trust("repo");
        let counted: Vec<_> = found().counted().cloned().collect();
        assert_eq!(counted, [("project", "own".to_owned())]);
        let outranked: Vec<_> = found().outranked.iter().map(|file| file.given.len()).collect();
        assert_eq!(outranked, [0, 2], "each that is nearer is named, one with a fault too");
        trust("repo/sub");
        let counted: Vec<_> = found().counted().map(|(key, _)| *key).collect();
        assert_eq!(
            (counted, found().outranked.len()),
            (vec!["project", "store"], 1),
            "the nearest that is trusted"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_none_or_lies_elsewhere_is_ignored_and_named() {
        let dir = tempfile::tempdir().expect("dir");
        let repo = dir.path().join("repo");
        std::fs::create_dir_all(repo.join(".git")).expect("folder");
        let file = repo.join(NAME);
        let named = || {
            let read = RepositoryFile::of(&repo, dir.path()).expect("no error").expect("a file");
            assert_eq!((read.given.len(), read.is_trusted, read.claim()), (0, false, None));
            let _ = std::fs::remove_file(&file).or_else(|_| std::fs::remove_dir(&file));
            read.fault.expect("a fault").message
        };
        std::fs::write(dir.path().join("theirs"), "store = \"/x\"").expect("written");
        std::os::unix::fs::symlink("../theirs", &file).expect("link");
        assert!(named().contains("leads out of the repository"));
        std::os::unix::fs::symlink("/dev/zero", &file).expect("link");
        assert!(named().contains("leads out of the repository"));
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("fifo");
        assert!(named().contains("a FIFO"));
        std::fs::create_dir(&file).expect("folder");
        assert!(named().contains("a folder"));
        std::fs::write(&file, [0xff, 0xfe, b'=']).expect("written");
        assert!(named().contains("not UTF-8"));
        std::fs::write(&file, vec![b'#'; usize::try_from(MAX_SMALL_FILE_BYTES).expect("small") + 1])
            .expect("written");
        assert!(named().contains("larger than"));
        std::fs::write(&file, format!("project = {}1{}", "[".repeat(20_000), "]".repeat(20_000)))
            .expect("written");
        assert!(named().contains("TOML"));
        std::fs::write(&file, "# a\n\n[tasks]\nmiror = \"x.jsonl\"\n").expect("written");
        assert!(named().contains("unknown key `tasks.miror` in line 4"));
    }

    #[test]
    fn a_trusted_file_with_a_fault_is_an_error_with_its_line() {
        let dir = tempfile::tempdir().expect("dir");
        let repo = dir.path().join("repo");
        std::fs::create_dir_all(repo.join(".git")).expect("folder");
        for (text, wanted) in [
            ("project = \"a\"\nidentty = \"x\"\n", "unknown key `identty` in line 2"),
            ("project = \"a\"\n\nx = = 1\n", "not valid TOML in line 3"),
            ("[tasks]\nmirror = [1]\n", "line 2, gives `tasks.mirror` neither"),
        ] {
            std::fs::write(repo.join(NAME), text).expect("written");
            let read = || RepositoryFile::of(&repo, &dir.path().join("config"));
            let untrusted = read().expect("no error").expect("a file");
            let mut trusted = trust::TrustStore::default();
            trusted.add(&repo, &untrusted.digest);
            trusted.write(&dir.path().join("config")).expect("written");
            let refusal = read().expect_err("an error");
            assert!(refusal.message.contains(wanted) && refusal.message.contains(NAME), "{refusal:?}");
            assert!(!refusal.hint.is_empty());
            trusted.remove(&repo);
            trusted.write(&dir.path().join("config")).expect("written");
        }
    }
}
