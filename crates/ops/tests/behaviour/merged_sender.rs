//! What is sent from a project that is merged afterwards: it is answered, and its receiver learns no other name.

use baton_model::access::{Grant, Scope};
use baton_ops::all;
use baton_ops::op::TxMode;
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

/// A caller with a token of the project `p` alone.
fn bound(name: &str) -> Agent {
    let mut who = at(name, "p");
    who.0.grant =
        Grant { scope: Scope::Write, projects: Some(vec!["p".to_owned()]), bearer: None, ..Grant::default() };
    who
}

fn merge(w: &mut World, from: &str, into: &str, undo: bool) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": from, "into": into, "undo": undo }))
}

/// Zed of the project `old` asks Lo of `p` something.
fn question(w: &mut World) -> String {
    w.register("zold");
    w.register("secret");
    w.ok(&at("Lo", "p"), "agent_register", json!({}));
    let request = json!({ "to": "Lo", "to_project": "p", "subject": "may I?", "type": "question" });
    text(&w.ok(&at("Zed", "zold"), "mail_send", request), "message_id")
}

fn hand_over(w: &mut World) -> String {
    w.register("zold");
    w.register("secret");
    let work = json!({ "to_project_id": "p", "subject": "the schema", "local": true, "description": "why" });
    text(&w.ok(&at("Zed", "zold"), "handoff_create", work), "handoff_id")
}

fn inbox(w: &mut World, who: &Agent) -> Vec<Value> {
    list(&w.ok(who, "mail_inbox", json!({ "bodies": true }))["items"])
}

/// No answer that a token of the receiver's project can read names the project that goes on.
#[track_caller]
fn assert_unnamed(w: &mut World, id: &str) {
    let eve = bound("Eve");
    for entry in all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Read) {
        for input in [json!({}), json!({ "id": id }), json!({ "message_id": id })] {
            let (Ok(answer) | Err(answer)) = w.call(&eve, entry.name, input);
            assert!(!answer.to_string().contains("secret"), "{}: {answer:#}", entry.name);
        }
    }
}

