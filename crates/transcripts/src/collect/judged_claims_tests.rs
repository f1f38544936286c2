//! What readers found untrue in documents of new sessions, each in a small session of the same shape: what was
//! taken for an answer, a rule, a finding or a result and was none, or no more.

use super::tests::{SessionScript, texts};
use super::*;
use crate::event::{Call, Outcome, SourcePosition};
use crate::report::Report;

fn remarks(summary: &Packet) -> Vec<(&str, &str)> {
    summary.remarks.iter().map(|one| (one.role.as_str(), one.text.as_str())).collect()
}

#[test]
fn what_the_user_says_of_something_else_is_not_told_as_the_answer_to_a_question() {
    let remarks_after = |words: &'static str| {
        let summary = SessionScript::new()
            .user("Change the message of the warning")
            .agent(
                "Changed. The linter names a fault in another file, because `err` is printed in place of `initErr`. Would you \
                 like me to fix that as well?",
            )
            .user(words)
            .edit("a", "hooks.go")
            .agent("Done.")
            .user("Now write the changelog of the version, and name both")
            .agent("Written.")
            .summary();
        remarks(&summary).iter().any(|(_, text)| text.contains(" — the user: “"))
    };
    assert!(!remarks_after(
        "add another option which is, to discard the work of a session, run \"entire reset\""
    ));
    assert!(!remarks_after("jesus, it works"));
    assert!(remarks_after("no, leave that to them"));
}

#[test]
fn options_that_the_user_chose_from_are_of_the_past_once_the_work_went_on() {
    let begun = || {
        SessionScript::new()
            .user("Do the tests need the binaries?")
            .agent("Honestly, the stubs are not terrible, since the code stays clean and the set-up is a few lines long.")
            .user("The tests should not depend on what is installed, so that they pass everywhere.")
    };
    let is_told =
        |script: SessionScript| remarks(&script.summary()).iter().any(|(_, text)| text.contains("Honestly"));
    assert!(is_told(begun().agent("I see.")));
    assert!(!is_told(begun().edit("a", "a.go").agent("They look nothing up any more.")));
}

#[test]
fn what_a_step_found_is_told_where_the_request_was_to_look_into_something() {
    let begun = || {
        SessionScript::new()
            .user("Did any of the sessions begin with a summary?")
            .agent("Let me look at all of them.")
            .run("a", "git ls-tree -r sessions", 0, "a b c")
            .agent("No session starts with a summary. Let me check the agent types next.")
            .run("b", "git show sessions:a", 0, "Agent")
            .agent("The type is set too late, because the hook of the start runs before the state is written for the first time.")
    };
    let found = ("assistant", "No session starts with a summary.");
    assert!(remarks(&begun().summary()).contains(&found));
    let changed = begun().edit("c", "a.go").summary();
    assert!(!remarks(&changed).contains(&found), "{:?}", remarks(&changed));
}

#[test]
fn items_of_an_order_are_no_statements_of_the_user_once_it_was_carried_out() {
    let summary = SessionScript::new()
        .user(
            "Address these please:\n\n* The decoder only handles objects. If a line holds an array, it stays unchanged and nothing is \
             taken out of it.\n* Return an error from the encoder.",
        )
        .edit("a", "redact.go")
        .agent("Both are done.")
        .summary();
    assert!(!remarks(&summary).iter().any(|(role, _)| *role == "user"), "{:?}", remarks(&summary));
}

#[test]
fn a_draft_that_was_sent_again_with_more_is_told_once() {
    let summary = SessionScript::new()
        .user("Mend the warning")
        .agent("Mended.")
        .user("instead of the warning print that a session is running and ask whether to keep going.\nYes.\nNo.")
        .user("instead of the warning print that a session is running and ask whether to keep going.\nYes.\nNo. type /exit")
        .edit("a", "hooks.go")
        .agent("The message asks now.")
        .summary();
    let users: Vec<&str> = summary
        .recent_messages
        .iter()
        .filter(|turn| turn.role == "user")
        .map(|turn| turn.text.as_str())
        .collect();
    assert_eq!(users.len(), 2, "{users:?}");
    assert!(users[1].ends_with("type /exit"), "{users:?}");
}

