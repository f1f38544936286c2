//! Calls of git, in a scratch area whose index and objects are not those of the repository.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Fault;
use super::files::{fault, from_bytes, inside, metadata, read_entry, text};
use crate::git::{Answer, Call, GitRunner};

/// Settings of every call: no hook, no monitor, no index beside the one that is named.
const SETTINGS: [(&str, &str); 8] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.alternateRefsCommand", "true"),
    ("i18n.commitEncoding", "UTF-8"),
    ("merge.renormalize", "false"),
    ("gc.auto", "0"),
];

/// Author and date of the commits: the same changes give the same objects.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "baton"),
    ("GIT_AUTHOR_EMAIL", "baton@localhost"),
    ("GIT_AUTHOR_DATE", "@0 +0000"),
    ("GIT_COMMITTER_NAME", "baton"),
    ("GIT_COMMITTER_EMAIL", "baton@localhost"),
    ("GIT_COMMITTER_DATE", "@0 +0000"),
];

/// A working copy and its git folder.
pub(crate) struct Repo<'a> {
    git: &'a dyn GitRunner,
    pub root: PathBuf,
    pub git_dir: PathBuf,
    objects: PathBuf,
    settings: Vec<(String, String)>,
    /// The filter drivers that do not run here.
    filters: BTreeSet<String>,
}

/// Where a call finds its index and puts its objects; none of them stands for the repository's own.
#[derive(Default)]
pub(crate) struct Scratch {
    pub index: Option<PathBuf>,
    pub objects: Option<PathBuf>,
}

/// A path of the index that git is told not to look at.
pub(crate) struct HiddenPath {
    pub path: Vec<u8>,
    /// Whether the file is another than the index has, or is not there.
    pub is_changed: bool,
    /// Whether it lies outside a sparse checkout: git looks at it as soon as the file is there.
    pub is_outside: bool,
}

impl<'a> Repo<'a> {
    pub(crate) fn open(git: &'a dyn GitRunner, root: &Path) -> Result<Self, Fault> {
        let mut repo = Repo {
            git,
            root: root.to_owned(),
            git_dir: PathBuf::new(),
            objects: PathBuf::new(),
            settings: SETTINGS.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            filters: BTreeSet::new(),
        };
        let none = Scratch::default();
        repo.git_dir = repo.path(&["rev-parse", "--absolute-git-dir"])?;
        repo.objects = repo.path(&["rev-parse", "--git-path", "objects"])?;
        let keys = repo.run(&none, &["config", "--list", "--name-only", "-z"], b"")?;
        let keys: Vec<String> = items(&keys).map(|key| String::from_utf8_lossy(key).into_owned()).collect();
        for key in keys {
            let value = match key.rsplit_once('.') {
                Some((driver, "required")) if driver.starts_with("filter.") => "false",
                Some((driver, "clean" | "smudge" | "process")) if driver.starts_with("filter.") => "",
                // A driver that fails is a conflict; one that is empty would pass for a merge.
                Some((driver, "driver")) if driver.starts_with("merge.") => "false",
                _ => continue,
            };
            let driver = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.'));
            repo.filters.extend(driver.map(|(name, _)| name.to_owned()));
            repo.settings.push((key, value.to_owned()));
        }
        Ok(repo)
    }

    /// The repository of a submodule, guarded like this one.
    pub(super) fn inner(&self, path: &[u8]) -> Result<Self, Fault> {
        Self::open(self.git, &inside(&self.root, path)?)
    }

    /// With line ends made alike before a merge compares them, as git has them in its objects.
    pub(crate) fn set_renormalized(&mut self, is_renormalized: bool) {
        for (_, value) in self.settings.iter_mut().filter(|(key, _)| key == "merge.renormalize") {
            *value = is_renormalized.to_string();
        }
    }

    /// Of these paths those whose content a filter converts, which does not run here, and whose file is the one that the index
    /// knows by size and time. Their content says nothing.
    pub(crate) fn unchanged_by_time(
        &self,
        scratch: &Scratch,
        paths: &[Vec<u8>],
    ) -> Result<BTreeSet<Vec<u8>>, Fault> {
        let mut found = BTreeSet::new();
        if paths.is_empty() || self.filters.is_empty() {
            return Ok(found);
        }
        let args = ["check-attr", "-z", "--stdin", "filter"];
        let attributes = self.run(scratch, &args, &paths.join(&0))?;
        let attributes: Vec<&[u8]> = attributes.split(|byte| *byte == 0).collect();
        for facts in attributes.chunks_exact(3) {
            let [path, _, driver] = facts else { continue };
            if self.filters.contains(&String::from_utf8_lossy(driver).into_owned())
                && self.is_as_in_index(path)?
            {
                found.insert(path.to_vec());
            }
        }
        Ok(found)
    }

