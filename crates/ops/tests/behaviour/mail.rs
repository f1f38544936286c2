//! Mail: sent, listed, read, acknowledged, answered, searched; to names, to roles, to other projects.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

/// Lola, Donna and two testers are known in the project.
fn people(w: &mut World) {
    for name in ["Lola", "Donna"] {
        w.ok(&agent(name), "agent_register", json!({ "program": "codex" }));
    }
    for name in ["Tess", "Theo"] {
        w.ok(&agent(name), "agent_register", json!({ "roles": ["testing"] }));
    }
}

fn send(w: &mut World, from: &str, to: &str, subject: &str) -> String {
    text(&w.ok(&agent(from), "mail_send", json!({ "to": to, "subject": subject, "body": "b" })), "message_id")
}

fn inbox(w: &mut World, who: &Agent) -> Vec<Value> {
    list(&w.ok(who, "mail_inbox", json!({}))["items"])
}

fn subjects(w: &mut World, who: &Agent) -> Vec<String> {
    column(&inbox(w, who), "subject")
}

/// Reads a message and marks it, as a face does once it has written it out.
fn read(w: &mut World, who: &Agent, id: &str) -> Value {
    let answer = w.ok(who, "mail_read", json!({ "message_id": id }));
    w.ok(who, "signal_delivered", json!({ "message_ids": answer["deliver"] }));
    answer
}

fn handoff() -> Value {
    json!({
        "task_id": "p-1", "task_title": "Round once", "handoff_type": "implementation_to_testing",
        "context": { "work_completed": "done", "files_modified": ["cart.py:1-9"], "test_command": "pytest" }, "urgency": "high",
    })
}

