//! What a reader could not use. Nothing is skipped without being counted here.

use serde::{Deserialize, Serialize};

use crate::printable::printable;

/// A kind of fault, how often it occurred and where first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// A stable word for the fault, see [`kind`].
    pub kind: String,
    /// How often it occurred.
    pub count: u64,
    /// Line of the first occurrence; 0 when it concerns the file as a whole.
    pub first_line: u64,
}

/// How many records a file has of a type that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeCount {
    /// The name that the tool gives the type, see [`label`]; empty where a record names none.
    pub name: String,
    /// Number of its records.
    pub count: u64,
}

/// Most names of unknown types that are counted for one file: a damaged file may have another one in each record.
pub const MAX_TYPES: usize = 32;

/// The name under which the types beyond [`MAX_TYPES`] are counted.
pub const OTHER_TYPES: &str = "others";

/// Most characters of a [`label`].
pub const MAX_LABEL: usize = 64;

/// A short name out of a file, such as a type or a version, as it may be shown and reported: on one line, without secrets
/// and without characters that are not seen, at most [`MAX_LABEL`] characters.
pub fn label(text: &str) -> String {
    /// More of it is not looked at.
    const WINDOW: usize = 1024;
    let window: String = text.chars().take(WINDOW).collect();
    let clean = printable(&window);
    let clean = baton_redact::shared().redact(&clean).text;
    let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_LABEL).collect()
}

/// The words for faults.
pub mod kind {
    /// The file cannot be opened or read further.
    pub const UNREADABLE: &str = "unreadable";
    /// A line is no JSON.
    pub const BAD_LINE: &str = "bad_line";
    /// The last line ends in the middle: the file was cut off or is being written.
    pub const TRUNCATED: &str = "truncated_last_line";
    /// A line is longer than we keep in memory and was skipped.
    pub const OVERSIZED: &str = "oversized_line";
    /// The file is one document that is larger than we keep in memory.
    pub const TOO_LARGE: &str = "file_too_large";
    /// Bytes that are no UTF-8 were replaced.
    pub const INVALID_UTF8: &str = "invalid_utf8";
    /// NUL bytes were dropped.
    pub const NUL_BYTES: &str = "nul_bytes";
    /// A line of a type that this version does not know was ignored.
    pub const UNKNOWN_TYPE: &str = "unknown_type";
    /// A message names a predecessor that is not in the file; the one before it was taken instead.
    pub const BROKEN_CHAIN: &str = "broken_chain";
    /// A record of a database or document is not what it should be, and was skipped.
    pub const BAD_RECORD: &str = "bad_record";
    /// A document ends in the middle; what stands before is used.
    pub const CUT: &str = "truncated_document";
    /// A document or database is damaged; what could be read before the damage is used.
    pub const DAMAGED: &str = "damaged";
    /// Another program holds the database so that it cannot be read now.
    pub const LOCKED: &str = "locked";
    /// The conversation began in another file, or went on in one, that is not there; what stands in this one is used.
    pub const MISSING_PART: &str = "missing_part";
    /// The file holds no conversation.
    pub const EMPTY: &str = "no_conversation";
}

/// Complaints while they are gathered.
#[derive(Debug, Clone, Default)]
pub struct Complaints {
    list: Vec<Complaint>,
    unknown_types: Vec<TypeCount>,
}

impl Complaints {
    /// Counts one more of a kind.
    pub fn add(&mut self, kind: &str, line: u64) {
        match self.list.iter_mut().find(|one| one.kind == kind) {
            Some(one) => one.count += 1,
            None => self.list.push(Complaint { kind: kind.to_owned(), count: 1, first_line: line }),
        }
    }

    /// Counts a record of a type that this version does not know, with the name of the type.
    pub fn add_unknown_type(&mut self, name: &str, line: u64) {
        self.add(kind::UNKNOWN_TYPE, line);
        self.count_type(&label(name), 1);
    }

    /// Counts a part that this version does not know, of a record that it knows: `attachment:new`. The doctor names it; it is no
    /// complaint, since tools add parts all the time that hold nothing of the conversation.
    pub fn add_unknown_part(&mut self, record: &str, name: &str) {
        self.count_type(&label(&format!("{record}:{name}")), 1);
    }

