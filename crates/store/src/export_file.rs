//! The lines of an export: a header with what follows, the ledger, what stands beside it, and a last line with the digest of
//! all before. Each line carries a sum over itself and all lines before it, so that whatever is missing, altered, doubled or
//! moved is found, and at which line.
//!
//! The sums have no secret key: they find damage, not forgery.

use baton_model::lossless_json;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};

/// The version of these lines; exports from before had none, and no header.
pub const FORMAT: i64 = 2;
const SUM: &str = ",\"_sum\":\"";
/// Digits of a line's sum: enough against accidents, which is all that it is for.
const DIGITS: usize = 16;

/// Writes an export.
#[derive(Debug)]
pub struct Writer {
    text: String,
    sum: String,
    counts: (usize, usize),
    project_id: String,
}

impl Writer {
    /// Begins the export of a project with so many deltas and so many rows beside them.
    pub fn new(project_id: &str, deltas: usize, rows: usize) -> Self {
        let mut writer = Self {
            text: String::new(),
            sum: String::new(),
            counts: (deltas, rows),
            project_id: project_id.to_owned(),
        };
        let mut header = writer.frame("export");
        header.insert("format".into(), FORMAT.into());
        writer.line(&Json::Object(header));
        writer
    }

    /// Adds a delta or a row: an object that is not empty.
    pub fn line(&mut self, object: &Json) {
        let line = object.to_string();
        self.sum = sum(&self.sum, &line);
        self.text.push_str(line.strip_suffix('}').unwrap_or(&line));
        self.text.push_str(&format!("{SUM}{}\"}}\n", self.sum));
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        let mut last = self.frame("end");
        last.insert("sha256".into(), digest(self.text.as_bytes()).into());
        self.line(&Json::Object(last));
        self.text
    }

    fn frame(&self, kind: &str) -> Map<String, Json> {
        let mut frame = Map::new();
        frame.insert("_type".into(), kind.into());
        frame.insert("project_id".into(), self.project_id.clone().into());
        frame.insert("deltas".into(), self.counts.0.into());
        frame.insert("rows".into(), self.counts.1.into());
        frame
    }
}

/// Why lines are not a whole export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// They have neither header nor sums: an older Baton wrote them, and nothing says whether they are all there.
    Unverifiable,
    /// A line is not what was written.
    Line {
        /// Which, from 1.
        number: usize,
        /// What about it: "is …".
        what: String,
    },
}

/// A line between header and end: its number, and its object without the sum.
pub type NumberedLine = (usize, Map<String, Json>);

/// Reads the lines of an export, each without its line break, all of it or nothing.
pub fn read<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Vec<NumberedLine>, FileError> {
    let lines: Vec<&str> = lines.into_iter().collect();
    if !lines.is_empty() && lines.iter().all(|line| split(line).is_none()) {
        return Err(FileError::Unverifiable);
    }
    let mut whole = Sha256::new();
    let (mut running, mut content) = (String::new(), Vec::new());
    let (mut header, mut deltas, mut rows) = (None, 0, 0);
    for (index, line) in lines.iter().enumerate() {
        let number = index + 1;
        let flaw = |what: &str| FileError::Line { number, what: what.to_owned() };
        let (plain, given) = split(line).ok_or_else(|| flaw("has no sum: it was altered or cut"))?;
        running = sum(&running, &plain);
        if running != given {
            return Err(flaw(
                "is not the line that was written here: it was altered, or one before it is missing, doubled or moved",
            ));
        }
        let object: Map<String, Json> = lossless_json::read(plain.as_bytes())
            .map_err(|error| flaw(&format!("is not a JSON object: {error}")))?;
        let kind = object.get("_type").and_then(Json::as_str);
        match (&header, kind) {
            (None, Some("export")) => {
                if object.get("format").and_then(Json::as_i64) != Some(FORMAT) {
                    return Err(flaw("is of a format that this version does not know"));
                }
                header = Some(object);
            }
            (None, _) => return Err(flaw("is not the header of an export")),
            (Some(_), Some("export")) => return Err(flaw("is a second header")),
            (Some(header), Some("end")) => {
                check_end(&object, header, (deltas, rows), &hex(&whole.finalize())).map_err(flaw)?;
                return match lines.get(number) {
                    None => Ok(content),
                    Some(_) => {
                        Err(FileError::Line { number: number + 1, what: "comes after the end".into() })
                    }
                };
            }
            (Some(_), kind) => {
                if kind.is_none() {
                    deltas += 1
                } else {
                    rows += 1
                }
                content.push((number, object));
            }
        }
        whole.update(line.as_bytes());
        whole.update(b"\n");
    }
    Err(FileError::Line {
        number: lines.len() + 1,
        what: "is missing: the file was cut before its last line".into(),
    })
}

/// Compares the last line with the header, with what was counted, and with the digest of all before it.
fn check_end(
    end: &Map<String, Json>,
    header: &Map<String, Json>,
    (deltas, rows): (usize, usize),
    digest: &str,
) -> Result<(), &'static str> {
    let totals =
        |frame: &Map<String, Json>| ["project_id", "deltas", "rows"].map(|key| frame.get(key).cloned());
    let counted = [header.get("project_id").cloned(), Some(deltas.into()), Some(rows.into())];
    if totals(end) != totals(header) || totals(end) != counted {
        return Err("counts otherwise than the lines before it");
    }
    match end.get("sha256").and_then(Json::as_str) == Some(digest) {
        true => Ok(()),
        false => Err("has the digest of other lines"),
    }
}

