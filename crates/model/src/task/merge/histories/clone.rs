//! A clone: a ledger, the file beside it, and what its user does.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::*;
use super::{Act, Dice};
use crate::task::line::{render, retained_lines};
use crate::task::record::read;

/// The file as it is committed.
pub(super) type File = BTreeMap<String, String>;
/// The file as it stands: two lines of a task where a merge left both.
pub(super) type Tree = BTreeMap<String, Vec<String>>;

struct KnownLines {
    record: Record,
    line: String,
    earlier: Vec<String>,
}

pub(super) struct RepoClone {
    ledger: BTreeMap<String, KnownLines>,
    pub(super) tree: Tree,
    pub(super) head: usize,
    pub(super) stash: Option<File>,
    pub(super) now: Millis,
}

pub(super) fn row(line: &str) -> Map<String, Value> {
    serde_json::from_str(line).expect("a line")
}

fn record(line: &str) -> Record {
    read(&row(line)).expect("a record")
}

impl RepoClone {
    pub(super) fn new(head: usize, now: Millis) -> Self {
        Self { ledger: BTreeMap::new(), tree: Tree::new(), head, stash: None, now }
    }

    /// The file; none while it holds conflicts.
    pub(super) fn file(&self) -> Option<File> {
        let one = |(id, lines): (&String, &Vec<String>)| match lines.as_slice() {
            [line] => Some((id.clone(), line.clone())),
            _ => None,
        };
        self.tree.iter().map(one).collect()
    }

    pub(super) fn put(&mut self, file: &File) {
        self.tree = file.iter().map(|(id, line)| (id.clone(), vec![line.clone()])).collect();
    }

    pub(super) fn content(&self) -> BTreeMap<&str, BTreeMap<String, Value>> {
        let of = |known: &KnownLines| entries(&known.record).into_iter().collect();
        self.ledger.iter().map(|(id, known)| (id.as_str(), of(known))).collect()
    }

    /// Takes the file in and writes it anew. `strictly`: no other tool is about, so nothing may be replaced by what is older.
    pub(super) fn sync(&mut self, strictly: bool) {
        let tree = std::mem::take(&mut self.tree);
        for (id, lines) in tree {
            for (at, line) in lines.iter().enumerate() {
                let siblings = lines.iter().enumerate().filter(|(other, _)| *other != at);
                self.take_in(
                    &id,
                    line,
                    &siblings.map(|(_, line)| line.as_str()).collect::<Vec<_>>(),
                    strictly,
                );
            }
        }
        for (id, known) in &mut self.ledger {
            let line = render(&known.record, Some(&known.line), &known.earlier);
            known.earlier = retained_lines(std::mem::take(&mut known.earlier), &known.line, &line);
            known.line.clone_from(&line);
            self.tree.insert(id.clone(), vec![line]);
        }
    }

    fn take_in(&mut self, id: &str, line: &str, siblings: &[&str], strictly: bool) {
        let theirs = record(line);
        let Some(known) = self.ledger.get_mut(id) else {
            let known = KnownLines { record: adopt(&theirs), line: line.to_owned(), earlier: Vec::new() };
            self.ledger.insert(id.to_owned(), known);
            return;
        };
        if known.line == line {
            return;
        }
        if !known.earlier.iter().any(|earlier| earlier == line) {
            let lines = known.earlier.iter().chain([&known.line]);
            let versions: Vec<Record> =
                lines.filter(|line| !siblings.contains(&line.as_str())).map(|line| record(line)).collect();
            let merged = merge(&versions, &known.record, &theirs).0;
            let again = merge(&versions, &merged, &theirs).0;
            assert_eq!(
                entries(&again),
                entries(&merged),
                "taking a line in twice changes nothing more: {line}"
            );
            if strictly {
                nothing_is_undone(&known.record, &merged);
            }
            known.record = merged;
        }
        known.earlier = retained_lines(std::mem::take(&mut known.earlier), &known.line, line);
        known.line = line.to_owned();
    }