on_every_backend! {
    fn mail_is_listed_without_being_taken_and_read_once(w) {
        people(w);
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "dONNA", "subject": "cart", "body": "a\nb", "importance": "high" }));
        assert_eq!((&sent["to"], &sent["importance"], &sent["type"]), (&json!("Donna"), &json!("high"), &json!("message")));
        let before = w.everything();
        let waiting = inbox(w, &agent("Donna"));
        assert_eq!((&waiting[0]["excerpt"], waiting[0].get("body")), (&json!("a"), None));
        assert_eq!(w.everything(), before, "looking takes nothing");
        let got = read(w, &agent("Donna"), &text(&sent, "message_id"));
        assert_eq!((&got["body"], &got["from"], &got["taken"]), (&json!("a\nb"), &json!("Lola"), &json!(false)));
        assert!(inbox(w, &agent("Donna")).is_empty());
        let all = w.ok(&agent("Donna"), "mail_inbox", json!({ "all": true }));
        assert_eq!(list(&all["items"]).len(), 1);
        assert_eq!(read(w, &agent("Donna"), &text(&sent, "message_id"))["deliver"], json!([]), "reading again marks nothing");
    }

    fn an_answer_that_was_lost_on_its_way_to_the_reader_is_not_lost(w) {
        people(w);
        let id = send(w, "Lola", "Donna", "s");
        w.ok(&agent("Donna"), "mail_read", json!({ "message_id": id }));
        assert_eq!(inbox(w, &agent("Donna")).len(), 1, "until the face has marked it, it waits");
    }

    fn signals_and_mail_are_one_store(w) {
        people(w);
        send(w, "Lola", "Donna", "letter");
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "signal", "type": "Question" }));
        assert_eq!(subjects(w, &agent("Donna")), ["letter", "signal"]);
        assert_eq!(column(&w.pending(&agent("Donna")), "subject"), ["letter", "signal"]);
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(list(&picked["pending_signals"]).len(), 2, "a pickup brings both");
    }

    fn hand_offs_come_before_older_mail(w) {
        people(w);
        send(w, "Lola", "Donna", "older");
        w.ok(&agent("Lola"), "mail_send", json!({ "to": "Donna", "subject": "pressing", "importance": "critical" }));
        let typed = json!({ "to": "Donna", "type": "task_handoff", "content": handoff() });
        w.ok(&agent("Lola"), "mail_send", typed);
        assert_eq!(subjects(w, &agent("Donna")), ["Handoff: Round once", "pressing", "older"]);
        let one = w.ok(&agent("Donna"), "mail_inbox", json!({ "limit": 1 }));
        assert_eq!((column(&list(&one["items"]), "type"), &one["next"]), (vec!["task_handoff".to_owned()], &json!(1)));
    }

    fn a_hand_off_message_is_completed_and_kept_whole(w) {
        people(w);
        let input = json!({ "to": "Donna", "type": "task-handoff", "body": handoff().to_string() });
        let sent = w.ok(&agent("Lola"), "mail_send", input);
        let got = read(w, &agent("Donna"), &text(&sent, "message_id"));
        let content = &got["content"];
        assert_eq!((&content["version"], &content["type"]), (&json!("1.0.0"), &json!("task_handoff")));
        assert_eq!((&content["from_agent"], &content["to_agent"]), (&json!("Lola"), &json!("Donna")));
        assert_eq!((&content["context"], &got["importance"]), (&handoff()["context"], &json!("high")));
        assert_eq!(content["timestamp"], got["created_at"]);
    }

    fn a_hand_off_message_that_does_not_fit_is_refused_with_the_path_of_the_fault(w) {
        people(w);
        let mut bad = handoff();
        bad["context"]["files_modified"] = json!(["a", 7]);
        let refusal = w.no_trace(&agent("Lola"), "mail_send", json!({ "to": "Donna", "type": "task_handoff", "content": bad }), "content_invalid");
        assert_eq!(refusal["path"], "context.files_modified[1]");
        let mut other = handoff();
        other["to_agent"] = json!("Tess");
        let refusal = w.no_trace(&agent("Lola"), "mail_send", json!({ "to": "Donna", "type": "task_handoff", "content": other }), "content_invalid");
        assert_eq!(refusal["path"], "to_agent");
        w.no_trace(&agent("Lola"), "mail_send", json!({ "to": "Donna", "type": "fix_complete", "body": "fixed" }), "content_invalid");
    }

    fn an_unknown_recipient_is_refused_with_near_names_unless_it_is_to_wait_for_them(w) {
        people(w);
        w.start(&agent("BlueLake"));
        let lola = agent("Lola");
        let refusal = w.no_trace(&lola, "mail_send", json!({ "to": "BlueLak", "subject": "s" }), "recipient_unknown");
        assert_eq!(refusal["near"], json!(["BlueLake"]));
        send(w, "Lola", "bluelake", "known from a session");
        send(w, "Lola", "Bot", "anybody");
        let sent = w.ok(&lola, "mail_send", json!({ "to": "Zoe", "subject": "s", "wait": true }));
        assert_eq!(sent["warnings"][0]["kind"], "recipient_waited_for");
        assert_eq!(subjects(w, &agent("Zoe")), ["s"], "it waits for somebody who is not there yet");
    }

    fn mail_for_a_role_is_given_to_whoever_takes_it_first_and_to_nobody_else(w) {
        people(w);
        let id = send(w, "Lola", "role:testing-specialist", "test it");
        assert_eq!(column(&inbox(w, &agent("Tess")), "to"), ["role:testing"]);
        assert_eq!(subjects(w, &agent("Theo")), ["test it"]);
        assert!(inbox(w, &agent("Donna")).is_empty());
        w.no_trace(&agent("Donna"), "mail_read", json!({ "message_id": id }), "role_missing");
        let got = read(w, &agent("Tess"), &id);
        assert_eq!((&got["taken"], &got["to"], &got["role"]), (&json!(true), &json!("Tess"), &json!("testing")));
        assert!(inbox(w, &agent("Theo")).is_empty());
        let late = w.no_trace(&agent("Theo"), "mail_read", json!({ "message_id": id }), "message_taken");
        assert_eq!(late["taken_by"], "Tess");
        w.no_trace(&agent("Theo"), "mail_ack", json!({ "message_id": id }), "message_taken");
        assert_eq!(read(w, &agent("Tess"), &id)["body"], "b", "its taker can read it again");
    }

    fn what_was_taken_and_not_written_out_waits_for_its_taker(w) {
        people(w);
        let id = send(w, "Lola", "role:testing", "test it");
        w.ok(&agent("Tess"), "mail_read", json!({ "message_id": id }));
        assert_eq!(subjects(w, &agent("Tess")), ["test it"]);
        assert!(inbox(w, &agent("Theo")).is_empty());
    }

    fn whoever_starts_or_picks_up_is_reminded_of_the_mail_of_its_roles(w) {
        people(w);
        send(w, "Lola", "role:testing", "test it");
        let kinds = |answer: &Value| column(&list(&answer["rules_reminders"]), "kind");
        let started = w.start(&agent("Tess"));
        assert!(kinds(&started).contains(&"mail_waits".to_owned()), "{started:#}");
        w.end(&agent("Tess"));
        assert!(kinds(&w.pickup(&agent("Theo"))).contains(&"mail_waits".to_owned()));
        w.end(&agent("Theo"));
        assert!(!kinds(&w.start(&agent("Donna"))).contains(&"mail_waits".to_owned()), "it is none of hers");
        assert_eq!(inbox(w, &agent("Tess")).len(), 1, "and nothing is taken by that");
    }

    fn an_unknown_role_is_refused(w) {
        people(w);
        let refusal = w.no_trace(&agent("Lola"), "mail_send", json!({ "to": "role:tseting", "subject": "s" }), "role_unknown");
        assert_eq!(refusal["near"], json!(["testing"]));
    }

    fn acknowledging_tells_the_sender_once_and_takes_mail_of_a_role(w) {
        people(w);
        let request = json!({ "to": "role:testing", "subject": "test it", "ack_by_s": 60 });
        let sent = w.ok(&agent("Lola"), "mail_send", request);
        let ack = json!({ "message_id": &text(&sent, "message_id")[..24], "body": "on it" });
        let first = w.ok(&agent("Tess"), "mail_ack", ack.clone());
        assert_eq!((&first["acked_before"], &first["to"]), (&json!(false), &json!("Lola")));
        assert_eq!(w.ok(&agent("Tess"), "mail_ack", ack)["acked_before"], true);
        let received = inbox(w, &agent("Lola"));
        assert_eq!(column(&received, "type"), ["Acknowledgment"]);
        assert_eq!((&received[0]["from"], &received[0]["reply_to"], &received[0]["thread_id"]), (&json!("Tess"), &sent["message_id"], &sent["message_id"]));
        assert!(inbox(w, &agent("Tess")).is_empty());
    }

    fn what_asks_for_an_acknowledgement_stays_in_the_inbox_until_it_has_one(w) {
        people(w);
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Donna", "subject": "s", "ack_required": true }));
        assert_eq!(sent["ack_by"], "2026-11-21T10:00:00.000Z", "a day, unless something else is said");
        let id = text(&sent, "message_id");
        read(w, &agent("Donna"), &id);
        assert_eq!(inbox(w, &agent("Donna"))[0]["overdue"], false);
        w.advance(86_400_001);
        assert_eq!(inbox(w, &agent("Donna"))[0]["overdue"], true);
        assert_eq!(w.ok(&agent("Lola"), "audit_report", json!({}))["overdue"][0]["message_id"], id.as_str());
        w.ok(&agent("Donna"), "mail_ack", json!({ "message_id": id }));
        assert!(inbox(w, &agent("Donna")).is_empty());
    }

    fn a_reply_goes_to_the_other_side_and_stays_in_its_thread(w) {
        people(w);
        let first = send(w, "Lola", "Donna", "cart");
        let reply = w.ok(&agent("Donna"), "mail_send", json!({ "reply_to": first, "body": "yes" }));
        assert_eq!((&reply["to"], &reply["subject"], &reply["thread_id"]), (&json!("Lola"), &json!("Re: cart"), &json!(first)));
        let again = w.ok(&agent("Donna"), "mail_send", json!({ "reply_to": reply["message_id"], "body": "and" }));
        assert_eq!((&again["to"], &again["subject"]), (&json!("Lola"), &json!("Re: cart")), "one who writes again writes to the same");
        send(w, "Lola", "Donna", "other");
        let thread = w.ok(&agent("Lola"), "mail_thread", json!({ "message_id": again["message_id"] }));
        assert_eq!(column(&list(&thread["items"]), "body"), ["b", "yes", "and"]);
        assert_eq!(list(&thread["deliver"]).len(), 2, "those that Lola had not read");
        w.no_trace(&agent("Tess"), "mail_send", json!({ "reply_to": first, "body": "me too" }), "message_unknown");
    }

    fn threads_are_listed_for_one_who_looks_on_and_stay_unread(w) {
        people(w);
        let first = send(w, "Lola", "Donna", "cart");
        w.ok(&agent("Donna"), "mail_send", json!({ "reply_to": first, "body": "yes" }));
        let other = send(w, "Lola", "Donna", "other");
        let threads = w.ok(&agent("Boss"), "mail_threads", json!({}));
        assert_eq!(column(&list(&threads["items"]), "subject"), ["other", "cart"]);
        assert_eq!(threads["items"][0]["message_id"], other.as_str());
        assert_eq!((&threads["items"][1]["messages"], &threads["items"][1]["waiting"]), (&json!(2), &json!(1)), "who answers has read it, and looking marks nothing");
        assert_eq!((&threads["items"][1]["thread_id"], &threads["items"][1]["people"]), (&json!(first), &json!(["Lola", "Donna"])));
        let short = w.ok(&agent("Boss"), "mail_threads", json!({ "limit": 1 }));
        assert_eq!((list(&short["items"]).len(), &short["more"]), (1, &json!(true)));
    }

    fn a_reply_that_names_its_receiver_goes_to_the_other_side_and_none_goes_to_nobody(w) {
        people(w);
        w.register("q");
        let ben = agent("Ben").project("q");
        w.ok(&ben, "agent_register", json!({}));
        let request = json!({ "to": "Ben", "to_project": "q", "subject": "port?", "body": "b", "ack_required": true });
        let question = text(&w.ok(&agent("Lola"), "mail_send", request), "message_id");
        let reply = |to: &str, body: &str| json!({ "to": to, "reply_to": question, "body": body });
        w.no_trace(&ben, "mail_send", reply("Lolla", "7077"), "recipient_unknown");
        w.no_trace(&ben, "mail_send", reply("Donna", "7077"), "recipient_unknown");
        assert_eq!(inbox(w, &ben).len(), 1, "the question is open");
        let sent = w.ok(&ben, "mail_send", reply("lola", "7077"));
        assert_eq!((&sent["to"], &sent["to_project_id"]), (&json!("Lola"), &json!("p")));
        assert_eq!(column(&inbox(w, &agent("Lola")), "subject"), ["Re: port?"]);
        // Who passes a question on to a colleague has not answered it.
        w.ok(&agent("Mia").project("q"), "agent_register", json!({}));
        let second = text(&w.ok(&agent("Lola"), "mail_send",
            json!({ "to": "Ben", "to_project": "q", "subject": "host?", "body": "b", "ack_required": true })), "message_id");
        w.ok(&ben, "mail_send", json!({ "to": "Mia", "reply_to": second, "body": "do you know?" }));
        let got = read(w, &ben, &second);
        assert_eq!(got["acked_at"], Value::Null, "{got:#}");
    }

    fn mail_goes_to_a_named_project_and_its_answer_comes_back(w) {
        people(w);
        w.register("q");
        let ben = agent("Ben").project("q");
        w.ok(&ben, "agent_register", json!({}));
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Ben", "to_project": "q", "subject": "IBAN", "body": "b", "ack_required": true }));
        assert_eq!((&sent["project_id"], &sent["to_project_id"]), (&json!("p"), &json!("q")));
        let got = read(w, &ben, &text(&sent, "message_id"));
        assert_eq!((&got["from"], &got["from_project_id"]), (&json!("Lola"), &json!("p")));
        assert!(inbox(w, &agent("Ben")).is_empty(), "the Ben of this project is another one");
        w.ok(&ben, "mail_ack", json!({ "message_id": sent["message_id"] }));
        let reply = w.ok(&ben, "mail_send", json!({ "reply_to": sent["message_id"], "body": "fixed" }));
        assert_eq!((&reply["to"], &reply["to_project_id"]), (&json!("Lola"), &json!("p")));
        assert_eq!(column(&inbox(w, &agent("Lola")), "type"), ["Acknowledgment", "message"]);
        let thread = json!({ "message_id": sent["message_id"] });
        for side in [agent("Lola"), ben] {
            let thread = w.ok(&side, "mail_thread", thread.clone());
            assert_eq!(list(&thread["items"]).len(), 3, "the thread is whole on both sides");
            assert!(thread["items"][0]["acked_at"].is_string());
        }
    }

    fn what_went_to_another_project_is_taken_back_there_too(w) {
        people(w);
        w.register("q");
        let ben = agent("Ben").project("q");
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Ben", "to_project": "q", "subject": "s", "wait": true }));
        let recall = json!({ "message_id": sent["message_id"] });
        w.ok(&agent("Lola"), "signal_recall", recall.clone());
        assert!(inbox(w, &ben).is_empty());
        w.no(&ben, "mail_read", recall.clone(), "message_recalled");
        w.no(&agent("Lola"), "signal_recall", recall, "message_delivered");
    }

    fn an_isolated_project_is_written_to_by_name_and_tells_no_names(w) {
        people(w);
        let owner = agent("Owner").project("q").at("/repos/q", None);
        w.ok(&owner, "project_init", json!({ "id": "q", "isolated": true }));
        w.ok(&agent("Ben").project("q"), "agent_register", json!({}));
        // Neither a refusal nor its lack, nor how a name is written there, tells who works in it.
        let answer = |w: &mut World, name: &str| {
            let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": name, "to_project": "q", "subject": "s" }));
            (sent["to"].clone(), column(&list(&sent["warnings"]), "kind"))
        };
        for name in ["Ben", "ben", "Benn"] {
            assert_eq!(answer(w, name), (json!(name), vec!["recipient_waited_for".to_owned()]));
        }
        assert_eq!(list(&w.ok(&agent("Ben").project("q"), "mail_inbox", json!({}))["items"]).len(), 2);
        w.no_trace(&agent("Ben").project("q"), "mail_send", json!({ "to": "Lolla", "subject": "s" }), "recipient_unknown");
    }

    fn an_unknown_project_is_refused_with_near_ones(w) {
        people(w);
        w.register("shop");
        let refusal = w.no_trace(&agent("Lola"), "mail_send", json!({ "to": "Ben", "to_project": "shpo", "subject": "s" }), "project_unknown");
        assert_eq!(refusal["near"], json!(["shop"]));
    }

    fn mail_is_searched_by_words_in_any_case(w) {
        people(w);
        w.ok(&agent("Lola"), "mail_send", json!({ "to": "Donna", "subject": "Cart", "body": "first\nrounding is off by Ünits" }));
        w.ok(&agent("Donna"), "mail_send", json!({ "to": "Tess", "subject": "tax", "body": "rounding" }));
        let search = |w: &mut World, who: &str, input: Value| list(&w.ok(&agent(who), "mail_search", input)["items"]);
        let found = search(w, "Rex", json!({ "query": "ROUNDING ünits lola" }));
        assert_eq!((found.len(), &found[0]["excerpt"]), (1, &json!("rounding is off by Ünits")));
        assert_eq!(column(&search(w, "Rex", json!({ "query": "rounding" })), "subject"), ["tax", "Cart"], "newest first");
        assert_eq!(column(&search(w, "Lola", json!({ "query": "rounding", "mine": true })), "subject"), ["Cart"]);
        let page = w.ok(&agent("Rex"), "mail_search", json!({ "query": "rounding", "limit": 1 }));
        assert_eq!((list(&page["items"]).len(), &page["next"]), (1, &json!(1)));
        w.no(&agent("Rex"), "mail_search", json!({ "query": "  " }), "query_invalid");
    }

    fn a_request_that_is_made_again_sends_nothing_again(w) {
        people(w);
        let input = json!({ "to": "Donna", "subject": "s", "request_id": "r" });
        let first = w.ok(&agent("Lola"), "mail_send", input.clone());
        assert_eq!(w.ok(&agent("Lola"), "mail_send", input)["message_id"], first["message_id"]);
        assert_eq!(inbox(w, &agent("Donna")).len(), 1);
    }

    fn a_stranger_reads_and_acknowledges_nothing(w) {
        people(w);
        let id = send(w, "Lola", "Donna", "s");
        w.no_trace(&agent("Rex"), "mail_read", json!({ "message_id": id }), "message_unknown");
        w.no_trace(&agent("Rex"), "mail_ack", json!({ "message_id": id }), "message_unknown");
        w.no_trace(&agent("Lola"), "mail_ack", json!({ "message_id": id }), "message_unknown");
        w.no_trace(&agent("Donna"), "mail_read", json!({ "message_id": "nothing" }), "message_unknown");
    }

    fn a_malformed_message_is_refused(w) {
        people(w);
        let lola = agent("Lola");
        for (input, code) in [
            (json!({ "to": "Donna" }), "message_invalid"),
            (json!({ "subject": "s" }), "message_invalid"),
            (json!({ "to": "Donna", "subject": "a\nb" }), "message_invalid"),
            (json!({ "to": "Donna", "subject": "s", "body": "x".repeat(64 * 1024 + 1) }), "message_invalid"),
            (json!({ "to": "Donna", "subject": "s", "ack_by_s": 0 }), "message_invalid"),
            (json!({ "to": "Donna", "subject": "s", "content": {} }), "message_invalid"),
            (json!({ "to": "Donna", "subject": "s", "type": "gossip" }), "message_type_unknown"),
            (json!({ "to": "Donna", "subject": "s", "importance": "very" }), "importance_unknown"),
            (json!({ "to": "a b", "subject": "s" }), "identity_invalid"),
        ] {
            w.no_trace(&lola, "mail_send", input, code);
        }
    }

    fn the_first_names_of_the_tools_are_understood(w) {
        people(w);
        let sent = w.ok(&agent("Lola"), "send_message", json!({ "to": "Donna", "subject": "s" }));
        assert_eq!(list(&w.ok(&agent("Donna"), "fetch_inbox", json!({}))["items"]).len(), 1);
        w.ok(&agent("Donna"), "acknowledge_message", json!({ "message_id": sent["message_id"] }));
        assert_eq!(list(&w.ok(&agent("Donna"), "list_agents", json!({}))["items"]).len(), 4);
    }

    fn mail_with_bodies_is_delivered_when_the_face_says_so(w) {
        people(w);
        send(w, "Lola", "Donna", "s");
        send(w, "Lola", "role:testing", "t");
        let all = w.ok(&agent("Donna"), "mail_inbox", json!({ "bodies": true }));
        assert_eq!((&all["items"][0]["body"], list(&all["deliver"]).len()), (&json!("b"), 1));
        let role = w.ok(&agent("Tess"), "mail_inbox", json!({ "bodies": true }));
        assert_eq!((role["items"][0].get("body"), list(&role["deliver"]).len()), (None, 0), "mail of a role is read one by one");
    }

    fn an_export_carries_mail(w) {
        people(w);
        let id = send(w, "Lola", "role:testing", "test it");
        let rows = json!(list(&w.ok(&agent("Rex"), "ledger_export", json!({}))["items"])).to_string();
        assert!(rows.contains(&id) && rows.contains("role:testing"), "{rows}");
    }
}

on_shared_backends! {
    fn mail_of_a_role_goes_to_one_of_many_who_reach_for_it(w) {
        people(w);
        for n in 0..16 {
            w.ok(&agent(&format!("T{n}")), "agent_register", json!({ "roles": ["testing"] }));
        }
        let id = send(w, "Lola", "role:testing", "test it");
        let taken: usize = std::thread::scope(|scope| {
            let ground = &w.ground;
            let reach = |n: u64| {
                let id = id.clone();
                scope.spawn(move || {
                    let mut beside = World::beside(ground, 100 + n);
                    match beside.call(&agent(&format!("T{n}")), "mail_read", json!({ "message_id": id })) {
                        Ok(answer) => usize::from(answer["taken"] == true),
                        Err(refusal) => {
                            assert_eq!(refusal["code"], "message_taken", "{refusal:#}");
                            0
                        }
                    }
                })
            };
            let threads: Vec<_> = (0..16).map(reach).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(taken, 1);
    }
}
