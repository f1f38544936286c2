//! Hand-offs between projects: a task over there, a delta on both sides, states that only move forward.

use baton_model::access::{Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, STALE, World, agent, column, list, text};

fn sender() -> Agent {
    agent("Lola")
}

fn receiver() -> Agent {
    agent("Donna").project("q")
}

fn input() -> Value {
    json!({ "to_project_id": "q", "subject": "add an endpoint", "description": "GET /x", "tags": ["api"], "priority": "high" })
}

fn create(w: &mut World) -> String {
    w.register("q");
    text(&w.ok(&sender(), "handoff_create", input()), "handoff_id")
}

#[track_caller]
fn advance(w: &mut World, who: &Agent, id: &str, action: &str) -> Value {
    w.ok(who, "handoff_advance", json!({ "id": id, "action": action }))
}

fn told(w: &mut World, project: &str) -> Vec<String> {
    let deltas = w.ledger_of(project);
    let of = |d: &Value| text(&d["body"]["handoff"], "state");
    deltas.iter().filter(|d| d["kind"] == "handoff").map(of).collect()
}

fn task(w: &mut World, id: &str) -> Value {
    let shown = w.ok(&receiver(), "handoff_show", json!({ "id": id }));
    w.ok(&receiver(), "task_show", json!({ "id": shown["task"]["id"] }))
}

