//! The keys of actions and their words.

use baton_model::id::visible;
use baton_model::row_action::{OfferedAction, RowAction};

use super::super::state::{Noun, Target};

/// The key of an action, and its words.
pub(crate) fn key(action: RowAction) -> (char, &'static str) {
    match action {
        RowAction::PickUp | RowAction::Accept => ('p', "pick up"),
        RowAction::TakeOver => ('p', "take over"),
        RowAction::Withdraw => ('w', "withdraw"),
        RowAction::Reassign => ('r', "reassign"),
        RowAction::Decline => ('d', "decline"),
        RowAction::Complete => ('e', "complete"),
        RowAction::Cancel => ('x', "cancel"),
        RowAction::Retry => ('t', "try now"),
        RowAction::LeaveAnew => ('n', "leave anew"),
        RowAction::Reply => ('a', "answer"),
        RowAction::Acknowledge => ('y', "acknowledge"),
        RowAction::Retract => ('w', "take back unread"),
        RowAction::Reopen => ('o', "open again"),
        RowAction::Claim => ('c', "claim"),
        RowAction::Release => ('b', "take back"),
        RowAction::Assign => ('r', "give to another"),
        RowAction::Close => ('e', "close"),
        RowAction::End => ('e', "end, giving back what it holds"),
        RowAction::Write => ('m', "write"),
    }
}

/// Its words where it is offered: who wrote a message to another does not answer it, and what is done about what a task waits for
/// names that one.
fn words(offered: &OfferedAction) -> String {
    let id = offered.task_id.as_deref().map(visible);
    match (offered.action, id) {
        (RowAction::Reply, _) if offered.project_id.is_some() => "write again".to_owned(),
        (RowAction::Assign, Some(id)) => format!("give {id} to another"),
        (RowAction::Reopen, Some(id)) => format!("open {id} again"),
        (action, _) => key(action).1.to_owned(),
    }
}

/// The key of a task's assignment where that of the task for which it waits has the usual one.
const SECOND_ASSIGNMENT: char = 'v';

/// The actions of a target with the key of each. A second one of the same key has none, unless it assigns the other one of two tasks.
fn keys(target: &Target) -> impl Iterator<Item = (char, &OfferedAction)> {
    target.actions.iter().enumerate().filter_map(|(at, one)| {
        let letter = key(one.action).0;
        let is_taken = target.actions.iter().take(at).any(|before| key(before.action).0 == letter);
        match (is_taken, one.action) {
            (false, _) => Some((letter, one)),
            (true, RowAction::Assign) => Some((SECOND_ASSIGNMENT, one)),
            (true, _) => None,
        }
    })
}

/// The action that a letter means for a target. A message can be begun from any row.
pub(crate) fn of_letter(letter: char, target: &Target) -> Option<OfferedAction> {
    let offered = keys(target).find(|(own, _)| *own == letter).map(|(_, one)| one.clone());
    let write = || (key(RowAction::Write).0 == letter).then(|| RowAction::Write.into());
    offered.or_else(write)
}

/// The keys that mean something for a target, with a word for each. What is another's business is not advertised, but that a task is
/// taken back from an agent that fails.
pub(crate) fn hints(target: &Target) -> String {
    if target.noun == Noun::Project {
        return "Enter only this project · 0 all · m write".to_owned();
    }
    let is_offered = |one: &OfferedAction| one.in_place_of.is_none() || one.action == RowAction::Release;
    let own = keys(target).filter(|(_, one)| is_offered(one));
    let text = |letter, one| match letter {
        SECOND_ASSIGNMENT => "give this one to another".to_owned(),
        _ => words(one),
    };
    own.map(|(letter, one)| format!("{letter} {}", text(letter, one))).collect::<Vec<_>>().join(" · ")
}

/// What to say of a letter that means nothing for a row, and something for others.
pub(crate) fn absent(letter: char) -> Option<String> {
    let all = [
        RowAction::PickUp,
        RowAction::Withdraw,
        RowAction::Reassign,
        RowAction::Decline,
        RowAction::Complete,
        RowAction::Cancel,
        RowAction::Retry,
        RowAction::LeaveAnew,
        RowAction::Reply,
        RowAction::Acknowledge,
        RowAction::Reopen,
        RowAction::Claim,
        RowAction::Release,
        RowAction::Write,
    ];
    let word = all.into_iter().map(key).find(|(known, _)| *known == letter)?.1;
    Some(format!("nothing to {word} here"))
}

/// Its name, as the prompt has it.
pub(crate) fn title(offered: &OfferedAction) -> String {
    let word = words(offered);
    let (first, rest) = word.split_at(1);
    let place = offered.in_place_of.as_deref().map(|who| match offered.action {
        RowAction::Release => format!(" from {}", visible(who)),
        _ => format!(" in the place of {}", visible(who)),
    });
    format!("{}{rest}{}", first.to_uppercase(), place.unwrap_or_default())
}
