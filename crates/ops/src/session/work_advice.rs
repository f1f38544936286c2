//! What to do to go on where work was left, in words that name commands to paste.

use baton_model::id::{short, visible};
use baton_model::repository::{Repository, WorkingCopy};
use baton_model::shell::shell_word;

use super::work_location::WorkLocation;

/// How an advice begins for a folder that no worktree is: where it went, its repository says by itself.
const RENAMED: &str = "if you renamed it, run any `baton` command there once";
/// The advice to a caller who stands in the folder of the work, and in another repository: it knows nothing of the branch of the work.
pub(super) const OTHER_REPOSITORY: &str = "another repository lies in this folder by now; if you moved the one of the work, run any \
    `baton` command where it is once, and ask again";
/// How an advice ends where no baton has what is not committed.
const THERE_ONLY: &str = "; what is not committed is there only";

impl WorkLocation {
    /// Says that a baton has what is not committed there.
    pub(super) fn is_not_only_there(&mut self, baton_id: &str) {
        if let Some(begin) = self.advice.as_deref().and_then(|advice| advice.strip_suffix(THERE_ONLY)) {
            self.advice = Some(format!("{begin}; what is not committed is with baton {baton_id}, too"));
        }
    }

    /// Whether the advice is to check out the branch as it is here.
    pub(super) fn names_switch(&self) -> bool {
        let switch =
            self.copy.branch.as_deref().map(|branch| format!("`git switch {}`", branch_word(branch)));
        let advice = self.advice.as_deref().filter(|advice| !advice.contains("`git merge "));
        switch.zip(advice).is_some_and(|(switch, advice)| advice.contains(&switch))
    }

    /// Says that the branch does not have the commit of the work here, and how it comes in.
    pub(super) fn is_behind_on(&mut self, branch: &str, commit: &str) {
        let switch = format!("`git switch {}`", branch_word(branch));
        let commit = commit.get(..12).unwrap_or(commit);
        if let Some(advice) = self.advice.as_mut().filter(|_| is_hex(commit)) {
            let then = format!("{switch}, then `git merge {commit}`, which that branch does not have here");
            *advice = advice.replacen(&switch, &then, 1);
        }
    }

    /// Says in which working copy of the caller's repository the branch is checked out, where the advice is to check it out.
    pub(super) fn is_checked_out_in(&mut self, folder: &str, branch: &str) {
        let branch = branch_word(branch);
        let switch = format!("`git switch {branch}`");
        let anew = format!("`git worktree add {} {branch}`, or ", shell_word(&self.copy.root));
        // Another repository lies there: git still has its worktree in that folder, and gives the branch to no other one by itself.
        let is_taken = self.holds_other && folder == self.copy.root;
        if let Some(advice) = self.advice.as_mut().filter(|advice| advice.contains(&switch)) {
            let there = match is_taken {
                true => format!("`git worktree add --force NEWPATH {branch}`"),
                false => format!("checked out in {0}: `cd {0}`", shell_word(folder)),
            };
            *advice =
                advice.replace("`git worktree prune`, then ", "").replace(&anew, "").replace(&switch, &there);
        }
    }

    /// Adds to the advice what a baton has of what was there.
    pub(super) fn name_baton(&mut self, baton_id: &str) {
        if let Some(advice) = &mut self.advice {
            advice.push_str(&format!(
                "; what had been applied there is with baton {} still: `baton changes apply {baton_id}`",
                short(baton_id)
            ));
        }
    }
}

