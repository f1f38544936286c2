//! What a stranger is told of how a session stood when it ended.

use std::path::Path;

use baton_packet::packet::Text;

use super::*;
use crate::event::{Call, Edit, Outcome, SourcePosition};
use crate::report::Report;

/// A session told event by event, one a line.
pub(super) struct SessionScript(Vec<EventKind<'static>>);

impl SessionScript {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn cwd(self, cwd: &'static str) -> Self {
        self.add(EventKind::Session(TranscriptInfo { cwd: Some(cwd.into()), ..TranscriptInfo::default() }))
    }

    pub(super) fn user(self, text: &'static str) -> Self {
        self.add(EventKind::User(text.into()))
    }

    pub(super) fn agent(self, text: &'static str) -> Self {
        self.add(EventKind::Assistant(text.into()))
    }

    pub(super) fn call(self, id: &'static str, category: Category, target: &'static str) -> Self {
        let edits = match category {
            Category::Edit => vec![Edit::replaced(target, "a", "b")],
            _ => Vec::new(),
        };
        let (id, name, target) = (id.into(), "tool".into(), target.into());
        self.add(EventKind::Call(Call { id, name, category, target, edits, ..Call::default() }))
    }

    pub(super) fn ended(self, id: &'static str, exit_code: i64, output: &'static str) -> Self {
        let ok = Some(exit_code == 0);
        self.add(EventKind::Outcome(Outcome {
            id: id.into(),
            ok,
            exit_code: Some(exit_code),
            output: output.into(),
            edits: Vec::new(),
        }))
    }

    pub(super) fn run(
        self,
        id: &'static str,
        command: &'static str,
        exit_code: i64,
        output: &'static str,
    ) -> Self {
        self.call(id, Category::Shell, command).ended(id, exit_code, output)
    }

    pub(super) fn edit(self, id: &'static str, path: &'static str) -> Self {
        self.call(id, Category::Edit, path).ended(id, 0, "")
    }

    pub(super) fn add(mut self, what: EventKind<'static>) -> Self {
        self.0.push(what);
        self
    }

    pub(super) fn summary(self) -> Packet {
        let options = Options { home: Some("/home/you".to_owned()), ..Options::default() };
        let mut collector = Collector::new(&options, None);
        for (line, what) in (1..).zip(self.0) {
            let place = SourcePosition { line, offset: 0 };
            collector.event(&Event { position: place, at_ms: None, subagent: None, what });
        }
        collector.finish("claude", Path::new("x.jsonl"), Report::default())
    }
}

pub(super) fn texts(list: &[Text]) -> Vec<&str> {
    list.iter().map(|text| text.text.as_str()).collect()
}

#[test]
fn a_test_run_that_passed_makes_an_earlier_failure_good_however_it_is_told() {
    let summary = SessionScript::new()
        .user("Port it")
        .run("a", "cargo test", 101, "error[E0382]: use of moved value")
        .run("b", "cargo test -q", 0, "ok")
        .agent("All tests pass now.")
        .summary();
    assert_eq!(summary.last_failure, None);
    assert_eq!(summary.failed_attempts, []);
    let summary = SessionScript::new()
        .user("x")
        .run("a", "cargo test", 101, "no")
        .run("b", "cargo test one", 0, "")
        .summary();
    assert!(summary.last_failure.is_some(), "one test is not all of them");
}

#[test]
fn a_request_that_was_begun_but_not_answered_comes_before_steps_named_earlier() {
    let summary = SessionScript::new()
        .user("Round the prices")
        .agent("Done. Remaining: update docs/prices.md")
        .user("What about the docs?")
        .call("a", Category::Shell, "make docs")
        .summary();
    assert_eq!(texts(&summary.next_steps), ["What about the docs?", "update docs/prices.md"]);
    assert!(
        summary.summary.contains("on which work had begun; it is not answered yet"),
        "{}",
        summary.summary
    );
}

#[test]
fn a_session_that_was_cut_off_at_work_says_so() {
    let at_work = || SessionScript::new().user("Add a cache").agent("On it.");
    let summary = at_work().call("a", Category::Shell, "cargo build").summary();
    assert!(
        summary.next_steps[0].text.contains("ended while the agent was at work"),
        "{:?}",
        summary.next_steps
    );
    assert_eq!(summary.next_steps[0].at.as_deref(), Some("claude:x#3"));
    // Whoever ticks off the plan at the end is not at work, and a failure says more.
    assert_eq!(at_work().call("a", Category::Task, "todo").summary().next_steps, []);
    assert_eq!(at_work().run("a", "cargo build", 1, "no").summary().next_steps, []);
    assert_eq!(at_work().call("a", Category::Shell, "ls").agent("Added.").summary().next_steps, []);
    // Some tools write an answer and its calls as one message: what came back was answered.
    let in_one = |ended: bool| {
        let options = Options::default();
        let mut collector = Collector::new(&options, None);
        let SessionScript(events) =
            SessionScript::new().user("Rename it").agent("Renamed.").edit("a", "a.rs");
        for what in events.into_iter().take(if ended { 4 } else { 3 }) {
            let place = SourcePosition { line: 2, offset: 0 };
            collector.event(&Event { position: place, at_ms: None, subagent: None, what });
        }
        collector.finish("gemini", Path::new("x.json"), Report::default()).next_steps.len()
    };
    assert_eq!((in_one(true), in_one(false)), (0, 1));
}

#[test]
fn a_failure_shows_what_the_command_printed_and_not_what_the_tool_put_around_it() {
    let output = |text: &'static str| {
        let summary = SessionScript::new().user("x").run("a", "make test", 2, text).summary();
        (
            summary.last_failure.and_then(|failure| failure.output).unwrap_or_default(),
            summary.commands[0].note.clone(),
        )
    };
    for text in [
        "Exit code: 2\nCommand output:\ntest_total FAILED",
        "Command executed in terminal. Exit code: 2\nOutput:\ntest_total FAILED",
        "Command exited with code 2\ntest_total FAILED\n",
        "test_total FAILED\n<exited with exit code 2>",
        "test_total FAILED\nCommand exited with exit code 2",
        "Output:\ntest_total FAILED",
    ] {
        assert_eq!(
            output(text),
            ("test_total FAILED".to_owned(), Some("test_total FAILED".to_owned())),
            "{text}"
        );
    }
    // Another code is what a command printed of something else; a tool that says nothing else leaves nothing.
    assert_eq!(output("a\nexit code: 7").0, "a\nexit code: 7");
    assert_eq!(output("exit code: 2"), (String::new(), None));
    // What only passes the failure on says less than what failed.
    assert_eq!(output("test_total FAILED\nmake: *** [test] Error 2").1.as_deref(), Some("test_total FAILED"));
    assert_eq!(
        output("make: *** No rule to make target").1.as_deref(),
        Some("make: *** No rule to make target")
    );
}

