//! Related projects, and isolated ones, which take part in nothing implicit.

use serde_json::{Value, json};

use crate::backend::Backend;
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

/// A Claude Code session of this id that worked in a folder.
fn session(w: &World, id: &str, cwd: &str, words: &str) {
    let line = json!({
        "type": "user", "uuid": id, "parentUuid": null, "sessionId": id, "cwd": cwd,
        "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": "user", "content": words },
    });
    w.home().write(&format!(".claude/projects/-x/{id}.jsonl"), format!("{line}\n"));
}

const OPEN: &str = "aaaaaaaa-aaaa-4000-8000-000000000001";
const LONE: &str = "bbbbbbbb-aaaa-4000-8000-000000000002";
const NONE: &str = "cccccccc-aaaa-4000-8000-000000000003";

fn transcripts(w: &mut World) {
    w.settle();
    world(w);
    session(w, OPEN, "/repos/a/src", "the cart of a");
    session(w, LONE, "/repos/lone/deep/er", "the cart of lone");
    session(w, NONE, "/tmp/scratch", "the cart of none");
}

/// Whom one is who names no project and stands in this folder.
fn standing(folder: &str) -> Agent {
    agent("Ann").nameless().at(folder, None)
}

/// What is listed, and what is found, which must be the same.
fn seen(w: &mut World, who: &Agent, project: Option<&str>) -> Vec<String> {
    let mut listed =
        column(&list(&w.ok(who, "transcript_list", json!({ "project": project }))["items"]), "id");
    let search = json!({ "query": "cart", "project": project });
    let mut found = column(&list(&w.ok(who, "transcript_search", search)["items"]), "id");
    listed.sort();
    found.sort();
    assert_eq!(listed, found, "a list and a search show the same");
    let check = json!({ "project": project, "since_ms": 0 });
    let checked = list(&w.ok(who, "transcript_doctor", check)["items"]);
    let read = checked.iter().filter_map(|row| row["sessions"].as_u64()).sum::<u64>();
    assert_eq!(read, found.len() as u64, "a report reads what a list shows");
    found
}

