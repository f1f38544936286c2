//! Projects: registered, changed, found from the working directory, never guessed.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn nowhere() -> Agent {
    agent("Ann").nameless()
}

fn init(w: &mut World, folder: &str, input: Value) -> Value {
    w.ok(&nowhere().at(folder, Some(folder)), "project_init", input)
}

on_every_backend! {
    fn a_repository_is_registered_under_its_folders_name(w) {
        let made = init(w, "/repos/My Repo", json!({}));
        assert_eq!((made["project_id"].clone(), made["created"].clone()), (json!("my-repo"), json!(true)));
        assert_eq!(made["root"], "/repos/My Repo");
        let again = init(w, "/repos/My Repo", json!({}));
        assert_eq!((again["project_id"].clone(), again["created"].clone()), (json!("my-repo"), json!(false)));
        let shown = w.ok(&nowhere(), "project_show", json!({ "project": "my-repo" }));
        assert_eq!(shown["roots"], json!(["/repos/My Repo"]));
    }

    fn a_mistyped_project_is_refused_with_near_names(w) {
        w.register("shop");
        for (verb, input) in [
            ("session_status", json!({})),
            ("session_start", json!({})),
            ("task_create", json!({ "title": "t" })),
            ("hd_exec", json!({})),
        ] {
            let refusal = w.no_trace(&agent("Lola").project("shpo"), verb, input, "project_unknown");
            assert_eq!(refusal["near"], json!(["shop"]), "{verb}");
            assert!(text(&refusal, "hint").starts_with("did you mean shop?"), "{verb}: {refusal}");
        }
        let far = w.no_trace(&agent("Lola").project("warehouse"), "session_status", json!({}), "project_unknown");
        assert_eq!(far.get("near"), None);
    }

    fn registering_the_same_again_writes_nothing_into_the_ledger(w) {
        init(w, "/repos/a", json!({ "remote": "git@github.com:o/a.git" }));
        let before = w.ledger_of("a");
        init(w, "/repos/a", json!({ "remote": "git@github.com:o/a.git" }));
        assert_eq!(w.ledger_of("a"), before);
        assert_eq!(column(&before, "kind"), ["other"]);
    }

    fn two_folders_of_one_name_are_not_mixed_up(w) {
        init(w, "/repos/a", json!({}));
        let other = nowhere().at("/elsewhere/a", Some("/elsewhere/a"));
        w.no_trace(&other, "project_init", json!({}), "project_taken");
        w.no_trace(&other, "project_init", json!({ "id": "a" }), "project_taken");
        assert_eq!(w.ok(&other, "project_init", json!({ "join": "a" }))["created"], false, "joined when asked to");
    }

    fn a_fork_that_joins_does_not_take_the_projects_remote(w) {
        init(w, "/repos/a", json!({ "remote": "git@github.com:o/a.git" }));
        let fork = nowhere().at("/elsewhere/a", Some("/elsewhere/a"));
        let joined = w.ok(&fork, "project_init", json!({ "join": "a", "remote": "git@github.com:me/a.git" }));
        assert_eq!(joined["project"]["vcs_remote_url"], "git@github.com:o/a.git");
        let first = w.ok(&nowhere().at("/repos/b", Some("/repos/b")), "project_init", json!({ "id": "b" }));
        assert_eq!(first["project"]["vcs_remote_url"], Value::Null);
        let b = nowhere().at("/elsewhere/b", Some("/elsewhere/b"));
        let joined = w.ok(&b, "project_init", json!({ "join": "b", "remote": "git@github.com:o/b.git" }));
        assert_eq!(joined["project"]["vcs_remote_url"], "git@github.com:o/b.git", "it had none");
    }

    fn credentials_are_never_stored(w) {
        for (folder, remote, stored) in [
            ("/repos/a", "https://user:hunter2@git.example/o/a", "https://git.example/o/a"),
            ("/repos/b", "https://hunter2@github.com/o/b.git", "https://github.com/o/b.git"),
            ("/repos/c", "ssh://git:hunter2@git.example:22/o/c", "ssh://git.example:22/o/c"),
        ] {
            let made = init(w, folder, json!({ "remote": remote, "issues_repo": "https://hunter2@github.com/o/r" }));
            assert_eq!(made["project"]["vcs_remote_url"], stored);
            assert_eq!(made["project"]["issues_github_repo"], "o/r");
        }
        let all = w.everything().join("\n");
        assert!(!all.contains("hunter2"), "{all}");
    }

    fn the_provider_is_guessed_from_the_remote_unless_said(w) {
        let guessed = init(w, "/repos/a", json!({ "remote": "git@github.com:o/a.git" }));
        assert_eq!(guessed["project"]["vcs_provider"], "github");
        let project = init(w, "/repos/b", json!({ "remote": "git@github.com:o/b.git", "vcs": "pantheon" }));
        assert_eq!(project["project"]["vcs_provider"], "pantheon");
        let here = nowhere().at("/repos/c", None);
        w.no_trace(&here, "project_init", json!({ "vcs": "cvs" }), "vcs_unknown");
        w.no_trace(&here, "project_init", json!({ "issues_repo": "not a repo" }), "repo_invalid");
        w.no_trace(&here, "project_init", json!({ "id": "Upper" }), "project_invalid");
        w.no_trace(&nowhere(), "project_init", json!({}), "folder_unknown");
    }

    fn phase_and_focus_are_set_kept_and_removed(w) {
        let donna = agent("Donna");
        w.ok(&donna, "project_set", json!({ "phase": "build", "focus": ["a", "b"] }));
        w.ok(&donna, "project_set", json!({ "issues_provider": "local" }));
        let project = w.project();
        assert_eq!((project["phase"].clone(), project["focus"].clone()), (json!("build"), json!(["a", "b"])));
        assert_eq!(project["issues_provider"], "local");
        w.ok(&donna, "project_set", json!({ "phase": "", "focus": [] }));
        let project = w.project();
        assert_eq!((project["phase"].clone(), project["focus"].clone()), (Value::Null, json!([])));
        assert_eq!(w.newest("other")["identity"], "Donna");
    }

    fn setting_what_is_set_writes_no_delta(w) {
        w.ok(&agent("Donna"), "project_set", json!({ "phase": "build" }));
        let before = w.ledger();
        w.ok(&agent("Donna"), "project_set", json!({ "phase": "build" }));
        assert_eq!(w.ledger(), before);
    }

    fn what_cannot_be_set_is_refused(w) {
        let donna = agent("Donna");
        w.no_trace(&donna, "project_set", json!({ "phase": "a\nb" }), "label_invalid");
        w.no_trace(&donna, "project_set", json!({ "focus": [""] }), "label_invalid");
        w.no_trace(&donna, "project_set", json!({ "issues_provider": "jira" }), "provider_unknown");
        w.no_trace(&donna, "project_set", json!({ "issues_repo": "x" }), "repo_invalid");
        w.no_trace(&donna, "project_set", json!({ "webhook": "file:///etc" }), "webhook_invalid");
    }

    fn the_path_of_a_webhook_stands_where_its_delivery_reads_it_and_nowhere_else(w) {
        let donna = agent("Donna");
        let shown = "https://hooks.example/…";
        for address in [
            "https://hooks.example/services/T0/SECRET", "https://hooks.example?token=SECRET", "https://SECRET@hooks.example/x",
            "https://u:SECRET@hooks.example",
        ] {
            let set = w.ok(&donna, "project_set", json!({ "webhook": address }));
            assert_eq!(set["webhook_url"], shown, "{address}");
            for (verb, input) in [
                ("project_show", json!({})), ("project_list", json!({})), ("ledger_list", json!({})),
                ("ledger_list", json!({ "chain": true })), ("ledger_export", json!({})), ("session_status", json!({})),
            ] {
                let answer = w.ok(&donna, verb, input).to_string();
                assert!(!answer.contains("SECRET"), "{verb}: {answer}");
            }
            let secrets = w.everything().into_iter().filter(|row| row.contains("SECRET"));
            let others: Vec<String> = secrets.filter(|row| !row.starts_with("project") && !row.starts_with("outbox")).collect();
            assert_eq!(others, [""; 0]);
        }
        assert!(w.everything().iter().any(|row| row.starts_with("outbox") && row.contains("SECRET")), "it is delivered");
        // What is shown is no address to set.
        w.no_trace(&donna, "project_set", json!({ "webhook": shown }), "webhook_invalid");
        let local = "http://127.0.0.1:9";
        assert_eq!(w.ok(&donna, "project_set", json!({ "webhook": local }))["webhook_url"], local);
    }

    fn an_entry_of_an_earlier_version_is_shown_without_the_path_of_its_webhook(w) {
        let donna = agent("Donna");
        let whole = json!({ "summary": "registration changed", "project": { "webhook_url": "https://hooks.example/SECRET" } });
        w.store.write(&["p"], |tx| {
            let mut entry = baton_store::delta::newest_of_kind(tx, "p", baton_model::delta::Kind::Other, 1)?.remove(0);
            (entry.seq, entry.delta_id, entry.body) = (tx.next_seq("p")?, "earlier".to_owned(), whole.to_string());
            Ok::<_, baton_store::Failure>(baton_store::delta::append(tx, &entry)?)
        }).expect("written");
        for input in [json!({}), json!({ "newest": true })] {
            let listed = w.ok(&donna, "ledger_list", input).to_string();
            assert!(listed.contains("hooks.example/…") && !listed.contains("SECRET"), "{listed}");
        }
    }

    fn a_webhook_gets_a_row_for_every_delta(w) {
        w.ok(&agent("Donna"), "project_set", json!({ "webhook": "http://127.0.0.1:9/hook" }));
        let count = |w: &mut World| w.everything().iter().filter(|row| row.starts_with("outbox")).count();
        let before = count(w);
        w.start(&agent("Donna"));
        assert_eq!(count(w), before + 1);
    }

    fn the_entry_that_sets_a_webhook_is_its_first_and_the_one_that_takes_it_away_is_none(w) {
        let donna = agent("Donna");
        let posts = |w: &mut World, address: &str| {
            let rows = w.everything();
            rows.iter().filter(|row| row.starts_with("outbox") && row.contains(address)).count()
        };
        w.ok(&donna, "project_set", json!({ "webhook": "http://127.0.0.1:9/one" }));
        assert_eq!(posts(w, "/one"), 1);
        w.ok(&donna, "project_set", json!({ "webhook": "http://127.0.0.1:9/two" }));
        assert_eq!((posts(w, "/one"), posts(w, "/two")), (1, 1));
        w.ok(&donna, "project_set", json!({ "webhook": "" }));
        w.start(&donna);
        assert_eq!((posts(w, "/one"), posts(w, "/two")), (1, 1));
    }

    fn the_working_directory_finds_its_project(w) {
        init(w, "/repos/a", json!({}));
        for folder in ["/repos/a", "/repos/a/src/deep"] {
            let shown = w.ok(&nowhere().at(folder, Some("/repos/a")), "project_show", json!({}));
            assert_eq!(shown["project_id"], "a");
        }
    }

    fn the_nearest_folder_wins(w) {
        init(w, "/repos/a", json!({}));
        init(w, "/repos/a/inner", json!({}));
        let here = nowhere().at("/repos/a/inner/src", Some("/repos/a/inner"));
        assert_eq!(w.ok(&here, "project_show", json!({}))["project_id"], "inner");
    }

    fn an_unregistered_repository_inside_a_registered_folder_is_asked_for_not_guessed(w) {
        init(w, "/repos/a", json!({}));
        let inside = nowhere().at("/repos/a/vendor/lib/src", Some("/repos/a/vendor/lib"));
        w.no_trace(&inside, "session_start", json!({}), "project_ambiguous");
        assert_eq!(w.ok(&inside, "session_start", json!({ "project": "a" }))["project_id"], "a");
    }

    fn a_folder_that_nobody_registered_is_refused(w) {
        w.no_trace(&nowhere().at("/elsewhere", None), "session_start", json!({}), "project_unresolved");
        w.no_trace(&nowhere(), "session_start", json!({}), "project_unresolved");
    }

    fn a_folder_of_another_machine_is_another_folder(w) {
        init(w, "/repos/a", json!({}));
        let there = nowhere().at("/repos/a", None).machine("m2");
        w.no_trace(&there, "session_start", json!({}), "project_unresolved");
    }

    fn the_argument_wins_over_the_environment_and_that_over_the_folder(w) {
        w.register("q");
        w.register("r");
        let here = agent("Donna").project("q").at("/repos/r", None);
        assert_eq!(w.ok(&here, "project_show", json!({ "project": "p" }))["project_id"], "p");
        assert_eq!(w.ok(&here, "project_show", json!({}))["project_id"], "q");
        assert_eq!(w.ok(&nowhere().at("/repos/r", None), "project_show", json!({}))["project_id"], "r");
    }

    fn all_projects_are_listed_by_id(w) {
        w.register("z");
        w.register("a");
        let listed = w.ok(&nowhere(), "project_list", json!({}));
        assert_eq!(column(&list(&listed["items"]), "project_id"), ["a", "p", "z"]);
    }

    fn the_overview_has_every_project_the_last_wrapped_in_first(w) {
        w.register("z");
        w.register("a");
        let lola = agent("Lola").project("z");
        w.ok(&lola, "session_start", json!({}));
        w.ok(&lola, "session_wrap", json!({ "summary": "done" }));
        w.ok(&agent("Donna"), "session_start", json!({}));
        let seen = w.ok(&nowhere(), "project_overview", json!({}));
        assert_eq!(column(&list(&seen["items"]), "project_id"), ["z", "a", "p"]);
        assert_eq!(seen["items"][0]["handoffs"][0]["from"], "Lola");
        assert_eq!(seen["items"][0]["last_wrap"]["last_wrapped_summary"], "done");
        assert_eq!(seen["items"][2]["sessions"][0]["identity"], "Donna");
        let first = w.ok(&nowhere(), "project_overview", json!({ "limit": 1 }));
        assert_eq!((list(&first["items"]).len(), &first["total"]), (1, &json!(3)));
        w.no(&nowhere(), "project_overview", json!({ "limit": "many" }), "input_invalid");
    }

    fn a_search_finds_what_is_old_among_much_that_holds_one_of_the_words(w) {
        let lola = agent("Lola");
        w.ok(&lola, "task_create", json!({ "title": "common and old" }));
        w.ok(&lola, "ledger_note", json!({ "text": "old and common" }));
        for n in 0..1_020 {
            w.ok(&lola, "ledger_note", json!({ "text": format!("common thing {n}") }));
        }
        let answer = w.ok(&lola, "project_search", json!({ "query": "common old" }));
        let kinds = column(&list(&answer["items"]), "kind");
        assert!(kinds.contains(&"note".to_owned()) && kinds.contains(&"task".to_owned()), "{answer:#}");
        assert_eq!((kinds.len(), &answer["more"], &answer["next"]), (2, &json!(false), &Value::Null));
        let some = w.ok(&lola, "project_search", json!({ "query": "common thing", "limit": 600 }));
        assert_eq!((list(&some["items"]).len(), &some["next"]), (600, &json!(600)));
        assert_eq!(some["items"][0]["title"], "common thing 1019", "newest first");
        let titles: std::collections::BTreeSet<String> = column(&list(&some["items"]), "title").into_iter().collect();
        assert_eq!(titles.len(), 600, "no page is read twice");
    }

    fn a_search_finds_everything_that_holds_the_words(w) {
        w.register("q");
        let lola = agent("Lola");
        w.start(&lola);
        w.ok(&lola, "task_create", json!({ "title": "Round the tax", "description": "half up, 50%_!" }));
        w.ok(&lola, "ledger_note", json!({ "text": "the tax tests are slow" }));
        w.ok(&lola, "session_wrap", json!({ "summary": "Tax is half done" }));
        w.ok(&agent("Ann").project("q"), "handoff_create", json!({ "to_project_id": "p", "subject": "Tax für alle" }));
        let found = |w: &mut World, query: &str| -> Vec<String> {
            let answer = w.ok(&lola, "project_search", json!({ "query": query }));
            let items = answer["items"].as_array().expect("items").clone();
            items.iter().map(|hit| format!("{} {}", hit["kind"].as_str().unwrap_or_default(), hit["title"].as_str().unwrap_or_default())).collect()
        };
        let mut all = found(w, "TAX");
        all.sort();
        all.retain(|hit| !hit.starts_with("task ") || hit == "task Round the tax");
        for hit in ["baton Tax is half done", "handoff Tax für alle", "note the tax tests are slow", "task Round the tax"] {
            assert!(all.iter().any(|one| one == hit), "{hit}: {all:#?}");
        }
        assert_eq!(found(w, "half round"), ["task Round the tax"], "every word counts");
        assert_eq!(found(w, "50%_!"), ["task Round the tax"], "signs are looked for as they are");
        assert!(found(w, "fÜr tax").contains(&"handoff Tax für alle".to_owned()));
        w.start(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "stuck in zanzibar");
        w.ok(&lola, "ledger_note", json!({ "kind": "decision", "text": "use ibex", "why": "the yak is slow" }));
        assert_eq!(found(w, "zanzibar stuck"), ["checkpoint stuck in zanzibar"]);
        assert_eq!(found(w, "yak ibex"), ["decision use ibex"], "a decision is found by its reason");
        assert_eq!(found(w, "zebra"), Vec::<String>::new());
        w.no(&lola, "project_search", json!({ "query": " " }), "query_invalid");
        w.no(&lola, "project_search", json!({ "query": "tax", "project": "nowhere" }), "project_unknown");
        assert_eq!(w.ok(&lola, "project_search", json!({ "query": "tax", "project": "q" }))["items"].as_array().map(Vec::len), Some(0));
    }
}
