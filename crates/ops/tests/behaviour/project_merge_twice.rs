//! However projects are merged, parted and merged again, one work is offered once.

use serde_json::{Value, json};

use crate::changes;
use crate::conversations::Talk;
use crate::world::{Agent, World, agent, column, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

fn merge(w: &mut World) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }))
}

fn undo(w: &mut World) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }))
}

/// Sil saves something in the project that is merged, and falls silent.
fn saved(w: &mut World) -> Value {
    w.register("fix");
    let own = w.ok(&at("Sil", "fix"), "session_start", json!({}));
    w.ok(&at("Sil", "fix"), "session_checkpoint", json!({ "summary": "half silent" }));
    w.advance(700_000);
    own
}

/// Ids of the batons that wait in a project.
fn waiting(w: &mut World, project: &str) -> Vec<String> {
    let card = w.ok(&at("Reader", project), "session_status", json!({}));
    let rows = list(&card["handoffs"]);
    column(&rows.into_iter().filter(|row| row["state"] != "held").collect::<Vec<_>>(), "id")
}

fn import(w: &mut World, project: &str, talk: &Talk) -> Value {
    w.ok(&at("Owner", project), "transcript_import", talk.input())
}

/// What the end hook of the agent's tool does.
fn end_hook(w: &mut World, project: &str, talk: &Talk) -> Value {
    let mut input = talk.input();
    (input["event"], input["wrap"], input["over"]) = (json!("session-end"), json!(true), json!(true));
    w.ok(&agent("Donna").project(project).process("tool"), "transcript_capture", input)
}

/// Hal holds the baton of a conversation and saves something.
fn saved_by_holder(w: &mut World, talk: &Talk) -> Agent {
    w.register("fix");
    import(w, "fix", talk);
    let hal = at("Hal", "fix");
    w.pickup(&hal);
    w.ok(&hal, "session_checkpoint", json!({ "summary": "half of it", "state": { "step": 7 } }));
    w.ok(&hal, "ledger_note", json!({ "kind": "decision", "text": "round half up" }));
    hal
}

/// The conversation grows twice; whoever picks it up in this project gets what Hal had saved, too.
#[track_caller]
fn assert_grown_whole(w: &mut World, project: &str, talk: &mut Talk) {
    for _ in 0..2 {
        talk.grow();
        let longer = import(w, project, talk);
        assert!(longer["superseded_baton_id"].is_string(), "{longer:#}");
    }
    let next = w.pickup(&at("Mina", project)).to_string();
    for words in ["half of it", "round half up", "step"] {
        assert!(next.contains(words), "{words} is gone: {next}");
    }
}

