//! What readers of documents of real sessions found untrue, each in a small session of the same shape.

use super::tests::{SessionScript, texts};
use super::*;

fn answer(script: SessionScript) -> String {
    script.summary().last_answer.map(|answer| answer.text).unwrap_or_default()
}

#[test]
fn what_git_says_of_another_repository_is_not_told() {
    let git = |command: &'static str, output: &'static str| {
        let summary = SessionScript::new()
            .cwd("/home/you/proj")
            .user("Fix the flag")
            .run("a", "git log --oneline -1", 0, "aaaa111 Begin")
            .edit("b", "wing.go")
            .run("c", command, 0, output)
            .agent("Fixed: wing.go reads the flag later.")
            .summary();
        let git = summary.git.expect("git");
        (git.branch, git.commit, git.dirty)
    };
    let own = (None, Some("aaaa111".to_owned()), Some(true));
    assert_eq!(git("cd /home/you/playground && git log --oneline -5", "ad1db90 Add\na051b81 Add"), own);
    assert_eq!(git("git -C /home/you/playground log --oneline -3", "ad1db90 Add fireworks"), own);
    assert_eq!(git("cd ../playground && git add -A && git commit -m wip", "[main 1234abc] wip"), own);
    let clean = "On branch main\nnothing to commit, working tree clean";
    assert_eq!(git("cd /tmp/scratch && git status", clean), own);
    let here = (Some("main".to_owned()), Some("aaaa111".to_owned()), Some(false));
    assert_eq!(git("cd /home/you/proj && git status", clean), here);
}

#[test]
fn the_branch_of_the_records_is_told_where_no_command_shows_it() {
    let on = |branch: &'static str| {
        EventKind::Session(TranscriptInfo { branch: Some(branch.into()), ..TranscriptInfo::default() })
    };
    let script = || {
        SessionScript::new()
            .add(on("main"))
            .user("Rename the field in a patch")
            .run("a", "git checkout -b patch-y", 0, "Switched to a new branch 'patch-y'")
            .add(on("patch-y"))
            .run("b", "git commit -am r", 0, "[patch-y f382f6f] r")
    };
    let git = |script: SessionScript| {
        let git = script.agent("Renamed and committed there.").summary().git.expect("git");
        (git.branch, git.commit)
    };
    assert_eq!(git(script()), (Some("patch-y".into()), Some("f382f6f".into())));
    assert_eq!(git(script().add(on("feature/x"))), (Some("feature/x".into()), None));
    assert_eq!(
        git(script().add(on("HEAD"))),
        (Some("patch-y".into()), Some("f382f6f".into())),
        "in a rebase"
    );
}

#[test]
fn a_step_that_was_done_since_is_not_the_last_answer() {
    let script = |step: &'static str| {
        SessionScript::new()
            .user("The review comes long after the commit. Does the idle path help then?")
            .agent("You are right, I mixed up the times. The stop hook delivers it, since it fires at the safe moment.")
            .agent(step)
            .edit("a", "hooks.go")
    };
    for step in [
        "Now the stop hook trigger in `hooks.go`. Insert after the existing review trigger (line 416).",
        "**Fix 2: Add timeouts to the spawn**",
        "Starting with Task 1: adding the field.",
        "This is in `run`. I should update it to use the new function:",
    ] {
        assert!(answer(script(step)).starts_with("You are right"), "{step}");
    }
    let again = script("Now the tests:").user("Make a plan for the second agent").agent(
        "This is a different task. Let me explore the current implementation to understand exactly what needs to change.",
    );
    assert!(answer(again).starts_with("You are right"));
}

#[test]
fn what_the_agent_takes_back_is_no_decision() {
    let decided = |end: &'static str| {
        let summary = SessionScript::new()
            .user("Mend the test")
            .agent("I'll use a separate marker file instead of changing `test.txt`.")
            .edit("a", "test.go")
            .agent(end)
            .edit("b", "test.go")
            .summary();
        summary.decisions.len()
    };
    assert_eq!(decided("The test passes now."), 1);
    assert_eq!(decided("Let me revert my earlier change and fix the setup itself."), 0);
}

#[test]
fn what_the_agent_only_suggests_is_told_as_a_proposal() {
    let next =
        |text: &'static str| SessionScript::new().user("Port the tables").agent(text).summary().next_steps;
    let list = "Both tables are ported.\n\nWhat's next:\n- Add tests of the import";
    assert_eq!(texts(&next(list)), ["Add tests of the import"]);
    let with_question = "Both tables are ported.\n\nWhat's next:\n- Add tests of the import\n\nWould you like me to add them?";
    assert_eq!(
        texts(&next(with_question)),
        ["the agent proposes, and the user has not answered: Add tests of the import"]
    );
}