    /// Whether a file has the size and the time that the index knows of it.
    fn is_as_in_index(&self, path: &[u8]) -> Result<bool, Fault> {
        let Some(meta) = metadata(&self.root, path)? else { return Ok(false) };
        let name = from_bytes(path)?;
        let Some(name) = name.to_str() else { return Ok(false) };
        // The repository's own index: in a copy that was refreshed without the filter, git has taken the size back.
        let listed = self.line(
            &Scratch::default(),
            &["ls-files", "--debug", "--", &format!(":(literal){name}")],
            b"",
        )?;
        Ok(crate::git::is_listed_as(&listed, &meta))
    }

    /// Of these paths those whose line ends or encoding differ between git's objects and the disk.
    pub(crate) fn converted(&self, scratch: &Scratch, paths: &[&[u8]]) -> Result<BTreeSet<Vec<u8>>, Fault> {
        let setting = |key: &str| {
            let answer = self.answer(&Scratch::default(), &["config", "--get", key], b"")?;
            Ok::<_, Fault>(String::from_utf8_lossy(&answer.out).trim().to_ascii_lowercase())
        };
        if setting("core.autocrlf")? == "true" || setting("core.eol")? == "crlf" {
            return Ok(paths.iter().map(|path| path.to_vec()).collect());
        }
        let args = ["check-attr", "-z", "--stdin", "eol", "working-tree-encoding", "ident"];
        let attributes = self.run(scratch, &args, &paths.join(&0))?;
        let attributes: Vec<&[u8]> = attributes.split(|byte| *byte == 0).collect();
        let mut found = BTreeSet::new();
        for facts in attributes.chunks_exact(3) {
            let [path, name, value] = facts else { continue };
            let is_as_kept = match *name {
                b"eol" => *value != b"crlf",
                _ => matches!(*value, b"unspecified" | b"unset"),
            };
            if !is_as_kept {
                found.insert(path.to_vec());
            }
        }
        Ok(found)
    }

    /// Paths of the index that git is told not to look at (`skip-worktree`, `assume-unchanged`).
    pub(crate) fn hidden(&self, scratch: &Scratch) -> Result<Vec<HiddenPath>, Fault> {
        let listed = self.run(scratch, &["ls-files", "-v", "-s", "-z"], b"")?;
        let flagged = |item: &&[u8]| item.first().is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S');
        let mut items = items(&listed).filter(flagged).peekable();
        // Of files outside a sparse checkout, git takes those that are there for what they are.
        let is_sparse = items.peek().is_some() && self.is_sparse()?;
        let mut found = Vec::new();
        for item in items {
            let Some(at) = item.iter().position(|byte| *byte == b'\t') else { continue };
            let (facts, path) = (text(&item[..at]), &item[at + 1..]);
            let is_outside = is_sparse && item.starts_with(b"S");
            let is_changed = match read_entry(&self.root, path)? {
                Some((_, bytes)) => {
                    let id = self.line(&Scratch::default(), &["hash-object", "--stdin"], &bytes)?;
                    !facts.split(' ').any(|word| word == id)
                }
                None => !is_outside,
            };
            found.push(HiddenPath { path: path.to_vec(), is_changed, is_outside });
        }
        Ok(found)
    }

    fn is_sparse(&self) -> Result<bool, Fault> {
        let answer = self.answer(&Scratch::default(), &["config", "--bool", "core.sparseCheckout"], b"")?;
        Ok(answer.out.trim_ascii() == b"true")
    }

    fn path(&self, args: &[&str]) -> Result<PathBuf, Fault> {
        let mut line = self.run(&Scratch::default(), args, b"")?;
        line.pop_if(|byte| *byte == b'\n');
        Ok(self.root.join(from_bytes(&line)?))
    }

