//! What git does to files beside edits: takes changes back, puts them aside, and says in a commit which files are new.

use super::git::is_commit_line;
use super::git_begun::stops_at_conflict;
use super::git_status::{is_cut, long_form, status_event, status_part};
use super::steps::{git_words, plain_steps};
use crate::event::{Change, Edit};

/// Something that git did to the files of the working copy.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TreeEvent {
    /// These go into the next commit; all without a name.
    Staged(Vec<String>),
    /// What was staged was committed; all with `-a`. With `--amend` it takes the last commit's place. Git says of how many
    /// files.
    Committed { all: bool, amends: bool, count: Option<usize> },
    /// A commit was made outside of the session.
    CommittedElsewhere,
    /// Commits were taken back, and their changes are in none any more.
    Uncommitted,
    /// Git lists what is in no commit, be it all of it or not.
    Shown { uncommitted: Vec<String>, is_all: bool },
    /// The changes of these that are not committed are gone; of all without a name.
    Restored(Vec<String>),
    /// All changes are gone, and so many commits; all of them where it is not known how many.
    Reset { commits: Option<usize> },
    /// Changes were put aside; only some of them where it is not known which.
    Stashed { all: bool },
    /// They were put back.
    Unstashed,
    /// They are gone.
    StashDropped,
    /// A commit says that this file is new.
    New(String),
    /// A commit says that this file was moved or removed.
    Changed(Edit),
    /// A command that was to do this began, and how it ended is not known.
    Begun(Box<TreeEvent>),
    /// A formatter ran over files with these endings; over all without one.
    Formatted(&'static [&'static str]),
}

/// What a command line was to do of which it is not known how it ended.
pub(super) fn begun_events(command: &str) -> Vec<TreeEvent> {
    let tells = |event: &TreeEvent| matches!(event, TreeEvent::Shown { .. } | TreeEvent::New(_));
    let all = tree_events(command, "", true).into_iter().filter(|event| !tells(event));
    all.map(|event| TreeEvent::Begun(Box::new(event))).collect()
}

/// What a command line did, as far as it and what it printed tell.
pub(super) fn tree_events(command: &str, output: &str, ok: bool) -> Vec<TreeEvent> {
    if !command.contains("git ") {
        return Vec::new();
    }
    let mut found = Vec::new();
    // A stash of the same line was put back if git says that it dropped one.
    let dropped = output.contains("Dropped refs/stash") || output.contains("Dropped stash@");
    let steps = plain_steps(command);
    let is_cut = is_cut(command);
    // Of as many commits as are printed the first ones were made, and what stands before them went well, though what came after failed.
    let printed = output.lines().filter(|line| is_commit_line(line)).count();
    let is_commit = |step: &String| git_words(step).is_some_and(|(verb, _)| verb == "commit");
    let commits = steps.iter().enumerate().filter(|(_, step)| is_commit(step));
    let made_at = commits.map(|(place, _)| place).take(printed).last();
    for (place, step) in steps.iter().enumerate() {
        let ok = ok || made_at.is_some_and(|made_at| place <= made_at);
        let Some((verb, rest)) = git_words(step) else { continue };
        let paths: Vec<String> = paths(&rest);
        match (verb, rest.first().copied()) {
            ("add", _) if ok && rest.iter().any(|word| matches!(*word, "-p" | "--patch")) => {}
            ("add", _) if ok => {
                let all = rest.iter().any(|word| matches!(*word, "-A" | "--all" | "-u" | "." | ":/"));
                found.push(TreeEvent::Staged(if all { Vec::new() } else { paths }));
            }
            ("commit", _) if ok => found.extend(commit_events(&rest, output)),
            ("rebase" | "merge" | "cherry-pick" | "revert", _)
                if rest.contains(&"--continue") && makes_commit(output, ok) =>
            {
                found.push(TreeEvent::Committed { all: false, amends: false, count: None });
            }
            ("checkout", _) if ok && rest.contains(&"--") => found.push(TreeEvent::Restored(paths)),
            ("checkout", Some(".")) if ok => found.push(TreeEvent::Restored(Vec::new())),
            ("checkout", Some(path))
                if ok && rest.len() == 1 && path.contains('.') && !path.starts_with('-') =>
            {
                found.push(TreeEvent::Restored(paths));
            }
            ("restore", _) if ok && !rest.contains(&"--staged") => found.push(TreeEvent::Restored(paths)),
            ("reset", _) if ok && rest.contains(&"--hard") => {
                found.push(TreeEvent::Reset { commits: commits_of(&rest) });
            }
            ("stash", None | Some("push" | "save")) if ok || output.contains("Saved working directory") => {
                let some = ["-p", "--patch", "--keep-index", "-k", "--staged", "-S", "--"];
                found.push(TreeEvent::Stashed { all: !rest.iter().any(|word| some.contains(word)) });
            }
            ("reset", _) if ok && commits_of(&rest) != Some(0) => found.push(TreeEvent::Uncommitted),
            ("stash", Some("pop")) if ok || dropped => {
                found.push(TreeEvent::Unstashed);
                found.extend(long_form(output, false));
            }
            ("status", _) if ok => {
                let part = status_part(&steps, place, output, is_cut);
                found.extend(status_event(&rest, &part.text, part.is_whole));
            }
            ("stash", Some("drop" | "clear")) if ok => found.push(TreeEvent::StashDropped),
            _ => {}
        }
    }
    found
}

