//! Changes of a working copy that travel with a baton: what they are, and where their content is. The content is opaque here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use settings::{SETTINGS_FILE, is_settings};
pub use temporary::{is_temporary, temporary_name};
pub use unfinished::{CarriedOperation, GitOperation, UnfinishedOperation};

use crate::id::visible;
use crate::project::without_credentials;
use crate::refusal::Refusal;
use crate::repository::canonical_address;
use crate::time::Millis;

mod settings;
mod temporary;
mod unfinished;

/// The most bytes of a content that are kept: what a capture takes at most, compressed badly.
pub const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// The bytes of each part of a content but the last. As text it fits into one request.
pub const PART_BYTES: u64 = 768 * 1024;
/// The most files of a change.
pub const MAX_FILES: usize = 2_000;
/// The most bytes of the names of files.
const MAX_NAMES: usize = 512 * 1024;

/// What was not committed in a working copy, without its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The commit that the changes stand on; none in a repository without commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The branch that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Paths that differ from the base, untracked ones among them.
    pub files: Vec<String>,
    /// A fingerprint of what each of these paths held, in their order; none of changes that an earlier version captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<String>,
    /// What does not travel, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The SHA-256 of the content, in hex.
    pub content_hash: String,
    /// The length of the content in bytes.
    pub bytes: u64,
    /// Where the content is, if it is not in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteContent>,
    /// What git was in the middle of: index and files travel, this does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<UnfinishedOperation>,
}

/// A question for the history of a working copy: what these files were committed as.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHistoryQuery {
    /// The top folder of the working copy.
    pub folder: String,
    /// The commit after which the history begins; none for all of it.
    pub base: Option<String>,
    /// Commits that were made in the working copy since this instant count too, as far as a branch has them.
    pub since: Millis,
    /// The files, from the top folder.
    pub paths: Vec<String>,
}

/// A file as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommittedFile {
    /// Its path.
    pub path: String,
    /// A fingerprint of its content; none where it was not read.
    pub fingerprint: Option<String>,
    /// What is checked out holds the file as it was before all these commits: they were taken back by others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undone: bool,
}

/// A reference of a git remote that holds the content of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteContent {
    /// The address of the remote in its one spelling, without credentials: `github.com/acme/shop`.
    pub address: String,
    /// The full name of the reference: `refs/baton/changes/…`.
    pub reference: String,
    /// The address as git takes it, with scheme and port, without user and password: another working copy adds the remote by it. None
    /// where it is a path or names its host without a scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What the names of references with changes begin with.
pub const REFERENCES: &str = "refs/baton/changes/";

/// The schemes of an address that is kept as git takes it.
const KEPT_SCHEMES: [&str; 3] = ["https://", "http://", "ssh://"];

/// What may be known of the address of a remote by everybody who reads the ledger: never user, password or query.
pub fn shareable_url(url: &str) -> Option<String> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let is_known = KEPT_SCHEMES.iter().any(|scheme| url.starts_with(scheme));
    is_known.then(|| without_credentials(url)).filter(|url| canonical_address(url).is_some())
}

impl RemoteContent {
    /// The address by which `git remote add` adds the remote; none where the ledger does not have it whole. `is_folder`: whether this
    /// machine has such a folder.
    pub fn url_to_add(&self, is_folder: impl Fn(&str) -> bool) -> Option<String> {
        let is_github = || self.address.starts_with("github.com/");
        let is_local = || self.address.starts_with('/') && is_folder(&self.address);
        match &self.url {
            Some(url) => Some(url.clone()),
            None if is_github() => Some(format!("https://{}.git", self.address)),
            None => is_local().then(|| self.address.clone()),
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        let name = self.reference.strip_prefix(REFERENCES).unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.is_empty() || name.len() > 80 || !name.chars().all(is_plain) {
            return Err(invalid_refusal("the reference in the remote is none that a wrap makes"));
        }
        if self.address.is_empty() || self.address.len() > 2_000 || self.address.chars().any(char::is_control)
        {
            return Err(invalid_refusal("the address of the remote is none"));
        }
        // What is advised to be added is no other remote than the one that is named.
        let is_shareable = |url: &String| {
            url.len() <= 2_000
                && !url.chars().any(char::is_control)
                && shareable_url(url).as_ref() == Some(url)
                && canonical_address(url).as_ref() == Some(&self.address)
        };
        if self.url.as_ref().is_some_and(|url| !is_shareable(url)) {
            return Err(invalid_refusal(
                "the address of the remote holds more than an address, or is another one",
            ));
        }
        Ok(())
    }
}

/// A path that does not travel, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The path.
    pub path: String,
    /// A clause that follows the path.
    pub reason: String,
}

/// The reason of a file that travels, and whose mark of `git add -N` does not.
pub const MARK_LEFT: &str = "arrives untracked: its mark of `git add -N` stays behind";

impl LeftOut {
    /// In a clause. A file that arrives is not said to stay behind.
    pub fn sentence(&self) -> String {
        let clause = format!("{} {}", visible(&self.path), visible(&self.reason));
        if self.reason == MARK_LEFT { clause } else { format!("stays behind: {clause}") }
    }
}

impl Manifest {
    /// Number of parts of the content.
    pub fn parts(&self) -> i64 {
        i64::try_from(self.bytes.div_ceil(PART_BYTES)).unwrap_or(i64::MAX)
    }

