//! What is told of calls that did not run, and of what the user said with it.

use super::tests::{SessionScript, texts};
use crate::event::Category;

const SAID: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file \
                    edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n\
                    don't run CI or integration tests, too slow.";

#[test]
fn a_call_that_did_not_run_or_was_stopped_is_no_failure() {
    for text in [
        SAID,
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "compiling\n<error>Command was aborted before completion</error>",
        "Command aborted",
    ] {
        let summary =
            SessionScript::new().user("Add a cache").run("a", "make test", 1, text).agent("Well.").summary();
        assert_eq!(summary.last_failure, None, "{text}");
        assert_eq!((summary.failed_attempts, summary.test_status), (Vec::new(), None), "{text}");
        assert_eq!((summary.checks, texts(&summary.open_loops)), (Vec::new(), Vec::new()), "{text}");
        assert!(summary.commands[0].note.is_some() && summary.commands[0].exit_code.is_none(), "{text}");
    }
    let summary =
        SessionScript::new().user("x").run("a", "make test", 1, "a: Command aborted\nFAILED").summary();
    assert!(summary.last_failure.is_some(), "what a command prints is no word of the tool");
}

#[test]
fn an_earlier_failure_stands_where_the_next_run_was_rejected() {
    let summary =
        SessionScript::new().user("x").run("a", "make test", 2, "FAILED").run("b", "make test", 1, SAID);
    assert_eq!(summary.summary().last_failure.and_then(|failure| failure.exit_code), Some(2));
}

#[test]
fn what_the_user_says_in_a_rejection_is_a_request_and_a_constraint() {
    let summary = SessionScript::new().user("Add a cache").run("a", "mise run test:ci", 1, SAID).summary();
    let words = "don't run CI or integration tests, too slow.";
    let last = summary.requests.and_then(|requests| requests.last).expect("request");
    let call = "said by the user, who rejected this call: `mise run test:ci`";
    assert_eq!(last.text, format!("{words} — {call} — asked for before it: “Add a cache”"));
    assert_eq!(last.at.as_deref(), Some("claude:x#3"));
    assert_eq!(texts(&summary.constraints).len(), 1, "{:?}", summary.constraints);
    let reason = "The user doesn't want to proceed with this tool use. The user provided the following reason for the \
                  rejection:  keep the lock";
    let summary = SessionScript::new()
        .user("Add a cache")
        .run("a", "rm x.lock", 1, reason)
        .agent("I keep it.")
        .summary();
    assert!(
        summary.recent_messages.iter().any(|message| message.text == "keep the lock"),
        "{:?}",
        summary.recent_messages
    );
}

#[test]
fn what_the_user_answers_is_a_decision() {
    let answered = "Your questions have been answered: \"Which store?\"=\"SQLite\". You can now continue.";
    let ask = || SessionScript::new().user("Add a cache").call("a", Category::Ask, "Which store?");
    let summary = ask().ended("a", 0, answered).agent("Well.").summary();
    let words = "SQLite — the user's answer to “Which store?”";
    assert_eq!(summary.decisions.iter().map(|one| one.what.as_str()).collect::<Vec<_>>(), [words]);
    assert_eq!(summary.decisions[0].at.as_deref(), Some("claude:x#3"));
    assert!(summary.recent_messages.iter().any(|message| message.text == words));
    let summary =
        SessionScript::new().user("x").call("a", Category::Read, "a.md").ended("a", 0, answered).summary();
    assert_eq!(summary.decisions, [], "a file that holds such words is no answer");
}
