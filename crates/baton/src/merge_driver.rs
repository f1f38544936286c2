//! The merge driver for the Beads file, task by task and field by field, and its registration in a repository.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use baton_model::lossless_json::require_lossless;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::conflict::Conflict;
use baton_model::task::line::merge_lines;
use baton_model::task::renamed::{row_renamed_to, row_under_id, row_without_deletion};
use serde_json::{Map, Value};

use crate::git;
use crate::repo_file::{Fault, MAX_SMALL_FILE_BYTES, RepoFile};

/// The name of the driver in git's settings.
const NAME: &str = "baton-beads";
/// The file in which a repository says which driver merges what.
const ATTRIBUTES: &str = ".gitattributes";

/// A line of the file.
struct Line {
    text: String,
    row: Map<String, Value>,
}

impl Line {
    /// The id of a task; none for a line that is no task.
    fn id(&self) -> Option<&str> {
        let is_task = self.row.get("_type").is_none_or(|kind| kind == "issue");
        self.row.get("id").and_then(Value::as_str).filter(|_| is_task)
    }
}

fn unmergeable_refusal(path: &Path, number: usize, what: &str) -> Refusal {
    let message = format!("line {number} of {} {what}", path.display());
    Refusal::invalid(
        "beads_unmergeable",
        message,
        "mend the line, then merge again; git shows both sides until then",
    )
}

/// The largest file that is merged, in bytes: three of them are held in memory.
const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

fn read(path: &Path) -> Result<Vec<Line>, Refusal> {
    let text = RepoFile::from_user_path(path).text(MAX_FILE_BYTES);
    let text = text
        .map_err(|fault| unmergeable_refusal(path, 1, &format!("cannot be read: {fault}")))?
        .unwrap_or_default();
    let mut lines = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            continue;
        }
        let row = serde_json::from_str(text)
            .map_err(|error| unmergeable_refusal(path, at + 1, &format!("is no task: {error}")))?;
        lines.push(Line { text: text.to_owned(), row });
    }
    Ok(lines)
}

/// Merges the file of one side and that of the other, which began from a third, into one. With it comes what both sides had changed
/// differently.
pub(crate) fn merge(base: &Path, ours: &Path, theirs: &Path) -> Result<(String, Vec<Conflict>), Refusal> {
    let [base, our, their] = [base, ours, theirs].map(read);
    let (base, our, their) = (base?, our?, their?);
    let [of_base, of_ours, of_theirs] = [&base, &our, &their].map(|lines| tasks(lines));
    let texts = |lines: &[Line]| lines.iter().map(|line| line.text.clone()).collect::<HashSet<_>>();
    let sides = [texts(&base), texts(&our), texts(&their)];
    let moved = moved_lines(&of_base, [&of_ours, &of_theirs]);
    // A side that went back to before a rename lacks the present id, and has taken nothing away.
    let renamed: HashSet<&str> =
        base.iter().chain(&our).chain(&their).filter_map(|line| row_renamed_to(&line.row)).collect();
    let (mut merged, mut conflicts) = (Vec::new(), Vec::new());
    let mut met = HashSet::new();
    for (line, other) in
        our.iter().map(|line| (line, &of_theirs)).chain(their.iter().map(|line| (line, &of_ours)))
    {
        let name = line.id().unwrap_or(&line.text);
        if !met.insert(name.to_owned()) {
            continue;
        }
        match line.id() {
            Some(id) => {
                let moved = moved.get(id);
                let begun = of_base.get(id).and_then(|lines| lines.first()).map(|line| &line.row);
                // A side has taken the line away that the other left alone.
                let is_gone = !other.contains_key(id) && begun == Some(&line.row) && !renamed.contains(id);
                let begun = begun.or(moved.and_then(|moved| moved.base.as_ref()));
                if let Some(former) = former_line(id, [&of_ours, &of_theirs, &of_base]) {
                    merged.push((id.to_owned(), former.text.clone()));
                } else if !is_gone {
                    let all = [&of_ours, &of_theirs].into_iter().filter_map(|side| side.get(id)).flatten();
                    let more = moved.into_iter().flat_map(|moved| &moved.lines);
                    let lines = all.copied().chain(more).collect::<Vec<_>>();
                    let (line, found) = merge_all(begun, &lines)?;
                    conflicts.extend(found);
                    merged.push((id.to_owned(), line));
                }
            }
            None => {
                let [base, our, their] = sides.each_ref().map(|side| side.contains(&line.text));
                if our && their || !base {
                    // Behind all tasks, whose names no such character begins.
                    merged.push(("\u{10ffff}".to_owned(), line.text.clone()));
                }
            }
        }
    }
    if our.iter().filter_map(Line::id).is_sorted() {
        merged.sort_by(|(left, _), (right, _)| left.cmp(right));
    }
    Ok((merged.into_iter().map(|(_, text)| text + "\n").collect(), conflicts))
}

