//! The Beads file under git: what git does to the file undoes nothing that a ledger holds.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp::client::{Client, MODERN};
use crate::stage::{Answer, Stage, Terminal, text};

const MIRROR: &str = "[tasks]\nmirror = \".beads/issues.jsonl\"\n";

/// A clone of a repository with a ledger of its own.
pub(super) struct Clone {
    stage: Stage,
    folder: PathBuf,
}

impl Clone {
    /// The first, with a repository to push to.
    pub(super) fn first() -> Self {
        let stage = Stage::ready();
        let folder = stage.shop();
        let clone = Self { stage, folder };
        fs::write(clone.folder.join(".baton.toml"), MIRROR).expect("written");
        clone.git("init -q --bare ../hub.git");
        clone.git("remote add origin ../hub.git");
        clone.git("add -A");
        clone.git("commit -qm begun");
        clone.git("push -qu origin main");
        clone
    }

    /// Another, which has pulled.
    pub(super) fn of(first: &Self) -> Self {
        let stage = Stage::ready();
        let folder = stage.shop();
        let clone = Self { stage, folder };
        clone.git(&format!("remote add origin '{}'", first.folder.join("../hub.git").display()));
        clone.git("fetch -q");
        clone.git("reset -q --hard origin/main");
        clone.git("branch -q -u origin/main");
        clone
    }

    pub(super) fn who(&self, name: &str) -> Terminal<'_> {
        self.stage.terminal(name)
    }

    pub(super) fn try_git(&self, args: &str) -> Answer {
        self.who("Ann")
            .shell(&format!("git -c user.name=n -c user.email=e@x -c advice.detachedHead=false {args}"))
    }

    pub(super) fn git(&self, args: &str) -> String {
        self.try_git(args).done().out
    }

    pub(super) fn bd(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = std::iter::once("bd").chain(args.iter().copied()).chain(["--json"]).collect();
        self.who("Ann").run(&args).done().json()
    }

    pub(super) fn create(&self, title: &str) -> String {
        text(&self.bd(&["create", title]), "id")
    }

    pub(super) fn show(&self, id: &str) -> Value {
        self.bd(&["show", id])[0].clone()
    }

    fn file(&self) -> PathBuf {
        self.folder.join(".beads/issues.jsonl")
    }

    /// The line of a task.
    fn line(&self, id: &str) -> Value {
        let lines: Vec<Value> = fs::read_to_string(self.file())
            .expect("the file")
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line"))
            .filter(|line: &Value| line["id"] == id)
            .collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].clone()
    }

    pub(super) fn push(&self) {
        self.git("add -A");
        self.try_git("commit -qm more");
        self.git("push -q origin HEAD:main");
    }
}

pub(super) fn comments_of(task: &Value) -> Vec<String> {
    task["comments"].as_array().into_iter().flatten().map(|comment| text(comment, "text")).collect()
}

#[test]
fn an_older_file_that_git_brings_back_undoes_nothing() {
    for way in ["reset -q --hard", "stash -q", "checkout -q -- .beads", "checkout -q HEAD~1"] {
        let clone = Clone::first();
        let id = clone.create("A");
        clone.push();
        clone.bd(&["close", &id, "--reason", "done"]);
        clone.bd(&["comment", &id, "said"]);
        clone.bd(&["update", &id, "--notes", "noted", "--add-label", "l"]);
        if way.ends_with("~1") {
            clone.push();
        }
        clone.git(way);
        assert_eq!(clone.line(&id)["status"], "open", "{way}: the file is the older one");
        clone.create("another");
        let now = clone.show(&id);
        assert_eq!(
            (&now["status"], &now["close_reason"], &now["notes"], &now["labels"], comments_of(&now)),
            (&json!("closed"), &json!("done"), &json!("noted"), &json!(["l"]), vec!["said".to_owned()]),
            "{way}"
        );
        let line = clone.line(&id);
        assert_eq!(
            (&line["status"], &line["notes"], comments_of(&line).len()),
            (&json!("closed"), &json!("noted"), 1),
            "{way}"
        );
        clone.git("add -A");
        let tracked = clone.git("ls-files .beads");
        assert_eq!(tracked.trim(), ".beads/issues.jsonl", "nothing else of ours is taken by git");
    }
}