/// What to do to go on where the work lies. `own`: the caller's working copy. `travel`: the uncommitted changes of the work go with the
/// baton.
pub(super) fn advice(
    work: &WorkLocation,
    own: Option<&Repository>,
    travel: bool,
    has_branch: impl Fn(&str) -> Option<bool> + Clone,
) -> Option<String> {
    let root = shell_word(&work.copy.root);
    let switch = if work.lacks_work() { switch_to(&work.copy, has_branch.clone()) } else { None };
    if work.is_here {
        return switch.map(|switch| format!("{switch} brings it back here"));
    }
    if work.is_found() {
        let then = switch.map(|switch| format!(", then {switch}")).unwrap_or_default();
        let only = match work.uncommitted_total {
            Some(0) | None => "",
            Some(_) if travel => {
                return Some(format!("or go on there, where they lie, too: `cd {root}`{then}"));
            }
            Some(_) => THERE_ONLY,
        };
        return Some(format!("go on there: `cd {root}`{then}{only}"));
    }
    if work.is_there.is_none() && work.is_this_machine {
        return Some(format!("go on there, if it still is: `cd {root}`"));
    }
    let rest = if travel {
        "; what was not committed goes with the baton: `baton pickup --apply` brings it, `baton changes apply` once it is held"
    } else if work.was_dirty && own.is_some_and(|own| own.remote.is_none()) {
        DIRTY_THERE_WITHOUT_REMOTE
    } else if work.was_dirty {
        DIRTY_THERE
    } else {
        ""
    };
    let left = what_is_left(work, own, has_branch);
    // Where it is said already that the work lies there, the advice begins with what to do.
    let left = match left.strip_prefix(ELSEWHERE) {
        Some(advice) => advice.trim_start_matches("; ").trim_start_matches(", and ").to_owned(),
        None => left,
    };
    if work.was_dirty && !travel && left.ends_with(GO_ON_HERE) {
        let begin = left.trim_end_matches(GO_ON_HERE).trim_end_matches(": ");
        return Some(format!("{begin}{rest}, then {GO_ON_HERE}"));
    }
    Some(left + rest)
}

/// Whether an advice says whether the commit of the work is here.
pub(super) fn names_commit(advice: &str) -> bool {
    advice.contains("its commit ")
}

/// How an advice ends for a caller who has all that was committed.
const GO_ON_HERE: &str = "go on here";
/// How it ends where no baton has what was not committed on another machine.
const DIRTY_THERE: &str = "; what was not committed is on that machine only: commit and push it there";

/// The same in a clone without a remote: nothing that is pushed arrives there.
const DIRTY_THERE_WITHOUT_REMOTE: &str =
    "; what was not committed is on that machine only: commit it there before you fetch";

