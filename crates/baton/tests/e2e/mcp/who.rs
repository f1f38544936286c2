//! Who acts, and where: said, remembered, asked for, and never guessed.

use serde_json::{Value, json};

use super::client::{Client, MODERN, OLDER};
use crate::stage::{Stage, Terminal, items, text};

fn asks() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// A terminal with a process of its own and no identity.
fn nameless<'a>(stage: &'a Stage, process: &str) -> Terminal<'a> {
    stage.bare().with("BATON_PROCESS", process).with("BATON_SURFACE", "human")
}

#[test]
fn an_identity_said_once_holds_for_the_connection() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&nameless(&stage, "p1"), MODERN);
    client.done("session_start", json!({ "identity": "Donna" }));
    assert_eq!(client.done("session_checkpoint", json!({ "summary": "half" }))["identity"], "Donna");
    client.done("session_start", json!({ "identity": "Lola" }));
    let refused = client.refused("identity_ambiguous", "session_checkpoint", json!({ "summary": "whose?" }));
    assert_eq!(refused["candidates"], json!(["Donna", "Lola"]));
    let lola = json!({ "identity": "Lola", "summary": "done", "next": ["go on"] });
    assert_eq!(client.done("session_wrap", lola)["identity"], "Lola");
    assert_eq!(client.done("session_checkpoint", json!({ "summary": "mine" }))["identity"], "Donna");
}

/// Also where the operation behind the action asks neither.
#[test]
fn who_and_where_may_be_said_with_every_call() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&nameless(&stage, "p1"), MODERN);
    for action in ["list", "status", "projects"] {
        client.done("handoff", json!({ "action": action, "identity": "Dan", "project": "shop" }));
    }
    client.refused("input_invalid", "handoff", json!({ "action": "list", "recipient": "Dan" }));
}

#[test]
fn who_cannot_be_asked_is_bot() {
    let stage = Stage::ready();
    for era in [MODERN, OLDER[0]] {
        let mut client = Client::pipe(&nameless(&stage, era), era);
        assert_eq!(client.done("session_start", json!({}))["identity"], "Bot");
    }
}

#[test]
fn the_user_of_an_older_client_is_asked_for_a_name_once() {
    let stage = Stage::ready();
    let mut client = Client::pipe_with(&nameless(&stage, "p1"), OLDER[0], &[], asks());
    client.replies =
        vec![("elicitation/create", json!({ "action": "accept", "content": { "identity": "Rosa" } }))];
    assert_eq!(client.done("session_start", json!({}))["identity"], "Rosa");
    client.replies.clear();
    assert_eq!(client.done("session_checkpoint", json!({ "summary": "half" }))["identity"], "Rosa");
    let mut silent = Client::pipe_with(&nameless(&stage, "p2"), OLDER[1], &[], asks());
    silent.replies = vec![("elicitation/create", json!({ "action": "cancel" }))];
    assert_eq!(silent.done("session_start", json!({}))["identity"], "Bot");
    silent.replies.clear();
    assert_eq!(silent.done("session_start", json!({}))["identity"], "Bot", "asked once, no more");
}

/// Calls a tool again with what the user said, as a client of the newer protocol does.
fn again(client: &mut Client, first: &Value, arguments: Value, responses: Value) -> Value {
    let call = json!({
        "name": "session_start", "arguments": arguments,
        "inputResponses": responses, "requestState": first["requestState"],
    });
    client.request("tools/call", call)
}

