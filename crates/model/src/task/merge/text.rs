//! Two versions of a text to which both sides have only added lines.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::clock::Clocks;
use super::super::reading::LineContent;
use super::super::version::Version;
use super::{State, stamp_of};

/// Texts of several lines.
pub(super) const TEXTS: [&str; 4] = ["notes", "description", "design", "acceptance_criteria"];

/// The texts in which both sides' additions are kept.
pub(super) fn joined(
    known: &[Version<'_>],
    ours: &State,
    (incoming, their_clocks): (&LineContent, &Clocks),
) -> BTreeMap<&'static str, Value> {
    let mut found = BTreeMap::new();
    for name in TEXTS {
        let Some((Some(Value::String(their)), their_stamp)) = incoming.entry(name) else { continue };
        let Some(Value::String(our)) = ours.entries.get(name) else { continue };
        let our_stamp = stamp_of(&ours.clocks, name, true);
        // Where one was made from the other, what it lacks was taken away.
        let is_made_from = match our_stamp.cmp(&their_stamp) {
            Ordering::Less => their_clocks.has_replaced(name, our),
            Ordering::Greater => ours.clocks.has_replaced(name, their),
            Ordering::Equal => false,
        };
        if is_made_from {
            continue;
        }
        let is_ours_first = (our_stamp, our) <= (their_stamp, their);
        let (first, second) = if is_ours_first { (our, their) } else { (their, our) };
        let ground = if our == their { None } else { ground(name, known, incoming, (our, their)) };
        let Some(text) = ground.and_then(|ground| added(ground, first, second)) else { continue };
        // Where one has all of the other, their order stays.
        let whole =
            [(our, their), (their, our)].into_iter().find(|(all, part)| gaps(&lines(part), all).is_some());
        found.insert(name, Value::String(whole.map_or(text, |(all, _)| all.clone())));
    }
    found
}

/// Notes in the clocks of a merged version which texts it replaces: those of both versions, and the one of them that it does not have.
pub(super) fn note_replaced(merged: &mut State, ours: &State, incoming: &LineContent, their_clocks: &Clocks) {
    merged.clocks.join_replaced(&ours.clocks);
    merged.clocks.join_replaced(their_clocks);
    for name in TEXTS {
        let Some((their, _)) = incoming.entry(name) else { continue };
        let our = ours.entries.get(name);
        if our == their {
            continue;
        }
        let at = merged.clocks.of(name).at;
        let merged_text = merged.entries.get(name).cloned();
        let lost = [our, their].into_iter().filter(|text| *text != merged_text.as_ref());
        for text in lost {
            merged.clocks.replace(name, text.and_then(Value::as_str).unwrap_or_default(), at);
        }
    }
}

/// Whether a text is another one to which lines were added.
pub(super) fn is_more(name: &str, text: Option<&Value>, of: Option<&Value>) -> bool {
    let [text, of] = [text, of].map(|value| value.and_then(Value::as_str));
    let (Some(text), Some(of), true) = (text, of, TEXTS.contains(&name)) else { return false };
    text != of && gaps(&lines(of), text).is_some()
}

/// The text that both have added to: that of the newest version that both may come from. None where a line of it was taken away or
/// changed on one side.
fn ground<'a>(
    name: &str,
    known: &'a [Version<'_>],
    incoming: &'a LineContent,
    (our, their): (&str, &str),
) -> Option<&'a str> {
    let text =
        |entries: &'a Map<String, Value>| entries.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut versions: Vec<&str> = match &incoming.base {
        Some(base) => vec![text(base)],
        None => known.iter().map(|version| text(&version.entries)).collect(),
    };
    while let Some(ground) = versions.pop() {
        // Only notes begin with what is added to nothing.
        if (ground.is_empty() && name != "notes") || gaps(&lines(ground), our).is_none() {
            return None;
        }
        if gaps(&lines(ground), their).is_some() {
            return Some(ground);
        }
    }
    None
}

fn lines(text: &str) -> Vec<&str> {
    if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
}

/// A text with the lines that two versions have added to it, at each place the first's before the second's. None where one of them has
/// taken a line away or changed one.
fn added(base: &str, first: &str, second: &str) -> Option<String> {
    let base = lines(base);
    let (first, second) = (gaps(&base, first)?, gaps(&base, second)?);
    let mut lines: Vec<&str> = Vec::new();
    for (at, (first, second)) in first.into_iter().zip(second).enumerate() {
        lines.extend(at.checked_sub(1).and_then(|at| base.get(at)));
        let mut left = first.clone();
        lines.extend(first);
        for line in second {
            match left.iter().position(|known| *known == line) {
                Some(at) => _ = left.remove(at),
                None => lines.push(line),
            }
        }
    }
    Some(lines.join("\n"))
}

/// The lines of a text before, between and behind those of the one from which it was made.
fn gaps<'a>(base: &[&str], text: &'a str) -> Option<Vec<Vec<&'a str>>> {
    let mut gaps = vec![Vec::new()];
    for line in text.split('\n') {
        if base.get(gaps.len() - 1) == Some(&line) {
            gaps.push(Vec::new());
        } else if let Some(gap) = gaps.last_mut() {
            gap.push(line);
        }
    }
    (gaps.len() == base.len() + 1).then_some(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_both_have_added_stay_in_the_order_of_time() {
        for (base, first, second, both) in [
            ("p", "p\na", "p\nb", Some("p\na\nb")),
            ("", "a", "b", Some("a\nb")),
            ("", "a\nx", "a\nb", Some("a\nx\nb")),
            ("p\nb", "p\na\nb", "p\nb\nc", Some("p\na\nb\nc")),
            ("p", "p\nsame", "p\nsame", Some("p\nsame")),
            ("p", "q\na", "p\nb", None),
            ("p\nq", "p\na", "p\nq\nb", None),
            ("p\n", "p\n\na", "p\n\nb", Some("p\n\na\nb")),
        ] {
            assert_eq!(added(base, first, second).as_deref(), both, "{base:?} {first:?} {second:?}");
        }
    }
}
