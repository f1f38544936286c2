//! Where changes go that cannot be applied in the working copy of a command: where their commit is checked out, or a new worktree.

use std::path::{Path, PathBuf};

use baton_model::id::is_shared_name;
use baton_model::refusal::Refusal;
use baton_model::shell::shell_word;

use super::put_away::{Obstacle, PutAway, from_top};
use super::{Changes, Fault};
use crate::app::App;
use crate::git;

/// The document of `baton init`.
const DOCUMENT: &str = "docs/PROJECT.md";

/// Who gave a command, as the commands that answers suggest say it.
pub(super) struct Caller {
    /// The name that the command was given.
    identity: Option<String>,
    /// The project, where no other working copy of the repository would say it: it was given, or a settings file of a worktree or below
    /// the top folder names it.
    project: Option<String>,
    /// The folder in which it was given.
    cwd: Option<PathBuf>,
}

impl Caller {
    /// Of a command.
    pub(super) fn of(app: &App) -> Self {
        let file = app.config.repository.as_ref().filter(|file| file.is_trusted);
        let set = file.and_then(|file| file.given.iter().find(|(key, _)| *key == "project"));
        let is_of_copy = |folder: &Path| {
            let root = git::root(folder);
            root.as_deref() != Some(folder)
                || root.is_some_and(|root| git::repository(&root).is_ok_and(|own| own.is_worktree))
        };
        let is_of_copy = file.is_some_and(|file| is_of_copy(file.folder()));
        let set = set.filter(|_| is_of_copy).map(|(_, project)| project.clone());
        Self {
            identity: app.config.identity.clone(),
            project: app.project.clone().or(set),
            cwd: app.config.cwd.clone(),
        }
    }

    /// The command that applies the changes of a baton.
    fn apply(&self, baton_id: &str) -> String {
        let name = self.identity.as_deref().filter(|name| !is_shared_name(name));
        let name = name.map(|name| format!(" --as {}", shell_word(name))).unwrap_or_default();
        let project = self.project.as_deref().map(|project| format!(" --project {}", shell_word(project)));
        format!("baton{} changes apply {baton_id}{name}", project.unwrap_or_default())
    }
}

/// The refusal of an application, whose hint names commands that work as they stand in the working copy with this top folder.
pub(super) fn refusal(fault: Fault, root: &Path, changes: &Changes, caller: &Caller) -> Refusal {
    let hint = hint(&fault, root, changes, caller);
    let refusal = Refusal::from(fault);
    Refusal { hint: hint.unwrap_or_else(|| refusal.hint.clone()), ..refusal }
}

/// None where another working copy would not help, and the commit of the changes is here.
fn hint(fault: &Fault, root: &Path, changes: &Changes, caller: &Caller) -> Option<String> {
    let apply = caller.apply(changes.baton_id.as_deref()?);
    // Nothing can be checked out before the first commit.
    let Some(base) = changes.base.as_deref() else {
        return matches!(fault, Fault::LocalChanges(_) | Fault::Obstacles(_))
            .then(|| format!("move them to another folder, then `{apply}`"));
    };
    match fault {
        Fault::MissingCommit { branch, .. } => {
            let there = way_to(root, base, branch.as_deref());
            let clear = document_away(root, base, &there);
            return Some(format!("{}; then `{clear}{there} && {apply}`", fault.hint()));
        }
        Fault::LocalChangesWithoutCommit { files, missing } => {
            let there = way_to(root, base, changes.branch.as_deref());
            let top = from_top(root, caller.cwd.as_deref()) + &document_away(root, base, &there);
            return Some(first_fetch((root, &top), (files, &missing.hint()), changes, (&there, &apply)));
        }
        _ => {}
    }
    let is_elsewhere_possible = matches!(
        fault,
        Fault::LocalChanges(_)
            | Fault::Obstacles(_)
            | Fault::Conflicts(_)
            | Fault::OtherLine { .. }
            | Fault::OldGit(_)
    );
    if !is_elsewhere_possible || git::has_commit(root, base) != Some(true) {
        return None;
    }
    let fresh = shell_word(&free_folder(root, base)?);
    let anew = format!("`git worktree add --detach {fresh} {base} && cd {fresh} && {apply}`");
    let top = from_top(root, caller.cwd.as_deref());
    let way = Way { root, top: &top, base, apply: &apply, changes };
    Some(match fault {
        Fault::LocalChanges(files) => way.after_stash(files, &anew),
        Fault::Obstacles(files) if is_given_here(files, changes) => {
            let given: Vec<String> =
                files.iter().filter(|file| changes.given_here.contains(file)).cloned().collect();
            way.after_stash(&given, &anew)
        }
        Fault::Obstacles(_) => {
            let commands = way.clear() + &way.commands();
            format!("move them away, then `{commands}`; or apply in a new worktree: {anew}")
        }
        Fault::OtherLine { .. } => match git::checkout_at(root, base) {
            Some(folder) => format!(
                "apply where that commit is checked out: `cd {} && {apply}`; or in a worktree of its own: {anew}",
                shell_word(&folder)
            ),
            None => format!("apply in a worktree at that commit, commit there and merge: {anew}"),
        },
        Fault::OldGit(_) => format!(
            "install git 2.38 or newer; or apply in a worktree at the commit of the changes, commit there and merge: {anew}"
        ),
        _ => format!("apply in a worktree at the commit of the changes, commit there and merge: {anew}"),
    })
}

