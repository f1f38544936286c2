//! The timestamps of a line, as far as they are plausible. A clock that is far ahead would win over all other changes
//! until then, and the last possible instant leaves no later one.

use std::collections::BTreeMap;

use super::Task;
use super::clock::Clocks;
use super::record::Record;
use crate::time::Millis;

/// How far another machine's clock may be ahead: a time zone that was taken for none, and a little more.
pub const AHEAD: Millis = 24 * 60 * 60 * 1000;

/// A line that is read now: what is said to have changed later than that changed now.
pub fn received(record: Record, now: Millis) -> Record {
    bounded(record, now, now)
}

/// A line that was read before: a time that cannot be believed says nothing about when that was, only that the task was there.
pub fn remembered(record: Record, now: Millis) -> Record {
    let created_at = record.task.created_at.min(now);
    bounded(record, created_at, now)
}

/// What the ledger has, written by a clock that was far ahead: its changes came right after the last one whose time can be believed, of
/// the ledger or of the lines that the file had. Later ones of others, whose clocks are right, come after them.
pub fn believed(record: Record, known: &[Record], now: Millis) -> Record {
    let last = now.saturating_add(AHEAD);
    let times = |record: &Record| {
        let own = [record.task.created_at, record.task.updated_at, record.task.clocks.floor];
        own.into_iter().chain(record.task.clocks.entries.values().copied()).collect::<Vec<_>>()
    };
    let all = known.iter().chain([&record]).flat_map(times);
    let newest = all.filter(|at| *at <= last).max().unwrap_or(now);
    bounded(record, newest.saturating_add(1), now)
}

/// The times of a task that changes now: those of a clock that was far ahead are earlier than this change.
pub(super) fn settle(task: &mut Task, now: Millis) {
    let record = bounded(Record { task: task.clone(), ..Record::default() }, now.saturating_sub(1), now);
    *task = record.task;
}

/// A record with this time in place of every one that is too far ahead.
fn bounded(mut record: Record, at: Millis, now: Millis) -> Record {
    let last = now.saturating_add(AHEAD);
    let bound = |time: &mut Millis| {
        if *time > last {
            *time = at;
        }
    };
    bound(&mut record.task.updated_at);
    record.stamp.iter_mut().for_each(bound);
    let Clocks { floor, entries, replaced } = &mut record.task.clocks;
    bound(floor);
    entries.values_mut().for_each(bound);
    replaced.values_mut().flat_map(BTreeMap::values_mut).for_each(bound);
    record
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::merge::{adopt, merge, touch};
    use crate::task::record::read;

    const NOW: Millis = 1_800_000_000_000;

    fn line(title: &str, updated_at: &str) -> Record {
        let line = format!(
            r#"{{"id":"a-1","title":"{title}","created_at":"2026-01-01T00:00:00Z","updated_at":"{updated_at}"}}"#
        );
        read(&serde_json::from_str(&line).expect("object")).expect("a record")
    }

    /// The title as the ledger has it, changed at this time; `from`: the line that it was made from.
    fn edited(from: &Record, title: &str, at: Millis) -> Record {
        let mut edited = adopt(from);
        let before = edited.task.clone();
        edited.task.title = title.into();
        edited.task.updated_at = at;
        touch(&before, &mut edited.task, at);
        edited
    }

    #[test]
    fn a_change_by_a_clock_far_ahead_yields_to_a_later_one_and_not_to_an_older_line() {
        let known = remembered(line("first", "2026-06-01T00:00:00Z"), NOW);
        let ours = edited(&known, "by a wrong clock", NOW + 2 * AHEAD);
        // Another clone read that an hour ago, and changed it half an hour ago.
        let hour = AHEAD / 24;
        let mut theirs = edited(&received(ours.clone(), NOW - hour), "later", NOW - hour / 2);
        theirs.stamp = Some(theirs.task.updated_at);
        for versions in [vec![known.clone()], vec![known.clone(), remembered(ours.clone(), NOW)]] {
            let ours = believed(ours.clone(), &versions, NOW);
            assert_eq!(merge(&versions, &ours, &theirs).0.task.title, "later");
            assert_eq!(
                merge(&versions, &ours, &known).0.task.title,
                "by a wrong clock",
                "an older line comes back"
            );
        }
    }

    #[test]
    fn a_change_after_the_clock_was_put_right_has_its_own_time() {
        let known = remembered(line("first", "2026-06-01T00:00:00Z"), NOW);
        let wrong = edited(&known, "by a wrong clock", NOW + 2 * AHEAD);
        let mut right = wrong.clone();
        right.task.title = "right".into();
        right.task.updated_at = NOW;
        touch(&wrong.task, &mut right.task, NOW);
        assert!(right.task.clocks.newest() <= NOW + 1, "{:?}", right.task.clocks);
    }

    #[test]
    fn a_time_far_ahead_is_the_time_at_which_it_is_read() {
        for (text, is_bounded) in [
            ("9999-12-31T23:59:59Z", true),
            ("9999-12-31T23:59:59.999999999-23:59", true),
            ("2077-01-01T00:00:00Z", true),
            ("2026-06-30T23:59:60Z", false),
            ("2026-06-30T23:59:59+14:00", false),
            ("0000-01-01T00:00:00Z", false),
            ("0001-01-01T00:00:00+23:59", false),
            ("-000001-01-01T00:00:00Z", false),
        ] {
            let read = received(line("t", text), NOW);
            assert_eq!(read.task.updated_at == NOW, is_bounded, "{text}");
            let mut ours = adopt(&read);
            let before = ours.task.clone();
            ours.task.title = "ours".into();
            ours.task.updated_at = NOW + 5;
            touch(&before, &mut ours.task, NOW + 5);
            let known = remembered(line("t", text), NOW + 10);
            let again = merge(std::slice::from_ref(&known), &ours, &known).0;
            assert_eq!(again.task.title, "ours", "{text}: it came back");
            let edited = line("theirs", "2027-02-01T00:00:00Z");
            assert_eq!(
                merge(&[known], &ours, &edited).0.task.title,
                "theirs",
                "{text}: a later change counts"
            );
        }
        assert!(
            super::super::record::read(
                &serde_json::from_str(r#"{"id":"a","updated_at":"2026-01-01T00:00:00+99:99"}"#)
                    .expect("object")
            )
            .is_err()
        );
    }
}
