//! A task is renamed or deleted in one clone and worked on in another: the Beads file carries both, and nothing that was acknowledged
//! stays behind under the old id.

use std::collections::BTreeSet;

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::world::{Agent, World, agent, column, list, text};

/// A clone of a project's repository, with a ledger of its own.
pub(crate) struct Clone {
    pub(crate) w: World,
    project: String,
}

impl Clone {
    fn new(seed: u64) -> Self {
        let mut w = World::new(Backend::Memory, seed).expect("memory");
        w.now += 1000;
        Self { w, project: "p".to_owned() }
    }

    /// Goes on with another project, which has no tasks yet.
    pub(crate) fn begin(&mut self, project: &str) {
        self.w.register(project);
        project.clone_into(&mut self.project);
    }

    fn agent(&self, name: &str) -> Agent {
        agent(name).project(&self.project)
    }

    pub(crate) fn ok(&mut self, name: &str, verb: &str, input: Value) -> Value {
        let who = self.agent(name);
        self.w.ok(&who, verb, input)
    }

    fn no(&mut self, name: &str, verb: &str, input: Value, code: &str) -> Value {
        let who = self.agent(name);
        self.w.no(&who, verb, input, code)
    }
}

/// Two ledgers of one project, each in its own clone.
pub(crate) fn clones(seed: u64) -> (Clone, Clone) {
    (Clone::new(seed), Clone::new(seed + 1_000_000))
}

pub(crate) fn lines(w: &mut Clone) -> Vec<String> {
    column(&list(&w.ok("Ann", "beads_export", json!({}))["items"]), "line")
}

pub(crate) fn take(w: &mut Clone, lines: &[String]) -> Value {
    w.ok("Ann", "beads_import", json!({ "lines": lines }))
}

/// The tasks of a clone's file. Clocks that say no more than those of the other, and the order of comments, are left as they are in
/// each file.
fn tasks(w: &mut Clone) -> Vec<Value> {
    let read = |line: &String| {
        let mut task: Value = serde_json::from_str(line).expect("a line");
        // Reading by index would put in what is not there.
        if let Some(own) = task.pointer_mut("/metadata/handoff.v1").and_then(Value::as_object_mut) {
            own.remove("clock");
        }
        if let Some(comments) = task.get_mut("comments").and_then(Value::as_array_mut) {
            comments.sort_by_key(|comment| comment["created_at"].to_string());
        }
        task
    };
    let mut tasks: Vec<Value> = lines(w).iter().map(read).collect();
    tasks.iter_mut().filter_map(Value::as_object_mut).for_each(|task| {
        if task.get("metadata").is_none_or(Value::is_null) || task["metadata"] == json!({ "handoff.v1": {} })
        {
            task.remove("metadata");
        }
    });
    tasks
}

/// Every clone takes the other's file in, until nothing changes any more.
pub(crate) fn exchange(first: &mut Clone, second: &mut Clone) {
    for _ in 0..6 {
        let (of_first, of_second) = (lines(first), lines(second));
        take(second, &of_first);
        take(first, &of_second);
    }
    assert_eq!(tasks(first), tasks(second), "both clones have the same tasks");
}

pub(crate) fn shown(w: &mut Clone, id: &str) -> Value {
    w.ok("Ann", "task_show", json!({ "id": id, "full": true }))
}

pub(crate) fn comments(found: &Value) -> BTreeSet<String> {
    found["comments"].as_array().into_iter().flatten().map(|comment| text(comment, "text")).collect()
}

pub(crate) fn ready(w: &mut Clone) -> Vec<String> {
    column(&list(&w.ok("Ann", "task_ready", json!({}))["items"]), "id")
}

/// A task that both clones know.
fn shared(seed: u64) -> (Clone, Clone) {
    let (mut first, mut second) = clones(seed);
    share(&mut first, &mut second);
    (first, second)
}