#[test]
fn whoever_only_reads_on_an_older_branch_changes_no_working_copy() {
    let clone = Clone::first();
    let first = clone.create("first");
    clone.push();
    clone.git("branch old");
    let second = clone.create("second");
    clone.push();
    clone.git("checkout -q old");
    for read in [&["list"][..], &["ready"], &["show", &first], &["stats"]] {
        clone.bd(read);
        assert_eq!(clone.git("status --porcelain"), "", "{read:?}");
    }
    let mut client = Client::pipe(&clone.who("Ben"), MODERN);
    client.done("task_read", json!({ "action": "ready" }));
    client.end();
    assert_eq!(clone.git("status --porcelain"), "");
    clone.create("third");
    assert_eq!(clone.line(&second)["title"], "second", "a change is written with the rest");
}

#[test]
fn what_another_clone_closed_is_not_claimed() {
    let ann = Clone::first();
    let id = ann.create("X");
    ann.push();
    let ben = Clone::of(&ann);
    assert_eq!(text(&ben.bd(&["ready"])[0], "id"), id, "what was pulled is read at once");
    ann.bd(&["close", &id, "--reason", "done"]);
    ann.push();
    ben.git("pull -q --ff-only");
    assert_eq!(ben.bd(&["ready", "--claim"]), json!([]));
    assert_eq!(ben.show(&id)["status"], "closed");
    let line = ben.line(&id);
    assert_eq!((&line["status"], &line["close_reason"]), (&json!("closed"), &json!("done")));
    assert_eq!(ben.git("status --porcelain .beads"), "", "what only was read is as it was");
}

#[test]
fn an_agent_on_a_pipe_is_given_what_the_file_says() {
    let ann = Clone::first();
    let id = ann.create("X");
    ann.push();
    let ben = Clone::of(&ann);
    let mut client = Client::pipe(&ben.who("Ben"), MODERN);
    assert_eq!(client.done("task_read", json!({ "action": "ready" }))["items"][0]["id"], json!(id));
    ann.bd(&["close", &id, "--reason", "done"]);
    ann.push();
    ben.git("pull -q --ff-only");
    assert_eq!(client.done("task_write", json!({ "action": "claim" }))["task"], Value::Null);
    client.done("task_write", json!({ "action": "create", "title": "by the agent" }));
    client.end();
    let text = fs::read_to_string(ben.file()).expect("read");
    assert!(text.contains("by the agent") && text.contains("\"closed\""), "{text}");
}

/// Two clones that have changed the same task, the second of which has got the first's commit with its own on top of the
/// same ground.
fn divided() -> (Clone, Clone, String) {
    let ann = Clone::first();
    let id = ann.create("X");
    ann.push();
    let ben = Clone::of(&ann);
    ben.show(&id);
    ann.bd(&["update", &id, "--title", "Ann's", "--assignee", "ann", "--add-label", "a"]);
    ann.bd(&["comment", &id, "by Ann"]);
    ann.push();
    ben.bd(&["update", &id, "--priority", "0", "--notes", "Ben's", "--add-label", "b"]);
    ben.bd(&["comment", &id, "by Ben"]);
    ben.git("add -A");
    ben.git("commit -qm bens");
    ben.git("fetch -q");
    (ann, ben, id)
}

fn assert_both(task: &Value, why: &str) {
    let mut labels: Vec<String> = serde_json::from_value(task["labels"].clone()).expect("labels");
    labels.sort();
    let mut comments = comments_of(task);
    comments.sort();
    assert_eq!(
        (
            &task["title"],
            &task["assignee"],
            &task["priority"],
            &task["notes"],
            labels.join(" "),
            comments.join(" ")
        ),
        (&json!("Ann's"), &json!("ann"), &json!(0), &json!("Ben's"), "a b".into(), "by Ann by Ben".into()),
        "{why}: {task}"
    );
}