#[test]
fn what_the_next_record_refutes_is_not_the_last_answer() {
    let script = SessionScript::new()
        .user("Run the tests to see them fail, then begin")
        .agent("Now we see the real bug: the branch still has the file of the first session, although the second worked on another one.")
        .edit("a", "types.go")
        .agent(
            "Oh! We are on the old branch, which has the code of the old approach. We need to either:\n1. Work on main\n2. Or \
             understand what is on this branch first, before anything else is changed here\n\nLet me check what branch we are on, and whether the file is there:",
        );
    let wrong = "Oh! We are on the old branch";
    assert!(answer(script).starts_with(wrong), "nothing came after it");
    let script = SessionScript::new()
        .user("Run the tests to see them fail, then begin")
        .agent("Now we see the real bug: the branch still has the file of the first session, although the second worked on another one.")
        .agent(
            "Oh! We are on the old branch, which has the code of the old approach. We need to either:\n1. Work on main\n2. Or \
             understand what is on this branch first, before anything else is changed here\n\nLet me check what branch we are on:",
        )
        .run("b", "git branch --show-current", 0, "main")
        .edit("c", "manual.go");
    assert!(answer(script).starts_with("Now we see the real bug"));
}

#[test]
fn what_the_agent_announced_beside_a_plan_is_told() {
    let item = |title: &str, status: &str| crate::event::PlanItem {
        title: title.to_owned(),
        status: status.to_owned(),
        ..crate::event::PlanItem::default()
    };
    let summary = SessionScript::new()
        .user("Show an existing review when a session is opened")
        .add(EventKind::Plan(vec![item("Add the hint", "in_progress")]))
        .agent("Found it: a file of a test was taken for a live session, which blocked the apply. No code has to change.")
        .edit("a", "hooks.go")
        .agent("Need to add `path/filepath` and `paths`.")
        .summary();
    assert!(summary.last_answer.is_some_and(|answer| answer.text.starts_with("Found it")));
    assert_eq!(
        texts(&summary.open_loops),
        ["the agent said last, and had not done it: “Need to add `path/filepath` and `paths`”"]
    );
}

/// The notes of the checks, by command.
fn notes(script: SessionScript) -> Vec<(String, String)> {
    let checks = script.summary().checks.into_iter();
    checks.map(|check| (check.command, check.note.unwrap_or_default())).collect()
}

const FOUR: &str =
    "--- FAIL: TestDismiss (0.2s)\n--- FAIL: TestStash (0.4s)\n--- FAIL: TestPartial (0.2s)\nFAIL";

#[test]
fn failing_tests_that_a_narrow_run_does_not_show_stay_told() {
    let script = SessionScript::new()
        .user("Run the tests to see them fail")
        .run("a", "make test-all | grep -E \"(FAIL|PASS).*Test\" | head -10", 0, FOUR)
        .run(
            "b",
            "make test-all | grep -A 15 \"TestDismiss\" | head -25",
            0,
            "--- FAIL: TestDismiss (0.3s)\n    a_test.go:1: no",
        );
    let note = notes(script).remove(0).1;
    assert!(
        note.contains(
            "failing tests: TestDismiss; failing tests of the run before, which this one does not show: TestStash, TestPartial"
        ),
        "{note}"
    );
}

#[test]
fn tests_that_a_narrow_run_does_not_show_are_told_until_their_package_passed() {
    let begun = || {
        SessionScript::new()
            .user("Run the tests")
            .run(
                "a",
                "mise run test:ci 2>&1 | grep FAIL | head -10",
                1,
                "--- FAIL: TestStash (0.4s)\n--- FAIL: TestPartial (0.2s)\nFAIL\tgit.example/shop/store\t0.9s\nFAIL",
            )
            .run("b", "mise run test:ci 2>&1 | grep -A 15 TestDismiss | head", 1, "--- FAIL: TestDismiss (0.3s)\n no")
    };
    let note = |script| {
        notes(script).into_iter().find(|(command, _)| command.contains("test:ci")).map(|(_, note)| note)
    };
    let carried = "of the run before, which this one does not show: TestStash, TestPartial";
    assert!(note(begun()).is_some_and(|note| note.contains(carried)));
    let ok = "ok  \tgit.example/shop/store\t3.1s";
    let whole = note(begun().run("c", "mise run test:integration", 0, ok)).expect("a note");
    assert!(!whole.contains("TestStash") && whole.contains("TestDismiss"), "{whole}");
    let empty = "ok  \tgit.example/shop/store\t0.1s [no tests to run]";
    for (command, printed) in [("go test -run TestOther ./store", ok), ("go test ./store", empty)] {
        assert!(
            note(begun().run("c", command, 0, printed)).is_some_and(|note| note.contains(carried)),
            "{command}"
        );
    }
}

