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
    assert_eq!(texts(&script().summary().next_steps), [ANNOUNCED]);
    assert_eq!(
        texts(&script().call("a", Category::Shell, "make test").summary().next_steps),
        [ANNOUNCED],
        "it is at work on it"
    );
    assert_eq!(texts(&script().run("a", "make test", 0, "ok").summary().next_steps), [CUT_OFF]);
}

const ANNOUNCED: &str =
    "go on with the last request; the agent said last: “Let me verify everything still works”";
const CUT_OFF: &str = "go on with the last request: the session ended while the agent was at work on it";

#[test]
fn a_request_that_was_carried_out_in_silence_says_so() {
    let script = |category| {
        let script = SessionScript::new().user("Create the issue in the project Troy");
        script.call("a", category, "create_issue Author").ended("a", 0, "#228").summary().next_steps
    };
    for category in [Category::Other, Category::Mcp("linear".to_owned())] {
        let steps = script(category);
        let text = &steps[0].text;
        assert!(
            text.starts_with("tell the user, then go on: `")
                && text.contains("create_issue Author` succeeded after"),
            "{text}"
        );
        assert!(text.ends_with(", and gave “#228”; nothing was said of it yet"), "{text}");
    }
    assert_eq!(
        texts(&script(Category::Shell)),
        ["Create the issue in the project Troy"],
        "a command is told itself"
    );
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
    let summary = question().summary();
    let wanted = "ask the user, who has not answered: “Question: Do you want it by name?”";
    assert_eq!((texts(&summary.next_steps), texts(&summary.open_loops)), (vec![wanted], vec![]));
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

#[test]
fn where_step_after_step_was_only_announced_the_last_finding_is_the_answer() {
    let summary = SessionScript::new()
        .user("Find out why the job does not run")
        .agent("The cause is the clock: `phase` is refreshed by every commit.")
        .run("a", "ls", 0, "x")
        .agent("This is in `run`. I should update it to use the new function:")
        .edit("b", "run.go")
        .agent("Now update the tests:")
        .edit("c", "run_test.go")
        .agent("Now run them:")
        .run("d", "make test", 0, "ok")
        .agent("All green. Let me clean up the stale file:")
        .run("e", "rm x.json", 0, "")
        .agent("Now let me commit:")
        .summary();
    let wanted = "The cause is the clock: `phase` is refreshed by every commit.";
    assert_eq!(text(&summary.last_answer), wanted);
}

#[test]
fn words_that_correct_a_call_are_told_with_the_request_that_it_was_made_for() {
    let rejection = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, \
                the user said:\nNo, take it from the file";
    let request = "Make a plan to fix the path of the session file only for the second agent";
    let script = SessionScript::new()
        .user(request)
        .agent("Here it is.")
        .user("which file is that?")
        .agent("The first one.")
        .run("a", "plan", 1, rejection)
        .run("b", "plan again", 1, rejection);
    let last = last_request(script);
    assert!(
        last.starts_with("No, take it from the file")
            && last.ends_with(&format!("asked for before it: “{request}”")),
        "{last}"
    );
}

#[test]
fn a_short_answer_stands_with_the_question_and_the_option_that_it_picks() {
    let remarks = |answer: &'static str| {
        let summary = SessionScript::new()
            .user("Type the ids of the checkpoints")
            .agent("Two ways:\n1. cast them, since the source is trusted\n2. parse them, because the source may be wrong\n\nWhich one?")
            .user(answer)
            .edit("a", "id.go")
            .agent("Done.")
            .user("Now the docs of the ids please")
            .agent("Done, too.")
            .summary();
        summary.remarks.into_iter().map(|remark| remark.text).collect::<Vec<_>>()
    };
    let picked = "Which one? → 2. parse them, because the source may be wrong — the user: “let's try 2”";
    assert!(remarks("let's try 2").iter().any(|text| text == picked), "{:?}", remarks("let's try 2"));
    assert!(
        !remarks("let's try 2").iter().any(|text| text.contains("cast them")),
        "an option that was not chosen"
    );
    let limits = "Which one? — the user: “the second, but not in the tests”";
    assert!(remarks("the second, but not in the tests").iter().any(|text| text == limits));
}

#[test]
fn what_was_seen_before_the_last_change_is_not_also_said_and_what_was_asked_for_is_a_request_of_the_past() {
    let summary = SessionScript::new()
        .user("Fix the build of the reader")
        .agent("The issue is that `Load` never closes the file, so the lock stays. Let me fix it.")
        .edit("a", "load.go")
        .agent("Writes were slow, so the index had to go.")
        .user("This looks odd since the message names no file. Can we name it there?")
        .edit("b", "message.go")
        .agent("Done.")
        .user("Now write the documentation of the reader and its two levels")
        .edit("c", "docs.md")
        .agent("Written.")
        .summary();
    let all: Vec<(&str, &str)> =
        summary.remarks.iter().map(|one| (one.role.as_str(), one.text.as_str())).collect();
    let wanted = [
        ("assistant", "Writes were slow, so the index had to go."),
        ("request", "This looks odd since the message names no file. Can we name it there?"),
    ];
    assert_eq!(all, wanted);
}

#[test]
fn an_order_lifts_what_was_forbidden_for_the_moment() {
    let rules = |last: &'static str| {
        let summary = SessionScript::new()
            .user("Write the plan to a file, don't commit.")
            .agent("Written.")
            .user(last)
            .summary();
        summary.constraints.len()
    };
    assert_eq!((rules("commit this"), rules("what does the plan say of the commit?")), (0, 1));
}

#[test]
fn a_summary_of_a_full_context_tells_nothing_of_what_was_open_once_work_went_on() {
    let summary = "1. Primary Request and Intent:\n   Port it.\n\n7. Pending Tasks:\n   - The lexer";
    let script = || {
        let script = SessionScript::new().user("Port it");
        script.add(EventKind::Compaction(summary.into()))
    };
    let summary_of = |script: SessionScript| script.summary().metadata["compaction"]["summary"].to_string();
    assert!(summary_of(script()).contains("The lexer"), "nothing was done since");
    let after = summary_of(script().edit("a", "lexer.rs"));
    assert!(after.contains("Port it.") && !after.contains("The lexer"), "{after}");
}

#[test]
fn work_that_git_threw_away_is_a_failed_attempt() {
    let summary = SessionScript::new()
        .user("Is the lint ours?")
        .edit("a", "review.go")
        .run("b", "git checkout -- review.go other.go", 0, "")
        .agent("Gone.")
        .summary();
    let tried: Vec<&str> = summary.failed_attempts.iter().map(|one| one.tried.as_str()).collect();
    assert_eq!(tried.len(), 1, "{tried:?}");
    assert!(tried[0].ends_with("threw away changes that were in no commit, of `review.go`"), "{tried:?}");
}