/// A branch in a command to paste. Another session said its name, and git allows words of a shell in one.
fn branch_word(branch: &str) -> String {
    shell_word(&visible(branch))
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The command that checks out what was left in a folder.
fn switch_to(copy: &WorkingCopy, has_branch: impl Fn(&str) -> Option<bool>) -> Option<String> {
    let commit =
        copy.commit.as_deref().filter(|id| is_hex(id)).map(|commit| commit.get(..12).unwrap_or(commit));
    match (copy.branch.as_deref(), commit) {
        (Some(branch), commit) if has_branch(branch) != Some(false) || commit.is_none() => {
            Some(format!("`git switch {}`", branch_word(branch)))
        }
        (Some(branch), Some(commit)) => {
            Some(format!("`git switch -c {0} {commit}` (branch {0} is gone)", branch_word(branch)))
        }
        (None, commit) => commit.map(|commit| format!("`git switch --detach {commit}`")),
        (Some(_), None) => None,
    }
}

/// What is said of work on another machine, in a clause.
const ELSEWHERE: &str = "it is on another machine";

/// What is left of work whose folder is gone, holds something else, or is on another machine.
fn what_is_left(
    work: &WorkLocation,
    own: Option<&Repository>,
    has_branch: impl Fn(&str) -> Option<bool>,
) -> String {
    let branch = work.copy.branch.as_deref();
    let commit = work.copy.commit.as_deref().filter(|id| is_hex(id));
    let commit = commit.map(|commit| commit.get(..12).unwrap_or(commit));
    let own_branch = own.and_then(|own| own.branch.as_deref()).filter(|own| branch == Some(*own));
    let is_left = branch.and_then(has_branch);
    let gone = match (work.is_this_machine, work.holds_other) {
        (true, true) => "the folder holds something else by now",
        (true, false) if work.copy.is_worktree => "the folder is gone",
        (true, false) => &format!("{RENAMED}; the folder is gone"),
        (false, _) => ELSEWHERE,
    };
    if let Some(advice) = own_branch.and_then(|branch| on_own_branch(work, gone, branch, own)) {
        return advice;
    }
    let has_remote = own.is_none_or(|own| own.remote.is_some());
    match (branch, is_left, work.has_commit, commit) {
        (Some(branch), _, Some(false), Some(commit)) if !work.is_this_machine && !has_remote => {
            let branch = branch_word(branch);
            format!(
                "{gone}, and its commit {commit} is not here: `git bundle create FILE {branch}` there, then `git fetch FILE {branch}` here{}",
                then_check_out(own_branch.is_some(), is_left, &branch, commit)
            )
        }
        (Some(branch), _, Some(false), Some(commit)) if !work.is_this_machine => {
            let branch = branch_word(branch);
            format!(
                "{gone}, and its commit {commit} is not here: push it there (`git push origin {branch}`), then `git fetch origin {branch}` here{}",
                then_check_out(own_branch.is_some(), is_left, &branch, commit)
            )
        }
        (Some(branch), Some(true), Some(false), Some(commit)) => {
            let branch = branch_word(branch);
            format!(
                "{gone}; its branch {branch} is left here, without its commit {commit}: `git switch {branch}`"
            )
        }
        (Some(branch), Some(true), _, _) => branch_is_left(work, gone, &branch_word(branch)),
        (_, _, Some(true), Some(commit)) => {
            format!("{gone}; its commit is here: `git switch --detach {commit}`")
        }
        (Some(branch), ..) if !has_remote => {
            format!("{gone}, and branch {} is not here", visible(branch))
        }
        (Some(branch), ..) => {
            format!(
                "{gone}, and branch {0} is not here: `git fetch origin {0}`, once it is pushed",
                branch_word(branch)
            )
        }
        (None, _, _, None) => format!("{gone}, and what was checked out there is not known"),
        (None, ..) if !has_remote => format!("{gone}, and its commit is not here"),
        (None, ..) => format!("{gone}, and its commit is not here: `git fetch` it, once it is pushed"),
    }
}

/// How a working copy comes to a commit once that is fetched: a branch that is here from before is older.
fn then_check_out(is_own: bool, is_left: Option<bool>, branch: &str, commit: &str) -> String {
    match is_left {
        _ if is_own => format!(", then `git merge {commit}`"),
        Some(true) => format!(", then `git switch {branch}`, then `git merge {commit}`"),
        Some(false) => format!(", then `git switch -c {branch} {commit}`"),
        None => String::new(),
    }
}

/// What is left for a caller who has the branch of the work checked out; nothing where it is as for any other.
fn on_own_branch(work: &WorkLocation, gone: &str, branch: &str, own: Option<&Repository>) -> Option<String> {
    let commit = work.copy.commit.as_deref().filter(|id| is_hex(id))?;
    let commit = commit.get(..12).unwrap_or(commit);
    let is_checked_out = own.is_some_and(|own| own.commit == work.copy.commit);
    let name = branch_word(branch);
    match work.has_commit {
        Some(true) if is_checked_out => Some(format!(
            "{gone}; its commit {commit} is checked out here, on its branch {name}: {GO_ON_HERE}"
        )),
        Some(true) => Some(format!(
            "{gone}; its commit {commit} is here: `git merge {commit}` brings it into {name}, unless that has it already"
        )),
        // There is no other branch to switch to.
        Some(false) if work.is_this_machine => Some(format!(
            "{gone}; its branch {} is checked out here, without its commit {commit}: that is where the folder went",
            visible(branch)
        )),
        _ => None,
    }
}

/// How to go on with a branch whose working copy is not in its folder.
fn branch_is_left(work: &WorkLocation, gone: &str, branch: &str) -> String {
    let is_worktree = work.is_this_machine && work.copy.is_worktree;
    // A prune forgets a worktree that was only moved, so that it cannot be repaired any more.
    let moved = match is_worktree {
        true => {
            "; if it was moved by hand, `git worktree repair NEWPATH` finds it again, unless it was pruned; otherwise"
        }
        false => ";",
    };
    // Git takes the branch for checked out in a worktree whose folder is gone.
    let prune = if is_worktree { "`git worktree prune`, then " } else { "" };
    // The path of another machine says nothing here.
    let anew = match work.is_this_machine && !work.holds_other {
        true => format!("`git worktree add {} {branch}`, or ", shell_word(&work.copy.root)),
        false => String::new(),
    };
    format!("{gone}{moved} its branch {branch} is left here: {prune}{anew}`git switch {branch}`")
}

#[cfg(test)]
mod tests {
    use super::super::work_location::OtherCheckout;
    use super::*;

    #[track_caller]
    fn check(work: &WorkLocation, is_left: Option<bool>, expected: &str) {
        let copy = WorkingCopy {
            root: "/src/shop".into(),
            branch: Some("main".into()),
            commit: Some("1a2b3c4d5e6f7a8b".into()),
            ..work.copy.clone()
        };
        let work = WorkLocation { copy, ..work.clone() };
        assert_eq!(advice(&work, None, false, |_| is_left).as_deref(), Some(expected));
    }

    fn not_found() -> WorkLocation {
        WorkLocation {
            machine: "m".into(),
            copy: WorkingCopy::default(),
            is_this_machine: true,
            is_here: false,
            is_there: Some(false),
            holds_other: false,
            uncommitted: Vec::new(),
            uncommitted_total: None,
            has_new_document: false,
            other_checkout: None,
            was_dirty: false,
            has_commit: Some(true),
            advice: None,
            earlier: Vec::new(),
        }
    }

    #[test]
    fn a_branch_that_another_working_copy_has_is_not_checked_out_twice() {
        let mut work = not_found();
        for left in [
            "`git switch main`",
            "`git worktree prune`, then `git worktree add '' main`, or `git switch main`",
        ] {
            work.advice = Some(format!("its branch main is left here: {left}; the rest"));
            work.is_checked_out_in("/src/main copy", "main");
            let expected = "its branch main is left here: checked out in '/src/main copy': `cd '/src/main copy'`; the rest";
            assert_eq!(work.advice.as_deref(), Some(expected));
        }
        // Another repository lies in the folder of which git believes that it has the branch.
        (work.holds_other, work.copy.root) = (true, "/src/fix".into());
        work.advice = Some("its branch fix is left here: `git worktree prune`, then `git switch fix`".into());
        work.is_checked_out_in("/src/fix", "fix");
        let expected = "its branch fix is left here: `git worktree add --force NEWPATH fix`";
        assert_eq!(work.advice.as_deref(), Some(expected));
    }

    #[test]
    fn what_is_advised_can_be_done_where_the_caller_stands() {
        let gone = not_found();
        let here = "its branch main is left here";
        check(
            &gone,
            Some(true),
            &format!(
                "{RENAMED}; the folder is gone; {here}: `git worktree add /src/shop main`, or `git switch main`"
            ),
        );
        let worktree = WorkingCopy { is_worktree: true, ..WorkingCopy::default() };
        check(
            &WorkLocation { copy: worktree, ..gone.clone() },
            Some(true),
            &format!(
                "the folder is gone; if it was moved by hand, `git worktree repair NEWPATH` finds it again, unless it was pruned; otherwise {here}: \
                 `git worktree prune`, then `git worktree add /src/shop main`, or `git switch main`"
            ),
        );
        let other = WorkLocation { holds_other: true, ..gone.clone() };
        check(
            &other,
            Some(true),
            &format!("the folder holds something else by now; {here}: `git switch main`"),
        );
        let behind = WorkLocation { has_commit: Some(false), ..gone.clone() };
        check(
            &behind,
            Some(true),
            &format!(
                "{RENAMED}; the folder is gone; {here}, without its commit 1a2b3c4d5e6f: `git switch main`"
            ),
        );
        let far = WorkLocation { is_this_machine: false, is_there: None, ..gone };
        check(&far, Some(true), &format!("{here}: `git switch main`"));
        let own = |commit: &str| Repository {
            remote: Some("https://git.example/a/shop.git".into()),
            branch: Some("main".into()),
            commit: Some(commit.into()),
            ..Repository::default()
        };
        let there = WorkingCopy {
            branch: Some("main".into()),
            commit: Some("1a2b3c4d5e6f7a8b".into()),
            ..WorkingCopy::default()
        };
        let fetched = WorkLocation { copy: there, ..far.clone() };
        let advice =
            |commit: &str| advice(&fetched, Some(&own(commit)), false, |_| Some(true)).expect("advice");
        assert!(
            advice("0000").contains("`git merge 1a2b3c4d5e6f` brings it into main"),
            "{}",
            advice("0000")
        );
        assert!(advice("1a2b3c4d5e6f7a8b").ends_with("go on here"), "{}", advice("1a2b3c4d5e6f7a8b"));
        let unpushed = WorkLocation { has_commit: Some(false), ..far };
        for (is_left, then) in [
            (Some(true), "`git switch main`, then `git merge 1a2b3c4d5e6f`"),
            (Some(false), "`git switch -c main 1a2b3c4d5e6f`"),
        ] {
            let expected = format!(
                "its commit 1a2b3c4d5e6f is not here: push it there (`git push origin main`), then \
                 `git fetch origin main` here, then {then}"
            );
            check(&unpushed, is_left, &expected);
        }
    }

    #[test]
    fn without_a_remote_nothing_is_advised_that_goes_through_one() {
        let copy = |branch: Option<&str>, commit: Option<&str>| WorkingCopy {
            root: "/src/shop".into(),
            branch: branch.map(str::to_owned),
            commit: commit.map(str::to_owned),
            ..WorkingCopy::default()
        };
        let far = WorkLocation {
            copy: copy(Some("main"), Some("1a2b3c4d5e6f7a8b")),
            is_this_machine: false,
            is_there: None,
            has_commit: Some(false),
            ..not_found()
        };
        let alone = Repository { branch: Some("main".into()), ..Repository::default() };
        let text = |work: &WorkLocation| advice(work, Some(&alone), false, |_| Some(false)).expect("advice");
        assert_eq!(
            text(&far),
            "its commit 1a2b3c4d5e6f is not here: `git bundle create FILE main` there, then `git fetch FILE main` here, then \
             `git merge 1a2b3c4d5e6f`"
        );
        for copy in [copy(Some("fix"), None), copy(None, Some("1a2b3c4d5e6f7a8b")), copy(None, None)] {
            let gone = WorkLocation { copy, has_commit: None, ..not_found() };
            assert!(!text(&gone).contains("git "), "{}", text(&gone));
        }
        let dirty = WorkLocation { was_dirty: true, ..far };
        assert!(!text(&dirty).contains("push"), "{}", text(&dirty));
    }

    #[test]
    fn nobody_is_sent_to_the_branch_on_which_one_stands() {
        let copy = WorkingCopy {
            root: "/src/shop".into(),
            branch: Some("main".into()),
            commit: Some("1a2b3c4d5e6f7a8b".into()),
            ..WorkingCopy::default()
        };
        let moved = WorkLocation { copy, has_commit: Some(false), ..not_found() };
        let own =
            Repository { branch: Some("main".into()), commit: Some("0000".into()), ..Repository::default() };
        let advice = advice(&moved, Some(&own), false, |_| Some(true)).expect("advice");
        assert!(advice.starts_with(RENAMED) && !advice.contains("git switch"), "{advice}");
    }

    #[test]
    fn the_name_of_a_branch_is_one_word_of_the_command() {
        let other = OtherCheckout { branch: Some("main".into()), commit: None, has_work: Some(false) };
        let copy = WorkingCopy {
            branch: Some("fix;reboot".into()),
            commit: Some("$(reboot)".into()),
            ..WorkingCopy::default()
        };
        let work = WorkLocation {
            copy,
            is_here: true,
            is_there: Some(true),
            other_checkout: Some(other),
            ..not_found()
        };
        let advice = advice(&work, None, false, |_| Some(true)).expect("advice");
        assert_eq!(advice, "`git switch 'fix;reboot'` brings it back here");
        let gone = super::advice(&work, None, false, |_| Some(false)).unwrap_or_default();
        assert!(!gone.contains("$(reboot)"), "{gone}");
    }

    #[test]
    fn what_goes_with_the_baton_is_not_said_to_be_there_only() {
        let work = WorkLocation {
            machine: "m".into(),
            copy: WorkingCopy { root: "/src/shop".into(), ..WorkingCopy::default() },
            is_this_machine: true,
            is_here: false,
            is_there: Some(true),
            holds_other: false,
            uncommitted: vec!["a".into()],
            uncommitted_total: Some(1),
            has_new_document: false,
            other_checkout: None,
            was_dirty: false,
            has_commit: None,
            advice: None,
            earlier: Vec::new(),
        };
        assert_eq!(
            advice(&work, None, true, |_| None).as_deref(),
            Some("or go on there, where they lie, too: `cd /src/shop`")
        );
        let only = advice(&work, None, false, |_| None).expect("advice");
        assert!(only.ends_with("there only"), "{only}");
    }
}
