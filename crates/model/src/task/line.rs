//! Lines of a task: which of the earlier ones are remembered, and how two of them are made one without a ledger.

use serde_json::{Map, Value};

use super::conflict::Conflict;
use super::coverage;
use super::entry::is_comment;
use super::merge::{adopt, clocks_of, merge_from};
use super::reading::Ancestor;
use super::record::{Record, RecordError, read, write};

/// How many earlier lines of a task are remembered.
const MAX_VERSIONS: usize = 4;
/// How many bytes the remembered lines of a task may have together; the last one stays in any case.
const MAX_BYTES: usize = 256 * 1024;

/// The earlier lines that are remembered once `next` has followed `last`, oldest first. The first and the newest without clocks are
/// among them, because another tool goes on from there.
pub fn retained_lines(mut earlier: Vec<String>, last: &str, next: &str) -> Vec<String> {
    if last == next {
        return earlier;
    }
    earlier.retain(|line| line != last && line != next);
    earlier.push(last.to_owned());
    let is_bare = |line: &String| !has_clocks(line);
    let (first, newest) = (earlier.iter().position(is_bare), earlier.iter().rposition(is_bare));
    let (mut count, mut bytes) = (0, 0);
    let mut at = earlier.len();
    let mut recent: Vec<String> = Vec::new();
    while let Some(line) = earlier.pop() {
        at -= 1;
        let fits = (count < MAX_VERSIONS || first == Some(at)) && bytes + line.len() <= MAX_BYTES;
        if count == 0 || fits || newest == Some(at) {
            (count, bytes) = (count + 1, bytes + line.len());
            recent.push(line);
        }
    }
    recent.reverse();
    recent
}

/// The line of a record: the last one with what differs, or an earlier one that says just that, byte for byte, where every reader
/// takes it for the later of the two.
pub fn render(record: &Record, last: Option<&str>, earlier: &[String]) -> String {
    let row = |line: &str| serde_json::from_str::<Map<String, Value>>(line).ok();
    let base = last.and_then(row);
    let wanted = write(record, base.as_ref());
    if let (Some(last), true) = (last, base.as_ref() == Some(&wanted)) {
        return last.to_owned();
    }
    let last_at =
        base.as_ref().and_then(|row| read(row).ok()).map_or(i64::MIN, |record| record.task.updated_at);
    let is_later = |line: &str, row: &Map<String, Value>| match read(row) {
        Ok(read) if has_clocks(line) => tells_when(&read, record),
        Ok(read) => read.task.updated_at > last_at,
        Err(_) => false,
    };
    let says_it = |line: &&String| {
        row(line).is_some_and(|row| {
            is_later(line, &row) && coverage::has_state(&row) && write(record, Some(&row)) == row
        })
    };
    match earlier.iter().rev().find(says_it) {
        Some(line) => line.clone(),
        None => Value::Object(wanted).to_string(),
    }
}

/// Whether the clocks of a line cover every change of the known record. A line with an earlier time for the same change
/// would not win.
fn tells_when(line: &Record, record: &Record) -> bool {
    let (stated, known) = (clocks_of(line), clocks_of(record));
    let mut dated = known.entries.keys().filter(|name| !is_comment(name));
    dated.all(|name| stated.of(name) >= known.of(name))
}

/// Whether a line looks like one that carries clocks.
fn has_clocks(line: &str) -> bool {
    line.contains("\"clock\":{")
}

