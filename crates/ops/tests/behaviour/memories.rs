//! Memories: stored, recalled by what they say and how much they matter, withdrawn for good.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn donna() -> Agent {
    agent("Donna")
}

fn add(w: &mut World, words: &str, importance: f64, tags: Value) -> String {
    let input = json!({ "text": words, "importance": importance, "tags": tags });
    text(&w.ok(&donna(), "memory_add", input), "memory_id")
}

fn found(w: &mut World, input: Value) -> Vec<String> {
    column(&list(&w.ok(&donna(), "memory_search", input)["items"]), "memory_id")
}

on_every_backend! {
    fn a_memory_is_found_by_the_words_in_it(w) {
        let redis = add(w, "Redis was rejected: no transactions across keys", 0.4, json!([]));
        add(w, "The cart rounds half up", 0.4, json!([]));
        assert_eq!(found(w, json!({ "query": "why not redis?" })), std::slice::from_ref(&redis));
        assert_eq!(found(w, json!({ "query": "REJECT" })), [redis], "a word's beginning, in either case");
        assert_eq!(found(w, json!({ "query": "postgres" })), Vec::<String>::new());
        for odd in ["\"", "a' OR 1=1 --", "redis*:^(", "& | !", "\u{301}"] {
            w.ok(&donna(), "memory_search", json!({ "query": odd }));
        }
    }

    fn importance_and_recency_rank_what_matches_alike(w) {
        let old = add(w, "deploy on friday", 0.4, json!([]));
        w.advance(90 * 86_400_000);
        let new = add(w, "deploy on friday", 0.4, json!([]));
        assert_eq!(found(w, json!({ "query": "deploy" })), [new.clone(), old.clone()]);
        let grave = add(w, "deploy on friday", 1.0, json!([]));
        assert_eq!(found(w, json!({ "query": "deploy" }))[0], grave);
        assert_eq!(found(w, json!({ "limit": 1 })), [grave], "without words, what matters");
    }

    fn kinds_and_tags_narrow_a_search(w) {
        let tagged = add(w, "one", 0.4, json!(["api", "db"]));
        let other = json!({ "text": "two", "kind": "decision", "tags": ["api"] });
        let decision = text(&w.ok(&donna(), "memory_add", other), "memory_id");
        assert_eq!(found(w, json!({ "tags": ["api", "db"] })), [tagged]);
        assert_eq!(found(w, json!({ "kind": "decision" })), [decision]);
    }

    fn a_withdrawn_memory_is_never_recalled(w) {
        let id = add(w, "the port is 8080", 0.9, json!([]));
        let gone = w.ok(&donna(), "memory_withdraw", json!({ "id": &id[..20], "why": "it is 7077" }));
        assert_eq!((gone["withdrawn_by"].clone(), gone["withdrawn_why"].clone()), (json!("Donna"), json!("it is 7077")));
        assert_eq!(found(w, json!({ "query": "port" })), Vec::<String>::new());
        assert_eq!(found(w, json!({})), Vec::<String>::new());
        w.no_trace(&donna(), "memory_withdraw", json!({ "id": id }), "memory_withdrawn");
        w.no_trace(&donna(), "memory_withdraw", json!({ "id": "ffffffff" }), "memory_unknown");
    }

    fn whose_memory_another_withdraws_is_told_with_its_text(w) {
        let lola = agent("Lola");
        let id = add(w, "the port is 8080\nand the host is staging", 0.9, json!([]));
        w.ok(&lola, "memory_withdraw", json!({ "id": id, "why": "it is 7077" }));
        let signals = w.pending(&donna());
        assert_eq!(column(&signals, "subject"), ["Lola withdrew your memory \"the port is 8080\""]);
        assert_eq!(text(&signals[0], "body"), "it is 7077\n\nIt said:\nthe port is 8080\nand the host is staging");
        let own = add(w, "mine", 0.4, json!([]));
        w.ok(&donna(), "memory_withdraw", json!({ "id": own }));
        assert_eq!(w.pending(&donna()).len(), 1, "one's own withdrawal is no news");
    }

    fn a_memory_is_a_delta_and_the_same_request_stores_one(w) {
        let input = json!({ "text": "first line\nsecond", "request_id": "r" });
        let one = w.ok(&donna(), "memory_add", input.clone());
        assert_eq!(w.ok(&donna(), "memory_add", input), one);
        let deltas = w.deltas("remember");
        assert_eq!((deltas.len(), deltas[0]["body"]["summary"].clone()), (1, json!("first line")));
    }

    fn a_memory_that_cannot_be_kept_is_refused(w) {
        for bad in [
            json!({ "text": " " }), json!({ "text": "t", "importance": 1.5 }), json!({ "text": "x".repeat(65 * 1024) }),
        ] {
            w.no_trace(&donna(), "memory_add", bad, "memory_invalid");
        }
        w.no_trace(&donna(), "memory_add", json!({ "text": "t", "tags": ["a\nb"] }), "label_invalid");
        w.no_trace(&donna().project("none"), "memory_add", json!({ "text": "t" }), "project_unknown");
    }

    fn an_imported_memory_is_found(w) {
        let id = add(w, "the cart rounds half up", 0.4, json!([]));
        let lines = json!(w.ok(&donna(), "ledger_export", json!({}))["items"]).to_string();
        let lines: Value = serde_json::from_str(&lines.replace("\"project_id\":\"p\"", "\"project_id\":\"copy\"")).expect("json");
        w.ok(&donna(), "ledger_import", json!({ "lines": lines, "unverified": true }));
        let there = w.ok(&donna().project("copy"), "memory_search", json!({ "query": "cart" }));
        assert_eq!(column(&list(&there["items"]), "memory_id"), [id]);
    }
}
