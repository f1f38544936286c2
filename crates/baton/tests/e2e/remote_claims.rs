//! What a client says of its own machine is believed about its own sessions, and not about those of other tokens.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http::{Response, request};
use crate::stage::{Stage, text};

/// Calls an operation as a client that answers every question of the server with yes.
fn call_lying(address: &str, token: &str, operation: &str, input: &Value, machine: &str) -> Response {
    let bearer = format!("Bearer {token}");
    let mut facts: Vec<Value> = Vec::new();
    for _ in 0..6 {
        let caller = json!({ "machine": machine, "process": "9:9", "project": "shop" });
        let body = json!({ "input": input, "caller": caller, "facts": facts }).to_string();
        let path = format!("/api/v1/remote/{operation}");
        let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
        let answer = request(address, "POST", &path, body.as_bytes(), &headers).expect("an answer");
        let questions = answer.json()["questions"].as_array().cloned().unwrap_or_default();
        if questions.is_empty() {
            return answer;
        }
        facts.extend(questions.into_iter().map(|question| json!({ "question": question, "answer": true })));
    }
    panic!("it asks for ever")
}

#[test]
fn a_token_ends_no_session_of_another_by_saying_that_its_process_is_gone() {
    let stage = Stage::remote(&[]);
    let (server, far) = stage.far();
    stage.terminal("Owner").json(&["init"]);
    let owner = far.terminal("Owner");
    owner.json(&["token", "create", "--scope", "operator"]);
    let token = || text(&owner.json(&["token", "create", "--scope", "write", "--only", "shop"]), "token");
    let (victims, others) = (token(), token());
    std::thread::sleep(Duration::from_millis(600));
    let mia = stage.terminal("Mia").with("BATON_TOKEN", &victims).with("BATON_MACHINE", "laptop-a");
    let victim = mia.with("BATON_PROJECT", "shop");
    victim.json(&["start"]);
    let baton = text(&victim.json(&["wrap", "--summary", "half done"]), "baton_id");
    victim.json(&["pickup"]);
    victim.json(&["checkpoint", "--summary", "at work"]);
    for input in [json!({ "handoff_id": baton }), json!({}), json!({ "from_session": baton })] {
        let answer = call_lying(&server.address, &others, "hd_exec", &input, "laptop-a");
        let taken = &answer.json()["baton"]["delta_id"];
        assert_ne!(*taken, json!(baton), "{input}: {answer:#?}");
    }
    victim.json(&["checkpoint", "--summary", "still at work"]);
    // Of its own sessions the client of a token knows best.
    let own = call_lying(&server.address, &victims, "hd_exec", &json!({ "handoff_id": baton }), "laptop-a");
    assert_eq!(own.json()["baton"]["delta_id"], json!(baton), "{own:#?}");
}