/// What one side has changed under the former id of a task, as lines under the id that the other side has given it.
#[derive(Default)]
struct MovedLines {
    base: Option<Map<String, Value>>,
    lines: Vec<Line>,
}

type Lines<'a> = HashMap<&'a str, Vec<&'a Line>>;

/// The lines that are moved to another id, by that id: where a side has renamed a task and the other has changed it.
fn moved_lines(base: &Lines<'_>, sides: [&Lines<'_>; 2]) -> HashMap<String, MovedLines> {
    let mut moved: HashMap<String, MovedLines> = HashMap::new();
    let [ours, theirs] = sides;
    for (renaming, other) in [(ours, theirs), (theirs, ours)] {
        for (id, line) in other.iter().flat_map(|(id, lines)| lines.iter().map(move |line| (id, line))) {
            let begun = base.get(id).and_then(|lines| lines.first()).map(|line| &line.row);
            if row_renamed_to(&line.row).is_some() || begun == Some(&line.row) {
                continue;
            }
            let Some(to) = renaming.get(id).and_then(|lines| present_line(renaming, lines.first()?)) else {
                continue;
            };
            let row = row_without_deletion(row_under_id(line.row.clone(), &to.row), &to.row);
            let moved = moved.entry(to.id().unwrap_or_default().to_owned()).or_default();
            // Where the sides began with the renamed task already, the other has gone back to what was before.
            let begun = begun.filter(|begun| row_renamed_to(begun).is_none());
            moved.base = begun.map(|begun| row_under_id(begun.clone(), &to.row));
            moved.lines.push(Line { text: Value::Object(row.clone()).to_string(), row });
        }
    }
    moved
}

/// The line that says which id a task has now, where all that say so agree and a side has the task under it. What a side still says
/// under the former id is moved.
fn former_line<'a>(id: &str, [ours, theirs, base]: [&Lines<'a>; 3]) -> Option<&'a Line> {
    let lines = |side: &Lines<'a>| side.get(id).cloned().unwrap_or_default();
    let mut former =
        lines(ours).into_iter().chain(lines(theirs)).filter(|line| row_renamed_to(&line.row).is_some());
    let first = former.next().or_else(|| {
        let is_named = lines(ours).len() + lines(theirs).len() > 0;
        lines(base).into_iter().find(|line| is_named && row_renamed_to(&line.row).is_some())
    })?;
    let is_other = former.any(|line| row_renamed_to(&line.row) != row_renamed_to(&first.row));
    let is_there = [ours, theirs].iter().any(|side| present_line(side, first).is_some());
    (!is_other && is_there).then_some(first)
}

/// The line under the present id of a task that a side has renamed; none for one that it has not.
fn present_line<'a>(side: &Lines<'a>, former: &'a Line) -> Option<&'a Line> {
    let mut at = former;
    let mut met = HashSet::new();
    while let Some(to) = row_renamed_to(&at.row) {
        at = side.get(to).and_then(|lines| lines.first())?;
        if !met.insert(to) || at.row.get("created_at") != former.row.get("created_at") {
            return None;
        }
    }
    (!met.is_empty()).then_some(at)
}

/// The lines of each task.
fn tasks(lines: &[Line]) -> Lines<'_> {
    let mut found: Lines<'_> = HashMap::new();
    for line in lines {
        if let Some(id) = line.id() {
            found.entry(id).or_default().push(line);
        }
    }
    found
}

