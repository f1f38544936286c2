//! Signals: sent, waiting, taken back, expired, written out once.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn send(w: &mut World, from: &str, subject: &str) -> String {
    let sent = w.ok(&agent(from), "signal_send", json!({ "to": "Donna", "subject": subject }));
    text(&sent, "message_id")
}

fn deliver(w: &mut World, id: &str) -> Value {
    w.ok(&agent("Donna"), "signal_delivered", json!({ "message_ids": [id] }))["marked"].clone()
}

on_every_backend! {
    fn an_unbound_token_marks_no_mail_of_an_absent_agent(w) {
        w.start(&agent("Donna"));
        w.end(&agent("Donna"));
        let id = send(w, "Lola", "stop the deployment");
        let bearer = Bearer { token_id: "ci".into(), name: "ci".into(), identities: None };
        let mut token = agent("Bot").process("ci");
        token.0.identity = None;
        token.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
        w.no_trace(&token, "signal_delivered", json!({ "message_ids": [id] }), "identity_not_yours");
        assert_eq!(w.pending(&agent("Donna")).len(), 1);
        assert_eq!(deliver(w, &id), 1);
    }

    fn a_namesake_of_the_senders_project_marks_nothing(w) {
        w.register("q");
        w.start(&agent("Donna").project("q"));
        w.end(&agent("Donna").project("q"));
        let input = json!({ "to": "Donna", "to_project": "q", "subject": "for the Donna of q", "body": "b" });
        let id = text(&w.ok(&agent("Lola"), "mail_send", input), "message_id");
        assert_eq!(deliver(w, &id), 0);
        let there = agent("Donna").project("q");
        assert_eq!(w.pending(&there).len(), 1);
        assert_eq!(w.ok(&there, "signal_delivered", json!({ "message_ids": [id] }))["marked"], 1);
    }

    fn a_signal_waits_for_its_receiver_whatever_the_case(w) {
        let input = json!({ "to": "Donna", "type": "question", "subject": "which parser?", "body": "a\nb" });
        let sent = w.ok(&agent("Lola"), "signal_send", input);
        let waiting = w.pending(&agent("dONNA"));
        assert_eq!(waiting.len(), 1);
        for field in ["message_id", "subject", "body", "created_at"] {
            assert_eq!(waiting[0][field], sent[field], "{field}");
        }
        assert_eq!((waiting[0]["from"].clone(), waiting[0]["type"].clone()), (json!("Lola"), json!("Question")));
        assert!(w.pending(&agent("Lola")).is_empty());
    }

    fn signals_wait_in_the_order_in_which_they_were_sent(w) {
        for n in 0..5 {
            send(w, "Lola", &format!("n{n}"));
        }
        assert_eq!(column(&w.pending(&agent("Donna")), "subject"), ["n0", "n1", "n2", "n3", "n4"]);
    }

    fn looking_drains_nothing(w) {
        send(w, "Lola", "hello");
        let before = w.everything();
        assert_eq!(w.pending(&agent("Donna")), w.pending(&agent("Donna")));
        assert_eq!(w.everything(), before);
    }

    fn a_signal_is_marked_delivered_once(w) {
        let id = send(w, "Lola", "hello");
        assert_eq!(deliver(w, &id), 1);
        assert!(w.pending(&agent("Donna")).is_empty());
        w.advance(1_000);
        let before = w.store.read(|tx| Ok(baton_store::message::get(tx, "p", &id)?)).expect("readable");
        assert_eq!(deliver(w, &id), 0);
        let after = w.store.read(|tx| Ok(baton_store::message::get(tx, "p", &id)?)).expect("readable");
        assert_eq!(after, before, "the first time stands");
        assert_eq!(deliver(w, "no such signal"), 0);
    }

    fn only_its_sender_takes_a_signal_back(w) {
        let id = send(w, "Lola", "hello");
        let input = json!({ "message_id": id });
        w.no_trace(&agent("Donna"), "signal_recall", input.clone(), "message_unknown");
        w.no_trace(&agent("Rex"), "signal_recall", input.clone(), "message_unknown");
        w.ok(&agent("LOLA"), "signal_recall", input.clone());
        assert!(w.pending(&agent("Donna")).is_empty());
        w.no(&agent("Lola"), "signal_recall", input, "message_delivered");
        assert_eq!(deliver(w, &id), 0, "what was taken back is not delivered");
    }

    fn what_was_delivered_is_not_taken_back(w) {
        let id = send(w, "Lola", "hello");
        deliver(w, &id);
        w.no(&agent("Lola"), "signal_recall", json!({ "message_id": id }), "message_delivered");
    }

    fn a_signal_is_worth_something_up_to_its_end_and_nothing_beyond(w) {
        let input = json!({ "to": "Donna", "subject": "soon", "expires_in_s": 60 });
        w.ok(&agent("Lola"), "signal_send", input);
        w.advance(60_000);
        assert_eq!(w.pending(&agent("Donna")).len(), 1);
        w.advance(1);
        assert!(w.pending(&agent("Donna")).is_empty());
        assert_eq!(list(&w.pickup(&agent("Donna"))["pending_signals"]).len(), 0);
    }

    fn signals_stay_in_their_project(w) {
        w.register("q");
        send(w, "Lola", "hello");
        assert!(w.pending(&agent("Donna").project("q")).is_empty());
    }

    fn a_malformed_signal_is_refused(w) {
        let lola = agent("Lola");
        w.no_trace(&lola, "signal_send", json!({ "to": "Donna", "subject": "s", "type": "gossip" }), "signal_type_unknown");
        for subject in ["", " ", "a\nb"] {
            w.no_trace(&lola, "signal_send", json!({ "to": "Donna", "subject": subject }), "message_invalid");
        }
        let large = json!({ "to": "Donna", "subject": "s", "body": "x".repeat(64 * 1024 + 1) });
        w.no_trace(&lola, "signal_send", large, "message_invalid");
        w.no_trace(&lola, "signal_send", json!({ "subject": "s" }), "input_invalid");
        w.no_trace(&lola, "signal_send", json!({ "to": "Donna", "subject": "s", "body": "a\u{0}b" }), "input_invalid");
    }
}