on_every_backend! {
    fn transcripts_of_an_isolated_project_are_seen_from_inside_it_and_from_nowhere_else(w) {
        transcripts(w);
        for who in [at("a"), at("b"), standing("/repos/a"), standing("/somewhere"), standing("/repos")] {
            assert_eq!(seen(w, &who, None), [OPEN, NONE], "{who:?}");
        }
        for who in [at("lone"), standing("/repos/lone"), standing("/repos/lone/deep")] {
            assert_eq!(seen(w, &who, None), [LONE], "{who:?}");
        }
        assert_eq!(seen(w, &at("a"), Some("a")), [OPEN]);
        assert_eq!(seen(w, &at("a"), Some("lone")), [LONE], "named outright, it is looked at from inside");
        assert_eq!(seen(w, &at("a"), Some("/repos/lone")), Vec::<String>::new(), "a folder only narrows");
        assert_eq!(seen(w, &at("lone"), Some("/repos/a")), Vec::<String>::new());
    }

    fn a_transcript_on_the_other_side_of_isolation_is_refused_by_its_id(w) {
        transcripts(w);
        for verb in ["transcript_find", "transcript_show", "transcript_events", "handoff_document"] {
            let verbs = [(at("a"), LONE), (at("lone"), OPEN), (at("lone"), NONE), (standing("/tmp"), &LONE[..8])];
            for (who, id) in verbs {
                let refusal = w.no_trace(&who, verb, json!({ "id": id }), "project_isolated");
                assert_eq!(refusal["project_id"], "lone", "{verb}");
            }
        }
        w.ok(&at("lone"), "transcript_show", json!({ "id": LONE }));
        w.ok(&at("a"), "transcript_show", json!({ "id": NONE }));
        assert_eq!(w.ok(&at("lone"), "transcript_find", json!({ "id": "latest" }))["id"], LONE);
        let none = w.no_trace(&at("b"), "transcript_find", json!({ "id": "latest" }), "transcript_elsewhere");
        assert_ne!(none["newest"]["id"], LONE, "not even its name is told");
        w.no_trace(&at("a"), "transcript_import", json!({ "id": LONE }), "project_isolated");
        w.no_trace(&at("a"), "transcript_continue", json!({ "id": LONE, "to": "codex" }), "project_isolated");
        w.no_trace(&at("lone"), "transcript_continue", json!({ "id": OPEN, "to": "codex" }), "project_isolated");
        let named = w.ok(&at("a"), "transcript_continue", json!({ "id": LONE, "to": "codex", "project": "lone" }));
        assert_eq!(named["project_id"], "lone");
    }

    fn a_search_over_all_projects_leaves_isolated_ones_out_and_one_inside_leaves_out_the_others(w) {
        world(w);
        w.ok(&at("lone"), "task_create", json!({ "title": "cart of lone" }));
        w.ok(&at("a"), "task_create", json!({ "title": "cart of a" }));
        let found = |w: &mut World, who: &Agent, project: Option<&str>| {
            let answer = w.ok(who, "project_search", json!({ "query": "cart", "project": project }));
            let mut projects = column(&list(&answer["items"]), "project_id");
            projects.sort();
            projects.dedup();
            projects
        };
        assert_eq!(found(w, &standing("/somewhere"), None), ["a", "b"]);
        assert_eq!(found(w, &standing("/repos/a"), None), ["a", "b"]);
        assert_eq!(found(w, &standing("/repos/lone"), None), ["lone"]);
        assert_eq!(found(w, &at("lone"), None), ["lone"]);
        assert_eq!(found(w, &standing("/repos/a"), Some("lone")), ["lone"], "named outright");
    }

    fn decisions_of_all_projects_leave_isolated_ones_out_and_one_inside_sees_its_own(w) {
        world(w);
        for project in ["a", "lone"] {
            w.ok(&at(project), "ledger_note", json!({ "kind": "decision", "text": format!("in {project}") }));
        }
        let mut read = |who: &Agent| {
            let found = w.ok(who, "decision_list", json!({ "all": true }));
            list(&found["items"]).iter().map(|one| text(&one["body"], "what")).collect::<Vec<_>>()
        };
        assert_eq!(read(&standing("/somewhere")), ["in a"]);
        assert_eq!(read(&standing("/repos/lone")), ["in lone"]);
    }

    fn a_baton_and_a_session_are_shown_by_their_ids_on_their_own_side_of_isolation_only(w) {
        world(w);
        let there = at("a").at("/repos/a", None);
        w.ok(&there, "project_init", json!({ "id": "a" }));
        for project in ["a", "b", "lone"] {
            w.start(&at(project).process(""));
            let left = w.ok(&at(project).process(""), "session_wrap", json!({ "summary": format!("SECRET of {project}") }));
            let ids = [("baton_show", "id", text(&left, "baton_id")), ("session_show", "session", text(&left, "session_id"))];
            for (folder, is_shown) in [("/repos/a", project != "lone"), ("/repos/lone", project == "lone"), ("/tmp", project != "lone")] {
                for (verb, field, id) in &ids {
                    let answer = w.call(&standing(folder), verb, json!({ *field: id }));
                    assert_eq!(answer.is_ok(), is_shown, "{verb} of {project} from {folder}: {answer:#?}");
                    let begun = w.call(&standing(folder), verb, json!({ *field: id[..4] }));
                    assert!(is_shown || !format!("{begun:?}").contains(id), "{verb} of {project} from {folder}: {begun:#?}");
                    w.ok(&standing(folder), verb, json!({ *field: id, "project": project }));
                }
            }
        }
    }

    fn a_project_shown_from_outside_of_an_isolated_one_tells_nothing_that_was_said(w) {
        world(w);
        for (project, word) in [("lone", "secret"), ("a", "open")] {
            w.ok(&at(project), "project_set", json!({ "phase": format!("{word}phase"), "focus": [format!("{word}focus")] }));
            w.leave_baton(&at(project), &format!("{word}wrap"));
        }
        let show = |w: &mut World, who: &Agent, project: &str| w.ok(who, "project_show", json!({ "project": project }));
        for who in [at("a"), standing("/repos/a"), standing("/somewhere")] {
            let outside = show(w, &who, "lone");
            assert!(!outside.to_string().contains("secret"), "{outside:#}");
            assert_eq!((&outside["outline"], &outside["is_isolated"]), (&json!(true), &json!(true)));
            assert!(show(w, &who, "a").to_string().contains("openwrap"));
        }
        for who in [at("lone"), standing("/repos/lone")] {
            assert!(show(w, &who, "lone").to_string().contains("secretwrap"));
            let other = show(w, &who, "a");
            assert!(!other.to_string().contains("openwrap"), "nor does one inside see others: {other:#}");
        }
    }

    fn lists_of_all_projects_tell_of_an_isolated_one_that_it_is_there_and_nothing_that_was_said(w) {
        world(w);
        w.ok(&at("lone"), "project_set", json!({ "phase": "secretphase", "focus": ["secretfocus"] }));
        w.leave_baton(&at("lone"), "secretwrap");
        w.leave_baton(&at("a"), "openwrap");
        for verb in ["project_list", "project_overview"] {
            let outside = w.ok(&standing("/somewhere"), verb, json!({}));
            assert!(!outside.to_string().contains("secret"), "{verb}: {outside:#}");
            assert!(outside.to_string().contains("openwrap") && outside.to_string().contains("\"lone\""), "{verb}");
            let inside = w.ok(&standing("/repos/lone"), verb, json!({}));
            assert!(inside.to_string().contains("secretwrap"), "{verb}: {inside:#}");
            assert!(!inside.to_string().contains("openwrap"), "{verb}: {inside:#}");
        }
    }

    fn an_edge_that_got_into_the_ledger_some_other_way_opens_nothing(w) {
        world(w);
        for sql in [
            "INSERT INTO project_relation (project_id, other_project_id, kind, created_by, created_at) VALUES ('a', 'lone', 'x', 'Eve', 1)",
            "INSERT INTO project_relation (project_id, other_project_id, kind, created_by, created_at) VALUES ('lone', 'a', 'x', 'Eve', 1)",
        ] {
            w.store.write_shared(|tx| Ok(tx.execute(sql, &[])?)).expect("an edge");
        }
        assert_eq!((recalled(w, "a"), recalled(w, "lone")), (vec!["a".into()], vec!["lone".into()]));
        assert_eq!((related(w, "a"), related(w, "lone")), (Vec::new(), Vec::new()));
    }

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

    fn a_handoff_tells_the_other_project_nobody_who_works_in_an_isolated_one(w) {
        world(w);
        let inside = agent("Insider").project("lone");
        let ends = [("complete", "done"), ("decline", "no")];
        for (action, result) in ends {
            let made = w.ok(&at("a"), "handoff_create", json!({ "to_project_id": "lone", "subject": "s" }));
            let id = json!(text(&made, "handoff_id"));
            w.ok(&inside, "handoff_advance", json!({ "id": id, "action": "accept" }));
            let early = w.no(&at("a"), "handoff_advance", json!({ "id": id, "action": "complete", "result": "x" }), "handoff_not_yours");
            assert!(!early.to_string().contains("Insider"), "{early:#}");
            w.ok(&inside, "handoff_advance", json!({ "id": id, "action": action, "result": result }));
            w.no(&inside, "handoff_advance", json!({ "id": id, "action": "complete", "result": "insider words" }), "handoff_state");
            for who in [at("a"), at("b"), standing("/somewhere")] {
                let shown = w.ok(&who, "handoff_show", json!({ "id": id }));
                assert!(!shown.to_string().to_lowercase().contains("insider"), "{shown:#}");
                assert_eq!((&shown["result"], &shown["ended"]["by"]), (&json!(result), &json!("somebody of project lone")));
            }
            let late = w.no(&at("a"), "handoff_advance", json!({ "id": id, "action": "complete", "result": "y" }), "handoff_state");
            assert!(!late.to_string().contains("Insider"), "{late:#}");
            let own = w.ok(&inside, "handoff_show", json!({ "id": id }));
            assert_eq!((&own["accepted_by"], &own["ended"]["by"]), (&json!("Insider"), &json!("Insider")));
        }
        // The project is the sender where its people are not named.
        let notices = w.pending(&at("a"));
        let from = |one: &Value| (text(one, "from"), text(one, "from_type"), text(one, "from_project_id"));
        assert_eq!(notices.len(), 4, "{notices:#?}");
        for one in &notices {
            assert_eq!(from(one), ("lone".into(), "project".into(), "lone".into()), "{one:#}");
        }
        let unread = w.ok(&at("a"), "session_status", json!({}))["unread"].clone();
        assert_eq!(unread["items"][0]["from"], "project lone", "{unread:#}");
        let reply = json!({ "reply_to": notices[0]["message_id"], "body": "thanks" });
        w.no_trace(&at("a"), "mail_send", reply, "message_invalid");
        let listed = w.ok(&at("a"), "handoff_list", json!({}));
        let heard = json!(w.ledger_of("a"));
        for text in [listed, heard] {
            assert!(!text.to_string().to_lowercase().contains("insider"), "{text:#}");
        }
        assert!(json!(w.ledger_of("lone")).to_string().contains("Insider"));
    }

    fn a_handoff_between_isolated_projects_is_shown_in_these_alone(w) {
        world(w);
        w.ok(&at("hidden").at("/repos/hidden", None), "project_init", json!({ "id": "hidden", "isolated": true }));
        let made = w.ok(&at("hidden"), "handoff_create", json!({ "to_project_id": "lone", "subject": "s" }));
        let id = json!({ "id": made["handoff_id"] });
        for who in [at("a"), standing("/somewhere")] {
            w.no_trace(&who, "handoff_show", id.clone(), "handoff_unknown");
        }
        for who in [at("hidden"), at("lone")] {
            w.ok(&who, "handoff_show", id.clone());
        }
    }

    fn an_export_names_nobody_of_the_other_side_of_isolation_and_both_together_name_all(w) {
        world(w);
        let inside = agent("Insider").project("lone");
        let made = w.ok(&at("a"), "handoff_create", json!({ "to_project_id": "lone", "subject": "s" }));
        let id = json!({ "id": made["handoff_id"], "action": "accept" });
        w.ok(&inside, "handoff_advance", id);
        let rows = |w: &mut World, who: &Agent| list(&w.ok(who, "ledger_export", json!({}))["items"]);
        let (of_sender, of_receiver) = (rows(w, &at("a")), rows(w, &inside));
        let handoff = |rows: &[Value]| json!(rows.iter().filter(|row| row["_type"] == "handoff").collect::<Vec<_>>()).to_string();
        assert!(handoff(&of_receiver).contains("Insider"));
        for word in ["Insider", "m1"] {
            assert!(!handoff(&of_sender).contains(word), "{word}: {}", handoff(&of_sender));
        }
        let lines = |w: &mut World, who: &Agent| {
            let mut rows = list(&w.ok(who, "ledger_list", json!({ "chain": true, "limit": 1_000 }))["items"]);
            rows.extend(list(&w.ok(who, "ledger_export", json!({}))["items"]));
            rows
        };
        let (sender, receiver) = (lines(w, &at("a")), lines(w, &inside));
        for order in [[&sender, &receiver], [&receiver, &sender]] {
            let mut there = World::new(Backend::Memory, 79).expect("memory");
            for rows in order {
                there.ok(&agent("Owner"), "ledger_import", json!({ "lines": rows, "unverified": true }));
            }
            let shown = there.ok(&inside, "handoff_show", json!({ "id": made["handoff_id"] }));
            assert_eq!(shown["accepted_by"], "Insider", "{shown:#}");
            there.no(&agent("Rex").project("lone"), "handoff_advance", json!({ "id": made["handoff_id"], "action": "complete" }), "handoff_not_yours");
        }
    }

    fn a_handoff_from_an_isolated_project_names_its_sender_and_nobody_else(w) {
        world(w);
        let made = w.ok(&at("lone"), "handoff_create", json!({ "to_project_id": "a", "subject": "s" }));
        let id = json!(text(&made, "handoff_id"));
        w.ok(&agent("Ben").project("a"), "handoff_advance", json!({ "id": id, "action": "accept" }));
        let shown = w.ok(&at("lone"), "handoff_show", json!({ "id": id }));
        assert_eq!(shown.get("accepted_by"), None, "{shown:#}");
        w.ok(&agent("Insider").project("lone"), "handoff_advance", json!({ "id": id, "action": "cancel", "result": "no longer", "force": true, "why": "no longer" }));
        let shown = w.ok(&agent("Ben").project("a"), "handoff_show", json!({ "id": id }));
        assert_eq!((&shown["from_identity"], &shown["accepted_by"]), (&json!("Ann"), &json!("Ben")));
        assert_eq!((&shown["ended"]["by"], &shown["ended"]["why"]), (&json!("somebody of project lone"), &json!("no longer")));
        assert!(!json!(w.ledger_of("a")).to_string().contains("Insider"));
        let pending = w.pending(&agent("Ben").project("a"));
        assert!(!pending.is_empty() && !json!(pending).to_string().contains("Insider"), "{pending:#?}");
    }

    fn a_document_is_written_read_back_and_kept(w) {
        let here = at("shop").at("/repos/shop", Some("/repos/shop"));
        let made = w.ok(&here, "project_init", json!({ "id": "shop", "remote": "git@github.com:o/shop.git" }));
        let document = text(&made, "document");
        assert!(document.contains("remote_url: git@github.com:o/shop.git"), "{document}");
        let again = w.ok(&here, "project_init", json!({ "id": "shop", "document": document }));
        assert_eq!(again["document"], Value::Null, "it says so already");
        let edited = document.replace("is_isolated: false", "is_isolated: true").replace("github_repo: null", "github_repo: https://github.com/o/issues");
        let synced = w.ok(&here, "project_init", json!({ "document": edited, "sync": true, "document_trusted": true }));
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
