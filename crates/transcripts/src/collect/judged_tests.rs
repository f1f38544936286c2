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
        EventKind::Session(Session { branch: Some(branch.into()), ..Session::default() })
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
fn the_screen_of_an_agent_that_the_user_pastes_is_not_in_his_words() {
    let lines = "  a line of the screen, because it is long enough to be told\n".repeat(30);
    let pasted = format!(
        "It does not work, the file was not cleared.\n❯ Make something fantastic.\n⏺ Read 2 files\n{lines}⏺ Done, since the flow is smooth\n\
         - Move the mouse to bend the flow, because it is nicer\n✻ Worked for 4m 13s"
    );
    let summary =
        SessionScript::new().add(EventKind::User(pasted.into())).agent("I see.").edit("a", "a.go").summary();
    let remarks: Vec<&str> = summary.remarks.iter().map(|one| one.text.as_str()).collect();
    assert!(!remarks.iter().any(|text| text.contains("mouse") || text.contains("screen")), "{remarks:?}");
}
