//! An operation of git's that was under way where changes were captured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::invalid_refusal;
use crate::id::{short, visible};
use crate::refusal::Refusal;
use crate::repository::is_commit_id;

/// The most commits of one operation: the parents of a merge.
const MAX_COMMITS: usize = 64;
/// The longest name of a branch.
const MAX_BRANCH_LEN: usize = 1_000;

/// What git can be in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitOperation {
    /// `git merge`, resolved or begun with `--no-commit`.
    Merge,
    /// `git rebase`.
    Rebase,
    /// `git cherry-pick`.
    CherryPick,
    /// `git revert`.
    Revert,
    /// `git am`.
    Am,
    /// `git bisect`.
    Bisect,
}

/// An operation of git's that was not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnfinishedOperation {
    /// Which.
    pub operation: GitOperation,
    /// Of a merge its other parents, of a cherry-pick or a revert its commit, of a rebase the commit onto which it goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<String>,
    /// The branch that is rebased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// An operation of git's that a session on the way of a baton did not finish, and that no commit of the work is known to have finished
/// since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CarriedOperation {
    /// The baton with whose changes it was named first.
    pub baton_id: String,
    /// The commit on which those stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// What was not finished.
    pub unfinished: UnfinishedOperation,
}

impl CarriedOperation {
    /// Refuses what no capture names.
    pub fn check(&self) -> Result<(), Refusal> {
        self.unfinished.check()?;
        if self.base.as_ref().is_some_and(|id| !is_commit_id(id)) {
            return Err(invalid_refusal("an unfinished operation of git's stands on a commit that is none"));
        }
        Ok(())
    }

    /// What it was, in a sentence without a full stop.
    pub fn sentence(&self) -> String {
        let id = visible(short(&self.baton_id));
        let operation = self.unfinished.sentence();
        format!(
            "where the changes of baton {id} were made, {operation}; do so only if it is not finished yet, which what was left does not show"
        )
    }
}

impl UnfinishedOperation {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let is_bad = self.commits.len() > MAX_COMMITS || !self.commits.iter().all(|id| is_commit_id(id));
        let is_long = self.branch.as_ref().is_some_and(|branch| branch.len() > MAX_BRANCH_LEN);
        if is_bad || is_long {
            Err(invalid_refusal("an unfinished operation of git's is none"))
        } else {
            Ok(())
        }
    }

    /// What it was, and what to do after the changes are applied elsewhere, in a sentence without a full stop.
    pub fn sentence(&self) -> String {
        let commits = self.commits.join(" ");
        let begun = "git was in the middle of";
        match self.operation {
            GitOperation::Merge => format!(
                "{begun} a merge with {commits}: its result travels, not that it is a merge. Elsewhere, apply the changes, \
                 `git fetch` that commit if need be, run `git rev-parse {commits} > \"$(git rev-parse --git-path MERGE_HEAD)\"`, \
                 then `git commit`"
            ),
            GitOperation::Rebase => {
                let branch = self.branch.as_ref().map(|branch| format!(" of {}", visible(branch)));
                format!(
                    "{begun} a rebase{} onto {commits}: what is left to be picked is known in that working copy only; \
                     `git rebase --continue` there, or rebase anew elsewhere",
                    branch.unwrap_or_default()
                )
            }
            GitOperation::CherryPick => format!(
                "{begun} a cherry-pick of {commits}: elsewhere `git commit -C {commits}` keeps its author and message, and \
                 commits that were to follow are picked anew"
            ),
            GitOperation::Revert => format!(
                "{begun} a revert of {commits}: elsewhere name it in the message of the commit; commits that were to follow \
                 are reverted anew"
            ),
            GitOperation::Am => format!(
                "{begun} a series of patches (`git am`): those that follow are in that working copy only; \
                 `git am --continue` there, or apply them anew elsewhere"
            ),
            GitOperation::Bisect => {
                format!(
                    "{begun} a bisect: what was good and bad is known in that working copy only (`git bisect log`)"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_working_copy_holds_is_refused() {
        let merge = |commits: Vec<String>, branch: Option<&str>| {
            let branch = branch.map(str::to_owned);
            UnfinishedOperation { operation: GitOperation::Merge, commits, branch }.check()
        };
        assert_eq!(merge(vec!["a".repeat(40)], None), Ok(()));
        for refused in [
            merge(vec!["$(rm -r x)".into()], None),
            merge(vec!["a".repeat(40); 65], None),
            merge(Vec::new(), Some(&"b".repeat(1_001))),
        ] {
            assert_eq!(refused.expect_err("refused").code, "changes_invalid");
        }
    }
}