/// Begins with two tasks that both clones know.
fn share(first: &mut Clone, second: &mut Clone) {
    first.ok("Ann", "task_create", json!({ "title": "work", "id": "x-1", "notes": "begun" }));
    first.ok("Ann", "task_create", json!({ "title": "other", "id": "x-2" }));
    exchange(first, second);
    first.w.now += 1000;
    second.w.now += 1000;
}

#[test]
fn what_another_clone_did_under_the_old_id_is_there_under_the_new_one() {
    // Whether the work was done before or after the other clone renamed the task.
    for (seed, is_before) in [(1, true), (2, false)] {
        let (mut ann, mut ben) = shared(seed);
        if is_before {
            ann.w.now += 60_000;
        } else {
            ben.w.now += 60_000;
        }
        ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
        let who = "Ben";
        ben.ok(who, "task_update", json!({ "id": "x-1", "title": "better", "notes": "half done" }));
        ben.ok(who, "task_comment", json!({ "id": "x-1", "text": "said" }));
        ben.ok(who, "task_depend", json!({ "id": "x-1", "on": "x-2", "type": "related" }));
        ben.w.now += 1;
        ben.ok(who, "task_close", json!({ "id": "x-1", "reason": "done in the other clone" }));
        exchange(&mut ann, &mut ben);
        for w in [&mut ann, &mut ben] {
            let found = shown(w, "x-auth");
            let fields = ["title", "notes", "status", "close_reason"].map(|key| text(&found, key));
            assert_eq!(fields, ["better", "half done", "closed", "done in the other clone"], "{is_before}");
            assert_eq!(comments(&found), BTreeSet::from(["said".to_owned()]));
            assert_eq!(found["dependencies"][0]["id"], "x-2");
            assert_eq!(ready(w), ["x-2"], "the closed task is not ready again");
            let old = shown(w, "x-1");
            assert_eq!((&old["status"], &old["renamed_to"]), (&json!("tombstone"), &json!("x-auth")));
            assert!(old["comments"].is_null() && old["dependencies"].is_null(), "{old}");
            w.w.assert_sound();
        }
    }
}

#[test]
fn a_dependency_on_the_old_id_holds_on_the_new_one() {
    let (mut ann, mut ben) = shared(3);
    ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
    ben.ok("Ben", "task_depend", json!({ "id": "x-2", "on": "x-1", "type": "blocks" }));
    let part = text(&ben.ok("Ben", "task_create", json!({ "title": "part", "parent": "x-1" })), "id");
    exchange(&mut ann, &mut ben);
    for w in [&mut ann, &mut ben] {
        assert_eq!(shown(w, "x-2")["dependencies"][0]["id"], "x-auth");
        assert_eq!(shown(w, &part)["parent"], "x-auth");
        assert!(!ready(w).contains(&"x-2".to_owned()), "it waits for the renamed task");
        w.ok("Ann", "task_close", json!({ "id": part, "reason": "done" }));
        w.ok("Ann", "task_close", json!({ "id": "x-auth", "reason": "done" }));
        assert!(ready(w).contains(&"x-2".to_owned()));
        w.w.assert_sound();
    }
}

#[test]
fn two_names_for_one_task_become_one() {
    let (mut ann, mut ben) = shared(4);
    ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-ann" }));
    ann.ok("Ann", "task_comment", json!({ "id": "x-ann", "text": "of Ann" }));
    ben.w.now += 5000;
    ben.ok("Ben", "task_rename", json!({ "id": "x-1", "to": "x-ben" }));
    ben.ok("Ben", "task_comment", json!({ "id": "x-ben", "text": "of Ben" }));
    let of_ann = lines(&mut ann);
    let conflicts = list(&take(&mut ben, &of_ann)["conflicts"]);
    assert!(conflicts.iter().any(|one| one["field"] == "renamed_to"), "it is told: {conflicts:?}");
    exchange(&mut ann, &mut ben);
    for w in [&mut ann, &mut ben] {
        assert_eq!(comments(&shown(w, "x-ben")), BTreeSet::from(["of Ann".to_owned(), "of Ben".to_owned()]));
        assert_eq!(shown(w, "x-ann")["renamed_to"], "x-ben");
        assert_eq!(ready(w), ["x-2", "x-ben"]);
        w.w.assert_sound();
    }
}

