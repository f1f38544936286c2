//! What two people stumbled over in their first hours: ids that one verb takes and its twin denies, news that outlives its matter, ways
//! out that the caller's token does not open.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::increments::routed_to;
use crate::world::{Agent, World, agent, column, list, text};

fn bound(who: Agent, name: &str) -> Agent {
    let identities = Some(vec![name.to_owned()]);
    let bearer = Bearer { token_id: "t".into(), name: "t".into(), identities };
    let mut who = who;
    who.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer) };
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
        w.ok(&tess, "task_claim", json!({ "id": made["test_id"] }));
        w.ok(&tess, "task_close", json!({ "id": made["test_id"], "result": "pass" }));
        assert_eq!(w.pending(&tess), Vec::<Value>::new(), "it asks for nothing any more");
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
        assert!(!text(&refusal, "hint").contains("--as") && text(&refusal, "hint").contains("baton end"), "{refusal:#}");
        let local = w.no(&agent("Ann").process("another"), "session_start", json!({}), "identity_conflict");
        assert!(text(&local, "hint").contains("--as NAME"), "{local:#}");
    }

    fn an_offer_to_nobody_says_so_on_the_card(w) {
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "handoff_create", json!({ "to_project_id": "payments", "subject": "s", "create": true }));
        let card = w.ok(&agent("Ann"), "session_status", json!({}));
        let sent = list(&card["sent"]);
        assert!(text(&sent[0], "why").starts_with("nobody works in project payments yet"), "{card:#}");
        w.register("payments");
        let card = w.ok(&agent("Ann"), "session_status", json!({}));
        assert_eq!(list(&card["sent"])[0].get("why"), None, "{card:#}");
    }
}
