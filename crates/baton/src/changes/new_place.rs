//! Where changes go that cannot be applied in the working copy of a command: where their commit is checked out, or a new worktree.

use std::path::Path;

use baton_model::id::is_shared_name;
use baton_model::refusal::Refusal;
use baton_model::shell::shell_word;

use super::{Changes, Fault, order_of};
use crate::git;

/// The refusal of an application, whose hint names commands that work as they stand in the working copy with this top folder.
/// `identity`: the name that the command was given.
pub(super) fn refusal(fault: Fault, root: &Path, changes: &Changes, identity: Option<&str>) -> Refusal {
    let hint = hint(&fault, root, changes, identity);
    let refusal = Refusal::from(fault);
    Refusal { hint: hint.unwrap_or_else(|| refusal.hint.clone()), ..refusal }
}

/// None where another working copy would not help, or the repository lacks the commit of the changes.
fn hint(fault: &Fault, root: &Path, changes: &Changes, identity: Option<&str>) -> Option<String> {
    let (base, baton_id) = (changes.base.as_deref()?, changes.baton_id.as_deref()?);
    let name =
        identity.filter(|name| !is_shared_name(name)).map(|name| format!(" --as {}", shell_word(name)));
    let apply = format!("baton changes apply {baton_id}{}", name.unwrap_or_default());
    if let Fault::LocalChangesWithoutCommit { missing, .. } = fault {
        return Some(order_of(missing, &format!("`{apply}` applies them")));
    }
    let is_elsewhere_possible = matches!(
        fault,
        Fault::LocalChanges(_) | Fault::Obstacles(_) | Fault::Conflicts(_) | Fault::OtherLine { .. }
    );
    if !is_elsewhere_possible || git::has_commit(root, base) != Some(true) {
        return None;
    }
    let fresh = shell_word(&free_folder(root, base)?);
    let anew = format!("`git worktree add --detach {fresh} {base} && cd {fresh} && {apply}`");
    Some(match fault {
        Fault::LocalChanges(_) => format!(
            "`git stash -u` puts them away, then `{apply}`; what you gave along before comes back with the work, so do not commit it; or \
             apply in a new worktree: {anew}"
        ),
        Fault::Obstacles(_) => format!("move them away, then `{apply}`; or apply in a new worktree: {anew}"),
        Fault::OtherLine { .. } => match git::checkout_at(root, base) {
            Some(folder) => format!(
                "apply where that commit is checked out: `cd {} && {apply}`; or in a worktree of its own: {anew}",
                shell_word(&folder)
            ),
            None => format!("apply in a worktree at that commit, commit there and merge: {anew}"),
        },
        _ => format!("apply in a worktree at the commit of the changes, commit there and merge: {anew}"),
    })
}

/// A folder beside a working copy in which nothing lies yet.
fn free_folder(root: &Path, base: &str) -> Option<String> {
    let name = format!("{}-{}", root.to_str()?, base.get(..7)?);
    let more = (2..100).map(|nth| format!("{name}-{nth}"));
    std::iter::once(name.clone()).chain(more).find(|folder| !Path::new(folder).exists())
}