#[test]
fn another_name_is_known_as_one_also_without_the_line_that_gave_it() {
    let (mut ann, mut ben) = shared(7);
    ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-ann" }));
    ben.w.now += 5000;
    ben.ok("Ben", "task_rename", json!({ "id": "x-1", "to": "x-ben" }));
    // Git has kept the line of the former id as this clone has it.
    let of_ann: Vec<String> =
        lines(&mut ann).into_iter().filter(|line| !line.contains("\"id\":\"x-1\"")).collect();
    take(&mut ben, &of_ann);
    assert_eq!(shown(&mut ben, "x-ann")["renamed_to"], "x-ben");
    assert_eq!(ready(&mut ben), ["x-2", "x-ben"]);
    exchange(&mut ann, &mut ben);
    assert_eq!(ready(&mut ann), ["x-2", "x-ben"]);
}

#[test]
fn a_token_ends_no_live_claim_by_a_rename_and_unseals_nothing() {
    let (mut ann, mut ben) = shared(8);
    ann.w.start(&agent("Ann"));
    ann.ok("Ann", "task_claim", json!({ "id": "x-1" }));
    ben.ok("Ben", "task_rename", json!({ "id": "x-1", "to": "x-mine" }));
    let of_ben = lines(&mut ben);
    let mut token = agent("Mal").process("");
    let bearer = Bearer { token_id: "t1".into(), name: "t".into(), identities: Some(vec!["Mal".to_owned()]) };
    token.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
    ann.w.ok(&token, "beads_import", json!({ "lines": of_ben }));
    let found = shown(&mut ann, "x-1");
    assert_eq!((&found["status"], &found["assignee"]), (&json!("in_progress"), &json!("Ann")));
    assert!(found["renamed_to"].is_null() && found["deleted_by"].is_null(), "{found}");
    ann.ok("Ann", "task_close", json!({ "id": "x-1", "reason": "done" }));
}

#[test]
fn the_reason_of_a_close_that_gives_way_to_a_claim_stays_in_the_ledger() {
    let (mut ann, mut ben) = shared(9);
    ben.ok("Ben", "task_close", json!({ "id": "x-1", "reason": "closed in the other clone" }));
    ann.w.now += 9000;
    ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
    ann.w.start(&agent("Ann"));
    ann.ok("Ann", "task_claim", json!({ "id": "x-auth" }));
    let of_ann = lines(&mut ann);
    take(&mut ben, &of_ann);
    assert_eq!(shown(&mut ben, "x-auth")["status"], "in_progress");
    assert!(
        ben.w.ledger().iter().any(|delta| delta["body"].to_string().contains("closed in the other clone")
            && delta["body"]["task_id"] == "x-auth")
    );
}

#[test]
fn a_claim_holds_on_under_the_new_id_and_its_holder_is_told() {
    let (mut ann, mut ben) = shared(5);
    ben.w.start(&agent("Ben"));
    ben.ok("Ben", "task_claim", json!({ "id": "x-1" }));
    ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
    let of_ann = lines(&mut ann);
    take(&mut ben, &of_ann);
    ben.no("Cid", "task_claim", json!({ "id": "x-auth" }), "task_claimed");
    let signals = ben.ok("Ben", "signal_pending", json!({})).to_string();
    assert!(signals.contains("is called x-auth now"), "{signals}");
    let refusal = ben.no("Ben", "task_close", json!({ "id": "x-1", "reason": "all green" }), "task_renamed");
    assert_eq!((&refusal["renamed_to"], refusal["kept_comment_id"].is_null()), (&json!("x-auth"), false));
    assert!(comments(&shown(&mut ben, "x-auth")).contains("all green"), "the reason is kept");
    ben.ok("Ben", "task_close", json!({ "id": "x-auth", "reason": "all green" }));
}

