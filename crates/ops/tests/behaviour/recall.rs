//! Recall beside the words: vectors that the ledger keeps, an index outside that is believed in nothing, and what is written down
//! for whoever fills it.

use std::sync::Arc;

use baton_model::effect::Adapter;
use baton_model::memory_index::{HASHING, IndexResult, QuantizedVector, hashing};
use baton_ops::memory_index::{MatrixCache, Setup};
use baton_store::vector;
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn donna() -> Agent {
    agent("Donna")
}

fn add(w: &mut World, words: &str) -> String {
    text(&w.ok(&donna(), "memory_add", json!({ "text": words })), "memory_id")
}

fn search(w: &mut World, who: &Agent, query: &str) -> (Vec<String>, Value) {
    let answer = w.ok(who, "memory_search", json!({ "query": query }));
    (column(&list(&answer["items"]), "memory_id"), answer)
}

/// Somebody whose face has asked outside before.
fn having(found: IndexResult) -> Agent {
    let mut who = donna();
    who.0.found = Some(Arc::new(found));
    who
}

fn hits(all: &[(&str, &str, f64)]) -> Option<Vec<(String, String, f64)>> {
    Some(all.iter().map(|(project, id, score)| ((*project).to_owned(), (*id).to_owned(), *score)).collect())
}

fn outside() -> Setup {
    Setup { outside: true, ..Setup::default() }
}

/// What the relay is to do, as payloads.
fn effects(w: &mut World) -> Vec<Value> {
    let now = w.now + 1_000_000;
    let due =
        w.store.read(|tx| Ok(baton_store::outbox::due(tx, Adapter::MemoryIndex, now, 100)?)).expect("read");
    due.iter().map(|effect| serde_json::from_str(&effect.action.payload()).expect("json")).collect()
}

