//! A project that is merged leaves nothing behind that somebody waits for.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

fn merge(w: &mut World) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }))
}

/// A baton of the merged project, exported by its agent before the merge.
fn exported_from_fix(w: &mut World) -> Value {
    w.register("fix");
    w.start(&at("Ann", "fix"));
    w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
    let file = w.ok(&at("Ann", "fix"), "baton_export", json!({}));
    merge(w);
    file["baton"].clone()
}

/// The project that goes on is merged into another in its turn.
fn merge_on(w: &mut World) {
    w.register("last");
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "p", "into": "last" }));
}

fn reclaim_after_two_merges(w: &mut World, named: &str) {
    let baton = exported_from_fix(w);
    merge_on(w);
    let back = w.ok(&at("Ann", named), "baton_reclaim", json!({ "baton_id": baton["baton_id"] }));
    assert_eq!(back["project_id"], "last");
    let held = w.pickup(&at("Hal", "last"));
    assert!(text(&held["baton"], "body").contains("the cart rounds"), "{held:#}");
}

on_every_backend! {
    fn a_baton_goes_along_with_what_its_holder_saved(w) {
        w.register("fix");
        w.start(&at("Ann", "fix"));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        let held = w.pickup(&at("Hal", "fix"));
        w.ok(&at("Hal", "fix"), "session_checkpoint", json!({ "summary": "half of it", "state": { "step": 7 } }));
        w.ok(&at("Hal", "fix"), "ledger_note", json!({ "kind": "decision", "text": "round half up" }));
        w.ok(&at("Hal", "fix"), "session_end", json!({ "session": held["session_id"] }));
        merge(w);
        let next = w.pickup(&agent("Mina"));
        let body = text(&next["baton"], "body");
        for text in ["the cart rounds", "half of it", "\"step\":7", "round half up"] {
            assert!(body.contains(text), "{text} is gone: {body}");
        }
    }

    fn mail_and_leases_go_along_and_nothing_more_is_sent_there(w) {
        w.register("fix");
        w.ok(&at("Ann", "fix"), "agent_register", json!({}));
        w.ok(&at("Ann", "p"), "agent_register", json!({}));
        let mail = json!({ "to": "Ann", "to_project": "fix", "subject": "the schema", "body": "b" });
        w.ok(&at("Lola", "p"), "mail_send", mail.clone());
        w.ok(&at("Lea", "fix"), "lease_take", json!({ "patterns": ["x/"] }));
        let merged = merge(w);
        assert_eq!((&merged["messages_moved"], &merged["leases_moved"]), (&json!(1), &json!(1)));
        assert_eq!(column(&w.pending(&at("Ann", "p")), "subject"), ["the schema"]);
        w.no(&at("Bert", "p"), "lease_take", json!({ "patterns": ["x/a"] }), "lease_conflict");
        let refusal = w.no(&at("Lola", "p"), "mail_send", mail, "project_merged");
        assert_eq!(refusal["project_id"], "p");
        w.no(&at("Lola", "p"), "handoff_create", json!({ "to_project_id": "fix", "subject": "s" }), "project_merged");
    }

    fn a_project_that_was_merged_begins_nothing_more(w) {
        w.register("fix");
        w.register("other");
        w.ok(&at("Ann", "fix"), "task_create", json!({ "title": "left there", "id": "fix-left" }));
        w.ok(&at("Lea", "fix"), "memory_add", json!({ "kind": "fact", "text": "the cart rounds half up" }));
        merge(w);
        let there = agent("Ann").process("").at("/elsewhere/fix", None);
        let begun = [
            ("task_create", json!({ "title": "new" })),
            ("task_increment", json!({ "title": "new" })),
            ("lease_take", json!({ "patterns": ["x/"] })),
            ("memory_add", json!({ "kind": "fact", "text": "new" })),
            ("key_add", json!({ "name": "Ann", "public_key": "age1ann" })),
            ("agent_register", json!({})),
            ("project_set", json!({ "phase": "beta" })),
            ("project_relate", json!({ "to": "other" })),
            ("session_start", json!({})),
            ("mail_send", json!({ "to": "Ann", "to_project": "p", "subject": "s", "body": "b" })),
            ("signal_send", json!({ "to": "Ann", "subject": "s" })),
            ("handoff_create", json!({ "to_project_id": "other", "subject": "s" })),
            ("handoff_create", json!({ "to_project_id": "other", "subject": "s", "dry_run": true })),
        ];
        for (operation, input) in begun {
            w.no_trace(&at("Ann", "fix"), operation, input, "project_merged");
        }
        for input in [json!({ "join": "fix" }), json!({ "id": "fix" })] {
            let refusal = w.no_trace(&there, "project_init", input, "project_merged");
            assert!(text(&refusal, "hint").contains("baton init --join p"), "{refusal:#}");
        }
        let fixed = json!({ "id": "fix-left" });
        for (operation, more) in [
            ("task_claim", json!({})),
            ("task_claim", json!({ "force": true, "why": "w" })),
            ("task_update", json!({ "status": "in_progress" })),
            ("task_update", json!({ "assignee": "Zed" })),
            ("task_route", json!({})),
        ] {
            let mut input = fixed.clone();
            more.as_object().expect("fields").iter().for_each(|(key, value)| input[key] = value.clone());
            w.no_trace(&at("Ann", "fix"), operation, input, "project_merged");
        }
        w.no_trace(&at("Ann", "fix"), "task_claim", json!({}), "project_merged");
        w.no_trace(&at("Ann", "fix"), "task_route", json!({}), "project_merged");
        w.ok(&at("Ann", "fix"), "task_close", json!({ "id": "fix-left" }));
        w.no_trace(&at("Ann", "fix"), "task_reopen", json!({ "id": "fix-left" }), "project_merged");
        let listed = w.ok(&agent("Owner"), "project_show", json!({ "project": "fix" }));
        assert_eq!(listed["merged_into"], "p");
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }));
        w.ok(&at("Ann", "fix"), "task_create", json!({ "title": "new" }));
    }

    fn a_baton_that_left_as_a_file_before_the_merge_is_reclaimed_in_the_other_project(w) {
        let baton = exported_from_fix(w);
        let id = &baton["baton_id"];
        w.no_trace(&at("Ann", "p"), "baton_import", json!({ "baton": baton }), "baton_exported");
        let back = w.ok(&at("Ann", "p"), "baton_reclaim", json!({ "baton_id": id }));
        assert_eq!(back["project_id"], "p");
        w.no(&at("Ann", "p"), "baton_reclaim", json!({ "baton_id": id }), "baton_not_exported");
        let held = w.pickup(&at("Hal", "p"));
        assert!(text(&held["baton"], "body").contains("the cart rounds"), "{held:#}");
    }

    fn after_two_merges_it_is_reclaimed_in_the_last_project(w) {
        reclaim_after_two_merges(w, "last");
    }

    fn after_two_merges_the_first_project_reclaims_it_in_the_last(w) {
        reclaim_after_two_merges(w, "fix");
    }

    fn merges_are_taken_back_the_last_one_first(w) {
        w.register("fix");
        w.ok(&at("Ann", "fix"), "session_start", json!({}));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        merge(w);
        merge_on(w);
        let undo = |from: &str, into: &str| json!({ "from": from, "into": into, "undo": true });
        let refusal = w.no_trace(&agent("Owner"), "project_merge", undo("fix", "p"), "project_merged");
        assert!(text(&refusal, "hint").contains("baton project merge p --into last --undo"), "{refusal:#}");
        w.ok(&agent("Owner"), "project_merge", undo("p", "last"));
        w.ok(&agent("Owner"), "project_merge", undo("fix", "p"));
        assert!(text(&w.pickup(&at("Hal", "fix"))["baton"], "body").contains("the cart rounds"));
    }

    fn no_merge_leads_into_a_project_that_was_merged(w) {
        w.register("fix");
        w.register("third");
        merge(w);
        for from in ["p", "third"] {
            let circle = json!({ "from": from, "into": "fix" });
            let refusal = w.no_trace(&agent("Owner"), "project_merge", circle.clone(), "project_merged");
            assert_eq!(refusal["project_id"], "p", "{refusal:#}");
        }
        let there = agent("Owner").at("/repos/own", None);
        w.ok(&there, "project_init", json!({ "id": "own" }));
        for dry_run in [true, false] {
            let split = json!({ "path": "/repos/own", "to": "fix", "dry_run": dry_run });
            w.no_trace(&there, "project_split", split, "project_merged");
        }
    }

    fn after_two_merges_refusals_name_the_last_project(w) {
        w.register("fix");
        merge(w);
        merge_on(w);
        let there = agent("Ann").process("").at("/elsewhere/fix", None);
        for (who, operation, input) in [
            (&at("Ann", "fix"), "task_create", json!({ "title": "new" })),
            (&at("Ann", "fix"), "project_relate", json!({ "to": "last" })),
            (&there, "project_init", json!({ "join": "fix" })),
            (&at("Lola", "last"), "mail_send", json!({ "to": "Ann", "to_project": "fix", "subject": "s", "body": "b" })),
        ] {
            let refusal = w.no_trace(who, operation, input, "project_merged");
            assert_eq!(refusal["project_id"], "last", "{operation}: {refusal:#}");
        }
    }

    fn an_undone_merge_takes_back_what_was_reclaimed_meanwhile(w) {
        let baton = exported_from_fix(w);
        w.ok(&at("Ann", "fix"), "baton_reclaim", json!({ "baton_id": baton["baton_id"] }));
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }));
        assert!(text(&w.pickup(&at("Hal", "fix"))["baton"], "body").contains("the cart rounds"));
        assert!(w.pickup(&at("Hal", "p"))["baton"].is_null());
    }

    fn the_result_of_a_hand_off_reaches_the_project_that_goes_on(w) {
        w.register("fix");
        w.register("shop");
        let sent = w.ok(&at("Ann", "fix"), "handoff_create",
            json!({ "to_project_id": "shop", "subject": "the schema", "local": true }));
        let id = sent["handoff_id"].clone();
        w.ok(&at("Sue", "shop"), "handoff_advance", json!({ "id": id, "action": "accept" }));
        let merged = merge(w);
        assert_eq!(merged["handoffs_moved"], 1);
        w.ok(&at("Sue", "shop"), "handoff_advance", json!({ "id": id, "action": "complete", "result": "abc123" }));
        let news = w.pending(&at("Ann", "p"));
        assert!(column(&news, "subject").concat().contains("was completed by Sue"), "{news:#?}");
    }

    fn no_merge_makes_two_holders_of_the_same_paths(w) {
        w.register("fix");
        w.ok(&at("Lea", "fix"), "lease_take", json!({ "patterns": ["x/"] }));
        w.ok(&at("Bert", "p"), "lease_take", json!({ "patterns": ["x/a"] }));
        for dry_run in [true, false] {
            let input = json!({ "from": "fix", "into": "p", "dry_run": dry_run });
            let refusal = w.no_trace(&at("Ann", "p"), "project_merge", input, "lease_conflict");
            assert!(refusal["message"].to_string().contains("Bert"), "{refusal:#}");
        }
        w.ok(&at("Bert", "p"), "lease_release", json!({ "leases": ["x/a"] }));
        merge(w);
    }

    fn what_was_saved_without_a_wrap_waits_as_a_baton_in_the_other_project(w) {
        w.register("fix");
        let silent = at("Sil", "fix");
        w.ok(&silent, "session_start", json!({}));
        w.ok(&silent, "session_checkpoint", json!({ "summary": "half silent", "state": { "step": 7 } }));
        let ended = at("End", "fix");
        let own = w.ok(&ended, "session_start", json!({}));
        w.ok(&ended, "ledger_note", json!({ "kind": "decision", "text": "round half up" }));
        w.ok(&ended, "session_end", json!({ "session": own["session_id"] }));
        w.advance(700_000);
        let merged = merge(w);
        assert_eq!(list(&merged["batons"]).len(), 2, "{merged:#}");
        let mut got = String::new();
        for (name, baton) in ["Mina", "Rex"].iter().zip(list(&merged["batons"])) {
            got += &w.ok(&agent(name), "hd_exec", json!({ "handoff_id": baton["to"] }))["baton"].to_string();
        }
        for text in ["half silent", "\\\"step\\\":7", "round half up"] {
            assert!(got.contains(text), "{text} is gone: {got}");
        }
    }

    fn what_was_saved_before_another_agent_wrapped_goes_along_while_its_session_is_open(w) {
        w.register("fix");
        w.ok(&at("Sil", "fix"), "session_start", json!({}));
        w.ok(&at("Sil", "fix"), "session_checkpoint", json!({ "summary": "half silent" }));
        w.start(&at("Ann", "fix"));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        w.advance(700_000);
        let preview = w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "dry_run": true }));
        assert_eq!(list(&preview["batons"]).len(), 2, "{preview:#}");
        let merged = merge(w);
        let batons = list(&merged["batons"]);
        let mut got = String::new();
        for (name, baton) in ["Mina", "Rex"].iter().zip(&batons) {
            // As people name it: by its beginning.
            let short = &text(baton, "to")[..13];
            got += &w.ok(&agent(name), "hd_exec", json!({ "handoff_id": short }))["baton"].to_string();
        }
        assert!(got.contains("half silent") && got.contains("the cart rounds"), "{got}");
    }

    fn a_project_is_merged_once_and_each_merge_is_taken_back_once(w) {
        w.register("fix");
        w.start(&at("Ann", "fix"));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        let undo = json!({ "from": "fix", "into": "p", "undo": true });
        for _ in 0..2 {
            let merged = merge(w);
            assert_eq!(list(&merged["batons"]).len(), 1, "{merged:#}");
            for dry_run in [true, false] {
                let again = json!({ "from": "fix", "into": "p", "dry_run": dry_run });
                w.no_trace(&agent("Owner"), "project_merge", again, "project_merged");
            }
            let undone = w.ok(&agent("Owner"), "project_merge", undo.clone());
            assert_eq!(list(&undone["batons"]).len(), 1, "{undone:#}");
            w.no_trace(&agent("Owner"), "project_merge", undo.clone(), "merge_unknown");
        }
        assert!(text(&w.pickup(&at("Hal", "fix"))["baton"], "body").contains("the cart rounds"));
    }

    fn a_preview_says_what_the_baton_says_that_is_left_anew(w) {
        w.register("fix");
        let before = |w: &mut World, hal_saves: bool| {
            w.start(&at("Ann", "fix"));
            w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
            let held = w.pickup(&at("Hal", "fix"));
            if hal_saves {
                w.ok(&at("Hal", "fix"), "session_checkpoint", json!({ "summary": "half of it" }));
            }
            w.ok(&at("Hal", "fix"), "session_end", json!({ "session": held["session_id"] }));
        };
        let summaries = |answer: &Value| column(&list(&answer["batons"]), "summary");
        let both = json!({ "from": "fix", "into": "p" });
        let with = |word: &str| {
            let mut input = both.clone();
            input[word] = json!(true);
            input
        };
        let taken = "Hal did not wrap. Saved last: half of it. It had taken over: the cart rounds";
        for hal_saves in [false, true] {
            before(w, hal_saves);
            let preview = w.ok(&agent("Owner"), "project_merge", with("dry_run"));
            let merged = summaries(&merge(w));
            assert_eq!(summaries(&preview), merged, "in the same order");
            let is_left_as_it_was = merged.iter().all(|summary| summary == "the cart rounds");
            assert_eq!(is_left_as_it_was, !hal_saves, "{merged:?}");
            assert_eq!(merged.iter().any(|summary| summary == taken), hal_saves, "{merged:?}");
            let mut undo = with("undo");
            undo["dry_run"] = json!(true);
            let undone = w.ok(&agent("Owner"), "project_merge", undo);
            // What waits again is what it was before.
            assert!(summaries(&undone).iter().all(|summary| summary == "the cart rounds"), "{undone:#}");
            assert_eq!(summaries(&w.ok(&agent("Owner"), "project_merge", with("undo"))), summaries(&undone));
        }
    }

    fn an_agent_whose_process_has_ended_keeps_no_folder(w) {
        w.register("shop");
        let silent = at("Sil", "shop").at("/repos/shop", Some("/repos/shop")).process("gone");
        w.ok(&silent, "session_start", json!({}));
        let split = json!({ "path": "/repos/shop", "to": "cart" });
        w.no(&agent("Owner"), "project_split", split.clone(), "place_busy");
        w.machines.ended.insert("gone".into());
        w.ok(&agent("Owner"), "project_split", split);
    }

    fn an_undone_merge_leaves_what_was_saved_where_it_was(w) {
        w.register("fix");
        w.ok(&at("Sil", "fix"), "session_start", json!({}));
        w.ok(&at("Sil", "fix"), "session_checkpoint", json!({ "summary": "half silent" }));
        w.advance(700_000);
        merge(w);
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }));
        assert_eq!(w.pickup(&agent("Rex"))["baton"], Value::Null);
        // Its session is over, so what it saved waits as a baton there, whoever wraps since.
        w.leave_baton(&at("Ann", "fix"), "another work");
        let card = w.ok(&at("Mina", "fix"), "session_status", json!({}));
        let saved = list(&card["handoffs"]).into_iter().find(|row| row.to_string().contains("half silent")).expect("it waits");
        let held = w.ok(&at("Mina", "fix"), "hd_exec", json!({ "handoff_id": saved["id"] }));
        assert!(held["baton"].to_string().contains("half silent"), "{held:#}");
    }

    fn what_a_silent_agent_says_after_the_merge_is_kept(w) {
        w.register("fix");
        let own = w.ok(&at("Sil", "fix"), "session_start", json!({}));
        w.ok(&at("Sil", "fix"), "session_checkpoint", json!({ "summary": "half of it" }));
        w.advance(700_000);
        merge(w);
        let by_name = agent("Sil").process("");
        w.no(&by_name, "session_checkpoint", json!({ "summary": "late words" }), "session_released");
        let by_id = json!({ "session": own["session_id"], "summary": "late wrap" });
        w.no(&by_name, "session_wrap", by_id, "session_released");
        let ledger = Value::from(w.ledger()).to_string();
        assert!(ledger.contains("late words") && ledger.contains("late wrap"), "{ledger}");
    }

    fn agents_keep_their_roles_and_senders_get_their_acknowledgements(w) {
        w.register("fix");
        w.register("other");
        w.ok(&at("Tess", "fix"), "agent_register", json!({ "roles": ["testing"] }));
        w.ok(&at("Ann", "fix"), "agent_register", json!({}));
        w.ok(&at("Ann", "fix"), "mail_send", json!({ "to": "role:testing", "subject": "run it", "body": "b" }));
        let mail = json!({ "to": "Otto", "to_project": "other", "subject": "why", "body": "b" });
        w.ok(&at("Otto", "other"), "agent_register", json!({}));
        w.ok(&at("Ann", "fix"), "mail_send", mail);
        merge(w);
        let inbox = w.ok(&at("Tess", "p"), "mail_inbox", json!({}));
        assert_eq!(column(&list(&inbox["items"]), "subject"), ["run it"], "{inbox:#}");
        let id = w.ok(&at("Otto", "other"), "mail_inbox", json!({}))["items"][0]["message_id"].clone();
        w.ok(&at("Otto", "other"), "mail_ack", json!({ "message_id": id, "body": "because" }));
        let pending = Value::from(w.pending(&at("Ann", "p"))).to_string();
        assert!(pending.contains("acknowledged: why"), "{pending}");
    }

    fn nothing_begins_in_a_project_that_was_merged(w) {
        w.register("fix");
        w.ok(&at("Ann", "fix"), "agent_register", json!({}));
        merge(w);
        let there = at("Xena", "fix");
        for (operation, input) in [
            ("mail_send", json!({ "to": "Ann", "subject": "s", "body": "b" })),
            ("signal_send", json!({ "to": "Ann", "type": "question", "subject": "s" })),
            ("session_start", json!({})),
            ("hd_exec", json!({})),
            ("ledger_note", json!({ "text": "t" })),
        ] {
            w.no_trace(&there, operation, input, "project_merged");
        }
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }));
        w.ok(&there, "session_start", json!({}));
    }

    fn a_project_to_which_a_hand_off_is_open_is_not_merged(w) {
        w.register("fix");
        let made = w.ok(&at("Lola", "p"), "handoff_create", json!({ "to_project_id": "fix", "subject": "s" }));
        let refusal =
            w.no(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }), "handoffs_open");
        assert_eq!(list(&refusal["handoffs"]).len(), 1);
        w.ok(&at("Lola", "p"), "handoff_advance", json!({ "id": made["handoff_id"], "action": "cancel" }));
        merge(w);
    }

    fn a_merge_is_not_taken_back_under_somebody_who_works_there(w) {
        w.register("fix");
        w.ok(&at("Ann", "fix"), "session_start", json!({}));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        merge(w);
        let there = agent("Hal").process("").at("/repos/fix", Some("/repos/fix"));
        let held = w.pickup(&there);
        let undo = json!({ "from": "fix", "into": "p", "undo": true });
        w.no(&agent("Owner"), "project_merge", undo.clone(), "project_busy");
        w.ok(&there.in_session(&held), "session_wrap", json!({ "summary": "it rounds no more" }));
        w.ok(&agent("Owner"), "project_merge", undo);
    }

    fn the_card_of_a_merged_project_says_where_its_work_goes_on(w) {
        w.register("fix");
        let advice = |w: &mut World| {
            let reminders = w.ok(&at("Ann", "fix"), "session_status", json!({}))["reminders"].clone();
            list(&reminders).into_iter().find(|one| one["kind"] == "project_merged").map(|one| text(&one, "message"))
        };
        assert_eq!(advice(w), None);
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }));
        assert!(advice(w).is_some_and(|message| message.contains("merged into p") && message.contains("--project p")));
    }

    fn late_words_after_a_split_are_kept_where_the_folder_went(w) {
        w.register("shop");
        let silent = at("Sil", "shop").at("/repos/shop", Some("/repos/shop")).process("gone");
        let own = w.ok(&silent, "session_start", json!({}));
        w.ok(&silent, "session_checkpoint", json!({ "summary": "half of it" }));
        let elsewhere = w.ok(&at("Else", "shop").at("/other", Some("/other")).process("e"), "session_start", json!({}));
        w.advance(700_000);
        w.ok(&agent("Owner"), "project_split", json!({ "path": "/repos/shop", "to": "cart" }));
        let ended = list(&w.ok(&at("Owner", "shop"), "session_status", json!({}))["sessions"]);
        assert_eq!(column(&ended, "session_id"), [text(&elsewhere, "session_id")], "the other one goes on");
        // The agent stands in its folder, which is the other project's now.
        let late = at("Sil", "cart").process("gone");
        w.no(&late, "session_checkpoint", json!({ "summary": "late words" }), "session_released");
        w.no(&late.in_session(&own), "session_wrap", json!({ "summary": "the last words" }), "session_released");
        let rows = w.everything().into_iter().filter(|row| row.starts_with("delta") && row.contains("cart")).collect::<String>();
        assert!(rows.contains("late words") && rows.contains("the last words"), "{rows}");
        w.assert_sound();
    }
}
