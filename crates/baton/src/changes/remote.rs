//! The content of changes as a reference in a git remote that the user names: a commit without history, with one file.

use std::path::Path;

use baton_model::changes::{MAX_BYTES, REFERENCES, RemoteContent, shareable_url};
use baton_model::id::visible;
use baton_model::project::without_credentials;
use baton_model::refusal::{Kind, Refusal};
use baton_model::repository::canonical_address;
use baton_model::shell::shell_word;
use tempfile::TempDir;

use super::push_note::Owner;
use super::{PushNote, scratch, scratch_folder};
use crate::clock;
use crate::git::{self, Answer, transfer};

/// The file of the commit that holds the content.
const FILE: &str = "content";
/// Where a fetched reference is noted in the repository that is made for it.
const FETCHED: &str = "refs/baton/fetched";

/// A remote that can be reached from a working copy.
pub(super) struct ChangesRemote {
    url: String,
    address: String,
}

impl ChangesRemote {
    /// The remote of this name or address. One on the disk may bring hooks of its own, so that it has to be named in the call:
    /// a setting that holds for every repository does not.
    pub(super) fn by_name(root: &Path, name: &str, is_asked: bool) -> Result<Self, Refusal> {
        let known = remotes(root).into_iter().find(|(known, _)| known == name);
        let url = known.map_or_else(|| git::absolute_remote(root, name.to_owned()), |(_, url)| url);
        let Some(address) = canonical_address(&url).filter(|_| !url.starts_with('-') && !url.contains("::"))
        else {
            let what = format!("`{}` is no remote of this repository, and no address of one", visible(name));
            let hint = "name one that `git remote -v` lists, or an address: https://…, git@…, /path";
            return Err(Refusal::new(Kind::NotFound, "changes_remote_unknown", what, hint));
        };
        if address.starts_with('/') && !is_asked {
            let what = format!("the remote {} is a folder, and only a setting names it", visible(&address));
            let hint = "name it in the call: `baton wrap --with-changes --changes-remote REMOTE`";
            return Err(Refusal::new(Kind::Refused, "changes_remote_not_named", what, hint));
        }
        Ok(Self { url, address })
    }

    /// The remote of this repository that has this address: what the ledger says is no address to call by itself.
    pub(super) fn by_address(root: &Path, content: &RemoteContent) -> Result<Self, Refusal> {
        let address = content.address.as_str();
        let known = remotes(root);
        let of = |url: &str| canonical_address(url).unwrap_or_default();
        // The address of a folder was written without `.git` once.
        let found = known.iter().find(|(_, url)| of(url) == address);
        let found =
            found.or_else(|| known.iter().find(|(_, url)| of(url).strip_suffix(".git") == Some(address)));
        let found = found.cloned();
        let Some((_, url)) = found else {
            return Err(unknown_remote_refusal(content));
        };
        Ok(Self { url, address: address.to_owned() })
    }

    /// The address as git takes it, without a password.
    pub(super) fn shown_url(&self) -> String {
        without_credentials(&self.url)
    }

    /// Puts a content there under a name of its own.
    pub(super) fn push(
        &self,
        data_dir: &Path,
        hash: &str,
        content: &[u8],
        owner: &Owner<'_>,
    ) -> Result<RemoteContent, Refusal> {
        let bare = self.bare(&scratch(data_dir)?)?;
        let blob = self.line(&bare, &["hash-object", "-w", "--stdin"], content)?;
        let tree = self.line(&bare, &["mktree"], format!("100644 blob {blob}\t{FILE}\n").as_bytes())?;
        let commit = self.line(&bare, &["commit-tree", "-m", "Changes of a baton", &tree], b"")?;
        let mut random = [0; 6];
        clock::random(&mut random);
        let random: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let reference = format!("{REFERENCES}{}-{random}", hash.get(..16).unwrap_or(hash));
        let target = format!("{commit}:{reference}");
        // It stays until a baton names the reference, or the reference is known not to be there.
        PushNote::new(self.shown_url(), reference.clone(), owner).write(data_dir);
        let args = ["push", "--quiet", "--no-verify", "--no-signed", &self.url, &target];
        if let Err(refusal) = self.run(&bare, &args, b"") {
            if !self.has(&bare, &reference).is_ok_and(|is_there| is_there) {
                PushNote::forget(data_dir, &reference);
            }
            return Err(refusal);
        }
        Ok(RemoteContent { address: self.address.clone(), reference, url: shareable_url(&self.url) })
    }

    /// Gets a content.
    pub(super) fn fetch(&self, scratch: &Path, reference: &str) -> Result<Vec<u8>, Refusal> {
        let hint = "nothing was changed; check that `git fetch` reaches it, and repeat once it answers";
        self.fetch_content(scratch, reference).map_err(|refusal| hinted(refusal, hint))
    }

    fn fetch_content(&self, scratch: &Path, reference: &str) -> Result<Vec<u8>, Refusal> {
        let bare = self.bare(scratch)?;
        if !self.has(&bare, reference)? {
            let what = format!(
                "{} does not hold {}: the changes were dropped there",
                self.display_name(),
                visible(reference)
            );
            let hint = "the baton stays; ask who left it to leave a new one where the work was done: `baton wrap --with-changes`";
            return Err(Refusal::new(Kind::NotFound, "changes_none", what, hint));
        }
        let target = format!("{reference}:{FETCHED}");
        let args =
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", &self.url, &target];
        self.run(&bare, &args, b"")?;
        let file = format!("{FETCHED}:{FILE}");
        let size = self.line(&bare, &["cat-file", "-s", &file], b"")?;
        if !size.parse::<u64>().is_ok_and(|size| size <= MAX_BYTES) {
            let what =
                format!("{} in {} holds more than changes do", visible(reference), self.display_name());
            return Err(Refusal::invalid(
                "changes_damaged",
                what,
                "ask who left the baton to leave a new one where the work was done: `baton wrap --with-changes`",
            ));
        }
        self.run(&bare, &["cat-file", "blob", &file], b"")
    }