    /// Does one of the things that users do.
    pub(super) fn act(&mut self, dice: &mut Dice, acts: &mut Vec<Act>, who: usize) {
        let ids: Vec<String> = self.ledger.keys().cloned().collect();
        if ids.is_empty() || (ids.len() < 3 && dice.roll(6) == 0) {
            return self.create(acts, who);
        }
        let id = dice.pick(&ids).clone();
        let now = self.now;
        let known = self.ledger.get_mut(&id).expect("known");
        let before = known.record.clone();
        let after = &mut known.record;
        change(after, dice, now, who);
        let (old, new) = (entries(&before), entries(after));
        if old == new {
            known.record = before;
            return;
        }
        let names: Vec<String> = old
            .keys()
            .chain(new.keys().filter(|name| !old.contains_key(*name)))
            .filter(|name| old.get(*name) != new.get(*name))
            .cloned()
            .collect();
        after.task.updated_at = now.max(before.task.updated_at);
        let members = names.iter().filter(|name| entry::is_member(name) && !name.starts_with("labels:"));
        let members: Vec<String> = members.filter(|name| !entry::is_comment(name)).cloned().collect();
        let task = before.task.clone();
        note(&mut after.task, members, now);
        touch(&task, &mut after.task, now);
        let clocks = after.task.clocks.clone();
        acts.extend(names.into_iter().map(|entry| Act {
            value: new.get(&entry).cloned(),
            at: clocks.of(&entry),
            id: id.clone(),
            entry,
        }));
    }

    fn create(&mut self, acts: &mut Vec<Act>, who: usize) {
        let id = format!("a-{who}{}", self.ledger.len());
        let at = rfc3339(self.now);
        let made = json!({ "id": id, "title": "new", "status": "open", "priority": 2, "created_at": at, "updated_at": at });
        let line = made.to_string();
        let record = adopt(&record(&line));
        for (entry, value) in entries(&record) {
            let at = record.task.clocks.of(&entry);
            acts.push(Act { id: id.clone(), entry, value: Some(value), at });
        }
        self.ledger.entry(id).or_insert(KnownLines { record, line, earlier: Vec::new() });
    }

    /// A tool whose clock is an hour behind adds a field to a line of the file. `may_design`: a missing `design` cannot
    /// be mistaken for a removed one.
    pub(super) fn late_tool(&mut self, dice: &mut Dice, late: &mut Vec<Act>, may_design: bool) {
        let ids: Vec<String> = self.tree.keys().cloned().collect();
        if ids.is_empty() || self.file().is_none() {
            return;
        }
        let id = dice.pick(&ids).clone();
        let mut row = row(&self.tree[&id][0]);
        let has_design = late.iter().any(|act| act.id == id && act.entry == "design");
        let entry =
            if may_design && !has_design { "design".to_owned() } else { format!("late_{}", late.len()) };
        let value = json!(format!("late {}", late.len()));
        row.insert(entry.clone(), value.clone());
        row["updated_at"] = json!(rfc3339((self.now - 3_600_000) / 1000 * 1000));
        late.push(Act {
            id: id.clone(),
            entry,
            value: Some(value),
            at: Stamp { is_seen: true, at: self.now },
        });
        self.tree.insert(id, vec![Value::Object(row).to_string()]);
    }

    /// Another tool changes a line of the file: it knows nothing of clocks and writes whole seconds. Some drop the metadata, some
    /// what they do not know; the clock of some is an hour ahead or behind.
    pub(super) fn other_tool(&mut self, dice: &mut Dice) {
        let ids: Vec<String> = self.tree.keys().cloned().collect();
        if ids.is_empty() || self.file().is_none() {
            return;
        }
        let id = dice.pick(&ids).clone();
        let mut row = row(&self.tree[&id][0]);
        let mut after = read(&row).expect("a record");
        let before = after.clone();
        change(&mut after, dice, self.now, 7);
        if entries(&before) == entries(&after) {
            return;
        }
        let (old, new) =
            (super::super::super::record::canonical(&before), super::super::super::record::canonical(&after));
        for key in
            old.keys().chain(new.keys()).filter(|key| *key != "metadata" && old.get(*key) != new.get(*key))
        {
            match new.get(key) {
                Some(value) => _ = row.insert(key.clone(), value.clone()),
                None => _ = row.shift_remove(key),
            }
        }
        let drops = *dice.pick(&[None, Some("metadata"), Some("x_team")]);
        if let Some(field) = drops {
            row.shift_remove(field);
        }
        if dice.roll(6) > 0 {
            let skew = *dice.pick(&[0, 0, 3_600_000, -3_600_000]);
            row["updated_at"] = json!(rfc3339((self.now + skew) / 1000 * 1000));
        }
        self.tree.insert(id, vec![Value::Object(row).to_string()]);
    }
}