#[test]
fn both_sides_of_a_conflict_are_merged_by_field() {
    for way in ["nothing", "checkout -q --theirs .beads", "checkout -q --ours .beads"] {
        let (ann, ben, id) = divided();
        let merge = ben.try_git("-c merge.conflictStyle=diff3 merge -q origin/main");
        assert_ne!(merge.code, 0, "without a driver it is a conflict");
        assert!(fs::read_to_string(ben.file()).expect("read").contains("|||||||"));
        if way != "nothing" {
            ben.git(way);
        }
        if way.contains("--ours") {
            // The file never had the other side: its ledger brings it along.
            ben.show(&id);
            ben.push();
            ann.git("pull -q --ff-only");
            assert_both(&ann.show(&id), way);
            ann.push();
            ben.git("pull -q --ff-only");
        }
        assert_both(&ben.show(&id), way);
        assert_both(&ben.line(&id), way);
        ben.push();
        ann.git("pull -q --ff-only");
        assert_both(&ann.show(&id), way);
        assert_eq!(ann.git("status --porcelain .beads"), "", "{way}: both have the same file");
    }
}

#[test]
fn what_one_side_alone_changed_is_no_conflict_between_gits_marks() {
    for style in ["merge", "diff3"] {
        let ann = Clone::first();
        let ids = [ann.create("X"), ann.create("Y")];
        ann.bd(&["update", &ids[0], "--title", "X once", "--priority", "1"]);
        ann.push();
        let ben = Clone::of(&ann);
        ben.show(&ids[0]);
        // Neighbouring lines: each clone has changed one of them, and both have changed the notes of the first.
        ann.bd(&["update", &ids[0], "--title", "X twice", "--priority", "0", "--design", "Ann's"]);
        ann.push();
        ben.bd(&["update", &ids[1], "--title", "Y of Ben"]);
        ben.bd(&["update", &ids[0], "--design", "Ben's"]);
        ben.git("add -A");
        ben.git("commit -qm bens");
        ben.git("fetch -q");
        let merge = ben.try_git(&format!("-c merge.conflictStyle={style} merge -q origin/main"));
        assert_ne!(merge.code, 0, "without a driver it is a conflict");
        let seen = ben.who("Ann").run(&["bd", "show", &ids[0], "--json"]).done();
        let found = &seen.json()[0];
        assert_eq!((&found["title"], &found["priority"]), (&json!("X twice"), &json!(0)), "{style}");
        assert!(!seen.err.contains("title") && !seen.err.contains("priority"), "{style}: {}", seen.err);
        assert!(seen.err.contains("design was changed on both sides"), "{style}: {}", seen.err);
    }
}

#[test]
fn a_sync_takes_in_what_git_left_of_a_conflict() {
    let (_ann, ben, id) = divided();
    fs::remove_file(ben.file().parent().expect("folder").join("../.baton.toml")).expect("no mirror any more");
    assert_ne!(ben.try_git("merge -q origin/main").code, 0, "without a driver it is a conflict");
    assert!(fs::read_to_string(ben.file()).expect("read").contains("<<<<<<<"));
    ben.bd(&["sync"]);
    assert_both(&ben.line(&id), "the file has both sides and no marks");
    assert_both(&ben.show(&id), "so has the ledger");
}