/// Makes two lines of a task one, given the one that both began from: what a merge of two files does. Both orders give
/// the same task. What only one side has changed is as that side has it, whatever its clock says; real conflicts are
/// returned.
pub fn merge_lines(
    base: Option<&Map<String, Value>>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
) -> Result<(Map<String, Value>, Vec<Conflict>), RecordError> {
    if ours == theirs {
        return Ok((ours.clone(), Vec::new()));
    }
    let (our, their) = (read(ours)?, read(theirs)?);
    let known: Vec<_> = base.map(read).transpose()?.into_iter().collect();
    let age = |record: &Record, row: &Map<String, Value>| {
        (record.task.updated_at, Value::Object(row.clone()).to_string())
    };
    let is_newer = age(&their, theirs) > age(&our, ours);
    let (newer, older) = if is_newer { (theirs, ours) } else { (ours, theirs) };
    let (first, second) = if is_newer { (&our, &their) } else { (&their, &our) };
    let begun = match known.first() {
        Some(base) => merge_from(&known, Ancestor::Given, &adopt(base), first).0,
        None => adopt(first),
    };
    let (merged, mut conflicts) = merge_from(&known, Ancestor::Given, &begun, second);
    if !is_newer {
        conflicts.iter_mut().for_each(Conflict::swap);
    }
    let as_older = write(&merged, Some(older));
    let row = if as_older == *older { as_older } else { write(&merged, Some(newer)) };
    Ok((row, conflicts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_earlier_lines_are_remembered_and_the_newest_of_another_tool() {
        let marked = |n: usize| format!(r#"{{"metadata":{{"handoff.v1":{{"clock":{{"at":{n}}}}}}}}}"#);
        let mut earlier = vec!["first".to_owned(), "old".to_owned(), "bare".to_owned()];
        for n in 0..9 {
            earlier = retained_lines(earlier, &marked(n), &marked(n + 1));
        }
        assert_eq!(
            earlier,
            ["first".to_owned(), "bare".to_owned(), marked(5), marked(6), marked(7), marked(8)]
        );
        assert_eq!(retained_lines(earlier.clone(), "x", "x"), earlier);
        let large = "x".repeat(MAX_BYTES + 1);
        assert_eq!(retained_lines(earlier, &large, "y"), [large]);
    }

    #[test]
    fn two_lines_become_one_whatever_the_order() {
        let row = |text: &str| serde_json::from_str::<Map<String, Value>>(text).expect("object");
        let base = row(r#"{"id":"a","title":"t","status":"open","updated_at":"2026-01-01T00:00:00Z","x":1}"#);
        let ours = row(
            r#"{"id":"a","title":"u","status":"open","updated_at":"2026-01-02T00:00:00Z","x":1,"labels":["l"]}"#,
        );
        let theirs =
            row(r#"{"id":"a","title":"t","status":"closed","updated_at":"2026-01-03T00:00:00Z","x":1}"#);
        let merged = merge_lines(Some(&base), &ours, &theirs).expect("merged");
        let merged = merged.0;
        assert_eq!(merge_lines(Some(&base), &theirs, &ours).map(|both| both.0), Ok(merged.clone()));
        assert_eq!(
            (&merged["title"], &merged["status"], &merged["labels"], &merged["x"]),
            (&"u".into(), &"closed".into(), &vec!["l"].into(), &1.into())
        );
        assert_eq!(
            merge_lines(Some(&base), &base, &theirs),
            Ok((theirs, vec![])),
            "an untouched side leaves the other as it is"
        );
    }

    #[test]
    fn what_one_side_alone_changed_is_kept_whatever_its_clock() {
        let row = |at: &str, more: &str| {
            let text = format!(
                r#"{{"id":"a","title":"t","status":"open","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T{at}Z"{more}}}"#
            );
            serde_json::from_str::<Map<String, Value>>(&text).expect("object")
        };
        let base = row("12:00:00", "");
        for (ours, theirs) in [
            ("12:10:00", "11:59:00"),
            ("11:59:00", "11:59:00"),
            ("12:00:00", "12:00:00"),
            ("12:10:00", "12:00:00"),
        ] {
            let (ours, theirs) = (row(ours, r#","notes":"n""#), row(theirs, r#","design":"d""#));
            let (merged, conflicts) = merge_lines(Some(&base), &ours, &theirs).expect("merged");
            assert_eq!((&merged["notes"], &merged["design"], conflicts), (&"n".into(), &"d".into(), vec![]));
            let (other, _) = merge_lines(Some(&base), &theirs, &ours).expect("merged");
            assert_eq!(other, merged);
        }
        // At odds, the newer clock wins, and the other is told.
        let (ours, theirs) =
            (row("12:10:00", r#","design":"ours""#), row("12:20:00", r#","design":"theirs""#));
        let (merged, conflicts) = merge_lines(Some(&base), &ours, &theirs).expect("merged");
        let cases =
            |conflict: &Conflict| (conflict.ours.clone(), conflict.theirs.clone(), conflict.kept.as_str());
        assert_eq!(merged["design"], "theirs");
        assert_eq!(
            conflicts.iter().map(cases).collect::<Vec<_>>(),
            [("ours".into(), "theirs".into(), "theirs")]
        );
        let (_, conflicts) = merge_lines(Some(&base), &theirs, &ours).expect("merged");
        assert_eq!(
            conflicts.iter().map(cases).collect::<Vec<_>>(),
            [("theirs".into(), "ours".into(), "ours")]
        );
    }
}
