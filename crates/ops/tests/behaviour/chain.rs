//! What happens to a store that is damaged, and to an export that is: it is found, named, and nothing is written.

use std::collections::BTreeMap;
use std::fs;

use baton_store::export_file::Writer;
use baton_store::ledger_transfer::survey;
use baton_store::{Store, Target};
use serde_json::{Value, json};

use crate::backend::{Backend, NOW};
use crate::hub::Hub;
use crate::saga;
use crate::world::{Agent, Dice, World, agent, column, list, text};

/// Something in every table that a person would miss.
fn populate(w: &mut World) {
    for turn in 0..4 {
        w.leave_baton(&agent("Lola"), &format!("the cart rounds, turn {turn}"));
        w.pickup(&agent("Donna"));
        let donna = agent("Donna");
        w.ok(
            &donna,
            "session_checkpoint",
            json!({ "summary": "half way", "state": { "step": turn, "why": "it is" } }),
        );
        w.ok(
            &donna,
            "ledger_note",
            json!({ "kind": "decision", "text": "we round half up", "tags": ["money"] }),
        );
        w.ok(
            &donna,
            "memory_add",
            json!({ "text": format!("invoices carry {turn} decimals"), "tags": ["tax"] }),
        );
        let task = w.ok(
            &donna,
            "task_create",
            json!({ "title": format!("refund {turn}"), "description": "pay it back" }),
        );
        w.ok(&donna, "task_comment", json!({ "id": text(&task, "id"), "text": "seen twice" }));
        w.ok(
            &agent("Lola"),
            "mail_send",
            json!({ "to": "Donna", "subject": "schema", "body": "the table has changed" }),
        );
        w.wrap(&donna, "done with it");
    }
}

/// The lines of an export of a project, and how many of them are deltas.
pub(crate) fn export(w: &mut World, project: &str) -> (Vec<String>, usize) {
    let reader = agent("Reader").project(project);
    let ledger = list(&w.ok(&reader, "ledger_list", json!({ "chain": true, "limit": 10_000 }))["items"]);
    let rows = list(&w.ok(&reader, "ledger_export", json!({}))["items"]);
    (written(project, &ledger, &rows), ledger.len())
}

fn written(project: &str, ledger: &[Value], rows: &[Value]) -> Vec<String> {
    let mut writer = Writer::new(project, ledger.len(), rows.len());
    ledger.iter().chain(rows).for_each(|line| writer.line(line));
    writer.finish().lines().map(str::to_owned).collect()
}

fn parsed(lines: &[String]) -> Vec<Value> {
    let inner = &lines[1..lines.len() - 1];
    let parse = |line: &String| {
        let mut line: Value = serde_json::from_str(line).expect("json");
        line.as_object_mut().expect("an object").shift_remove("_sum");
        line
    };
    inner.iter().map(parse).collect()
}

/// A world of its own with the project `shop`, and its export.
fn shop() -> (World, Vec<String>, usize) {
    let mut w = World::new(Backend::Memory, 5).expect("memory");
    w.register("shop");
    let ann = agent("Ann").project("shop");
    w.start(&ann);
    w.ok(&ann, "ledger_note", json!({ "text": "naïve ✓ 1.10 1e3 \"quoted\" \\ line\nbreak" }));
    w.ok(&ann, "handoff_create", json!({ "to_project_id": "p", "subject": "s" }));
    w.ok(
        &ann,
        "session_checkpoint",
        json!({ "summary": "x", "state": { "f": 0.1, "g": 1e300, "h": [1.0, -0.0] } }),
    );
    w.wrap(&ann, "first");
    let (lines, deltas) = export(&mut w, "shop");
    (w, lines, deltas)
}

fn shopkeeper() -> Agent {
    agent("Ann").project("shop")
}

/// A world of its own with a hand-off of the project `shop` whose issue is not made yet.
fn unfinished() -> (World, String) {
    let mut w = World::new(Backend::Memory, 5).expect("memory");
    w.machines.github = true;
    w.register("shop");
    w.register("q");
    let made = w.ok(&shopkeeper(), "handoff_create", saga::handoff_input());
    (w, text(&made, "handoff_id"))
}

/// The export of a project whose hand-off waits for the answer of GitHub, where the issue may be made already.
fn exported_unfinished(is_made: bool) -> (Vec<String>, String, Hub) {
    let (mut w, id) = unfinished();
    let mut hub = Hub::default();
    let leased = saga::lease(&mut w, &id, &saga::driver("d"));
    if is_made {
        hub.ask(&leased.call);
    }
    (export(&mut w, "shop").0, id, hub)
}

/// The lines as a version wrote them that exported no steps.
fn without_steps(lines: &[String]) -> Vec<Value> {
    parsed(lines).into_iter().filter(|row| row["_type"] != "handoff_step").collect()
}

