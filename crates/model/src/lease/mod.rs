//! File leases: who is working on which paths. An announcement that others respect, not a lock on the disk.

pub mod pattern;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::holder::Holder;
use crate::id::is_shared_name;
use crate::refusal::{Kind, Refusal};
use crate::session::ProcessLocation;
use crate::time::{Millis, Timestamp, ago, rfc3339};

/// How long a lease lasts when nothing is said: an hour.
pub const USUAL: Millis = 3_600_000;
/// The longest that may be asked for: a week.
pub const MAX_DURATION: Millis = 7 * 86_400_000;

/// Whether others may be there at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Others may have shared leases on the same paths.
    Shared,
    /// No other lease on the same paths is allowed.
    Exclusive,
}

impl Mode {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
        }
    }

    /// Reads the word; a word of a later version reads as the stricter one.
    pub fn from_word(word: &str) -> Self {
        if word == "shared" { Self::Shared } else { Self::Exclusive }
    }
}

/// Where the paths of a lease lie: as of the last call of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeLocation {
    /// The top folder of the working copy.
    pub root: String,
    /// What is checked out in it; none where that is no branch, or there is no git.
    pub branch: Option<String>,
}

/// A lease on the paths that a pattern matches.
#[derive(Debug, Clone, PartialEq)]
pub struct FileLease {
    /// The project.
    pub project_id: String,
    /// Its id.
    pub lease_id: String,
    /// A path or glob from the root of the repository.
    pub pattern: String,
    /// Whether others may be there.
    pub mode: Mode,
    /// It warns other callers and refuses none.
    pub advisory: bool,
    /// Who holds it.
    pub identity: String,
    /// In which session; with the session it ends.
    pub session_id: Option<String>,
    /// Where it ran when it took it; unknown of leases from before 0013 of the store.
    pub location: Option<ProcessLocation>,
    /// What for.
    pub why: Option<String>,
    /// Since when.
    pub taken_at: Millis,
    /// The last instant of it.
    pub expires_at: Millis,
    /// When it was given back.
    pub released_at: Option<Millis>,
    /// The access token that took it, by its id.
    pub access_token_id: Option<String>,
    /// The working copy of its session. One without a session is not bound to any.
    pub worktree: Option<WorktreeLocation>,
}

