//! The holder of a claim or a lease. A name is one agent; `Bot` is shared by many, which are distinguished by session
//! and process.

use crate::id::{identity_key, is_shared_name, short};
use crate::session::ProcessLocation;

/// A holder of a claim or a lease, or a caller that asks for one.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    /// The identity.
    pub identity: &'a str,
    /// Its session, if it has one.
    pub session_id: Option<&'a str>,
    /// Where it runs; unknown of what the router gave, and of what was kept before places were.
    pub location: Option<&'a ProcessLocation>,
    /// The access token that it acts with, by its id; none for the local user, and for what was kept before tokens were.
    pub access_token_id: Option<&'a str>,
}

impl Holder<'_> {
    /// Whether both are one agent. A name is one agent in every process. `Bot` is shared by many: sessions distinguish
    /// them, else processes. Without either they count as one.
    pub fn is_same(&self, other: &Self) -> bool {
        if identity_key(self.identity) != identity_key(other.identity) {
            return false;
        }
        if !is_shared_name(self.identity) {
            return true;
        }
        if let (Some(own), Some(other)) = (self.access_token_id, other.access_token_id)
            && own != other
        {
            return false;
        }
        match (self.session_id, other.session_id, self.location, other.location) {
            (Some(own), Some(other), ..) => own == other,
            (_, _, Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// Whether something proves that both are one agent: a name of its own, the same session, or a known process. A caller whose location
    /// is not known counts as proven by it: it is Baton itself.
    pub fn is_proven(&self, other: &Self) -> bool {
        let by_session = self.session_id.is_some() && self.session_id == other.session_id;
        let by_location = other.location.is_none_or(|location| !location.process.is_empty());
        self.is_same(other) && (!is_shared_name(self.identity) || by_session || by_location)
    }

    /// The holder in a clause: `Ann`, or `Bot (process 17:42@7 on machine m1)`.
    pub fn describe(&self) -> String {
        let name = self.identity;
        if !is_shared_name(name) {
            return name.to_owned();
        }
        let session = self.session_id.map(|id| format!("session {}", short(id)));
        let location = self.location.map(ProcessLocation::describe);
        let known: Vec<String> = session.into_iter().chain(location).collect();
        if known.is_empty() { name.to_owned() } else { format!("{name} ({})", known.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(machine: &str, process: &str) -> ProcessLocation {
        ProcessLocation { machine: machine.into(), process: process.into() }
    }

    fn same(
        one: (&str, Option<&str>, &ProcessLocation),
        other: (&str, Option<&str>, &ProcessLocation),
    ) -> (bool, bool) {
        let holder = |(identity, session_id, location)| Holder {
            identity,
            session_id,
            location: Some(location),
            access_token_id: None,
        };
        (holder(one).is_same(&holder(other)), holder(one).is_proven(&holder(other)))
    }

    #[test]
    fn a_name_is_one_agent_wherever_it_runs() {
        let (here, there) = (location("m1", "1"), location("m2", ""));
        assert_eq!(same(("Ann", None, &here), ("ANN", Some("s"), &there)), (true, true));
        assert_eq!(same(("Ann", None, &here), ("Ben", None, &here)), (false, false));
    }

    #[test]
    fn unnamed_callers_are_told_apart_by_session_and_process() {
        let (one, two, far) = (location("m1", "1"), location("m1", "2"), location("m2", "1"));
        for name in ["Bot", "token:ci"] {
            assert_eq!(same((name, None, &one), (name, None, &one)), (true, true));
            for other in [&two, &far] {
                assert_eq!(same((name, None, &one), (name, None, other)), (false, false));
            }
            assert_eq!(same((name, Some("a"), &one), (name, Some("b"), &one)), (false, false));
            assert_eq!(same((name, Some("a"), &one), (name, Some("a"), &two)), (true, true), "it moved");
            assert_eq!(same((name, None, &one), (name, Some("a"), &one)), (true, true), "it began since");
            assert_eq!(same((name, None, &one), (name, Some("a"), &two)), (false, false));
        }
    }

    #[test]
    fn who_has_neither_name_nor_process_proves_nothing() {
        let (unknown, elsewhere) = (location("m1", ""), location("m2", ""));
        assert_eq!(same(("Bot", None, &unknown), ("Bot", None, &unknown)), (true, false));
        assert_eq!(same(("Bot", None, &unknown), ("Bot", None, &elsewhere)), (false, false));
        assert_eq!(same(("Bot", Some("a"), &unknown), ("Bot", Some("a"), &unknown)), (true, true));
    }

    #[test]
    fn an_unnamed_holder_is_shown_with_what_tells_it_apart() {
        let location = location("m1", "17:42@7");
        let holder =
            Holder { identity: "Bot", session_id: None, location: Some(&location), access_token_id: None };
        assert_eq!(holder.describe(), "Bot (process 17:42@7 on machine m1)");
        assert_eq!(Holder { identity: "Ann", ..holder }.describe(), "Ann");
    }
}
