//! How what is not committed is put away before work comes to a working copy, in the commands that answers print.

use std::collections::BTreeSet;
use std::path::Path;

use baton_model::changes::GitOperation;
use baton_model::id::visible;
use baton_model::shell::shell_word;

use super::plumbing::Repo;
use super::unfinished::unfinished;
use super::{Applied, Changes, command_of, list};
use crate::app::App;
use crate::fingerprint::fingerprints;
use crate::git::{self, Plumbing};

/// Up to how many paths a command names what it puts away, also where it could name fewer that it leaves.
const MAX_PATHS: usize = 40;

/// Why nothing can be put away in a working copy, or would not come back as it was.
pub(super) enum Obstacle {
    /// Git is in the middle of this, which a stash would end.
    Operation(GitOperation),
    /// Files have conflicts.
    Conflicts,
    /// There is no commit yet to which anything could go back.
    NoCommit,
}

impl Obstacle {
    /// Of the working copy with this top folder.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let begun = Repo::open(&Plumbing, root).and_then(|repo| unfinished(&repo)).unwrap_or_default();
        if let Some(begun) = begun.iter().find(|begun| begun.operation != GitOperation::Bisect) {
            return Some(Self::Operation(begun.operation));
        }
        if git::read(root, &["ls-files", "--unmerged"]).is_some_and(|files| !files.trim().is_empty()) {
            return Some(Self::Conflicts);
        }
        (git::has_commit(root, "HEAD") == Some(false)).then_some(Self::NoCommit)
    }

    /// What it is, in a clause.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Operation(operation) => {
                format!("{} is under way here, and a stash would end it", with_article(*operation))
            }
            Self::Conflicts => "files here have conflicts".to_owned(),
            Self::NoCommit => "there is no commit here yet to go back to".to_owned(),
        }
    }
}

/// An operation of git, by its command.
fn with_article(operation: GitOperation) -> String {
    let command = command_of(operation).unwrap_or("bisect");
    let article = if command.starts_with('a') { "an" } else { "a" };
    format!("{article} {command}")
}

/// Says of changes that were applied what the working copy has of its own.
pub(super) fn remark_applied(app: &App, root: &Path, applied: &Applied) {
    if !applied.settings.is_empty() {
        let settings = list(&applied.settings);
        app.remark(&format!("left out, since each working copy has its own settings: {settings}"));
    }
    if let Some(Obstacle::Operation(operation)) = Obstacle::of(root).filter(|_| !applied.was_there) {
        let operation = with_article(operation);
        app.remark(&format!("{operation} is under way here: `git status` says how it ends; the changes lie in the middle of it"));
    }
}

/// The way to the top folder of a working copy, as the begin of a command: git removes a folder in which it leaves nothing, and whoever
/// stands in it can give no command any more. Nothing where git has files in the folder of the caller.
pub(super) fn from_top(root: &Path, cwd: Option<&Path>) -> String {
    let below = cwd.and_then(|cwd| cwd.strip_prefix(root).ok()).and_then(Path::to_str);
    let Some(below) = below.filter(|below| !below.is_empty()) else { return String::new() };
    let is_kept = git::read(root, &["rev-parse", "--verify", "--quiet", &format!("HEAD:{below}")]).is_some();
    match is_kept {
        true => String::new(),
        false => format!("cd {} && ", shell_word(&visible(&root.display().to_string()))),
    }
}

/// What a wrap says of the files that it gave along from the working copy with this top folder, and that stay there. `cwd`: where the
/// caller stands.
pub(crate) fn given_files_advice(root: &Path, cwd: Option<&Path>, given: &[String]) -> String {
    let before = "before the work comes back to this folder";
    match Obstacle::of(root) {
        Some(Obstacle::Operation(operation)) => format!(
            "what goes along stays here, too, in the middle of {}, which does not go along and which a stash would end: when the work comes \
             back, apply it in another worktree",
            with_article(operation)
        ),
        Some(Obstacle::Conflicts) => {
            format!("what goes along stays here, too, and files have conflicts: resolve them {before}")
        }
        Some(Obstacle::NoCommit) => {
            format!("what goes along stays here, too: move the files to another folder {before}")
        }
        None => {
            let (top, stash) = (from_top(root, cwd), stash_of(root, given));
            format!("what goes along stays here, too: put it away with `{top}{stash}` {before}")
        }
    }
}

