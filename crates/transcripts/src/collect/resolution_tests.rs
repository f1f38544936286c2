//! What ends a failure, and what does not.

use super::tests::SessionScript;

/// The command of the failure that is told at the end of a session of these commands, each with exit code and output.
fn last_failure(runs: &[(&'static str, i64, &'static str)]) -> Option<String> {
    let script = SessionScript::new().user("Go on with it");
    let ids = ["a", "b", "c", "d"];
    let script = runs
        .iter()
        .zip(ids)
        .fold(script, |script, ((command, code, output), id)| script.run(id, command, *code, output));
    script.agent("So far.").summary().last_failure.map(|failure| failure.command)
}

#[test]
fn a_failure_ends_when_what_failed_is_done_in_other_words() {
    for (failed, code, printed, passed, output) in [
        ("pytest -q", 2, "ModuleNotFoundError", "PYTHONPATH=. pytest -q", "3 passed"),
        (
            "mise run fmt && mise run lint 2>&1 | tail -50",
            0,
            "[lint] ERROR task failed",
            "mise run lint",
            "0 issues.",
        ),
        (
            "mise run test",
            1,
            "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/x (0.1s)\nFAIL",
            "go test -run 'TestA$' ./a",
            "ok  \ta",
        ),
        (
            "make ci",
            2,
            "--- FAIL: TestA (0.1s)\nFAIL",
            "make more && go test -v ./...",
            "--- PASS: TestA (0.00s)\nPASS",
        ),
        (
            "cargo test",
            101,
            "test a::b ... FAILED\ntest result: FAILED.",
            "cargo test a::b",
            "test a::b ... ok",
        ),
        (
            "git add -A && git commit -m x && git push",
            128,
            "[main 1a2b] x\nfatal: no remote",
            "git push origin main",
            "",
        ),
        (
            "git commit -m 'one thing'",
            1,
            "hook failed",
            "git add . && git commit -m 'other'",
            "[main 12] other",
        ),
        ("git merge origin/main", 1, "CONFLICT", "git add . && git commit --no-edit", "[main 12] Merge"),
        ("git rebase main", 1, "CONFLICT", "GIT_EDITOR=true git rebase --continue", ""),
        ("gh pr checks 7", 1, "lint fail", "git commit -am x && git push", "To github.com"),
        ("mise run lint:full", 1, "mise ERROR no task lint:full found", "golangci-lint run", "0 issues."),
        ("pytst", 127, "pytst: command not found", "pytest", "1 passed"),
        (
            "go build -tags e2e ./e2e/...",
            1,
            "x.go:1:2: undefined: y",
            "go test -tags e2e -c ./e2e/... -o /dev/null",
            "",
        ),
    ] {
        assert_eq!(last_failure(&[(failed, code, printed)]).as_deref(), Some(failed));
        assert_eq!(
            last_failure(&[(failed, code, printed), (passed, 0, output)]),
            None,
            "{failed} by {passed}"
        );
    }
}

#[test]
fn what_was_made_good_in_other_words_is_told_so_and_is_no_failed_attempt() {
    let script = SessionScript::new().user("x").run("a", "make ci", 2, "--- FAIL: TestA (0.1s)\nFAIL");
    let summary = script.run("b", "go test -run TestA ./a", 0, "ok  \ta").summary();
    assert_eq!(summary.failed_attempts, []);
    let check = summary.checks.iter().find(|check| check.command == "make ci").expect("check");
    assert_eq!(
        check.note.as_deref(),
        Some("not run again; what failed in it passed since with `go test -run TestA ./a`")
    );
    let script = SessionScript::new().user("x").run(
        "a",
        "make fmt && make lint | tail",
        0,
        "[lint] ERROR task failed",
    );
    assert_eq!(script.run("b", "make lint", 0, "").summary().failed_attempts, []);
}

