//! A document that a hand-off links is the sender's file, wherever its receiver is; and what is left anew takes all of it over.

use serde_json::{Value, json};

use crate::saga::{receiver, sender};
use crate::world::{World, agent, text};

fn set_up(w: &mut World) {
    w.register("q");
    let files = [
        ("/repos/p/spec/both.md", "the sender's words"),
        ("/repos/q/spec/both.md", "the receiver's words"),
        ("/repos/p/spec/same.md", "the same words"),
        ("/repos/q/spec/same.md", "the same words"),
        ("/repos/p/spec/own.md", "in the sender's only"),
        ("/repos/q/spec/theirs.md", "in the receiver's only"),
        ("/repos/p/docs/PROJECT.md", "# p"),
        ("/repos/p/spec/key.md", "token = ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ];
    w.machines.files.extend(files.map(|(path, words)| (path.to_owned(), words.to_owned())));
}

fn create(w: &mut World, more: &Value) -> Value {
    let mut input = json!({ "to_project_id": "q", "subject": "s", "description": "d" });
    input.as_object_mut().expect("fields").extend(more.as_object().cloned().expect("fields"));
    w.advance(1);
    w.ok(&sender(), "handoff_create", input)
}

fn received(w: &mut World, id: &str) -> Value {
    w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id, "dry_run": true }))["handoff"].clone()
}

fn linked(w: &mut World, path: &str) -> Value {
    let id = text(&create(w, &json!({ "links": { "docs": path } })), "handoff_id");
    received(w, &id)
}

fn words(received: &Value) -> (String, Value) {
    (text(&received["documents"][0], "text"), received["documents"][0]["owner"].clone())
}

