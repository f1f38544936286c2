//! What needs a person is found, counted exactly, and read to its end; objects are read by their ids.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

/// The reasons of all items, in their order, read page by page.
fn all_pages(world: &mut World, input: Value) -> Vec<Value> {
    let mut items = Vec::new();
    let mut after = Value::Null;
    loop {
        let mut input = input.clone();
        input["cursor"] = after;
        let page = world.ok(&agent("Ann"), "attention_list", input);
        items.extend(list(&page["items"]));
        after = page["next"].clone();
        if after.is_null() {
            assert_eq!(page["total"], items.len(), "{page:#}");
            return items;
        }
    }
}

on_every_backend! {
    fn what_is_addressed_to_the_reader_is_shown_however_many_batons_came_after_it(world) {
        world.start(&agent("Ann"));
        let own = world.ok(&agent("Ann"), "session_wrap", json!({ "summary": "for Zed", "to": "Zed" }));
        for n in 0..55 {
            world.leave_baton(&agent(&format!("A{n}")), &format!("part {n}"));
        }
        let card = world.ok(&agent("Zed"), "session_status", json!({}));
        let waiting = list(&card["handoffs"]);
        assert_eq!((waiting.len(), &card["more_batons"]), (51, &json!(5)), "{card:#}");
        assert_eq!(waiting[0]["id"], own["baton_id"]);
        let card = world.ok(&agent("Bob"), "session_status", json!({}));
        assert_eq!((list(&card["handoffs"]).len(), &card["more_batons"]), (50, &json!(6)));
    }

    fn what_waits_is_counted_exactly_and_read_to_its_end_oldest_first(world) {
        for n in 0..7 {
            world.leave_baton(&agent(&format!("A{n}")), &format!("part {n}"));
            world.advance(1_000);
        }
        let fresh = world.ok(&agent("Ann"), "attention_list", json!({}));
        assert_eq!((&fresh["total"], &fresh["items"]), (&json!(0), &json!([])), "none of it is old yet");
        world.advance(3_600_000);
        world.leave_baton(&agent("Late"), "just now");
        let items = all_pages(world, json!({ "limit": 3 }));
        assert_eq!(column(&items, "subject"), (0..7).map(|n| format!("part {n}")).collect::<Vec<_>>());
        assert!(items.iter().all(|one| one["reason"] == "baton_starving"), "{items:#?}");
        let both = all_pages(world, json!({ "limit": 2, "waiting": true }));
        assert_eq!(both.len(), 8);
        assert_eq!(both[7]["reason"], "baton_waiting");
        let only = all_pages(world, json!({ "reason": "baton_waiting" }));
        assert_eq!(column(&only, "subject"), ["just now"]);
        world.no(&agent("Ann"), "attention_list", json!({ "reason": "boredom" }), "reason_unknown");
        world.no(&agent("Ann"), "attention_list", json!({ "cursor": "nonsense" }), "cursor_invalid");
    }

    fn what_is_for_the_one_who_looks_stands_apart(world) {
        world.leave_baton(&agent("Lola"), "for anybody");
        let donna = agent("Donna");
        world.start(&donna);
        world.ok(&donna, "session_wrap", json!({ "summary": "for Ann", "to": "Ann" }));
        world.advance(3_600_001);
        let shown = world.ok(&agent("Ann"), "attention_list", json!({ "identity": "ANN" }));
        assert_eq!(shown["total"], 2);
        assert_eq!(column(&list(&shown["mine"]), "subject"), ["for Ann"], "{shown:#}");
        assert!(text(&shown["mine"][0], "help").starts_with("baton pickup --handoff "), "{shown:#}");
    }

    fn a_silent_session_says_what_it_did_last(world) {
        let lola = agent("Lola");
        let begun = world.start(&lola);
        world.checkpoint(&lola, "half of the tax");
        world.advance(600_001);
        let shown = world.ok(&agent("Ann"), "attention_list", json!({}));
        let matter = &shown["items"][0];
        assert_eq!(matter["reason"], "session_silent", "{shown:#}");
        assert_eq!((&matter["subject"], &matter["id"]), (&json!("half of the tax"), &begun["session_id"]));
        assert_eq!(shown["counts"], json!([{ "reason": "session_silent", "count": 1 }]));
        world.wrap(&lola, "done");
        assert_eq!(world.ok(&agent("Ann"), "attention_list", json!({}))["total"], 0);
    }

    fn a_question_a_blocker_and_a_critical_message_are_matters_for_whom_they_are_for(world) {
        let omar = agent("Omar");
        world.start(&omar);
        world.start(&agent("Iris"));
        let send = |world: &mut World, input: Value| world.ok(&omar, "mail_send", input);
        let first = send(world, json!({ "to": "Iris", "type": "Blocker", "subject": "I cannot go on", "body": "no access" }));
        world.advance(1_000);
        send(world, json!({ "to": "iris", "type": "Question", "subject": "Which price?" }));
        world.advance(1_000);
        send(world, json!({ "to": "Iris", "importance": "critical", "subject": "Stop", "body": "now" }));
        send(world, json!({ "to": "Iris", "subject": "a letter that can wait" }));
        let shown = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": "IRIS" }));
        assert_eq!(column(&list(&shown["mine"]), "subject"), ["Blocker: I cannot go on", "Question: Which price?", "critical: Stop"], "{shown:#}");
        let matter = &shown["mine"][0];
        assert_eq!((&matter["detail"], &matter["from"], &matter["to"]), (&json!("no access"), &json!("Omar"), &json!("Iris")));
        assert!(text(matter, "help").starts_with("baton mail send --as Iris --reply-to "), "{matter:#}");
        // Each is counted where it stands: in `mine` at once, in `items` after an hour.
        assert_eq!((&shown["total"], &shown["items"]), (&json!(3), &json!([])), "{shown:#}");
        assert_eq!(shown["counts"], json!([{ "reason": "message_waiting", "count": 3 }]));
        assert_eq!(shown["sections"], json!({ "mine": 3, "concern": 0, "waiting": 0 }));
        assert_eq!(world.ok(&agent("Watcher"), "attention_list", json!({}))["total"], 0, "for others they are no matter yet");
        let waiting = all_pages(world, json!({ "waiting": true, "limit": 2 }));
        assert_eq!(column(&waiting, "reason"), ["message_waiting", "message_waiting", "message_waiting"]);
        world.advance(3_600_001);
        let unread = all_pages(world, json!({ "limit": 2, "reason": "message_unread" }));
        assert_eq!(column(&unread, "reason"), ["message_unread", "message_unread", "message_unread"]);
        // One that was read goes on waiting for its answer, with whom it is for and with whom asked.
        let ids = column(&unread, "id");
        world.ok(&agent("Iris"), "signal_delivered", json!({ "message_ids": ids }));
        let reasons = |world: &mut World, who: &str, waiting: bool| {
            let input = json!({ "identity": who, "waiting": waiting });
            let found = world.ok(&agent("Watcher"), "attention_list", input);
            let of = |rows: &Value| {
                let reasons = column(&list(rows), "reason").into_iter();
                reasons.filter(|reason| reason.starts_with("answer") || reason.starts_with("message")).collect::<Vec<_>>()
            };
            (of(&found["mine"]), of(&found["items"]))
        };
        let two = ["answer_waiting", "answer_waiting"].map(str::to_owned).to_vec();
        assert_eq!(reasons(world, "Iris", false), (two.clone(), Vec::new()), "what is no question is done with once it is read");
        assert_eq!(reasons(world, "Omar", true), (Vec::new(), two));
        world.advance(3_600_001);
        let late = ["answer_late", "answer_late"].map(str::to_owned).to_vec();
        assert_eq!(reasons(world, "Iris", false), (late.clone(), late.clone()));
        assert_eq!(reasons(world, "Omar", false), (late.clone(), late));
        let question_row = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": "Omar", "reason": "answer_late" }))["mine"][0].clone();
        assert_eq!(column(&list(&question_row["actions"]), "action"), ["reply"], "what was read is not taken back");
        // Who answers has done with it; the other goes on waiting.
        world.ok(&agent("Iris"), "mail_send", json!({ "reply_to": first["message_id"], "body": "take mine" }));
        let left = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": "Iris", "reason": "answer_late" }));
        assert_eq!(column(&list(&left["mine"]), "subject"), ["Question: Which price?"], "{left:#}");
        let question = text(&left["mine"][0], "id");
        world.ok(&agent("Iris"), "mail_ack", json!({ "message_id": question }));
        assert_eq!(reasons(world, "Omar", true), (Vec::new(), Vec::new()), "an acknowledgement is an answer");
    }

    fn a_task_that_was_given_up_says_so_and_how_it_goes_on(world) {
        let rob = agent("Rob");
        world.start(&rob);
        let task = text(&world.ok(&rob, "task_create", json!({ "title": "Flaky test" })), "id");
        for _ in 0..3 {
            world.ok(&rob, "task_claim", json!({ "id": task }));
            world.ok(&rob, "task_release", json!({ "id": task, "why": "it hangs" }));
        }
        let matter = |world: &mut World| world.ok(&agent("Ann"), "attention_list", json!({ "reason": "task_retried" }))["items"][0].clone();
        let open = matter(world);
        assert_eq!((&open["detail"], &open["blocked"]), (&json!("tried 3 times"), &Value::Null), "{open:#}");
        world.ok(&rob, "task_update", json!({ "id": task, "status": "blocked" }));
        let blocked = matter(world);
        assert_eq!((&blocked["detail"], &blocked["blocked"]), (&json!("tried 3 times, now blocked: it hangs"), &json!(true)), "{blocked:#}");
        assert_eq!(text(&blocked, "help"), format!("baton task update {task} --status open --project p"));
    }

    fn a_reply_acknowledges_and_only_that_of_its_receiver(world) {
        let omar = agent("Omar");
        world.start(&omar);
        world.start(&agent("Iris"));
        let sent = world.ok(&omar, "mail_send", json!({ "to": "Iris", "subject": "May I?", "ack_by_s": 1 }));
        world.advance(2_000);
        let late = |world: &mut World| world.ok(&agent("Watcher"), "attention_list", json!({ "reason": "ack_late" }))["total"].clone();
        assert_eq!(late(world), 1);
        world.ok(&omar, "mail_send", json!({ "reply_to": sent["message_id"], "body": "I still wait" }));
        assert_eq!(late(world), 1, "its sender acknowledges nothing");
        let answer = world.ok(&agent("Iris"), "mail_send", json!({ "reply_to": sent["message_id"], "body": "You may" }));
        assert_eq!(late(world), 0);
        let thread = world.ok(&omar, "mail_thread", json!({ "message_id": answer["message_id"] }));
        assert!(!thread["items"][0]["acked_at"].is_null(), "{thread:#}");
    }

    fn a_hand_off_that_came_back_is_its_senders_matter_until_it_is_sent_again(world) {
        world.register("q");
        let ann = agent("Ann");
        let create = |world: &mut World, subject: &str| {
            let made = world.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": subject }));
            world.settle();
            made["handoff_id"].clone()
        };
        let (first, second) = (create(world, "the guide"), create(world, "the prices"));
        let bob = agent("Bob").project("q");
        for id in [&first, &second] {
            world.ok(&bob, "handoff_advance", json!({ "id": id, "action": "decline", "result": "again after the 7th" }));
            world.advance(1_000);
        }
        let mine = |world: &mut World| {
            let shown = world.ok(&agent("Watcher"), "attention_list", json!({ "identity": "Ann" }));
            assert_eq!(shown["total"], list(&shown["items"]).len(), "{shown:#}");
            list(&shown["mine"])
        };
        let matters = mine(world);
        assert_eq!(column(&matters, "subject"), ["the guide", "the prices"]);
        assert_eq!((&matters[0]["reason"], &matters[0]["detail"]), (&json!("handoff_returned"), &json!("declined: again after the 7th")));
        create(world, "the guide");
        assert_eq!(column(&mine(world), "subject"), ["the prices"], "it was sent again");
        // Left anew for another project it is done with as well, for its sender and for all others.
        world.register("r");
        let anew = json!({ "to_project_id": "r", "subject": "the prices", "replaces": second });
        world.ok(&ann, "handoff_create", anew.clone());
        world.settle();
        assert_eq!(mine(world), Vec::<Value>::new());
        let others = world.ok(&agent("Watcher"), "attention_list", json!({ "reason": "handoff_returned" }));
        assert_eq!(others["total"], 0, "{others:#}");
        let other = create(world, "the stock");
        let wrong = json!({ "to_project_id": "r", "subject": "the stock", "replaces": other });
        world.no_trace(&ann, "handoff_create", wrong, "handoff_state");
    }

    fn an_agent_that_is_at_work_and_writes_nothing_is_a_matter_with_its_last_words(world) {
        let lola = agent("Lola");
        let begun = world.start(&lola);
        world.ok(&lola, "ledger_note", json!({ "text": "reads the law" }));
        let alive = |world: &mut World, minutes: i64| {
            for _ in 0..minutes / 5 {
                world.advance(300_000);
                world.ok(&lola, "session_heartbeat", json!({ "session": begun["session_id"] }));
            }
        };
        alive(world, 115);
        assert_eq!(world.ok(&agent("Ann"), "attention_list", json!({}))["total"], 0);
        alive(world, 10);
        let shown = world.ok(&agent("Ann"), "attention_list", json!({ "identity": "Lola" }));
        let matter = &shown["items"][0];
        assert_eq!((&matter["reason"], &matter["subject"]), (&json!("session_quiet"), &json!("reads the law")), "{shown:#}");
        assert_eq!(list(&shown["mine"]).len(), 1);
        world.checkpoint(&lola, "half of it");
        assert_eq!(world.ok(&agent("Ann"), "attention_list", json!({}))["total"], 0);
        // Silence after a note is told with the note.
        world.advance(600_001);
        assert_eq!(world.ok(&agent("Ann"), "attention_list", json!({}))["items"][0]["subject"], "half of it");
    }

    fn a_silent_session_without_a_checkpoint_says_its_last_note_or_its_task(world) {
        let (lola, donna) = (agent("Lola"), agent("Donna"));
        world.start(&lola);
        world.ok(&lola, "ledger_note", json!({ "text": "reads the law" }));
        world.start(&donna);
        let task = world.ok(&donna, "task_create", json!({ "title": "paint the shed" }));
        world.ok(&donna, "task_claim", json!({ "id": task["id"] }));
        world.advance(3_600_001);
        let shown = world.ok(&agent("Ann"), "attention_list", json!({ "reason": "session_silent" }));
        let mut words = column(&list(&shown["items"]), "subject");
        words.sort();
        assert_eq!(words, ["paint the shed", "reads the law"], "{shown:#}");
    }

    fn a_task_that_was_tried_again_and_a_blocked_p0_are_matters(world) {
        let ann = agent("Ann");
        let first = world.ok(&ann, "task_create", json!({ "title": "the ground", "priority": 2 }));
        let second = world.ok(&ann, "task_create", json!({ "title": "the roof", "priority": 0, "deps": [text(&first, "id")] }));
        let shown = world.ok(&ann, "attention_list", json!({}));
        assert_eq!(shown["total"], 1, "{shown:#}");
        let matter = &shown["items"][0];
        assert_eq!((&matter["reason"], &matter["id"]), (&json!("task_blocked"), &second["id"]));
        let id = text(&first, "id");
        assert_eq!(text(matter, "detail"), format!("waits for {id} “the ground”, which is open, and nobody is at work on it"), "{matter:#}");
        world.start(&ann);
        world.ok(&ann, "task_claim", json!({ "id": id }));
        let shown = world.ok(&ann, "attention_list", json!({ "reason": "task_blocked" }));
        assert_eq!(text(&shown["items"][0], "detail"), format!("waits for {id} “the ground”, at which Ann is at work"));
        world.ok(&ann, "task_close", json!({ "id": first["id"], "reason": "done" }));
        assert_eq!(world.ok(&ann, "attention_list", json!({}))["total"], 0);
    }

    fn a_silent_agent_that_holds_work_comes_first_and_what_only_waits_last(world) {
        world.leave_baton(&agent("Old"), "waits for long");
        world.advance(7_200_000);
        world.leave_baton(&agent("New"), "left just now");
        world.start(&agent("Idle"));
        let kim = agent("Kim");
        let given = text(&world.leave_baton(&agent("Giver"), "half of it"), "delta_id");
        world.ok(&kim, "hd_exec", json!({ "handoff_id": given }));
        world.advance(600_001);
        // Page by page, so that a cursor keeps the order.
        let items = all_pages(world, json!({ "limit": 1, "waiting": true }));
        let seen: Vec<String> = items.iter().map(|one| format!("{} {}", text(one, "reason"), text(one, "from"))).collect();
        assert_eq!(seen, ["session_silent Kim", "baton_starving Old", "session_silent Idle", "baton_waiting New"], "{items:#?}");
        assert!(text(&items[0], "detail").starts_with("holds a baton; "), "{:#}", items[0]);
        world.no(&agent("Ann"), "attention_list", json!({ "cursor": "170_id" }), "cursor_invalid");
    }

    fn a_blocked_task_that_was_tried_again_and_again_is_one_matter(world) {
        let rob = agent("Rob");
        world.start(&rob);
        let task = text(&world.ok(&rob, "task_create", json!({ "title": "Prices", "priority": 0 })), "id");
        for _ in 0..3 {
            world.ok(&rob, "task_claim", json!({ "id": task }));
            world.ok(&rob, "task_release", json!({ "id": task, "why": "it locks" }));
        }
        world.ok(&rob, "task_update", json!({ "id": task, "status": "blocked" }));
        let items = all_pages(world, json!({ "limit": 1 }));
        assert_eq!(column(&items, "reason"), ["task_retried"], "{items:#?}");
        let shown = world.ok(&agent("Ann"), "attention_list", json!({}));
        assert_eq!(shown["counts"], json!([{ "reason": "task_retried", "count": 1 }]));
        assert_eq!(shown["sections"], json!({ "mine": 0, "concern": 1, "waiting": 0 }));
        let only = world.ok(&agent("Ann"), "attention_list", json!({ "reason": "task_blocked" }));
        assert_eq!(only["total"], 1, "who asks for blocked ones sees it as one: {only:#}");
    }

    fn the_age_of_a_blocked_task_is_that_of_its_block(world) {
        let ann = agent("Ann");
        let create = |world: &mut World, title: &str| text(&world.ok(&ann, "task_create", json!({ "title": title, "priority": 0 })), "id");
        let (given_up, waits, first) = (create(world, "Prices"), create(world, "Roof"), create(world, "Ground"));
        world.advance(86_400_000);
        let blocked_at = world.now;
        world.ok(&ann, "task_update", json!({ "id": given_up, "status": "blocked" }));
        world.advance(3_600_000);
        let waits_at = world.now;
        world.ok(&ann, "task_depend", json!({ "id": waits, "on": first }));
        world.advance(3_600_000);
        let items = all_pages(world, json!({ "reason": "task_blocked", "limit": 1 }));
        let rfc3339 = baton_model::time::rfc3339;
        assert_eq!(column(&items, "id"), [given_up, waits], "{items:#?}");
        assert_eq!(column(&items, "since"), [rfc3339(blocked_at), rfc3339(waits_at)], "{items:#?}");
    }

    fn a_silent_agent_says_how_much_it_holds(world) {
        let kim = agent("Kim");
        world.start(&kim);
        for title in ["one", "two"] {
            let id = world.ok(&kim, "task_create", json!({ "title": title }))["id"].clone();
            world.ok(&kim, "task_claim", json!({ "id": id, "lease_s": 86_400 }));
        }
        let id = world.ok(&kim, "task_create", json!({ "title": "three" }))["id"].clone();
        world.ok(&kim, "task_claim", json!({ "id": id, "lease_s": 900 }));
        world.ok(&kim, "lease_take", json!({ "patterns": ["src/"], "why": "index", "for_s": 86_400 }));
        world.advance(3_600_001);
        let items = all_pages(world, json!({ "reason": "session_silent" }));
        assert_eq!(text(&items[0], "detail"), "holds 2 tasks, 1 lease, 1 task whose claim has run out; last sign of life 1h ago");
    }

    fn what_one_sent_and_nobody_took_is_ones_own_matter(world) {
        world.register("q");
        let vera = agent("Vera");
        world.start(&vera);
        world.start(&agent("Lola"));
        world.ok(&vera, "handoff_create", json!({ "to_project_id": "q", "subject": "the guide" }));
        world.advance(1);
        world.ok(&vera, "mail_send", json!({ "to": "Lola", "type": "Question", "subject": "Which law?", "body": "?" }));
        let mine = |world: &mut World, name: &str| column(&list(&world.ok(&agent(name), "attention_list", json!({ "identity": name, "waiting": true }))["mine"]), "reason");
        assert!(mine(world, "Vera").is_empty(), "what has just been sent is the other's");
        world.advance(3_600_001);
        let own = mine(world, "Vera");
        assert_eq!(own.iter().filter(|one| *one != "session_silent").collect::<Vec<_>>(), ["handoff_starving", "message_unread"], "{own:?}");
        assert!(!mine(world, "Zoe").contains(&"handoff_starving".to_owned()));
    }

    fn an_isolated_project_is_not_seen_from_outside(world) {
        let there = agent("Lola").nameless().at("/lone", None);
        world.ok(&there, "project_init", json!({ "id": "lone", "isolated": true }));
        world.leave_baton(&agent("Lola").project("lone"), "secret");
        world.advance(3_600_001);
        let outside = agent("Ann");
        assert_eq!(world.ok(&outside, "attention_list", json!({}))["total"], 0);
        assert_eq!(world.ok(&outside, "baton_list", json!({ "all": true }))["total"], 0);
        let inside = agent("Ann").project("lone");
        assert_eq!(world.ok(&inside, "attention_list", json!({}))["total"], 1, "inside it is");
        assert_eq!(world.ok(&inside, "baton_list", json!({ "all": true }))["total"], 1);
    }

    fn batons_are_listed_by_state_and_addressee_with_their_total(world) {
        let mut left = Vec::new();
        for n in 0..5 {
            left.push(world.leave_baton(&agent(&format!("A{n}")), &format!("part {n}")));
            world.advance(1_000);
        }
        let donna = agent("Donna");
        world.start(&donna);
        world.ok(&donna, "session_wrap", json!({ "summary": "for Ann", "to": "Ann" }));
        let ann = agent("Ann");
        let page = world.ok(&ann, "baton_list", json!({ "limit": 4 }));
        assert_eq!((&page["total"], page["items"].as_array().map(Vec::len)), (&json!(6), Some(4)), "{page:#}");
        let rest = world.ok(&ann, "baton_list", json!({ "limit": 4, "cursor": page["next"] }));
        assert_eq!(column(&list(&rest["items"]), "summary"), ["part 4", "for Ann"]);
        assert!(rest["next"].is_null());
        let own = world.ok(&ann, "baton_list", json!({ "to": "ann" }));
        assert_eq!((&own["total"], column(&list(&own["items"]), "summary")), (&json!(1), vec!["for Ann".to_owned()]));
        let bob = agent("Bob");
        world.ok(&bob, "hd_exec", json!({ "handoff_id": text(&left[0], "delta_id") }));
        let count = |world: &mut World, state: &str| world.ok(&ann, "baton_list", json!({ "state": state }))["total"].clone();
        assert_eq!((count(world, "held"), count(world, "open"), count(world, "abandoned")), (json!(1), json!(5), json!(0)));
        world.advance(600_001);
        assert_eq!((count(world, "held"), count(world, "open"), count(world, "abandoned")), (json!(0), json!(5), json!(1)));
        assert_eq!(world.ok(&ann, "baton_list", json!({}))["total"], 6);
        world.wrap(&bob, "went on");
        assert_eq!((count(world, "spent"), count(world, "abandoned")), (json!(1), json!(0)));
        world.no(&ann, "baton_list", json!({ "state": "lost" }), "state_unknown");
    }

    fn a_heartbeat_finds_its_session_by_its_id_from_anywhere(world) {
        let lola = agent("Lola");
        let begun = world.start(&lola);
        let input = json!({ "session": begun["session_id"] });
        let away = agent("Lola").nameless().at("/elsewhere", None);
        let heard = world.ok(&away, "session_heartbeat", input);
        assert_eq!((&heard["session_id"], &heard["identity"]), (&begun["session_id"], &json!("Lola")), "{heard:#}");
        let id = text(&begun, "session_id");
        let guessed = world.call(&away, "session_heartbeat", json!({ "session": &id[..20] }));
        assert!(guessed.is_err(), "a beginning of an id is not looked for in every project: {guessed:#?}");
    }

    fn the_document_of_an_agent_at_work_says_so(world) {
        let lola = agent("Lola");
        let begun = world.start(&lola);
        let shown = |world: &mut World| {
            let input = json!({ "session": begun["session_id"] });
            text(&world.ok(&agent("Ann"), "session_handoff", input), "document")
        };
        assert!(shown(world).contains("Lola is at work and has saved nothing yet."), "{}", shown(world));
        world.checkpoint(&lola, "half of the tax");
        assert!(shown(world).contains("Lola is at work; saved last: half of the tax"), "{}", shown(world));
        world.advance(600_001);
        assert!(shown(world).contains("Lola did not wrap. Saved last: half of the tax"), "{}", shown(world));
    }

    fn a_baton_and_a_session_are_read_by_their_ids(world) {
        let lola = agent("Lola");
        let begun = world.start(&lola);
        let left = world.wrap(&lola, "half of it");
        let baton = text(&left, "delta_id");
        let outside = agent("Ann").nameless();
        for id in [baton.as_str(), &baton[..30]] {
            let shown = world.ok(&outside, "baton_show", json!({ "id": id }));
            assert_eq!((&shown["summary"], &shown["state"]), (&json!("half of it"), &json!("open")));
            assert!(text(&shown, "packet").contains("half of it"));
        }
        let donna = agent("Donna");
        let next = world.pickup(&donna);
        let shown = world.ok(&outside, "session_show", json!({ "session": next["session_id"] }));
        assert_eq!(column(&list(&shown["way"]), "identity"), ["Lola", "Donna"], "{shown:#}");
        let first = world.ok(&outside, "session_show", json!({ "session": begun["session_id"] }));
        assert_eq!(first["left"]["baton_id"], json!(baton));
        world.no(&outside, "session_show", json!({ "session": "nothing-like-it" }), "session_unknown");
        world.no(&outside, "baton_show", json!({ "id": "nothing-like-it" }), "baton_unknown");
    }

    fn the_history_is_read_page_by_page(world) {
        for n in 0..5 {
            world.leave_baton(&agent(&format!("A{n}")), &format!("part {n}"));
            world.advance(1_000);
        }
        let ann = agent("Ann");
        let page = world.ok(&ann, "session_history", json!({ "limit": 3 }));
        assert_eq!(column(&list(&page["items"]), "identity"), ["A4", "A3", "A2"]);
        let rest = world.ok(&ann, "session_history", json!({ "limit": 3, "cursor": page["next"] }));
        assert_eq!(column(&list(&rest["items"]), "identity"), ["A1", "A0"]);
        assert!(rest["next"].is_null() && rest["more"] == false);
        world.start(&ann);
        world.checkpoint(&ann, "reading");
        let open = world.ok(&ann, "session_history", json!({ "all": true, "open": true }));
        assert_eq!(open["items"][0]["last_checkpoint"]["summary"], "reading", "{open:#}");
        world.no(&ann, "session_history", json!({ "all": true }), "input_invalid");
    }

    fn hand_offs_of_all_projects_are_listed_with_their_total_and_their_description(world) {
        world.register("q");
        let ann = agent("Ann");
        let mut made = Vec::new();
        for n in 0..4 {
            made.push(world.ok(&ann, "handoff_create", json!({ "to_project_id": "q", "subject": format!("work {n}"), "description": "They expire" })));
            world.settle();
            world.advance(1_000);
        }
        let page = world.ok(&ann.clone().project("q"), "handoff_list", json!({ "all": true, "limit": 3 }));
        assert_eq!((&page["total"], column(&list(&page["items"]), "subject")), (&json!(4), vec!["work 3".to_owned(), "work 2".into(), "work 1".into()]), "{page:#}");
        let rest = world.ok(&ann, "handoff_list", json!({ "all": true, "limit": 3, "cursor": page["next"] }));
        assert_eq!(column(&list(&rest["items"]), "subject"), ["work 0"]);
        assert_eq!(list(&world.ok(&ann, "handoff_list", json!({}))["items"]).len(), 4);
        let one = world.ok(&ann, "handoff_show", json!({ "id": made[0]["handoff_id"] }));
        assert_eq!(one["description"], "They expire", "{one:#}");
    }
}
