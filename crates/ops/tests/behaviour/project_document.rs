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
        let input = json!({ "remote": "git@github.com:O/Issues.git", "document": COMMITTED });
        let made = w.ok(&here(), "project_init", input.clone());
        let expected = vec![json!(true), json!("pantheon"), json!("https://h.example/o/shop"), json!("o/issues")];
        assert_eq!((shown(&made), made["document"].clone()), (expected.clone(), Value::Null), "nothing to write");
        let again = w.ok(&here(), "project_init", input);
        assert_eq!((shown(&again), again["document"].clone()), (expected, Value::Null));
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
        let synced = w.ok(&here(), "project_init", json!({ "document": edited, "sync": true, "document_trusted": true }));
        assert_eq!((synced["project"]["issues_github_repo"].clone(), synced["project"]["vcs_provider"].clone()), (json!("o/issues"), json!("github")));
    }

    fn the_document_of_an_older_checkout_does_not_set_the_remote_back_and_says_so(w) {
        let (old, new) = ("https://h.example/o/shop", "https://h.example/o/store");
        let older = COMMITTED.replace("is_isolated: true", "is_isolated: false");
        let newer = older.replace(old, new).replace("provider: pantheon", "provider: gitlab");
        w.ok(&here(), "project_init", json!({ "document": older }));
        w.ok(&here(), "project_init", json!({ "document": newer, "sync": true }));
        for remote in [old, new] {
            let again = w.ok(&here(), "project_init", json!({ "document": older, "remote": remote }));
            let registered = (again["project"]["vcs_remote_url"].clone(), again["project"]["vcs_provider"].clone());
            assert_eq!(registered, (json!(new), json!("gitlab")), "{again:#}");
            assert_eq!(again["document"], Value::Null, "the file of the checkout stays as it is");
            let remark = again["remarks"][0].as_str().unwrap_or_default();
            assert!(remark.contains(old) && remark.contains(new) && remark.contains("`baton init --sync`"), "{again:#}");
        }
        let synced = w.ok(&here(), "project_init", json!({ "document": older, "sync": true }));
        assert_eq!(synced["project"]["vcs_remote_url"], old, "asked for, the file counts");
        assert_eq!(w.ok(&here(), "project_init", json!({ "document": older }))["remarks"], Value::Null);
    }

    fn a_document_does_not_open_an_isolated_project_and_says_so(w) {
        w.ok(&here(), "project_init", json!({ "document": COMMITTED }));
        let open = COMMITTED.replace("is_isolated: true", "is_isolated: false");
        let again = w.ok(&here(), "project_init", json!({ "document": open }));
        assert_eq!((&again["project"]["is_isolated"], &again["document"]), (&json!(true), &Value::Null), "the text is the user's");
        let remark = again["remarks"].to_string();
        assert!(remark.contains("stays isolated") && remark.contains("baton init --sync"), "{again}");
        // What else is to change in the text changes, and this does not.
        let bare = "---\nims:\n  is_isolated: false\n---\n";
        let completed = w.ok(&here(), "project_init", json!({ "document": bare }));
        let text = text(&completed, "document");
        assert!(text.contains("is_isolated: false") && text.contains("provider: pantheon"), "{completed}");
        // The user's own word is written there, or opens it.
        let flag = w.ok(&here(), "project_init", json!({ "document": open, "isolated": true }));
        assert!(self::text(&flag, "document").contains("is_isolated: true") && flag["remarks"].is_null(), "{flag}");
        let synced = w.ok(&here(), "project_init", json!({ "document": open, "sync": true }));
        assert_eq!(synced["project"]["is_isolated"], false);
        assert!(synced["remarks"][0].as_str().is_some_and(|remark| remark.contains("is open from now on")), "{synced}");
    }

    fn a_tracker_that_only_the_document_names_is_a_suggestion_until_the_user_says_so(w) {
        w.machines.github = true;
        w.register("other");
        let document = COMMITTED.replace("is_isolated: true", "is_isolated: false").replace("o/issues", "mallory/issues").replace("pantheon", "github");
        let by_remote = document.replace("github_repo: mallory/issues", "github_repo: null").replace("https://h.example/o/shop", "https://github.com/mallory/issues");
        for (text, folder) in [(&document, "/repos/shop"), (&by_remote, "/repos/store")] {
            let here = within(folder);
            let made = w.ok(&here, "project_init", json!({ "document": text, "remote": "git@github.com:o/shop.git" }));
            let id = self::text(&made, "project_id");
            assert_eq!((made["project"]["issues_github_repo"].clone(), made["project"]["vcs_remote_url"].clone()), (Value::Null, json!("git@github.com:o/shop.git")), "{made}");
            assert_eq!(made["suggestion"]["issues_repo"], "mallory/issues");
            assert_eq!((made["suggestion"]["registered"].clone(), made["project"]["suggested_issues_repo"].clone()), (Value::Null, json!("mallory/issues")));
            assert!(made["document"].is_null() || self::text(&made, "document").contains("mallory/issues"), "what was committed is not written over: {made}");
            let handoff = json!({ "to_project_id": id, "subject": "s" });
            let refused = w.no_trace(&agent("Ann").project("other"), "handoff_create", handoff.clone(), "tracker_untrusted");
            assert!(self::text(&refused, "hint").contains("--issues-repo mallory/issues"), "{refused}");
            let local = w.ok(&agent("Ann").project("other"), "handoff_create", json!({ "to_project_id": id, "subject": "s", "local": true }));
            w.no_trace(&agent("Ann").project("other"), "handoff_publish", json!({ "id": local["handoff_id"] }), "tracker_untrusted");
            // DocumentFields again, and read back, it is still no word of the user's.
            for sync in [false, true] {
                let again = w.ok(&here, "project_init", json!({ "document": text, "remote": "git@github.com:o/shop.git", "sync": sync }));
                assert_eq!((again["project"]["issues_github_repo"].clone(), again["project"]["suggested_issues_repo"].clone()), (Value::Null, json!("mallory/issues")));
            }
            let trusted = w.ok(&here, "project_init", json!({ "document": text, "document_trusted": true, "remote": "git@github.com:o/shop.git" }));
            assert_eq!((trusted["suggestion"].clone(), trusted["project"]["suggested_issues_repo"].clone()), (Value::Null, Value::Null));
            let dry = w.ok(&agent("Ann").project("other"), "handoff_create", json!({ "to_project_id": id, "subject": "s", "dry_run": true }));
            assert_eq!(dry["resolved_issues_github_repo"], "mallory/issues");
        }
    }

    fn a_registered_tracker_is_not_changed_by_a_document(w) {
        let open = COMMITTED.replace("is_isolated: true", "is_isolated: false");
        let own = "git@github.com:o/issues.git";
        w.ok(&here(), "project_init", json!({ "document": open, "remote": own }));
        let pulled = open.replace("o/issues", "mallory/issues");
        for sync in [false, true] {
            let made = w.ok(&here(), "project_init", json!({ "document": pulled, "remote": own, "sync": sync }));
            assert_eq!((made["project"]["issues_github_repo"].clone(), made["project"]["suggested_issues_repo"].clone()), (json!("o/issues"), Value::Null));
            assert_eq!(made["suggestion"], json!({ "issues_repo": "mallory/issues", "registered": "o/issues", "command": "baton project set shop --issues-repo mallory/issues" }));
        }
        let remote = open.replace("https://h.example/o/shop", "https://github.com/mallory/shop").replace("pantheon", "github");
        let made = w.ok(&here(), "project_init", json!({ "document": remote, "remote": own }));
        assert_eq!(made["project"]["vcs_remote_url"], "https://h.example/o/shop", "neither that of the file nor that of the folder");
        assert!(made["remarks"][0].as_str().is_some_and(|remark| remark.contains(own)), "{made:#}");
        let answer = w.ok(&here(), "project_init", json!({ "document": pulled, "remote": own, "issues_repo": "mallory/issues" }));
        assert_eq!((answer["project"]["issues_github_repo"].clone(), answer["suggestion"].clone()), (json!("mallory/issues"), Value::Null), "the user's own word");
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
        assert_eq!(w.ok(&joined, "project_init", json!({ "join": "shop", "claimed": "shop" }))["project_id"], "shop");
    }

    fn a_placeholder_is_not_claimed_by_a_repository_either(w) {
        w.register("shop");
        w.ok(&agent("Ann").project("shop"), "handoff_create", json!({ "to_project_id": "lib", "subject": "s" }));
        let clone = within("/repos/evil");
        w.no_trace(&clone, "project_init", json!({ "claimed": "lib" }), "project_claimed");
    }
}