/// A retry brings the imported hand-off to its end, with one issue.
#[track_caller]
fn goes_on(w: &mut World, hub: &mut Hub, id: &str) {
    w.machines.github = true;
    // The lease of the driver that the export met at work is over by then.
    w.advance(3_600_000);
    w.ok(&shopkeeper(), "handoff_retry", json!({ "id": id }));
    saga::drive(w, hub, id);
    let shown = w.ok(&shopkeeper(), "handoff_show", json!({ "id": id }));
    // A look for doubles may follow them.
    let steps = &list(&shown["steps"])[..4];
    assert_eq!(column(steps, "step"), ["task", "memory", "session", "offer"]);
    assert_eq!((&shown["state"], column(steps, "state")), (&json!("offered"), vec!["done".to_owned(); 4]));
    assert_eq!((hub.issues.len(), hub.open()), (1, 1));
    w.assert_sound();
}

on_every_backend! {
    fn an_export_rebuilds_the_project_with_its_chain_and_exports_the_same(w) {
        let (_, lines, deltas) = shop();
        let made = w.ok(&agent("Ann"), "ledger_import", json!({ "lines": lines }));
        assert_eq!((made["deltas"].clone(), made["verified"].clone()), (json!(deltas), json!(true)));
        assert_eq!(export(w, "shop").0, lines);
        w.assert_sound();
        w.ok(&agent("Ann").project("shop"), "ledger_note", json!({ "text": "and it goes on" }));
        w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "project_exists");
    }

    fn a_line_that_is_missing_doubled_moved_or_altered_is_named_and_nothing_is_written(w) {
        let (_, lines, _) = shop();
        let refused = |w: &mut World, lines: &[String], line: usize| {
            let refusal = w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "export_invalid");
            assert_eq!(refusal["line"], line, "{refusal:#}");
        };
        for at in 0..lines.len() {
            let mut less = lines.clone();
            less.remove(at);
            refused(w, &less, at + 1);
            let mut more = lines.clone();
            more.insert(at, lines[at].clone());
            refused(w, &more, at + 2);
            let mut altered = lines.clone();
            altered[at] = altered[at].replacen("shop", "shoq", 1);
            refused(w, &altered, at + 1);
        }
        refused(w, &lines[..lines.len() - 1], lines.len());
    }

    fn deltas_that_were_altered_together_with_their_sums_do_not_follow_from_each_other(w) {
        let (_, lines, deltas) = shop();
        let all = parsed(&lines);
        let (ledger, rows) = all.split_at(deltas);
        for at in 0..deltas {
            let mut forged = ledger.to_vec();
            forged[at]["identity"] = json!("Eve");
            let lines = written("shop", &forged, rows);
            let refusal = w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "export_invalid");
            assert_eq!(refusal["line"], at + 2, "{refusal:#}");
        }
        // The last delta is left out, and everything is counted and summed anew.
        let lines = written("shop", &ledger[..deltas - 1], rows);
        w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "export_invalid");
        // A row under another project's name.
        let mut foreign = rows.to_vec();
        let handoff = foreign.iter_mut().find(|row| row["_type"] == "handoff").expect("a hand-off");
        (handoff["from_project_id"], handoff["to_project_id"]) = (json!("p"), json!("p"));
        let lines = written("shop", ledger, &foreign);
        w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "export_invalid");
        // The same row twice.
        let mut twice = rows.to_vec();
        twice.push(rows.iter().find(|row| row["_type"] == "session").expect("a session").clone());
        let lines = written("shop", ledger, &twice);
        w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "export_invalid");
    }

    fn an_older_export_is_imported_when_that_is_said_and_gets_a_chain(w) {
        let (_, lines, _) = shop();
        let mut old = parsed(&lines);
        for line in &mut old {
            let row = line.as_object_mut().expect("an object");
            row.shift_remove("chain");
            row.shift_remove("chain_head");
        }
        w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": old }), "export_unverified");
        let made = w.ok(&agent("Ann"), "ledger_import", json!({ "lines": old, "unverified": true }));
        assert_eq!(made["verified"], false);
        w.assert_sound();
        assert_eq!(export(w, "shop").0, lines);
    }

    fn a_value_of_another_type_is_a_fault_of_its_line(w) {
        let (_, lines, _) = shop();
        for wrong in [json!(true), json!(["x"]), json!({ "a": 1 }), json!("x"), Value::Null] {
            let mut rows = parsed(&lines);
            let at = rows.iter().position(|row| row["_type"] == "session").expect("a session");
            (rows[at]["identity"], rows[at]["started_at"]) = (Value::Null, wrong);
            let refusal = w.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": rows, "unverified": true }), "export_invalid");
            assert!(text(&refusal, "message").contains(&format!("line {}", at + 1)), "{refusal:#}");
            assert!(!refusal.to_string().contains("INSERT"), "{refusal:#}");
        }
    }

    fn an_unfinished_hand_off_goes_on_after_an_import(w) {
        let (lines, id, mut hub) = exported_unfinished(false);
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": lines }));
        goes_on(w, &mut hub, &id);
    }

    fn an_issue_that_was_made_before_an_export_is_not_made_again_after_its_import(w) {
        let (lines, id, mut hub) = exported_unfinished(true);
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": lines }));
        goes_on(w, &mut hub, &id);
    }

    fn an_unfinished_hand_off_of_an_export_without_steps_goes_on_when_it_is_retried(w) {
        let (lines, id, mut hub) = exported_unfinished(false);
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": without_steps(&lines), "unverified": true }));
        goes_on(w, &mut hub, &id);
    }

    fn an_issue_that_was_made_before_an_export_without_steps_is_not_made_again(w) {
        let (lines, id, mut hub) = exported_unfinished(true);
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": without_steps(&lines), "unverified": true }));
        goes_on(w, &mut hub, &id);
    }

    fn a_hand_off_of_an_export_without_steps_is_taken_back_with_its_issue(w) {
        let (lines, id, mut hub) = exported_unfinished(true);
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": without_steps(&lines), "unverified": true }));
        w.machines.github = true;
        w.ok(&shopkeeper(), "handoff_advance", json!({ "id": id, "action": "cancel", "result": "not now" }));
        saga::drive(w, &mut hub, &id);
        assert_eq!((hub.issues.len(), hub.open()), (1, 0));
    }

    fn steps_come_with_the_hand_off_that_they_belong_to(w) {
        let (mut from, id) = unfinished();
        let (early, _) = export(&mut from, "shop");
        saga::drive(&mut from, &mut Hub::default(), &id);
        let (late, _) = export(&mut from, "q");
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": early }));
        w.ok(&agent("Ann"), "ledger_import", json!({ "lines": late }));
        let shown = w.ok(&shopkeeper(), "handoff_show", json!({ "id": id }));
        let states = column(&list(&shown["steps"]), "state");
        assert_eq!((&shown["state"], states), (&json!("offered"), vec!["done".to_owned(); 4]));
        let deltas = parsed(&early).iter().filter(|row| row["_type"].is_null()).count();
        let mut rows = parsed(&early).split_off(deltas);
        rows.retain(|row| row["_type"] != "handoff");
        let lines = written("shop", &parsed(&early)[..deltas], &rows);
        let mut other = World::new(Backend::Memory, 6).expect("memory");
        other.no_trace(&agent("Ann"), "ledger_import", json!({ "lines": lines }), "export_invalid");
    }

    fn a_broken_ledger_is_named_and_exported_only_when_that_is_said(w) {
        populate(w);
        w.damaged = true;
        let body = "UPDATE delta SET body = '{\"text\":\"we round half down\"}' WHERE seq = (SELECT MIN(seq) FROM delta WHERE kind = 'decision')";
        w.store.write_shared(|tx| Ok(tx.execute(body, &[])?)).expect("harm is done");
        let seq = w.deltas("decision")[0]["seq"].clone();
        let report = w.ok(&agent("Reader"), "store_check", json!({}));
        assert_eq!(report["sound"], false);
        let faults = report["faults"].to_string();
        assert!(faults.contains(&format!("p: the chain is broken at delta {seq}")), "{faults}");
        assert!(report["next"].to_string().contains("baton restore"), "{report:#}");
        let refusal = w.no(&agent("Reader"), "ledger_export", json!({}), "chain_broken");
        assert_eq!((refusal["project_id"].clone(), refusal["seq"].clone()), (json!("p"), seq));
        w.ok(&agent("Reader"), "ledger_export", json!({ "unverified": true }));
    }
}

