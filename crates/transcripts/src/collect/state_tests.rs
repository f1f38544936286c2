//! What is told of the end of a session: requests, answers and what comes next, where the last words say little.

use super::tests::{SessionScript, texts};
use super::*;

fn text(text: &Option<baton_packet::packet::Text>) -> &str {
    text.as_ref().map_or("", |text| text.text.as_str())
}

fn last_request(script: SessionScript) -> String {
    text(&script.summary().requests.unwrap_or_default().last).to_owned()
}

#[test]
fn an_answer_that_only_announces_is_not_the_last_answer() {
    let script = |last: &'static str| {
        SessionScript::new()
            .user("Fix the cache of the reader")
            .agent("The key lacked the branch; fixed in cache.rs.")
            .run("a", "make lint", 0, "ok")
            .agent(last)
    };
    for last in ["Now let me commit:", "👍", "Good. Let me look at the exports:"] {
        let summary = script(last).summary();
        assert_eq!(text(&summary.last_answer), "The key lacked the branch; fixed in cache.rs.", "{last}");
        assert!(summary.recent_messages.iter().all(|turn| turn.text != last), "{last}");
    }
    assert_eq!(text(&script("Done, all is committed.").summary().last_answer), "Done, all is committed.");
    let only = SessionScript::new().user("Fix it").agent("Let me look:").summary();
    assert_eq!(text(&only.last_answer), "Let me look:", "nothing else was said");
}

#[test]
fn what_was_announced_and_then_done_is_not_what_comes_next() {
    let script = || {
        SessionScript::new()
            .user("Rebase it")
            .agent("Rebase completed. Let me verify everything still works.")
    };
    assert_eq!(texts(&script().summary().next_steps), ["Let me verify everything still works"]);
    assert_eq!(
        texts(&script().call("a", Category::Shell, "make test").summary().next_steps),
        ["Let me verify everything still works"],
        "it is at work on it"
    );
    assert_eq!(texts(&script().run("a", "make test", 0, "ok").summary().next_steps), [CUT_OFF]);
}

const CUT_OFF: &str = "go on with the last request: the session ended while the agent was at work on it";

#[test]
fn a_request_that_was_carried_out_in_silence_says_so() {
    let script = |category| {
        let script = SessionScript::new().user("Create the issue in the project Troy");
        script.call("a", category, "create_issue Author").ended("a", 0, "#228").summary().open_loops
    };
    let line = "`create_issue Author` succeeded after the last request; nothing was said of it yet";
    assert!(texts(&script(Category::Other)).iter().any(|open| open.ends_with(&line[1..])));
    assert_eq!(texts(&script(Category::Shell)), [""; 0], "what came of a command is told");
}

#[test]
fn a_request_of_few_words_is_told_with_the_one_before_that_says_more() {
    let long = "Add a log output to the wingman process, since it is currently not working";
    let script =
        |last: &'static str| SessionScript::new().user(long).agent("Added, see wingman.log.").user(last);
    assert_eq!(last_request(script("Commit this")), format!("Commit this — asked for before it: “{long}”"));
    let other = "Now write the documentation of the wingman log and its two levels";
    assert_eq!(last_request(script(other)), other);
    assert_eq!(last_request(SessionScript::new().user("Commit this")), "Commit this");
}

#[test]
fn the_first_request_is_the_goal_in_words() {
    let first = |script: SessionScript| text(&script.summary().requests.unwrap_or_default().first).to_owned();
    let script = SessionScript::new()
        .user("/superpowers:brainstorm")
        .agent("What about?")
        .user("Add hooks for the session's end");
    assert!(first(script).starts_with("Add hooks for the session's end"));
    let anew = SessionScript::new()
        .user("have a look at linear MCP-108, we will work on it")
        .user("have a look at linear ENT-108, we will work on it");
    assert_eq!(first(anew), "have a look at linear ENT-108, we will work on it");
    let other =
        SessionScript::new().user("Fix the parser of the dates").user("Fix the lexer of the names please");
    assert_eq!(first(other), "Fix the parser of the dates");
}

#[test]
fn the_words_behind_a_command_are_the_users() {
    let summary = SessionScript::new()
        .user("/superpowers:execute-plan keep each commit with working code please (no broken state)")
        .summary();
    assert_eq!(texts(&summary.constraints), ["keep each commit with working code please (no broken state)"]);
    let path = SessionScript::new().user("/srv/app must never be touched").summary();
    assert_eq!(texts(&path.constraints), ["/srv/app must never be touched"]);
}

#[test]
fn a_question_that_the_user_answered_is_open_no_more() {
    let question = || SessionScript::new().user("x").agent("Question: Do you want it by name?");
    assert_eq!(texts(&question().summary().open_loops).len(), 1);
    assert_eq!(
        texts(&question().user("By name, and sort them").agent("Done.").summary().open_loops),
        [""; 0]
    );
    let parked = SessionScript::new().user("x").agent("Open question: whether the file may be empty.");
    assert_eq!(parked.user("Go on with the rest of it").agent("Done.").summary().open_loops.len(), 1);
    let opening =
        SessionScript::new().user("x").agent("So the migration is unclear:\n- a").user("Now the docs");
    assert_eq!(
        texts(&opening.agent("Done.").summary().open_loops),
        [""; 0],
        "what ends in a colon says nothing"
    );
}

#[test]
fn tests_that_failed_before_they_passed_are_not_also_said() {
    let script = || {
        SessionScript::new()
            .user("Port the branch names to the new format")
            .agent("The tests are still failing because they expect the legacy format, not the new one.")
    };
    let remarks = |script: SessionScript| {
        script.user("Good work, now do the next part of it").agent("Ported.").summary().remarks.len()
    };
    assert_eq!(remarks(script()), 1);
    assert_eq!(remarks(script().run("a", "cargo test", 0, "ok")), 0);
}

#[test]
fn what_the_user_throws_out_is_no_decision() {
    let script = |word: &'static str| {
        SessionScript::new()
            .user("Find out why the output of bash breaks the turn and mend it")
            .agent("The fix is simple: we use `queueMessage` instead of `appendMessage`, because it waits.")
            .user("why are there 2 subscription handlers?")
            .agent("One is left over.")
            .user(word)
            .agent("I overcomplicated this.")
            .summary()
            .decisions
            .len()
    };
    assert_eq!(script("wait, wtf this doesn't look right to me? why would we queue"), 0);
    assert_eq!(script("Nice, now the docs of that please"), 1);
}