on_every_backend! {
    fn another_form_of_a_word_is_found_and_a_slip_of_the_pen(w) {
        let deploy = add(w, "deploying on fridays is forbidden");
        add(w, "the cart rounds half up");
        for query in ["deploys", "deployments on Friday", "deploing on fridais"] {
            let (found, answer) = search(w, &donna(), query);
            assert_eq!(found, std::slice::from_ref(&deploy), "{query}: {answer:#}");
            assert_eq!((answer["recall"].clone(), answer["recall_why"].clone()), (json!("hybrid"), Value::Null));
        }
        assert_eq!(search(w, &donna(), "kubernetes").0, Vec::<String>::new(), "what is far is not recalled");
        assert_eq!(search(w, &donna(), "").1["recall"], "newest");
    }

    fn words_with_slips_are_found_where_neither_an_index_of_words_nor_a_model_is_near_them(w) {
        let stubs = add(w, "Run make proto after a change: the generated stubs are committed");
        add(w, "the cart rounds half up");
        w.ok(&donna(), "memory_add", json!({ "text": "no", "tags": ["Kubernetes"] }));
        assert_eq!(search(w, &donna(), "genrated stbus").0, std::slice::from_ref(&stubs));
        for tag in ["Kubernetes", "kubrenetes"] {
            assert_eq!(search(w, &donna(), tag).0.len(), 1, "{tag}");
        }
        w.machines.recall = Setup { endpoint: Some("model-a".into()), outside: false };
        let model = IndexResult { vector: Some(("model-a".into(), vec![1.0, 0.0])), ..IndexResult::default() };
        let (found, answer) = search(w, &having(model), "genrated stbus");
        assert_eq!((found, &answer["matches_by"]), (vec![stubs.clone()], &json!("meaning")));
        w.ok(&donna(), "memory_withdraw", json!({ "id": stubs }));
        assert_eq!(search(w, &donna(), "genrated stbus").0, Vec::<String>::new(), "withdrawn");
    }

    fn synonyms_of_the_trade_are_found_where_no_model_knows_them(w) {
        let logs = add(w, "Logs older than thirty days are deleted");
        add(w, "the cart rounds half up");
        for query in ["remove", "when is old output erased", "löschen"] {
            let (found, answer) = search(w, &donna(), query);
            assert_eq!((found, &answer["matches_by"]), (vec![logs.clone()], &json!("words")), "{query}");
        }
        assert_eq!(search(w, &donna(), "").1["matches_by"], Value::Null, "nothing was asked for");
        w.machines.recall = Setup { endpoint: Some("model-a".into()), outside: false };
        let model = IndexResult { vector: Some(("model-a".into(), vec![1.0, 0.0])), ..IndexResult::default() };
        assert_eq!(search(w, &having(model), "remove").0, Vec::<String>::new(), "a model is asked instead");
        let away = IndexResult { why: Some("the embeddings endpoint answered 500".into()), ..IndexResult::default() };
        let (found, answer) = search(w, &having(away), "remove");
        assert_eq!((found, &answer["recall"], &answer["matches_by"]), (vec![logs], &json!("text"), &json!("words")));
    }

    fn vectors_that_are_kept_follow_every_writer(w) {
        w.machines.matrices = Some(MatrixCache::default());
        let one = add(w, "deploying on fridays");
        assert_eq!(search(w, &donna(), "deploys").0, std::slice::from_ref(&one));
        let two = add(w, "fridays are for deploying");
        let mut both = vec![one.clone(), two.clone()];
        both.sort();
        let sorted = |w: &mut World| {
            let mut found = search(w, &donna(), "deploys").0;
            found.sort();
            found
        };
        assert_eq!(sorted(w), both);
        w.ok(&donna(), "memory_withdraw", json!({ "id": one }));
        assert_eq!(sorted(w), std::slice::from_ref(&two));
        w.machines.matrices = None;
        assert_eq!(sorted(w), [two], "read from the ledger it is the same");
    }

    fn nobody_outside_is_told_where_there_is_nobody(w) {
        let id = add(w, "one");
        w.ok(&donna(), "memory_withdraw", json!({ "id": id }));
        assert_eq!(effects(w), Vec::<Value>::new());
    }

    fn what_changes_is_written_down_for_the_index_outside(w) {
        w.machines.recall = outside();
        let id = add(w, "one");
        assert_eq!(effects(w), [json!({ "memory_ids": [id] })]);
        w.ok(&donna(), "memory_withdraw", json!({ "id": id }));
        assert_eq!(effects(w), [json!({ "memory_ids": [id] }), json!({ "memory_ids": [id] })]);
    }

    fn an_index_outside_is_believed_in_nothing(w) {
        w.machines.recall = outside();
        w.register("other");
        let (mine, gone) = (add(w, "the port is 7077"), add(w, "the port is 8080"));
        let theirs = w.ok(&donna().project("other"), "memory_add", json!({ "text": "the port is secret" }));
        let theirs = text(&theirs, "memory_id");
        w.ok(&donna(), "memory_withdraw", json!({ "id": gone }));
        let found = hits(&[
            ("other", &theirs, 0.9), ("p", &theirs, 0.8), ("p", &gone, 0.7), ("p", "nothing", 0.6), ("p", &mine, 0.1),
        ]);
        let (shown, answer) = search(w, &having(IndexResult { hits: found, ..IndexResult::default() }), "something else");
        assert_eq!(shown, [mine]);
        assert_eq!(answer["recall"], "qdrant");
    }

    fn an_index_that_is_away_leaves_the_words_and_says_so(w) {
        w.machines.recall = outside();
        let id = add(w, "the port is 7077");
        let away = IndexResult { why: Some("Qdrant cannot be reached".into()), ..IndexResult::default() };
        let (shown, answer) = search(w, &having(away), "port");
        assert_eq!(shown, std::slice::from_ref(&id));
        assert_eq!((&answer["recall"], &answer["recall_why"]), (&json!("text"), &json!("Qdrant cannot be reached")));
        let (shown, answer) = search(w, &donna(), "port");
        assert_eq!((shown, &answer["recall"]), (vec![id], &json!("text")));
        assert!(answer["recall_why"].is_string());
    }

    fn an_endpoints_vectors_are_compared_with_its_own_only(w) {
        let old = add(w, "alpha");
        w.machines.recall = Setup { endpoint: Some("model-a".into()), outside: false };
        let new = add(w, "beta");
        assert_eq!(effects(w), [json!({ "memory_ids": [new] })], "its vector is made by the relay");
        let given = |name: &str| IndexResult { vector: Some((name.into(), vec![1.0, 0.0])), ..IndexResult::default() };
        assert_eq!(search(w, &having(given("model-a")), "gamma").0, Vec::<String>::new());
        w.store.write(&["p"], |tx| {
            let seq = tx.next_seq("p")?;
            Ok(vector::put(tx, ("p", &new), seq, "model-a", &QuantizedVector::of(&[0.9, 0.1]))?)
        }).expect("put");
        let (shown, answer) = search(w, &having(given("model-a")), "gamma");
        assert_eq!((shown, &answer["recall"]), (vec![new], &json!("hybrid")));
        let (shown, answer) = search(w, &having(given("model-b")), "alpha");
        assert_eq!((shown, &answer["recall"]), (vec![old], &json!("text")));
    }

    fn everything_beside_the_memories_can_be_made_again(w) {
        let ids: Vec<String> = (0..70).map(|n| add(w, &format!("deploying number {n}"))).collect();
        w.ok(&donna(), "memory_withdraw", json!({ "id": ids[0] }));
        w.store.write(&["p"], |tx| {
            let seq = tx.next_seq("p")?;
            for id in &ids {
                vector::clear(tx, "p", id, seq)?;
            }
            Ok(())
        }).expect("cleared");
        w.machines.recall = outside();
        let made = w.ok(&donna(), "memory_reindex", json!({}));
        assert_eq!((&made["memories"], &made["embedded"], &made["effects"]), (&json!(69), &json!(69), &json!(3)));
        let effects_before = effects(w);
        let pages = effects_before.iter().filter(|effect| effect["memory_ids"].is_array());
        let named: Vec<Value> = pages.flat_map(|effect| list(&effect["memory_ids"])).collect();
        assert_eq!(named.len(), 69);
        assert_eq!(effects_before.last().expect("one")["forget_before"], w.now, "what is of no memory goes last");
        let stored = w.store.read(|tx| Ok(vector::get(tx, "p", &ids[1])?)).expect("read").expect("a vector");
        assert_eq!((stored.embedder.as_str(), stored.packed), (HASHING, Some(QuantizedVector::of(&hashing("deploying number 1")))));
        let again = w.ok(&donna(), "memory_reindex", json!({}));
        assert_eq!(again["embedded"], 0);
    }

    fn a_copy_of_a_project_has_its_vectors(w) {
        let id = add(w, "deploying on fridays");
        let lines = json!(w.ok(&donna(), "ledger_export", json!({}))["items"]).to_string();
        let lines: Value = serde_json::from_str(&lines.replace("\"project_id\":\"p\"", "\"project_id\":\"copy\"")).expect("json");
        w.ok(&donna(), "ledger_import", json!({ "lines": lines, "unverified": true }));
        assert_eq!(search(w, &donna().project("copy"), "deploys").0, [id]);
    }
}