/// What helps a working copy with changes of its own, in which the commit of the work is missing, too: `missing` says how it comes.
fn first_fetch(
    (root, top): (&Path, &str),
    (files, missing): (&[String], &str),
    changes: &Changes,
    (there, apply): (&str, &str),
) -> String {
    // The work lies in another folder: nothing has to go out of its way here.
    if there.starts_with("cd ") {
        return format!(
            "first {missing}; then go on where the branch of the work is checked out: `{there} && {apply}`"
        );
    }
    if let Some(obstacle) = Obstacle::of(root) {
        return format!(
            "first {missing}; {}: repeat in a new worktree: `git worktree add`",
            obstacle.sentence()
        );
    }
    let PutAway { first, after } = PutAway::of((root, top), files, changes, way_back(root, there));
    format!("first {missing}; then {first}, and `{there} && {apply}` brings the work{after}")
}

/// Whether files were given along before from this working copy.
fn is_given_here(files: &[String], changes: &Changes) -> bool {
    files.iter().any(|file| changes.given_here.contains(file))
}

/// How changes are applied in a working copy whose own files are out of the way.
struct Way<'a> {
    root: &'a Path,
    top: &'a str,
    base: &'a str,
    apply: &'a str,
    changes: &'a Changes,
}

impl Way<'_> {
    /// The commands that bring what is checked out to the commit of the work; none where it has that already.
    fn there(&self) -> Option<String> {
        let has_it = git::read(self.root, &["merge-base", "--is-ancestor", self.base, "HEAD"]).is_some();
        (!has_it).then(|| way_to(self.root, self.base, self.changes.branch.as_deref()))
    }

    /// The commands that bring the work. What was committed of it comes first: the changes alone are only a part.
    fn commands(&self) -> String {
        match self.there() {
            Some(there) => format!("{there} && {}", self.apply),
            None => self.apply.to_owned(),
        }
    }

    /// What takes the document out of the way of these commands.
    fn clear(&self) -> String {
        self.there().map(|there| document_away(self.root, self.base, &there)).unwrap_or_default()
    }

    /// The same, once the caller's own files are put away.
    fn after_stash(&self, files: &[String], anew: &str) -> String {
        let there = self.there();
        let commands = self.commands();
        // The work lies in another folder: nothing has to go out of its way here.
        if there.as_deref().is_some_and(|there| there.starts_with("cd ")) {
            return format!(
                "go on where the branch of the work is checked out: `{commands}`; or apply in a new worktree: {anew}"
            );
        }
        if let Some(obstacle) = Obstacle::of(self.root) {
            return format!("{}: apply in a new worktree: {anew}", obstacle.sentence());
        }
        let back = there.and_then(|there| way_back(self.root, &there));
        let top = self.top.to_owned() + &self.clear();
        let PutAway { first, after } = PutAway::of((self.root, &top), files, self.changes, back);
        format!("{first}, then `{commands}`{after}; or apply in a new worktree: {anew}")
    }
}

/// What takes the untracked document out of the way of commands that check out a commit which has one, or may have one: git writes over no
/// untracked file, and no `git stash pop` either. It is as `baton init` wrote it, and that writes it again.
fn document_away(root: &Path, base: &str, there: &str) -> String {
    let is_missing = git::has_commit(root, base) != Some(true);
    let has_one =
        || git::read(root, &["rev-parse", "--verify", "--quiet", &format!("{base}:{DOCUMENT}")]).is_some();
    let is_in_the_way = !there.starts_with("cd ") && git::has_untracked_document(root);
    match is_in_the_way && (is_missing || has_one()) {
        true => format!("rm {} && ", shell_word(&root.join(DOCUMENT).display().to_string())),
        false => String::new(),
    }
}

/// The branch to go back to, if these commands leave it.
fn way_back(root: &Path, there: &str) -> Option<String> {
    let own = git::repository(root).ok().and_then(|own| own.branch);
    own.filter(|_| there.starts_with("git switch"))
}

/// The commands that bring a working copy to a commit, once that is fetched: along its own branch, or on the branch of the work.
fn way_to(root: &Path, commit: &str, branch: Option<&str>) -> String {
    let own = git::repository(root).ok().and_then(|own| own.branch);
    let Some(branch) = branch.filter(|branch| own.as_deref() != Some(*branch)) else {
        return format!("git merge {commit}");
    };
    let word = shell_word(branch);
    if let Some(folder) = git::checkout_of(root, branch) {
        let there = format!("cd {}", shell_word(&folder));
        let has_it =
            git::read(Path::new(&folder), &["merge-base", "--is-ancestor", commit, "HEAD"]).is_some();
        return if has_it { there } else { format!("{there} && git merge {commit}") };
    }
    match git::has_commit(root, &format!("refs/heads/{branch}")) {
        Some(true) => format!("git switch {word} && git merge {commit}"),
        _ => format!("git switch -c {word} {commit}"),
    }
}

/// A folder beside a working copy in which nothing lies yet.
fn free_folder(root: &Path, base: &str) -> Option<String> {
    let name = format!("{}-{}", root.to_str()?, base.get(..7)?);
    let more = (2..100).map(|nth| format!("{name}-{nth}"));
    std::iter::once(name.clone()).chain(more).find(|folder| !Path::new(folder).exists())
}