/// What a commit took in, and what git says of its files.
fn commit_events(rest: &[&str], output: &str) -> Vec<TreeEvent> {
    let all = rest.iter().any(|word| *word == "--all" || (is_short(word) && word.contains('a')));
    let count = output.lines().find_map(changed_files);
    let made = TreeEvent::Committed { all, amends: rest.contains(&"--amend"), count };
    std::iter::once(made).chain(output.lines().filter_map(summary_line)).collect()
}

/// Whether going on with a rebase, a merge or the like made the commit that a conflict had held up: the next one may have stopped it
/// again.
fn makes_commit(output: &str, ok: bool) -> bool {
    // Where a conflict is not resolved, git says so and tries no other commit.
    let is_held = ["needs merge", "You must edit all merge conflicts", "unmerged files"]
        .iter()
        .any(|text| output.contains(text));
    output.lines().any(is_commit_line) || !is_held && (ok || stops_at_conflict(output))
}

/// How many commits a reset takes back: none to `HEAD`, two to `HEAD~2`.
fn commits_of(rest: &[&str]) -> Option<usize> {
    let target = rest.iter().find(|word| !word.starts_with('-'));
    match target.map(|target| target.strip_prefix("HEAD")) {
        None | Some(Some("")) => Some(0),
        Some(Some("~" | "^")) => Some(1),
        Some(Some("^^")) => Some(2),
        Some(Some(back)) => back.strip_prefix('~').and_then(|number| number.parse().ok()),
        Some(None) => None,
    }
}

/// ` 2 files changed, 6 insertions(+)`
fn changed_files(line: &str) -> Option<usize> {
    let (count, _) = line.strip_prefix(' ')?.split_once(" changed")?;
    count.strip_suffix(" files").or(count.strip_suffix(" file"))?.parse().ok()
}

fn is_short(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--")
}

/// The paths among the words behind a verb; none where they name all.
fn paths(rest: &[&str]) -> Vec<String> {
    let after = rest.iter().position(|word| *word == "--").map_or(rest, |at| &rest[at + 1..]);
    let named = after.iter().filter(|word| !word.starts_with('-') && **word != "HEAD");
    let named: Vec<String> = named.map(|word| word.trim_matches(['"', '\'']).to_owned()).collect();
    if named.iter().any(|path| path == ".") { Vec::new() } else { named }
}