/// One line of all that there are of a task. What one side alone has changed keeps every byte.
fn merge_all(base: Option<&Map<String, Value>>, lines: &[&Line]) -> Result<(String, Vec<Conflict>), Refusal> {
    let mut changed = lines.iter().map(|line| &line.row).filter(|row| Some(*row) != base);
    let Some(mut merged) = changed.next().or(base).cloned() else { return Ok(Default::default()) };
    let mut conflicts = Vec::new();
    for row in changed {
        let (line, found) = merge_lines(base, &merged, row).map_err(|bad| {
            let message = format!("`{}` of {}: {}", bad.path, row["id"], bad.what);
            Refusal::invalid("beads_unmergeable", message, "mend the line, then merge again")
        })?;
        merged = line;
        conflicts.extend(found);
    }
    if let Some(same) = lines.iter().find(|line| line.row == merged) {
        return Ok((same.text.clone(), conflicts));
    }
    // The line is written anew, without what was lost when the others were read.
    for line in lines {
        require_lossless(line.text.as_bytes()).map_err(|error| {
            let message = format!("a line of {}: {error}", merged.get("id").unwrap_or(&Value::Null));
            Refusal::invalid("beads_unmergeable", message, "mend the line, then merge again")
        })?;
    }
    Ok((Value::Object(merged).to_string(), conflicts))
}

/// What a repository says about the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setup {
    root: PathBuf,
    /// The file that is merged, from the root of the repository.
    file: String,
}

/// What was changed in a repository, a sentence each.
pub(crate) type Changes = Vec<String>;

impl Setup {
    /// Of the repository around a folder. `beads_file`: the file that is kept in step, if the settings name one.
    pub(crate) fn of(folder: &Path, mirror: Option<&Path>) -> Option<Self> {
        let root = git::root(folder)?;
        let inside = mirror.and_then(|path| Some(path.strip_prefix(&root).ok()?.to_str()?.to_owned()));
        Some(Self { root, file: inside.unwrap_or_else(|| ".beads/issues.jsonl".to_owned()) })
    }

    /// Whether the repository has a file to merge.
    pub(crate) fn has_file(&self) -> bool {
        matches!(RepoFile::new(&self.root, &self.file).open(), Ok(Some(_)))
    }

    /// Whether both the attributes and git's settings name the driver.
    pub(crate) fn is_installed(&self) -> bool {
        let names_it = |text: String| text.lines().any(|line| line.trim() == self.attribute());
        self.attributes().is_ok_and(names_it) && self.driver().is_some()
    }

    fn attribute(&self) -> String {
        format!("{} merge={NAME}", self.file)
    }

    fn attributes(&self) -> Result<String, Fault> {
        Ok(RepoFile::new(&self.root, ATTRIBUTES).text(MAX_SMALL_FILE_BYTES)?.unwrap_or_default())
    }

    fn driver(&self) -> Option<String> {
        let value = git::read(&self.root, &["config", "--local", "--get", &format!("merge.{NAME}.driver")]);
        value.map(|value| value.trim_end_matches('\n').to_owned())
    }

    /// Tells git; what is there already stays.
    pub(crate) fn install(&self, program: &Path) -> Result<Changes, Refusal> {
        let mut changes = Changes::new();
        let text = self.attributes().map_err(|fault| self.unwritable_refusal(&fault))?;
        if !text.lines().any(|line| line.trim() == self.attribute()) {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            self.write(&format!("{text}{end}{}\n", self.attribute()))?;
            changes.push(format!("{ATTRIBUTES}: {} (to be committed)", self.attribute()));
        }
        let quoted = program.display().to_string().replace('\'', r"'\''");
        let driver = format!("'{quoted}' beads merge %O %A %B");
        if self.driver().as_deref() != Some(&driver) {
            self.set("name", "Baton: tasks field by field")?;
            self.set("driver", &driver)?;
            changes.push(format!("git config merge.{NAME}.driver: {driver}"));
        }
        Ok(changes)
    }

    /// Removes the registration from the attributes file and from git's configuration.
    pub(crate) fn remove(&self) -> Result<Changes, Refusal> {
        let mut changes = Changes::new();
        let text = self.attributes().map_err(|fault| self.unwritable_refusal(&fault))?;
        let rest: String =
            text.split_inclusive('\n').filter(|line| line.trim() != self.attribute()).collect();
        if rest != text {
            self.write(&rest)?;
            changes.push(format!("{ATTRIBUTES}: without {}", self.attribute()));
        }
        if self.driver().is_some() {
            self.git(&["--remove-section", &format!("merge.{NAME}")])?;
            changes.push(format!("git config: without merge.{NAME}"));
        }
        Ok(changes)
    }