#[test]
fn a_test_whose_package_was_filtered_out_is_not_told_as_of_the_next_one() {
    let filtered = "--- FAIL: TestStash (0.4s)\nok  \tgit.example/shop/cart\t0.9s";
    let script = SessionScript::new()
        .user("Run the tests")
        .run("a", "mise run test:ci 2>&1 | grep -E '^(ok|--- FAIL)' | head -10", 1, filtered)
        .run(
            "b",
            "mise run test:ci 2>&1 | grep -A 15 TestDismiss | head",
            1,
            "--- FAIL: TestDismiss (0.3s)\n no",
        )
        .run("c", "mise run test:cart", 0, "ok  \tgit.example/shop/cart\t0.8s");
    let note =
        notes(script).into_iter().find(|(command, _)| command.contains("test:ci")).expect("the check").1;
    assert!(note.contains("TestStash"), "{note}");
}

#[test]
fn a_check_that_was_started_again_and_whose_end_is_not_shown_says_so() {
    let script = SessionScript::new()
        .user("Run the tests")
        .run("a", "mise run test:ci", 1, "--- FAIL: TestStash (0.4s)\nFAIL")
        .call("b", Category::Shell, "mise run test:ci 2>&1 | head -150")
        .call("c", Category::Shell, "mise run test:integration")
        .agent("All is well.");
    let note =
        notes(script).into_iter().find(|(command, _)| command == "mise run test:ci").expect("the check").1;
    assert!(note.contains("started again (#"), "{note}");
    assert!(note.ends_with("how that ended is not known"), "{note}");
}

#[test]
fn a_narrow_run_that_passes_does_not_make_the_others_good() {
    let begun = || {
        SessionScript::new()
            .user("Mend the tests of the store")
            .run("a", "go test ./store", 1, FOUR)
            .edit("b", "store.go")
            .run("c", "go test ./store -run TestDismiss", 1, "--- FAIL: TestDismiss (0.3s)\nFAIL")
            .edit("d", "store.go")
            .run("e", "go test ./store -run TestDismiss", 0, "ok  \tstore\t0.3s")
    };
    let summary = begun().summary();
    assert_eq!(summary.last_failure.map(|failure| failure.command).as_deref(), Some("go test ./store"));
    let note =
        notes(begun()).into_iter().find(|(command, _)| command == "go test ./store").map(|(_, note)| note);
    assert_eq!(note.as_deref(), Some("failing tests: TestStash, TestPartial; passed since: TestDismiss"));
    let all = begun().run("f", "go test ./store", 0, "ok  \tstore\t0.9s").summary();
    assert_eq!(all.last_failure, None);
    let rest =
        begun().run("f", "go test ./store -run 'TestStash|TestPartial'", 0, "ok  \tstore\t0.9s").summary();
    assert_eq!(rest.last_failure, None);
}

#[test]
fn a_few_commands_that_looked_long_ago_are_not_told() {
    let commands = |script: SessionScript| -> Vec<String> {
        script.summary().commands.into_iter().map(|run| run.command).collect()
    };
    let begun = || SessionScript::new().user("Look at the playground").run("a", "ls ../playground", 0, "a b");
    assert_eq!(commands(begun().agent("It has two files.")), ["ls ../playground"]);
    let worked = begun().user("Mend the hook").edit("b", "hook.go").run("c", "git diff", 0, "+a");
    assert_eq!(commands(worked), ["git diff"]);
}

#[test]
fn a_check_that_more_tests_cover_later_is_not_told() {
    let script = SessionScript::new()
        .user("Mend the tests of the store")
        .run(
            "a",
            "go test ./cmd/store/... | grep -A20 FAIL",
            0,
            "--- FAIL: TestCarry (0.07s)\nFAIL\nFAIL\tx/cmd/store\t0.5s",
        )
        .edit("b", "store.go")
        .run(
            "c",
            "go test ./cmd/store/... -run TestCarry -v",
            0,
            "--- PASS: TestCarry (0.09s)\nok  \tx/cmd/store\t0.5s",
        )
        .run("d", "mise run test | tail -30", 0, "ok  \tx/cmd/cli\t4.8s\nok  \tx/cmd/store\t6.3s");
    let commands: Vec<String> = notes(script).into_iter().map(|(command, _)| command).collect();
    assert!(
        !commands.iter().any(|command| command.starts_with("go test ./cmd/store/... | grep")),
        "{commands:?}"
    );
}