on_every_backend! {
    fn a_linked_document_is_the_senders_file_also_where_the_receiver_has_one_of_that_path(w) {
        set_up(w);
        let both = linked(w, "spec/both.md");
        assert_eq!(words(&both), ("the sender's words".into(), json!("sender")), "{both:#}");
        assert!(text(&both["documents_named"][0], "note").contains("another file of this path"), "{both:#}");
        let same = linked(w, "spec/same.md");
        assert_eq!((words(&same).1, &same["documents_named"][0].get("note")), (json!("sender"), &None), "{same:#}");
        let own = linked(w, "spec/own.md");
        assert_eq!(words(&own), ("in the sender's only".into(), json!("sender")), "{own:#}");
        let theirs = linked(w, "spec/theirs.md");
        assert_eq!(words(&theirs), ("in the receiver's only".into(), json!("receiver")), "{theirs:#}");
        assert!(text(&theirs["documents_named"][0], "note").contains("the sender has no file of this path"), "{theirs:#}");
        assert_eq!(theirs["project_document"], Value::Null, "the sender's says what the sender's repository is");
    }

    fn the_words_of_a_linked_document_arrive_where_no_file_of_the_sender_does(w) {
        set_up(w);
        let sent = create(w, &json!({ "links": { "docs": ["spec/both.md", "spec/own.md", "https://a.example/b.md"] } }));
        assert!(!sent["warnings"].to_string().contains("document_left_out"), "{sent:#}");
        w.machines.files.retain(|path, _| path.starts_with("/repos/q"));
        let got = received(w, &text(&sent, "handoff_id"));
        let all: Vec<String> = got["documents"].as_array().expect("a list").iter().map(|one| text(one, "text")).collect();
        assert_eq!(all, ["the sender's words", "in the sender's only"], "{got:#}");
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": sent["handoff_id"] }));
        assert_eq!(shown["documents"][0], json!({ "path": "spec/both.md", "bytes": 18 }), "{shown:#}");
    }

    fn who_links_a_document_that_does_not_arrive_is_told_so(w) {
        set_up(w);
        w.machines.files.insert("/repos/p/spec/large.md".into(), "x".repeat(40_000));
        for (path, why) in [("spec/gone.md", "not there"), (".env", "hidden"), ("spec/large.md", "too large")] {
            for dry_run in [true, false] {
                let made = create(w, &json!({ "links": { "docs": path }, "dry_run": dry_run }));
                let warning = made["warnings"].as_array().expect("a list").iter().find(|one| one["kind"] == "document_left_out");
                let message = text(warning.unwrap_or_else(|| panic!("{made:#}")), "message");
                assert!(message.contains(path) && message.contains(why), "{message}");
            }
        }
        let would = create(w, &json!({ "links": { "docs": "spec/own.md" }, "dry_run": true }));
        assert_eq!(would["would_send_documents"], json!([{ "path": "spec/own.md", "bytes": 20 }]), "{would:#}");
        w.machines.is_served = true;
        let served = create(w, &json!({ "links": { "docs": "spec/own.md" } }));
        assert!(served["warnings"].to_string().contains("a server reads no documents"), "{served:#}");
    }

    fn who_links_a_document_under_nearly_the_right_name_is_told_so(w) {
        set_up(w);
        for name in ["documents", "document", "doc", "Docs", "file"] {
            for dry_run in [true, false] {
                let made = create(w, &json!({ "links": { name: "spec/own.md" }, "dry_run": dry_run }));
                let warning = made["warnings"].as_array().expect("a list").iter().find(|one| one["kind"] == "link_mistyped");
                let message = text(warning.unwrap_or_else(|| panic!("{name}: {made:#}")), "message");
                assert!(message.contains(&format!("`{name}`")) && message.contains("docs=PATH"), "{message}");
            }
        }
        let links = json!({ "docs": "spec/own.md", "source_ref": "abc", "documents": "https://a.example/b", "repository": "p", "ticket": "7" });
        let made = create(w, &json!({ "links": links }));
        assert!(!made["warnings"].to_string().contains("link_mistyped"), "{made:#}");
    }

    fn a_linked_document_goes_along_without_its_secrets(w) {
        set_up(w);
        let sent = create(w, &json!({ "links": { "docs": "spec/key.md" } }));
        let got = received(w, &text(&sent, "handoff_id"));
        assert!(!got.to_string().contains("ghp_16C7e42F292c6912E7710c838347Ae178B4a"), "{got:#}");
        assert!(text(&got["documents_named"][0], "note").contains("without 1 of its secrets"), "{got:#}");
    }

    fn nothing_is_read_in_the_folder_of_a_sender_that_is_kept_apart(w) {
        set_up(w);
        w.machines.files.insert("/repos/p/spec/large.md".into(), "canary5".repeat(6_000));
        let id = text(&create(w, &json!({ "links": { "docs": ["spec/own.md", "spec/large.md"] } })), "handoff_id");
        assert!(received(w, &id).to_string().contains("canary5"), "its folder is on this machine");
        w.ok(&agent("Owner").project("q").at("/repos/q", None), "project_init", json!({ "id": "q", "isolated": true }));
        let got = received(w, &id);
        assert!(!got.to_string().contains("canary5"), "{got:#}");
        assert_eq!(words(&got).0, "in the sender's only", "its sender gave it along");
    }

    fn a_hand_off_that_came_back_is_left_anew_by_its_id_alone(w) {
        set_up(w);
        let first = create(w, &json!({
            "description": "the words", "packet": "{ \"summary\": \"half done\" }", "tags": ["api"], "priority": "high",
            "links": { "docs": "spec/own.md" }, "to_identity": "Donna", "local": true,
        }));
        let id = text(&first, "handoff_id");
        w.no_trace(&sender(), "handoff_create", json!({ "replaces": id }), "handoff_state");
        w.no_trace(&sender(), "handoff_create", json!({ "subject": "s" }), "input_invalid");
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "decline", "result": "no" }));
        w.machines.files.clear();
        let second = w.ok(&sender(), "handoff_create", json!({ "replaces": id }));
        let old = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert_eq!(old["replaced_by"], second["handoff_id"], "{old:#}");
        let card = w.ok(&sender(), "session_status", json!({}));
        let row = card["sent"].as_array().expect("a list").iter().find(|one| one["handoff_id"] == json!(id)).expect("the old one");
        assert_eq!(row["replaced_by"], second["handoff_id"], "{row:#}");
        let shown = w.ok(&receiver(), "handoff_show", json!({ "id": second["handoff_id"] }));
        assert_eq!((text(&shown, "subject"), text(&shown, "description")), ("s".into(), "the words".into()), "{shown:#}");
        assert_eq!((text(&shown, "packet"), &shown["to_identity"]), ("{ \"summary\": \"half done\" }".into(), &json!("Donna")), "{shown:#}");
        let got = received(w, &text(&second, "handoff_id"));
        assert_eq!(words(&got).0, "in the sender's only", "{got:#}");
        let task = w.ok(&receiver(), "task_show", json!({ "id": shown["task"]["id"] }));
        assert!(task["labels"].to_string().contains("api") && task["priority"] == 1, "{task:#}");
        w.ok(&receiver(), "handoff_advance", json!({ "id": second["handoff_id"], "action": "decline", "result": "no" }));
        let third = w.ok(&sender(), "handoff_create", json!({ "replaces": second["handoff_id"], "subject": "t", "description": "other words" }));
        let shown = w.ok(&receiver(), "handoff_show", json!({ "id": third["handoff_id"] }));
        assert_eq!((text(&shown, "subject"), text(&shown, "description")), ("t".into(), "other words".into()), "{shown:#}");
    }
}
