//! An epic, its part and what waits for the part are renamed in two clones, in every order: each is there once, under one id, with its
//! place in the family.

use std::collections::BTreeSet;

use serde_json::json;

use crate::renames::{Clone, clones, comments, exchange, histories, lines, present, shown, take};
use crate::world::{column, list};

/// The epic, its part, and the task that waits for the part.
const FAMILY: [&str; 3] = ["x-1", "x-1.1", "x-2"];

fn share(first: &mut Clone, second: &mut Clone) {
    first.ok("Ann", "task_create", json!({ "title": "epic", "id": "x-1", "issue_type": "epic" }));
    first.ok("Ann", "task_create", json!({ "title": "part", "id": "x-1.1", "parent": "x-1" }));
    first.ok("Ann", "task_create", json!({ "title": "waits", "id": "x-2" }));
    first.ok("Ann", "task_depend", json!({ "id": "x-2", "on": "x-1.1", "type": "blocks" }));
    exchange(first, second);
    first.w.now += 1000;
    second.w.now += 1000;
}

fn step(w: &mut Clone, number: usize, texts: &mut [BTreeSet<String>; 3]) {
    w.w.now += 1 + i64::try_from(w.w.dice.below(3000)).unwrap_or(0);
    let which = w.w.dice.below(3);
    let id = present(w, FAMILY[which]).expect("nothing is deleted");
    match w.w.dice.below(4) {
        0 | 1 => _ = w.ok("Ann", "task_rename", json!({ "id": id, "to": format!("x-n{which}{number}") })),
        2 => {
            let comment = format!("said {number}");
            w.ok("Ann", "task_comment", json!({ "id": id, "text": comment }));
            texts[which].insert(comment);
        }
        _ => _ = w.ok("Ann", "task_update", json!({ "id": id, "append_notes": format!("notes {number}") })),
    }
}

fn require_family(w: &mut Clone, texts: &[BTreeSet<String>; 3], seed: u64) {
    let ids = column(&list(&w.ok("Ann", "task_list", json!({ "all": true }))["items"]), "id");
    let [epic, part, waiting] =
        FAMILY.map(|id| present(w, id).unwrap_or_else(|| panic!("seed {seed}: {id} is gone")));
    let known: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(known, BTreeSet::from([&epic, &part, &waiting]), "seed {seed}: one id each");
    assert_eq!(shown(w, &part)["parent"], json!(epic), "seed {seed}: the part stays in its epic");
    let edges = column(&list(&shown(w, &waiting)["dependencies"]), "id");
    assert_eq!(edges, std::slice::from_ref(&part), "seed {seed}: what waits still waits for the part");
    for (id, texts) in [epic, part, waiting].iter().zip(texts) {
        assert_eq!(comments(&shown(w, id)), *texts, "seed {seed}: comments of {id}");
    }
}

#[test]
fn a_family_stays_together_under_new_names_in_two_clones() {
    let (mut ann, mut ben) = clones(700);
    for seed in 0..histories() {
        let project = format!("p{seed}");
        ann.begin(&project);
        ben.begin(&project);
        share(&mut ann, &mut ben);
        let mut texts = <[BTreeSet<String>; 3]>::default();
        for number in 0..10 {
            let is_ann = ann.w.dice.below(2) == 0;
            step(if is_ann { &mut ann } else { &mut ben }, number, &mut texts);
            if ann.w.dice.below(4) == 0 {
                let is_first = ann.w.dice.below(2) == 0;
                let (from, to) = if is_first { (&mut ann, &mut ben) } else { (&mut ben, &mut ann) };
                let file = lines(from);
                take(to, &file);
            }
        }
        exchange(&mut ann, &mut ben);
        for w in [&mut ann, &mut ben] {
            require_family(w, &texts, seed);
        }
        require_settled(&mut ann, &mut ben, seed);
    }
    ann.w.assert_sound();
    ben.w.assert_sound();
}

/// A pull that brings nothing new changes no line, in either clone.
fn require_settled(first: &mut Clone, second: &mut Clone, seed: u64) {
    let file = lines(first);
    take(second, &file);
    assert_same(&file, &lines(second), seed);
    take(first, &file);
    assert_same(&file, &lines(first), seed);
}

fn assert_same(file: &[String], now: &[String], seed: u64) {
    let count = file.len();
    assert_eq!(now.len(), count, "seed {seed}");
    for (was, now) in file.iter().zip(now) {
        assert_eq!(was, now, "seed {seed}: a line changes");
    }
}