#[test]
fn the_user_of_a_newer_client_is_asked_through_the_answer() {
    let stage = Stage::ready();
    let mut client = Client::pipe_with(&nameless(&stage, "p1"), MODERN, &[], asks());
    let before = stage.deltas();
    let first = client.ok("tools/call", json!({ "name": "session_start", "arguments": {} }));
    assert_eq!(first["resultType"], "input_required", "{first:#}");
    assert_eq!(first["inputRequests"]["identity"]["method"], "elicitation/create");
    assert_eq!(stage.deltas(), before, "nothing was written");
    let response = json!({ "identity": { "action": "accept", "content": { "identity": "Rosa" } } });
    let forged = json!({ "requestState": "rs1.AAAA.BBBB" });
    let refused = again(&mut client, &forged, json!({}), response.clone());
    assert_eq!(refused["result"]["structuredContent"]["error"]["code"], "state_invalid");
    let other = again(&mut client, &first, json!({ "force": true }), response.clone());
    assert_eq!(
        other["result"]["structuredContent"]["error"]["code"], "state_invalid",
        "sealed for this call"
    );
    assert_eq!(stage.deltas(), before, "nothing was written");
    let done = again(&mut client, &first, json!({}), response);
    assert_eq!(done["result"]["structuredContent"]["identity"], "Rosa", "{done:#}");
    let mut silent = Client::pipe_with(&nameless(&stage, "p2"), MODERN, &[], asks());
    let first = silent.ok("tools/call", json!({ "name": "session_start", "arguments": {} }));
    let done = again(&mut silent, &first, json!({}), json!({ "identity": { "action": "decline" } }));
    assert_eq!(done["result"]["structuredContent"]["identity"], "Bot", "{done:#}");
    assert_eq!(silent.done("session_start", json!({}))["identity"], "Bot", "asked once, no more");
}

#[test]
fn several_sessions_are_chosen_from() {
    let stage = Stage::ready();
    let one = text(&nameless(&stage, "p3").json(&["start"]), "session_id");
    let two = text(&nameless(&stage, "p3").json(&["start"]), "session_id");
    let mut other = Client::pipe(&nameless(&stage, "p4"), MODERN);
    other.refused("no_session", "session_checkpoint", json!({ "summary": "of another process" }));
    let mut mute = Client::pipe(&nameless(&stage, "p3"), MODERN);
    let refused = mute.refused("session_ambiguous", "session_checkpoint", json!({ "summary": "whose?" }));
    assert_eq!(refused["candidates"], json!([one, two]));
    let mut client = Client::pipe_with(&nameless(&stage, "p3"), OLDER[0], &[], asks());
    client.replies =
        vec![("elicitation/create", json!({ "action": "accept", "content": { "session": two } }))];
    let saved = client.done("session_checkpoint", json!({ "summary": "mine" }));
    assert_eq!(saved["session_id"], two);
}

#[test]
fn the_roots_of_an_older_client_say_the_project() {
    let stage = Stage::ready();
    let other = stage.repo("other");
    stage.terminal("Setup").within(&other).json(&["init"]);
    let outside = stage.root().join("outside");
    std::fs::create_dir(&outside).expect("folder");
    let roots = json!({ "roots": {} });
    let uri = |path: &std::path::Path| json!({ "uri": format!("file://{}", path.display()) });
    let mut client =
        Client::pipe_with(&stage.terminal("Lola").within(&outside), OLDER[1], &[], roots.clone());
    client.replies = vec![("roots/list", json!({ "roots": [uri(&stage.shop()), uri(&outside)] }))];
    assert_eq!(client.done("session_start", json!({}))["project_id"], "shop");
    let mut torn = Client::pipe_with(&stage.terminal("Donna").within(&outside), OLDER[1], &[], roots);
    torn.replies = vec![("roots/list", json!({ "roots": [uri(&stage.shop()), uri(&other)] }))];
    let refused = torn.refused("project_ambiguous", "session_start", json!({}));
    assert_eq!(refused["candidates"], json!(["other", "shop"]));
    let mut rootless = Client::pipe(&stage.terminal("Rex").within(&outside), MODERN);
    rootless.refused("project_unresolved", "session_start", json!({}));
    assert_eq!(rootless.done("session_start", json!({ "project": "other" }))["project_id"], "other");
}

#[test]
fn a_signal_is_delivered_once_its_answer_is_written() {
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["signal", "send", "--to", "Donna", "look at it"]);
    let mut donna = Client::pipe(&stage.terminal("Donna"), OLDER[0]);
    donna.done("hd_exec", json!({ "dry_run": true }));
    assert_eq!(items(&donna.done("mail", json!({ "action": "inbox" }))).len(), 1, "a preview drains nothing");
    let picked = donna.done("hd_exec", json!({}));
    assert_eq!(picked["pending_signals"][0]["subject"], "look at it");
    let (code, _) = donna.end();
    assert_eq!(code, Some(0));
    assert_eq!(items(&stage.terminal("Donna").json(&["signal", "pending"])).len(), 0);
}
