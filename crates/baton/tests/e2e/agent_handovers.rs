//! A baton from one real agent to the next: wrapped and taken over MCP, left at a limit, left by calls of a shell; and what is left
//! of the installation afterwards.

use serde_json::{Value, json};

use crate::agents::{Cli, clis};
use crate::mock_model::Call;
use crate::real_agent::{Agent, for_every_pair, record, record_announcement, record_text, the_baton, until};
use crate::stage::{BATON, Stage, text};

/// A packet whose bytes change if anybody parses it and writes it anew: a number beyond 53 bits, a float, an escape, blanks.
/// Claude Code itself puts the character in the place of `\uXXXX` in whatever a tool is called with, so there is none here.
const EXACT: &str = "{ \"summary\": \"12345678901234567890 \\/ ä 語\",\t\"count\": 12345678901234567890,  \"rate\": 1.0, \"next_steps\": [ \"go on\" ] }  ";

#[test]
fn a_packet_wrapped_by_one_agent_reaches_the_next_byte_for_byte() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let calls = vec![
            Call::baton("session_start", json!({ "identity": "Worker" })),
            Call::baton("session_wrap", json!({ "packet_text": EXACT })),
        ];
        let first = Agent::new((folder, &stage), from, calls, "Wrapped.");
        first.run(&stage.shop(), "Count the cart, then wrap");
        let baton = the_baton(&stage);
        let wrapped = stage.terminal("Reader").json(&["pickup", "--dry-run"])["baton"].clone();
        assert_eq!(text(&wrapped, "body"), EXACT, "{from:?} leaves it whole");
        let take = vec![Call::baton("hd_exec", json!({ "identity": "Next" }))];
        let second = Agent::new((folder, &stage), to, take, "I go on.");
        second.run(&stage.shop(), "Go on");
        second.assert_told(&baton, from);
        let got = second.model.results().concat();
        let body = received(&got);
        assert_eq!(body.as_deref(), Some(EXACT), "{from:?} to {to:?}: {got}");
        record_announcement("J1", from, &second);
        stage.assert_sound();
    });
}

/// The packet in an answer as a model has it: a JSON document, in whatever words or further documents its client wraps it.
fn received(answer: &str) -> Option<String> {
    let starts = answer.match_indices('{').map(|(at, _)| at);
    starts.into_iter().find_map(|at| {
        let value = serde_json::Deserializer::from_str(&answer[at..]).into_iter::<Value>().next()?.ok()?;
        find(&value)
    })
}

fn find(value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => {
            let own = members.get("baton").and_then(|baton| baton["body"].as_str()).map(str::to_owned);
            own.or_else(|| members.values().find_map(find))
        }
        Value::Array(values) => values.iter().find_map(find),
        // Some clients give the text of the answer within a document of their own.
        Value::String(text) if text.contains("\"baton\"") => received(text),
        _ => None,
    }
}

#[test]
fn at_a_limit_in_the_middle_of_work_a_baton_waits_and_is_announced() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let sign = stage.root().join("sign");
        let script = vec![Call::shell("echo 12 > cart.txt"), Call::shell("echo never run").after(&sign)];
        let first = Agent::new((folder, &stage), from, script, "never said");
        let mut child = first.start(&stage.shop(), "Count the cart", 1);
        first.model.limit();
        std::fs::write(&sign, "").expect("written");
        until("the agent at its limit ends", || child.try_wait().expect("a child").is_some());
        let baton = the_baton(&stage);
        let second = Agent::new((folder, &stage), to, Vec::new(), "Fine.");
        second.run(&stage.shop(), "Go on");
        second.assert_told(&baton, from);
        record("J3", from, &second);
        let picked = stage.terminal("Next").json(&["pickup"]);
        assert!(picked["baton"]["body"].to_string().contains("Count the cart"), "{from:?}: {picked:#}");
        stage.assert_sound();
    });
}

#[test]
fn calls_of_a_shell_that_lives_for_one_command_are_one_session() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let lines = ["start --as Worker", "note 'prices are in cents'", "wrap --summary 'half of the cart'"];
        let calls = lines.map(|line| Call::shell(&format!("{BATON} {line}"))).to_vec();
        let first = Agent::new((folder, &stage), from, calls, "Wrapped.");
        first.run(&stage.shop(), "Count the cart, then wrap");
        let results = first.model.results().concat();
        assert!(results.contains("the next agent continues with"), "{from:?}: {results}");
        let baton = the_baton(&stage);
        let own: Vec<Value> =
            stage.ledger("shop").into_iter().filter(|delta| delta["identity"] == "Worker").collect();
        let sessions: std::collections::BTreeSet<String> =
            own.iter().map(|delta| text(delta, "session_id")).collect();
        assert_eq!(sessions.len(), 1, "{from:?}: {own:#?}");
        let take = vec![Call::shell(&format!("{BATON} pickup --as Next"))];
        let second = Agent::new((folder, &stage), to, take, "I go on.");
        second.run(&stage.shop(), "Go on");
        second.assert_told(&baton, from);
        let got = second.model.results().concat();
        assert!(got.contains("half of the cart"), "{from:?} to {to:?}: {got}");
        record_announcement("J10", from, &second);
        stage.assert_sound();
    });
}

#[test]
fn what_is_installed_for_an_agent_and_taken_out_again_leaves_nothing() {
    let Some(folder) = clis() else { return };
    let mut page = String::new();
    for cli in Cli::ALL {
        let stage = Stage::ready();
        let user = stage.terminal("Lola");
        let agent = Agent::without_baton((&folder, &stage), cli, Vec::new(), "The cart adds up.");
        let settings = agent.settings();
        let before = std::fs::read_to_string(&settings).expect("settings");
        agent.install();
        let with_baton = std::fs::read_to_string(&settings).expect("settings");
        assert_ne!(with_baton, before, "{cli:?}");
        agent.run(&stage.shop(), "Count the cart");
        let baton = the_baton(&stage);
        let removed = user.text(&["install", cli.name(), "--uninstall", "--yes"]);
        assert_eq!(std::fs::read_to_string(&settings).expect("settings"), before, "{cli:?}");
        let count = agent.model.requests().len();
        agent.run(&stage.shop(), "Now the taxes");
        let later = agent.model.requests().split_off(count);
        assert!(!later.is_empty() && later.iter().all(|request| !request.body.to_string().contains(&baton)));
        let last = removed.lines().last().unwrap_or_default();
        page.push_str(&format!("$ baton install {} --uninstall --yes\n{last}\n", cli.name()));
        page.push_str("(the settings are byte for byte what they were; the next session is told nothing)\n");
    }
    record_text("J12", &Stage::new(), &page);
}