/// A lease as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub lease_id: String,
    /// A path or glob from the root of the repository.
    pub pattern: String,
    /// Whether others may be there.
    pub mode: Mode,
    /// It warns other callers and refuses none.
    pub advisory: bool,
    /// Who holds it.
    pub holder: String,
    /// In which session.
    pub session_id: Option<String>,
    /// What for.
    pub why: Option<String>,
    /// Since when.
    pub taken_at: Timestamp,
    /// The last instant of it.
    pub expires_at: Timestamp,
    /// The process that took it, where the holder's name is that of many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The machine of that process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The working copy that it holds in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The branch that it holds on, elsewhere too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl FileLease {
    /// Who has it.
    pub fn holder(&self) -> Holder<'_> {
        Holder {
            identity: &self.identity,
            session_id: self.session_id.as_deref(),
            location: self.location.as_ref(),
            access_token_id: self.access_token_id.as_deref(),
        }
    }

    /// Whether both are held by the same one, and something proves that.
    pub fn same_holder(&self, other: &Self) -> bool {
        self.holder().is_proven(&other.holder())
    }

    /// Whether the two cannot be held side by side.
    pub fn conflicts(&self, other: &Self) -> bool {
        !self.same_holder(other) && !self.is_apart(other) && self.overlaps(other)
    }

    /// Whether the two, wherever they are held, exclude each other on a path.
    fn overlaps(&self, other: &Self) -> bool {
        (self.mode == Mode::Exclusive || other.mode == Mode::Exclusive)
            && pattern::touches(&self.pattern, &other.pattern)
    }

    /// Whether the two are held in different working copies and on different branches: what is changed there meets in a merge only.
    /// What is not known is not apart.
    pub fn is_apart(&self, other: &Self) -> bool {
        let machine = |lease: &Self| lease.location.as_ref().map(|process| process.machine.clone());
        let (Some(own), Some(its)) = (&self.worktree, &other.worktree) else { return false };
        let is_elsewhere = own.root != its.root || machine(self) != machine(other);
        is_elsewhere && own.branch.is_some() && its.branch.is_some() && own.branch != its.branch
    }

    /// This lease, whose time is over, once another is taken: given back, where both cannot be held side by side, so that
    /// a clock that goes back makes it hold no more. One's own ends with its time; one that was taken over is known by a
    /// release after its end.
    pub fn ended_by(&self, taken: &Self, now: Millis) -> Option<Self> {
        let is_renewed = self.same_holder(taken) && self.pattern == taken.pattern;
        let is_taken_over = self.conflicts(taken) && !self.advisory && !taken.advisory;
        let released_at = match (is_renewed, is_taken_over) {
            (true, _) => self.expires_at,
            (false, true) => now,
            (false, false) => return None,
        };
        Some(Self { released_at: Some(released_at), ..self.clone() })
    }

    /// That it was taken over, in one clause.
    pub fn takeover(&self) -> String {
        let at = self.released_at.map(rfc3339).unwrap_or_default();
        format!(
            "your lease of {} was taken over when this machine's clock said {at}, after its end",
            self.pattern
        )
    }

    /// The lease as answers show it.
    pub fn row(&self) -> Row {
        let process = self.location.as_ref().filter(|_| is_shared_name(&self.identity));
        Row {
            lease_id: self.lease_id.clone(),
            pattern: self.pattern.clone(),
            mode: self.mode,
            advisory: self.advisory,
            holder: self.identity.clone(),
            session_id: self.session_id.clone(),
            why: self.why.clone(),
            taken_at: Timestamp(self.taken_at),
            expires_at: Timestamp(self.expires_at),
            process: process.map(|process| process.process.clone()),
            machine: process.map(|process| process.machine.clone()),
            folder: self.worktree.as_ref().map(|location| location.root.clone()),
            branch: self.worktree.as_ref().and_then(|location| location.branch.clone()),
        }
    }

    /// In one clause: `Lola has src/** exclusively, taken 5m ago (the parser)`.
    pub fn describe(&self, now: Millis) -> String {
        let how = match self.mode {
            Mode::Exclusive => "exclusively",
            Mode::Shared => "shared",
        };
        let why = self.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let holder = self.holder().describe();
        format!("{holder} has {} {how}, taken {}{why}", self.pattern, ago(now, self.taken_at))
    }
}