    /// Refuses what no capture makes.
    pub fn check(&self) -> Result<(), Refusal> {
        check_content_hash(&self.content_hash)?;
        let is_hex = |id: &str| id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.base.as_ref().is_some_and(|id| !(40..=64).contains(&id.len()) || !is_hex(id)) {
            return Err(invalid_refusal("the base is no id of a commit"));
        }
        if self.bytes == 0 || self.bytes > MAX_BYTES {
            return Err(invalid_refusal(&format!(
                "the content has {} bytes, of at most {MAX_BYTES}",
                self.bytes
            )));
        }
        let names = self.files.iter().chain(self.left_out.iter().map(|left| &left.path));
        if self.files.len() > MAX_FILES || names.map(String::len).sum::<usize>() > MAX_NAMES {
            return Err(invalid_refusal(&format!("more than {MAX_FILES} files, or too long names")));
        }
        let is_fingerprint = |text: &String| text.len() <= 32 && text.bytes().all(|b| b.is_ascii_graphic());
        let is_one_each = self.fingerprints.is_empty() || self.fingerprints.len() == self.files.len();
        if !is_one_each || !self.fingerprints.iter().all(is_fingerprint) {
            return Err(invalid_refusal("the fingerprints are not those of its files"));
        }
        self.unfinished.iter().try_for_each(UnfinishedOperation::check)?;
        self.remote.as_ref().map_or(Ok(()), RemoteContent::check)
    }
}

/// Refuses what is no SHA-256 in hex.
pub fn check_content_hash(hash: &str) -> Result<(), Refusal> {
    let is_hash = hash.len() == 64 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if is_hash { Ok(()) } else { Err(invalid_refusal("the hash of the content is no SHA-256 in hex")) }
}

/// The refusal of changes that cannot be kept.
pub fn invalid_refusal(what: &str) -> Refusal {
    Refusal::invalid("changes_invalid", what, "capture them anew: `baton wrap --with-changes`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        Manifest { content_hash: "a".repeat(64), bytes: 1, ..Manifest::default() }
    }

    #[test]
    fn a_manifest_that_no_capture_makes_is_refused() {
        let at = |address: &str, reference: &str| {
            Some(RemoteContent { address: address.into(), reference: reference.into(), url: None })
        };
        let with_url = |url: &str| {
            let (address, reference) = ("h/x".into(), "refs/baton/changes/a".into());
            Some(RemoteContent { address, reference, url: Some(url.to_owned()) })
        };
        assert_eq!(Manifest { remote: with_url("http://h:8080/x.git"), ..manifest() }.check(), Ok(()));
        assert_eq!(manifest().check(), Ok(()));
        assert_eq!(Manifest { remote: at("h/x", "refs/baton/changes/a-1"), ..manifest() }.check(), Ok(()));
        let one = || vec!["f1".to_owned()];
        assert_eq!(Manifest { files: one(), fingerprints: one(), ..manifest() }.check(), Ok(()));
        let refused = [
            Manifest { fingerprints: one(), ..manifest() },
            Manifest { files: one(), fingerprints: vec!["a b".to_owned()], ..manifest() },
            Manifest { content_hash: "../x".into(), ..manifest() },
            Manifest { base: Some("--upload-pack=x".into()), ..manifest() },
            Manifest { remote: at("-x", "refs/baton/changes/../heads/main"), ..manifest() },
            Manifest { remote: at("", "refs/baton/changes/a"), ..manifest() },
            Manifest { remote: at("h/x", "refs/heads/main"), ..manifest() },
            Manifest { remote: with_url("https://evil/x.git"), ..manifest() },
            Manifest { remote: with_url("https://user@h/x.git"), ..manifest() },
            Manifest { remote: with_url("https://h/x.git?token=t"), ..manifest() },
            Manifest { remote: with_url("ext::sh"), ..manifest() },
            Manifest { bytes: 0, ..manifest() },
            Manifest { bytes: MAX_BYTES + 1, ..manifest() },
            Manifest { files: vec!["x".into(); MAX_FILES + 1], ..manifest() },
            Manifest { files: vec!["x".repeat(MAX_NAMES + 1)], ..manifest() },
        ];
        for manifest in refused {
            assert_eq!(manifest.check().expect_err("refused").code, "changes_invalid");
        }
    }

    #[test]
    fn an_address_is_kept_with_scheme_and_port_and_without_a_secret() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/fork.git", Some("http://127.0.0.1:8080/fork.git")),
            ("https://ann:pw@git.example/a/b.git", Some("https://git.example/a/b.git")),
            ("https://token@git.example:8443/a/b?private_token=x#y", Some("https://git.example:8443/a/b")),
            ("ssh://git@git.example:2222/a/b.git", Some("ssh://git.example:2222/a/b.git")),
            ("git@git.example:a/b.git", None),
            ("/srv/git/a.git", None),
            ("ext::sh -c x", None),
        ] {
            assert_eq!(shareable_url(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn only_an_address_that_git_takes_is_advised() {
        let at = |address: &str, url: Option<&str>| {
            let (address, reference) = (address.to_owned(), "refs/baton/changes/a".to_owned());
            RemoteContent { address, reference, url: url.map(str::to_owned) }
        };
        let is_srv = |folder: &str| folder == "/srv/a.git";
        for (remote, expected) in [
            (at("h/fork", Some("http://h:1/fork.git")), Some("http://h:1/fork.git")),
            (at("github.com/acme/shop", None), Some("https://github.com/acme/shop.git")),
            (at("/srv/a.git", None), Some("/srv/a.git")),
            (at("/home/you/a.git", None), None),
            (at("127.0.0.1/fork", None), None),
        ] {
            assert_eq!(remote.url_to_add(is_srv).as_deref(), expected, "{remote:?}");
        }
    }

    #[test]
    fn the_last_part_may_be_shorter() {
        let parts = |bytes| Manifest { bytes, ..manifest() }.parts();
        assert_eq!((parts(1), parts(PART_BYTES), parts(PART_BYTES + 1)), (1, 1, 2));
    }
}