on_every_backend! {
    fn a_handoff_is_a_task_over_there_and_a_delta_on_both_sides(w) {
        let id = create(w);
        let shown = w.ok(&receiver(), "handoff_show", json!({ "id": id }));
        assert_eq!(shown["state"], "offered");
        assert_eq!((shown["from_project_id"].clone(), shown["to_project_id"].clone()), (json!("p"), json!("q")));
        assert_eq!(shown["from_identity"], "Lola");
        let task = task(w, &id);
        assert_eq!((task["title"].clone(), task["description"].clone()), (json!("add an endpoint"), json!("GET /x")));
        assert_eq!((task["priority"].clone(), task["labels"].clone()), (json!(1), json!(["api", "handoff"])));
        assert_eq!(task["project_id"], "q");
        assert_eq!((told(w, "p"), told(w, "q")), (vec!["offered".to_owned()], vec!["offered".to_owned()]));
    }

    fn a_handoff_is_announced_by_subject_sender_and_age(w) {
        w.register("q");
        let mut wanted = input();
        wanted["subject"] = json!("add \"an\u{202e} endpoint");
        let id = text(&w.ok(&sender(), "handoff_create", wanted), "handoff_id");
        let card = w.start(&receiver());
        let waiting = list(&card["handoffs"]);
        assert_eq!((waiting[0]["id"].clone(), waiting[0]["from"].clone()), (json!(id), json!("p/Lola")));
        assert_eq!(waiting[0]["subject"], json!("add 'an\\u{202e} endpoint"), "quoted as data");
        assert!(!card.to_string().contains("GET /x"), "the description is shown once it is accepted: {card:#}");
        let own = w.start(&sender());
        assert_eq!(list(&own["handoffs"]).len(), 0, "not in the sender's own project");
        assert_eq!(own["sent"][0]["handoff_id"], json!(id), "the sender sees what was sent: {own:#}");
    }

    fn subjects_are_kept_from_agents_where_the_settings_say_so(w) {
        let id = create(w);
        w.machines.hides_subjects = true;
        let mut claude = receiver();
        claude.0.surface = "claude_code".into();
        let card = w.start(&claude);
        assert_eq!((card["handoffs"][0]["id"].clone(), card["handoffs"][0].get("subject")), (json!(id), None));
        assert!(!card.to_string().contains("add an endpoint"), "{card:#}");
        let mut person = agent("Hugo").project("q");
        person.0.surface = "human".into();
        assert_eq!(w.start(&person)["handoffs"][0]["subject"], "add an endpoint");
    }

    fn the_same_work_within_a_day_is_warned_of(w) {
        let first = create(w);
        let again = w.ok(&sender(), "handoff_create", input());
        let kinds = column(&list(&again["warnings"]), "kind");
        assert!(kinds.contains(&"same_handoff".to_owned()), "{again:#}");
        assert!(again["warnings"].to_string().contains(&first), "{again:#}");
        let mut other = input();
        other["description"] = json!("GET /y");
        assert!(!w.ok(&sender(), "handoff_create", other)["warnings"].to_string().contains("same_handoff"));
        w.advance(2 * 86_400_000);
        assert!(!w.ok(&sender(), "handoff_create", input())["warnings"].to_string().contains("same_handoff"));
    }

    fn a_dry_run_needs_no_access_to_github(w) {
        w.register("q");
        let mut wanted = input();
        wanted["issues_github_repo"] = json!("o/lib");
        w.no_trace(&sender(), "handoff_create", wanted.clone(), "github_unconfigured");
        wanted["dry_run"] = json!(true);
        let would = w.ok(&sender(), "handoff_create", wanted);
        assert_eq!(would["resolved_issues_github_repo"], "o/lib");
        assert!(column(&list(&would["warnings"]), "kind").contains(&"github_unconfigured".to_owned()), "{would:#}");
    }

    fn a_bare_pickup_names_the_hand_offs_that_wait_and_opens_no_session(w) {
        let id = create(w);
        let refusal = w.no_trace(&receiver(), "hd_exec", json!({}), "handoff_unnamed");
        assert_eq!(refusal["handoff_ids"], json!([id]));
        assert!(refusal["hint"].to_string().contains("baton pickup --handoff"), "{refusal:#}");
        w.no_trace(&receiver(), "hd_exec", json!({ "dry_run": true }), "handoff_unnamed");
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
    }

    fn a_wrap_by_session_knows_its_project(w) {
        let session = text(&w.start(&agent("Lola")), "session_id");
        let mut nowhere = agent("Lola");
        nowhere.0.project = None;
        let wrap = json!({ "session": session, "summary": "done", "done": true });
        assert_eq!(w.ok(&nowhere, "session_wrap", wrap)["project_id"], "p");
    }

    fn the_sender_hears_once_of_each_step_of_the_receiver(w) {
        let heard = |w: &mut World| {
            let waiting = w.pending(&sender());
            let subjects: Vec<String> = column(&waiting, "subject");
            (subjects, waiting.last().map(|one| (one["from_project_id"].clone(), one["body"].to_string())))
        };
        let id = create(w);
        assert_eq!(heard(w).0, Vec::<String>::new(), "an offer is the sender's own doing");
        advance(w, &receiver(), &id, "accept");
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        let (subjects, last) = heard(w);
        assert_eq!(subjects.len(), 1, "{subjects:?}");
        assert!(subjects[0].contains("\"add an endpoint\" was accepted by Donna of q"), "{subjects:?}");
        assert_eq!(last.expect("one").0, json!("q"));
        let done = json!({ "id": id, "action": "complete", "result": "merged as 12" });
        w.ok(&receiver(), "handoff_advance", done.clone());
        assert_eq!(w.ok(&receiver(), "handoff_advance", done)["was_done"], true);
        let (subjects, last) = heard(w);
        assert_eq!(subjects.len(), 2, "{subjects:?}");
        assert!(subjects[1].contains("was completed by Donna of q"), "{subjects:?}");
        assert!(last.expect("one").1.contains("merged as 12"));
    }

    fn the_sender_hears_of_a_decline_and_of_an_expiry(w) {
        let id = create(w);
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "decline", "result": "not ours" }));
        let mut wanted = input();
        wanted["expires_in"] = json!("30m");
        let late = text(&w.ok(&sender(), "handoff_create", wanted), "handoff_id");
        w.advance(2 * 3_600_000);
        w.no(&receiver(), "handoff_advance", json!({ "id": late, "action": "accept" }), "handoff_state");
        let waiting = w.pending(&sender());
        let subjects = column(&waiting, "subject");
        assert_eq!(subjects.len(), 2, "{subjects:?}");
        assert!(subjects[0].contains("was declined by Donna of q") && subjects[1].contains("has expired"), "{subjects:?}");
        assert!(waiting[0]["body"].to_string().contains("not ours"));
        for (news, id) in waiting.iter().zip([&id, &late]) {
            assert!(text(news, "body").contains(&format!("baton handoff create --replaces {id}")), "{news:#}");
        }
        let card = w.start(&sender());
        assert_eq!(card["sent"][0]["state"], "expired");
        assert_eq!((card["sent"][1]["state"].clone(), card["sent"][1]["why"].clone()), (json!("declined"), json!("not ours")));
        assert_eq!(card["unread"]["total"], 2);
        assert_eq!(card["unread"]["items"][1]["from"], "q/Donna");
        w.advance(8 * 86_400_000);
        assert_eq!(w.start(&sender()).get("sent"), None, "what ended is shown for a week");
    }

    fn a_handoff_goes_from_offered_to_accepted_to_completed(w) {
        let id = create(w);
        assert_eq!(advance(w, &receiver(), &id, "accept")["state"], "accepted");
        assert_eq!(task(w, &id)["status"], "in_progress");
        let done = json!({ "id": id, "action": "complete", "result": "merged as 12" });
        assert_eq!(w.ok(&receiver(), "handoff_advance", done)["state"], "completed");
        let task = task(w, &id);
        assert_eq!((task["status"].clone(), task["close_reason"].clone()), (json!("closed"), json!("merged as 12")));
        assert_eq!(told(w, "p"), ["offered", "accepted", "completed"]);
        assert_eq!(told(w, "q"), told(w, "p"));
        let heard = w.newest("handoff");
        assert_eq!((heard["identity"].clone(), heard["body"]["handoff"]["result"].clone()), (json!("Donna"), json!("merged as 12")));
    }

    fn a_close_of_the_task_is_not_overtaken_by_an_answer_that_comes_before_its_step_has_run(w) {
        for (who, action) in [(receiver(), "decline"), (sender(), "cancel"), (receiver(), "accept")] {
            let id = create(w);
            let task = task(w, &id)["id"].clone();
            w.ok(&receiver(), "task_close", json!({ "id": task, "reason": "the endpoint is there", "result": "pass" }));
            let answer = json!({ "id": id, "action": action, "result": "not ours" });
            let refused = w.no(&who, "handoff_advance", answer, "handoff_state");
            assert!(refused["message"].to_string().contains("completed"), "{action}: {refused:#}");
        }
    }

    fn a_token_acts_only_for_the_end_that_it_reaches(w) {
        let of = |who: &Agent, project: &str, scope| {
            let mut token = agent(&who.0.identity.clone().unwrap_or_default()).process("").project(project);
            token.0.grant = Grant { scope, projects: Some([project.to_owned()].into()), bearer: None, ..Grant::default() };
            token
        };
        for scope in [Scope::Write, Scope::Operator] {
            let id = create(w);
            let (shop, lib) = (of(&sender(), "p", scope), of(&receiver(), "q", scope));
            for action in ["accept", "decline", "complete"] {
                let forced = scope == Scope::Operator;
                let input = json!({ "id": id, "action": action, "result": "r", "force": forced, "why": forced.then_some("w") });
                w.no_trace(&shop, "handoff_advance", input, "project_unknown");
            }
            w.no_trace(&lib, "handoff_advance", json!({ "id": id, "action": "cancel" }), "project_unknown");
            let publish = json!({ "id": id, "issues_github_repo": "attacker/x" });
            w.no_trace(&shop, "handoff_publish", publish, "project_unknown");
            let redirect = json!({ "id": id, "repo": "attacker/x" });
            w.no_trace(&lib, "handoff_retry", redirect, "project_unknown");
            advance(w, &lib, &id, "accept");
            // The signal to the sender lies in the sender's own mailbox, as every message from the other project does.
            let mut exported = w.ok(&shop, "ledger_export", json!({ "project": "p" }));
            exported["items"].as_array_mut().expect("rows").retain(|row| row["_type"] != "message");
            let exported = exported.to_string();
            assert!(exported.contains(&id) && !exported.contains("Donna"), "{exported}");
            let whole = w.ok(&sender(), "ledger_export", json!({ "project": "p" })).to_string();
            assert!(whole.contains("Donna"), "the local user's export is whole");
            advance(w, &lib, &id, "complete");
        }
    }

    fn a_handoff_past_its_deadline_is_not_taken(w) {
        for pickup in [false, true] {
            w.register("q");
            let mut wanted = input();
            wanted["expires_in"] = json!("30m");
            let id = text(&w.ok(&sender(), "handoff_create", wanted), "handoff_id");
            w.advance(2 * 3_600_000);
            let refused = match pickup {
                true => w.no(&receiver(), "hd_exec", json!({ "handoff_id": id }), "handoff_state"),
                false => w.no(&receiver(), "handoff_advance", json!({ "id": id, "action": "accept" }), "handoff_state"),
            };
            assert!(refused["message"].to_string().contains("expired"), "{refused:#}");
            let shown = w.ok(&receiver(), "handoff_show", json!({ "id": id }));
            assert_eq!((shown["state"].clone(), task(w, &id)["status"].clone()), (json!("expired"), json!("closed")));
        }
    }

    fn what_was_accepted_by_its_id_is_picked_up_by_whoever_accepted_it(w) {
        let id = create(w);
        advance(w, &receiver(), &id, "accept");
        let other = agent("Ann").project("q");
        w.no(&other, "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        let picked = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        assert_eq!(picked["handoff"]["handoff_id"], json!(id));
        assert_eq!(told(w, "p"), ["offered", "accepted"], "it is accepted once");
        // The name goes on with it in its next session, too.
        w.ok(&receiver(), "session_end", json!({}));
        let again = w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        assert_ne!(again["session_id"], picked["session_id"]);
        w.no(&other, "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
    }

    fn what_a_session_accepted_that_is_gone_is_taken_over_with_what_it_saved(w) {
        let id = create(w);
        let by_id = json!({ "handoff_id": id });
        let first = w.ok(&receiver(), "hd_exec", by_id.clone());
        w.ok(&receiver(), "session_checkpoint", json!({ "summary": "half of the index" }));
        let other = agent("Ann").project("q");
        let refused = w.no_trace(&other, "hd_exec", by_id.clone(), "handoff_claimed");
        assert!(text(&refused, "hint").contains("takes it over"), "{refused:#}");
        w.advance(STALE + 1);
        let next = w.ok(&other, "hd_exec", by_id.clone());
        assert_eq!(next["handoff"]["handoff_id"], json!(id));
        assert!(next["recovered"].to_string().contains("half of the index"), "{next:#}");
        assert_eq!(next["predecessor_session_id"], first["session_id"]);
        assert_eq!(task(w, &id)["assignee"], "Ann");
        assert_eq!(told(w, "p"), ["offered", "accepted"], "it is accepted once");
        w.no(&receiver(), "hd_exec", by_id.clone(), "handoff_claimed");
        let mut forced = by_id;
        forced["force"] = json!(true);
        forced["why"] = json!("Ann left");
        let back = w.ok(&receiver(), "hd_exec", forced);
        assert_eq!(w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "complete", "result": "done" }))["state"], "completed", "{back:#}");
    }

    fn a_handoff_is_declined_with_a_reason(w) {
        let id = create(w);
        let refusal = json!({ "id": id, "action": "decline", "result": "not ours" });
        assert_eq!(w.ok(&receiver(), "handoff_advance", refusal)["state"], "declined");
        assert_eq!(task(w, &id)["status"], "closed");
        assert_eq!(told(w, "p"), ["offered", "declined"]);
    }

    fn a_handoff_is_cancelled_by_its_sender(w) {
        let id = create(w);
        assert_eq!(advance(w, &sender(), &id, "cancel")["state"], "cancelled");
        assert_eq!(task(w, &id)["status"], "closed");
        assert_eq!(told(w, "q"), ["offered", "cancelled"]);
    }

    fn a_state_only_moves_forward(w) {
        let id = create(w);
        let go = |action: &str| json!({ "id": id, "action": action });
        w.no_trace(&receiver(), "handoff_advance", go("complete"), "handoff_state");
        advance(w, &receiver(), &id, "accept");
        let other = agent("Otto").project("q");
        w.no_trace(&other, "handoff_advance", go("accept"), "handoff_state");
        advance(w, &receiver(), &id, "complete");
        for action in ["accept", "complete", "decline", "cancel"] {
            let refusal = w.no_trace(&other, "handoff_advance", go(action), "handoff_state");
            assert_eq!(refusal["state"], "completed");
        }
        w.no_trace(&receiver(), "handoff_advance", go("lose"), "input_invalid");
    }

    fn an_unknown_project_becomes_a_placeholder_with_a_warning(w) {
        let made = w.ok(&sender(), "handoff_create", input());
        assert_eq!(column(&list(&made["warnings"]), "kind"), ["placeholder_project"]);
        let shown = w.ok(&receiver(), "project_show", json!({}));
        assert_eq!(shown["is_placeholder"], true);
        let again = w.ok(&sender(), "handoff_create", input());
        assert_eq!(column(&list(&again["warnings"]), "kind"), ["same_handoff"]);
        w.register("q");
        assert_eq!(w.ok(&receiver(), "project_show", json!({}))["is_placeholder"], false);
    }

    fn a_mistyped_project_is_refused_with_its_near_names_and_made_only_when_asked(w) {
        w.register("billing");
        let mut slip = json!({ "to_project_id": "biling", "subject": "add an endpoint" });
        for dry_run in [true, false] {
            slip["dry_run"] = json!(dry_run);
            let refused = w.no_trace(&sender(), "handoff_create", slip.clone(), "target_unknown");
            assert_eq!(refused["near"], json!(["billing"]));
        }
        slip["create"] = json!(true);
        let made = w.ok(&sender(), "handoff_create", slip);
        assert_eq!(column(&list(&made["warnings"]), "kind"), ["placeholder_project"]);
        // A name of which it is not reached whether it is known tells nothing.
        let mut token = sender();
        token.0.grant = Grant { scope: Scope::Write, projects: Some(["p".to_owned()].into()), bearer: None, ..Grant::default() };
        let hidden = json!({ "to_project_id": "bilingg", "subject": "add an endpoint", "dry_run": true });
        assert_eq!(column(&list(&w.ok(&token, "handoff_create", hidden)["warnings"]), "kind"), ["tracker_undisclosed"]);
        let warned = |w: &mut World, to: &str| {
            let made = w.ok(&token, "handoff_create", json!({ "to_project_id": to, "subject": format!("for {to}") }));
            json!(made["warnings"]).to_string().replace(to, "TO")
        };
        assert_eq!(warned(w, "billing"), warned(w, "nowhere-at-all"));
    }

    fn a_dry_run_writes_nothing_at_all(w) {
        let mut preview = input();
        preview["dry_run"] = json!(true);
        let before = w.everything();
        let shown = w.ok(&sender(), "handoff_create", preview);
        assert_eq!(w.everything(), before);
        assert_eq!(shown["dry_run"], true);
        assert_eq!(shown["would_create_task"]["subject"], "add an endpoint");
        assert_eq!(column(&list(&shown["warnings"]), "kind"), ["placeholder_project"]);
    }

    fn the_same_request_creates_one_handoff(w) {
        w.register("q");
        let mut once = input();
        once["request_id"] = json!("r1");
        let first = w.ok(&sender(), "handoff_create", once.clone());
        let again = w.ok(&sender(), "handoff_create", once);
        assert_eq!(again["handoff_id"], first["handoff_id"]);
        assert_eq!(again["task"], first["task"]);
        assert_eq!(list(&w.ok(&receiver(), "task_list", json!({}))["items"]).len(), 1);
        assert_eq!(told(w, "p").len(), 1);
    }

    fn a_refused_handoff_leaves_no_placeholder(w) {
        let mut first = input();
        first["request_id"] = json!("r1");
        w.ok(&sender(), "handoff_create", first.clone());
        let reused = json!({ "to_project_id": "nowhere-yet", "subject": "another", "request_id": "r1" });
        w.no_trace(&sender(), "handoff_create", reused, "request_mismatch");
    }

    fn a_packet_travels_byte_for_byte(w) {
        w.register("q");
        let packet = "{ \"summary\": \"s\",\n \"n\": 1.50 }";
        let mut with = input();
        with["packet"] = json!(packet);
        let id = text(&w.ok(&sender(), "handoff_create", with), "handoff_id");
        assert_eq!(w.ok(&receiver(), "handoff_show", json!({ "id": id }))["packet"], packet);
    }

    fn a_malformed_handoff_is_refused(w) {
        for (field, value, code) in [
            ("to_project_id", json!("No Slug"), "project_invalid"),
            ("subject", json!("a\nb"), "task_invalid"),
            ("subject", json!(""), "input_invalid"),
            ("priority", json!("soonish"), "priority_invalid"),
            ("priority", json!(9), "priority_invalid"),
            ("tags", json!(["a\nb"]), "label_invalid"),
            ("packet", json!("{}"), "packet_invalid"),
            ("to_identity", json!("a b"), "identity_invalid"),
        ] {
            let mut bad = input();
            bad[field] = value;
            w.no_trace(&sender(), "handoff_create", bad, code);
        }
    }

    fn handoffs_are_listed_on_both_sides_and_by_state(w) {
        let id = create(w);
        let ids = |w: &mut World, who: &Agent, input: Value| column(&list(&w.ok(who, "handoff_list", input)["items"]), "handoff_id");
        assert_eq!(ids(w, &sender(), json!({})), std::slice::from_ref(&id));
        assert_eq!(ids(w, &receiver(), json!({ "state": "offered" })), [id]);
        assert_eq!(ids(w, &receiver(), json!({ "state": "accepted" })), Vec::<String>::new());
        w.no_trace(&receiver(), "handoff_list", json!({ "state": "lost" }), "state_unknown");
    }

    fn a_handoff_is_named_by_its_id_or_a_unique_prefix(w) {
        let id = create(w);
        assert_eq!(w.ok(&receiver(), "handoff_show", json!({ "id": &id[..13] }))["handoff_id"], id.as_str());
        w.ok(&sender(), "handoff_create", input());
        w.no_trace(&receiver(), "handoff_show", json!({ "id": &id[..6] }), "id_ambiguous");
        w.no_trace(&receiver(), "handoff_show", json!({ "id": "ffffffff" }), "handoff_unknown");
    }
}
