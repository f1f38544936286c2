//! How complete the records of a session are, and of an identity's or a thread's sessions together.

use serde::{Deserialize, Serialize};

use crate::accounting::{SessionActivity, has_continuation};
use crate::packet::Packet;
use crate::session::{Limits, ReleaseReason, Session};
use crate::time::Millis;

/// One thing that the records of a session should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordPart {
    /// A start or a pickup.
    Begin,
    /// A checkpoint or a note on the way.
    Progress,
    /// A decision or a note, where files changed.
    Reason,
    /// A wrap that names next steps, open loops, or says that it is done.
    Wrap,
}

impl RecordPart {
    /// Every part, in the order of a session.
    pub const ALL: [Self; 4] = [Self::Begin, Self::Progress, Self::Reason, Self::Wrap];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Progress => "progress",
            Self::Reason => "reason",
            Self::Wrap => "wrap",
        }
    }
}

/// What of a session's records is there. A part that is not asked for is `None`: reasons where no file changed, a wrap
/// of a session that is still at work or that ended with nothing saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completeness([Option<bool>; 4]);

impl Completeness {
    /// Judges a session by what it did and the packet it left, if it wrapped.
    pub fn of(
        session: &Session,
        did: &SessionActivity,
        packet: Option<&Packet>,
        now: Millis,
        limits: Limits,
    ) -> Self {
        let changed_files = packet.is_some_and(|view| !view.files_modified.is_empty());
        let decided = did.notes + did.decisions > 0 || packet.is_some_and(|view| !view.decisions.is_empty());
        let empty_end =
            session.release.as_ref().is_some_and(|r| r.reason == ReleaseReason::Ended) && did.states == 0;
        let wrap_due = !session.is_fresh(now, limits) && !empty_end;
        Self([
            Some(did.began),
            Some(did.checkpoints + did.notes + did.decisions > 0),
            changed_files.then_some(decided),
            wrap_due.then(|| packet.is_some_and(has_continuation)),
        ])
    }

    /// Parts that are there, of the parts that are asked for.
    pub fn count(&self) -> (usize, usize) {
        let selected = self.0.iter().flatten();
        (selected.clone().filter(|there| **there).count(), selected.count())
    }

    /// The parts that are asked for and not there.
    pub fn missing(&self) -> impl Iterator<Item = RecordPart> {
        RecordPart::ALL
            .into_iter()
            .zip(self.0)
            .filter(|(_, there)| *there == Some(false))
            .map(|(part, _)| part)
    }
}

/// The sessions of one identity or one thread, added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletenessTotals {
    /// Sessions.
    pub sessions: usize,
    /// Those that wrapped.
    pub wraps: usize,
    /// Those that went silent or were replaced without a wrap.
    pub unwrapped: usize,
    /// Those that are at work.
    pub at_work: usize,
    /// The sum of the shares that are there, in millionths.
    shares: usize,
    /// How many sessions miss which part, in the order of [`Part::ALL`].
    missing: [usize; 4],
}

impl CompletenessTotals {
    /// Adds a session.
    pub fn add(&mut self, session: &Session, records: Completeness, unwrapped: bool, at_work: bool) {
        let (there, selected) = records.count();
        self.sessions += 1;
        self.wraps += usize::from(session.has_wrapped());
        self.unwrapped += usize::from(unwrapped);
        self.at_work += usize::from(at_work);
        self.shares += (there * 1_000_000).checked_div(selected).unwrap_or(1_000_000);
        for part in records.missing() {
            self.missing[part as usize] += 1;
        }
    }

    /// The mean completeness in whole percent, rounded down.
    pub fn percent(&self) -> usize {
        self.shares.checked_div(self.sessions * 10_000).unwrap_or(100)
    }

    /// As answers show it.
    pub fn view(&self) -> View {
        let [begin, progress, reason, wrap] = self.missing;
        View {
            sessions: self.sessions,
            wraps: self.wraps,
            unwrapped: self.unwrapped,
            at_work: self.at_work,
            completeness_percent: self.percent(),
            missing: Missing { begin, progress, reason, wrap },
        }
    }
}