    fn write(&self, text: &str) -> Result<(), Refusal> {
        let file = RepoFile::new(&self.root, ATTRIBUTES);
        let written = if text.is_empty() { file.remove() } else { file.replace(text) };
        written.map_err(|fault| self.unwritable_refusal(&fault))
    }

    fn unwritable_refusal(&self, fault: &Fault) -> Refusal {
        let message = format!("{} cannot be changed: {fault}", self.root.join(ATTRIBUTES).display());
        Refusal::new(Kind::Outside, "merge_driver_failed", message, "make it a file that you may write")
    }

    fn set(&self, key: &str, value: &str) -> Result<(), Refusal> {
        self.git(&[&format!("merge.{NAME}.{key}"), value])
    }

    fn git(&self, args: &[&str]) -> Result<(), Refusal> {
        git::configure(&self.root, args).ok_or_else(|| {
            let message =
                format!("`git config --local {}` failed in {}", args.join(" "), self.root.display());
            Refusal::new(Kind::Outside, "merge_driver_failed", message, "see `git config --local --list`")
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Result<(String, Vec<Conflict>), Refusal> {
        let dir = tempfile::tempdir().expect("dir");
        let path = |name: &str, text: &str| {
            fs::write(dir.path().join(name), text).expect("written");
            dir.path().join(name)
        };
        merge(&path("O", base), &path("A", ours), &path("B", theirs))
    }

    fn line(id: &str, at: u8, more: &str) -> String {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"t\",\"status\":\"open\",\"updated_at\":\"2026-01-0{at}T00:00:00Z\"{more}}}\n"
        )
    }

    #[test]
    fn both_sides_stay_and_what_one_left_alone_keeps_every_byte() {
        let odd = "{ \"id\": \"b\",  \"title\":\"spaced\" }\n";
        let memory = "{\"_type\":\"memory\",\"key\":\"k\",\"value\":\"v\"}\n";
        let (a, c, d) = (line("a", 1, ""), line("c", 1, ""), line("d", 1, ""));
        let ours = format!("{}{odd}{c}{}", line("a", 2, r#","notes":"n""#), line("e", 2, ""));
        let theirs = format!("{}{odd}{d}{memory}", line("a", 3, r#","labels":["l"]"#));
        let text = merged(&format!("{a}{odd}{c}{d}"), &ours, &theirs).expect("merged").0;
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        let first: Value = serde_json::from_str(lines[0]).expect("json");
        assert_eq!((&first["notes"], &first["labels"][0]), (&Value::from("n"), &Value::from("l")));
        assert_eq!(format!("{}\n", lines[1]), odd);
        assert!(lines[2].contains("\"e\"") && lines[3].contains("memory"), "{text}");
    }

    #[test]
    fn a_line_of_which_something_would_be_lost_is_written_anew_by_no_merge() {
        let large = r#","metadata":{"n":123456789012345678901234567890}"#;
        let twice = r#","metadata":{"n":1,"n":2}"#;
        for (more, why) in [(large, "64 bits"), (twice, "given twice")] {
            let [base, notes, labels] = [(1, ""), (2, r#","notes":"n""#), (3, r#","labels":["l"]"#)]
                .map(|(at, field)| line("a", at, &format!("{more}{field}")));
            let refusal = merged(&base, &notes, &labels).map(|(text, _)| text).expect_err(more);
            assert!(refusal.message.contains(why), "{}", refusal.message);
            assert_eq!(merged(&base, &base, &labels).expect("one side alone").0, labels);
        }
    }

    #[test]
    fn what_one_side_changed_goes_to_the_id_that_the_other_has_given() {
        let at = r#","created_at":"2026-01-01T00:00:00Z""#;
        let base = line("a", 1, at);
        let grave = line("a", 2, &format!(r#"{at},"renamed_to":"b""#)).replace("open", "tombstone");
        let renamed = format!("{grave}{}", line("b", 2, at));
        let edited = line("a", 3, &format!(r#"{at},"notes":"n""#)).replace("open", "closed");
        for (ours, theirs) in [(&renamed, &edited), (&edited, &renamed)] {
            let text = merged(&base, ours, theirs).expect("merged").0;
            let rows: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).expect("json")).collect();
            let fields = |row: &Value| (row["id"].clone(), row["status"].clone(), row["notes"].clone());
            assert_eq!(fields(&rows[1]), ("b".into(), "closed".into(), "n".into()), "{text}");
            assert_eq!((&rows[0]["status"], &rows[0]["renamed_to"]), (&"tombstone".into(), &"b".into()));
        }
    }

    #[test]
    fn a_renamed_issue_is_there_once_whatever_lines_a_side_lacks() {
        let at = r#","created_at":"2026-01-01T00:00:00Z""#;
        let former = |id: &str, to: &str| {
            line(id, 2, &format!(r#"{at},"renamed_to":"{to}""#)).replace("open", "tombstone")
        };
        let ids = |text: &str| -> Vec<(String, String)> {
            let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("json"));
            rows.map(|row| (row["id"].to_string(), row["status"].to_string())).collect()
        };
        let (open, gone) = (
            |id: &str| (format!("{id:?}"), "\"open\"".to_owned()),
            |id: &str| (format!("{id:?}"), "\"tombstone\"".to_owned()),
        );
        // The renamed issue is as the one was from which both began.
        let began = line("a", 1, at);
        let renamed = format!("{}{}", former("a", "b"), began.replace("\"a\"", "\"b\""));
        let edited = line("a", 3, &format!(r#"{at},"notes":"n""#));
        for (ours, theirs) in [(&renamed, &edited), (&edited, &renamed)] {
            let text = merged(&began, ours, theirs).expect("merged").0;
            assert_eq!(ids(&text), [gone("a"), open("b")], "{text}");
            assert!(text.contains("\"notes\":\"n\""), "{text}");
        }
        // One side goes back to before the rename, and the other changes another issue.
        let began_with = format!("{}{}", former("a", "b"), line("b", 2, at));
        let beside = format!("{began_with}{}", line("z", 3, at));
        for (ours, theirs) in [(&began, &beside), (&beside, &began)] {
            let text = merged(&began_with, ours, theirs).expect("merged").0;
            assert_eq!(ids(&text), [gone("a"), open("b"), open("z")], "{text}");
        }
        // One side goes back to before the first of two renames.
        let once = format!("{}{}", former("a", "b"), line("b", 2, at));
        let twice = format!("{}{}{}", former("a", "b"), former("b", "c"), line("c", 2, at));
        for (ours, theirs) in [(&began, &twice), (&twice, &began)] {
            let text = merged(&once, ours, theirs).expect("merged").0;
            assert_eq!(ids(&text), [gone("a"), gone("b"), open("c")], "{text}");
        }
    }

    #[test]
    fn what_a_side_changed_before_it_deleted_the_issue_holds_under_the_new_id() {
        let at = r#","created_at":"2026-01-01T00:00:00Z""#;
        let former = |more: &str| {
            format!(
                "{{\"id\":\"a\",\"title\":\"t\",\"status\":\"tombstone\",\"updated_at\":\"2026-01-03T00:00:00Z\"{at}{more}}}\n"
            )
        };
        // One side renames it, the other changes and deletes it.
        let renamed = format!("{}{}", former(r#","renamed_to":"b""#), line("b", 4, at));
        let deleted = former(r#","notes":"n","deleted_at":"2026-01-03T00:00:00Z""#);
        for (ours, theirs) in [(&renamed, &deleted), (&deleted, &renamed)] {
            let text = merged(&line("a", 2, at), ours, theirs).expect("merged").0;
            let of_b = text.lines().find(|line| line.contains("\"id\":\"b\"")).expect("its line");
            assert!(of_b.contains(r#""notes":"n""#) && of_b.contains(r#""status":"open""#), "{text}");
        }
    }

    #[test]
    fn what_is_no_task_is_refused_with_its_line() {
        let refused = merged("", &line("a", 1, ""), "<<<<<<< HEAD\n").expect_err("refused");
        assert_eq!((refused.code, refused.message.contains("line 1")), ("beads_unmergeable", true));
    }
}
