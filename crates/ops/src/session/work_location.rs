//! Where picked-up work lies: in which working copy it was left, and whether that is there still.

use baton_model::id::visible;
use baton_model::repository::WorkingCopy;
use serde::{Deserialize, Serialize};

/// The working copy in which work was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkLocation {
    /// Stable id of the machine.
    pub machine: String,
    /// The folder, and what was checked out in it at the end.
    #[serde(flatten)]
    pub copy: WorkingCopy,
    /// Whether that is the caller's machine.
    pub is_this_machine: bool,
    /// Whether the caller stands in it.
    pub is_here: bool,
    /// Whether the folder is there still; nothing where that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_there: Option<bool>,
    /// Whether the folder holds something else by now: another repository, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_other: bool,
    /// Files with changes that are not committed, as they are now; at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
    /// How many there are in all; nothing where that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncommitted_total: Option<usize>,
    /// Whether `docs/PROJECT.md` is not committed there, as `baton init` wrote it: no work, and not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_new_document: bool,
    /// What is checked out in the folder by now, where that is something else than what was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_checkout: Option<OtherCheckout>,
    /// Whether the packet says that files were not committed when it was left. Known of the folder itself only where it can be seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_dirty: bool,
    /// Whether the caller's working copy has that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_commit: Option<bool>,
    /// What to do to go on there; nothing where the caller is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Other working copies, also on other machines, in which sessions before left something on the way of this baton that the work here
    /// does not have, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierLocation>,
}

/// What a folder has checked out in place of what a session left there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherCheckout {
    /// The branch; nothing on a detached head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether that has the commit of the work; nothing where that cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_work: Option<bool>,
}

impl OtherCheckout {
    /// In a clause: `branch main, without that commit`.
    pub fn describe(&self) -> String {
        let name = match (&self.branch, &self.commit) {
            (Some(branch), _) => format!("branch {}", visible(branch)),
            (None, Some(commit)) => {
                format!("{} without a branch", visible(commit.get(..7).unwrap_or(commit)))
            }
            (None, None) => "no branch".to_owned(),
        };
        match self.has_work {
            Some(true) => format!("{name}, which has that commit"),
            Some(false) => format!("{name}, without that commit"),
            None => name,
        }
    }
}

/// A working copy in which an earlier session of the same chain left something that is not committed still, or that is in none of the
/// commits since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierLocation {
    /// Stable id of its machine, where that is another one than the caller's: nothing of the folder can be seen then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The folder, and what is checked out in it now.
    #[serde(flatten)]
    pub copy: WorkingCopy,
    /// Files with changes that are not committed, as they are now; at most twenty.
    pub uncommitted: Vec<String>,
    /// How many there are in all.
    pub uncommitted_total: usize,
    /// Whether the session committed on that branch, and what lies where the work is does not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_commit: bool,
    /// Whether it cannot be seen from here if what lies where the work is has that commit: it counts as one that has not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unseen: bool,
    /// Whether the caller's repository has that commit; nothing where that cannot be said, or the commit is not missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_commit: Option<bool>,
    /// Of another machine: whether files were not committed there when it was left, and go with no baton.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_dirty: bool,
}

impl WorkLocation {
    /// Whether files that are not committed lie there.
    pub(super) fn has_uncommitted(&self) -> bool {
        self.uncommitted_total.is_some_and(|total| total > 0)
    }

    /// Whether the folder is there and has something checked out that lacks the work.
    pub fn lacks_work(&self) -> bool {
        self.is_found() && self.other_checkout.as_ref().is_some_and(|other| other.has_work != Some(true))
    }

    /// Whether its advice says of the commit whether it is here.
    pub fn names_commit(&self) -> bool {
        self.advice.as_deref().is_some_and(super::work_advice::names_commit)
    }

    /// Whether the working copy was found in its folder, or where it was moved to.
    pub(super) fn is_found(&self) -> bool {
        self.is_there == Some(true)
    }
}