#[test]
fn git_merges_field_by_field_where_the_driver_is_installed() {
    let (ann, ben, id) = divided();
    let setup = |clone: &Clone, args: &[&str]| clone.who("Ann").json(args);
    let made = setup(&ben, &["init", "--merge-driver"]);
    assert_eq!(made["merge_driver"].as_array().map(Vec::len), Some(2), "{made}");
    assert_eq!(
        setup(&ben, &["init", "--merge-driver"])["merge_driver"],
        json!([]),
        "a second time changes nothing"
    );
    ben.git("add -A");
    ben.git("commit -qm attributes");
    ben.git("merge -q -m merged origin/main");
    assert_both(&ben.line(&id), "git alone");
    assert_both(&ben.show(&id), "the ledger");
    ben.push();
    ann.git("pull -q --ff-only");
    assert_both(&ann.show(&id), "the other side");
    let removed = setup(&ben, &["beads", "driver", "--remove"]);
    assert_eq!(
        (removed["installed"].clone(), removed["changed"].as_array().map(Vec::len)),
        (json!(false), Some(2))
    );
    assert!(!ben.folder.join(".gitattributes").exists(), "nothing stays of it");
    assert_eq!(ben.try_git("config --get-regexp baton-beads").out, "");
    // What cannot be merged is left to the user, with both sides in it.
    let file = |name: &str, text: &str| {
        let path = ben.folder.join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let args = [file("O", ""), file("A", "{\"id\":\"a\"}\n"), file("B", "no task\n")];
    ben.who("Ann").refused(1, "beads_unmergeable", &["beads", "merge", &args[0], &args[1], &args[2]]);
    let left = fs::read_to_string(ben.folder.join("A")).expect("read");
    assert!(
        left.contains("<<<<<<<") && left.contains("no task") && left.contains("{\"id\":\"a\"}"),
        "{left}"
    );
}

/// Another tool writes a field of a line with a clock that is behind.
fn edit_late(clone: &Clone, id: &str, field: &str, value: Value) {
    let mut line = clone.line(id);
    line[field] = value;
    line["updated_at"] = json!("2020-01-01T00:00:00Z");
    let lines = fs::read_to_string(clone.file()).expect("the file");
    let is_it = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|row| row["id"] == id);
    let lines = lines.lines().map(|text| if is_it(text) { line.to_string() } else { text.to_owned() });
    fs::write(clone.file(), lines.map(|text| text + "\n").collect::<String>()).expect("written");
}

#[test]
fn what_a_tool_whose_clock_is_behind_wrote_stays() {
    for has_driver in [false, true] {
        let ann = Clone::first();
        let id = ann.create("A");
        edit_late(&ann, &id, "design", json!("by hand"));
        assert_eq!(ann.show(&id)["design"], "by hand", "the mirror");
        ann.push();
        let ben = Clone::of(&ann);
        ben.show(&id);
        let other = ann.create("B");
        ann.push();
        ben.git("pull -q --ff-only");
        ben.show(&other);
        if has_driver {
            ben.who("Ann").json(&["beads", "driver", "--install"]);
        }
        ann.bd(&["update", &other, "--title", "Ann's"]);
        ann.push();
        edit_late(&ben, &other, "notes", json!("Ben's"));
        ben.git("add -A");
        ben.git("commit -qm bens");
        let pulled = ben.try_git("pull -q --no-rebase --no-edit");
        assert_eq!(pulled.code == 0, has_driver);
        let both = ben.show(&other);
        assert_eq!((&both["title"], &both["notes"]), (&json!("Ann's"), &json!("Ben's")), "{has_driver}");
        let line = ben.line(&other);
        assert_eq!((&line["title"], &line["notes"]), (&json!("Ann's"), &json!("Ben's")), "{has_driver}");
    }
}