/// The command that puts these files away, and no other ones where a command can say that.
fn stash_of(root: &Path, files: &[String]) -> String {
    let uncommitted = git::uncommitted(root).unwrap_or_default();
    let (own, others): (Vec<_>, Vec<_>) = uncommitted.iter().partition(|path| files.contains(path));
    // A stash of named paths fails where one is removed from the index, and leaves its entry all the same.
    let args =
        ["diff-index", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=D", "HEAD", "--"];
    let removed = git::read(root, &args).unwrap_or_default();
    let removed: BTreeSet<&str> = removed.split('\0').collect();
    let can_name_own = !own.iter().any(|path| removed.contains(path.as_str()));
    let command = match (own.len(), others.len()) {
        (_, 0) | (0, _) => git::stash_command(root),
        // The shorter list.
        (own_total, total) if can_name_own && own_total <= total.max(MAX_PATHS) => {
            format!("git stash push -u -- {}", paths(&own, ""))
        }
        _ => {
            let others = paths(&others, "exclude,");
            let own = git::folders_own(root);
            format!(
                "git stash push -u -- :/ {}",
                std::iter::once(others).chain(own).collect::<Vec<_>>().join(" ")
            )
        }
    };
    format!("{}{command}", intended(root, files))
}

/// What has to come before any stash: git puts nothing away while a file is only marked as one to add. One that did not go along loses
/// the mark, so that it is as untracked as it was.
fn intended(root: &Path, given: &[String]) -> String {
    let args = ["diff", "--name-only", "-z", "--diff-filter=A"];
    let marked = git::read_files(root, &args).unwrap_or_default();
    let marked: Vec<String> = marked.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    let (own, others): (Vec<&String>, Vec<&String>) = marked.iter().partition(|path| given.contains(path));
    let command = |verb: &str, files: &[&String]| match files.is_empty() {
        true => String::new(),
        false => format!("git {verb} -- {} && ", paths(files, "")),
    };
    command("add", &own) + &command("reset -q", &others)
}

/// Whether the index has one of the files in a state that neither the commit nor the disk has: without `--index` a stash brings it back
/// as the disk has it.
fn is_staged_apart(root: &Path, files: &[String]) -> bool {
    let changed = |args: &[&str]| git::read_files(root, args).unwrap_or_default();
    let staged = changed(&["diff", "--cached", "--no-renames", "--name-only", "-z"]);
    let on_disk = changed(&["diff", "--no-renames", "--name-only", "-z"]);
    let has = |paths: &str, path: &str| paths.split('\0').any(|one| one == path);
    files.iter().any(|path| has(&staged, path) && has(&on_disk, path))
}

/// Paths from the top of a working copy as words of a git command, in whatever folder it is typed.
fn paths(paths: &[&String], magic: &str) -> String {
    paths.iter().map(|path| top_path_word(path, magic)).collect::<Vec<_>>().join(" ")
}

/// A path from the top of a working copy as a word of a git command, in whatever folder it is typed.
pub(super) fn top_path_word(path: &str, magic: &str) -> String {
    // Git reads further signs after `:/` as magic, as `@` in `:/@types`; of letters, digits and the point it reads none so.
    let is_plain = magic.is_empty()
        && !path.contains(['*', '?', '[', '\\'])
        && path.starts_with(|c: char| c.is_alphanumeric() || c == '.');
    match (git::printable_pattern(path), is_plain) {
        (Some(pattern), _) => shell_word(&format!(":({magic}top){pattern}")),
        (None, true) => shell_word(&format!(":/{path}")),
        (None, false) => shell_word(&format!(":({magic}top,literal){path}")),
    }
}

/// What is said of files that were edited since they were given along: what came back with the work has none of that.
fn edited_since(root: &Path, given: &[String], changes: &Changes) -> String {
    let held = fingerprints(root, given);
    let was_edited = |(path, held): &(&String, &String)| {
        let at = changes.given_here.iter().position(|other| other == *path);
        let then = at.and_then(|at| changes.given_fingerprints.get(at));
        then.is_some_and(|then| !then.is_empty() && then != *held)
    };
    let edited: Vec<String> =
        given.iter().zip(&held).filter(was_edited).map(|(path, _)| path.clone()).collect();
    match edited.is_empty() {
        true => String::new(),
        false => format!(
            "; edited here since: {}, which `git stash show -p --include-untracked` shows, so bring that into the work before you drop the stash",
            list(&edited)
        ),
    }
}

/// How what lies in the way of changes is put away, and what becomes of it.
pub(super) struct PutAway {
    /// The commands that put it away, in a clause.
    pub first: String,
    /// How it comes back, as the end of a sentence.
    pub after: String,
}

impl PutAway {
    /// `files`: what is named as changed here. `back`: the branch on which that was changed, if another one is checked out by then.
    /// `top`: what the first command begins with, as [`from_top`] has it.
    pub(super) fn of(
        (root, top): (&Path, &str),
        files: &[String],
        changes: &Changes,
        back: Option<String>,
    ) -> Self {
        let uncommitted = git::uncommitted(root).unwrap_or_default();
        let is_given = |path: &&String| changes.given_here.contains(path);
        let given: Vec<String> = uncommitted.iter().filter(is_given).cloned().collect();
        let others: Vec<String> = uncommitted.iter().filter(|path| !given.contains(path)).cloned().collect();
        let edited = edited_since(root, &given, changes);
        let has_others = files.iter().any(|path| !changes.given_here.contains(path));
        // A stash does not bring an untracked file back over one that the work has.
        let is_in_the_way = |path: &&String| {
            !files.contains(path) && changes.files.contains(path) && !changes.given_here.contains(path)
        };
        let named: Vec<String> = uncommitted.iter().filter(is_in_the_way).map(|path| visible(path)).collect();
        let move_away = match named.is_empty() {
            true => String::new(),
            false => format!("move {} away, which the work has, too; ", named.join(", ")),
        };
        let back = back.map(|branch| format!("git switch {} && ", shell_word(&branch)));
        let index = if is_staged_apart(root, &others) { " --index" } else { "" };
        let pop = format!("`{}git stash pop{index}`", back.as_deref().unwrap_or_default());
        let (first, after) = match (given.is_empty(), has_others) {
            (true, _) => (
                format!("`{top}{}{}` puts them away", intended(root, &[]), git::stash_command(root)),
                match back {
                    Some(_) => format!("; once the work is committed, {pop} brings them back"),
                    None => format!(", and {pop} brings them back once the work is committed"),
                },
            ),
            (false, false) => (
                format!("`{top}{}` puts them away", stash_of(root, &given)),
                format!("; what you gave along before comes back with the work, so do not commit it{edited}"),
            ),
            // The stash of what was given along is the newest one, so that `git stash drop` forgets that and nothing else.
            (false, true) => (
                format!(
                    "`{top}{}` puts away your other changes, and `{}` what you gave along before",
                    stash_of(root, &others),
                    git::stash_command(root)
                ),
                format!(
                    "; what you gave along comes back with the work, so do not commit it{edited}; once the work is committed, `git stash drop` \
                     forgets it and {pop} brings your other changes back"
                ),
            ),
        };
        Self { first: format!("{move_away}{first}"), after }
    }
}
