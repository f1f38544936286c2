//! What a reader of documents of long sessions found untrue at their ends, each in a small session of the same shape:
//! steps told that were done, and states of files told that no command of the session had shown.

use super::tests::{SessionScript, texts};
use super::*;
use crate::event::{Call, Edit};

fn answer(script: SessionScript) -> String {
    script.summary().last_answer.map(|answer| answer.text).unwrap_or_default()
}

/// What is told of the working copy, and of each changed file whether it is in a commit.
fn git(script: SessionScript) -> (Option<String>, Option<bool>, Vec<Option<bool>>) {
    let packet = script.summary();
    let files = packet.files_modified.iter().map(|file| file.committed).collect();
    let git = packet.git.unwrap_or_default();
    (git.commit, git.dirty, files)
}

const CAUSE: &str = "Now I understand the root cause. `PostCommit` touches every state file. Two fixes needed:\n1. Do not emit the \
                     update for the self-loop\n2. `hasAnyLive` should use the time in the JSON, not that of the file";

fn at_work_on(step: &'static str) -> SessionScript {
    let script = SessionScript::new().user("Closing the session does not start the job. Find out why.");
    script.agent(CAUSE).edit("a", "phase.go").agent(step).edit("b", "review.go")
}

#[test]
fn a_step_that_was_announced_and_done_is_not_the_last_answer() {
    let numbered = "Fix 2: Change `hasAnyLive` to read `LastTime` from JSON instead of file modtime. First, refactor `readPhase` to \
                    return more data:";
    let script = at_work_on(numbered).agent("All green. Let me also clean up the old state file:");
    assert_eq!(answer(script), CAUSE);
    for step in [
        "Step 3: Move the reading of the time out of `hasAnyLive` and into a function of its own. Let me refactor the callers:",
        "**Fix 2:** Rewrite `hasAnyLive` so that it reads the time that stands in the JSON and not the file's. First, the reader:",
    ] {
        assert_eq!(answer(at_work_on(step)), CAUSE, "{step}");
    }
    let report = "Fix 2: the time is read from the JSON now, since every save touches the file and makes it look fresh.";
    assert_eq!(answer(at_work_on(report)), report, "it was done and told");
}

#[test]
fn a_step_after_which_files_were_changed_and_tests_passed_is_not_the_last_answer() {
    let step = "The time of the file says nothing, because every save touches it, so the JSON has to tell it. Let me change the reader:";
    assert_eq!(answer(at_work_on(step)), step, "whether it works is not known");
    let green = || at_work_on(step).run("c", "mise run test", 0, "ok");
    assert_eq!(answer(green().agent("All green. Let me commit:")), CAUSE);
    assert_eq!(answer(green().user("And the other one?").agent(step)), step, "it was said since");
}

#[test]
fn of_files_in_a_commit_without_a_result_it_is_not_known_where_they_are() {
    let status = "On branch topic\nChanges not staged for commit:\n\tmodified:   a.go\n\tmodified:   b.go\n\nno changes added to commit";
    let script = || {
        SessionScript::new()
            .user("Fix the loop and commit it")
            .run("l", "git log --oneline -1", 0, "e794c91 before")
            .edit("a", "a.go")
            .edit("b", "b.go")
            .run("s", "git status", 0, status)
    };
    assert_eq!(git(script()), (Some("e794c91".to_owned()), Some(true), vec![Some(false), Some(false)]));
    let commit = "git -C . add a.go && git commit -m 'Fix the loop'";
    assert_eq!(git(script().call("c", Category::Shell, commit)), (None, None, vec![None, Some(false)]));
    let all = script().call("c", Category::Shell, "git commit -qam 'Fix the loop'");
    assert_eq!(git(all), (None, None, vec![None, None]));
    let open = script().call("c", Category::Shell, commit).summary().open_loops;
    let wanted = format!(
        "`{commit}` was started; how it ended is not known, nor whether what it commits is committed"
    );
    assert_eq!(texts(&open), [wanted]);
    let stopped = script().call("c", Category::Shell, commit).ended(
        "c",
        1,
        "[Request interrupted by user for tool use]",
    );
    assert_eq!(git(stopped), (None, None, vec![None, Some(false)]));
    let rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected";
    let rejected = script().call("c", Category::Shell, commit).ended("c", 1, rejected);
    assert_eq!(git(rejected), (Some("e794c91".to_owned()), Some(true), vec![Some(false), Some(false)]));
}

#[test]
fn what_git_says_or_is_edited_after_a_command_without_a_result_is_told() {
    let script = || {
        SessionScript::new()
            .user("Fix the loop and commit it")
            .edit("a", "a.go")
            .edit("b", "b.go")
            .run("s", "git status --short", 0, " M a.go\n M b.go")
            .call("c", Category::Shell, "git commit -am 'Fix the loop'")
    };
    assert_eq!(git(script().edit("d", "b.go")), (None, Some(true), vec![None, Some(false)]));
    assert_eq!(
        git(script().run("d", "git status --short", 0, " M a.go")),
        (None, Some(true), vec![Some(false), Some(true)])
    );
    let gone =
        SessionScript::new().user("Log").edit("a", "a.go").run("s", "git status --short", 0, " M a.go");
    let gone = gone.call("c", Category::Shell, "git checkout -- a.go").summary();
    assert_eq!((gone.git.and_then(|git| git.dirty), gone.files_modified[0].lines.clone()), (None, None));
}