/// What was found, by table: flips that changed it, and those of them that were noticed.
type Share = BTreeMap<&'static str, (u32, u32)>;

/// Flips a bit of a store's file, again and again, each time from a sound one, and asks whether anything is said about it.
fn flip(w: &mut World, clean: &[u8], place: &std::path::Path, share: &mut Share) {
    let target = Target::File(place.to_owned());
    fs::write(place, clean).expect("written");
    let whole = survey(&mut Store::open_read_only(&target).expect("sound")).expect("read");
    let mut dice = Dice(99);
    // The pages that hold rows, and of those the bytes that are used.
    let is_row = |at: &usize| clean[*at] != 0 && *at >= 4_096 && clean[at / 4_096 * 4_096] == 0x0d;
    let bytes: Vec<usize> = (0..clean.len()).filter(is_row).collect();
    for _ in 0..900 {
        if share.get("delta").is_some_and(|(changed, _)| *changed >= 60) {
            return;
        }
        let (at, bit) = (bytes[dice.below(bytes.len())], dice.below(8));
        let mut flipped = clean.to_vec();
        flipped[at] ^= 1 << bit;
        fs::write(place, &flipped).expect("written");
        let _ = fs::remove_file(place.with_extension("db-wal"));
        let Ok(mut store) = Store::open_read_only(&target) else { continue };
        let changed: Vec<&'static str> = match survey(&mut store) {
            Ok(now) => now.iter().zip(&whole).filter(|(a, b)| a != b).map(|(table, _)| table.name).collect(),
            Err(_) => vec!["(unreadable)"],
        };
        if changed.is_empty() {
            continue;
        }
        let sound = std::mem::replace(&mut w.store, store);
        let report = w.call(&agent("Reader"), "store_check", json!({}));
        w.store = sound;
        let noticed = report.map_or(true, |report| report["sound"] == false);
        for table in changed {
            let (changed, found) = share.entry(table).or_default();
            *changed += 1;
            *found += u32::from(noticed);
            let is_ledger = ["delta", "(unreadable)"].contains(&table);
            assert!(noticed || !is_ledger, "bit {bit} of byte {at} changed `{table}`, and nobody noticed");
        }
    }
}