/// Checks a lease against those that are held: conflicts are refused, or only returned where either side is advisory, or where the
/// other is held in another working copy on another branch.
/// `is_elsewhere` says which are held by another live process of the wanted lease's name.
pub fn admit(
    wanted: &FileLease,
    held: &[FileLease],
    is_elsewhere: impl Fn(&FileLease) -> bool,
    now: Millis,
) -> Result<Vec<FileLease>, Refusal> {
    let is_other = |other: &&FileLease| !wanted.same_holder(other) || is_elsewhere(other);
    let against: Vec<FileLease> =
        held.iter().filter(is_other).filter(|other| wanted.overlaps(other)).cloned().collect();
    let is_firm = |other: &&FileLease| !other.advisory && !wanted.advisory && !wanted.is_apart(other);
    let firm: Vec<&FileLease> = against.iter().filter(is_firm).collect();
    let Some(first) = firm.first() else { return Ok(against) };
    Err(Refusal::new(
        Kind::Conflict,
        "lease_conflict",
        format!("{} cannot be leased: {}", wanted.pattern, first.describe(now)),
        format!(
            "work on something else, write to {}, wait until {}, or announce it all the same with --advisory",
            first.identity,
            rfc3339(first.expires_at)
        ),
    )
    .with("pattern", wanted.pattern.clone())
    .with("holders", firm.iter().map(|lease| json!(lease.row())).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(identity: &str, pattern: &str, mode: Mode) -> FileLease {
        FileLease {
            project_id: "p".into(),
            lease_id: "l".into(),
            pattern: pattern.into(),
            mode,
            advisory: false,
            identity: identity.into(),
            session_id: None,
            location: None,
            why: Some("the parser".into()),
            taken_at: 0,
            expires_at: USUAL,
            released_at: None,
            access_token_id: None,
            worktree: None,
        }
    }

    #[test]
    fn a_lease_that_another_clock_dates_ahead_is_not_as_old_as_nothing() {
        let text = |taken_at| FileLease { taken_at, ..lease("Lola", "src/**", Mode::Exclusive) }.describe(0);
        assert_eq!(text(7_200_000), "Lola has src/** exclusively, taken 2h ahead of this clock (the parser)");
        assert_eq!(text(-7_200_000), "Lola has src/** exclusively, taken 2h ago (the parser)");
        assert_eq!(text(30_000), "Lola has src/** exclusively, taken just now (the parser)");
    }

    #[test]
    fn a_lease_holds_in_its_working_copy_and_on_its_branch() {
        let at = |identity: &str, machine: &str, root: &str, branch: Option<&str>| FileLease {
            location: Some(ProcessLocation { machine: machine.into(), process: String::new() }),
            worktree: Some(WorktreeLocation { root: root.into(), branch: branch.map(str::to_owned) }),
            ..lease(identity, "src/**", Mode::Exclusive)
        };
        let held = [at("Lola", "m", "/shop", Some("main"))];
        for (machine, root, branch, is_refused) in [
            ("m", "/shop", Some("main"), true),
            ("m", "/shop", Some("fix"), true),
            ("m", "/beside", Some("main"), true),
            ("n", "/shop", Some("main"), true),
            ("m", "/beside", Some("fix"), false),
            ("n", "/shop", Some("fix"), false),
            ("m", "/beside", None, true),
        ] {
            let wanted = at("Donna", machine, root, branch);
            let answer = admit(&wanted, &held, |_| false, 0);
            assert_eq!(answer.is_err(), is_refused, "{machine} {root} {branch:?}");
            assert_eq!(wanted.conflicts(&held[0]), is_refused, "{machine} {root} {branch:?}");
            if let Ok(against) = answer {
                assert_eq!(against, held, "the caller is told of it");
            }
        }
        let anywhere = lease("Donna", "src/a.rs", Mode::Exclusive);
        assert!(admit(&anywhere, &held, |_| false, 0).is_err(), "a lease without a session holds everywhere");
    }

    #[test]
    fn leases_that_overlap_are_refused_unless_all_are_shared() {
        use Mode::{Exclusive, Shared};
        for (ours, theirs, refused) in [
            (Shared, Shared, false),
            (Shared, Exclusive, true),
            (Exclusive, Shared, true),
            (Exclusive, Exclusive, true),
        ] {
            let held = [lease("Lola", "src/**", theirs)];
            let answer = admit(&lease("Donna", "src/a.rs", ours), &held, |_| false, 0);
            assert_eq!(answer.is_err(), refused, "{ours:?} {theirs:?}");
            assert!(
                admit(&lease("Donna", "docs/a.md", ours), &held, |_| false, 0)
                    .is_ok_and(|against| against.is_empty())
            );
            assert!(
                admit(&lease("LOLA", "src/a.rs", ours), &held, |_| false, 0).is_ok(),
                "one's own never stand in the way"
            );
        }
    }

    #[test]
    fn what_is_advisory_is_told_and_refuses_nobody() {
        let held = [lease("Lola", "src/**", Mode::Exclusive)];
        let wanted = FileLease { advisory: true, ..lease("Donna", "src/a.rs", Mode::Exclusive) };
        assert_eq!(admit(&wanted, &held, |_| false, 0).map(|against| against.len()), Ok(1));
        let held = [FileLease { advisory: true, ..lease("Lola", "src/**", Mode::Exclusive) }];
        assert_eq!(
            admit(&lease("Donna", "src/a.rs", Mode::Exclusive), &held, |_| false, 0).map(|a| a.len()),
            Ok(1)
        );
    }

    #[test]
    fn a_refusal_names_the_holder() {
        let held = [lease("Lola", "src/**", Mode::Exclusive)];
        let refusal =
            admit(&lease("Donna", "src/a.rs", Mode::Shared), &held, |_| false, 60_000).expect_err("refused");
        assert_eq!(
            (refusal.code, &refusal.details["holders"][0]["holder"]),
            ("lease_conflict", &json!("Lola"))
        );
        assert!(
            refusal.message.contains("Lola has src/** exclusively, taken 1m ago (the parser)"),
            "{}",
            refusal.message
        );
    }

    #[test]
    fn two_bots_are_told_apart_by_their_sessions() {
        let session =
            |id: &str| FileLease { session_id: Some(id.into()), ..lease("Bot", "a", Mode::Exclusive) };
        assert!(session("1").conflicts(&session("2")));
        assert!(!session("1").conflicts(&session("1")));
    }
}
