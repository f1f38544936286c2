//! Answers: every action of every tool, long ones, resources, prompts, completion.

use baton_mcp::table::{READ_MORE, TOOLS};
use serde_json::{Value, json};

use super::client::{Client, ERAS, MODERN, OLDER};
use crate::stage::{Stage, text};

/// What each action is called with here; those that need nothing are not named.
fn arguments(action: &str, ids: &Value) -> Value {
    match action {
        "note" => json!({ "kind": "note", "text": "a note" }),
        "get" | "accept" | "decline" | "complete" | "cancel" => json!({ "id": ids["handoff"] }),
        "document" => json!({ "session": ids["session"], "id": "latest" }),
        "reassign" => json!({ "session": ids["session"], "to": "Donna" }),
        "show" | "update" => json!({ "id": ids["task"], "title": "paint" }),
        "create" => json!({ "title": "paint" }),
        "read" => json!({ "message_ids": [] }),
        "send" => json!({ "to": "Lola", "subject": "hi", "type": "Question" }),
        "ack" | "recall" => json!({ "message_id": ids["message"] }),
        "transcript" | "import" => json!({ "id": "latest" }),
        _ => json!({}),
    }
}

/// An action may refuse; it may not break what every result keeps to, which the client checks.
#[test]
fn every_action_of_every_tool_answers_in_its_frame() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    let session = text(&client.done("session_start", json!({})), "session_id");
    let task = client.done("task_write", json!({ "action": "create", "title": "paint" }));
    let message =
        client.done("mail", json!({ "action": "send", "to": "Lola", "subject": "hi", "type": "Question" }));
    let handoff = client.done("handoff_create", json!({ "to_project_id": "shop", "subject": "paint it" }));
    let ids = json!({ "session": session, "task": task["id"], "message": message["message_id"], "handoff": handoff["handoff_id"] });
    let mut answered = Vec::new();
    for tool in TOOLS.iter().filter(|tool| !["session_wrap", "handoff_create"].contains(&tool.name)) {
        // An action before, such as `reassign`, may have ended the session.
        client.done("session_start", json!({}));
        for action in tool.actions.iter().filter(|action| action.operation != READ_MORE) {
            let mut input = arguments(action.name, &ids);
            // The schema is merged: an action takes only what is its own.
            let schema: Value =
                action.entry().map(|entry| (entry.input_schema)().into()).expect("an operation");
            let own = |name: &str| schema["properties"].get(name).is_some();
            if let Some(fields) = input.as_object_mut() {
                fields.retain(|name, _| own(name));
            }
            if tool.actions.len() > 1 {
                input["action"] = json!(action.name);
            }
            let result = client.tool(tool.name, input);
            let shown = &result["structuredContent"];
            if result["isError"] == true {
                assert!(
                    shown["error"]["code"].is_string() && shown["error"]["hint"].is_string(),
                    "{result:#}"
                );
            } else {
                answered.push(format!("{} {}", tool.name, action.name));
            }
        }
    }
    for must in [
        "inbox handoffs",
        "inbox get",
        "inbox status",
        "task_read show",
        "inbox mail",
        "mail ack",
        "recall ledger",
    ] {
        assert!(answered.iter().any(|done| done == must), "{must} was refused; answered: {answered:?}");
    }
}

#[test]
fn a_long_packet_is_read_on_to_its_last_byte() {
    let stage = Stage::ready();
    let lines: Vec<String> = (0..3_000).map(|n| format!("{n}: \"did\" so\n")).collect();
    let packet = json!({ "summary": "long", "work_completed": lines }).to_string();
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").feed(packet.as_bytes(), &["wrap", "--packet", "-"]).done();
    let mut donna = Client::pipe(&stage.terminal("Donna"), OLDER[1]);
    let picked = donna.done("hd_exec", json!({}));
    let mut body = text(&picked["baton"], "body");
    let token = text(&picked["left_out"], "token");
    let part =
        picked["left_out"]["parts"].as_array().expect("parts").iter().find(|p| p["field"] == "/baton/body");
    let part = part.expect("the body was cut, and that is said");
    assert_eq!(part["of"], packet.chars().count());
    let mut from = part["shown"].as_u64();
    while let Some(at) = from {
        let rest = json!({ "action": "rest", "token": token, "field": "/baton/body", "from": at });
        let more = donna.done("recall", rest);
        body.push_str(more["value"].as_str().expect("text"));
        from = more["next"].as_u64();
    }
    assert_eq!(body, packet);
    donna.refused("rest_gone", "recall", json!({ "action": "rest", "token": "nothing", "field": "/a" }));
}

