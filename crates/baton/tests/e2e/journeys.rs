//! The journeys of an agent that stops, dies or hits its limit, and the tests that play them. `docs/journeys.md` is written from
//! this table; `BATON_WRITE_DOCS=1` writes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::stage::{Stage, text};

/// A journey: what happens, and the tests that play it with stand-ins and with the real programs.
struct Journey {
    what: &'static str,
    tests: &'static [&'static str],
    /// With the programs of `BATON_TEST_CLIS`.
    real: &'static [&'static str],
}

const JOURNEYS: [Journey; 12] = [
    Journey {
        what: "An agent wraps, the next one takes the baton with `hd_exec`",
        tests: &[
            "journey::a_packet_from_a_file_comes_out_byte_for_byte",
            "journey::a_chain_of_three_stays_readable",
        ],
        real: &[
            "agents::every_agent_passes_the_baton_to_every_other",
            "agent_handovers::a_packet_wrapped_by_one_agent_reaches_the_next_byte_for_byte",
        ],
    },
    Journey {
        what: "It ends without wrapping, the next goes on at once",
        tests: &[
            "hooks::an_end_without_a_wrap_leaves_a_baton_that_the_next_agent_takes_at_once",
            "hooks::an_agent_that_has_ended_is_not_at_work_whatever_was_kept",
        ],
        real: &[
            "agent_journeys::what_an_agent_did_that_ended_without_a_wrap_reaches_the_next_one",
            "tools::claude_code_is_told_and_kept",
            "tools::codex_is_told_and_kept",
            "tools::gemini_cli_is_told_and_kept",
        ],
    },
    Journey {
        what: "It hits its limit (429), the baton is announced and taken",
        tests: &[
            "run_chain::at_a_limit_the_next_tool_goes_on_with_the_work_and_the_time_of_the_limit_is_kept",
        ],
        real: &[
            "tools::claude_code_at_its_limit_leaves_a_baton",
            "agent_handovers::at_a_limit_in_the_middle_of_work_a_baton_waits_and_is_announced",
        ],
    },
    Journey {
        what: "It is killed (`kill -9`), with and without a session",
        tests: &[
            "run::what_was_done_is_kept_while_it_runs_and_survives_the_end_of_everything",
            "hooks::a_conversation_that_left_no_baton_is_named_with_the_call_that_takes_it_over",
        ],
        real: &[
            "agent_journeys::a_killed_agent_yields_at_once_and_what_it_decided_is_recovered",
            "agent_journeys::the_conversation_of_an_agent_that_was_killed_without_a_session_is_offered",
        ],
    },
    Journey {
        what: "Its context is compacted in the middle, then it ends without wrapping",
        tests: &["hooks::what_was_done_is_kept_in_the_session_of_the_same_process"],
        real: &["agent_journeys::after_a_compaction_one_baton_waits_with_the_first_request"],
    },
    Journey {
        what: "It works in a worktree, the next in the main checkout",
        tests: &[
            "worktree_places::a_pickup_says_where_the_work_lies_and_how_to_get_there",
            "worktrees::a_hook_speaks_in_a_worktree",
        ],
        real: &["agent_journeys::work_in_a_worktree_is_found_from_the_main_checkout"],
    },
    Journey {
        what: "`baton run --then` goes over a limit",
        tests: &[
            "run_chain::at_a_limit_the_next_tool_goes_on_with_the_work_and_the_time_of_the_limit_is_kept",
            "run_chain::a_chain_that_fails_throughout_ends_with_the_last_exit_code_and_loses_no_work",
            "run_chain::on_a_terminal_the_user_decides_whether_the_next_tool_goes_on",
        ],
        real: &["agents::at_a_limit_the_next_agent_is_told_what_the_first_was_asked"],
    },
    Journey {
        what: "Two work at once and one wraps: the other is told and takes nothing by accident",
        tests: &[
            "journeys::of_two_at_once_one_wraps_and_the_other_is_told_and_takes_nothing",
            "run::two_runs_in_one_folder_leave_a_baton_each",
        ],
        real: &["agent_journeys::of_two_agents_at_once_one_wraps_and_the_other_takes_nothing"],
    },
    Journey {
        what: "Headless, with every approval policy",
        tests: &[],
        real: &[
            "agent_policies::without_a_user_every_policy_lets_an_agent_look_or_says_no",
            "agents::codex_without_a_user_reads_what_waits_under_every_approval_policy",
        ],
    },
    Journey {
        what: "Tool calls by shells that live for one command",
        tests: &[
            "callers::one_shell_is_one_process_however_it_calls",
            "callers::a_script_is_one_process_from_its_start_to_its_wrap",
        ],
        real: &[
            "agent_handovers::calls_of_a_shell_that_lives_for_one_command_are_one_session",
            "tools::claude_code_is_told_and_kept",
            "tools::codex_is_told_and_kept",
            "tools::gemini_cli_is_told_and_kept",
        ],
    },
    Journey {
        what: "A colleague's session through a server with a token",
        tests: &[
            "remote::a_day_goes_the_same_way_with_a_server_as_with_a_store",
            "remote::a_token_is_shown_and_its_limits_count",
            "remote::an_agent_on_a_pipe_works_with_the_server",
        ],
        real: &["agent_journeys::a_baton_on_a_server_is_announced_to_the_next_agent"],
    },
    Journey {
        what: "Install, work, uninstall: the bytes are the same, nothing is left",
        tests: &[
            "install::what_is_installed_can_be_taken_out_without_a_trace",
            "install::what_the_user_added_since_stays",
        ],
        real: &[
            "agent_handovers::what_is_installed_for_an_agent_and_taken_out_again_leaves_nothing",
            "tools::claude_code_is_told_and_kept",
            "tools::codex_is_told_and_kept",
            "tools::gemini_cli_is_told_and_kept",
            "tools::opencode_is_told_by_its_plugin",
        ],
    },
];

