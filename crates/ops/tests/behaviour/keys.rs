//! Keys and what is sensitive: listed, replaced only by force, and never in the ledger as plain text.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

const SECRET: &str = "the password is swordfish";

fn people(w: &mut World) {
    for name in ["Lola", "Donna"] {
        w.ok(&agent(name), "agent_register", json!({}));
    }
    w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing"] }));
}

fn key(w: &mut World, name: &str) -> String {
    text(&w.ok(&agent(name), "key_create", json!({})), "public_key")
}

fn secret(to: &str) -> Value {
    json!({ "to": to, "subject": "access", "body": SECRET, "sensitive": true })
}

on_every_backend! {
    fn what_is_sensitive_is_in_no_table_and_no_export_and_only_its_readers_read_it(w) {
        people(w);
        key(w, "Donna");
        key(w, "Lola");
        key(w, "Rex");
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Donna", "subject": "access", "body": SECRET, "sensitive": true, "request_id": "r" }));
        assert_eq!((&sent["readers"], sent.get("body")), (&json!(["Donna", "Lola"]), None));
        assert!(!w.everything().join("\n").contains("swordfish"));
        let export = json!(list(&w.ok(&agent("Donna"), "ledger_export", json!({}))["items"])).to_string();
        assert!(!export.contains("swordfish") && export.contains("access"));
        let id = json!({ "message_id": sent["message_id"] });
        assert_eq!(w.ok(&agent("Donna"), "mail_read", id.clone())["body"], SECRET);
        assert_eq!(w.ok(&agent("Lola"), "mail_read", id.clone())["body"], SECRET, "its sender can read it again");
        w.no_trace(&agent("Rex"), "mail_read", id.clone(), "message_unknown");
        for verb in ["mail_thread", "mail_inbox"] {
            let input = if verb == "mail_thread" { id.clone() } else { json!({ "bodies": true }) };
            let shown = w.ok(&agent("Donna"), verb, input);
            assert_eq!((shown["items"][0].get("body"), list(&shown["deliver"]).len()), (None, 0), "{verb}");
        }
        let found = w.ok(&agent("Donna"), "mail_search", json!({ "query": "access" }));
        assert_eq!(found["items"][0].get("excerpt"), None);
    }

    fn a_pickup_leaves_what_is_encrypted_in_the_inbox(w) {
        people(w);
        key(w, "Donna");
        w.ok(&agent("Lola"), "mail_send", secret("Donna"));
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(list(&picked["pending_signals"]).len(), 0);
        assert_eq!(list(&w.ok(&agent("Donna"), "mail_inbox", json!({}))["items"]).len(), 1);
    }

    fn nothing_sensitive_goes_to_somebody_without_a_key(w) {
        people(w);
        w.no_trace(&agent("Lola"), "mail_send", secret("Donna"), "key_missing");
        w.no_trace(&agent("Lola"), "mail_send", secret("role:testing"), "key_missing");
        key(w, "Donna");
        let sent = w.ok(&agent("Lola"), "mail_send", secret("Donna"));
        assert_eq!(sent["warnings"][0]["kind"], "sender_without_key");
    }

    fn what_is_sensitive_for_a_role_is_read_by_those_of_it_who_had_a_key(w) {
        people(w);
        w.ok(&agent("Theo"), "agent_register", json!({ "roles": ["testing"] }));
        key(w, "Tess");
        let sent = w.ok(&agent("Lola"), "mail_send", secret("role:testing"));
        assert_eq!(sent["readers"], json!(["Tess"]));
        let id = json!({ "message_id": sent["message_id"] });
        w.no_trace(&agent("Theo"), "mail_read", id.clone(), "key_missing");
        assert_eq!(w.ok(&agent("Tess"), "mail_read", id)["body"], SECRET, "who could not read it has not taken it");
    }

    fn a_sensitive_hand_off_message_is_checked_before_it_is_encrypted(w) {
        people(w);
        key(w, "Donna");
        let content = json!({ "task_id": "t", "handoff_type": "a_to_b", "context": { "work_completed": SECRET } });
        let input = |content: &Value| json!({ "to": "Donna", "type": "task_handoff", "content": content, "sensitive": true });
        let sent = w.ok(&agent("Lola"), "mail_send", input(&content));
        assert_eq!(sent.get("content"), None);
        let got = w.ok(&agent("Donna"), "mail_read", json!({ "message_id": sent["message_id"] }));
        assert_eq!(got["content"]["context"]["work_completed"], SECRET);
        let mut bad = content.clone();
        bad["context"] = json!({});
        w.no_trace(&agent("Lola"), "mail_send", input(&bad), "content_invalid");
    }

    fn a_key_is_listed_once_and_replaced_only_by_force_that_the_ledger_keeps(w) {
        people(w);
        let own = key(w, "Donna");
        assert_eq!(w.newest("other")["body"]["key"]["public_key"], own.as_str());
        let before = w.ledger().len();
        assert_eq!(w.ok(&agent("Donna"), "key_create", json!({}))["listed_now"], false);
        assert_eq!(w.ledger().len(), before);
        let other = json!({ "name": "donna", "public_key": "age1other" });
        let refusal = w.no_trace(&agent("Mallory"), "key_add", other.clone(), "key_listed");
        assert_eq!(refusal["key"]["added_by"], "Donna");
        w.no_trace(&agent("Mallory"), "key_add", json!({ "name": "Donna", "public_key": "age1other", "force": true }), "why_missing");
        w.ok(&agent("Chief"), "key_add", json!({ "name": "Donna", "public_key": "age1other", "force": true, "why": "new laptop" }));
        let body = w.newest("other")["body"].clone();
        assert_eq!((&body["replaces"], &body["why"], &body["forced"]), (&json!(own), &json!("new laptop"), &json!(true)));
        w.no_trace(&agent("Donna"), "key_create", json!({}), "key_listed");
    }

    fn keys_are_listed_and_taken_off(w) {
        people(w);
        w.ok(&agent("Lola"), "key_add", json!({ "name": "donna", "public_key": "age1donna" }));
        key(w, "Lola");
        let keys = list(&w.ok(&agent("Rex"), "key_list", json!({}))["items"]);
        assert_eq!(column(&keys, "name"), ["Donna", "Lola"]);
        assert_eq!((&keys[0]["here"], &keys[1]["here"]), (&json!(false), &json!(true)));
        // The lister could otherwise put her own key in its place, which `key_add` refuses.
        let refusal = w.no_trace(&agent("Lola"), "key_remove", json!({ "name": "Donna" }), "key_not_yours");
        assert!(text(&refusal, "hint").contains("baton key remove Donna --as Donna"), "{refusal:#}");
        w.no_trace(&agent("Lola"), "key_remove", json!({ "name": "Donna", "force": true }), "why_missing");
        w.ok(&agent("Lola"), "key_remove", json!({ "name": "Donna", "force": true, "why": "she left" }));
        let removal = w.newest("other")["body"].clone();
        assert_eq!((&removal["forced"], &removal["why"]), (&json!(true), &json!("she left")));
        w.no_trace(&agent("Lola"), "key_remove", json!({ "name": "Donna" }), "key_unknown");
        assert_eq!(list(&w.ok(&agent("Rex"), "key_list", json!({}))["items"]).len(), 1);
        w.ok(&agent("Lola"), "key_remove", json!({ "name": "lola" }));
        w.no_trace(&agent("Lola"), "key_add", json!({ "name": "Donna", "public_key": "ssh-rsa" }), "key_invalid");
    }
}