#[test]
fn brief_is_shorter_and_full_is_whole() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    client.done("session_start", json!({}));
    for n in 0..60 {
        client.done(
            "session_checkpoint",
            json!({ "action": "note", "kind": "note", "text": format!("note {n} {}", "x".repeat(200)) }),
        );
    }
    let size = |client: &mut Client, detail: &str| {
        let call = json!({ "name": "recall", "arguments": { "action": "ledger", "detail": detail } });
        let result = client.ok("tools/call", call);
        assert_eq!(result["isError"], false, "{result:#}");
        let shown = result["structuredContent"].clone();
        (result["content"][0]["text"].as_str().expect("text").chars().count(), shown)
    };
    let (brief, _) = size(&mut client, "brief");
    let (full, whole) = size(&mut client, "full");
    assert!(brief < 3_000 && full > 10_000, "{brief} and {full}");
    assert!(whole["left_out"].is_null() && whole["items"].as_array().expect("items").len() > 60);
    client.refused("detail_unknown", "recall", json!({ "action": "ledger", "detail": "much" }));
}

#[test]
fn resources_are_read_by_address() {
    let stage = Stage::ready();
    for era in ERAS {
        let mut client = Client::pipe(&stage.terminal("Lola"), era);
        let session = text(&client.done("session_start", json!({})), "session_id");
        let task = text(&client.done("task_write", json!({ "action": "create", "title": "paint" })), "id");
        let listed = client.ok("resources/list", json!({}));
        assert_eq!(listed["resources"][0]["uri"], "baton://projects/shop/status");
        for (path, field) in [
            ("status".to_owned(), "sessions"),
            (format!("tasks/{task}"), "title"),
            (format!("sessions/{session}"), "document"),
            ("mail/Lola".to_owned(), "items"),
        ] {
            let uri = format!("baton://projects/shop/{path}");
            let read = client.ok("resources/read", json!({ "uri": uri }));
            let content: Value =
                serde_json::from_str(read["contents"][0]["text"].as_str().expect("text")).expect("JSON");
            assert!(content.get(field).is_some(), "{uri}: {content:#}");
        }
        let code = if era == MODERN { -32602 } else { -32002 };
        for gone in ["baton://projects/shop/tasks/none", "baton://projects/none/status", "file:///etc/passwd"]
        {
            let error = client.fails("resources/read", json!({ "uri": gone }));
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(gone)), "{error:#}");
        }
    }
}

#[test]
fn a_hand_off_is_a_resource_of_its_two_projects_only() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    let made = client.done("handoff_create", json!({ "to_project_id": "other", "subject": "paint it" }));
    let id = text(&made, "handoff_id");
    for project in ["shop", "other"] {
        client.ok("resources/read", json!({ "uri": format!("baton://projects/{project}/handoffs/{id}") }));
    }
    client.fails("resources/read", json!({ "uri": format!("baton://projects/third/handoffs/{id}") }));
}

/// Both wait in one list of the status card, so both are looked at in one way; looking claims nothing.
#[test]
fn a_baton_is_looked_at_like_a_hand_off() {
    let stage = Stage::ready();
    stage.terminal("Donna").json(&["start"]);
    let wrapped = stage.terminal("Donna").json(&["wrap", "--summary", "did it", "--next", "go on"]);
    let id = text(&wrapped, "delta_id");
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    let before = stage.deltas();
    let shown = client.done("handoff", json!({ "action": "get", "id": id }));
    assert_eq!((&shown["dry_run"], &shown["baton"]["summary"]), (&json!(true), &json!("did it")));
    assert_eq!(client.done("handoff", json!({ "action": "preview" }))["baton"]["delta_id"], id.as_str());
    client.ok("resources/read", json!({ "uri": format!("baton://projects/shop/handoffs/{id}") }));
    client.refused("handoff_unknown", "handoff", json!({ "action": "get", "id": "01aaaaaa" }));
    client.refused("input_invalid", "handoff", json!({ "action": "get", "id": id, "budget": "1" }));
    assert_eq!(stage.deltas(), before);
}

