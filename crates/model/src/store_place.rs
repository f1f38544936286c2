//! Where a store is, and which of several stores with one ledger carries out what goes outside: each of them has every hand-off, and
//! two that write to one issue undo each other's work.

/// Whether a store may call what is outside: of several with one ledger one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideCalls {
    /// It is the one.
    Allowed,
    /// Another one is: here such steps wait.
    Held,
}

/// Where a store is, and what tells it from a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorePlace {
    /// The file without links, or the address of the database without a password.
    pub place: String,
    /// The machine whose disk the file is on; empty where that is not known.
    pub machine_id: String,
    /// What a copy of it has otherwise: the number of the file on its disk, or the numbers of server and database. Empty where that is
    /// not known.
    pub key: String,
    /// Whether it is a database on a server.
    pub is_database: bool,
}

impl StorePlace {
    /// Whether the store here is the one that was noted as `self`, although it may have been moved since. `is_there` says whether a path of
    /// this machine leads to something.
    pub fn is_same(&self, here: &Self, is_there: impl Fn(&str) -> bool) -> bool {
        let is_here = !self.machine_id.is_empty() && self.machine_id == here.machine_id;
        let has_key = !self.key.is_empty() && self.key == here.key;
        let has_place = self.place == here.place;
        match (self.is_database, here.is_database) {
            (true, true) => has_key || (self.key.is_empty() || here.key.is_empty()) && has_place,
            // The ledger has moved to a database, and nothing is left in its old place.
            (false, true) => is_here && !is_there(&self.place),
            (true, false) => false,
            // Another file in the same place is a copy of it, or was made anew: the one that was here may live on in another place. A
            // restore says itself whose place the file takes. A container has another machine each time, and one volume.
            (false, false) if has_place => {
                let has_no_key = self.key.is_empty() || here.key.is_empty();
                (is_here || here.machine_id.is_empty()) && (has_key || has_no_key)
            }
            (false, false) => is_here && has_key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(place: &str, machine: &str, key: &str) -> StorePlace {
        StorePlace { place: place.into(), machine_id: machine.into(), key: key.into(), is_database: false }
    }

    fn database(place: &str, key: &str) -> StorePlace {
        StorePlace { place: place.into(), machine_id: "m".into(), key: key.into(), is_database: true }
    }

    #[track_caller]
    fn check(known: &StorePlace, here: &StorePlace, is_there: bool, expected: bool) {
        assert_eq!(known.is_same(here, |_| is_there), expected, "{known:?} {here:?} {is_there}");
    }

    #[test]
    fn a_copy_is_told_from_a_store_that_was_moved() {
        let known = file("/a/baton.db", "m", "7");
        check(&known, &known, true, true);
        // Moved away, and copied or restored in the place where it was.
        check(&known, &file("/a/baton.db", "m", "8"), true, false);
        check(&known, &file("/a/baton.db", "m", ""), true, true);
        // The disk of a machine, copied with all numbers for another one.
        check(&known, &file("/a/baton.db", "other", "7"), true, false);
        check(&known, &file("/b/baton.db", "m", "7"), false, true);
        // Moved to another disk, or a copy whose original was moved: which of them cannot be told.
        check(&known, &file("/b/baton.db", "m", "8"), false, false);
        check(&known, &file("/b/baton.db", "m", "8"), true, false);
        check(&known, &file("/a/baton.db", "other", "8"), true, false);
        check(&known, &file("/b/baton.db", "other", "8"), false, false);
    }

    #[test]
    fn a_database_is_known_by_its_numbers() {
        let known = database("postgres://u@h/d", "1/5");
        check(&known, &database("postgres://u@other/d", "1/5"), true, true);
        check(&known, &database("postgres://u@h/d", "1/6"), true, false);
        check(&known, &database("postgres://u@h/d", ""), true, true);
        check(&file("/a/baton.db", "m", "7"), &known, true, false);
        check(&file("/a/baton.db", "m", "7"), &known, false, true);
        check(&known, &file("/a/baton.db", "m", "7"), false, false);
    }
}