#[test]
fn a_directory_that_is_told_late_names_what_came_before() {
    let summary = SessionScript::new()
        .user("x")
        .edit("a", "/home/you/shop/a.rs")
        .cwd("/home/you/shop")
        .edit("b", "b.rs")
        .summary();
    let paths: Vec<&str> = summary.files_modified.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.rs", "b.rs"]);
    assert_eq!(summary.tool_activity[0].samples, ["b.rs → ok", "a.rs → ok"]);
}

#[test]
fn what_was_being_done_at_the_end_is_told_by_what_it_was() {
    let summary = SessionScript::new()
        .user("x")
        .call("a", Category::Edit, "a.rs")
        .call("b", Category::Read, "b.rs")
        .call("c", Category::Shell, "make")
        .add(EventKind::Interrupted)
        .summary();
    let wanted = [
        "`make` was started; how it ended is not known",
        "`a.rs` was being changed; whether it was is not known",
        "The user stopped the agent here.",
    ];
    assert_eq!(texts(&summary.open_loops), wanted);
}

#[test]
fn a_plan_from_beside_the_transcript_has_no_line_in_it() {
    let options = Options::default();
    let mut collector = Collector::new(&options, None);
    let item = PlanItem { title: "Ship it".into(), status: "pending".into(), id: None };
    let place = SourcePosition::default();
    collector.event(&Event {
        position: place,
        at_ms: None,
        subagent: None,
        what: EventKind::Plan(vec![item]),
    });
    let summary = collector.finish("qwen", Path::new("y.jsonl"), Report::default());
    assert_eq!(summary.pending_tasks[0].at.as_deref(), Some("qwen:y"));
}

#[test]
fn a_commit_of_the_tool_itself_leaves_no_uncommitted_changes() {
    let commit = TranscriptInfo { commit: Some("d46a0c1".into()), ..TranscriptInfo::default() };
    let summary = SessionScript::new().user("x").edit("a", "a.rs").add(EventKind::Session(commit)).summary();
    let git = summary.git.expect("git");
    assert_eq!((git.commit.as_deref(), git.dirty), (Some("d46a0c1"), None));
}

/// The notes of the checks, by their commands.
fn check_notes(script: SessionScript) -> Vec<(String, Option<String>)> {
    script.summary().checks.into_iter().map(|check| (check.command, check.note)).collect()
}

