//! Two projects share hand-offs and messages. Their exports, taken at different moments, bring the newer state in either order.

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::chain::export;
use crate::world::{Agent, World, agent, column, text};

fn sender() -> Agent {
    agent("Lola").project("shop")
}

fn receiver(name: &str) -> Agent {
    agent(name).project("q")
}

fn source() -> World {
    let mut w = World::new(Backend::Memory, 5).expect("memory");
    w.register("shop");
    w.register("q");
    w
}

fn handoff(w: &mut World, subject: &str) -> String {
    let input = json!({ "to_project_id": "q", "subject": subject, "description": "GET /x" });
    text(&w.ok(&sender(), "handoff_create", input), "handoff_id")
}

fn import(w: &mut World, lines: &[String]) -> Value {
    w.ok(&agent("Ann"), "ledger_import", json!({ "lines": lines }))
}

fn shown(w: &mut World, id: &str) -> (Value, Value, Value) {
    let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
    (shown["state"].clone(), shown["accepted_by"].clone(), shown["result"].clone())
}

/// The exports of a sender's project and of the receiver's, where the second is the older or the newer one.
fn exports(is_receiver_newer: bool) -> (Vec<String>, Vec<String>, [String; 2]) {
    let mut from = source();
    let ids = [handoff(&mut from, "done"), handoff(&mut from, "in work")];
    let (shop, q) = (export(&mut from, "shop").0, export(&mut from, "q").0);
    from.advance(60_000);
    for (id, who) in ids.iter().zip(["Donna", "Bert"]) {
        from.ok(&receiver(who), "handoff_advance", json!({ "id": id, "action": "accept" }));
    }
    let done = json!({ "id": ids[0], "action": "complete", "result": "as you wished" });
    from.ok(&receiver("Donna"), "handoff_advance", done);
    match is_receiver_newer {
        true => (shop, export(&mut from, "q").0, ids),
        false => (export(&mut from, "shop").0, q, ids),
    }
}

fn takes_the_newer(w: &mut World, is_receiver_newer: bool, is_sender_first: bool) {
    let (shop, q, ids) = exports(is_receiver_newer);
    for lines in if is_sender_first { [&shop, &q] } else { [&q, &shop] } {
        import(w, lines);
    }
    let done = (json!("completed"), json!("Donna"), json!("as you wished"));
    assert_eq!(shown(w, &ids[0]), done);
    assert_eq!(shown(w, &ids[1]), (json!("accepted"), json!("Bert"), Value::Null));
    let mina = receiver("Mina");
    w.no(&mina, "handoff_advance", json!({ "id": ids[1], "action": "accept" }), "handoff_state");
}

fn delivers(w: &mut World, is_sender_first: bool) {
    let mut from = source();
    from.ok(&receiver("Donna"), "agent_register", json!({}));
    let (q, _) = export(&mut from, "q");
    let mail = json!({ "to": "Donna", "to_project": "q", "subject": "the schema", "body": "it has changed" });
    from.ok(&sender(), "mail_send", mail);
    let id = handoff(&mut from, "left later");
    let (shop, _) = export(&mut from, "shop");
    let [first, second] = if is_sender_first { [&shop, &q] } else { [&q, &shop] };
    let made = import(w, first);
    assert_eq!((&made["messages_delivered"], &made["handoffs_without_task"]), (&json!(0), &Value::Null));
    let made = import(w, second);
    assert_eq!((&made["messages_delivered"], &made["handoffs_without_task"]), (&json!(1), &json!([id])));
    assert_eq!(column(&w.pending(&receiver("Donna")), "subject"), ["the schema"]);
}

on_every_backend! {
    fn the_sender_first_the_receiver_newer_brings_the_newer_state(w) {
        takes_the_newer(w, true, true);
    }

    fn the_receiver_first_and_newer_keeps_the_newer_state(w) {
        takes_the_newer(w, true, false);
    }

    fn the_sender_first_and_newer_keeps_the_newer_state(w) {
        takes_the_newer(w, false, true);
    }

    fn the_receiver_first_the_sender_newer_brings_the_newer_state(w) {
        takes_the_newer(w, false, false);
    }

    fn a_message_that_was_sent_after_the_receivers_export_is_delivered_when_the_receiver_comes(w) {
        delivers(w, true);
    }

    fn a_message_that_was_sent_after_the_receivers_export_is_delivered_when_the_sender_comes(w) {
        delivers(w, false);
    }
}