#[test]
fn prompts_and_completion_help_a_person_type() {
    let stage = Stage::ready();
    stage.terminal("Donna").json(&["start"]);
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    let prompts = client.ok("prompts/list", json!({}));
    let names: Vec<String> =
        prompts["prompts"].as_array().expect("prompts").iter().map(|prompt| text(prompt, "name")).collect();
    assert_eq!(names, ["pickup", "wrap", "handoff"]);
    let made = client.ok("prompts/get", json!({ "name": "wrap", "arguments": { "to": "Donna" } }));
    assert!(
        made["messages"][0]["content"]["text"]
            .as_str()
            .expect("text")
            .contains("session_wrap with to: \"Donna\"")
    );
    assert_eq!(client.fails("prompts/get", json!({ "name": "handoff" }))["code"], -32602);
    let mut complete = |reference: Value, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        client.ok("completion/complete", json!({ "ref": reference, "argument": argument }))["completion"]["values"].clone()
    };
    let template = json!({ "type": "ref/resource", "uri": "baton://projects/{project}/status" });
    assert_eq!(complete(template.clone(), "project", "sh"), json!(["shop"]));
    assert_eq!(complete(template, "project", "x"), json!([]));
    assert_eq!(complete(json!({ "type": "ref/prompt", "name": "wrap" }), "to", "D"), json!(["Donna"]));
    assert_eq!(complete(json!({ "type": "ref/prompt", "name": "none" }), "to", "D"), json!([]));
}

#[test]
fn a_packet_given_as_text_comes_back_byte_for_byte_and_fields_beside_a_summary_are_kept() {
    let stage = Stage::ready();
    let exact = "{ \"summary\": \"s\",\n  \"n\": 12345678901234567890, \"x\": 1.50 }";
    let mut lola = Client::pipe(&stage.terminal("Lola"), MODERN);
    lola.done("session_start", json!({}));
    let twice = json!({ "packet_text": exact, "packet": { "summary": "s" } });
    lola.refused("packet_invalid", "session_wrap", twice);
    lola.done("session_wrap", json!({ "packet_text": exact }));
    let mut donna = Client::pipe(&stage.terminal("Donna"), MODERN);
    assert_eq!(text(&donna.done("hd_exec", json!({}))["baton"], "body"), exact);
    let decided = json!([{ "what": "half up", "why": "as in the shop", "rejected": ["floor"] }]);
    donna.done(
        "session_wrap",
        json!({ "summary": "done", "next_steps": ["taxes"], "next": ["prices"], "decisions": decided }),
    );
    let picked = lola.done("hd_exec", json!({}));
    let body: Value = serde_json::from_str(&text(&picked["baton"], "body")).expect("JSON");
    assert_eq!(body["next_steps"], json!([{ "text": "prices" }, { "text": "taxes" }]), "{body:#}");
    assert_eq!((&body["summary"], &body["decisions"][0]["what"]), (&json!("done"), &json!("half up")));
}

#[test]
fn a_refusal_says_what_came_and_what_would_be_right_in_the_words_of_tools() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    client.done("session_start", json!({}));
    let mut hint = |code: &str, tool: &str, input: Value| text(&client.refused(code, tool, input), "hint");
    assert_eq!(hint("state_invalid", "session_checkpoint", json!({})), "give `state`, `summary` or both");
    let mistyped = hint("input_invalid", "session_checkpoint", json!({ "sumary": "half" }));
    assert_eq!(mistyped, "did you mean `summary`?");
    let missing = hint("input_invalid", "handoff", json!({ "action": "accept" }));
    assert!(missing.starts_with("give `id`"), "{missing}");
    let refusal = client.refused("action_unknown", "mail", json!({ "action": "reed" }));
    let moved = client.refused("action_unknown", "recall", json!({ "action": "remember", "text": "t" }));
    assert_eq!(text(&moved, "hint"), "call session_checkpoint {action: remember}");
    let stored = client.refused("task_unknown", "task_read", json!({ "action": "show", "id": "shop-zz" }));
    assert!(stored["store"].as_str().is_some_and(|store| !store.is_empty()), "{stored:#}");
    assert!(text(&refusal, "message").contains("reed"), "{refusal:#}");
    let urgent =
        client.done("task_write", json!({ "action": "create", "title": "paint", "priority": "high" }));
    let least = client.done("task_write", json!({ "action": "create", "title": "wash", "priority": 4.0 }));
    assert_eq!((&urgent["priority"], &least["priority"]), (&json!(1), &json!(4)));
    stage.terminal("Donna").json(&["start"]);
    client.done(
        "mail",
        json!({ "action": "send", "to": "Donna", "subject": "hi", "body": "at work, not registered" }),
    );
}