#[test]
fn every_flipped_bit_that_changes_a_delta_is_found() {
    let mut w = World::new(Backend::File, 3).expect("a file");
    populate(&mut w);
    let dir = tempfile::tempdir().expect("a folder");
    let (copy, place) = (dir.path().join("clean.db"), dir.path().join("flipped.db"));
    w.store.backup(&copy).expect("a copy without leftovers");
    let clean = fs::read(copy).expect("read");
    let mut share = Share::new();
    flip(&mut w, &clean, &place, &mut share);
    let (changed, found) = share["delta"];
    assert!(changed >= 50 && changed == found, "{share:?}");
    let others = share.iter().filter(|(table, _)| **table != "delta");
    let (all, seen) = others.fold((0, 0), |(all, seen), (_, (changed, found))| (all + changed, seen + found));
    eprintln!(
        "flips that changed a delta: {changed}, all found; another table: {all}, of which {seen} were found: {share:?}"
    );
    assert!(w.now >= NOW);
}

#[test]
fn every_flipped_bit_of_every_column_of_a_delta_is_found_even_where_the_indexes_agree() {
    let mut w = World::new(Backend::Memory, 4).expect("memory");
    populate(&mut w);
    let mut dice = Dice(7);
    let columns = [
        "seq",
        "delta_id",
        "kind",
        "session_id",
        "identity",
        "created_at",
        "inherited_from",
        "thread_id",
        "body",
        "chain",
    ];
    let count = w.ledger().len();
    for turn in 0..200 {
        let (column, at) = (columns[turn % columns.len()], dice.below(count));
        let cell: &'static str = Box::leak(
            format!("SELECT seq, CAST({column} AS TEXT), typeof({column}) FROM delta WHERE project_id = 'p' ORDER BY seq LIMIT 1 OFFSET {at}")
                .into_boxed_str(),
        );
        let row = w.store.read(|tx| Ok(tx.query_one(cell, &[])?)).expect("a row");
        let mut r = row.reader();
        let (seq, value, kind) =
            (r.int().expect("number"), r.opt_text().expect("cell"), r.text().expect("type"));
        let Some(value) = value else { continue };
        let changed = match kind.as_str() {
            "integer" => {
                format!("{}", value.parse::<i64>().expect("a number") ^ (1 << (20 + dice.below(30))))
            }
            _ => {
                let mut bytes = value.into_bytes();
                let place = dice.below(bytes.len());
                bytes[place] ^= 1 << dice.below(8);
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("CAST(x'{hex}' AS TEXT)")
            }
        };
        let run = |w: &mut World, sql: String| {
            let sql: &'static str = Box::leak(sql.into_boxed_str());
            w.store.write_shared(|tx| Ok(tx.execute(sql, &[])?)).expect("harm is done");
        };
        run(&mut w, "CREATE TEMP TABLE kept AS SELECT * FROM delta".into());
        run(&mut w, format!("UPDATE delta SET {column} = {changed} WHERE project_id = 'p' AND seq = {seq}"));
        let walk = baton_store::chain::check(&mut w.store, "p").expect("checked");
        let first = walk
            .broken
            .first()
            .unwrap_or_else(|| panic!("{column} of {seq} was changed, and nobody noticed"));
        assert!(first.seq >= seq.min(first.seq) && first.project_id == "p");
        if column != "seq" {
            assert_eq!(first.seq, seq, "{column}: {:?}", walk.faults());
        }
        run(&mut w, "DELETE FROM delta".into());
        run(&mut w, "INSERT INTO delta SELECT * FROM kept".into());
        run(&mut w, "DROP TABLE kept".into());
    }
    w.assert_sound();
}