on_every_backend! {
    fn what_a_session_saved_goes_along_once(w) {
        saved(w);
        let merged = merge(w);
        assert_eq!(list(&merged["batons"]).len(), 1, "{merged:#}");
        let held = w.pickup(&agent("Mina"));
        assert!(held["baton"].to_string().contains("half silent"), "{held:#}");
        let preview = json!({ "from": "fix", "into": "p", "undo": true, "dry_run": true });
        w.no(&agent("Owner"), "project_merge", preview.clone(), "project_busy");
        w.wrap(&agent("Mina"), "done with it");
        let would = w.ok(&agent("Owner"), "project_merge", preview);
        assert_eq!((list(&would["batons"]).len(), list(&would["batons_left"]).len()), (0, 1), "{would:#}");
        let undone = undo(w);
        assert_eq!(list(&undone["batons_left"]).len(), 1, "{undone:#}");
        assert_eq!(w.pickup(&at("Zoe", "fix"))["recovered"], Value::Null, "it goes on in the other project");
        w.ok(&at("Zoe", "fix"), "session_end", json!({}));
        let again = merge(w);
        assert_eq!(list(&again["batons"]).len(), 0, "{again:#}");
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn what_nobody_continued_goes_along_again(w) {
        saved(w);
        merge(w);
        let undone = undo(w);
        assert_eq!(undone.get("batons_left"), None, "{undone:#}");
        assert_eq!(list(&merge(w)["batons"]).len(), 1);
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn a_session_that_was_reassigned_goes_along_as_its_baton_alone(w) {
        let own = saved(w);
        w.ok(&at("Owner", "fix"), "session_reassign", json!({ "session": own["session_id"], "to": "Mina", "wait": true }));
        assert_eq!(list(&merge(w)["batons"]).len(), 1);
        assert_eq!(waiting(w, "p").len(), 1);
        assert!(w.pickup(&agent("Mina"))["baton"].to_string().contains("half silent"));
    }

    fn changes_come_back_as_they_were_left_in_the_other_project(w) {
        w.register("fix");
        let (ann, owner) = (at("Ann", "fix"), at("Ann", "p"));
        let (dropped, replaced) = (changes::wrap(w, &ann, b"one"), changes::wrap(w, &ann, b"two"));
        let merged = merge(w);
        let now = |from: &str| text(list(&merged["batons"]).iter().find(|one| one["from"] == from).expect("carried"), "to");
        w.ok(&owner, "changes_drop", json!({ "baton_id": now(&dropped) }));
        changes::upload(w, &owner, b"three");
        w.ok(&owner, "changes_attach", json!({ "baton_id": now(&replaced), "changes": changes::manifest(b"three"), "replace": true }));
        undo(w);
        w.no(&ann, "changes_show", json!({ "baton_id": dropped }), "changes_none");
        assert_eq!(changes::content(w, &ann, &replaced), b"three");
    }

    fn a_conversation_keeps_its_baton_through_a_merge(w) {
        w.register("fix");
        let mut talk = Talk::new();
        import(w, "fix", &talk);
        merge(w);
        let waits = waiting(w, "p");
        assert_eq!(waits.len(), 1);
        let again = import(w, "p", &talk);
        assert_eq!((&again["imported_before"], &again["baton_id"]), (&json!(true), &json!(waits[0])));
        end_hook(w, "p", &talk);
        assert_eq!(waiting(w, "p"), waits);
        // What it says more takes the place of what waits.
        talk.grow();
        let more = import(w, "p", &talk);
        assert_eq!(more["superseded_baton_id"], json!(waits[0]), "{more:#}");
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn what_an_agent_saved_before_the_merge_is_the_baton_of_its_conversation(w) {
        w.register("fix");
        let mut talk = Talk::new();
        let mut input = talk.input();
        input["event"] = json!("before-compaction");
        w.ok(&agent("Donna").project("fix").process("tool"), "transcript_capture", input);
        w.machines.ended.insert("tool".into());
        w.advance(700_000);
        assert_eq!(list(&merge(w)["batons"]).len(), 1);
        talk.grow();
        end_hook(w, "p", &talk);
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn a_conversation_keeps_its_baton_when_the_merge_is_taken_back(w) {
        w.register("fix");
        let talk = Talk::new();
        merge(w);
        let left = import(w, "p", &talk);
        undo(w);
        let again = import(w, "fix", &talk);
        assert_eq!((&again["project_id"], &again["baton_id"]), (&json!("p"), &left["baton_id"]));
        end_hook(w, "fix", &talk);
        assert_eq!((waiting(w, "p").len(), waiting(w, "fix").len()), (1, 0));
        let imported = w.ok(&at("Owner", "fix"), "transcript_import", json!({ "id": text(&talk.input(), "id"), "agent": "claude", "again": true }));
        assert_eq!(imported["project_id"], "fix");
    }

    fn an_isolated_project_is_not_opened_by_a_merge(w) {
        w.ok(&at("Owner", "lone").at("/repos/lone", Some("/repos/lone")), "project_init", json!({ "id": "lone", "isolated": true }));
        w.leave_baton(&at("Ann", "lone"), "nobody else's business");
        let owner = agent("Owner");
        for dry_run in [true, false] {
            let merge = json!({ "from": "lone", "into": "p", "dry_run": dry_run });
            let refusal = w.no_trace(&owner, "project_merge", merge, "merge_opens_isolated");
            assert!(text(&refusal, "hint").contains("is_isolated: false"), "{refusal:#}");
        }
        w.ok(&at("Owner", "p").at("/repos/p", Some("/repos/p")), "project_init", json!({ "id": "p", "isolated": true }));
        w.ok(&owner, "project_merge", json!({ "from": "lone", "into": "p" }));
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn a_baton_that_left_before_a_merge_is_named_after_it_and_its_file_is_given_again(w) {
        w.register("fix");
        let left = w.leave_baton(&at("Ann", "fix"), "the cart rounds");
        let ann = at("Ann", "fix");
        let file = w.ok(&ann, "baton_export", json!({}));
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }));
        let id = text(&file, "baton_id");
        let status = w.ok(&at("Ben", "p"), "session_status", json!({}));
        assert!(status["reminders"].to_string().contains(&id), "{left:#} {status:#}");
        for project in ["p", "fix"] {
            let again = w.ok(&at("Ann", project), "baton_export", json!({ "baton_id": id, "again": true }));
            assert_eq!((&again["baton"]["packet"], &again["exported_before"]), (&file["baton"]["packet"], &json!(true)));
        }
        w.ok(&at("Ann", "p"), "baton_reclaim", json!({ "baton_id": id }));
        let status = w.ok(&at("Ben", "p"), "session_status", json!({}));
        assert!(!status["reminders"].to_string().contains("exported baton"), "{status:#}");
    }

    fn what_was_asked_before_a_merge_is_not_done_again_after_it(w) {
        w.register("fix");
        let ann = at("Ann", "fix");
        let requests = [
            ("memory_add", json!({ "kind": "fact", "text": "the cart rounds half up" })),
            ("task_create", json!({ "title": "round" })),
            ("mail_send", json!({ "to": "Ben", "wait": true, "subject": "s", "body": "b" })),
        ];
        let entry = |verb: &str| baton_ops::all::find(verb).expect("an operation");
        let first: Vec<_> = requests.iter().map(|(verb, input)| w.once(&ann, entry(verb), input.clone(), verb)).collect();
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }));
        // A repeated request may take a number of the ledger, which then has a gap.
        let rows = |w: &mut World| {
            let mut rows = w.everything();
            rows.retain(|row| !row.starts_with("project: "));
            rows
        };
        let before = rows(w);
        for ((verb, input), first) in requests.iter().zip(first) {
            let first = first.unwrap_or_else(|refusal| panic!("{verb}: {refusal:#}"));
            let again = w.once(&at("Ann", "p"), entry(verb), input.clone(), verb).expect("the answer of before");
            for id in ["memory_id", "task_id", "message_id"] {
                assert_eq!(again.get(id), first.get(id), "{verb}: {again:#}");
            }
        }
        assert_eq!(rows(w), before, "nothing was done again");
        // A session of the merged project is over: the same request begins one where the work goes on.
        let begin = json!({ "request_id": "begin" });
        w.register("third");
        let first = w.ok(&at("Ann", "third"), "session_start", begin.clone());
        w.end(&at("Ann", "third"));
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "third", "into": "p" }));
        let again = w.ok(&at("Ann", "p"), "session_start", begin);
        assert_ne!(again["session_id"], first["session_id"], "{again:#}");
    }

    fn a_conversation_keeps_its_baton_when_its_folder_goes_to_another_project(w) {
        w.register("cart");
        let talk = Talk::new();
        let left = import(w, "p", &talk);
        let again = import(w, "cart", &talk);
        assert_eq!((&again["project_id"], &again["baton_id"]), (&json!("p"), &left["baton_id"]));
        end_hook(w, "cart", &talk);
        assert_eq!((waiting(w, "p").len(), waiting(w, "cart").len()), (1, 0));
    }

    fn an_isolated_project_knows_nothing_of_conversations_elsewhere(w) {
        w.ok(&at("Owner", "lone").at("/repos/lone", Some("/repos/lone")), "project_init", json!({ "id": "lone", "isolated": true }));
        let talk = Talk::new();
        import(w, "p", &talk);
        assert_eq!(import(w, "lone", &talk)["project_id"], "lone");
    }

    fn what_a_silent_agent_saved_goes_with_a_folder_that_is_split_off(w) {
        let there = at("Sil", "p").at("/repos/shop", Some("/repos/shop"));
        w.ok(&there, "project_init", json!({ "id": "shop" }));
        let sil = there.project("shop");
        let session = text(&w.ok(&sil, "session_start", json!({})), "session_id");
        w.ok(&sil, "session_checkpoint", json!({ "summary": "half silent" }));
        w.leave_baton(&at("Ann", "shop"), "another work");
        w.advance(700_000);
        let split = w.ok(&agent("Owner"), "project_split", json!({ "path": "/repos/shop", "to": "cart" }));
        assert_eq!(list(&split["batons"]).len(), 1, "{split:#}");
        assert!(w.pickup(&at("Mina", "cart"))["baton"].to_string().contains("half silent"));
        assert_eq!(waiting(w, "shop").len(), 1, "the other work stays");
        // Both projects know the session by its id.
        let refusal = w.no_trace(&agent("Owner"), "session_show", json!({ "session": session }), "id_ambiguous");
        assert!(text(&refusal, "message").ends_with(": cart, shop"), "{refusal:#}");
        w.ok(&agent("Owner"), "session_show", json!({ "session": session, "project": "cart" }));
    }

    fn a_folder_of_an_isolated_project_brings_no_words_into_an_open_one(w) {
        let there = at("Sil", "p").at("/repos/shop", Some("/repos/shop"));
        w.ok(&there, "project_init", json!({ "id": "shop", "isolated": true }));
        w.register("open");
        let sil = there.project("shop");
        w.ok(&sil, "session_start", json!({}));
        w.ok(&sil, "session_checkpoint", json!({ "summary": "half secret" }));
        w.advance(700_000);
        let split = |to: &str, dry_run: bool| json!({ "path": "/repos/shop", "to": to, "dry_run": dry_run });
        for dry_run in [true, false] {
            w.no_trace(&agent("Owner"), "project_split", split("open", dry_run), "merge_opens_isolated");
        }
        let preview = w.ok(&agent("Owner"), "project_split", split("cart", true));
        assert_eq!(column(&list(&preview["batons"]), "summary"), ["Sil did not wrap. Saved last: half secret"], "{preview:#}");
        w.ok(&agent("Owner"), "project_split", split("cart", false));
        assert_eq!(w.ok(&at("Owner", "cart"), "project_show", json!({}))["is_isolated"], true);
        // Nothing was saved there that would go along: the sessions of other tools and the Beads file would.
        w.pickup(&at("Mina", "cart"));
        w.ok(&at("Mina", "cart"), "session_wrap", json!({ "summary": "done", "done": true }));
        for dry_run in [true, false] {
            w.no_trace(&agent("Owner"), "project_split", split("open", dry_run), "merge_opens_isolated");
        }
        let moved = json!({ "move_folder": true, "join": "open" });
        w.no_trace(&at("Owner", "p").at("/repos/shop", Some("/repos/shop")), "project_init", moved, "merge_opens_isolated");
    }

    fn a_document_isolates_the_project_that_its_folder_joins_and_says_so(w) {
        let clone = at("Owner", "p").at("/repos/clone", Some("/repos/clone"));
        let document = "---\nims:\n  is_isolated: true\n---\n";
        let joined = w.ok(&clone, "project_init", json!({ "join": "p", "document": document }));
        assert_eq!(joined["project"]["is_isolated"], true, "{joined:#}");
        assert!(joined["remarks"].to_string().contains("project p is isolated from now on"), "{joined:#}");
        let again = w.ok(&clone, "project_init", json!({ "document": document }));
        assert!(again["remarks"].is_null(), "{again:#}");
    }

    fn what_is_opened_names_the_isolated_projects_that_were_merged_into_it(w) {
        let there = at("Owner", "p").at("/repos/vault", Some("/repos/vault"));
        let vault = w.ok(&there, "project_init", json!({ "id": "vault", "isolated": true }));
        let inner = at("Owner", "p").at("/repos/inner", Some("/repos/inner"));
        w.ok(&inner, "project_init", json!({ "id": "inner", "isolated": true }));
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "inner", "into": "vault" }));
        let open = text(&vault, "document").replace("is_isolated: true", "is_isolated: false");
        let opened = w.ok(&there.project("vault"), "project_init", json!({ "document": open, "sync": true }));
        assert_eq!(opened["project"]["is_isolated"], false, "{opened:#}");
        assert!(opened["remarks"].to_string().contains("merged into it from inner"), "{opened:#}");
    }

    fn what_a_split_carried_over_comes_back_with_the_folder(w) {
        let there = at("Sil", "p").at("/repos/shop", Some("/repos/shop"));
        w.ok(&there, "project_init", json!({ "id": "shop" }));
        for taken in [false, true] {
            let sil = there.clone().project("shop");
            w.ok(&sil, "session_start", json!({}));
            w.ok(&sil, "session_checkpoint", json!({ "summary": "half silent" }));
            w.advance(700_000);
            let split = |to: &str| json!({ "path": "/repos/shop", "to": to });
            w.ok(&agent("Owner"), "project_split", split("cart"));
            if taken {
                w.pickup(&at("Mina", "cart"));
            }
            w.advance(700_000);
            let back = w.ok(&agent("Owner"), "project_split", split("shop"));
            assert_eq!(back["batons"].as_array().map_or(0, Vec::len), usize::from(!taken), "{back:#}");
            assert_eq!(waiting(w, "cart").len(), usize::from(taken), "what somebody took stays");
            if !taken {
                assert!(w.pickup(&at("Mina", "shop"))["baton"].to_string().contains("half silent"));
                w.ok(&at("Mina", "shop"), "session_wrap", json!({ "summary": "done", "done": true }));
            }
        }
    }

    fn what_the_holder_of_a_baton_saved_is_not_handed_on_beside_it(w) {
        w.register("fix");
        w.leave_baton(&at("Ann", "fix"), "the cart rounds");
        w.pickup(&at("Hal", "fix"));
        w.ok(&at("Hal", "fix"), "session_checkpoint", json!({ "summary": "half of it" }));
        w.ok(&at("Hal", "fix"), "session_end", json!({}));
        merge(w);
        assert!(w.pickup(&agent("Mina"))["baton"].to_string().contains("half of it"));
        w.wrap(&agent("Mina"), "done with it");
        undo(w);
        assert_eq!(w.pickup(&at("Zoe", "fix"))["recovered"], Value::Null, "Mina goes on with it");
    }

    fn what_the_holder_saved_goes_with_the_file_alone(w) {
        w.leave_baton(&at("Ann", "p"), "the cart rounds");
        w.pickup(&at("Hal", "p"));
        w.ok(&at("Hal", "p"), "session_checkpoint", json!({ "summary": "half of it" }));
        w.ok(&at("Hal", "p"), "session_end", json!({}));
        let file = w.ok(&at("Ann", "p"), "baton_export", json!({}));
        assert!(file.to_string().contains("half of it"), "{file:#}");
        assert_eq!(w.pickup(&at("Zoe", "p"))["recovered"], Value::Null);
    }

    fn a_file_of_a_baton_that_was_reclaimed_after_the_merge_is_known(w) {
        w.register("fix");
        w.leave_baton(&at("Ann", "fix"), "the cart rounds");
        let file = w.ok(&at("Ann", "fix"), "baton_export", json!({}))["baton"].clone();
        merge(w);
        let back = w.ok(&at("Ann", "p"), "baton_reclaim", json!({ "baton_id": file["baton_id"] }));
        let again = w.ok(&at("Ann", "p"), "baton_import", json!({ "baton": file }));
        assert_eq!(again["imported_before"], json!(true), "{again:#}");
        assert_eq!(waiting(w, "p").len(), 1, "{back:#}");
    }

    fn what_a_conversation_says_after_its_baton_was_continued_and_merged_is_kept(w) {
        w.register("fix");
        let mut talk = Talk::new();
        import(w, "fix", &talk);
        w.pickup(&at("Hal", "fix"));
        w.ok(&at("Hal", "fix"), "session_wrap", json!({ "summary": "went on" }));
        merge(w);
        talk.grow();
        let late = import(w, "p", &talk);
        assert_eq!((&late["existing_baton"]["state"], &late["existing_baton"]["by_agent"]), (&json!("spent"), &json!(false)), "{late:#}");
        assert!(late["existing_baton"]["kept_delta_id"].is_string(), "{late:#}");
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn a_longer_transcript_takes_along_what_holders_of_the_shorter_one_saved(w) {
        let mut talk = Talk::new();
        let hal = saved_by_holder(w, &talk);
        w.ok(&hal, "session_end", json!({}));
        assert_grown_whole(w, "fix", &mut talk);
    }

    fn after_a_merge_too_a_longer_transcript_takes_along_what_holders_saved(w) {
        let mut talk = Talk::new();
        saved_by_holder(w, &talk);
        w.advance(700_000);
        merge(w);
        assert_grown_whole(w, "p", &mut talk);
    }

    fn each_agent_whose_work_a_pickup_brings_hears_that_it_was_taken_over(w) {
        for name in ["Ann", "Bert"] {
            w.ok(&agent(name).process(""), "session_start", json!({}));
            w.ok(&agent(name).process(""), "session_checkpoint", json!({ "summary": format!("half of {name}") }));
        }
        w.advance(700_000);
        let picked = w.pickup(&agent("Mina"));
        assert_eq!(list(&picked["recovered"]["sessions"]).len(), 2, "{picked:#}");
        for name in ["Ann", "Bert"] {
            w.no(&agent(name).process(""), "session_checkpoint", json!({ "summary": "more" }), "session_released");
        }
    }
}
