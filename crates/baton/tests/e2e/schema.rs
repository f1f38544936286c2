//! The API against its own description: schemathesis makes up requests for every path of `/openapi.json`, good ones and bad
//! ones, and looks whether each answer is one that is described there, and none a fault of ours.
//!
//! `BATON_TEST_SCHEMATHESIS` names the program; `BATON_TEST_EXAMPLES` how many requests it makes up for each path.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::http::Server;
use crate::stage::{Stage, env, items, skipped, text};

/// What is looked at in every answer.
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

#[test]
fn every_answer_is_one_that_is_described() {
    let Some(program) = env("BATON_TEST_SCHEMATHESIS") else {
        skipped("BATON_TEST_SCHEMATHESIS names no program: the API was not held against its description");
        return;
    };
    let stage = Stage::ready();
    let server = Server::start_with(&stage.terminal("Server"), &["--rate", "0"]);
    let token = furnish(&stage, &server);
    let begun = stage.terminal("Lola").json(&["start"]);
    // Some of what is made up names things that are there.
    let parameters = format!(
        "[parameters]\n\"path.project\" = \"shop\"\n\"path.session\" = {}\n",
        json!(text(&begun, "session_id"))
    );
    let examples = env("BATON_TEST_EXAMPLES").unwrap_or_else(|| "10".to_owned());
    for (round, config) in ["", &parameters].into_iter().enumerate() {
        let folder = stage.root().join(format!("round-{round}"));
        fs::create_dir(&folder).expect("folder");
        fs::write(folder.join("schemathesis.toml"), config).expect("written");
        let mut command = Command::new(&program);
        command.current_dir(&folder).stdin(Stdio::null());
        command.args(["run", &format!("http://{}/openapi.json", server.address)]);
        command.args(["-H", &format!("Authorization: Bearer {token}"), "--checks", CHECKS]);
        // A stream of events does not end by itself.
        command.args(["--phases", "examples,coverage,fuzzing", "--exclude-operation-id", "events"]);
        command.args(["-n", &examples, "--seed", "1", "--continue-on-failure", "--no-color"]);
        command.args(["--warnings", "off", "--request-timeout", "30"]);
        let output = command.output().expect("schemathesis starts");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(stdout.contains("passed"), "{stdout}");
    }
    stage.assert_sound();
}

/// Something of every kind, and a token without which nobody is let in: one that is made up on the way changes nothing then.
fn furnish(stage: &Stage, server: &Server) -> String {
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "half"]);
    lola.json(&["task", "create", "Round the tax"]);
    for name in ["Ann", "Lola"] {
        stage.terminal(name).json(&["agent", "register"]);
    }
    let letter =
        json!({ "project": "shop", "identity": "Ann", "to": "Lola", "subject": "Which?", "body": "Up?" });
    server.ok("mail_send", &letter);
    assert_eq!(items(&lola.json(&["project", "list"])).len(), 1);
    text(&lola.json(&["token", "create", "--scope", "operator"]), "token")
}
