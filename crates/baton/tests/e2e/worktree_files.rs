//! A baton that goes on as a file says of the place of its work, and of no other one, whether something was not committed there.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// A ledger of another machine, with a clone.
struct Machine {
    stage: Stage,
    clone: PathBuf,
    id: &'static str,
}

impl Machine {
    fn new(of: &Stage, id: &'static str) -> Self {
        let stage = Stage::new();
        let clone = stage.root().join("copy");
        git(of, stage.root(), &["clone", "-q", &of.shop().display().to_string(), "copy"]);
        let own = Self { stage, clone, id };
        own.terminal("Zoe").json(&["init", "--id", "shop"]);
        own
    }

    fn terminal(&self, name: &str) -> Terminal<'_> {
        self.stage.terminal(name).within(&self.clone).with("BATON_MACHINE", self.id)
    }

    /// Where the work of a file lies, as a pickup here says it.
    fn imported(&self, file: &Path) -> Value {
        let zoe = self.terminal("Zoe");
        zoe.json(&["handoff", "import", &file.display().to_string()]);
        zoe.json(&["pickup", "--dry-run"])["location"].clone()
    }
}

/// Exports what waits: the place that the file names, and what is said at the sender.
fn exported(terminal: &Terminal<'_>, file: &Path) -> (Value, String) {
    let remarks = terminal.run(&["handoff", "export", "-o", &file.display().to_string()]).done().err;
    let text: Value = serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON");
    (text["baton"]["location"].clone(), remarks)
}

/// Donna leaves a file uncommitted in a worktree, or nothing.
fn left(stage: &Stage, is_dirty: bool) -> PathBuf {
    let beside = worktree(stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    fs::write(beside.join("two"), "2\n").expect("written");
    if !is_dirty {
        git(stage, &beside, &["add", "two"]);
        git(stage, &beside, &["commit", "-qm", "two"]);
    }
    donna.json(&WRAP);
    beside
}

fn look(terminal: &Terminal<'_>) {
    terminal.json(&["pickup"]);
    terminal.json(&WRAP);
}

#[test]
fn a_file_says_through_several_hops_what_was_not_committed_in_the_place_that_it_names() {
    let stage = committed();
    let beside = left(&stage, true);
    look(&stage.terminal("Lola"));
    let (first, second) = (stage.root().join("first.baton"), stage.root().join("second.baton"));
    let (place, remarks) = exported(&stage.terminal("Lola"), &first);
    assert_eq!((&place["root"], &place["was_dirty"]), (&json!(beside), &json!(true)), "{place:#}");
    let behind = format!("not committed, and not in the file: two in {}", beside.display());
    assert!(remarks.contains(&behind), "the sender hears it: {remarks}");
    let desk = Machine::new(&stage, "desk");
    let found = desk.imported(&first);
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(beside), &json!(true)), "{found:#}");
    let refused = desk.terminal("Zoe").refused(3, "place_elsewhere", &["pickup", "--there"]);
    assert!(refused.to_string().contains("what was not committed is on that machine only"), "{refused:#}");
    look(&desk.terminal("Zoe"));
    let (place, _) = exported(&desk.terminal("Zoe"), &second);
    assert_eq!((&place["root"], &place["was_dirty"]), (&json!(beside), &json!(true)), "{place:#}");
    let found = Machine::new(&stage, "third").imported(&second);
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(beside), &json!(true)), "{found:#}");
}

#[test]
fn a_file_says_nothing_of_what_lies_uncommitted_in_another_place_than_the_one_that_it_names() {
    let stage = committed();
    stage.file("shop/scratch.txt", "mine\n");
    let beside = left(&stage, false);
    look(&stage.terminal("Lola"));
    let file = stage.root().join("work.baton");
    let (place, remarks) = exported(&stage.terminal("Lola"), &file);
    assert_eq!((&place["root"], &place["was_dirty"]), (&json!(beside), &json!(false)), "{place:#}");
    assert!(!remarks.contains("not committed"), "{remarks}");
    let found = Machine::new(&stage, "desk").imported(&file);
    assert_eq!((&found["root"], found.get("was_dirty")), (&json!(beside), None), "{found:#}");
}

#[test]
fn a_file_of_an_older_version_says_what_its_packet_says() {
    let stage = committed();
    left(&stage, true);
    let file = stage.root().join("work.baton");
    exported(&stage.terminal("Donna"), &file);
    let mut older: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    older["baton"]["location"].as_object_mut().expect("a place").remove("was_dirty");
    fs::write(&file, older.to_string()).expect("written");
    let found = Machine::new(&stage, "desk").imported(&file);
    assert_eq!(found["was_dirty"], json!(true), "{found:#}");
}

#[test]
fn the_ledger_of_several_machines_says_in_a_file_what_it_knows_of_the_place() {
    let stage = committed();
    git(&stage, stage.root(), &["clone", "-q", "shop", "second"]);
    let cem = stage.terminal("Cem").within(stage.root().join("second")).with("BATON_MACHINE", "desk");
    cem.json(&["init", "--join", "shop"]);
    let beside = left(&stage, true);
    look(&cem);
    let file = stage.root().join("work.baton");
    let (place, remarks) = exported(&cem, &file);
    assert_eq!((&place["root"], &place["was_dirty"]), (&json!(beside), &json!(true)), "{place:#}");
    assert!(remarks.contains(&format!("in {} on another machine", beside.display())), "{remarks}");
    let found = Machine::new(&stage, "third").imported(&file);
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(beside), &json!(true)), "{found:#}");
}

#[test]
fn files_that_go_along_are_not_said_to_stay_behind() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "changed\n");
    ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    let (_, remarks) = exported(&ann, &stage.root().join("one.baton"));
    assert!(!remarks.contains("not committed"), "{remarks}");
}