#[test]
fn a_failed_test_says_which_tests_passed_after_it_once_something_was_changed() {
    let run = |passed: &'static str, edits: bool| {
        let script = SessionScript::new().user("Port it").run("a", "npm run test:e2e", 2, "no");
        let script = if edits { script.edit("e", "a.rs") } else { script };
        check_notes(script.run("b", passed, 0, "ok"))
    };
    let note = |passed: &'static str, edits| {
        run(passed, edits).into_iter().find(|(command, _)| command == "npm run test:e2e")
    };
    let expected = |note: &str| Some(("npm run test:e2e".to_owned(), Some(note.to_owned())));
    assert_eq!(note("cargo test", true), expected("no; `cargo test` passed later"));
    assert_eq!(note("cargo test", false), expected("no"), "nothing was changed");
    assert_eq!(note("make docs", true), expected("no"), "only tests say so much");
    let lint = SessionScript::new().user("x").run("a", "make lint", 2, "no").edit("e", "a.rs");
    let notes = check_notes(lint.run("b", "cargo test", 0, ""));
    assert!(
        notes.contains(&("make lint".to_owned(), Some("no".to_owned()))),
        "tests say nothing of a linter"
    );
}

#[test]
fn a_failure_that_more_tests_cover_later_is_not_told() {
    for (failed, passed) in [
        ("go test ./cli/strategy/... -v", "go test ./cli/..."),
        ("go test -run TestX ./a", "go test ./..."),
        ("npx vitest run a.test.ts", "npm test"),
        ("go build -tags e2e ./e2e/...", "go vet -tags e2e ./e2e/..."),
    ] {
        let script = SessionScript::new().user("x").run("a", failed, 1, "a.go:1:2: no").edit("e", "a.go");
        let summary = script.run("b", passed, 0, "ok").summary();
        let checks: Vec<&str> = summary.checks.iter().map(|check| check.command.as_str()).collect();
        assert_eq!(checks, [passed]);
        assert_eq!((summary.last_failure, summary.failed_attempts), (None, Vec::new()), "{failed}");
        let commands: Vec<&str> = summary.commands.iter().map(|run| run.command.as_str()).collect();
        assert_eq!(commands, [passed]);
    }
}

#[test]
fn what_verified_nothing_did_not_pass() {
    for (command, output) in [
        (
            "go test -run TestGone ./a",
            "testing: warning: no tests to run\nPASS\nok  \ta\t0.1s [no tests to run]",
        ),
        ("shop list --wide 2>&1 | head -20", "Usage:\n  shop list\n\nError: unknown flag: --wide"),
        ("staticcheck ./... 2>&1 | head", "zsh: command not found: staticcheck"),
    ] {
        let summary = SessionScript::new().user("x").run("a", command, 0, output).summary();
        assert_eq!(summary.checks, [], "{command}");
        let exit = summary.commands.iter().find(|run| run.command == command).and_then(|run| run.exit_code);
        assert_eq!(exit, None, "{command}");
    }
}

#[test]
fn in_a_chain_the_step_that_the_output_names_failed_alone() {
    let output = "[lint:go] a.go:1:2: no\n[lint:go] ERROR task failed";
    let script =
        SessionScript::new().user("x").run("a", "mise run fmt && mise run lint && mise run test", 1, output);
    let states: Vec<(String, Option<i64>)> =
        script.summary().checks.into_iter().map(|check| (check.command, check.exit_code)).collect();
    assert_eq!(states, [("mise run fmt".to_owned(), Some(0)), ("mise run lint".to_owned(), Some(1))]);
}

#[test]
fn what_was_done_in_the_end_is_no_failed_command() {
    for (failed, done) in [
        ("git rebase origin/main", "git add a.rs && git rebase --continue"),
        ("git commit -m 'one'", "git add . && git commit -m 'two'"),
        ("python3 -c 'import a; a.b()'", "python3 -c 'import a; print(a.b)'"),
        ("gh pr checks 7", "git -C /w/p commit -am x && git -C /w/p push"),
    ] {
        let summary =
            SessionScript::new().user("x").run("a", failed, 1, "no").run("b", done, 0, "").summary();
        let commands: Vec<&str> = summary.commands.iter().map(|run| run.command.as_str()).collect();
        assert_eq!(commands, [done]);
        assert_eq!(summary.failed_attempts, [], "{failed}");
    }
}

#[test]
fn what_only_asks_sets_or_fetches_is_no_check() {
    for command in [
        "golangci-lint version -v",
        "staticcheck --version",
        "entire explain --help",
        "author=$(gh pr view 1 --json author)",
        "root=\"$(make print-root)\"",
        "(cd /tmp && ls)",
        "curl https://api.example/logs",
        "rmdir tui",
        "sed -i 's/a/b/' x.rs",
        "code README.md",
    ] {
        let checks = SessionScript::new().user("x").run("a", command, 0, "").summary().checks;
        assert!(checks.is_empty(), "{command}: {checks:?}");
    }
    for command in [
        "make lint",
        "FLAG=1 cargo build",
        "RUSTFLAGS=\"-D warnings\" cargo build",
        "AT=$(date) make dist",
        "(cd app && make lint)",
        "curl -f http://localhost:8080/health",
    ] {
        assert_eq!(
            check_notes(SessionScript::new().user("x").run("a", command, 0, "")).len(),
            1,
            "{command}"
        );
    }
}

