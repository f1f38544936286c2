//! What two people stumbled over in their first hours: ids that one verb takes and its twin denies, news that outlives its cause, ways
//! out that the caller's token does not open.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::increments::routed_to;
use crate::world::{Agent, STALE, World, agent, column, list, text};

fn bound(who: Agent, name: &str) -> Agent {
    let identities = Some(vec![name.to_owned()]);
    let bearer = Bearer { token_id: "t".into(), name: "t".into(), identities };
    let mut who = who;
    who.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

fn question(w: &mut World) -> String {
    let sent =
        w.ok(&agent("Ann"), "signal_send", json!({ "to": "Ben", "type": "Question", "subject": "which?" }));
    text(&sent, "message_id")
}

on_every_backend! {
    fn a_signal_is_found_by_the_beginning_of_its_id(w) {
        w.start(&agent("Ann"));
        w.start(&agent("Ben"));
        let id = question(w);
        let acked = w.ok(&agent("Ben"), "signal_ack", json!({ "message_id": id[..20] }));
        assert_eq!(text(&acked, "message_id"), id, "{acked:#}");
        w.advance(1);
        let id = question(w);
        w.no(&agent("Ben"), "signal_recall", json!({ "message_id": id[..20] }), "message_unknown");
        let recalled = w.ok(&agent("Ann"), "signal_recall", json!({ "message_id": id[..20] }));
        assert_eq!(text(&recalled, "message_id"), id, "{recalled:#}");
    }

    fn an_assignment_is_settled_with_its_task(w) {
        let tess = agent("Tess");
        let made = routed_to(w, &tess);
        assert_eq!(column(&w.pending(&tess), "type"), ["task_handoff"]);
        // What a claim would take up is ready, and first.
        let ready = w.ok(&tess, "task_ready", json!({}));
        assert_eq!((&ready["items"][0]["id"], &ready["items"][0]["is_own"]), (&made["test_id"], &json!(true)), "{ready:#}");
        // Its claim runs out before Tess has begun: it is listed once all the same.
        w.advance(86_400_000);
        let late = w.ok(&tess, "task_ready", json!({}));
        let titles = column(&list(&late["items"]), "title");
        assert_eq!(titles.iter().filter(|title| title.starts_with("TEST:")).count(), 1, "{titles:?}");
        w.ok(&tess, "task_claim", json!({ "id": made["test_id"] }));
        assert!(list(&w.ok(&tess, "task_ready", json!({}))["items"]).is_empty(), "it is taken up");
        w.ok(&tess, "task_close", json!({ "id": made["test_id"], "result": "pass" }));
        assert_eq!(w.pending(&tess), Vec::<Value>::new(), "it asks for nothing any more");
    }

    fn a_dry_run_of_a_pickup_warns_nobody_of_itself(w) {
        let eve = agent("Eve").at("/src/shop", Some("/src/shop"));
        w.start(&eve);
        let shown = w.ok(&eve, "hd_exec", json!({ "dry_run": true })).to_string();
        assert!(!shown.contains("in this working copy too"), "{shown}");
    }

    fn closing_once_more_says_that_nothing_changed(w) {
        let made = w.ok(&agent("Ann"), "task_create", json!({ "title": "one" }));
        let first = w.ok(&agent("Ann"), "task_close", json!({ "id": made["id"], "result": "pass" }));
        assert_eq!(first.get("was_closed"), None, "{first:#}");
        let again = w.ok(&agent("Ben"), "task_close", json!({ "id": made["id"], "reason": "mostly works" }));
        assert_eq!((&again["was_closed"], &again["result"]), (&json!(true), &json!("pass")), "{again:#}");
        assert!(!again["kept_comment_id"].is_null(), "{again:#}");
    }

    fn a_bound_token_is_sent_where_it_may_go(w) {
        w.start(&bound(agent("Ann"), "Ann"));
        let second = bound(agent("Ann").process("another"), "Ann");
        let refusal = w.no(&second, "session_start", json!({}), "identity_conflict");
        let own = text(&refusal["holder"], "session_id");
        let command = format!("`BATON_SESSION={own} baton end`");
        assert!(!text(&refusal, "hint").contains("--as") && text(&refusal, "hint").contains(&command), "{refusal:#}");
        let local = w.no(&agent("Ann").process("another"), "session_start", json!({}), "identity_conflict");
        assert!(text(&local, "hint").contains("--as NAME"), "{local:#}");
    }

    fn an_offer_to_nobody_says_so_on_the_card(w) {
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "handoff_create", json!({ "to_project_id": "payments", "subject": "s", "create": true }));
        let card = w.ok(&agent("Ann"), "session_status", json!({}));
        let sent = list(&card["sent"]);
        assert!(text(&sent[0], "why").starts_with("nobody works in project payments yet"), "{card:#}");
        let shown = w.ok(&agent("Ann"), "handoff_show", json!({ "id": sent[0]["handoff_id"] }));
        assert_eq!(shown["receiver_missing"], sent[0]["why"], "{shown:#}");
        w.register("payments");
        let card = w.ok(&agent("Ann"), "session_status", json!({}));
        assert_eq!(list(&card["sent"])[0].get("why"), None, "{card:#}");
        let shown = w.ok(&agent("Ann"), "handoff_show", json!({ "id": sent[0]["handoff_id"] }));
        assert_eq!(shown.get("receiver_missing"), None, "{shown:#}");
    }

    fn a_repeated_answer_to_a_hand_off_says_that_it_was_given_before(w) {
        w.register("q");
        let (ann, ben, cleo) = (agent("Ann"), agent("Ben").project("q"), agent("Cleo").project("q"));
        let create = |w: &mut World| {
            let made = w.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": "add an endpoint" }));
            text(&made, "handoff_id")
        };
        for (before, action) in [(&[][..], "accept"), (&["accept"][..], "complete"), (&["accept"], "decline"), (&[], "decline")] {
            let id = create(w);
            for step in before {
                w.ok(&ben, "handoff_advance", json!({ "id": id, "action": step }));
            }
            let call = json!({ "id": id, "action": action });
            let first = w.ok(&ben, "handoff_advance", call.clone());
            assert_eq!(first.get("was_done"), None, "{first:#}");
            let (deltas, steps) = (w.ledger_of("q").len(), w.ledger_of("p").len());
            let again = w.ok(&ben, "handoff_advance", call.clone());
            assert_eq!((&again["was_done"], &again["state"]), (&json!(true), &first["state"]), "{again:#}");
            assert_eq!((w.ledger_of("q").len(), w.ledger_of("p").len()), (deltas, steps), "nobody is told twice");
            let refusal = w.no(&cleo, "handoff_advance", call, "handoff_state");
            let message = text(&refusal, "message");
            assert!(["cannot", "Ben has accepted", "already"].iter().any(|words| message.contains(words)), "{refusal:#}");
            w.advance(1);
        }
    }

    fn other_words_are_no_repetition(w) {
        w.register("q");
        let ben = agent("Ben").project("q");
        let made = w.ok(&agent("Ann"), "handoff_create", json!({ "to_project_id": "q", "subject": "s" }));
        let id = text(&made, "handoff_id");
        w.ok(&ben, "handoff_advance", json!({ "id": id, "action": "decline", "why": "not ours" }));
        let same = w.ok(&ben, "handoff_advance", json!({ "id": id, "action": "decline", "why": "not ours" }));
        assert_eq!(same["was_done"], true, "{same:#}");
        let other = json!({ "id": id, "action": "decline", "why": "no time" });
        let refusal = w.no(&ben, "handoff_advance", other, "handoff_state");
        assert!(text(&refusal, "message").contains("kept with it"), "{refusal:#}");
    }

    fn what_nobody_said_is_not_told_as_a_summary(w) {
        let tess = agent("Tess");
        let made = routed_to(w, &tess);
        let sent = w.pending(&tess);
        let words = text(&sent[0]["content"]["context"], "work_completed");
        let known = format!("NOT STATED: {} \"Modes\" was closed by Ann at ", text(&made, "implementation_id"));
        assert!(words.starts_with(&known), "{words}");
        assert!(words.contains("Nor were files or commits named") && words.contains("`baton task show "), "{words}");
    }

    fn what_is_held_back_is_told_as_blocked_on_the_card(w) {
        let first = w.ok(&agent("Ann"), "task_create", json!({ "title": "first" }));
        w.advance(1);
        let second = w.ok(&agent("Ann"), "task_create", json!({ "title": "second", "deps": [first["id"]] }));
        let blocked = |w: &mut World| {
            let card = w.ok(&agent("Ann"), "session_status", json!({}));
            let of = |task: &Value| (text(task, "title"), task["blocked"] == true);
            list(&card["tasks"]).iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(blocked(w), [("first".to_owned(), false), ("second".to_owned(), true)], "{second:#}");
        w.ok(&agent("Ann"), "task_close", json!({ "id": first["id"], "result": "pass" }));
        assert_eq!(blocked(w), [("second".to_owned(), false)]);
    }

    fn one_s_own_tasks_are_ready_first_on_every_page(w) {
        for (n, assignee) in [(1, None), (2, Some("Ben")), (3, None), (4, Some("Ann")), (5, Some("Ann"))] {
            w.ok(&agent("Ann"), "task_create", json!({ "title": n.to_string(), "assignee": assignee, "priority": 2 }));
            w.advance(1);
        }
        let page = |w: &mut World, mut input: Value| {
            input["limit"] = json!(2);
            let found = w.ok(&agent("Ann"), "task_ready", input);
            (column(&list(&found["items"]), "title").join(""), found["next"].clone())
        };
        assert_eq!(page(w, json!({})), ("45".to_owned(), json!(2)), "by default the caller's");
        assert_eq!(page(w, json!({ "assigned_first": "" })), ("12".to_owned(), json!(2)), "nobody's");
        let mine = |after: usize| json!({ "assigned_first": "Ann", "after": after });
        assert_eq!(page(w, mine(0)), ("45".to_owned(), json!(2)));
        assert_eq!(page(w, mine(2)), ("12".to_owned(), json!(4)));
        assert_eq!(page(w, mine(4)), ("3".to_owned(), Value::Null));
        assert_eq!(page(w, json!({ "assigned_first": "Zoe" })), ("12".to_owned(), json!(2)));
        assert_eq!(page(w, json!({ "assigned_first": "ANN", "priority": 1 })), (String::new(), Value::Null));
        assert_eq!(page(w, json!({ "assigned_first": "ANN", "assignee": "Ben" })), ("2".to_owned(), Value::Null));
        let all = w.ok(&agent("ann"), "task_ready", json!({ "limit": 0 }));
        let marked: Vec<bool> = list(&all["items"]).iter().map(|row| row["is_own"] == true).collect();
        assert_eq!(marked, [true, true, false, false, false], "{all:#}");
        let nobody = w.ok(&agent("Bot"), "task_ready", json!({}));
        assert!(list(&nobody["items"]).iter().all(|row| row["is_own"].is_null()), "{nobody:#}");
        // A task whose lease ran out has no holder again, and stands at its place among the others.
        let claimed = w.ok(&agent("Ann"), "task_claim", json!({ "id": list(&all["items"])[1]["id"] }));
        assert_eq!(claimed["claimed"], true);
        w.advance(30 * 86_400_000);
        assert_eq!(page(w, json!({})), ("41".to_owned(), json!(2)));
        assert_eq!(page(w, mine(2)), ("23".to_owned(), json!(4)));
        assert_eq!(page(w, mine(4)), ("5".to_owned(), Value::Null));
    }

    fn a_silent_session_is_named_with_the_commands_that_help(w) {
        let started = w.start(&agent("Ann"));
        w.advance(STALE + 1);
        let card = w.ok(&agent("Ben"), "session_status", json!({}));
        let messages = column(&list(&card["reminders"]), "message").join("\n");
        let id = text(&started, "session_id");
        assert!(messages.contains(&format!("Ann ({}", &id[..13])) && messages.contains(&format!("`baton reassign {} --to NAME`", &id[..13])), "{messages}");
        w.start(&agent("Cleo"));
        w.advance(STALE + 1);
        let card = w.ok(&agent("Ben"), "session_status", json!({}));
        assert!(card["reminders"].to_string().contains("baton reassign ID --to NAME"), "several: {card:#}");
    }

    fn a_reason_that_comes_after_a_decline_without_one_is_the_reason(w) {
        w.register("q");
        let (ann, ben, cleo) = (agent("Ann"), agent("Ben").project("q"), agent("Cleo").project("q"));
        w.start(&ann);
        let made = w.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": "add an endpoint" }));
        let id = text(&made, "handoff_id");
        let decline = |why: Option<&str>| json!({ "id": id, "action": "decline", "why": why });
        let without = w.ok(&ben, "handoff_advance", decline(None));
        assert_eq!(without.get("reason_added"), None, "{without:#}");
        let declined = w.ok(&ben, "handoff_advance", decline(Some("no time")));
        let ended = &declined["ended"];
        assert_eq!(declined["reason_added"], true, "{declined:#}");
        assert_eq!((&declined["state"], &declined["result"]), (&json!("declined"), &json!("no time")), "{declined:#}");
        assert_eq!((&ended["by"], &ended["why"], declined.get("was_done")), (&json!("Ben"), &json!("no time"), None));
        let news = w.pending(&ann);
        assert_eq!(news.len(), 2, "{news:#?}");
        assert!(text(&news[1], "body").starts_with("reason: no time"), "{news:#?}");
        let task = w.ok(&ben, "task_show", json!({ "id": declined["task"]["id"] }));
        assert_eq!(task["close_reason"], "no time", "{task:#}");
        let again = w.ok(&ben, "handoff_advance", decline(Some("no time")));
        assert_eq!(again["was_done"], true, "{again:#}");
        // Any other word, and anybody else's, is kept as what it is.
        for (who, why) in [(&ben, "not ours"), (&cleo, "nor mine")] {
            let refusal = w.no(who, "handoff_advance", decline(Some(why)), "handoff_state");
            assert!(text(&refusal, "hint").contains(&format!("`baton handoff show {}`", &id[..13])), "{refusal:#}");
        }
        let log = w.ledger_of("q");
        let late: Vec<&str> = log.iter().filter_map(|one| one["body"]["text"].as_str()).filter(|one| one.starts_with("late")).collect();
        assert_eq!(late, [r#"late answer to "add an endpoint": not ours"#, r#"late answer to "add an endpoint": nor mine"#]);
    }

    fn a_dry_run_says_what_would_be(w) {
        let create = |dry_run: bool| json!({ "to_project_id": "payments", "subject": "s", "create": true, "dry_run": dry_run });
        let message = |w: &mut World, dry_run: bool| text(&w.ok(&agent("Ann"), "handoff_create", create(dry_run))["warnings"][0], "message");
        assert_eq!(message(w, true), "project payments is not known and would be registered as a placeholder");
        assert_eq!(message(w, false), "project payments was not known and is registered as a placeholder");
    }

    fn a_hand_off_that_came_back_needs_attention_in_the_audit_too(w) {
        w.register("q");
        let (ann, ben) = (agent("Ann"), agent("Ben").project("q"));
        let made = w.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": "s" }));
        let found = |w: &mut World| w.ok(&ann, "audit_report", json!({}))["found"].clone();
        let before = found(w);
        w.ok(&ben, "handoff_advance", json!({ "id": made["handoff_id"], "action": "decline" }));
        assert_eq!((before, found(w)), (json!(0), json!(1)));
        w.ok(&ann, "handoff_seen", json!({ "id": made["handoff_id"] }));
        assert_eq!(found(w), json!(0));
    }

    fn a_pickup_of_nothing_is_not_told_as_one(w) {
        let ann = agent("Ann");
        let picked = w.pickup(&ann);
        let warning = text(&picked["warnings"][0], "message");
        assert!(warning.ends_with("nobody has wrapped, or what was wrapped is done, continued or exported"), "{picked:#}");
        let verb = |w: &mut World| text(&w.ok(&ann, "session_status", json!({}))["sessions"][0], "last_verb");
        assert_eq!(verb(w), "session_start");
        w.pickup(&ann);
        assert_eq!(verb(w), "session_heartbeat");
        w.ok(&ann, "session_wrap", json!({ "summary": "half", "next": ["the rest"] }));
        w.pickup(&ann);
        assert_eq!(verb(w), "hd_exec");
    }

    fn no_sentence_calls_a_caller_bot_who_gave_no_name(w) {
        w.start(&agent("Donna"));
        w.end(&agent("Donna"));
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "s", "next": ["n"], "to": "Donna" }));
        let bot = agent("Bot").process("one");
        let picked = w.ok(&bot, "hd_exec", json!({}));
        let warned = text(&picked["warnings"][0], "message");
        assert!(warned.contains("is meant for an unnamed caller"), "{warned}");
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Donna", "subject": "s" }));
        let refusal = w.no(&bot, "mail_read", json!({ "message_id": sent["message_id"] }), "message_unknown");
        assert!(text(&refusal, "message").ends_with("for an unnamed caller") && text(&refusal, "hint").contains("--as NAME"), "{refusal:#}");
        w.ok(&bot, "session_end", json!({}));
        let refusal = w.no(&agent("Bot").process("two"), "session_wrap", json!({ "summary": "s" }), "no_session");
        assert!(!text(&refusal, "message").contains("Bot"), "{refusal:#}");
    }

    fn an_overdue_acknowledgement_is_named_with_the_command(w) {
        w.start(&agent("Ben"));
        w.start(&agent("Ann"));
        let sent = w.ok(&agent("Ann"), "mail_send", json!({ "to": "Ben", "subject": "review it", "ack_by_s": 1 }));
        w.ok(&agent("Ben"), "mail_inbox", json!({}));
        w.advance(2_000);
        let card = w.ok(&agent("Ann"), "session_status", json!({}));
        let messages = column(&list(&card["reminders"]), "message").join("\n");
        let id = text(&sent, "message_id");
        let named = format!("1 overdue acknowledgement: Ben has not acknowledged \"review it\" of Ann (Ben does so with `baton mail ack {} --as Ben`)", &id[..13]);
        assert!(messages.contains(&named), "{messages}");
        w.ok(&agent("Ben"), "mail_ack", json!({ "message_id": id[..13] }));
        let card = w.ok(&agent("Ann"), "session_status", json!({}));
        assert!(!card["reminders"].to_string().contains("overdue"), "{card:#}");
    }

    fn a_token_that_registers_nothing_is_told_where_it_may_work(w) {
        let mut of_p = bound(agent("Ann"), "Ann");
        for (projects, hint) in [(Some(vec!["p".to_owned()]), "`export BATON_PROJECT=p`"), (None, "say --project ID")] {
            of_p.0.grant.projects = projects;
            let refusal = w.no(&of_p, "project_init", json!({}), "scope_missing");
            assert!(text(&refusal, "hint").contains(hint) && text(&refusal, "hint").contains("to register"), "{refusal:#}");
        }
        let refusal = w.no(&of_p, "project_merge", json!({ "from": "p", "into": "q" }), "scope_missing");
        assert!(!text(&refusal, "hint").contains("BATON_PROJECT"), "{refusal:#}");
    }
}