#[test]
fn why_a_call_is_rejected_is_not_what_the_session_began_with() {
    let rejected = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nthe other branch was \
                    merged today, so rename it there instead";
    let summary = SessionScript::new()
        .user("/github-pr-review")
        .agent("One thread is open.")
        .call("a", Category::Edit, "state.go")
        .ended("a", 1, rejected)
        .edit("b", "state.go")
        .agent("Renamed there.")
        .user("draft PR please, with the reasons in it")
        .agent("Drafted.")
        .summary();
    let first = summary.requests.and_then(|requests| requests.first).map(|first| first.text);
    assert_eq!(first.as_deref(), Some("/github-pr-review"));
    let summary =
        SessionScript::new().user("/brainstorm").user("A cache of the reader").agent("On it.").summary();
    let first = summary.requests.and_then(|requests| requests.first).map(|first| first.text);
    assert_eq!(first.as_deref(), Some("A cache of the reader"));
}

#[test]
fn what_the_user_takes_back_is_no_wish_of_his() {
    let script = |last: &'static str| {
        let summary = SessionScript::new()
            .user("Port the interface")
            .agent("Ported.")
            .user("The old components stay beside the new ones, so that nothing that depends on them breaks.")
            .agent("Copied.")
            .edit("a", "tui.ts")
            .user(last)
            .agent("Done.")
            .summary();
        remarks(&summary).iter().any(|(_, text)| text.contains("stay beside"))
    };
    assert!(script("Thanks, that is it for today with these."));
    assert!(!script("actually, can you revert that?"));
}

#[test]
fn a_thought_after_which_the_work_went_on_is_not_the_last_answer() {
    let summary = SessionScript::new()
        .user("Add the handler of the hook")
        .agent("The handler reads the input once and hands it on to both, since a stream can be read only once.")
        .edit("a", "hooks.go")
        .agent(
            "Wait, I need to think about this more carefully. The handler needs to run the start of the session, and to keep what was \
             there before the prompt. The cleanest way is to buffer the input and to pass it to both operations.",
        )
        .edit("b", "hooks.go")
        .summary();
    let answer = summary.last_answer.map(|answer| answer.text).unwrap_or_default();
    assert!(answer.starts_with("The handler reads"), "{answer}");
}

#[test]
fn what_the_agent_said_it_would_do_and_did_is_no_remark() {
    let begun = || {
        SessionScript::new()
            .user("commit this")
            .agent("I'll stage the code and not the settings of the tool, since those are local and belong to nobody else.")
    };
    let is_told = |script: SessionScript| {
        remarks(&script.summary()).iter().any(|(_, text)| text.contains("I'll stage"))
    };
    assert!(!is_told(
        begun().run("a", "git commit -m x", 0, "[main 1a2b3c4] x").agent("Committed as 1a2b3c4.")
    ));
}

#[test]
fn what_was_seen_in_the_middle_of_the_work_is_no_turn_that_lasts() {
    let summary = SessionScript::new()
        .user("Return an error from the encoder")
        .agent("There is no `err` declared before line 454, so I should use `:=` for the call and `err` is free for reuse.")
        .edit("a", "redact.go")
        .agent("The encoder returns an error, and all three callers hand it on.")
        .summary();
    assert!(!summary.recent_messages.iter().any(|turn| turn.text.contains("line 454")));
}

#[test]
fn a_question_that_was_left_open_may_have_been_settled_since() {
    let begun =
        || SessionScript::new().user("Port it").agent("Open question: whether the file may be empty.");
    let note = " — left open by the agent; whether it was settled since is not known";
    assert!(!begun().summary().open_loops[0].text.ends_with(note));
    let later = begun().edit("a", "a.rs").agent("Ported.").summary();
    assert!(texts(&later.open_loops).iter().any(|text| text.ends_with(note)), "{:?}", later.open_loops);
}

#[test]
fn what_never_was_and_what_a_plan_describes_are_no_rules() {
    let constraints =
        |text: &'static str| SessionScript::new().user(text).agent("I see.").summary().constraints.len();
    assert_eq!(
        constraints("The hook at the end never actually worked, but it is a weird case, so let's remove it."),
        0
    );
    assert_eq!(constraints("Never remove the hook at the end."), 1);
    let plan = |item: &str| {
        let text = format!(
            "Implement the following plan:\n\n# Port it\n\n## Context\n\nIt is old.\n\n## Steps\n\n- one\n- {item}\n- two\n- three\n- four\n- five\n"
        );
        let script = SessionScript::new().add(EventKind::User(text.into()));
        script.agent("I see.").summary().constraints.len()
    };
    assert_eq!(
        plan(
            "**No hook before a prompt**: `boot` fires once; the state must be taken anew after each answer"
        ),
        0
    );
    assert_eq!(plan("Sets `last` to nothing (the next commit must get an id of its own)"), 0);
    assert_eq!(plan("`make test` — run the tests (new ones must pass)"), 0);
    assert_eq!(plan("Every commit must be traceable (see above)"), 1);
    assert_eq!(plan("**Important:** never touch the lexer"), 1);
}

