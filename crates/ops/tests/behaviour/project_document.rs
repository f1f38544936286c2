//! What a committed `docs/PROJECT.md` says counts, whatever would be guessed; and which project a repository may name.

use serde_json::{Value, json};

use crate::world::{Agent, agent, text};

const COMMITTED: &str = "---\nims:\n  is_isolated: true\n  vcs:\n    provider: pantheon\n    remote_url: https://h.example/o/shop\n  issues:\n    github_repo: o/issues\n---\n\n# Shop\n";

/// Somebody in a repository, who names no project.
fn within(folder: &str) -> Agent {
    let mut agent = agent("Ann").at(folder, Some(folder));
    agent.0.project = None;
    agent
}

fn here() -> Agent {
    within("/repos/shop")
}

fn shown(answer: &Value) -> Vec<Value> {
    let fields = ["is_isolated", "vcs_provider", "vcs_remote_url", "issues_github_repo"];
    fields.iter().map(|field| answer["project"][*field].clone()).collect()
}

on_every_backend! {
    fn a_committed_document_wins_over_defaults_in_a_fresh_store(w) {
        let input = json!({ "remote": "git@github.com:fork/shop.git", "document": COMMITTED });
        let made = w.ok(&here(), "project_init", input.clone());
        let said = vec![json!(true), json!("pantheon"), json!("https://h.example/o/shop"), json!("o/issues")];
        assert_eq!((shown(&made), made["document"].clone()), (said.clone(), Value::Null), "nothing to write");
        let again = w.ok(&here(), "project_init", input);
        assert_eq!((shown(&again), again["document"].clone()), (said, Value::Null));
    }

    fn flags_win_over_the_document_also_when_it_is_read_back(w) {
        let open = COMMITTED.replace("is_isolated: true", "is_isolated: false");
        w.ok(&here(), "project_init", json!({ "document": open }));
        let flags = json!({ "document": open, "sync": true, "isolated": true, "vcs": "gitlab", "issues_repo": "o/other" });
        let made = w.ok(&here(), "project_init", flags);
        assert_eq!(shown(&made)[..2], [json!(true), json!("gitlab")]);
        assert_eq!(made["project"]["issues_github_repo"], "o/other");
    }

    fn what_was_decided_stands_until_the_document_is_read_back(w) {
        w.ok(&here(), "project_init", json!({ "document": COMMITTED }));
        w.ok(&here(), "project_set", json!({ "issues_repo": "o/newer" }));
        let edited = COMMITTED.replace("provider: pantheon", "provider: github");
        let made = w.ok(&here(), "project_init", json!({ "document": edited }));
        assert_eq!(made["project"]["issues_github_repo"], "o/newer");
        assert!(text(&made, "document").contains("github_repo: o/newer"));
        let synced = w.ok(&here(), "project_init", json!({ "document": edited, "sync": true }));
        assert_eq!((synced["project"]["issues_github_repo"].clone(), synced["project"]["vcs_provider"].clone()), (json!("o/issues"), json!("github")));
    }

    fn a_document_that_cannot_be_read_stops_a_registration_and_one_that_cannot_be_changed_does_not(w) {
        for bad in ["---\nims: [\n---\n", "---\nims:\n  is_isolated: true\n", "---\nims:\n  is_isolated: {\n---\n"] {
            let refused = w.no_trace(&here(), "project_init", json!({ "document": bad }), "project_document_invalid");
            assert!(refused["line"].is_u64() || bad.ends_with("true\n"), "{refused}");
        }
        let flow = "---\nims: {is_isolated: true}\n---\n";
        let made = w.ok(&here(), "project_init", json!({ "document": flow, "remote": "git@github.com:o/r.git" }));
        assert_eq!((made["document"].clone(), made["project"]["is_isolated"].clone()), (Value::Null, json!(true)));
        assert!(text(&made, "document_fault").contains("by hand"), "{made}");
    }

    fn a_repository_names_a_new_project_and_never_one_that_is_there(w) {
        w.register("shop");
        let clone = within("/repos/evil");
        let refusal = w.no_trace(&clone, "project_init", json!({ "claimed": "shop" }), "project_claimed");
        assert_eq!(refusal["project_id"], "shop");
        w.no_trace(&clone, "project_init", json!({ "claimed": "../shop" }), "project_invalid");
        assert_eq!(w.ok(&clone, "project_init", json!({ "claimed": "fresh" }))["project_id"], "fresh");
        let again = w.ok(&clone, "project_init", json!({ "claimed": "shop" }));
        assert_eq!(again["project_id"], "fresh", "a folder that is registered stays what it is");
        let joined = within("/repos/second");
        assert_eq!(w.ok(&joined, "project_init", json!({ "id": "shop", "claimed": "shop" }))["project_id"], "shop");
    }

    fn a_placeholder_is_not_claimed_by_a_repository_either(w) {
        w.register("shop");
        w.ok(&agent("Ann").project("shop"), "handoff_create", json!({ "to_project_id": "lib", "subject": "s" }));
        let clone = within("/repos/evil");
        w.no_trace(&clone, "project_init", json!({ "claimed": "lib" }), "project_claimed");
    }
}
