//! The timestamps of a line, as far as they are plausible. A clock that is far ahead would win over all other changes
//! until then, and the last possible instant leaves no later one.

use std::collections::BTreeMap;

use super::clock::Clocks;
use super::record::Record;
use crate::time::Millis;

/// How far another machine's clock may be ahead: a time zone that was taken for none, and a little more.
pub const AHEAD: Millis = 24 * 60 * 60 * 1000;

/// A line that is read now: what is said to have changed later than that changed now.
pub fn received(mut record: Record, now: Millis) -> Record {
    let last = now.saturating_add(AHEAD);
    let bound = |at: &mut Millis| {
        if *at > last {
            *at = now;
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

/// A line that was read before: a time that cannot be believed says nothing about when that was, only that the task was there.
pub fn remembered(record: Record, now: Millis) -> Record {
    let mut bounded = received(record.clone(), now);
    if bounded.task.updated_at != record.task.updated_at {
        bounded.task.updated_at = record.task.created_at.min(now);
    }
    bounded
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
