//! Repeated requests: whose an id is, and what another body, a damaged answer or another process under it come to.

use baton_model::access::{Bearer, Grant, Scope};
use baton_ops::all;
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, text};

/// Every verb that takes a request id, with two bodies that differ. The sender of the last one stands in `p`.
fn verbs() -> Vec<(&'static str, Value, Value)> {
    vec![
        ("session_start", json!({}), json!({ "surface": "gemini_cli" })),
        ("hd_exec", json!({}), json!({ "surface": "gemini_cli" })),
        (
            "mail_send",
            json!({ "to": "role:testing", "subject": "a" }),
            json!({ "to": "role:testing", "subject": "b" }),
        ),
        ("memory_add", json!({ "text": "a" }), json!({ "text": "b" })),
        (
            "handoff_create",
            json!({ "to_project_id": "q", "subject": "a" }),
            json!({ "to_project_id": "q", "subject": "b" }),
        ),
        ("session_wrap", json!({ "summary": "a" }), json!({ "summary": "b" })),
    ]
}

fn keyed(input: &Value, id: &str) -> Value {
    let mut input = input.clone();
    input["request_id"] = json!(id);
    input
}

/// The agent with a token of this id, bound to nothing.
fn with_token(who: Agent, id: &str) -> Agent {
    let bearer = Bearer { token_id: id.to_owned(), name: id.to_owned(), identities: None };
    let mut who = who;
    who.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

/// Makes every kept answer unreadable.
fn damage(w: &mut World) {
    let sql = "UPDATE request SET answer = '{\"torn'";
    w.store.write_shared(|tx| Ok(tx.execute(sql, &[])?)).expect("damaged");
    w.damaged = true;
}

on_every_backend! {
    fn two_names_never_share_an_id(w) {
        w.register("q");
        w.leave_baton(&agent("Lola"), "done");
        w.leave_baton(&agent("Lola"), "more");
        let ann = w.ok(&agent("Ann"), "hd_exec", json!({ "request_id": "1" }));
        let ben = w.call(&agent("Ben"), "hd_exec", json!({ "request_id": "1" }));
        let refusal = ben.expect_err("Ann has it");
        assert_eq!((&refusal["code"], &refusal["holder"]["session_id"]), (&json!("baton_claimed"), &ann["session_id"]));
        w.start(&agent("Ben"));
        let wrapped = w.ok(&agent("Ann"), "session_wrap", json!({ "summary": "what Ann did", "request_id": "w" }));
        let other = w.ok(&agent("Ben"), "session_wrap", json!({ "summary": "what Ben did", "request_id": "w" }));
        assert_ne!(wrapped["delta_id"], other["delta_id"]);
        let ledger = w.ledger().iter().map(Value::to_string).collect::<String>();
        assert!(ledger.contains("what Ann did") && ledger.contains("what Ben did"), "both are there");
    }

    fn another_body_under_an_id_writes_nothing(w) {
        w.register("q");
        for (verb, input, other) in verbs() {
            let first = w.ok(&agent("Ann"), verb, keyed(&input, "r"));
            let refusal = w.no_trace(&agent("Ann"), verb, keyed(&other, "r"), "request_mismatch");
            assert_eq!(refusal["request_id"], "r", "{verb}");
            let again = w.ok(&agent("Ann"), verb, keyed(&input, "r"));
            for id in ["session_id", "delta_id", "pickup_delta_id", "message_id", "memory_id", "handoff_id"] {
                assert_eq!(again[id], first[id], "{verb} {id}");
            }
        }
    }

    fn another_body_under_a_key_of_http_writes_nothing(w) {
        w.register("q");
        for (verb, input, other) in verbs() {
            let entry = all::find(verb).expect("an operation");
            w.once(&agent("Ann"), entry, input, "k").unwrap_or_else(|refusal| panic!("{verb}: {refusal}"));
            let before = w.everything();
            let refusal = w.once(&agent("Ann"), entry, other, "k").expect_err("another body");
            assert_eq!(refusal["code"], "request_mismatch", "{verb}");
            assert_eq!(w.everything(), before, "{verb}");
        }
        let create = all::find("task_create").expect("an operation");
        let ann = w.once(&agent("Ann"), create, json!({ "title": "t" }), "k").expect("made");
        let ben = w.once(&agent("Ben"), create, json!({ "title": "t" }), "k").expect("made");
        assert_ne!(ann["id"], ben["id"], "Ben has asked for one of his own");
        w.once(&agent("Ben"), create, json!({ "title": "u" }), "k").expect_err("another body");
    }

    fn who_took_a_message_of_a_role_hears_so_on_a_retry(w) {
        w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing"] }));
        let sent = w.ok(&agent("Ann"), "mail_send", json!({ "to": "role:testing", "subject": "s", "body": "the whole text" }));
        let read = all::find("mail_read").expect("an operation");
        let input = json!({ "message_id": sent["message_id"] });
        let first = w.once(&agent("Tess"), read, input.clone(), "k").expect("read");
        assert_eq!((&first["taken"], &first["deliver"]), (&json!(true), &json!([sent["message_id"]])));
        w.ok(&agent("Tess"), "signal_delivered", json!({ "message_ids": first["deliver"] }));
        let again = w.once(&agent("Tess"), read, input.clone(), "k").expect("read again");
        assert_eq!((&again["taken"], &again["deliver"], &again["body"]), (&first["taken"], &first["deliver"], &first["body"]));
        let anew = w.once(&agent("Tess"), read, input, "l").expect("read anew");
        assert_eq!(anew["taken"], false, "another request is another reading");
        let requests: Vec<String> = w.everything().into_iter().filter(|row| row.starts_with("request")).collect();
        assert!(!requests.is_empty() && !requests.join("\n").contains("the whole text"), "{requests:#?}");
    }

    fn an_id_is_each_verbs_own(w) {
        w.register("q");
        for (verb, input, _) in verbs() {
            w.ok(&agent("Ann"), verb, keyed(&input, "r"));
        }
    }

    fn a_damaged_answer_is_refused_and_nothing_is_done_again(w) {
        w.register("q");
        for (verb, input, _) in verbs() {
            w.ok(&agent("Ann"), verb, keyed(&input, "r"));
            damage(w);
            w.no_trace(&agent("Ann"), verb, keyed(&input, "r"), "request_unreadable");
        }
        let create = all::find("task_create").expect("an operation");
        w.once(&agent("Ann"), create, json!({ "title": "t" }), "k").expect("made");
        damage(w);
        let before = w.everything();
        let refusal = w.once(&agent("Ann"), create, json!({ "title": "t" }), "k").expect_err("damaged");
        assert_eq!(refusal["code"], "request_unreadable");
        assert_eq!(w.everything(), before);
    }

    fn a_retry_counts_though_its_process_was_started_anew(w) {
        w.register("q");
        let process = |n: usize| agent("Ann").process(&format!("p{n}"));
        for (n, (verb, input, _)) in verbs().iter().enumerate() {
            let first = w.ok(&process(n), verb, keyed(input, "r"));
            w.kill(&process(n));
            let again = w.ok(&process(n + 1), verb, keyed(input, "r"));
            for id in ["session_id", "delta_id", "pickup_delta_id", "message_id", "memory_id", "handoff_id"] {
                assert_eq!(again[id], first[id], "{verb} {id}");
            }
        }
        let (old, new) = (agent("Ann").process("old"), agent("Ann").process("new"));
        let begun = w.ok(&old, "session_start", json!({ "request_id": "s" }));
        w.kill(&old);
        w.ok(&new, "session_start", json!({ "request_id": "s" }));
        w.kill(&old);
        // The session is the new process's now.
        let third = agent("Ann").process("third");
        w.no_trace(&third, "session_start", json!({}), "identity_conflict");
        assert_eq!(w.start(&new)["session_id"], begun["session_id"]);
    }

    fn a_retry_from_another_process_of_a_name_gets_its_first_answer_and_no_second_session(w) {
        w.leave_baton(&agent("Lola"), "done");
        for (verb, name) in [("hd_exec", "Ann"), ("session_start", "Ben")] {
            let (one, two) = (agent(name).process(&format!("one-{name}")), agent(name).process("two"));
            let first = w.ok(&one, verb, json!({ "request_id": "1" }));
            // All but the number by which the writers of a project wait for each other.
            let rows = |w: &mut World| {
                w.everything().into_iter().filter(|row| !row.starts_with("project:")).collect::<Vec<_>>()
            };
            let before = rows(w);
            let again = w.ok(&two, verb, json!({ "request_id": "1" }));
            assert_eq!(rows(w), before, "{verb}: nothing is done now");
            assert_eq!((&again["session_id"], &again["replayed"]), (&first["session_id"], &json!(true)), "{verb}");
            // Nothing says that the first one has ended: it is at work in the session.
            let since = text(&again, "since");
            assert!(since.contains(&format!("process one-{name}")) && since.contains("BATON_SESSION"), "{verb}: {since}");
            w.no_trace(&two, verb, json!({ "request_id": "2" }), "identity_conflict");
            w.no_trace(&two, "session_checkpoint", json!({ "summary": "s" }), "session_not_yours");
            w.checkpoint(&two.clone().in_session(&first), "half");
            w.kill(&one);
            let gone = w.ok(&two, verb, json!({ "request_id": "1" }));
            assert_eq!((&gone["replayed"], gone.get("since")), (&json!(true), None), "{verb}");
            w.checkpoint(&two, "more");
        }
    }

    fn bots_are_told_apart_by_their_process(w) {
        let (one, two) = (agent("Bot").process("one"), agent("Bot").process("two"));
        let first = w.ok(&one, "session_start", json!({ "request_id": "1" }));
        let second = w.ok(&two, "session_start", json!({ "request_id": "1" }));
        assert_ne!(first["session_id"], second["session_id"]);
        assert_eq!(w.ok(&one, "session_start", json!({ "request_id": "1" }))["session_id"], first["session_id"]);
        let wrapped = w.ok(&one, "session_wrap", json!({ "summary": "one", "request_id": "w" }));
        let other = w.ok(&two, "session_wrap", json!({ "summary": "two", "request_id": "w" }));
        assert_ne!(wrapped["delta_id"], other["delta_id"]);
    }

    fn bots_of_one_process_are_told_apart_by_their_session(w) {
        let first = w.ok(&agent("Bot"), "session_start", json!({ "request_id": "1" }));
        let second = w.ok(&agent("Bot"), "session_start", json!({ "request_id": "2" }));
        let wrap = |w: &mut World, own: &Value, text: &str| {
            let who = agent("Bot").in_session(own);
            w.ok(&who, "session_wrap", json!({ "summary": text, "request_id": "w" }))
        };
        let (one, two) = (wrap(w, &first, "one"), wrap(w, &second, "two"));
        assert_ne!(one["delta_id"], two["delta_id"]);
        let again = wrap(w, &first, "one");
        assert_eq!((&again["delta_id"], &again["replayed"]), (&one["delta_id"], &json!(true)));
        assert_eq!(one.get("replayed"), None);
    }

    fn a_named_caller_without_a_process_gets_its_first_answer_again(w) {
        w.leave_baton(&agent("Lola"), "done");
        for (verb, name) in [("hd_exec", "Ann"), ("session_start", "Ben")] {
            let who = agent(name).process("");
            let first = w.ok(&who, verb, json!({ "request_id": "1" }));
            let again = w.ok(&who, verb, json!({ "request_id": "1" }));
            assert_eq!((&again["session_id"], &again["replayed"]), (&first["session_id"], &json!(true)), "{verb}");
            w.no(&who, verb, json!({ "request_id": "2" }), "identity_conflict");
        }
    }

    fn a_retry_is_told_what_is_not_so_any_more(w) {
        w.leave_baton(&agent("Lola"), "done");
        let pickup = json!({ "request_id": "1" });
        let first = w.ok(&agent("Ann"), "hd_exec", pickup.clone());
        assert_eq!(first.get("replayed"), None);
        let again = w.ok(&agent("Ann"), "hd_exec", pickup.clone());
        assert_eq!((&again["replayed"], again.get("since")), (&json!(true), None), "it holds still");
        assert_eq!(again["session_id"], first["session_id"]);
        w.ok(&agent("Ben"), "hd_exec", json!({ "force": true, "why": "urgent" }));
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Ann", "subject": "s" }));
        let over = w.ok(&agent("Ann"), "hd_exec", pickup);
        let since = text(&over, "since");
        assert!(since.contains("was taken over just now by Ben") && since.contains("taken by Ben"), "{since}");
        assert!(text(&over, "instruction").contains("not yours"), "{over:#}");
        assert_eq!(over["pending_signals"], json!([]), "what waits is not given to one who is not at work");
    }

    fn a_retry_of_a_start_is_told_that_its_session_is_over(w) {
        let start = json!({ "request_id": "1" });
        let first = w.ok(&agent("Ann"), "session_start", start.clone());
        w.end(&agent("Ann"));
        let over = w.ok(&agent("Ann"), "session_start", start);
        assert_eq!((&over["session_id"], &over["replayed"], &over["resumed"]), (&first["session_id"], &json!(true), &json!(false)));
        assert!(text(&over, "since").contains(" of Ann ended just now"), "{over:#}");
    }

    fn a_retry_of_a_claim_is_told_who_has_the_task_now(w) {
        let claim = all::find("task_claim").expect("an operation");
        let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "t" })), "id");
        let once = |w: &mut World| w.once(&agent("Ann"), claim, json!({ "id": id }), "k").expect("answered");
        let first = once(w);
        let again = once(w);
        assert_eq!((&again["replayed"], &again["claimed"], &again["token"]), (&json!(true), &json!(true), &first["token"]));
        w.ok(&agent("Ann"), "task_rename", json!({ "id": id, "to": "p-new" }));
        let renamed = once(w);
        assert_eq!((&renamed["claimed"], &renamed["token"], &renamed["task"]["id"]), (&json!(true), &first["token"], &json!("p-new")));
        assert_eq!(renamed["since"], format!("task {id} is called p-new now"));
        let id = "p-new";
        w.ok(&agent("Ann"), "task_release", json!({ "id": id, "untried": true }));
        let free = once(w);
        assert_eq!((&free["claimed"], &free["token"], &free["packet"]), (&json!(false), &Value::Null, &Value::Null));
        assert_eq!((&free["answered"]["claimed"], &free["answered"]["token"]), (&json!(true), &first["token"]));
        w.ok(&agent("Ben"), "task_claim", json!({ "id": id }));
        assert!(text(&once(w), "since").contains("claimed by Ben"));
        w.ok(&agent("Ben"), "task_close", json!({ "id": id }));
        assert!(text(&once(w), "since").contains("is closed"));
    }

    fn a_retry_of_a_lease_is_told_what_it_holds_no_more(w) {
        let take = all::find("lease_take").expect("an operation");
        let once = |w: &mut World| w.once(&agent("Ann"), take, json!({ "patterns": ["a", "b"] }), "k").expect("answered");
        let first = once(w);
        let again = once(w);
        assert_eq!((&again["items"], again.get("since")), (&first["items"], None));
        w.ok(&agent("Ann"), "lease_release", json!({ "leases": ["b"] }));
        let over = once(w);
        assert_eq!((over["items"].as_array().map(Vec::len), &over["since"]), (Some(1), &json!("not leased any more: b")));
        assert_eq!(over["answered"]["items"], first["items"]);
    }

    fn tokens_of_one_name_share_no_id(w) {
        let send = json!({ "to": "role:testing", "subject": "s", "request_id": "1" });
        let local = w.ok(&agent("Ann"), "mail_send", send.clone());
        let one = w.ok(&with_token(agent("Ann"), "t1"), "mail_send", send.clone());
        let two = w.ok(&with_token(agent("Ann"), "t2"), "mail_send", send.clone());
        let again = w.ok(&with_token(agent("Ann").process("elsewhere"), "t1"), "mail_send", send);
        let ids = [&local, &one, &two].map(|sent| text(sent, "message_id"));
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
        assert_eq!(text(&again, "message_id"), ids[1]);
    }

    fn what_is_sensitive_leaves_no_hash_that_could_be_guessed(w) {
        for who in ["Ann", "Tess"] {
            w.ok(&agent(who), "agent_register", json!({}));
            w.ok(&agent(who), "key_create", json!({}));
        }
        let send = |pin: &str| json!({ "to": "Tess", "subject": "s", "body": pin, "sensitive": true, "request_id": pin });
        for pin in ["1234", "5678"] {
            w.ok(&agent("Ann"), "mail_send", send(pin));
        }
        let sql = "SELECT COUNT(*) FROM (SELECT DISTINCT fingerprint FROM request) seen";
        let seen = w.store.read(|tx| Ok(tx.query(sql, &[])?)).expect("read");
        assert_eq!(seen.into_iter().next().expect("a row").reader().int().expect("a number"), 1);
    }

    fn histories_of_requests_do_each_thing_once(w) {
        // Random callers, ids and bodies: the first body under a key is done, its repetition is answered the same, another
        // one is refused; the ledger has as many memories as there were first bodies.
        let mut known = std::collections::BTreeMap::new();
        let callers = ["Ann", "Ben", "ann", "Bot"];
        for _ in 0..300 {
            let name = callers[w.dice.below(4)];
            let (process, id, body) = (w.dice.below(2), w.dice.below(5), w.dice.below(3));
            let who = agent(name).process(&format!("{name} {process}"));
            let caller = if name == "Bot" { format!("Bot {process}") } else { name.to_lowercase() };
            let input = json!({ "text": format!("{body}"), "request_id": format!("{id}") });
            let answer = w.call(&who, "memory_add", input);
            match known.get(&(caller.clone(), id)) {
                None => {
                    let memory = text(&answer.expect("the first"), "memory_id");
                    known.insert((caller, id), (body, memory));
                }
                Some((first, memory)) if *first == body => {
                    assert_eq!(text(&answer.expect("the same"), "memory_id"), *memory);
                }
                Some(_) => assert_eq!(answer.expect_err("another")["code"], "request_mismatch"),
            }
        }
        let rows = w.everything().into_iter().filter(|row| row.starts_with("memory:")).count();
        assert_eq!(rows, known.len());
        w.assert_sound();
    }
}