/// Reads what there is of an export, or of one from before there were sums, believing all of it. The first line that is no
/// JSON object is a flaw all the same.
pub fn salvage<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Vec<NumberedLine>, FileError> {
    let mut content = Vec::new();
    for (index, line) in lines.into_iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let read = lossless_json::read::<Map<String, Json>>(line.as_bytes());
        let mut object = read.map_err(|error| FileError::Line {
            number: index + 1,
            what: format!("is not a JSON object: {error}"),
        })?;
        object.shift_remove("_sum");
        if !matches!(object.get("_type").and_then(Json::as_str), Some("export" | "end")) {
            content.push((index + 1, object));
        }
    }
    Ok(content)
}

/// A line without its sum, and the sum.
fn split(line: &str) -> Option<(String, &str)> {
    let (plain, sum) = line.strip_suffix("\"}")?.rsplit_once(SUM)?;
    (sum.len() == DIGITS).then(|| (format!("{plain}}}"), sum))
}

fn sum(previous: &str, line: &str) -> String {
    let mut sum = digest(format!("{previous}\n{line}").as_bytes());
    sum.truncate(DIGITS);
    sum
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn export() -> Vec<String> {
        let mut writer = Writer::new("p", 3, 2);
        for seq in 1..=3 {
            writer.line(
                &json!({ "seq": seq, "project_id": "p", "body": { "text": format!("naïve \"{seq}\" ✓") } }),
            );
        }
        writer.line(&json!({ "_type": "project", "project_id": "p", "seq": 3 }));
        writer
            .line(&json!({ "_type": "task", "project_id": "p", "title": ",\"_sum\":\"0123456789abcdef\"}" }));
        writer.finish().lines().map(str::to_owned).collect()
    }

    fn flaw(lines: &[String]) -> Option<FileError> {
        read(lines.iter().map(String::as_str)).err()
    }

    /// The first line of `changed` that differs from what was written is the one that is named.
    fn named(lines: &[String], changed: &[String]) {
        let first = (0..).find(|at| lines.get(*at) != changed.get(*at)).expect("a change") + 1;
        match flaw(changed) {
            Some(FileError::Line { number, what }) => assert_eq!(number, first, "{what}: {changed:#?}"),
            other => panic!("line {first} of {changed:#?}: {other:?}"),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let lines = export();
        let content = read(lines.iter().map(String::as_str)).expect("whole");
        assert_eq!(content.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert_eq!(content[4].1["title"], ",\"_sum\":\"0123456789abcdef\"}");
        assert_eq!(content, salvage(lines.iter().map(String::as_str)).expect("readable"));
    }

    #[test]
    fn every_line_that_is_missing_doubled_or_moved_is_named() {
        let lines = export();
        for at in 0..lines.len() {
            let mut less = lines.clone();
            less.remove(at);
            named(&lines, &less);
            for to in 0..=lines.len() {
                let mut more = lines.clone();
                more.insert(to, lines[at].clone());
                named(&lines, &more);
            }
            for to in (0..lines.len()).filter(|to| *to != at) {
                let mut moved = lines.clone();
                moved.swap(at, to);
                named(&lines, &moved);
            }
            named(&lines, &lines[..at]);
        }
    }

    #[test]
    fn every_byte_that_is_altered_removed_or_added_is_found_in_its_line() {
        let lines = export();
        for (at, line) in lines.iter().enumerate() {
            for place in 0..line.len() {
                for change in 0..10 {
                    let mut bytes = line.clone().into_bytes();
                    match change {
                        8 => drop(bytes.remove(place)),
                        9 => bytes.insert(place, b' '),
                        bit => bytes[place] ^= 1 << bit,
                    }
                    // What is no UTF-8 or breaks a line is met before.
                    let Ok(text) = String::from_utf8(bytes) else { continue };
                    let mut changed = lines.clone();
                    changed[at] = text;
                    named(&lines, &changed);
                }
            }
            for cut in 0..line.len() {
                let Some(start) = line.get(..cut) else { continue };
                let mut changed = lines[..at].to_vec();
                changed.push(start.to_owned());
                match at {
                    // What is left of a header alone has no sum, like an older export.
                    0 => assert_eq!(flaw(&changed), Some(FileError::Unverifiable)),
                    _ => named(&lines, &changed),
                }
            }
        }
    }

    #[test]
    fn an_export_from_before_there_were_sums_is_told_from_a_damaged_one() {
        let old = ["{\"seq\":1,\"project_id\":\"p\"}", "{\"_type\":\"project\",\"project_id\":\"p\"}"];
        assert_eq!(read(old), Err(FileError::Unverifiable));
        assert_eq!(salvage(old).expect("readable").len(), 2);
        for (line, why) in
            [("{\"a\":1,\"a\":2}", "given twice"), ("{\"a\":123456789012345678901}", "64 bits")]
        {
            let Err(FileError::Line { number: 1, what }) = salvage([line]) else { panic!("{line}") };
            assert!(what.contains(why), "{what}");
        }
        assert_eq!(
            read([]),
            Err(FileError::Line {
                number: 1,
                what: "is missing: the file was cut before its last line".into()
            })
        );
    }
}
