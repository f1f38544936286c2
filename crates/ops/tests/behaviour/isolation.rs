//! Related projects, and isolated ones, which take part in nothing implicit.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn at(project: &str) -> Agent {
    agent("Ann").project(project)
}

fn world(w: &mut World) {
    for id in ["a", "b"] {
        w.register(id);
        w.ok(&at(id), "memory_add", json!({ "text": format!("cart of {id}") }));
    }
    let there = at("lone").at("/repos/lone", None);
    w.ok(&there, "project_init", json!({ "id": "lone", "isolated": true }));
    w.ok(&at("lone"), "memory_add", json!({ "text": "cart of lone" }));
}

fn recalled(w: &mut World, project: &str) -> Vec<String> {
    let mut all = column(
        &list(&w.ok(&at(project), "memory_search", json!({ "query": "cart", "related": true }))["items"]),
        "project_id",
    );
    all.sort();
    all
}

fn related(w: &mut World, project: &str) -> Vec<String> {
    column(&list(&w.ok(&at(project), "project_show", json!({}))["related"]), "project_id")
}

on_every_backend! {
    fn related_projects_recall_each_others_memories_when_asked_to(w) {
        world(w);
        assert_eq!(recalled(w, "a"), ["a"]);
        let made = w.ok(&at("a"), "project_relate", json!({ "to": "b", "kind": "library" }));
        assert_eq!(made["related"], json!([{ "project_id": "b", "kind": "library" }]));
        assert_eq!((recalled(w, "a"), recalled(w, "b")), (vec!["a".into(), "b".into()], vec!["a".into(), "b".into()]));
        let own = w.ok(&at("a"), "memory_search", json!({ "query": "cart" }));
        assert_eq!(column(&list(&own["items"]), "project_id"), ["a"], "only when asked to");
        w.ok(&at("b"), "project_relate", json!({ "to": "a", "remove": true }));
        assert_eq!((recalled(w, "a"), related(w, "a")), (vec!["a".into()], Vec::new()));
        w.no_trace(&at("a"), "project_relate", json!({ "to": "b", "remove": true }), "relation_unknown");
    }

    fn no_edge_of_an_isolated_project_is_stored(w) {
        world(w);
        for (from, to) in [("a", "lone"), ("lone", "a")] {
            let refusal = w.no_trace(&at(from), "project_relate", json!({ "to": to }), "project_isolated");
            assert_eq!(refusal["project_id"], "lone");
        }
        w.no_trace(&at("a"), "project_relate", json!({ "to": "a" }), "relation_invalid");
        w.no_trace(&at("a"), "project_relate", json!({ "to": "none" }), "project_unknown");
    }

    fn a_project_that_becomes_isolated_loses_its_relations(w) {
        world(w);
        w.ok(&at("a"), "project_relate", json!({ "to": "b" }));
        let there = at("b").at("/repos/b", None);
        w.ok(&there, "project_init", json!({ "id": "b", "isolated": true }));
        assert_eq!((related(w, "a"), related(w, "b")), (Vec::new(), Vec::new()));
        assert_eq!((recalled(w, "a"), recalled(w, "b")), (vec!["a".into()], vec!["b".into()]));
    }

    fn an_explicit_handoff_to_an_isolated_project_works(w) {
        world(w);
        let made = w.ok(&at("a"), "handoff_create", json!({ "to_project_id": "lone", "subject": "s" }));
        assert_eq!(made["state"], "offered");
        assert_eq!(recalled(w, "a"), ["a"], "nothing of it leaks back");
        let picked = w.ok(&at("lone"), "hd_exec", json!({ "handoff_id": text(&made, "handoff_id") }));
        assert_eq!(picked["handoff"]["state"], "accepted");
        assert_eq!(related(w, "lone"), Vec::<String>::new());
    }

    fn a_document_is_written_read_back_and_kept(w) {
        let here = at("shop").at("/repos/shop", Some("/repos/shop"));
        let made = w.ok(&here, "project_init", json!({ "id": "shop", "remote": "git@github.com:o/shop.git" }));
        let document = text(&made, "document");
        assert!(document.contains("remote_url: git@github.com:o/shop.git"), "{document}");
        let again = w.ok(&here, "project_init", json!({ "id": "shop", "document": document }));
        assert_eq!(again["document"], Value::Null, "it says so already");
        let edited = document.replace("is_isolated: false", "is_isolated: true").replace("github_repo: null", "github_repo: https://github.com/o/issues");
        let synced = w.ok(&here, "project_init", json!({ "document": edited, "sync": true }));
        assert_eq!((synced["project"]["is_isolated"].clone(), synced["project"]["issues_github_repo"].clone()), (json!(true), json!("o/issues")));
        let back = w.ok(&here, "project_init", json!({ "document": document, "sync": true }));
        assert_eq!(back["project"]["is_isolated"], false, "the document decides");
        for (bad, code) in [("---\nims.is_isolated: x\n---\n", "project_document_invalid"), ("---\nims.issues.github_repo: no repo\n---\n", "repo_invalid"), ("---\nims.vcs.provider: cvs\n---\n", "vcs_unknown")] {
            w.no_trace(&here, "project_init", json!({ "document": bad, "sync": true }), code);
        }
        w.no_trace(&here, "project_init", json!({ "sync": true }), "project_document_missing");
        w.no_trace(&here, "project_init", json!({ "default_owner": "no owner" }), "repo_invalid");
    }
}
