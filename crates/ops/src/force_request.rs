//! Whether force is used, why, and against whom.

use baton_model::access::Grant;
use baton_model::id::{assignee_key, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_store::Failure;

/// The same failure. Where its hint names `--force` to a token that may not use it, it says so.
pub(crate) fn without_right(failure: Failure, grant: &Grant) -> Failure {
    match failure {
        Failure::Refused(mut refusal)
            if !grant.is_operator()
                && refusal.hint.contains("--force")
                && !refusal.hint.contains("scope operator") =>
        {
            refusal.hint.push_str(" (`--force` needs a token of the scope operator, which yours is not)");
            Failure::Refused(refusal)
        }
        other => other,
    }
}

/// With what right something is done that another one holds: `why` is the reason of force.
#[derive(Clone, Copy, Default)]
pub(crate) struct ForceRequest<'a> {
    /// Force is used.
    pub(crate) given: bool,
    /// Why.
    pub(crate) why: Option<&'a str>,
}

/// Refuses a call that means another holder than the one that there is: between its look and its request the thing went into other hands.
/// A call without a holder is not checked.
pub(crate) fn require_holder(
    what: &str,
    expected: Option<&str>,
    holder: Option<&str>,
) -> Result<(), Refusal> {
    let Some(expected) = expected else { return Ok(()) };
    let holder = holder.unwrap_or_default();
    // As an assignee is compared: a file may call them by any text.
    if assignee_key(expected.trim()) == assignee_key(holder) {
        return Ok(());
    }
    let text = match (expected, holder) {
        (expected, "") => format!("{} does not hold {what} any more, and nobody does", visible(expected)),
        ("", holder) => format!("{} holds {what} by now", visible(holder)),
        (expected, holder) => {
            format!("{} holds {what} by now, and not {}", visible(holder), visible(expected))
        }
    };
    let hint = "look at it again; if you mean it all the same, name who holds it now: `--holder NAME`";
    Err(Refusal::new(Kind::Conflict, "holder_changed", text, hint).with("holder", holder.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_means_another_than_the_holder_is_refused() {
        let refused = |expected, holder| require_holder("task t", expected, holder).map_err(|no| no.message);
        assert_eq!(refused(None, Some("Bob")), Ok(()));
        for (name, holder) in
            [("bob", "Bob"), ("bOT", "Bot"), ("Ann-Bee", "Ann Bee"), ("ann bee", "Ann-Bee"), (" Bob ", "Bob")]
        {
            assert_eq!(refused(Some(name), Some(holder)), Ok(()), "{name} {holder}");
        }
        assert_eq!(refused(Some(""), None), Ok(()));
        for (expected, holder, text) in [
            ("Ann", Some("Bob"), "Bob holds task t by now, and not Ann"),
            ("Ann", None, "Ann does not hold task t any more, and nobody does"),
            ("Bop", Some("Bob"), "Bob holds task t by now, and not Bop"),
            ("Bot", Some("Bob"), "Bob holds task t by now, and not Bot"),
            ("Bob", Some("Bot"), "Bot holds task t by now, and not Bob"),
            ("token:CI", Some("token:ci-2"), "token:ci-2 holds task t by now, and not token:CI"),
            ("", Some("Bob"), "Bob holds task t by now"),
        ] {
            assert_eq!(refused(Some(expected), holder), Err(text.to_owned()));
        }
    }
}
