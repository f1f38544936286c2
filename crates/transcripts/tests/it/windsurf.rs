use serde_json::json;

use super::{check, column, packet, sample};

const NORMAL: &str = "windsurf/normal/transcripts/9e100000-0000-4000-8000-000000000001.jsonl";

#[test]
fn windsurf_tells_the_story_as_far_as_its_steps_do() {
    let packet = packet(&sample(NORMAL));
    assert_eq!(column(&packet, "files_modified", "path"), ["cart.py", "NOTES.md"]);
    assert_eq!(column(&packet, "constraints", "text"), ["Never touch the migrations."]);
    assert!(column(&packet, "tool_activity", "category").contains(&"mcp:github"));
    check(
        &packet,
        &[
            ("/source/agent", json!("windsurf")),
            ("/requests/last/text", json!("What is left?")),
            ("/decisions/0/rejected", json!(["a helper"])),
            ("/last_failure/command", json!("pytest -q")),
            ("/last_failure/exit_code", json!(1)),
            ("/next_steps/0/text", json!("update docs/cart.md")),
            ("/metadata/complaints", json!(null)),
        ],
    );
}

#[test]
fn a_step_that_was_stopped_or_still_runs_says_so() {
    let packet = packet(&sample("windsurf/canceled.jsonl"));
    let mut commands = column(&packet, "commands", "command");
    commands.sort_unstable();
    assert_eq!(commands, ["cargo run", "cargo test"]);
    assert!(column(&packet, "open_loops", "text").contains(&"The user stopped the agent here."));
    assert!(column(&packet, "tool_activity", "category").contains(&"other"), "{packet:#}");
}
