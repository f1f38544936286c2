//! Claims: one winner, a lease that heartbeats renew, and a token that an old holder cannot write with.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn create(w: &mut World, input: Value) -> String {
    w.advance(1);
    text(&w.ok(&agent("Setup"), "task_create", input), "id")
}

on_every_backend! {
    fn one_claims_and_the_others_are_told_by_whom(w) {
        let id = create(w, json!({ "title": "a", "agent_role": "testing" }));
        w.start(&agent("Ann"));
        let claimed = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        assert_eq!((claimed["claimed"].clone(), claimed["token"].clone()), (json!(true), json!(1)));
        assert_eq!((claimed["task"]["status"].clone(), claimed["task"]["assignee"].clone()), (json!("in_progress"), json!("Ann")));
        assert_eq!(claimed["packet"]["id"], id.as_str());
        let refused = w.no_trace(&agent("Bob"), "task_claim", json!({ "id": id }), "task_claimed");
        assert_eq!(refused["holder"], "Ann");
        assert_eq!(w.ok(&agent("Ann"), "task_claim", json!({ "id": id }))["token"], 1, "asking again is no second claim");
        w.no_trace(&agent("Bob"), "task_update", json!({ "id": id, "priority": 0 }), "task_claimed");
        w.no_trace(&agent("Bob"), "task_close", json!({ "id": id }), "task_claimed");
        let empty = w.ok(&agent("Bob"), "task_claim", json!({}));
        assert_eq!((empty["claimed"].clone(), empty["task"].clone()), (json!(false), Value::Null));
    }

    fn a_clock_that_jumps_ahead_and_comes_back_gives_no_task_to_two(w) {
        let id = create(w, json!({ "title": "a" }));
        let first = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }))["token"].clone();
        w.advance(3 * 3_600_000);
        w.ok(&agent("Bob"), "task_claim", json!({ "id": id }));
        w.advance(-3 * 3_600_000);
        let lost = w.no_trace(&agent("Ann"), "task_update", json!({ "id": id, "notes": "n", "token": first }), "lease_lost");
        assert!(text(&lost, "message").contains("Bob holds it now"), "{lost:#}");
        w.no_trace(&agent("Ann"), "task_claim", json!({ "id": id }), "task_claimed");
    }

    fn heartbeats_renew_a_lease_and_silence_ends_it(w) {
        let id = create(w, json!({ "title": "a" }));
        w.start(&agent("Ann"));
        let token = w.ok(&agent("Ann"), "task_claim", json!({ "id": id, "lease_s": 60 }))["token"].clone();
        for _ in 0..5 {
            w.advance(50_000);
            w.ok(&agent("Ann"), "session_heartbeat", json!({}));
        }
        w.no_trace(&agent("Bob"), "task_claim", json!({ "id": id }), "task_claimed");
        w.advance(60_000);
        let ready = w.ok(&agent("Bob"), "task_ready", json!({}));
        assert_eq!((column(&list(&ready["items"]), "id"), ready["items"][0]["attempts"].clone()), (vec![id.clone()], json!(1)));
        let next = w.ok(&agent("Bob"), "task_claim", json!({}));
        assert_eq!((next["token"].clone(), next["task"]["attempts"].clone(), next["task"]["previous_agent"].clone()), (json!(2), json!(1), json!("Ann")));
        let lost = w.no_trace(&agent("Ann"), "task_update", json!({ "id": id, "notes": "n", "token": token }), "lease_lost");
        assert_eq!(lost.get("current_token"), None, "it is Bob's");
        let lost = w.no_trace(&agent("Bob"), "task_update", json!({ "id": id, "notes": "n", "token": token }), "lease_lost");
        assert_eq!(lost["current_token"], 2);
        w.no_trace(&agent("Ann"), "task_close", json!({ "id": id, "token": token }), "lease_lost");
        w.ok(&agent("Bob"), "task_close", json!({ "id": id, "token": 2 }));
        w.no_trace(&agent("Bob"), "task_update", json!({ "id": id, "notes": "n", "token": 2 }), "lease_lost");
    }

    fn the_end_of_a_session_frees_what_it_claimed(w) {
        for verb in ["session_end", "session_wrap"] {
            let id = create(w, json!({ "title": verb }));
            w.start(&agent("Ann"));
            w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
            w.ok(&agent("Ann"), verb, if verb == "session_wrap" { json!({ "summary": "s" }) } else { json!({}) });
            let free = w.ok(&agent("Bob"), "task_show", json!({ "id": id }));
            assert_eq!((free["status"].clone(), free.get("assignee"), free.get("claim")), (json!("open"), None, None), "{verb}");
            w.ok(&agent("Bob"), "task_close", json!({ "id": id }));
        }
    }

    fn a_session_that_comes_back_keeps_what_it_claimed(w) {
        let id = create(w, json!({ "title": "a" }));
        let old = agent("Ann").process("old");
        w.start(&old);
        w.ok(&old, "task_claim", json!({ "id": id }));
        w.kill(&old);
        let new = agent("Ann").process("new");
        let session = text(&w.start(&new), "session_id");
        let task = w.ok(&new, "task_show", json!({ "id": id }));
        assert_eq!((task["claim"]["session_id"].clone(), task["claim"]["token"].clone()), (json!(session), json!(1)));
        w.ok(&new, "task_update", json!({ "id": id, "notes": "n", "token": 1 }));
    }

    fn a_claim_holds_until_its_time_though_its_process_ended(w) {
        let id = create(w, json!({ "title": "a" }));
        let ann = agent("Ann").process("one command");
        w.start(&ann);
        let until = text(&w.ok(&ann, "task_claim", json!({ "id": id })), "expires_at");
        w.kill(&ann);
        w.advance(1_000);
        let refusal = w.no_trace(&agent("Bob"), "task_claim", json!({ "id": id }), "task_claimed");
        assert!(refusal["message"].as_str().is_some_and(|text| text.contains(&until)), "{refusal}");
        w.no_trace(&agent("Bob"), "task_update", json!({ "id": id, "notes": "mine" }), "task_claimed");
        // Its next command is another process, and goes on with what it claimed.
        w.ok(&agent("Ann").process("the next command"), "task_update", json!({ "id": id, "notes": "n", "token": 1 }));
        // Its write made the lease longer by the second that had gone by.
        let ends = baton_model::time::parse_rfc3339(&until).expect("a time") + 1_000;
        w.advance(ends - w.now);
        assert_eq!(w.ok(&agent("Bob"), "task_claim", json!({ "id": id }))["claimed"], true);
    }

    fn a_released_session_gives_up_what_it_was_promised(w) {
        let id = create(w, json!({ "title": "a" }));
        let ann = agent("Ann").process("one command");
        w.start(&ann);
        w.ok(&ann, "task_claim", json!({ "id": id }));
        w.kill(&ann);
        w.end(&ann);
        assert_eq!(w.ok(&agent("Bob"), "task_claim", json!({ "id": id }))["claimed"], true);
    }

    fn what_is_not_ready_is_not_claimed_unless_forced(w) {
        let a = create(w, json!({ "title": "a" }));
        let b = create(w, json!({ "title": "b", "deps": [a] }));
        w.no_trace(&agent("Ann"), "task_claim", json!({ "id": b }), "task_blocked");
        assert_eq!(w.ok(&agent("Ann"), "task_claim", json!({ "id": b, "force": true }))["claimed"], true);
        w.ok(&agent("Ann"), "task_close", json!({ "id": a }));
        w.no_trace(&agent("Ann"), "task_claim", json!({ "id": a }), "task_closed");
        w.no_trace(&agent("Ann"), "task_claim", json!({ "id": b, "lease_s": 0 }), "lease_invalid");
    }

    fn a_claim_without_an_id_takes_the_first_that_is_wanted(w) {
        create(w, json!({ "title": "a", "agent_role": "implementation" }));
        let b = create(w, json!({ "title": "b", "agent_role": "testing", "specialist_tags": ["qa"], "priority": 3 }));
        create(w, json!({ "title": "c", "agent_role": "testing", "assignee": "Zoe", "priority": 0 }));
        let none = w.ok(&agent("Ann"), "task_claim", json!({ "agent_role": "testing", "tags": ["go"] }));
        assert_eq!(none["claimed"], false);
        let took = w.ok(&agent("Ann"), "task_claim", json!({ "for_agent": "testing-specialist" }));
        assert_eq!(took["task"]["id"], b.as_str(), "what is Zoe's is left to Zoe");
    }
}

