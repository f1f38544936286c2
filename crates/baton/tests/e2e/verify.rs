//! `pickup --verify`: the test command of a packet is shown, run and told.

use serde_json::{Value, json};

use crate::stage::{Stage, text};

/// A store with a baton whose packet names this test command.
fn left(command: &str) -> Stage {
    let stage = Stage::local();
    let lola = stage.terminal("Lola");
    lola.json(&["init"]);
    lola.json(&["start"]);
    let packet = json!({ "summary": "the cart counts", "test_command": command });
    lola.json(&["wrap", "--packet", &stage.file("packet.json", packet.to_string())]);
    stage
}

fn verified(stage: &Stage, more: &[&str]) -> Value {
    let args: Vec<&str> = ["pickup", "--verify"].iter().chain(more).copied().collect();
    stage.terminal("Donna").json(&args)
}

#[test]
fn the_test_command_of_a_packet_is_run_where_it_is_asked_for_and_its_end_is_told() {
    let picked = verified(&left("echo 12 passed, 1 failed; exit 3"), &[]);
    assert_eq!(text(&picked["baton"], "summary"), "the cart counts");
    let verification = &picked["verification"];
    assert_eq!(verification["command"], "echo 12 passed, 1 failed; exit 3");
    assert_eq!(verification["exit_code"], 3);
    assert_eq!(verification["last_lines"], json!(["12 passed, 1 failed"]));
}

#[test]
fn the_command_is_shown_before_it_is_run_also_where_remarks_are_not_wanted() {
    let stage = left("touch was-run");
    let answer = stage.terminal("Donna").run(&["pickup", "--verify", "--quiet"]).done();
    assert!(answer.err.contains("running the test command of Lola's packet"), "{}", answer.err);
    assert!(answer.err.contains("touch was-run"), "{}", answer.err);
    assert!(answer.out.contains("verified: `touch was-run` passed: exit 0"), "{}", answer.out);
    assert!(stage.shop().join("was-run").exists());
}

#[test]
fn nothing_is_run_without_the_flag_without_a_command_or_where_the_command_hides_something() {
    let stage = left("touch was-run");
    stage.terminal("Donna").json(&["pickup"]);
    assert!(!stage.shop().join("was-run").exists());
    for (command, why) in [
        ("true\ntouch was-run", "several lines"),
        ("true \u{202e} touch was-run", "hidden characters"),
        ("  ", "names no test command"),
    ] {
        let stage = left(command);
        let picked = verified(&stage, &[]);
        assert!(text(&picked["verification"], "not_run").contains(why), "{picked:#}");
        assert!(!stage.shop().join("was-run").exists());
    }
}

#[test]
fn a_test_command_has_a_limit_of_time() {
    let picked = verified(&left("echo begun; sleep 60"), &["--verify-timeout", "1"]);
    let verification = &picked["verification"];
    assert_eq!(verification["timed_out"], true);
    assert_eq!(verification.get("exit_code"), None);
    assert_eq!(verification["last_lines"], json!(["begun"]));
}

#[test]
fn the_packet_of_a_server_is_never_run_and_nothing_is_picked_up_by_that_call() {
    let stage = left("touch was-run");
    let donna = stage.terminal("Donna").with("BATON_SERVER", "http://127.0.0.1:9");
    donna.refused(1, "verify_remote", &["pickup", "--verify"]);
    assert!(stage.terminal("Donna").json(&["pickup"])["baton"].is_object());
}