    /// Removes a content. One that is gone is no fault.
    pub(super) fn remove(&self, scratch: &Path, reference: &str) -> Result<(), Refusal> {
        let hint = "nothing was changed; repeat once it answers, or forget the changes here alone with `--leave-remote`";
        self.remove_content(scratch, reference).map_err(|refusal| hinted(refusal, hint))
    }

    fn remove_content(&self, scratch: &Path, reference: &str) -> Result<(), Refusal> {
        let bare = self.bare(scratch)?;
        if self.has(&bare, reference)? {
            let target = format!(":{reference}");
            self.run(&bare, &["push", "--quiet", "--no-verify", "--no-signed", &self.url, &target], b"")?;
        }
        Ok(())
    }

    fn has(&self, bare: &TempDir, reference: &str) -> Result<bool, Refusal> {
        Ok(!self.run(bare, &["ls-remote", &self.url, reference], b"")?.is_empty())
    }

    fn bare(&self, scratch: &Path) -> Result<TempDir, Refusal> {
        let unwritable = |error: std::io::Error| {
            let what = format!("{} cannot be written: {error}", visible(&scratch.display().to_string()));
            Refusal::new(
                Kind::Refused,
                "working_copy_io",
                what,
                "check the disk's free space and the permissions",
            )
        };
        let bare = scratch_folder::folder_in(scratch).map_err(unwritable)?;
        self.run(&bare, &["init", "--quiet", "--bare", "--template=", "."], b"")?;
        Ok(bare)
    }

    fn line(&self, bare: &TempDir, args: &[&str], input: &[u8]) -> Result<String, Refusal> {
        Ok(String::from_utf8_lossy(&self.run(bare, args, input)?).trim().to_owned())
    }

    fn run(&self, bare: &TempDir, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Refusal> {
        match transfer(bare.path(), args, input) {
            Ok(Answer { code: Some(0), out, .. }) => Ok(out),
            Ok(answer) => Err(self.unreachable_refusal(&answer.error)),
            Err(error) => Err(self.unreachable_refusal(&error.to_string())),
        }
    }

    fn display_name(&self) -> String {
        visible(&self.address)
    }

    /// What git says of it, in one line and without the password that an address may hold.
    fn unreachable_refusal(&self, error: &str) -> Refusal {
        let error = error.replace(&self.url, &without_credentials(&self.url));
        let lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
        let why = lines.take(3).collect::<Vec<_>>().join("; ");
        let what = format!("the remote {} did not do it: {}", self.display_name(), visible(&why));
        let hint = match why.contains("not allowed") {
            true => {
                "nothing was changed; Baton speaks https, http, ssh and paths: name the remote by one of these"
            }
            false => {
                "nothing was changed; check that `git push` reaches it, or keep the changes in the ledger: `--with-changes --changes-remote ledger`"
            }
        };
        Refusal::new(Kind::Outside, "changes_remote_failed", what, hint)
    }
}

/// The refusal where this repository has no such remote. Its command is complete only where the whole address is known.
fn unknown_remote_refusal(content: &RemoteContent) -> Refusal {
    let address = visible(&content.address);
    let what = format!("the changes are kept in {address}, which is no remote of this repository");
    let url = content.url_to_add(|folder| Path::new(folder).is_dir());
    let hint = match url.as_deref().map(|url| shell_word(&visible(url))) {
        Some(url) if url.starts_with("ssh:") => format!(
            "add it, if you trust it: `git remote add NAME {url}`, with USER@ before the host where yours there is another, and repeat"
        ),
        Some(url) => format!("add it, if you trust it: `git remote add NAME {url}`, and repeat"),
        None => {
            let whose = match content.address.starts_with('/') {
                true => "that is a folder of another machine",
                false => "the ledger has no more of its address",
            };
            format!(
                "{whose}: `git remote get-url NAME` prints it where the work was left, so ask whoever left it for an address that you reach; \
                 add it, if you trust it: `git remote add NAME ADDRESS`, and repeat"
            )
        }
    };
    Refusal::new(Kind::NotFound, "changes_remote_unknown", what, hint)
}

/// A refusal of a remote that did not answer, with what to do in this case.
fn hinted(refusal: Refusal, hint: &str) -> Refusal {
    match refusal.code {
        "changes_remote_failed" => Refusal { hint: hint.to_owned(), ..refusal },
        _ => refusal,
    }
}

/// Whether a remote holds a reference. A refusal: it did not answer.
pub(crate) fn is_in_remote(data_dir: &Path, url: &str, reference: &str) -> Result<bool, Refusal> {
    let address = canonical_address(url).unwrap_or_else(|| url.to_owned());
    let remote = ChangesRemote { url: url.to_owned(), address };
    remote.has(&remote.bare(&scratch(data_dir)?)?, reference)
}

/// The remotes of a repository: name and address to push to. A path is absolute.
fn remotes(root: &Path) -> Vec<(String, String)> {
    let names = git::read(root, &["remote"]).unwrap_or_default();
    let url = |name: &str| {
        let url = git::read(root, &["remote", "get-url", "--push", "--", name])?;
        Some((name.to_owned(), git::absolute_remote(root, url.trim().to_owned())))
    };
    names.lines().filter_map(url).collect()
}