#[test]
fn what_both_changed_is_told_and_stands_in_the_ledger() {
    for has_driver in [false, true] {
        let ann = Clone::first();
        let id = ann.create("A");
        ann.push();
        let ben = Clone::of(&ann);
        ben.show(&id);
        if has_driver {
            ben.who("Ann").json(&["beads", "driver", "--install"]);
        }
        ann.bd(&["update", &id, "--title", "Ann's title"]);
        ann.push();
        ben.bd(&["update", &id, "--title", "Ben's title"]);
        ben.git("add -A");
        ben.git("commit -qm bens");
        let pulled = ben.try_git("pull -q --no-rebase --no-edit");
        let listed = ben.who("Ann").run(&["task", "list"]).done();
        let output = format!("{}{}", pulled.err, listed.err);
        assert!(
            output.contains("title was changed on both sides")
                && output.contains("Ann's title")
                && output.contains("Ben's title"),
            "{has_driver}: {output}"
        );
        let rows: Vec<Value> =
            ben.stage.ledger("shop").into_iter().filter(|delta| delta["body"]["field"] == "title").collect();
        assert_eq!((rows.len(), &rows[0]["body"]["task_id"]), (1, &json!(id)), "{has_driver}: {rows:?}");
        assert!(rows[0]["body"]["summary"].as_str().is_some_and(|text| text.contains("Ann's title")));
    }
}

#[test]
fn fields_that_a_line_gains_under_the_same_time_stay() {
    let clone = Clone::first();
    let id = clone.create("A");
    clone.bd(&["close", &id]);
    let mut line = clone.line(&id);
    line["close_reason"] = json!("why");
    line["design"] = json!("by hand");
    fs::write(clone.file(), format!("{line}\n")).expect("written");
    let now = clone.show(&id);
    assert_eq!((&now["close_reason"], &now["design"]), (&json!("why"), &json!("by hand")));
    clone.create("another");
    assert_eq!(
        (&clone.line(&id)["close_reason"], &clone.line(&id)["design"]),
        (&json!("why"), &json!("by hand"))
    );
    let copy = clone.stage.root().join("copy.jsonl").display().to_string();
    clone.who("Ann").json(&["export", "beads", &copy]);
    assert!(fs::read_to_string(Path::new(&copy)).expect("read").contains("\"close_reason\":\"why\""));
}

/// Numbers that look random; the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[test]
fn whatever_git_does_both_clones_end_with_everything() {
    for seed in 1..=2 {
        let mut dice = Dice(seed);
        let ann = Clone::first();
        let id = ann.create("X");
        ann.push();
        let ben = Clone::of(&ann);
        ben.show(&id);
        ben.who("Ann").json(&["init", "--merge-driver"]);
        let mut comments = Vec::new();
        for step in 0..14 {
            let clone = if dice.roll(2) == 0 { &ann } else { &ben };
            match dice.roll(8) {
                0..=2 => {
                    let note = format!("said {step}");
                    clone.bd(&["comment", &id, &note]);
                    comments.push(note);
                }
                3 => {
                    clone.try_git("add -A");
                    clone.try_git("commit -qm more");
                }
                4 => _ = clone.try_git("reset -q --hard HEAD~1"),
                5 => _ = clone.try_git("stash -q"),
                6 => _ = clone.try_git("stash pop -q"),
                _ => exchange(clone, dice.roll(2) == 0),
            }
        }
        for clone in [&ann, &ben, &ann, &ben] {
            exchange(clone, true);
        }
        for clone in [&ann, &ben] {
            let mut found = comments_of(&clone.show(&id));
            found.sort();
            comments.sort();
            assert_eq!(found, comments, "seed {seed}");
        }
        assert_eq!(ann.line(&id)["comments"].as_array().map(Vec::len), Some(comments.len()), "seed {seed}");
    }
}

/// Commits, takes over what the other has pushed, settles what is in conflict, and pushes.
fn exchange(clone: &Clone, looks_before: bool) {
    clone.try_git("add -A");
    clone.try_git("commit -qm more");
    clone.try_git("fetch -q");
    if clone.try_git("merge -q -m merged origin/main").code != 0 {
        if !looks_before {
            clone.try_git("checkout -q --theirs .beads");
        }
        clone.bd(&["list"]);
        clone.try_git("add -A");
        clone.try_git("commit -qm settled");
    }
    clone.bd(&["list"]);
    clone.try_git("add -A");
    clone.try_git("commit -qm settled");
    clone.try_git("push -q origin HEAD:main");
}