/// Whatever an import replaced got its new value later than the one that it had.
fn nothing_is_undone(before: &Record, after: &Record) {
    let (old, new) = (entries(before), entries(after));
    let (was, is) = (clocks_of(before), clocks_of(after));
    for name in old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)) {
        let is_closing = CLOSING.contains(&name.as_str());
        assert!(
            is_closing || entry::is_comment(name) || is.of(name) >= was.of(name),
            "{name}: {before:?} {after:?}"
        );
        assert!(!entry::is_comment(name) || new.contains_key(name), "a comment is lost: {name}");
    }
}

fn change(after: &mut Record, dice: &mut Dice, now: Millis, who: usize) {
    let task = &mut after.task;
    let name = |dice: &mut Dice, kind: &str| format!("{kind}{}", dice.roll(4));
    match dice.roll(15) {
        // What only we write.
        12 if who < 7 => match dice.roll(3) {
            0 => _ = task.agent_context.shift_remove("files"),
            _ => _ = task.agent_context.insert("files".into(), json!(name(dice, "file"))),
        },
        13 if who < 7 => task.agent_role = (dice.roll(3) > 0).then(|| name(dice, "role")),
        14 if who < 7 => _ = task.extra.insert("x_team".into(), json!(name(dice, "team"))),
        0 | 1 if task.status == "closed" => task.set_status("open", now),
        0 | 1 => {
            task.set_status("closed", now);
            task.close_reason = (dice.roll(2) == 0).then(|| name(dice, "why"));
        }
        2 => task.title = name(dice, "title"),
        3 => task.assignee = (dice.roll(3) > 0).then(|| name(dice, "agent")),
        4 => match dice.roll(4) {
            0 => _ = task.extra.shift_remove("notes"),
            1 => _ = task.extra.insert("notes".into(), json!(name(dice, "notes"))),
            _ => {
                let had = task.extra.get("notes").and_then(Value::as_str).map(|had| format!("{had}\n"));
                let line = format!("added by {who}: {}", dice.roll(1 << 30));
                task.extra.insert("notes".into(), json!(had.unwrap_or_default() + &line));
            }
        },
        5 | 6 => {
            let label = name(dice, "label");
            match task.labels.iter().position(|had| *had == label) {
                Some(at) => _ = task.labels.remove(at),
                None => task.labels.push(label),
            }
        }
        7 | 8 => {
            let on = name(dice, "b-");
            let had =
                after.dependencies.iter().position(|edge| super::super::super::record::target_of(edge) == on);
            match had {
                Some(at) => _ = after.dependencies.remove(at),
                None => after.dependencies.push(
                    json!({ "issue_id": task.task_id, "depends_on_id": on, "type": "blocks", "created_at": rfc3339(now) })
                        .as_object()
                        .cloned()
                        .expect("object"),
                ),
            }
        }
        9 => task.priority = i64::try_from(dice.roll(5)).expect("small"),
        10 if task.is_open() => {
            task.status = "in_progress".into();
            task.assignee = Some(format!("agent{who}"));
        }
        _ => {
            let number = after.comments.len();
            let text = format!("said by {who}: {}", dice.roll(1 << 30));
            after.comments.push(
                json!({ "id": number, "author": "a", "text": text, "created_at": rfc3339(now) })
                    .as_object()
                    .cloned()
                    .expect("object"),
            );
        }
    }
}