#[test]
fn a_file_that_later_edits_put_back_is_not_named() {
    let edit = |script: SessionScript, id: &'static str, old: &'static str, new: &'static str| {
        let edits = vec![crate::event::Edit::replaced("env.go", old, new)];
        let call =
            Call { id: id.into(), name: "tool".into(), category: Category::Edit, edits, ..Call::default() };
        script.add(EventKind::Call(call)).ended(id, 0, "")
    };
    let script = edit(SessionScript::new().user("Log more"), "a", "one\n", "one\ntwo\n");
    let files = |script: SessionScript| script.agent("Done.").summary().files_modified.len();
    assert_eq!(files(edit(script, "b", "one\ntwo\n", "one\n")), 0);
    assert_eq!(files(edit(SessionScript::new().user("Log more"), "a", "one\n", "two\n")), 1);
}

#[test]
fn all_headings_of_a_long_plan_are_known() {
    let step = |n: usize| {
        format!("\n## Step {n}\n\n{}\n", "Write what the parser reads into the table. ".repeat(40))
    };
    let plan: String = (1..=12).map(step).collect();
    let summary = SessionScript::new()
        .add(EventKind::User(format!("# Plan\n{plan}\n## Verification\n\nmake test").into()))
        .agent("On it.")
        .summary();
    let request =
        summary.requests.and_then(|requests| requests.last).map(|last| last.text).unwrap_or_default();
    assert!(request.contains("## Step 12") && request.contains("## Verification"), "{} bytes", request.len());
}

/// A session whose last run is a sub-agent's.
fn with_subagent(own: Option<(&'static str, i64)>, command: &'static str, exit_code: i64) -> Packet {
    let mut collector = Collector::new(&Options::default(), None);
    let mut line = 0;
    let mut tell = |subagent: Option<&'static str>, what: EventKind<'static>| {
        line += 1;
        let position = SourcePosition { line, offset: 0 };
        collector.event(&Event { position, at_ms: None, subagent: subagent.map(Into::into), what });
    };
    let runs = own.map(|(command, code)| (None, command, code)).into_iter().chain([(
        Some("b1"),
        command,
        exit_code,
    )]);
    tell(None, EventKind::User("Build it".into()));
    for (subagent, command, exit_code) in runs {
        let id = command;
        tell(
            subagent,
            EventKind::Call(Call {
                id: id.into(),
                name: "Bash".into(),
                category: Category::Shell,
                target: command.into(),
                ..Call::default()
            }),
        );
        tell(
            subagent,
            EventKind::Outcome(Outcome {
                id: id.into(),
                ok: Some(exit_code == 0),
                exit_code: Some(exit_code),
                output: "error: no such module".into(),
                edits: Vec::new(),
            }),
        );
    }
    tell(None, EventKind::Assistant("The app is ready.".into()));
    collector.finish("claude", Path::new("x.jsonl"), Report::default())
}

#[test]
fn how_a_check_of_a_sub_agent_ended_is_told() {
    let checks = |summary: Packet| -> Vec<(String, Option<i64>, String)> {
        let checks = summary.checks.into_iter();
        let mut all: Vec<_> =
            checks.map(|check| (check.command, check.exit_code, check.note.unwrap_or_default())).collect();
        all.sort();
        all
    };
    let failed =
        ("npm run build".to_owned(), Some(1), "run by a sub-agent: error: no such module".to_owned());
    assert_eq!(checks(with_subagent(None, "npm run build", 1)), std::slice::from_ref(&failed));
    let passed = |command: &str| (command.to_owned(), Some(0), String::new());
    assert_eq!(checks(with_subagent(None, "npx tsc --noEmit", 0)), [passed("npx tsc --noEmit")]);
    let own = passed("make lint");
    assert_eq!(checks(with_subagent(Some(("make lint", 0)), "npm run build", 1)), [own.clone(), failed]);
    assert_eq!(
        checks(with_subagent(Some(("make lint", 0)), "npm run build", 0)),
        [own.clone(), passed("npm run build")]
    );
    assert_eq!(
        checks(with_subagent(Some(("make lint", 0)), "make lint", 1)),
        [own],
        "which came last is not known"
    );
    assert_eq!(with_subagent(None, "ls -la types/", 1).failed_attempts, []);
}