/// The sessions of one identity or one thread, as answers show them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Sessions.
    pub sessions: usize,
    /// Those that wrapped.
    pub wraps: usize,
    /// Those that went silent or were replaced without a wrap.
    pub unwrapped: usize,
    /// Those that are at work.
    pub at_work: usize,
    /// The mean completeness in whole percent, rounded down.
    pub completeness_percent: usize,
    /// What their records lack.
    pub missing: Missing,
}

/// How many sessions miss which part of their records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// A start or a pickup.
    #[serde(skip_serializing_if = "is_zero")]
    pub begin: usize,
    /// A checkpoint or a note on the way.
    #[serde(skip_serializing_if = "is_zero")]
    pub progress: usize,
    /// A decision or a note, where files changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub reason: usize,
    /// A wrap that names next steps, open loops, or says that it is done.
    #[serde(skip_serializing_if = "is_zero")]
    pub wrap: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::ValidatedPacket;
    use crate::session::{Release, tests::session};

    const NOW: Millis = 10_000_000;

    fn over(reason: ReleaseReason) -> Session {
        let mut over = session("A", "m", "1", NOW);
        over.release = Some(Release { at: NOW, reason, by: "A".into(), successor: None });
        over
    }

    fn missing(session: &Session, did: &SessionActivity, packet: Option<&str>) -> Vec<RecordPart> {
        let packet = packet.map(|text| ValidatedPacket::parse(text.to_owned()).expect("packet"));
        let view = packet.as_ref().map(ValidatedPacket::view);
        Completeness::of(session, did, view, NOW, Limits::default()).missing().collect()
    }

    fn began() -> SessionActivity {
        SessionActivity { began: true, ..SessionActivity::default() }
    }

    #[test]
    fn a_session_at_work_owes_no_wrap_yet() {
        assert_eq!(missing(&session("A", "m", "1", NOW), &began(), None), [RecordPart::Progress]);
        assert_eq!(
            missing(&session("A", "m", "1", 0), &began(), None),
            [RecordPart::Progress, RecordPart::Wrap]
        );
    }

    #[test]
    fn an_end_with_nothing_saved_owes_no_wrap() {
        assert_eq!(missing(&over(ReleaseReason::Ended), &began(), None), [RecordPart::Progress]);
        let saved = SessionActivity { states: 1, checkpoints: 1, ..began() };
        assert_eq!(missing(&over(ReleaseReason::Ended), &saved, None), [RecordPart::Wrap]);
    }

    #[test]
    fn a_wrap_says_how_it_goes_on() {
        let wrapped = over(ReleaseReason::Wrapped);
        let did = SessionActivity { checkpoints: 1, ..began() };
        assert_eq!(missing(&wrapped, &did, Some(r#"{"summary":"s"}"#)), [RecordPart::Wrap]);
        for rest in [
            r#""next_steps":["a"]"#,
            r#""open_loops":["a"]"#,
            r#""done":true"#,
            r#""metadata":{"done":true}"#,
        ] {
            let packet = format!(r#"{{"summary":"s",{rest}}}"#);
            assert_eq!(missing(&wrapped, &did, Some(&packet)), [], "{rest}");
        }
    }

    #[test]
    fn changed_files_want_a_reason() {
        let wrapped = over(ReleaseReason::Wrapped);
        let did = SessionActivity { checkpoints: 1, ..began() };
        let packet = r#"{"summary":"s","done":true,"files_modified":["a.rs"]}"#;
        assert_eq!(missing(&wrapped, &did, Some(packet)), [RecordPart::Reason]);
        assert_eq!(missing(&wrapped, &SessionActivity { notes: 1, ..did.clone() }, Some(packet)), []);
        let decided = r#"{"summary":"s","done":true,"files_modified":["a.rs"],"decisions":["b"]}"#;
        assert_eq!(missing(&wrapped, &did, Some(decided)), []);
    }

    #[test]
    fn a_tally_is_the_mean_of_its_sessions() {
        let mut tally = CompletenessTotals::default();
        assert_eq!(tally.percent(), 100);
        let half = Completeness([Some(true), Some(false), None, None]);
        let whole = Completeness([Some(true), Some(true), Some(true), Some(true)]);
        tally.add(&over(ReleaseReason::Wrapped), whole, false, false);
        tally.add(&session("A", "m", "1", NOW), half, false, true);
        assert_eq!(tally.percent(), 75);
        assert_eq!(tally.view().missing, Missing { progress: 1, ..Missing::default() });
    }
}
