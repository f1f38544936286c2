//! What a row offers is what its viewer may do; a baton is taken back by who left it; items say why they are listed.

use baton_model::access::Scope;
use serde_json::{Value, json};

use crate::bearers::impostor;
use crate::world::{World, agent, column, list, text};

/// The actions of a row, each with whose place it is done in.
fn actions(row: &Value) -> Vec<String> {
    let word = |one: &Value| match one["in_place_of"].as_str() {
        Some(who) => format!("{} for {who}", text(one, "action")),
        None => text(one, "action"),
    };
    row["actions"].as_array().into_iter().flatten().map(word).collect()
}

/// The first item with this reason, as an identity sees it.
fn matter(world: &mut World, viewer: &str, reason: &str) -> Value {
    let input = json!({ "identity": viewer, "reason": reason });
    world.ok(&agent("Watcher"), "attention_list", input)["items"][0].clone()
}

on_every_backend! {
    fn what_one_sent_is_taken_back_and_what_one_got_is_answered(world) {
        world.register("q");
        let mara = agent("Mara");
        world.start(&mara);
        world.start(&agent("Ben"));
        world.ok(&mara, "handoff_create", json!({ "to_project_id": "q", "subject": "the guide" }));
        world.settle();
        world.ok(&mara, "mail_send", json!({ "to": "Ben", "type": "Question", "subject": "Which price?" }));
        let of = |world: &mut World, viewer: &str, reason: &str| actions(&matter(world, viewer, reason));
        assert_eq!(of(world, "Mara", "handoff_waiting"), ["cancel"]);
        assert_eq!(of(world, "Zoe", "handoff_waiting"), ["accept", "decline", "cancel for Mara"]);
        assert_eq!(of(world, "Mara", "message_waiting"), ["reply", "retract"]);
        assert_eq!(of(world, "Ben", "message_waiting"), ["reply", "acknowledge"]);
        let listed = |world: &mut World, input: Value| world.ok(&agent("Watcher"), "handoff_list", input)["items"][0].clone();
        assert_eq!(actions(&listed(world, json!({ "actions": true, "identity": "mara" }))), ["cancel"]);
        assert_eq!(listed(world, json!({}))["actions"], Value::Null, "agents are not told what nobody asked for");
        let id = listed(world, json!({}))["handoff_id"].clone();
        world.ok(&agent("Zoe").project("q"), "handoff_advance", json!({ "id": id, "action": "decline", "why": "not now" }));
        let shown = world.ok(&mara, "handoff_show", json!({ "id": id, "actions": true }));
        assert_eq!(actions(&shown), ["leave_anew"]);
    }

    fn a_baton_is_withdrawn_by_who_left_it_and_stays_readable(world) {
        let (lola, ann) = (agent("Lola"), agent("Ann"));
        let id = text(&world.leave_baton(&lola, "half of the tax"), "baton_id");
        world.no_trace(&ann, "baton_withdraw", json!({ "id": id }), "baton_not_yours");
        world.no_trace(&ann, "baton_withdraw", json!({ "id": id, "force": true }), "why_missing");
        world.no_trace(&lola, "baton_withdraw", json!({ "id": "ffffffff" }), "baton_unknown");
        let gone = world.ok(&lola, "baton_withdraw", json!({ "id": &id[..20], "why": "it was done by hand" }));
        assert_eq!((&gone["state"], &gone["withdrawn"]["by"]), (&json!("spent"), &json!("Lola")), "{gone:#}");
        assert_eq!(world.ok(&ann, "baton_list", json!({}))["total"], 0);
        let shown = world.ok(&ann, "baton_show", json!({ "id": id }));
        assert_eq!(shown["withdrawn"]["why"], "it was done by hand", "{shown:#}");
        assert!(text(&shown, "packet").contains("half of the tax") && actions(&shown).is_empty(), "{shown:#}");
        let event = world.newest("other");
        assert_eq!(event["body"]["withdrawn_baton_id"], json!(id), "{event:#}");
        assert_eq!(event["session_id"], shown["session_id"], "it belongs to the line of work");
        world.no_trace(&lola, "baton_withdraw", json!({ "id": id }), "baton_finished");
        assert_eq!(world.ok(&ann, "hd_exec", json!({}))["baton"], Value::Null, "it is offered to nobody");
        world.end(&ann);
        world.ok(&ann, "hd_exec", json!({ "handoff_id": id }));
        assert_eq!(world.baton_state(&id).as_deref(), Some("held"), "and goes on where somebody names it");
    }

    fn what_somebody_holds_is_not_withdrawn(world) {
        let (lola, ann) = (agent("Lola"), agent("Ann"));
        let id = text(&world.leave_baton(&lola, "half of the tax"), "baton_id");
        world.ok(&ann, "hd_exec", json!({ "handoff_id": id }));
        let refusal = world.no_trace(&lola, "baton_withdraw", json!({ "id": id }), "baton_claimed");
        assert!(text(&refusal, "message").contains("Ann"), "{refusal:#}");
        world.wrap(&ann, "all of it");
        world.no_trace(&lola, "baton_withdraw", json!({ "id": id }), "baton_spent");
        let next = text(&world.newest("wrap"), "delta_id");
        let input = json!({ "id": next, "force": true, "why": "the work was dropped" });
        let gone = world.ok(&lola, "baton_withdraw", input);
        assert_eq!(gone["withdrawn"]["why"], "the work was dropped", "an operator may");
    }

    fn a_task_that_was_opened_again_begins_its_attempts_anew(world) {
        let rob = agent("Rob");
        world.start(&rob);
        let id = text(&world.ok(&rob, "task_create", json!({ "title": "Flaky test", "agent_role": "testing" })), "id");
        let fail = |world: &mut World| {
            world.ok(&rob, "task_claim", json!({ "id": id }));
            world.advance(60_000);
            world.ok(&rob, "task_release", json!({ "id": id, "why": "it hangs" }));
        };
        for _ in 0..3 {
            fail(world);
        }
        let failed_at = world.now;
        world.advance(3_600_000);
        let tried = matter(world, "Rob", "task_retried");
        assert_eq!(tried["detail"], "tried 3 times", "{tried:#}");
        assert_eq!(tried["since"], json!(baton_model::time::rfc3339(failed_at)), "its age is that of the last failure");
        let on_board = |world: &mut World| {
            let board = world.ok(&rob, "task_board", json!({}));
            board["items"][0]["ready"][0]["attempts"].clone()
        };
        assert_eq!(on_board(world), 3);
        world.ok(&rob, "task_close", json!({ "id": id, "result": "pass", "reason": "it runs" }));
        world.ok(&rob, "task_reopen", json!({ "id": id }));
        assert_eq!(matter(world, "Rob", "task_retried"), Value::Null);
        assert_eq!(on_board(world), 0);
        fail(world);
        assert_eq!((matter(world, "Rob", "task_retried"), on_board(world)), (Value::Null, json!(1)));
        for _ in 0..2 {
            fail(world);
        }
        assert_eq!(matter(world, "Rob", "task_retried")["detail"], "tried 3 times");
        world.ok(&rob, "task_update", json!({ "id": id, "status": "blocked" }));
        assert_eq!(actions(&matter(world, "Rob", "task_retried")), ["reopen", "assign", "close"]);
        world.ok(&rob, "task_update", json!({ "id": id, "status": "open" }));
        assert_eq!(matter(world, "Rob", "task_retried"), Value::Null, "nor after it was blocked");
    }

    fn a_blocked_task_says_by_what(world) {
        let ann = agent("Ann");
        let id = text(&world.ok(&ann, "task_create", json!({ "title": "The roof", "priority": 0 })), "id");
        world.ok(&ann, "task_update", json!({ "id": id, "status": "blocked" }));
        assert_eq!(matter(world, "Ann", "task_blocked")["detail"], "blocked");
        world.ok(&ann, "task_comment", json!({ "id": id, "text": "waits for the DBA" }));
        let blocked = matter(world, "Ann", "task_blocked");
        assert_eq!((&blocked["detail"], actions(&blocked)), (&json!("blocked: waits for the DBA"), ["reopen", "assign", "close"].map(str::to_owned).to_vec()));
    }

    fn a_retried_task_that_is_at_work_is_taken_back_from_its_agent(world) {
        let (rob, ned) = (agent("Rob"), agent("Ned"));
        world.start(&rob);
        let id = text(&world.ok(&rob, "task_create", json!({ "title": "Flaky test" })), "id");
        for _ in 0..3 {
            world.ok(&rob, "task_claim", json!({ "id": id }));
            world.ok(&rob, "task_release", json!({ "id": id, "why": "it hangs" }));
        }
        world.start(&ned);
        world.ok(&ned, "task_claim", json!({ "id": id }));
        let tried = matter(world, "Vera", "task_retried");
        assert_eq!(actions(&tried), ["release for Ned", "write"], "{tried:#}");
        assert_eq!(tried["actions"][1]["receivers"], json!(["Ned"]));
        let shown = world.ok(&rob, "task_show", json!({ "id": id, "actions_for": "Vera" }));
        assert_eq!(actions(&shown), ["release for Ned", "write"]);
        assert_eq!(world.ok(&rob, "task_show", json!({ "id": id }))["actions"], Value::Null, "who does not ask is not told");
        assert_eq!(actions(&matter(world, "Ned", "task_retried")), ["release", "close"]);
    }

    fn a_task_is_taken_back_and_given_in_one_step_and_who_has_it_is_told(world) {
        let (jim, eli, vera) = (agent("Jim"), agent("Eli"), agent("Vera"));
        world.start(&jim);
        world.start(&eli);
        let id = text(&world.ok(&jim, "task_create", json!({ "title": "Flaky test" })), "id");
        for _ in 0..3 {
            world.ok(&jim, "task_claim", json!({ "id": id }));
            world.advance(1_000);
            world.ok(&jim, "task_release", json!({ "id": id, "why": "it hangs" }));
        }
        world.ok(&jim, "task_claim", json!({ "id": id }));
        let taken = json!({ "id": id, "force": true, "why": "enough", "assignee": "role:testing" });
        world.no_trace(&vera, "task_release", taken, "assignee_invalid");
        world.no_trace(&vera, "task_update", json!({ "id": id, "assignee": "role:testing" }), "assignee_invalid");
        world.no_trace(&vera, "task_create", json!({ "title": "t", "assignee": "role:testing" }), "assignee_invalid");
        world.advance(1_000);
        let given = world.ok(&vera, "task_release", json!({ "id": id, "force": true, "why": "enough", "assignee": "Eli" }));
        assert_eq!((&given["status"], &given["assignee"]), (&json!("open"), &json!("Eli")), "{given:#}");
        let subjects = |world: &mut World, who: &str| column(&world.pending(&agent(who)), "subject");
        assert_eq!(subjects(world, "Eli"), [format!("Vera gave you task {id}: Flaky test")]);
        assert_eq!(subjects(world, "Jim").len(), 1, "and who had it is told that it was taken");
        assert_eq!(matter(world, "Vera", "task_retried"), Value::Null, "it is Eli's now");
        world.advance(1_000);
        world.ok(&eli, "task_claim", json!({ "id": id }));
        assert_eq!(matter(world, "Vera", "task_retried"), Value::Null, "who was given it is at work on it");
        world.advance(1_000);
        world.ok(&eli, "task_release", json!({ "id": id, "why": "me too" }));
        assert_eq!(matter(world, "Vera", "task_retried")["detail"], "tried 5 times");
        // An agent that takes it itself is told nothing, nor is an unknown name.
        let before = subjects(world, "Eli").len();
        world.ok(&eli, "task_update", json!({ "id": id, "assignee": "eli" }));
        world.ok(&vera, "task_update", json!({ "id": id, "assignee": "Nobody1" }));
        assert_eq!((subjects(world, "Eli").len(), subjects(world, "Nobody1").len()), (before, 0));
        // What is closed says so.
        world.ok(&vera, "task_close", json!({ "id": id }));
        world.no(&vera, "task_release", json!({ "id": id, "force": true, "why": "x" }), "task_closed");
    }

    fn a_session_is_reassigned_to_whom_there_is_or_on_purpose_to_who_comes(world) {
        let own = world.start(&agent("Ann"));
        world.start(&agent("Donna"));
        let input = |to: &str| json!({ "session": own["session_id"], "to": to, "why": "stuck" });
        let refusal = world.no_trace(&agent("Boss"), "session_reassign", input("Dona"), "recipient_unknown");
        assert_eq!(refusal["near"], json!(["Donna"]), "{refusal:#}");
        let mut late = input("Zoe");
        late["wait"] = json!(true);
        assert_eq!(world.ok(&agent("Boss"), "session_reassign", late)["to"], "Zoe");
        // The name of a tool is accepted: a session of it may come.
        let other = world.start(&agent("Bob"));
        let given = world.ok(&agent("Boss"), "session_reassign", json!({ "session": other["session_id"], "to": "codex" }));
        assert_eq!(given["to"], "codex");
    }

    fn a_token_is_offered_what_its_scope_lets_it_do(world) {
        let own = world.start(&agent("Ann"));
        world.advance(3_600_000);
        let of = |world: &mut World, scope: Scope| {
            let listed = world.ok(&impostor("Eve", scope), "attention_list", json!({ "identity": "Eve", "reason": "session_silent" }));
            assert_eq!(listed["items"][0]["id"], own["session_id"]);
            actions(&listed["items"][0])
        };
        assert_eq!(of(world, Scope::Operator), ["reassign", "write"]);
        assert_eq!(of(world, Scope::Write), ["write"]);
        assert_eq!(of(world, Scope::Read), Vec::<String>::new());
    }

    fn who_wrote_to_another_project_goes_on_in_their_own(world) {
        world.register("q");
        world.start(&agent("Ben").project("q"));
        let vera = agent("Vera");
        let sent = world.ok(&vera, "mail_send", json!({ "to": "Ben", "to_project": "q", "type": "Question", "subject": "Which price?" }));
        let item = matter(world, "Vera", "message_waiting");
        assert_eq!((&item["project_id"], &item["actions"][0]["project_id"]), (&json!("q"), &json!("p")), "{item:#}");
        world.ok(&vera, "mail_send", json!({ "reply_to": sent["message_id"], "body": "it is urgent" }));
        world.ok(&vera, "signal_recall", json!({ "message_id": sent["message_id"] }));
        assert_eq!(matter(world, "Vera", "message_waiting"), Value::Null);
    }

    fn a_preview_says_that_nobody_has_the_name_that_it_is_for(world) {
        world.register("q");
        let vera = agent("Vera");
        world.start(&agent("Olga").project("q"));
        let kinds = |world: &mut World, to: &str| {
            let input = json!({ "to_project_id": "q", "subject": "the guide", "to_identity": to, "dry_run": true });
            column(&list(&world.ok(&vera, "handoff_create", input)["warnings"]), "kind")
        };
        assert!(kinds(world, "Olgo").contains(&"receiver_unknown".to_owned()));
        assert!(!kinds(world, "olga").contains(&"receiver_unknown".to_owned()));
    }

    fn two_agents_at_work_in_one_working_copy_are_a_matter(world) {
        let (ada, bo) = (agent("Ada").at("/shop", Some("/shop")), agent("Bo").at("/shop/src", Some("/shop")));
        world.start(&ada);
        world.advance(1_000);
        world.start(&agent("Cy").at("/shop-w2", Some("/shop-w2")));
        assert_eq!(world.ok(&ada, "attention_list", json!({}))["total"], 0);
        world.start(&bo);
        let shared = matter(world, "Ada", "working_copy_shared");
        assert_eq!((&shared["from"], &shared["to"], &shared["subject"]), (&json!("Bo"), &json!("Ada"), &json!("/shop")), "{shared:#}");
        let to = |world: &mut World, viewer: &str| matter(world, viewer, "working_copy_shared")["actions"][0]["receivers"].clone();
        assert_eq!((to(world, "Vera"), to(world, "Ada")), (json!(["Ada", "Bo"]), json!(["Bo"])), "both can be told");
        let mine = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": "Ada" }));
        assert_eq!(column(&list(&mine["mine"]), "reason"), ["working_copy_shared"]);
        // A third one makes no other matter of it: the folder is one.
        world.advance(1_000);
        let di = agent("Di").at("/shop", Some("/shop"));
        world.start(&di);
        let all = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": "Di", "reason": "working_copy_shared" }));
        assert_eq!((&all["total"], &all["items"][0]["agents"]), (&json!(1), &json!(["Ada", "Bo", "Di"])), "{all:#}");
        assert_eq!(list(&all["mine"]).len(), 1, "it is the matter of each of them");
        assert_eq!(to(world, "Vera"), json!(["Ada", "Bo", "Di"]));
        world.kill(&di);
        world.kill(&bo);
        assert_eq!(matter(world, "Ada", "working_copy_shared"), Value::Null, "who has ended is beside nobody");
    }

    fn a_task_that_waits_for_another_is_not_opened_again_and_what_it_waits_for_is_offered_first(world) {
        let (vera, ned) = (agent("Vera"), agent("Ned"));
        world.start(&ned);
        let other = text(&world.ok(&ned, "task_create", json!({ "title": "Numbers" })), "id");
        let own = text(&world.ok(&vera, "task_create", json!({ "title": "Approve prices", "priority": 0, "deps": [other] })), "id");
        world.ok(&vera, "task_update", json!({ "id": own, "status": "blocked" }));
        let waits = matter(world, "Vera", "task_blocked");
        assert_eq!(text(&waits, "detail"), format!("blocked; it waits for {other} “Numbers”, which is open, and nobody is at work on it"));
        assert_eq!(actions(&waits), ["assign", "assign", "close"], "{waits:#}");
        assert_eq!((&waits["actions"][0]["task_id"], &waits["actions"][1]["task_id"]), (&json!(other), &Value::Null));
        assert_eq!((&waits["blocker"]["id"], &waits["blocker"]["status"]), (&json!(other), &json!("open")));
        assert_eq!(text(&waits, "help"), format!("baton task show {other} --project p"));
        let mine = world.ok(&vera, "attention_list", json!({ "identity": "Vera" }))["mine"].clone();
        assert_eq!(column(&list(&mine), "id"), [own.as_str()], "who made it and gave it to nobody has it among her own");
        // What was given to an agent by name says so, also before that one has begun.
        world.ok(&vera, "task_update", json!({ "id": other, "assignee": "Ned", "holder": "" }));
        let waits = matter(world, "Vera", "task_blocked");
        assert!(text(&waits, "detail").ends_with("which was given to Ned, who has not begun"), "{waits:#}");
        assert_eq!(actions(&waits), ["write", "assign", "assign", "close"], "{waits:#}");
        assert_eq!((&waits["actions"][0]["receivers"], &waits["actions"][1]["assignee"]), (&json!(["Ned"]), &json!("Ned")));
        assert_eq!((&waits["blocker"]["assignee"], &waits["blocker"]["holder"]), (&json!("Ned"), &Value::Null));
        world.ok(&ned, "task_claim", json!({ "id": other }));
        let waits = matter(world, "Vera", "task_blocked");
        assert_eq!(actions(&waits), ["write", "assign", "close"], "{waits:#}");
        assert_eq!(waits["actions"][0]["receivers"], json!(["Ned"]));
        assert!(text(&waits, "detail").ends_with("at which Ned is at work"), "{waits:#}");
        // Whether an agent has begun to which the router gave it is not known.
        world.ok(&ned, "task_release", json!({ "id": other }));
        world.ok(&ned, "agent_register", json!({ "roles": ["testing"] }));
        world.ok(&vera, "task_update", json!({ "id": other, "agent_role": "testing" }));
        assert_eq!(world.ok(&vera, "task_route", json!({}))["items"][0]["agent"], "Ned");
        let waits = matter(world, "Vera", "task_blocked");
        assert!(text(&waits, "detail").ends_with("which was assigned to Ned"), "{waits:#}");
        world.ok(&ned, "task_claim", json!({ "id": other }));
        let waits = matter(world, "Vera", "task_blocked");
        assert!(text(&waits, "detail").ends_with("at which Ned is at work"), "{waits:#}");
        world.ok(&ned, "task_close", json!({ "id": other, "reason": "done" }));
        assert_eq!(actions(&matter(world, "Vera", "task_blocked")), ["reopen", "assign", "close"]);
    }

    fn a_task_that_another_gave_away_meanwhile_is_not_given_away_once_more(world) {
        let (vera, donna) = (agent("Vera"), agent("Donna"));
        let id = text(&world.ok(&vera, "task_create", json!({ "title": "Numbers" })), "id");
        let give = |to: &str, holder: &str| json!({ "id": id, "assignee": to, "holder": holder });
        let refusal = world.no_trace(&donna, "task_update", give("Lola", "Tess"), "holder_changed");
        assert_eq!(refusal["message"], format!("task {id} is not Tess's any more, and nobody has it"), "{refusal:#}");
        world.ok(&donna, "task_update", give("Lola", ""));
        let refusal = world.no_trace(&vera, "task_update", give("Tess", ""), "holder_changed");
        assert_eq!(refusal["message"], format!("task {id} was given to Lola meanwhile"), "{refusal:#}");
        assert_eq!(refusal["holder"], "Lola", "{refusal:#}");
        world.ok(&vera, "task_update", give("Tess", "lola"));
        let refusal = world.no_trace(&donna, "task_update", give("Lola", "Lola"), "holder_changed");
        assert_eq!(refusal["message"], format!("task {id} was given to Tess meanwhile, and is not Lola's any more"));
        world.start(&agent("Tess"));
        world.ok(&agent("Tess"), "task_claim", json!({ "id": id }));
        world.no_trace(&donna, "task_update", give("Lola", "Lola"), "holder_changed");
        world.ok(&agent("Tess"), "task_update", give("Tess", "Tess"));
    }

    fn force_that_means_another_holder_writes_nothing(world) {
        let (ann, bob, boss) = (agent("Ann"), agent("Bob"), agent("Boss"));
        world.start(&ann);
        world.start(&bob);
        let id = text(&world.ok(&boss, "task_create", json!({ "title": "T" })), "id");
        let back = |world: &mut World, holder: &str| {
            let input = json!({ "id": id, "force": true, "why": "Ann is silent", "holder": holder, "assignee": "Ann" });
            world.call(&boss, "task_release", input)
        };
        world.ok(&ann, "task_claim", json!({ "id": id }));
        world.ok(&ann, "task_release", json!({ "id": id }));
        world.ok(&bob, "task_claim", json!({ "id": id }));
        let refused = back(world, "Ann").expect_err("Bob has it");
        assert!(format!("{refused:?}").contains("holder_changed") && format!("{refused:?}").contains("Bob"), "{refused:?}");
        let shown = world.ok(&bob, "task_show", json!({ "id": id, "full": true }));
        assert_eq!((&shown["status"], &shown["assignee"], &shown["comments"]), (&json!("in_progress"), &json!("Bob"), &Value::Null), "{shown:#}");
        world.no(&boss, "task_claim", json!({ "id": id, "force": true, "why": "w", "holder": "Ann" }), "holder_changed");
        back(world, "bob").expect("who names Bob means Bob");
        world.no(&boss, "task_claim", json!({ "id": id, "force": true, "why": "w", "holder": "Bob" }), "holder_changed");
        // Hand-offs: who has accepted it, and whether anybody has.
        world.register("q");
        let made = world.ok(&agent("Sue").project("q"), "handoff_create", json!({ "to_project_id": "p", "subject": "R" }));
        let handoff = text(&made, "handoff_id");
        world.ok(&ann, "handoff_advance", json!({ "id": handoff, "action": "accept" }));
        let end = |action: &str, holder: &str| json!({ "id": handoff, "action": action, "force": true, "why": "w", "holder": holder });
        world.no(&boss, "handoff_advance", end("complete", "Bob"), "holder_changed");
        world.no(&boss, "handoff_advance", end("cancel", ""), "holder_changed");
        world.no(&bob, "hd_exec", json!({ "handoff_id": handoff, "force": true, "why": "w", "holder": "Zoe" }), "holder_changed");
        let refused = world.call(&bob, "handoff_advance", json!({ "id": handoff, "action": "accept" })).expect_err("Ann has it");
        assert!(format!("{refused:?}").contains("Ann has accepted"), "{refused:?}");
        assert_eq!(world.ok(&ann, "handoff_show", json!({ "id": handoff }))["state"], "accepted");
        world.ok(&boss, "handoff_advance", end("complete", "Ann"));
        // Batons and sessions.
        let left = text(&world.wrap(&ann, "half"), "delta_id");
        world.no(&boss, "baton_withdraw", json!({ "id": left, "force": true, "why": "w", "holder": "Bob" }), "holder_changed");
        world.no(&bob, "hd_exec", json!({ "handoff_id": left, "holder": "Ann" }), "holder_changed");
        world.ok(&boss, "baton_withdraw", json!({ "id": left, "force": true, "why": "w", "holder": "" }));
    }

    fn what_was_left_anew_is_not_left_anew_again(world) {
        world.register("q");
        let (vera, olga) = (agent("Vera"), agent("Olga").project("q"));
        world.start(&vera);
        let made = world.ok(&vera, "handoff_create", json!({ "to_project_id": "q", "subject": "the guide" }));
        let id = text(&made, "handoff_id");
        world.ok(&olga, "handoff_advance", json!({ "id": id, "action": "decline", "result": "no" }));
        let shown = |world: &mut World| world.ok(&vera, "handoff_show", json!({ "id": id, "actions": true }));
        assert_eq!(actions(&shown(world)), ["leave_anew"]);
        let anew = world.ok(&vera, "handoff_create", json!({ "to_project_id": "q", "subject": "the guide", "replaces": id }));
        let after = shown(world);
        assert_eq!((actions(&after), &after["replaced_by"]), (Vec::new(), &anew["handoff_id"]), "{after:#}");
    }

    fn what_is_saved_from_another_process_is_a_sign_of_life(world) {
        let gus = agent("Gus");
        world.start(&gus);
        world.kill(&gus);
        let silent = matter(world, "Gus", "session_silent");
        assert!(text(&silent, "detail").starts_with("its process has ended"), "{silent:#}");
        let again = agent("Gus").process("Gus 2");
        world.checkpoint(&again, "going on");
        assert_eq!(matter(world, "Gus", "session_silent"), Value::Null);
        world.kill(&again);
        assert!(!matter(world, "Gus", "session_silent").is_null(), "it is bound to the process that saved");
        world.ok(&agent("Gus").process("Gus 3"), "ledger_note", json!({ "text": "a thought" }));
        assert_eq!(matter(world, "Gus", "session_silent"), Value::Null, "a note is one, too");
        world.advance(600_001);
        let silent = matter(world, "Gus", "session_silent");
        assert!(text(&silent, "detail").starts_with("last sign of life 10m ago"), "{silent:#}");
    }

    fn a_hand_off_that_expired_is_as_old_as_its_deadline(world) {
        world.register("q");
        let ann = agent("Ann");
        let made = world.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": "the guide", "expires_in": "1h" }));
        world.settle();
        let deadline = world.now + 3_600_000;
        let at = json!(baton_model::time::rfc3339(deadline));
        world.advance(40 * 3_600_000);
        let listed = world.ok(&ann, "handoff_list", json!({}))["items"][0].clone();
        assert_eq!((&listed["state"], &listed["updated_at"]), (&json!("expired"), &at), "{listed:#}");
        let refused = world.call(&agent("Ben").project("q"), "handoff_advance", json!({ "id": made["handoff_id"], "action": "accept" }));
        assert!(refused.is_err(), "{refused:#?}");
        let listed = world.ok(&ann, "handoff_list", json!({}))["items"][0].clone();
        assert_eq!((&listed["state"], &listed["updated_at"]), (&json!("expired"), &at), "whoever looks: {listed:#}");
        assert_eq!(matter(world, "Ann", "handoff_returned")["since"], at);
    }

    fn every_task_of_a_board_state_is_reached_page_by_page(world) {
        let ann = agent("Ann");
        for n in 0..9 {
            let role = if n % 3 == 0 { None } else { Some("testing") };
            world.advance(1_000);
            world.ok(&ann, "task_create", json!({ "title": format!("Task {n}"), "agent_role": role }));
        }
        let blocker = world.ok(&ann, "task_create", json!({ "title": "First", "agent_role": "testing" }));
        world.ok(&ann, "task_create", json!({ "title": "Then", "agent_role": "testing", "deps": [text(&blocker, "id")] }));
        let page = |world: &mut World, input: Value| world.ok(&ann, "task_list", input);
        let ready = json!({ "agent_role": "testing", "board_state": "ready", "limit": 4 });
        let first = page(world, ready.clone());
        let mut rest = ready;
        rest["after"] = first["next"].clone();
        let rest = page(world, rest);
        assert_eq!((list(&first["items"]).len(), list(&rest["items"]).len(), &rest["next"]), (4, 3, &Value::Null));
        let titles = |page: Value| column(&list(&page["items"]), "title");
        assert_eq!(titles(page(world, json!({ "agent_role": "testing", "board_state": "blocked" }))), ["Then"]);
        assert_eq!(titles(page(world, json!({ "agent_role": "" }))), ["Task 0", "Task 3", "Task 6"]);
        world.ok(&ann, "task_close", json!({ "id": blocker["id"], "reason": "done", "result": "pass" }));
        assert_eq!(titles(page(world, json!({ "board_state": "closed" }))), ["First"]);
    }

    fn a_search_finds_comments_and_leases(world) {
        let ann = agent("Ann");
        world.start(&ann);
        let id = text(&world.ok(&ann, "task_create", json!({ "title": "The roof" })), "id");
        world.ok(&ann, "task_comment", json!({ "id": id, "text": "waits for the DBA" }));
        world.ok(&ann, "lease_take", json!({ "patterns": ["src/checkout/**"], "why": "guest orders" }));
        let found = |world: &mut World, query: &str| {
            let found = world.ok(&ann, "project_search", json!({ "query": query }));
            list(&found["items"]).iter().map(|one| format!("{} {}", text(one, "kind"), text(one, "title"))).collect::<Vec<_>>()
        };
        assert_eq!(found(world, "dba WAITS"), ["comment The roof"]);
        assert_eq!(found(world, "checkout guest"), ["lease src/checkout/**"]);
        let comment = world.ok(&ann, "project_search", json!({ "query": "dba" }))["items"][0].clone();
        assert_eq!((&comment["id"], &comment["about"]), (&json!(id), &json!("Ann · waits for the DBA")), "it leads to its task");
    }
}