#[test]
fn an_id_that_names_another_task_is_not_followed() {
    let (mut ann, mut ben) = shared(6);
    ben.ok("Ben", "task_comment", json!({ "id": "x-1", "text": "said" }));
    ann.w.now += 1;
    ann.ok("Ann", "task_create", json!({ "title": "a stranger", "id": "x-3" }));
    ann.ok("Ann", "task_delete", json!({ "id": "x-1" }));
    let forged: Vec<String> = lines(&mut ann)
        .into_iter()
        .map(|line| line.replace("\"deleted_by\"", "\"renamed_to\":\"x-3\",\"deleted_by\""))
        .collect();
    take(&mut ben, &forged);
    assert!(shown(&mut ben, "x-3")["comments"].is_null(), "nothing is mixed into another task");
    assert_eq!(comments(&shown(&mut ben, "x-1")), BTreeSet::from(["said".to_owned()]));
    ben.w.assert_sound();
}

#[test]
fn notes_that_both_clones_add_are_joined_across_a_new_name() {
    for seed in [13, 14] {
        let (mut ann, mut ben) = shared(seed);
        ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
        ann.ok("Ann", "task_update", json!({ "id": "x-auth", "append_notes": "of Ann" }));
        ben.w.now += 10;
        ben.ok("Ben", "task_update", json!({ "id": "x-1", "append_notes": "of Ben" }));
        if seed == 13 {
            let of_ann = lines(&mut ann);
            take(&mut ben, &of_ann);
        } else {
            let of_ben = lines(&mut ben);
            take(&mut ann, &of_ben);
        }
        exchange(&mut ann, &mut ben);
        for w in [&mut ann, &mut ben] {
            let notes = text(&shown(w, "x-auth"), "notes");
            let added: BTreeSet<&str> = notes.lines().collect();
            assert_eq!(added, BTreeSet::from(["begun", "of Ann", "of Ben"]), "{notes}");
        }
    }
}

#[test]
fn what_was_changed_before_a_delete_is_there_under_the_new_name() {
    for seed in [15, 16] {
        let (mut ann, mut ben) = shared(seed);
        ann.ok("Ann", "task_rename", json!({ "id": "x-1", "to": "x-auth" }));
        ben.ok("Ben", "task_update", json!({ "id": "x-1", "title": "better", "notes": "half done" }));
        ben.ok("Ben", "task_comment", json!({ "id": "x-1", "text": "said" }));
        ben.w.now += 10;
        ben.ok("Ben", "task_delete", json!({ "id": "x-1", "reason": "no need" }));
        if seed == 15 {
            let of_ann = lines(&mut ann);
            take(&mut ben, &of_ann);
        } else {
            let of_ben = lines(&mut ben);
            take(&mut ann, &of_ben);
        }
        exchange(&mut ann, &mut ben);
        for w in [&mut ann, &mut ben] {
            let found = shown(w, "x-auth");
            let fields = ["title", "notes", "status"].map(|key| text(&found, key));
            assert_eq!(fields, ["better", "half done", "open"], "{found:#}");
            assert_eq!(comments(&found), BTreeSet::from(["said".to_owned()]));
            assert!(found["delete_reason"].is_null() && found["deleted_at"].is_null(), "{found:#}");
            w.w.assert_sound();
        }
    }
}

/// The id under which a task of the first clone is known in this one.
pub(crate) fn present(w: &mut Clone, id: &str) -> Option<String> {
    let mut id = id.to_owned();
    for _ in 0..100 {
        let found = shown(w, &id);
        match found["renamed_to"].as_str() {
            Some(to) => to.clone_into(&mut id),
            None => return (found["status"] != "tombstone").then_some(id),
        }
    }
    panic!("{id} is renamed in a circle")
}

/// What was acknowledged of one task.
#[derive(Default)]
struct Record {
    comments: BTreeSet<String>,
    is_deleted: bool,
    closed: bool,
    /// How often the other task came to depend on it.
    links: usize,
}

