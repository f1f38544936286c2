//! Two projects share hand-offs and messages. Their exports, taken at different moments, bring the newer state in either order.

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::chain::export;
use crate::world::{Agent, World, agent, column, list, text};

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

/// What waits at first: the one in `fix`, the other in `shop`.
const WORKS: [&str; 2] = ["the cart", "the till"];

/// A step in the history of two projects.
#[derive(Clone, Copy, Debug)]
enum HistoryStep {
    /// The first project is merged into the second.
    Merge(&'static str, &'static str),
    Undo(&'static str, &'static str),
    /// Somebody picks up what waits in a project, and wraps.
    Continue(&'static str),
    /// Somebody picks up what waits in a project, and ends without a wrap.
    Abandon(&'static str),
}

const THERE: HistoryStep = HistoryStep::Merge("fix", "shop");
const UNDO_THERE: HistoryStep = HistoryStep::Undo("fix", "shop");
const BACK: HistoryStep = HistoryStep::Merge("shop", "fix");
const UNDO_BACK: HistoryStep = HistoryStep::Undo("shop", "fix");

/// Imports every two exports of a history, in either order: each work is in exactly one project.
#[track_caller]
fn assert_each_work_is_in_one_project(steps: &[HistoryStep]) {
    let Histories { fix, shop, places } = histories(steps);
    for (of_fix, fix) in fix.iter().enumerate() {
        for (of_shop, shop) in shop.iter().enumerate() {
            for lines in [[fix, shop], [shop, fix]] {
                let mut home = World::new(Backend::Memory, 7).expect("a store");
                for lines in lines {
                    import(&mut home, lines);
                }
                let at = format!("fix after {of_fix} steps, shop after {of_shop}");
                let there = works(&mut home);
                let works: Vec<&str> = there.iter().map(|(_, work)| work.as_str()).collect();
                assert_eq!(works, WORKS, "{at}: {there:?}");
                if of_fix == of_shop {
                    assert_eq!(there, places[of_fix], "{at}");
                }
                home.assert_sound();
            }
        }
    }
}

#[test]
fn a_merge_in_the_other_direction_between_two_exports_leaves_each_work_in_one_project() {
    assert_each_work_is_in_one_project(&[THERE, UNDO_THERE, THERE, UNDO_THERE, BACK, UNDO_BACK]);
}

#[test]
fn merges_in_both_directions_between_two_exports_leave_each_work_in_one_project() {
    assert_each_work_is_in_one_project(&[THERE, UNDO_THERE, BACK, UNDO_BACK, THERE]);
}

#[test]
fn work_that_goes_on_between_merges_is_in_one_project() {
    let on = HistoryStep::Continue;
    assert_each_work_is_in_one_project(&[THERE, on("shop"), UNDO_THERE, BACK, UNDO_BACK]);
    assert_each_work_is_in_one_project(&[THERE, UNDO_THERE, on("fix"), THERE, on("shop"), UNDO_THERE]);
}

#[test]
fn work_that_goes_on_before_a_merge_is_in_one_project() {
    let on = HistoryStep::Continue;
    assert_each_work_is_in_one_project(&[on("fix"), THERE, UNDO_THERE, BACK]);
    assert_each_work_is_in_one_project(&[BACK, on("fix"), UNDO_BACK, THERE, UNDO_THERE]);
}

#[test]
fn work_that_was_picked_up_between_merges_is_in_one_project() {
    assert_each_work_is_in_one_project(&[THERE, HistoryStep::Abandon("shop"), UNDO_THERE, THERE, UNDO_THERE]);
}

/// Where each piece of work waits or is held, sorted by the work.
fn works(w: &mut World) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for project in ["fix", "shop"] {
        for input in [json!({}), json!({ "state": "held" })] {
            let listed = w.ok(&agent("Owner").project(project).process(""), "baton_list", input);
            for baton in list(&listed["items"]) {
                let summary = text(&baton, "summary");
                let work = WORKS.into_iter().find(|work| summary.contains(work)).unwrap_or(&summary);
                found.push((project.to_owned(), work.to_owned()));
            }
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}

/// The exports of two projects, and where each piece of work was, after each step.
#[derive(Default)]
struct Histories {
    fix: Vec<Vec<String>>,
    shop: Vec<Vec<String>>,
    places: Vec<Vec<(String, String)>>,
}

/// The exports of two projects, and where the works were: before the first step and after each.
fn histories(steps: &[HistoryStep]) -> Histories {
    let mut from = source();
    from.register("fix");
    for (name, project, work) in [("Ann", "fix", WORKS[0]), ("Bea", "shop", WORKS[1])] {
        let who = agent(name).project(project).process("");
        from.start(&who);
        from.ok(&who, "session_wrap", json!({ "summary": work }));
    }
    let mut found = Histories::default();
    for step in std::iter::once(None).chain(steps.iter().map(Some)) {
        from.advance(1_000);
        if let Some(step) = step {
            take_step(&mut from, *step);
        }
        found.fix.push(export(&mut from, "fix").0);
        found.shop.push(export(&mut from, "shop").0);
        found.places.push(works(&mut from));
    }
    found
}

fn take_step(w: &mut World, step: HistoryStep) {
    let mut merge = |from: &str, into: &str, undo: bool| {
        w.ok(&agent("Owner"), "project_merge", json!({ "from": from, "into": into, "undo": undo }));
    };
    match step {
        HistoryStep::Merge(from, into) => merge(from, into, false),
        HistoryStep::Undo(from, into) => merge(from, into, true),
        HistoryStep::Continue(project) => {
            let who = agent("Cleo").project(project).process("");
            let picked = w.ok(&who, "hd_exec", json!({}));
            match picked["baton"]["summary"].as_str() {
                Some(before) => {
                    w.ok(&who, "session_wrap", json!({ "summary": format!("{before}, one more") }))
                }
                None => w.ok(&who, "session_end", json!({})),
            };
        }
        HistoryStep::Abandon(project) => {
            let who = agent("Dora").project(project).process("");
            w.ok(&who, "hd_exec", json!({}));
            w.ok(&who, "session_end", json!({}));
        }
    }
}

/// Histories of merges and work that nobody chose; `BATON_TEST_HISTORIES=150` tries so many.
#[test]
#[allow(clippy::disallowed_methods, reason = "a person wants more of them")]
fn whatever_happened_between_two_exports_each_work_is_in_one_project() {
    let wanted = std::env::var("BATON_TEST_HISTORIES").ok();
    for seed in 1..=wanted.and_then(|text| text.parse().ok()).unwrap_or(3) {
        let steps = random_steps(seed);
        let outcome = std::panic::catch_unwind(|| assert_each_work_is_in_one_project(&steps));
        assert!(outcome.is_ok(), "seed {seed}: {steps:?}");
    }
}

/// Five steps that can follow one another.
fn random_steps(seed: u64) -> Vec<HistoryStep> {
    let mut state = seed;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut merged: Option<(&'static str, &'static str)> = None;
    let mut steps = Vec::new();
    while steps.len() < 5 {
        let (from, into) = if below(2) == 0 { ("fix", "shop") } else { ("shop", "fix") };
        steps.push(match (merged, below(4)) {
            (None, 0 | 1) => {
                merged = Some((from, into));
                HistoryStep::Merge(from, into)
            }
            (Some((from, into)), 0 | 1) => {
                merged = None;
                HistoryStep::Undo(from, into)
            }
            (now, 2) => HistoryStep::Continue(now.map_or(into, |(_, into)| into)),
            (now, _) => HistoryStep::Abandon(now.map_or(into, |(_, into)| into)),
        });
    }
    steps
}
