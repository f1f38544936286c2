//! File leases: taken, refused with the holder, shared, advisory; over with their time or their session.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn take(w: &mut World, who: &str, pattern: &str) -> Value {
    w.ok(&agent(who), "lease_take", json!({ "patterns": [pattern] }))
}

fn held(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&agent("Reader"), "lease_list", json!({}))["items"]), "pattern")
}

on_every_backend! {
    fn another_live_process_of_the_name_takes_no_lease_of_the_first(w) {
        let (one, two) = (agent("Lola").process("one"), agent("Lola").process("two"));
        w.start(&one);
        w.ok(&one, "lease_take", json!({ "patterns": ["src/"] }));
        for pattern in ["src/", "src/a.py"] {
            w.no_trace(&two, "lease_take", json!({ "patterns": [pattern] }), "lease_conflict");
        }
        assert_eq!(list(&w.ok(&two, "lease_release", json!({}))["items"]).len(), 0);
        w.no_trace(&agent("Zoe"), "lease_take", json!({ "patterns": ["src/"] }), "lease_conflict");
        // Elsewhere it may work, under its own process.
        w.ok(&two, "lease_take", json!({ "patterns": ["docs/"] }));
        w.kill(&one);
        w.ok(&two, "lease_take", json!({ "patterns": ["src/"] }));
    }

    fn a_conflict_is_refused_with_its_holder_and_nothing_is_taken(w) {
        w.ok(&agent("Lola"), "lease_take", json!({ "patterns": ["./src/"], "why": "the parser" }));
        let refusal = w.no_trace(&agent("Donna"), "lease_take", json!({ "patterns": ["docs/a.md", "src/deep/a.rs"] }), "lease_conflict");
        assert_eq!((&refusal["pattern"], &refusal["holders"][0]["holder"]), (&json!("src/deep/a.rs"), &json!("Lola")));
        assert_eq!(held(w), ["src/**"], "all of them or none");
        w.advance(1);
        take(w, "Donna", "docs/**");
        assert_eq!(held(w), ["src/**", "docs/**"]);
    }

    fn shared_leases_stand_side_by_side_and_keep_exclusive_ones_out(w) {
        let shared = |pattern: &str| json!({ "patterns": [pattern], "shared": true });
        w.ok(&agent("Lola"), "lease_take", shared("src/**"));
        w.ok(&agent("Donna"), "lease_take", shared("src/a.rs"));
        w.no_trace(&agent("Rex"), "lease_take", json!({ "patterns": ["src/a.rs"] }), "lease_conflict");
        w.no_trace(&agent("Lola"), "lease_take", json!({ "patterns": ["src/**"] }), "lease_conflict");
    }

    fn an_advisory_lease_warns_and_refuses_nobody(w) {
        take(w, "Lola", "src/**");
        let taken = w.ok(&agent("Donna"), "lease_take", json!({ "patterns": ["src/a.rs"], "advisory": true }));
        assert_eq!((&taken["warnings"][0]["kind"], &taken["warnings"][0]["lease"]["holder"]), (&json!("lease_overlaps"), &json!("Lola")));
        w.ok(&agent("Lola"), "lease_release", json!({}));
        let over = w.ok(&agent("Rex"), "lease_take", json!({ "patterns": ["src/a.rs"] }));
        assert_eq!(over["warnings"][0]["lease"]["holder"], "Donna");
    }

    fn a_lease_holds_up_to_its_end_and_no_longer(w) {
        w.ok(&agent("Lola"), "lease_take", json!({ "patterns": ["src/**"], "for_s": 60 }));
        w.advance(60_000);
        w.no(&agent("Donna"), "lease_take", json!({ "patterns": ["src/a.rs"] }), "lease_conflict");
        w.advance(1);
        take(w, "Donna", "src/a.rs");
        assert_eq!(held(w), ["src/a.rs"]);
    }

    fn a_clock_that_jumps_ahead_and_comes_back_gives_nobody_what_another_took(w) {
        let id = take(w, "Lola", "src/**")["items"][0]["lease_id"].clone();
        w.advance(7_200_000);
        take(w, "Donna", "src/a.rs");
        w.advance(-7_200_000);
        assert_eq!(held(w), ["src/a.rs"], "one of them holds it");
        let renewal = w.no_trace(&agent("Lola"), "lease_take", json!({ "patterns": ["src/**"] }), "lease_conflict");
        assert_eq!((&renewal["taken_over"]["lease_id"], &renewal["holders"][0]["holder"]), (&id, &json!("Donna")));
        assert!(text(&renewal, "message").contains("was taken over"), "{renewal:#}");
        for name in [json!("src/**"), id.clone()] {
            let back = w.no_trace(&agent("Lola"), "lease_release", json!({ "leases": [name] }), "lease_unknown");
            assert_eq!(back["taken_over"]["lease_id"], id, "{back:#}");
        }
        let all = w.ok(&agent("Lola"), "lease_release", json!({}));
        assert_eq!((&all["items"], &all["taken_over"][0]["lease_id"]), (&json!([]), &id));
        w.ok(&agent("Donna"), "lease_release", json!({}));
        let anew = take(w, "Lola", "src/**");
        assert_eq!((&anew["warnings"][0]["kind"], &anew["warnings"][0]["lease"]["lease_id"]), (&json!("lease_taken_over"), &id));
        assert_eq!(w.ok(&agent("Donna"), "lease_release", json!({})).get("taken_over"), None, "she gave hers back herself");
    }

    fn a_lease_that_stands_beside_the_new_one_outlasts_a_clock_that_jumps_ahead(w) {
        w.ok(&agent("Lola"), "lease_take", json!({ "patterns": ["docs/**"] }));
        w.ok(&agent("Rex"), "lease_take", json!({ "patterns": ["src/**"], "shared": true }));
        w.ok(&agent("Theo"), "lease_take", json!({ "patterns": ["src/**"], "advisory": true }));
        w.advance(7_200_000);
        w.ok(&agent("Donna"), "lease_take", json!({ "patterns": ["src/**"], "shared": true }));
        w.advance(-7_200_000);
        assert_eq!(held(w).len(), 4);
    }

    fn ones_own_that_was_taken_anew_under_a_clock_ahead_is_one_lease(w) {
        take(w, "Lola", "src/**");
        w.advance(7_200_000);
        let anew = take(w, "Lola", "src/**")["items"][0]["lease_id"].clone();
        w.advance(-7_200_000);
        assert_eq!(held(w), ["src/**"]);
        let all = w.ok(&agent("Lola"), "lease_release", json!({}));
        assert_eq!((&all["items"][0]["lease_id"], all.get("taken_over")), (&anew, None));
    }

    fn taking_ones_own_again_makes_it_longer(w) {
        let first = take(w, "Lola", "src/**");
        w.advance(3_000_000);
        let again = take(w, "lola", "src/");
        assert_eq!(again["items"][0]["lease_id"], first["items"][0]["lease_id"]);
        assert_eq!(again["items"][0]["taken_at"], first["items"][0]["taken_at"]);
        assert_ne!(again["items"][0]["expires_at"], first["items"][0]["expires_at"]);
        assert_eq!(held(w).len(), 1);
    }

    fn a_session_that_is_over_holds_nothing(w) {
        for end in ["session_end", "session_wrap"] {
            w.start(&agent("Lola"));
            take(w, "Lola", "src/**");
            assert_eq!(held(w).len(), 1);
            w.ok(&agent("Lola"), end, if end == "session_wrap" { json!({ "summary": "s" }) } else { json!({}) });
            assert_eq!(held(w).len(), 0, "{end}");
        }
        let picked = w.pickup(&agent("Donna"));
        take(w, "Donna", "src/**");
        w.ok(&agent("Rex"), "hd_exec", json!({ "force": true, "why": "urgent" }));
        assert_eq!(held(w).len(), 0, "{picked:#}");
    }

    fn leases_are_listed_by_path_and_holder(w) {
        take(w, "Lola", "src/**");
        w.advance(1);
        take(w, "Donna", "docs/*.md");
        let listed = |w: &mut World, filter: Value| column(&list(&w.ok(&agent("Rex"), "lease_list", filter)["items"]), "holder");
        assert_eq!(listed(w, json!({ "path": "src/a.rs" })), ["Lola"]);
        assert_eq!(listed(w, json!({ "path": "**/*.md" })), ["Lola", "Donna"]);
        assert_eq!(listed(w, json!({ "holder": "DONNA" })), ["Donna"]);
    }

    fn a_folder_means_what_lies_below_it_and_a_name_of_nothing_is_told(w) {
        w.machines.files.insert("/repos/p/lib/a.rs".into(), String::new());
        let lola = agent("Lola").at("/repos/p", None);
        let taken = w.ok(&lola, "lease_take", json!({ "patterns": ["lib"] }));
        let warning = |of: &Value| of["warnings"][0]["kind"].clone();
        assert_eq!(warning(&taken), "lease_folder", "{taken:#}");
        w.no_trace(&agent("Donna"), "lease_take", json!({ "patterns": ["lib/a.rs"] }), "lease_conflict");
        w.no_trace(&agent("Donna"), "lease_take", json!({ "patterns": ["lib/deep/"] }), "lease_conflict");
        let listed = w.ok(&agent("Donna"), "lease_list", json!({ "path": "lib/a.rs" }));
        assert_eq!(column(&list(&listed["items"]), "holder"), ["Lola"]);
        let typo = w.ok(&lola, "lease_take", json!({ "patterns": ["lbi"] }));
        assert_eq!(warning(&typo), "lease_matches_nothing", "{typo:#}");
        let file = w.ok(&lola, "lease_take", json!({ "patterns": ["lib/a.rs"] }));
        assert_eq!(file["warnings"], json!([]));
        let elsewhere = w.ok(&agent("Rex"), "lease_take", json!({ "patterns": ["lbo"] }));
        assert_eq!(elsewhere["warnings"], json!([]), "nothing is known of a folder in which nobody stands");
    }

    fn a_lease_is_given_back_by_its_holder_or_by_force_that_the_ledger_keeps(w) {
        take(w, "Lola", "src/**");
        w.no_trace(&agent("Donna"), "lease_release", json!({ "leases": ["src/**"] }), "lease_not_yours");
        w.no_trace(&agent("Donna"), "lease_release", json!({ "leases": ["src/**"], "force": true }), "why_missing");
        w.no_trace(&agent("Donna"), "lease_release", json!({ "leases": ["docs/**"] }), "lease_unknown");
        w.ok(&agent("Donna"), "lease_release", json!({ "leases": ["src/**"], "force": true, "why": "she left" }));
        let note = w.newest("note");
        assert_eq!((&note["identity"], &note["body"]["why"], &note["body"]["lease"]["holder"]), (&json!("Donna"), &json!("she left"), &json!("Lola")));
        assert_eq!(held(w).len(), 0);
        let id = take(w, "Lola", "src/**")["items"][0]["lease_id"].clone();
        w.ok(&agent("Lola"), "lease_release", json!({ "leases": [id] }));
        assert_eq!(held(w).len(), 0);
        assert_eq!(list(&w.ok(&agent("Lola"), "lease_release", json!({}))["items"]).len(), 0);
    }

    fn a_malformed_lease_is_refused(w) {
        let lola = agent("Lola");
        for patterns in [json!([]), json!(["/etc/passwd"]), json!(["a/../.."]), json!([""])] {
            w.no_trace(&lola, "lease_take", json!({ "patterns": patterns }), "pattern_invalid");
        }
        for seconds in [0, -1, 604_801, i64::MAX] {
            w.no_trace(&lola, "lease_take", json!({ "patterns": ["a"], "for_s": seconds }), "span_invalid");
        }
    }

    fn leases_stay_in_their_project(w) {
        w.register("q");
        take(w, "Lola", "src/**");
        w.ok(&agent("Donna").project("q"), "lease_take", json!({ "patterns": ["src/**"] }));
    }
}

on_shared_backends! {
    fn one_of_many_gets_an_exclusive_lease(w) {
        let won: usize = std::thread::scope(|scope| {
            let ground = &w.ground;
            let reach = |n: u64| {
                scope.spawn(move || {
                    let mut beside = World::beside(ground, 100 + n);
                    match beside.call(&agent(&format!("A{n}")), "lease_take", json!({ "patterns": ["src/**"] })) {
                        Ok(_) => 1,
                        Err(refusal) => {
                            assert_eq!(refusal["code"], "lease_conflict", "{refusal:#}");
                            0
                        }
                    }
                })
            };
            let threads: Vec<_> = (0..12).map(reach).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(won, 1);
    }
}