    /// Counts records of a type; beyond [`MAX_TYPES`] names, further ones together as [`OTHER_TYPES`].
    fn count_type(&mut self, name: &str, count: u64) {
        let types = &mut self.unknown_types;
        let named = types.iter().filter(|one| one.name != OTHER_TYPES).count();
        let has_room = named < MAX_TYPES || types.iter().any(|one| one.name == name);
        let name = if has_room { name } else { OTHER_TYPES };
        match types.iter_mut().find(|one| one.name == name) {
            Some(one) => one.count += count,
            None => types.push(TypeCount { name: name.to_owned(), count }),
        }
    }

    /// Adds those of another file.
    pub fn merge(&mut self, other: Self) {
        for theirs in other.list {
            match self.list.iter_mut().find(|one| one.kind == theirs.kind) {
                Some(one) => one.count += theirs.count,
                None => self.list.push(theirs),
            }
        }
        other.unknown_types.iter().for_each(|one| self.count_type(&one.name, one.count));
    }

    /// All of them, and the unknown types, each in the order of their first occurrence.
    pub fn into_parts(self) -> (Vec<Complaint>, Vec<TypeCount>) {
        (self.list, self.unknown_types)
    }
}

/// What a full read came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Lines (or records) seen.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Turns that the reader gave out: what was said and called, and compactions.
    pub events: u64,
    /// What was skipped or mended.
    pub complaints: Vec<Complaint>,
    /// The types behind the complaint [`kind::UNKNOWN_TYPE`], and unknown parts of known records. They are no part of it, since
    /// complaints go into packets.
    pub unknown_types: Vec<TypeCount>,
}

impl Report {
    /// Whether the file had no conversation at all; then there is a complaint about that.
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(complaints: Complaints) -> Vec<TypeCount> {
        complaints.into_parts().1
    }

    fn counted(names: &[&str]) -> Complaints {
        let mut complaints = Complaints::default();
        names.iter().zip(1..).for_each(|(name, line)| complaints.add_unknown_type(name, line));
        complaints
    }

    fn count(name: &str, count: u64) -> TypeCount {
        TypeCount { name: name.to_owned(), count }
    }

    #[test]
    fn unknown_types_are_counted_by_name_beside_the_complaint() {
        let mut complaints = counted(&["b", "a", "b"]);
        complaints.add(kind::BAD_LINE, 9);
        let (all, types) = complaints.into_parts();
        assert_eq!(types, [count("b", 2), count("a", 1)]);
        let expected = serde_json::json!([
            { "kind": "unknown_type", "count": 3, "first_line": 1 },
            { "kind": "bad_line", "count": 1, "first_line": 9 },
        ]);
        assert_eq!(serde_json::json!(all), expected, "complaints go into packets, and keep their shape");
    }

    #[test]
    fn a_file_with_another_type_in_each_record_names_so_many_and_counts_the_rest() {
        let names: Vec<String> = (0..MAX_TYPES + 5).map(|n| format!("t{n}")).collect();
        let mut complaints = counted(&names.iter().map(String::as_str).collect::<Vec<_>>());
        complaints.add_unknown_type("t0", 99);
        complaints.merge(counted(&["t1", "more"]));
        let types = types(complaints);
        assert_eq!(types.len(), MAX_TYPES + 1);
        assert_eq!([&types[0], &types[1]], [&count("t0", 2), &count("t1", 2)]);
        assert_eq!(types.last(), Some(&count(OTHER_TYPES, 6)));
    }

    #[test]
    fn a_name_is_one_short_line_without_what_is_not_seen_and_without_secrets() {
        let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8".repeat(3));
        for (name, wanted) in [
            ("message.v2", "message.v2".to_owned()),
            ("", String::new()),
            ("a\n\tb\u{0}", "a b".to_owned()),
            ("\u{1b}[31mred\u{202e}", "red\\u{202e}".to_owned()),
            (&"é".repeat(2000), "é".repeat(MAX_LABEL)),
            (&format!("type {secret}"), "type [redacted:github-token]".to_owned()),
        ] {
            assert_eq!(types(counted(&[name])), [count(&wanted, 1)], "{name:?}");
        }
    }
}