#[test]
fn a_failure_stays_where_something_else_passed() {
    for (failed, code, printed, passed, output) in [
        (
            "make ci",
            2,
            "--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\nFAIL",
            "go test -run TestA ./a",
            "ok  \ta",
        ),
        ("make ci", 2, "--- FAIL: TestA (0.1s)\nFAIL\tb [build failed]", "go test -run TestA ./a", "ok  \ta"),
        ("mise run fmt && mise run lint", 1, "no", "mise run lint", "0 issues."),
        ("git commit -m x && git push", 1, "hook failed", "git push", ""),
        ("git push", 1, "rejected", "git fetch", ""),
        ("make && git push", 1, "no", "git push", ""),
        ("gh pr checks 7", 1, "lint fail", "git commit -am x", ""),
        ("pytst", 127, "pytst: command not found", "ls", "a"),
        ("go build ./a", 1, "x.go:1:2: undefined: y", "go test ./b", "ok"),
        ("cargo test", 101, "test a::b ... FAILED", "cargo test a::c", "test a::c ... ok"),
    ] {
        let failure = last_failure(&[(failed, code, printed), (passed, 0, output)]);
        assert_eq!(failure.as_deref(), Some(failed), "by {passed}");
    }
}

#[test]
fn the_user_ends_a_failure_by_his_word_and_by_nothing_less() {
    let failure = |word: &'static str| {
        let script = SessionScript::new().user("Push it").run("a", "git push origin main", 128, "fatal: no");
        script.agent("The push failed.").user(word).agent("Good.").summary().last_failure.is_none()
    };
    for word in [
        "I pushed the changes manually. continue with next options.",
        "It works now, go on",
        "ok, I fixed it",
    ] {
        assert!(failure(word), "{word}");
    }
    for word in [
        "Make sure it works now",
        "it still isn't fixed",
        "Have you pushed?",
        "I merged it",
        "tell me when it works",
    ] {
        assert!(!failure(word), "{word}");
    }
}

#[test]
fn a_script_that_failed_and_was_removed_waits_for_nobody() {
    let script = SessionScript::new().user("x").run("a", "python3 try.py", 1, "Traceback");
    assert!(script.run("b", "rm try.py", 0, "").agent("Removed.").summary().last_failure.is_none());
}

#[test]
fn a_commit_that_failed_is_not_told_where_the_next_one_was_made() {
    const FIRST: &str = "git add conv/*.py && git commit -m feat && git push origin main";
    const NEXT: &str = "git add -A && git commit -m feat && git push origin main";
    const MADE: &str = "[main 548dd49] feat\n 2 files changed\nfatal: Could not read from remote repository.";
    let commands = |words: &'static str| -> Vec<String> {
        let script = SessionScript::new().user("commit as you go").edit("a", "conv/a.py");
        let script = script.run("b", FIRST, 124, "command timed out").run("c", NEXT, 128, MADE);
        let packet =
            script.agent("The push failed.").user(words).edit("d", "conv/b.py").agent("Added.").summary();
        let failures = packet.commands.into_iter().filter(|run| run.exit_code != Some(0));
        failures.map(|run| run.command).collect()
    };
    assert_eq!(commands("I pushed the changes manually. Now the next."), [""; 0]);
    assert_eq!(commands("Now the next."), [NEXT]);
    let apart = SessionScript::new().user("commit it").edit("a", "a.py").run("b", FIRST, 1, "hook failed");
    let apart = apart.run("c", "git commit -m feat", 0, "[main 1a2b3c4] feat").run("d", "git push", 0, "");
    let failures: Vec<_> =
        apart.summary().commands.into_iter().filter(|run| run.exit_code == Some(1)).collect();
    assert_eq!(failures, []);
    let open = SessionScript::new().user("commit it").edit("a", "a.py").run("b", FIRST, 1, "hook failed");
    let open = open.run("c", "git commit -m feat", 0, "[main 1a2b3c4] feat").summary();
    assert!(open.commands.iter().any(|run| run.command == FIRST), "nothing was pushed");
}