    /// A folder for objects that also finds those of the repository.
    pub(crate) fn quarantine(&self, dir: &Path) -> Result<PathBuf, Fault> {
        let objects = dir.join("objects");
        let own = self.objects.canonicalize().map_err(fault("read", &self.objects))?;
        let line = own.as_os_str().as_encoded_bytes();
        if line.contains(&b'\n') {
            return Err(Fault::Invalid("the path of the repository holds a newline".into()));
        }
        std::fs::create_dir_all(objects.join("info")).map_err(fault("create", &objects))?;
        std::fs::write(objects.join("info/alternates"), line).map_err(fault("write", &objects))?;
        Ok(objects)
    }

    /// The output of a call; a failure is a fault.
    pub(crate) fn run(&self, scratch: &Scratch, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Fault> {
        let answer = self.answer(scratch, args, input)?;
        if answer.code == Some(0) {
            return Ok(answer.out);
        }
        let message = answer.error.trim().to_owned();
        Err(Fault::Git { command: args.first().copied().unwrap_or_default().into(), message })
    }

    /// The output of a call that is one line.
    pub(crate) fn line(&self, scratch: &Scratch, args: &[&str], input: &[u8]) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(&self.run(scratch, args, input)?).trim().to_owned())
    }

    pub(crate) fn answer(&self, scratch: &Scratch, args: &[&str], input: &[u8]) -> Result<Answer, Fault> {
        let mut env: Vec<(String, OsString)> =
            IDENTITY.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        for (name, path) in [("GIT_INDEX_FILE", &scratch.index), ("GIT_OBJECT_DIRECTORY", &scratch.objects)] {
            env.extend(path.as_ref().map(|path| (name.into(), path.into())));
        }
        env.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        env.push(("GIT_CONFIG_COUNT".into(), self.settings.len().to_string().into()));
        for (n, (key, value)) in self.settings.iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{n}"), key.into()));
            env.push((format!("GIT_CONFIG_VALUE_{n}"), value.into()));
        }
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let call = Call { args, env, input: input.to_owned() };
        self.git.call(&self.root, &call).map_err(fault("run git in", &self.root))
    }

    /// The commit that is checked out.
    pub(crate) fn head(&self) -> Result<Option<String>, Fault> {
        let args = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let answer = self.answer(&Scratch::default(), &args, b"")?;
        let id = String::from_utf8_lossy(&answer.out).trim().to_owned();
        Ok((answer.code == Some(0)).then_some(id))
    }

    /// The tree of a commit; without one the empty tree.
    pub(crate) fn tree(&self, scratch: &Scratch, commit: Option<&str>) -> Result<String, Fault> {
        match commit {
            Some(id) => self.line(scratch, &["rev-parse", "--verify", &format!("{id}^{{tree}}")], b""),
            None => self.line(scratch, &["mktree"], b""),
        }
    }

    /// What `git status` says of tracked files, an item each. Submodules are left out, and a rename is two items.
    pub(crate) fn tracked_status(&self, scratch: &Scratch) -> Result<Vec<u8>, Fault> {
        let args = [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=no",
            "--ignore-submodules=all",
            "--no-renames",
        ];
        self.run(scratch, &args, b"")
    }

    /// What differs between two trees.
    pub(crate) fn diff(&self, scratch: &Scratch, from: &str, to: &str) -> Result<Vec<Entry>, Fault> {
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to, "--"];
        entries(&self.run(scratch, &args, b"")?)
    }
}

/// A path that differs between two trees, or between the index and the working tree.
pub(crate) struct Entry {
    pub path: Vec<u8>,
    pub old_mode: String,
    pub mode: String,
    pub old_id: String,
    pub id: String,
    pub status: String,
}

/// Reads `--raw -z`.
fn entries(raw: &[u8]) -> Result<Vec<Entry>, Fault> {
    let (mut found, mut parts) = (Vec::new(), items(raw));
    while let Some(facts) = parts.next() {
        let facts = String::from_utf8_lossy(facts).into_owned();
        let words: Vec<&str> = facts.trim_start_matches(':').split(' ').collect();
        let (&[old_mode, mode, old_id, id, status], Some(path)) = (words.as_slice(), parts.next()) else {
            return Err(Fault::Invalid(format!("git answered {facts:?}")));
        };
        let [old_mode, mode, old_id, id, status] = [old_mode, mode, old_id, id, status].map(str::to_owned);
        found.push(Entry { path: path.to_owned(), old_mode, mode, old_id, id, status });
    }
    Ok(found)
}

/// The items of a list that ends each with NUL.
pub(crate) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|item| !item.is_empty())
}

/// The mode of a submodule.
pub(crate) const SUBMODULE: &str = "160000";
