//! What each agent may do through Baton's tools when nobody is there to approve, under every policy that it offers.

use serde_json::json;

use crate::agents::{Cli, clis};
use crate::mock_model::Call;
use crate::real_agent::{Agent, record_text};
use crate::stage::Stage;

/// The options by which each agent's policy is set; the first is its default.
fn policies(cli: Cli) -> Vec<&'static [&'static str]> {
    match cli {
        Cli::Claude => vec![
            &[],
            &["--permission-mode", "acceptEdits"],
            &["--permission-mode", "plan"],
            &["--permission-mode", "dontAsk"],
            &["--allowedTools", "mcp__baton"],
        ],
        Cli::Codex => vec![
            &[],
            &["-c", "approval_policy=on-request"],
            &["-c", "approval_policy=never"],
            &["--sandbox", "read-only"],
            &["--sandbox", "workspace-write"],
            &["--dangerously-bypass-approvals-and-sandbox"],
        ],
        Cli::Gemini => vec![
            &[],
            &["--approval-mode", "auto_edit"],
            &["--approval-mode", "plan"],
            &["--allowed-tools", "mcp_baton_*"],
            &["--approval-mode", "yolo"],
        ],
    }
}

/// What became of three calls: one that reads, one that begins a session, one that leaves a baton.
fn outcome(folder: &std::path::Path, cli: Cli, policy: &[&str]) -> [&'static str; 3] {
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "half of the cart"]);
    let script = vec![
        Call::baton("inbox", json!({ "action": "status" })),
        Call::baton("session_start", json!({ "identity": "Donna" })),
        Call::baton("session_wrap", json!({ "packet": { "summary": "the other half" } })),
    ];
    let agent = Agent::new((folder, &stage), cli, script, "Done.");
    let output = agent.run_under(policy, &stage.shop(), "Look what waits");
    let results = agent.model.results();
    let read = results.first().is_some_and(|result| result.contains("Lola"));
    let kinds: Vec<String> = stage
        .ledger("shop")
        .iter()
        .filter(|delta| delta["identity"] == "Donna")
        .filter_map(|delta| delta["kind"].as_str().map(str::to_owned))
        .collect();
    let done = |is_done: bool| if is_done { "yes" } else { "refused" };
    assert!(!results.is_empty(), "{cli:?} {policy:?}: nothing came back: {output}");
    [
        done(read),
        done(kinds.iter().any(|kind| kind == "start")),
        done(kinds.iter().any(|kind| kind == "wrap")),
    ]
}

#[test]
fn without_a_user_every_policy_lets_an_agent_look_or_says_no() {
    let Some(folder) = clis() else { return };
    let mut table = String::new();
    for cli in Cli::ALL {
        for policy in policies(cli) {
            let [reads, starts, wraps] = outcome(&folder, cli, policy);
            let name = if policy.is_empty() { "(default)".to_owned() } else { policy.join(" ") };
            table.push_str(&format!(
                "{:<7} {name:<46} looks: {reads:<8} starts: {starts:<8} wraps: {wraps}\n",
                cli.name()
            ));
        }
    }
    let stage = Stage::new();
    record_text("J9", &stage, &table);
}