#[test]
fn what_was_taken_out_of_one_commit_says_nothing_of_a_later_one() {
    let open = |last: &'static str| {
        let script = SessionScript::new()
            .user("Commit the fix, then add tests")
            .run("a", "git add -A && git status -s", 0, "A  cli.py\nA  tests/test_old.py\nA  plan.md")
            .run("b", "git restore --staged plan.md tests", 0, "")
            .run("c", "git commit -m 'fix(cli): stabilize'", 0, "[main aaaaaaa] fix(cli): stabilize")
            .edit("d", "gen.py")
            .run("e", last, 0, "[main bbbbbbb] feat(gen)")
            .agent("Done: mapped, tests added.");
        texts(&script.summary().open_loops).len()
    };
    assert_eq!(open("git add tests/*.py gen.py && git commit -m 'feat(gen): map fields; add tests'"), 0);
    assert_eq!(open("git commit -m 'feat(gen): map fields, plan.md follows'"), 0, "of an earlier commit");
    let one = |add: &'static str, message: &'static str| {
        let script = SessionScript::new().user("Commit").run("a", "git reset HEAD tests src/lexer.rs", 0, "");
        let script = script.run("b", add, 0, "").run("c", message, 0, "[main bbbbbbb] x").agent("Committed.");
        texts(&script.summary().open_loops).len()
    };
    assert_eq!(one("true", "git commit -m 'Add tests of the parser'"), 0, "a word is no name of a folder");
    assert_eq!(one("true", "git commit -m 'Mend lexer.rs'"), 1);
    assert_eq!(one("git add src/*.rs", "git commit -m 'Mend lexer.rs'"), 0);
    assert_eq!(one("true", "git commit -m 'Mend lexer.rs' -- src/lexer.rs"), 0);
}

#[test]
fn a_plan_file_is_no_work_that_a_request_was_followed_by() {
    let role = |path: &'static str| {
        let edit = Edit::replaced(path, "# Plan", "# Plan 2");
        let call = Call {
            id: "p".into(),
            name: "Edit".into(),
            category: Category::Edit,
            edits: vec![edit],
            ..Call::default()
        };
        let packet = SessionScript::new()
            .cwd("/home/you/proj")
            .user("Add a map to a.go")
            .edit("a", "/home/you/proj/a.go")
            .agent("Done: a map.")
            .user("Now I want better integration tests, full tests from the outside that build a binary, in Go. Come up with a plan first.")
            .agent("I look at the frameworks that there are.")
            .user("Add the other agents to the plan please, which are to be supported later on")
            .add(EventKind::Call(call))
            .ended("p", 0, "")
            .agent("The plan has them.")
            .summary();
        let about = |remark: &&baton_packet::packet::Remark| remark.text.contains("integration tests");
        packet.remarks.iter().find(about).map(|remark| remark.role.clone())
    };
    assert_eq!(role("/home/you/.claude/plans/p.md").as_deref(), Some("user"));
    assert_eq!(role("/home/you/proj/e2e/run.go").as_deref(), Some("request"));
}

#[test]
fn figures_of_files_that_a_formatter_may_have_changed_since_say_so() {
    let figures = |command: &'static str, exit_code: i64| {
        let script = SessionScript::new().user("Log more").edit("a", "setup.go").edit("b", "notes.md");
        let files = script
            .run("c", command, exit_code, "")
            .edit("d", "late.go")
            .agent("Done.")
            .summary()
            .files_modified;
        files.into_iter().map(|file| file.lines.unwrap_or_default()).collect::<Vec<_>>()
    };
    let (sure, unsure) = ("+1 -1".to_owned(), "~+1 -1".to_owned());
    assert_eq!(figures("mise run fmt && mise run lint", 1), [unsure.clone(), unsure.clone(), sure.clone()]);
    for command in ["gofmt -s -w .", "go fmt ./... && go test ./..."] {
        assert_eq!(figures(command, 0), [unsure.clone(), sure.clone(), sure.clone()], "{command}");
    }
    for command in ["npx prettier --write .", "make format", "npm run lint -- --fix"] {
        assert_eq!(figures(command, 0), [unsure.clone(), unsure.clone(), sure.clone()], "{command}");
    }
    for command in
        ["cargo fmt", "gofmt -l .", "npx prettier --check .", "make lint", "black .", "git log --format=%h"]
    {
        assert_eq!(figures(command, 0), [sure.clone(), sure.clone(), sure.clone()], "{command}");
    }
}
