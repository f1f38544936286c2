//! What git has begun and not ended: a merge, a rebase or the like that stopped at conflicts.

use super::git::is_commit_line;

/// Something that git has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitOperation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
}

impl GitOperation {
    /// As git calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
        }
    }

    fn of(verb: &str, rest: &[&str], output: &str) -> Option<Self> {
        let rebases =
            rest.iter().any(|word| matches!(*word, "--rebase" | "-r")) || output.contains("could not apply");
        match verb {
            "pull" if rebases => Some(Self::Rebase),
            "merge" | "pull" => Some(Self::Merge),
            "rebase" => Some(Self::Rebase),
            "cherry-pick" => Some(Self::CherryPick),
            "revert" => Some(Self::Revert),
            _ => None,
        }
    }
}

/// Whether git says that it stopped at a conflict.
pub(super) fn stops_at_conflict(output: &str) -> bool {
    output.contains("CONFLICT (") || output.contains("could not apply")
}

/// The newest commit where a rebase stopped, if git printed it and tried only the one behind it: of more it does not print what they
/// are called.
pub(super) fn commit_below_conflict(output: &str) -> Option<&str> {
    let line = output.lines().rfind(|line| is_commit_line(line))?;
    let behind = &output[output.rfind(line)? + line.len()..];
    if behind.matches("Rebasing (").count() != 1 {
        return None;
    }
    let inside = line.strip_prefix('[')?.split_once(']')?.0;
    inside.rsplit_once(' ').map(|(_, id)| id)
}

/// What is in progress after a step of git, where `before` was; `ok` says how its line ended.
pub(super) fn begun_after(
    before: Option<GitOperation>,
    step: (&str, &[&str]),
    output: &str,
    ok: bool,
) -> Option<GitOperation> {
    let (verb, rest) = step;
    let own = GitOperation::of(verb, rest, output);
    let is_stopped = output.contains("CONFLICT (") || output.contains("Automatic merge failed");
    let is_made = ok && !output.contains("nothing to commit") || output.lines().any(is_commit_line);
    let ends = |flag: &str| rest.contains(&flag);
    match verb {
        _ if own.is_some() && (ends("--abort") || ends("--quit")) => before.filter(|_| !ok),
        _ if own.is_some() && is_stopped => before.or(own),
        _ if own.is_some() && (ends("--continue") || ends("--skip")) => before.filter(|_| !ok),
        "commit" if is_made && !ends("--dry-run") => before.filter(|before| *before == GitOperation::Rebase),
        "reset" if ok && (ends("--hard") || ends("--merge")) => {
            before.filter(|before| *before == GitOperation::Rebase)
        }
        "status" => by_status(output).unwrap_or(before),
        _ => before,
    }
}

/// What the long form of a status says of it; nothing where there is none.
fn by_status(output: &str) -> Option<Option<GitOperation>> {
    let has = |text: &str| output.lines().any(|line| line.trim_start().starts_with(text));
    let says = [
        ("You have unmerged paths", GitOperation::Merge),
        ("All conflicts fixed but you are still merging", GitOperation::Merge),
        ("interactive rebase in progress", GitOperation::Rebase),
        ("You are currently rebasing", GitOperation::Rebase),
        ("You are currently cherry-picking", GitOperation::CherryPick),
        ("You are currently reverting", GitOperation::Revert),
    ];
    let is_long = has("On branch ") || has("HEAD detached") || has("interactive rebase in progress");
    // A cherry-pick has unmerged paths, too: the more telling sentence stands.
    let found = says.iter().rev().find(|(text, _)| has(text)).map(|(_, begun)| *begun);
    is_long.then_some(found)
}