on_shared_backends! {
    fn of_sixty_four_claimers_each_task_has_one(w) {
        for n in 0..100 {
            create(w, json!({ "title": format!("t{n}") }));
        }
        // A server of tests gives a hundred connections, and others run beside.
        let claimers: u64 = if w.ground.backend == crate::backend::Backend::Postgres { 32 } else { 64 };
        let gate = Barrier::new(usize::try_from(claimers).expect("small"));
        let claim = |number: u64| {
            let mut own = World::beside(&w.ground, 5_000 + number);
            let me = agent(&format!("Agent{number}"));
            gate.wait();
            let mut took = Vec::new();
            while let Ok(answer) = own.call(&me, "task_claim", json!({})) {
                match answer["task"]["id"].as_str() {
                    Some(id) => took.push(id.to_owned()),
                    None => break,
                }
            }
            took
        };
        let claim = &claim;
        let all: Vec<String> = thread::scope(|scope| {
            let threads: Vec<_> = (0..claimers).map(|n| scope.spawn(move || claim(n))).collect();
            threads.into_iter().flat_map(|t| t.join().expect("no thread fails")).collect()
        });
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        all.iter().for_each(|id| *count.entry(id).or_default() += 1);
        assert_eq!((count.len(), all.len()), (100, 100), "each is claimed once");
    }
}
