//! The words of a task: statuses, types, kinds of dependencies.

use super::invalid_refusal;
use crate::id::{check_label, visible};
use crate::refusal::Refusal;

/// Statuses that a task may be given.
pub const STATUSES: [&str; 7] = ["open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked"];

/// Types that are records, not work: they are never offered.
pub const NOT_WORK: [&str; 7] = ["merge-request", "gate", "molecule", "message", "agent", "role", "rig"];

/// The known types of dependencies; any other word of up to 50 bytes is kept as it is.
pub const DEPENDENCIES: [&str; 19] = [
    "blocks",
    "parent-child",
    "conditional-blocks",
    "waits-for",
    "related",
    "discovered-from",
    "replies-to",
    "relates-to",
    "duplicates",
    "supersedes",
    "authored-by",
    "assigned-to",
    "approved-by",
    "attests",
    "tracks",
    "until",
    "caused-by",
    "validates",
    "delegated-from",
];

/// The types that are known; any other word is one of its own.
pub const TYPES: [&str; 18] = [
    "task",
    "bug",
    "feature",
    "epic",
    "chore",
    "decision",
    "spike",
    "story",
    "milestone",
    "event",
    "message",
    "molecule",
    "gate",
    "merge-request",
    "agent",
    "role",
    "rig",
    "convoy",
];

/// The known type that a word of one's own is nearly.
pub fn similar_type(word: &str) -> Option<&'static str> {
    let is_slip = |known: &&str| known.len().abs_diff(word.len()) <= 2;
    match TYPES.contains(&word) {
        true => None,
        false => crate::suggest::suggestions(word, TYPES).into_iter().find(is_slip),
    }
}

/// Refuses an unknown status.
pub fn check_status(status: &str) -> Result<(), Refusal> {
    if STATUSES.contains(&status) {
        return Ok(());
    }
    let near = crate::suggest::suggestions(status, STATUSES);
    let hint = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) };
    Err(invalid_refusal(
        format!("`{}` is not a status", visible(status)),
        &format!("{hint}use open, in_progress, blocked, deferred, closed, pinned or hooked"),
    ))
}

/// Refuses a type that is not one word.
pub fn check_type(issue_type: &str) -> Result<(), Refusal> {
    check_label("type", issue_type)?;
    if issue_type.chars().any(char::is_whitespace) {
        return Err(invalid_refusal(
            format!("`{issue_type}` is not a type"),
            "use one word: task, bug, feature, epic, chore",
        ));
    }
    Ok(())
}

/// The type that a short word stands for.
pub fn full_type(word: &str) -> &str {
    match word {
        "feat" | "enhancement" => "feature",
        "dec" | "adr" => "decision",
        "investigation" | "timebox" => "spike",
        "ms" => "milestone",
        "mr" => "merge-request",
        "mol" => "molecule",
        other => other,
    }
}

/// The priority that `2`, `P2` or a word means.
pub fn priority(text: &str) -> Result<i64, Refusal> {
    let named = match text.to_ascii_lowercase().as_str() {
        "critical" | "urgent" => Some(0),
        "high" => Some(1),
        "normal" | "medium" => Some(2),
        "low" => Some(3),
        _ => None,
    };
    let digits = text.strip_prefix(['P', 'p']).unwrap_or(text);
    let number = named.or_else(|| digits.parse::<i64>().ok());
    number.filter(|number| (0..=4).contains(number)).ok_or_else(|| {
        invalid_refusal(
            format!("`{}` is not a priority", visible(text)),
            "0 (or P0, critical) is now, 2 (normal) is usual, 4 is some day",
        )
    })
}

/// Refuses a type of dependency that no tracker could keep.
pub fn check_dependency(kind: &str) -> Result<(), Refusal> {
    let bad = |c: char| c.is_control() || c.is_whitespace() || c == ':';
    if !kind.is_empty() && kind.len() <= 50 && !kind.chars().any(bad) {
        return Ok(());
    }
    Err(Refusal::invalid(
        "dependency_invalid",
        format!("`{}` is not a type of dependency", visible(kind)),
        "use blocks, parent-child, conditional-blocks, waits-for, related, discovered-from, or one word of your own",
    ))
}

/// Refuses a type for a new dependency that is a slip of the finger: a word of one's own holds nothing back.
pub fn check_new_dependency(kind: &str) -> Result<(), Refusal> {
    check_dependency(kind)?;
    let is_slip = |known: &&str| known.len().abs_diff(kind.len()) <= 2;
    let near = match DEPENDENCIES.contains(&kind) {
        true => None,
        false => crate::suggest::suggestions(kind, DEPENDENCIES).into_iter().find(is_slip),
    };
    let Some(known) = near else { return Ok(()) };
    let what = format!("`{}` is not a type of dependency that holds anything back", visible(kind));
    Err(Refusal::invalid(
        "dependency_invalid",
        what,
        format!("did you mean {known}? A word of your own differs by more"),
    ))
}

/// The role that an agent's name says: `testing-specialist`, `fixing-specialist-RedStone`, or just `testing`. None for a
/// name that says no role; the register of agents knows better where there is one.
pub fn role_of_agent(name: &str) -> Option<&'static str> {
    let role = name.split_once("-specialist").map_or(name, |(role, _)| role);
    super::closing::IncrementStage::of(Some(role)).map(super::closing::IncrementStage::role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_name_may_say_its_role() {
        assert_eq!(role_of_agent("testing-specialist"), Some("testing"));
        assert_eq!(role_of_agent("fixing-specialist-RedStone"), Some("fixing"));
        assert_eq!((role_of_agent("verification"), role_of_agent("Ann")), (Some("verification"), None));
    }

    #[test]
    fn words_have_short_forms() {
        assert_eq!((priority("P0").ok(), priority("3").ok()), (Some(0), Some(3)));
        assert_eq!((priority("High").ok(), priority("low").ok()), (Some(1), Some(3)));
        assert!(priority("5").is_err() && priority("highest").is_err());
        assert_eq!((full_type("feat"), full_type("bug")), ("feature", "bug"));
        assert!(
            check_status("in-progress").expect_err("unknown").hint.starts_with("did you mean in_progress?")
        );
        assert!(check_dependency("a b").is_err() && check_dependency(&"x".repeat(51)).is_err());
        assert!(check_dependency("my-own").is_ok());
        for (word, known) in
            [("bgu", Some("bug")), ("Featrue", Some("feature")), ("bug", None), ("spec", None)]
        {
            assert_eq!(similar_type(word), known, "{word}");
        }
        for own in ["my-own", "related-to-spec", "blocks", "tracks"] {
            assert!(check_new_dependency(own).is_ok(), "{own}");
        }
        for slip in ["bloks", "block", "paren-child", "discovered-form"] {
            assert_eq!(
                check_new_dependency(slip).map_err(|refusal| refusal.code),
                Err("dependency_invalid"),
                "{slip}"
            );
        }
    }
}