fn step(w: &mut Clone, number: usize, record: &mut Record) {
    w.w.now += 1 + i64::try_from(w.w.dice.below(3000)).unwrap_or(0);
    let Some(id) = present(w, "x-1") else { return };
    match w.w.dice.below(14) {
        0..=2 => {
            let to = format!("x-name{number}");
            w.ok("Ann", "task_rename", json!({ "id": id, "to": to }));
        }
        3..=6 => {
            let text = format!("said {number}");
            w.ok("Ann", "task_comment", json!({ "id": id, "text": text }));
            record.comments.insert(text);
        }
        7 | 12 => {
            _ = w.ok("Ann", "task_update", json!({ "id": id, "append_notes": format!("notes {number}") }));
        }
        8 if shown(w, &id)["status"] != "closed" => {
            w.ok("Ann", "task_close", json!({ "id": id, "reason": "done" }));
            record.closed = true;
        }
        9 if shown(w, "x-2")["dependencies"].is_null() => {
            w.ok("Ann", "task_depend", json!({ "id": "x-2", "on": id, "type": "blocks" }));
            record.links += 1;
        }
        9 | 13 if !shown(w, "x-2")["dependencies"].is_null() => {
            let on = shown(w, "x-2")["dependencies"][0]["id"].clone();
            w.ok("Ann", "task_depend", json!({ "id": "x-2", "on": on, "type": "blocks", "remove": true }));
        }
        10 if w.w.dice.below(4) == 0 => {
            w.ok("Ann", "task_delete", json!({ "id": id, "force": true }));
            record.is_deleted = true;
        }
        _ => {}
    }
}

#[test]
fn the_later_of_two_closes_says_how_it_went() {
    for (seed, first, last) in [(90, "fail", "pass"), (91, "pass", "fail")] {
        let (mut ann, mut ben) = shared(seed);
        ben.ok("Ben", "task_close", json!({ "id": "x-1", "result": first, "reason": "first" }));
        ann.w.now += 60_000;
        ann.ok("Ann", "task_close", json!({ "id": "x-1", "result": last, "reason": "last" }));
        exchange(&mut ann, &mut ben);
        for w in [&mut ann, &mut ben] {
            let found = shown(w, "x-1");
            assert_eq!(found["close_reason"], "last");
            assert_eq!(found["result"].as_str().unwrap_or("pass"), last, "{found:#}");
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a test learns from its environment how it is to run")]
pub(crate) fn histories() -> u64 {
    std::env::var("BATON_TEST_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn whatever_two_clones_do_nothing_stays_behind_under_an_old_id() {
    let (mut ann, mut ben) = clones(100);
    for seed in 0..histories() {
        let project = format!("p{seed}");
        ann.begin(&project);
        ben.begin(&project);
        share(&mut ann, &mut ben);
        let mut record = Record::default();
        for number in 0..12 {
            let is_ann = ann.w.dice.below(2) == 0;
            step(if is_ann { &mut ann } else { &mut ben }, number, &mut record);
            if ann.w.dice.below(5) == 0 {
                let (from, to) =
                    if ann.w.dice.below(2) == 0 { (&mut ann, &mut ben) } else { (&mut ben, &mut ann) };
                let file = lines(from);
                take(to, &file);
            }
        }
        exchange(&mut ann, &mut ben);
        for w in [&mut ann, &mut ben] {
            let ids = column(&list(&w.ok("Ann", "task_list", json!({ "all": true }))["items"]), "id");
            let live: Vec<&String> = ids.iter().filter(|id| *id != "x-2").collect();
            assert!(live.len() <= 1, "seed {seed}: one task under several names: {live:?}");
            if record.is_deleted {
                continue;
            }
            let id = present(w, "x-1").unwrap_or_else(|| panic!("seed {seed}: the task is gone"));
            assert_eq!(live, [&id], "seed {seed}");
            let found = shown(w, &id);
            assert_eq!(comments(&found), record.comments, "seed {seed}");
            assert_eq!(found["status"] == "closed", record.closed, "seed {seed}");
            for edge in shown(w, "x-2")["dependencies"].as_array().into_iter().flatten() {
                assert_eq!(edge["id"], json!(id), "seed {seed}: a dependency on an old id");
            }
        }
    }
    ann.w.assert_sound();
    ben.w.assert_sound();
}
