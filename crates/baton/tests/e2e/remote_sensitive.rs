//! Clients of a server and what is sensitive: it leaves the machine encrypted only.

use serde_json::json;

use crate::remote::losing;
use crate::stage::{Stage, Terminal, text};

#[test]
fn what_is_sensitive_leaves_the_machine_encrypted_only() {
    let stage = Stage::remote(&[]);
    stage.terminal("Lola").json(&["init"]);
    let (address, passed) = losing(stage.far().0.address.clone(), 0);
    let at = |name: &str| stage.terminal(name).with("BATON_SERVER", format!("http://{address}"));
    let (lola, tess) = (at("Lola"), at("Tess"));
    for who in [&lola, &tess] {
        who.json(&["agent", "register", "--role", "testing"]);
        who.json(&["key", "create"]);
    }
    let sent = lola.json(&[
        "mail",
        "send",
        "--to",
        "Tess",
        "--subject",
        "s",
        "--text",
        "canary-mail",
        "--sensitive",
    ]);
    assert_eq!(tess.json(&["mail", "read", &text(&sent, "message_id")])["body"], "canary-mail");

    let options = ["--handoff-instructions", r#"{"vault": "canary-made"}"#, "--sensitive"];
    let id = text(&lola.json(&[&["task", "create", "keys"][..], &options].concat()), "id");
    let shown = |who: &Terminal<'_>| who.json(&["task", "show", &id]);
    assert_eq!(shown(&tess)["handoff_instructions"], json!({ "vault": "canary-made" }));
    // Nobody says here that it is sensitive: the task knows.
    let more = r#"{"door": "canary-more", "hint": "canary-hint"}"#;
    lola.json(&["task", "update", &id, "--agent-context", more]);
    lola.json(&[
        "task",
        "update",
        &id,
        "--agent-context",
        r#"{"hint": null, "key": "canary-key"}"#,
        "--merge",
    ]);
    assert_eq!(shown(&tess)["agent_context"], json!({ "door": "canary-more", "key": "canary-key" }));
    let claimed = tess.json(&["task", "claim", &id]);
    assert!(claimed.to_string().contains("canary-made"), "{claimed:#}");
    tess.json(&["task", "close", &id, "--context", r#"{"done": "canary-done"}"#]);
    let all = json!({ "door": "canary-more", "key": "canary-key", "done": "canary-done" });
    assert_eq!(shown(&lola)["agent_context"], all);
    assert!(shown(&stage.terminal("Rex"))["agent_context"].get("sealed_for").is_some());

    let mail = lola.json(&["mail", "send", "--to", "Tess", "--subject", "s"]);
    let ack = ["mail", "ack", &text(&mail, "message_id"), "--text", "canary-ack", "--sensitive"];
    let acked = tess.json(&ack);
    assert_eq!(lola.json(&["mail", "read", &text(&acked, "ack_message_id")])["body"], "canary-ack");

    let requests = passed.lock().expect("no panic");
    assert!(requests.len() > 12, "{} requests", requests.len());
    for request in requests.iter() {
        let sent = String::from_utf8_lossy(request);
        assert!(!sent.contains("canary"), "{sent}");
    }
    drop(requests);
    // Nothing on the server has it either; and what the server has to see goes nowhere in the clear.
    let dump = stage.far().1.bare().run(&["log", "export", "-", "--project", "shop"]).done().out;
    assert!(!dump.contains("canary"), "{dump}");
    let body = r#"{"context": {"current_state": "canary"}}"#;
    let far = lola.with("BATON_SERVER", "http://192.0.2.1:7077");
    let handoff = ["mail", "send", "--to", "Tess", "--type", "task_handoff", "--text", body, "--sensitive"];
    far.refused(1, "server_insecure", &handoff);
}

#[test]
fn what_comes_too_late_for_a_sensitive_task_is_kept_encrypted_by_a_server() {
    let stage = Stage::remote(&[]);
    stage.terminal("Lola").json(&["init"]);
    let (address, passed) = losing(stage.far().0.address.clone(), 0);
    let at = |name: &str| stage.terminal(name).with("BATON_SERVER", format!("http://{address}"));
    let (lola, tess) = (at("Lola"), at("Tess"));
    for who in [&lola, &tess] {
        who.json(&["key", "create"]);
    }
    let options = ["--handoff-instructions", r#"{"vault": "canary-made"}"#, "--sensitive"];
    let id = text(&lola.json(&[&["task", "create", "keys"][..], &options].concat()), "id");
    lola.json(&["task", "close", &id]);
    tess.json(&["task", "close", &id, "--context", r#"{"late": "canary-late"}"#]);
    let shown = |who: &Terminal<'_>| text(&who.json(&["task", "show", &id])["comments"][0], "text");
    assert_eq!(shown(&lola), json!({ "late": "canary-late" }).to_string());
    assert_eq!(shown(&at("Rex")), "(encrypted for Lola, Tess)");
    for request in passed.lock().expect("no panic").iter() {
        assert!(!String::from_utf8_lossy(request).contains("canary"));
    }
}

/// What is encrypted is cut by a budget only after it was decrypted.
#[test]
fn a_reader_gets_the_same_of_a_sensitive_task_through_a_server_as_with_a_store() {
    let answers = [Stage::local(), Stage::remote(&[])].map(|stage| {
        stage.terminal("Lola").json(&["init"]);
        let (lola, tess) = (stage.terminal("Lola"), stage.terminal("Tess"));
        tess.json(&["agent", "register", "--role", "testing"]);
        for who in [&lola, &tess] {
            who.json(&["key", "create"]);
        }
        let long = json!({ "vault": "VAULT", "steps": "s".repeat(900), "also": "a".repeat(300) }).to_string();
        let context = json!({ "work_completed": "WORK", "logs": "l".repeat(700) }).to_string();
        let options = ["--agent-role", "testing", "--sensitive", "--handoff-instructions", &long];
        let create = ["task", "create", "keys", "--id", "shop-keys", "--agent-context", &context];
        lola.json(&[&create[..], &options].concat());
        // A server routes by itself, at a time of its own: on both sides the task was routed before it is read.
        lola.json(&["route"]);
        let shown = tess.json(&["task", "show", "shop-keys"]);
        let claimed = tess.json(&["task", "claim", "shop-keys"]);
        let fields = ["handoff_instructions", "agent_context", "left_out"];
        let pick = |from: &serde_json::Value| fields.map(|field| from[field].clone());
        assert!(claimed["packet"].to_string().len() <= 1024, "{claimed:#}");
        (pick(&shown), claimed["packet"].clone())
    });
    let [here, there] = answers;
    assert_eq!(here, there);
    let text = json!(there.1).to_string();
    assert!(text.contains("VAULT") && text.contains("WORK") && !text.contains("baton:"), "{text}");
}

/// What encrypting adds counts for nobody; what is too much for one who has the store is too much here.
#[test]
fn a_long_sensitive_context_is_changed_through_a_server_as_with_a_store() {
    for stage in [Stage::local(), Stage::remote(&[])] {
        stage.terminal("Lola").json(&["init"]);
        let tess = stage.terminal("Tess");
        tess.json(&["agent", "register", "--role", "testing"]);
        tess.json(&["key", "create"]);
        let long = |field: &str, kib: usize| json!({ field: "x".repeat(kib * 1024) }).to_string();
        let command = ["task", "create", "keys", "--sensitive", "--agent-context", &long("a", 15)];
        let id = text(&tess.json(&command), "id");
        tess.json(&["task", "update", &id, "--agent-context", r#"{"b": 1}"#, "--merge"]);
        tess.json(&["task", "update", &id, "--handoff-instructions", &long("c", 15)]);
        let shown = || tess.json(&["task", "show", &id, "--full"]);
        let before = shown();
        assert_eq!(before["agent_context"]["b"], 1);
        let updated = |given: &[&str]| {
            let words = [&["task", "update", &id][..], given].concat();
            tess.refused(1, "context_too_large", &words).to_string()
        };
        for (field, flag) in
            [("agent_context", "--agent-context"), ("handoff_instructions", "--handoff-instructions")]
        {
            for more in [&[flag, &long("k", 17)][..], &[flag, &long("d", 2), "--merge"]] {
                let output = updated(more);
                assert!(output.contains(&format!("{field} has ")) && output.contains("16384"), "{output}");
            }
        }
        tess.refused(1, "context_too_large", &["task", "close", &id, "--context", &long("d", 2)]);
        assert_eq!(shown(), before, "nothing was written");
        tess.json(&["task", "close", &id, "--context", r#"{"done": true}"#]);
        assert_eq!(shown()["agent_context"]["done"], true);
    }
}