on_every_backend! {
    fn a_question_from_a_project_that_was_merged_is_answered_where_its_mail_is_read(w) {
        let question = question(w);
        merge(w, "zold", "secret", false);
        w.ok(&at("Lo", "p"), "mail_send", json!({ "reply_to": question, "body": "yes" }));
        let got = inbox(w, &at("Zed", "secret"));
        assert_eq!((column(&got, "body"), column(&got, "from")), (vec!["yes".to_owned()], vec!["Lo".to_owned()]));
        // Zed answers that, from where the work goes on.
        let again = json!({ "reply_to": got[0]["message_id"], "body": "thanks" });
        w.ok(&at("Zed", "secret"), "mail_send", again);
        assert!(column(&inbox(w, &at("Lo", "p")), "body").contains(&"thanks".to_owned()));
    }

    fn a_question_to_a_project_that_is_merged_into_the_askers_own_is_settled_by_its_answer(w) {
        w.register("old");
        w.ok(&at("Olga", "old"), "agent_register", json!({}));
        let ask = |subject: &str| json!({ "to": "Olga", "to_project": "old", "subject": subject, "ack_by_s": 60 });
        let ids = ["which port?", "which host?"].map(|subject| {
            text(&w.ok(&at("Sue", "p"), "mail_send", ask(subject)), "message_id")
        });
        merge(w, "old", "p", false);
        let got = inbox(w, &at("Olga", "p"));
        assert_eq!(column(&got, "message_id"), ids, "{got:#?}");
        w.ok(&at("Olga", "p"), "mail_send", json!({ "reply_to": ids[0], "body": "8080" }));
        w.ok(&at("Olga", "p"), "mail_ack", json!({ "message_id": ids[1] }));
        w.advance(3_600_000);
        for id in &ids {
            let thread = w.ok(&at("Sue", "p"), "mail_thread", json!({ "message_id": id }));
            assert!(!thread["items"][0]["acked_at"].is_null(), "{thread:#}");
        }
        let attention = w.ok(&agent("Sue"), "attention_list", json!({}));
        assert!(!attention.to_string().contains("acknowledg"), "{attention:#}");
    }

    fn a_question_that_moved_with_its_project_is_late_where_it_lies_alone(w) {
        w.register("old");
        w.ok(&at("Otto", "old"), "agent_register", json!({}));
        let ask = json!({ "to": "Otto", "subject": "G?", "ack_by_s": 60 });
        let id = text(&w.ok(&at("Olga", "old"), "mail_send", ask), "message_id");
        merge(w, "old", "p", false);
        w.advance(3_600_000);
        let late = |w: &mut World| w.ok(&agent("Sue"), "attention_list", json!({})).to_string();
        assert_eq!(late(w).matches("\"project_id\":\"old\"").count(), 0, "{}", late(w));
        assert!(late(w).contains("G?"));
        w.ok(&at("Otto", "p"), "mail_send", json!({ "reply_to": id, "body": "yes" }));
        assert!(!late(w).contains("G?"), "{}", late(w));
    }

    fn what_was_remembered_is_answered_again_after_the_merge(w) {
        w.register("old");
        let memory = json!({ "text": "the word is plum", "request_id": "m-1" });
        let first = w.ok(&at("Ann", "old"), "memory_add", memory.clone());
        merge(w, "old", "p", false);
        let again = w.ok(&at("Ann", "old"), "memory_add", memory);
        assert_eq!(again["memory_id"], first["memory_id"]);
    }

    fn after_an_undone_merge_an_id_is_another_request_in_the_other_project(w) {
        w.register("old");
        let memory = json!({ "text": "the word is plum", "request_id": "m-1" });
        let first = w.ok(&at("Ann", "old"), "memory_add", memory.clone());
        merge(w, "old", "p", false);
        merge(w, "old", "p", true);
        let other = w.ok(&at("Ann", "p"), "memory_add", memory.clone());
        assert_eq!(other["project_id"], "p", "{other:#}");
        assert_ne!(other["memory_id"], first["memory_id"]);
        assert_eq!(w.ok(&at("Ann", "old"), "memory_add", memory)["memory_id"], first["memory_id"]);
    }

    fn a_token_answers_a_merged_project_and_hears_no_other_name(w) {
        let question = question(w);
        merge(w, "zold", "secret", false);
        let sent = w.ok(&bound("Lo"), "mail_send", json!({ "reply_to": question, "body": "yes", "to_project": "zold" }));
        assert_eq!(sent["to_project_id"], "zold");
        w.ok(&bound("Lo"), "mail_ack", json!({ "message_id": question, "body": "noted" }));
        // Who writes again in the thread writes to the same receiver.
        let more = w.ok(&bound("Lo"), "mail_send", json!({ "reply_to": sent["message_id"], "body": "and no" }));
        assert_eq!(more["to_project_id"], "zold");
        assert_unnamed(w, &question);
        assert_unnamed(w, &text(&sent, "message_id"));
        let got = column(&inbox(w, &at("Zed", "secret")), "body");
        for body in ["yes", "noted", "and no"] {
            assert!(got.contains(&body.to_owned()), "{body}: {got:?}");
        }
        let direct = json!({ "to": "Zed", "to_project": "zold", "subject": "s", "body": "b" });
        w.no(&bound("Lo"), "mail_send", direct, "project_unknown");
    }

    fn a_hand_off_keeps_the_name_of_the_project_that_sent_it_for_who_reaches_no_other(w) {
        let id = hand_over(w);
        merge(w, "zold", "secret", false);
        assert_unnamed(w, &id);
        let shown = w.ok(&bound("Eve"), "handoff_show", json!({ "id": id }));
        assert_eq!(shown["from_project_id"], "zold");
        assert_eq!(w.ok(&at("Zed", "secret"), "handoff_show", json!({ "id": id }))["from_project_id"], "secret");
        let taken = w.ok(&bound("Eve"), "hd_exec", json!({ "handoff_id": id })).to_string();
        assert!(!taken.contains("secret"), "{taken}");
        let done = json!({ "id": id, "action": "complete", "result": "abc123" });
        let done = w.ok(&bound("Eve"), "handoff_advance", done).to_string();
        assert!(!done.contains("secret"), "{done}");
        assert_unnamed(w, &id);
        let news = w.pending(&at("Zed", "secret"));
        assert!(column(&news, "subject").concat().contains("was completed"), "{news:#?}");
    }

    fn what_a_merged_project_sent_and_got_back_is_left_anew_where_it_goes_on(w) {
        let id = hand_over(w);
        w.ok(&at("Ben", "p"), "handoff_advance", json!({ "id": id, "action": "decline", "why": "no time" }));
        merge(w, "zold", "secret", false);
        w.register("other");
        let refusal = w.no(&at("Zed", "other"), "handoff_create", json!({ "replaces": id }), "handoff_state");
        assert!(text(&refusal, "message").contains("was not sent by project other"), "{refusal:#}");
        // Under either name: a page that was open before the merge names the old one.
        let dry = json!({ "replaces": id, "from_project_id": "zold", "dry_run": true });
        w.ok(&at("Zed", "secret"), "handoff_create", dry);
        let anew = w.ok(&at("Zed", "secret"), "handoff_create", json!({ "replaces": id }));
        assert_eq!((&anew["from_project_id"], &anew["subject"]), (&json!("secret"), &json!("the schema")));
        assert_eq!(list(&w.ok(&at("Zed", "secret"), "attention_list", json!({}))["mine"]), Vec::<Value>::new());
    }

    fn an_undone_merge_gives_a_hand_off_its_sender_back(w) {
        let id = hand_over(w);
        w.register("last");
        merge(w, "zold", "secret", false);
        merge(w, "secret", "last", false);
        let sender = |w: &mut World, who: &Agent| w.ok(who, "handoff_show", json!({ "id": id }))["from_project_id"].clone();
        assert_eq!((sender(w, &agent("Owner")), sender(w, &bound("Eve"))), (json!("last"), json!("zold")));
        merge(w, "secret", "last", true);
        assert_eq!((sender(w, &agent("Owner")), sender(w, &bound("Eve"))), (json!("secret"), json!("zold")));
        merge(w, "zold", "secret", true);
        assert_eq!((sender(w, &agent("Owner")), sender(w, &bound("Eve"))), (json!("zold"), json!("zold")));
    }

    fn an_undone_merge_gives_mail_and_leases_back(w) {
        w.register("lib");
        w.register("bank");
        let (ann, lou) = (at("Ann", "lib"), at("Lou", "bank"));
        for who in [&ann, &lou] {
            w.ok(who, "agent_register", json!({}));
        }
        let ask = |subject: &str| json!({ "to": "Ann", "to_project": "lib", "subject": subject, "ack_required": true, "wait": true });
        let ids: Vec<String> = ["read", "answered", "unread"].iter()
            .map(|subject| text(&w.ok(&lou, "mail_send", ask(subject)), "message_id")).collect();
        w.ok(&ann, "lease_take", json!({ "patterns": ["src/"] }));
        merge(w, "lib", "bank", false);
        let moved = at("Ann", "bank");
        w.ok(&moved, "mail_read", json!({ "message_id": ids[0] }));
        w.ok(&moved, "mail_ack", json!({ "message_id": ids[1] }));
        let undo = json!({ "from": "lib", "into": "bank", "undo": true, "dry_run": true });
        let preview = w.ok(&agent("Owner"), "project_merge", undo);
        let undone = merge(w, "lib", "bank", true);
        for answer in [&preview, &undone] {
            assert_eq!((&answer["messages_moved"], &answer["leases_moved"]), (&json!(2), &json!(1)), "{answer:#}");
        }
        let waiting = |w: &mut World, who: &Agent| column(&inbox(w, who), "subject");
        assert_eq!((waiting(w, &ann), waiting(w, &moved)), (vec!["read".to_owned(), "unread".to_owned()], Vec::new()));
        w.ok(&ann, "mail_ack", json!({ "message_id": ids[0] }));
        w.ok(&ann, "mail_ack", json!({ "message_id": ids[2] }));
        w.no_trace(&at("Yuri", "lib"), "lease_take", json!({ "patterns": ["src/"] }), "lease_conflict");
        w.ok(&at("Yuri", "bank"), "lease_take", json!({ "patterns": ["src/"] }));
        let answers = inbox(w, &lou).iter().filter(|one| one["type"] == "Acknowledgment").count();
        assert_eq!(answers, 3, "one for each");
    }

    fn a_merged_project_is_as_unknown_to_a_token_as_one_that_never_was(w) {
        w.register("zold");
        w.register("secret");
        merge(w, "zold", "secret", false);
        let tell = |w: &mut World, operation: &str, input: Value, name: &str| {
            let (Ok(answer) | Err(answer)) = w.call(&bound("Eve"), operation, input);
            answer.to_string().replace(name, "X")
        };
        for (operation, input) in [("project_relate", json!({})), ("handoff_create", json!({ "subject": "s", "dry_run": true }))] {
            let [merged, unknown] = ["zold", "quagga"].map(|name| {
                let mut input = input.clone();
                let field = if operation == "project_relate" { "to" } else { "to_project_id" };
                input[field] = json!(name);
                tell(w, operation, input, name)
            });
            assert_eq!(merged, unknown, "{operation}");
        }
    }

    fn the_shares_of_a_merged_project_are_listed_where_it_goes_on(w) {
        w.register("zold");
        w.start(&at("Ann", "zold"));
        let baton = text(&w.ok(&at("Ann", "zold"), "session_wrap", json!({ "summary": "the cart rounds" })), "baton_id");
        let share = text(&w.ok(&at("Ann", "zold"), "share_create", json!({ "id": baton })), "share_id");
        merge(w, "zold", "p", false);
        let listed = w.ok(&at("Owner", "p"), "share_list", json!({}));
        assert_eq!(column(&list(&listed["items"]), "share_id"), [share], "{listed:#}");
    }

    fn a_baton_of_a_merged_project_is_picked_up_by_the_id_that_it_had(w) {
        w.register("zold");
        w.start(&at("Ann", "zold"));
        let baton = text(&w.ok(&at("Ann", "zold"), "session_wrap", json!({ "summary": "the cart rounds" })), "baton_id");
        w.register("mid");
        merge(w, "zold", "mid", false);
        merge(w, "mid", "p", false);
        for id in [&baton[..13], &baton] {
            let picked = w.ok(&agent("Lola"), "hd_exec", json!({ "handoff_id": id }));
            assert!(text(&picked["baton"], "body").contains("the cart rounds"), "{picked:#}");
        }
        w.no(&agent("Lola"), "hd_exec", json!({ "handoff_id": "00000000-0000" }), "baton_unknown");
        let shown = w.ok(&agent("Ben"), "handoff_show", json!({ "id": baton }));
        assert_eq!((&shown["kind"], &shown["state"]), (&json!("baton"), &json!("held")), "{shown:#}");
        let none = w.no(&agent("Lola"), "changes_show", json!({ "baton_id": baton }), "changes_none");
        assert!(text(&none, "message").ends_with("has no changes"), "it is found: {none:#}");
        w.no(&agent("Ben"), "baton_export", json!({ "baton_id": baton }), "baton_claimed");
    }
}