/// ` create mode 100644 a.rs`, ` delete mode 100644 b.rs`, ` rename src/{ => core}/c.rs (97%)`
fn summary_line(line: &str) -> Option<TreeEvent> {
    let line = line.strip_prefix(' ')?;
    if let Some(rest) = line.strip_prefix("create mode ") {
        return rest.split_once(' ').map(|(_, path)| TreeEvent::New(path.to_owned()));
    }
    if let Some(rest) = line.strip_prefix("delete mode ") {
        return rest.split_once(' ').map(|(_, path)| TreeEvent::Changed(Edit::bare(path, Change::Deleted)));
    }
    let (both, share) = line.strip_prefix("rename ")?.rsplit_once(" (")?;
    share.strip_suffix("%)")?;
    let (from, to) = match (both.split_once('{'), both.split_once('}')) {
        (Some((before, _)), Some((head, after))) => {
            let (old, new) = head.split_once('{')?.1.split_once(" => ")?;
            let path = |part: &str| format!("{before}{part}{after}").replace("//", "/");
            (path(old), path(new))
        }
        _ => both.split_once(" => ").map(|(old, new)| (old.to_owned(), new.to_owned()))?,
    };
    Some(TreeEvent::Changed(Edit { from: Some(from), ..Edit::bare(&to, Change::Renamed) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_takes_back_is_known_by_its_command_and_its_words() {
        let one = |command: &str, output: &str, ok: bool| tree_events(command, output, ok);
        let named = |path: &str| vec![path.to_owned()];
        assert_eq!(one("git checkout -- a.rs", "", true), [TreeEvent::Restored(named("a.rs"))]);
        assert_eq!(one("git checkout src/a.rs && make", "", true), [TreeEvent::Restored(named("src/a.rs"))]);
        assert_eq!(one("git restore .", "", true), [TreeEvent::Restored(Vec::new())]);
        assert_eq!(one("git checkout main", "", true), []);
        assert_eq!(one("git reset --hard HEAD~1", "", true), [TreeEvent::Reset { commits: Some(1) }]);
        let stashed = "Saved working directory and index state WIP on main\nerror: would be overwritten";
        assert_eq!(
            one("git stash && make | tail; git stash pop", stashed, false),
            [TreeEvent::Stashed { all: true }]
        );
        let both = [TreeEvent::Stashed { all: true }, TreeEvent::Unstashed];
        assert_eq!(
            one(
                "git stash && make lint; git stash pop",
                "Saved working directory\nDropped refs/stash@{0}",
                false
            ),
            both
        );
    }

    #[test]
    fn going_on_after_a_conflict_makes_a_commit() {
        let committed = [TreeEvent::Committed { all: false, amends: false, count: None }];
        for verb in ["rebase", "merge", "cherry-pick", "revert"] {
            assert_eq!(tree_events(&format!("git {verb} --continue"), "", true), committed, "{verb}");
        }
        let next = "[detached HEAD e8bf0c9] a\nCONFLICT (content): Merge conflict in b.rs";
        assert_eq!(tree_events("GIT_EDITOR=true git rebase --continue", next, false), committed);
        let stays = "b.rs: needs merge\nCONFLICT (content): Merge conflict in b.rs";
        assert_eq!(tree_events("git rebase --continue", stays, false), []);
        // The end of what git printed, through `| tail -3`, has no line of the commit, but names the next one.
        let end = "CONFLICT (content): Merge conflict in b.rs\nerror: could not apply ed4e809... b\nCould not apply ed4e809... b";
        for ok in [true, false] {
            assert_eq!(tree_events("git rebase --continue 2>&1 | tail -3", end, ok), committed, "{ok}");
        }
        let unmerged = "a.rs: needs merge\nYou must edit all merge conflicts and then\nmark them as resolved using git add";
        assert_eq!(tree_events("git rebase --continue 2>&1 | tail -3", unmerged, true), []);
        assert_eq!(tree_events("git rebase --abort", "", true), []);
    }

    #[test]
    fn a_commit_says_which_files_are_new_moved_or_gone() {
        let output = "[main 1a2b3c4] x\n create mode 100644 a.rs\n rename src/{ => core}/b.rs (97%)\n rename {old => new}/c.rs (100%)\n rename d.rs => e.rs (60%)\n delete mode 100644 f.rs";
        let found = tree_events("git add -A && git commit -m x", output, true);
        let moved = |from: &str, to: &str| {
            TreeEvent::Changed(Edit { from: Some(from.to_owned()), ..Edit::bare(to, Change::Renamed) })
        };
        let wanted = [
            TreeEvent::Staged(Vec::new()),
            TreeEvent::Committed { all: false, amends: false, count: None },
            TreeEvent::New("a.rs".to_owned()),
            moved("src/b.rs", "src/core/b.rs"),
            moved("old/c.rs", "new/c.rs"),
            moved("d.rs", "e.rs"),
            TreeEvent::Changed(Edit::bare("f.rs", Change::Deleted)),
        ];
        assert_eq!(found, wanted);
    }
}