#[test]
fn a_command_that_was_run_again_is_not_left_open() {
    let begun =
        || SessionScript::new().user("Build it").call("a", Category::Shell, "make docs").agent("Well.");
    assert_eq!(begun().summary().open_loops.len(), 1);
    assert_eq!(texts(&begun().run("b", "make docs | tail", 0, "ok").summary().open_loops), [""; 0]);
    assert_eq!(begun().run("b", "make all", 0, "ok").summary().open_loops.len(), 1);
}

#[test]
fn files_that_a_command_changed_are_told_of_a_tool_without_exit_codes() {
    let ended = |ok| {
        let outcome = Outcome { id: "a".into(), ok, exit_code: None, output: "".into(), edits: Vec::new() };
        let script = SessionScript::new().user("Move it").call("a", Category::Shell, "mv a.rs b.rs");
        script.add(EventKind::Outcome(outcome)).summary().files_modified.len()
    };
    assert_eq!([ended(Some(true)), ended(Some(false))], [1, 0]);
}

#[test]
fn what_is_said_once_and_what_is_described_is_no_rule_and_no_decision() {
    let summary = SessionScript::new()
        .user("Don't fix anything, but just validate that it works.")
        .user("ENT-258: Mid-turn commits don't receive trailers")
        .user("Prompt finishes, user decided to split up the work")
        .user("Never push to main.")
        .summary();
    assert_eq!(texts(&summary.constraints), ["Never push to main."]);
    assert_eq!(summary.decisions, []);
}

#[test]
fn orders_reports_and_answers_to_one_proposal_are_no_rules() {
    for text in [
        "Update the documentation make sure there's no redundant parts in there, add a table.",
        "There's new feedback in REVIEW.md make sure you review it carefully.",
        "Make sure all menu items and tab fields have tool-tips as well.",
        "Yes, but for 2. we need to have a more robust solution to ensure it's addressed.",
        "No I think this is fine and has to much risk of false positive.",
        "should be dimmer, don't modify the theme, look into the footer sources",
        "hm, i selected the theme while you were working and got a crash, that should never happen.",
        "can we add that we also invert the setting and would always warn at the beginning",
        "you can look up the history in /x.jsonl if you need to (don't read the full file!)",
        "this plan must be written in such a way, that you can pick up from where you left",
    ] {
        assert_eq!(texts(&SessionScript::new().user(text).summary().constraints), [""; 0], "{text}");
    }
    for text in [
        "Update the changelog after each device and commit changes as you go.",
        "let's not leave _all_ the tests to the very end",
        "prefer subagents for the review",
        "Make sure you run the tests before you commit.",
        "Make sure you never touch the migrations.",
        "invalid themes must NEVER explode",
        "This must not change the public API.",
        "No new dependencies.",
    ] {
        assert_eq!(texts(&SessionScript::new().user(text).summary().constraints), [text], "{text}");
    }
}

#[test]
fn a_rule_of_a_plan_stands_with_the_heading_that_it_is_under() {
    let plan = "# Plan\n\nShow sessions.\n\n## Step 3\n\n- No new dependencies\n- Don't import humanize for this\n\n\
                ## Verify\n\na\nb\nc\nd";
    let constraints = SessionScript::new().user(plan).summary().constraints;
    let found = texts(&constraints);
    assert!(found.iter().any(|text| text.ends_with("humanize for this — under “Step 3”")), "{found:?}");
}

#[test]
fn steps_candidates_and_openings_are_no_decisions() {
    for text in [
        "- Change `resumeSession` to take `CheckpointID` instead of `string`",
        "- Kiri:Moto (web-based; export templates rather than native configs).",
        "**Fix 3: Read payload from file instead of argv:**",
        "To summarize the decision: the reader uses one pipeline, not two, since only one writes.",
        "Both should now render identically since we're using RGB values instead of the palette!",
        "can we use `checkpointID` instead of `cpID` in session.go",
    ] {
        let summary = SessionScript::new().user("x").agent(text).user(text).summary();
        assert_eq!(summary.decisions, [], "{text}");
    }
    for text in [
        "**Key Design Decision:** Shell out to the program rather than adding its SDK:",
        "- I'll use a map instead of a list, because order matters.",
        "Rather than a refactor I added a comment that names the limit.",
    ] {
        assert_eq!(SessionScript::new().user("x").agent(text).summary().decisions.len(), 1, "{text}");
    }
}
