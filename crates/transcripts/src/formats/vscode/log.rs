//! The log of a session: its first line is the whole session, every other line changes a part of it. Replaying it gives the session as
//! it stands.

use std::borrow::Cow;

use crate::event::SourcePosition;
use crate::report::{Complaints, kind};
use crate::shared::json::Json;
use crate::shared::lines::{self, Line};

/// Parts of values that are kept in memory at once, over all lines.
const MAX_PARTS: usize = 2_000_000;
/// No part of a session lies deeper; a log that nests its changes without end is not followed.
const MAX_DEPTH: usize = 64;

/// A line as text, with its number and whether a line end follows.
pub(super) type LogLine<'a> = (Cow<'a, str>, SourcePosition, bool);

/// The lines of a log; what is no text in them is counted.
pub(super) fn lines<'a>(bytes: &'a [u8], complaints: &mut Complaints) -> Vec<LogLine<'a>> {
    let mut all = Vec::new();
    let mut offset = 0_usize;
    for (at, raw) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let position = SourcePosition { line: at as u64 + 1, offset: offset as u64 };
        offset += raw.len();
        let ended = raw.ends_with(b"\n");
        let line = Line { position, bytes: Some(lines::trim(raw, at == 0)), ended };
        all.extend(lines::text(&line, complaints).map(|text| (text, position, ended)));
    }
    all
}

/// The session that the lines come to.
pub(super) fn replay<'a>(lines: &'a [LogLine<'_>], complaints: &mut Complaints) -> Json<'a> {
    let mut state = Json::Obj(Vec::new());
    let mut parts = 0_usize;
    for (text, position, ended) in lines {
        parts += memchr::memchr3_iter(b',', b'[', b'{', text.as_bytes()).count();
        if parts > MAX_PARTS {
            complaints.add(kind::OVERSIZED, position.line);
            break;
        }
        let line = Line { position: *position, bytes: None, ended: *ended };
        let Some(change) = lines::value(text, &line, complaints) else { continue };
        if apply(&mut state, change, position.line, complaints).is_none() {
            complaints.add(kind::BAD_RECORD, position.line);
        }
    }
    state
}

/// Applies the change of a line; nothing where it does not fit the session.
fn apply<'a>(state: &mut Json<'a>, change: Json<'a>, line: u64, complaints: &mut Complaints) -> Option<()> {
    let Json::Obj(mut fields) = change else { return None };
    let mut take = |name: &str| {
        let at = fields.iter().position(|(key, _)| key == name)?;
        Some(fields.swap_remove(at).1)
    };
    let (kind, value, path) = (take("kind")?, take("v"), take("k").unwrap_or(Json::Null));
    let cut = take("i").and_then(|at| usize::try_from(at.int()?).ok());
    let path = path.items();
    if path.len() > MAX_DEPTH {
        return None;
    }
    match kind.int() {
        Some(0) => *state = value.filter(|value| matches!(value, Json::Obj(_)))?,
        Some(1) => *slot(state, path)? = value.unwrap_or(Json::Null),
        Some(2) => push(slot(state, path)?, value, cut)?,
        Some(3) => *slot(state, path)? = Json::Null,
        Some(other) => complaints.add_unknown_type(&other.to_string(), line),
        None => complaints.add_unknown_type(kind.str().unwrap_or_default(), line),
    }
    Some(())
}

/// Adds values to a list, which is cut first where the change says so.
fn push<'a>(list: &mut Json<'a>, values: Option<Json<'a>>, cut: Option<usize>) -> Option<()> {
    if list.is_null() {
        *list = Json::Arr(Vec::new());
    }
    let Json::Arr(items) = list else { return None };
    items.truncate(cut.unwrap_or(items.len()));
    if let Some(Json::Arr(values)) = values {
        items.extend(values);
    }
    Some(())
}

/// The place that a path leads to. A field that is missing at its end is made; so is the item behind the last one of a list.
fn slot<'s, 'a>(state: &'s mut Json<'a>, path: &[Json<'a>]) -> Option<&'s mut Json<'a>> {
    let mut place = state;
    for step in path {
        if place.is_null() {
            *place = if step.str().is_some() { Json::Obj(Vec::new()) } else { Json::Arr(Vec::new()) };
        }
        place = match (place, step) {
            (Json::Obj(fields), Json::Str(name)) => {
                let at = fields.iter().position(|(key, _)| key == name).unwrap_or(fields.len());
                if at == fields.len() {
                    fields.push((name.clone(), Json::Null));
                }
                &mut fields[at].1
            }
            (Json::Arr(items), Json::Int(at)) => {
                let at = usize::try_from(*at).ok().filter(|at| *at <= items.len())?;
                if at == items.len() {
                    items.push(Json::Null);
                }
                &mut items[at]
            }
            _ => return None,
        };
    }
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, wanted: &str) -> Vec<String> {
        let mut complaints = Complaints::default();
        let lines = lines(log.as_bytes(), &mut complaints);
        assert_eq!(replay(&lines, &mut complaints), Json::parse(wanted).expect("valid"), "{log}");
        complaints.into_parts().0.into_iter().map(|one| one.kind).collect()
    }

    #[test]
    fn every_kind_of_change_is_replayed() {
        let log = [
            r#"{"kind":0,"v":{"requests":[{"id":"a","response":[1,2,3]}],"title":"x"}}"#,
            r#"{"kind":2,"k":["requests",0,"response"],"v":[9],"i":1}"#,
            r#"{"kind":2,"k":["requests"],"v":[{"id":"b"}]}"#,
            r#"{"kind":1,"k":["requests",1,"result"],"v":{"ok":true}}"#,
            r#"{"kind":3,"k":["title"]}"#,
            r#"{"kind":2,"k":["requests",0,"response"],"i":1}"#,
        ];
        let wanted =
            r#"{"requests":[{"id":"a","response":[1]},{"id":"b","result":{"ok":true}}],"title":null}"#;
        assert!(check(&log.join("\n"), wanted).is_empty());
    }

    #[test]
    fn a_change_that_does_not_fit_is_left_out_and_counted() {
        for change in [
            r#"{"kind":1,"k":["a",7],"v":1}"#,
            r#"{"kind":1,"k":["a",1000000000000],"v":1}"#,
            r#"{"kind":1,"k":["a",-1],"v":1}"#,
            r#"{"kind":2,"k":["b"],"v":[1]}"#,
            r#"{"kind":0,"v":[]}"#,
            r#"{"k":["a"]}"#,
            "[1]",
        ] {
            let log = format!("{{\"kind\":0,\"v\":{{\"a\":[],\"b\":1}}}}\n{change}");
            assert_eq!(check(&log, r#"{"a":[],"b":1}"#), ["bad_record"], "{change}");
        }
        let deep = format!(r#"{{"kind":1,"k":[{}"a"],"v":1}}"#, "\"a\",".repeat(MAX_DEPTH));
        assert_eq!(check(&deep, "{}"), ["bad_record"]);
        assert_eq!(check(r#"{"kind":9,"v":1}"#, "{}"), ["unknown_type"]);
    }

    #[test]
    fn a_log_without_its_first_line_gives_what_the_others_say() {
        let wanted = r#"{"requests":[{"id":"b"}]}"#;
        assert!(check(r#"{"kind":2,"k":["requests"],"v":[{"id":"b"}]}"#, wanted).is_empty());
    }
}