/// A baton is left in `fix`, which is then merged into `shop`. The exports are of before and of after the merge.
fn merged_exports() -> (Vec<String>, Vec<String>, [String; 2]) {
    let mut from = source();
    from.register("fix");
    let ann = agent("Ann").project("fix").process("");
    from.start(&ann);
    let left = from.ok(&ann, "session_wrap", json!({ "summary": "the cart rounds" }));
    let (fix, _) = export(&mut from, "fix");
    let merged = from.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "shop" }));
    let moved = text(&merged["batons"][0], "to");
    (fix, export(&mut from, "shop").0, [text(&left, "baton_id"), moved])
}

fn has_one_holder(w: &mut World, is_older_first: bool) {
    let (fix, shop, [left, moved]) = merged_exports();
    for lines in if is_older_first { [&fix, &shop] } else { [&shop, &fix] } {
        import(w, lines);
    }
    let hal = agent("Hal").project("fix").process("");
    w.no(&hal, "hd_exec", json!({ "handoff_id": left }), "baton_spent");
    w.ok(&agent("Mina").project("shop").process(""), "hd_exec", json!({ "handoff_id": moved }));
}

on_every_backend! {
    fn a_baton_of_a_merged_project_has_one_holder_after_the_older_export(w) {
        has_one_holder(w, true);
    }

    fn a_baton_of_a_merged_project_has_one_holder_after_the_newer_export(w) {
        has_one_holder(w, false);
    }

    fn a_baton_that_is_held_when_its_successor_is_imported_is_named(w) {
        let (fix, shop, [left, _]) = merged_exports();
        import(w, &fix);
        w.ok(&agent("Hal").project("fix").process(""), "hd_exec", json!({ "handoff_id": left }));
        let made = import(w, &shop);
        assert_eq!(made["batons_held_and_moved"], json!([left]));
    }
}

#[test]
fn whatever_two_exports_know_of_a_merge_the_baton_is_in_exactly_one_project() {
    let (fix, shop) = histories();
    for (of_fix, fix) in fix.iter().enumerate() {
        for (of_shop, shop) in shop.iter().enumerate() {
            for lines in [[fix, shop], [shop, fix]] {
                let mut home = World::new(Backend::Memory, 7).expect("a store");
                for lines in lines {
                    import(&mut home, lines);
                }
                let offered: Vec<&str> =
                    ["fix", "shop"].into_iter().filter(|id| is_offered(&mut home, id)).collect();
                let is_merged = of_fix.max(of_shop) % 2 == 1;
                let expected = if is_merged { "shop" } else { "fix" };
                assert_eq!(
                    offered,
                    [expected],
                    "fix after {of_fix} merges and undoings, shop after {of_shop}"
                );
                home.assert_sound();
            }
        }
    }
}

/// The exports of two projects: before a merge, after it, after its undoing, and after another merge.
fn histories() -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let mut from = source();
    from.register("fix");
    let ann = agent("Ann").project("fix").process("");
    from.start(&ann);
    from.ok(&ann, "session_wrap", json!({ "summary": "the cart rounds" }));
    let (mut fix, mut shop) = (Vec::new(), Vec::new());
    for step in 0..4 {
        if step > 0 {
            let undo = step == 2;
            from.advance(1_000);
            from.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "shop", "undo": undo }));
        }
        fix.push(export(&mut from, "fix").0);
        shop.push(export(&mut from, "shop").0);
    }
    (fix, shop)
}

fn is_offered(w: &mut World, project: &str) -> bool {
    let who = agent("Hal").project(project).process("");
    w.call(&who, "hd_exec", json!({ "dry_run": true })).is_ok_and(|picked| picked["baton"].is_object())
}