fn page() -> String {
    let mut page = String::from(
        "# Journeys

What happens to an agent's work in a day, and the end-to-end tests that play it (`crates/baton/tests/e2e`). Tests with the real programs run where
`BATON_TEST_CLIS` names their folder, against a model on loopback. This page is generated.

| | journey | tests | with the real programs |
| --- | --- | --- | --- |
",
    );
    for (index, journey) in JOURNEYS.iter().enumerate() {
        let names = |tests: &[&str]| {
            let names: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
            if names.is_empty() { "only with real ones".to_owned() } else { names.join("<br>") }
        };
        page.push_str(&format!(
            "| J{} | {} | {} | {} |\n",
            index + 1,
            journey.what,
            names(journey.tests),
            names(journey.real)
        ));
    }
    page.push_str(
        "
## What the next agent is told

Word for word, as it reaches the model of Codex after a session of Claude Code, and what `baton status` says then. Ids, folders and ages are left out.
",
    );
    for (title, name) in RECORDS {
        page.push_str(&format!("\n### {title}\n\n```text\n{}\n```\n", recorded(name)));
    }
    page
}

/// What the journeys with the real agents recorded: a title, and the name of the snapshot.
const RECORDS: [(&str, &str); 13] = [
    ("J1: wrapped over MCP, taken with `hd_exec`", "J1"),
    ("J2: ended without wrapping", "J2"),
    ("J3: at a limit in the middle of work", "J3"),
    ("J4: killed, with a session", "J4_with_a_session"),
    ("J4: killed, without a session", "J4_without_a_session"),
    ("J5: compacted in the middle, then ended", "J5"),
    ("J6: worked in a worktree", "J6"),
    ("J7: `baton run --then` over a limit", "J7"),
    ("J8: two at once, one wrapped and the other ended", "J8"),
    ("J9: without a user, under each policy", "J9"),
    ("J10: calls by shells that live for one command", "J10"),
    ("J11: with a server", "J11"),
    ("J12: installed, used, taken out", "J12"),
];

fn recorded(name: &str) -> String {
    let file = format!("tests/e2e/snapshots/e2e__real_agent__{name}.snap");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
    let body = text.splitn(3, "---\n").nth(2).unwrap_or_default();
    body.trim_end().to_owned()
}

/// The tests of a file: every function in it.
fn functions(module: &str) -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e").join(format!("{module}.rs"));
    let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let names = source.lines().filter_map(|line| line.strip_prefix("fn ")?.split('(').next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_page_under_docs_names_a_test_that_exists_for_every_journey() {
    for journey in &JOURNEYS {
        assert!(!journey.tests.is_empty() || !journey.real.is_empty(), "nothing plays: {}", journey.what);
        for test in journey.tests.iter().chain(journey.real) {
            let (module, name) = test.split_once("::").expect("module::test");
            assert!(functions(module).contains(name), "there is no test {test}");
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/journeys.md");
    if crate::stage::env("BATON_WRITE_DOCS").is_some() {
        fs::write(&file, page()).expect("written");
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(known, page(), "docs/journeys.md is not up to date: run with BATON_WRITE_DOCS=1");
}

#[test]
fn of_two_at_once_one_wraps_and_the_other_is_told_and_takes_nothing() {
    let stage = Stage::ready();
    let (donna, lola) = (stage.terminal("Donna"), stage.terminal("Lola"));
    donna.json(&["start"]);
    let own = text(&lola.json(&["start"]), "session_id");
    let left = text(&donna.json(&["wrap", "--summary", "the cart rounds"]), "baton_id");
    // A hook of the other's tool says that something waits.
    let payload = json!({ "session_id": "t", "cwd": stage.shop(), "hook_event_name": "SessionStart" });
    let output =
        lola.feed(payload.to_string().as_bytes(), &["hook", "session-start", "--agent", "claude"]).done().out;
    assert!(output.contains(&left), "{output}");
    lola.json(&["note", "still at the taxes"]);
    lola.json(&["checkpoint", "--summary", "half of the taxes"]);
    let pickups = stage.ledger("shop").into_iter().filter(|delta| delta["kind"] == "pickup").count();
    assert_eq!(pickups, 0, "the baton was not taken by the way");
    let second = lola.json(&["wrap", "--summary", "the taxes"]);
    assert_eq!(text(&second, "session_id"), own);
    let waiting: BTreeSet<String> = stage.terminal("Reader").json(&["status"])["handoffs"]
        .as_array()
        .expect("hand-offs")
        .iter()
        .map(|baton| text(baton, "id"))
        .collect();
    let both: BTreeSet<String> = [left, text(&second, "baton_id")].into();
    assert_eq!(waiting, both, "each has a baton of its own");
    stage.assert_sound();
}
