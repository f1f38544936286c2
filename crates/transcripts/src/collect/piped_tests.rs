//! What is told of checks that ran through a pipe.

use baton_packet::packet::Packet;

use super::tests::{SessionScript, texts};

const FAILING: &str = "--- FAIL: TestTotal (0.02s)\nFAIL\nFAIL\tshop.example/cart\t0.4s\nFAIL";

fn ran(command: &'static str, code: i64, output: &'static str) -> Packet {
    SessionScript::new().user("Fix it").run("a", command, code, output).summary()
}

/// The exit code and remark of the only check, and whether there is a failure.
fn state(command: &'static str, code: i64, output: &'static str) -> (Option<i64>, Option<String>, bool) {
    let summary = ran(command, code, output);
    let check = &summary.checks[0];
    (check.exit_code, check.note.clone(), summary.last_failure.is_some())
}

#[test]
fn a_piped_check_whose_output_shows_a_failure_failed() {
    let summary = ran("mise run test:ci 2>&1 | grep -E \"FAIL|--- FAIL\" | head -20", 0, FAILING);
    let failure = summary.last_failure.expect("failure");
    assert_eq!((failure.exit_code, failure.output.as_deref()), (None, Some(FAILING)));
    let shown = "head behind it ended ok, but the output shows a failure";
    let with_error = format!("{shown}: --- FAIL: TestTotal (0.02s)");
    assert_eq!(summary.checks[0].note.as_deref(), Some(with_error.as_str()));
    assert_eq!(summary.commands[0].note.as_deref(), Some(with_error.as_str()));
    assert_eq!(summary.failed_attempts, [], "the checks tell it");
    assert!(texts(&summary.open_loops)[0].ends_with("` failed by its output and did not succeed since"));
    assert_eq!(ran("go test | tail", 0, FAILING).test_status.as_deref(), Some("fail"));
    let failed = "tail behind it ended ok, but the output shows a failure: ";
    for output in [
        "ok  \tshop.example/a\t0.1s\nFAIL\n[test:ci] ERROR task failed",
        "12:--- FAIL: TestTotal",
        "[lint:go] Finished in 2.1s\nFinished in 2.13s\n[lint:go] ERROR task failed",
        "npm ERR! code 1",
        "error[E0382]: use of moved value",
        "test result: FAILED. 1 passed; 2 failed",
        "==== 2 failed, 3 passed in 0.2s ====",
        "Tests:       1 failed, 3 passed, 4 total",
        "test result: ok. 3 passed; 0 failed\nerror: 1 target failed:",
    ] {
        let (code, note, is_failure) = state("make test 2>&1|tail -60", 0, output);
        assert!(
            is_failure && code.is_none() && note.is_some_and(|note| note.starts_with(failed)),
            "{output}"
        );
    }
}

#[test]
fn a_compiler_whose_output_names_places_failed() {
    let summary = ran("go build ./... 2>&1 | head -50", 0, "# shop\ncart.go:7:2: undefined: total");
    assert_eq!(
        summary.last_failure.and_then(|failure| failure.output).as_deref(),
        Some("# shop\ncart.go:7:2: undefined: total")
    );
    let summary = SessionScript::new()
        .user("Fix it")
        .run("a", "mise run lint | tail", 0, "[lint] ERROR task failed")
        .run("b", "mise run lint", 0, "")
        .run("c", "mise run lint | tail", 0, "hm");
    assert!(
        summary.summary().last_failure.is_none(),
        "what passed since is not taken back by what is not known"
    );
}

#[test]
fn a_piped_check_is_not_known_by_the_exit_code_of_another_program() {
    let unknown = |how: &str| (None, Some(format!("{how}; its own exit code is unknown")), false);
    let ok = |program: &str| unknown(&format!("{program} behind it ended ok"));
    for output in [
        "",
        "3 lines",
        "cart.go:7: // --- FAIL is printed",
        "if FAILED {",
        "Tests: 0 failed",
        "FAILED: 0",
        "FAILURES_MAX=3",
    ] {
        assert_eq!(state("go test ./... | tail -60", 0, output), ok("tail"), "{output}");
    }
    assert_eq!(state("go test ./... | grep FAIL", 1, ""), unknown("grep behind it found nothing"));
    assert_eq!(state("go test ./... | grep ok", 0, "ok  \tshop.example/a\t0.1s"), ok("grep"));
    let summary =
        SessionScript::new().user("x").run("a", "go test", 2, "no").run("b", "go test | tail", 0, "hm");
    assert!(summary.summary().last_failure.is_some(), "what is not known makes nothing good");
}

#[test]
fn a_piped_check_whose_output_says_so_passed_and_pipefail_tells() {
    let passed = (Some(0), None, false);
    for output in [
        "ok  \tshop.example/a\t0.1s",
        "error: expected by a test\ntest result: ok. 3 passed; 0 failed",
        "==== 3 passed in 0.2s ====",
    ] {
        assert_eq!(state("make test 2>&1 | tail -60", 0, output), passed, "{output}");
    }
    assert_eq!(
        state("mise run lint 2>&1 | tail -3", 0, "[lint] Finished in 3.1ms\nFinished in 2.20s"),
        passed
    );
    assert_eq!(state("rspec | tail -3", 0, "Finished in 2.2 seconds\n3 examples, 1 failure").0, None);
    assert_eq!(state("go vet -tags e2e ./... 2>&1 | head -20", 0, ""), passed);
    let lint = "[lint] $ golangci-lint run\n0 issues.";
    for (command, wanted) in [
        ("mise run lint | head -20", Some(0)),
        ("mise run lint | head -n 20", Some(0)),
        ("mise run lint | head", Some(0)),
        ("mise run lint | head -n2", None),
        ("mise run lint | head -c 2000", None),
    ] {
        assert_eq!(state(command, 0, lint).0, wanted, "{command}");
    }
    assert_eq!(state("set -o pipefail; make test | tail", 0, "error: seen"), passed);
    assert_eq!(state("make test ARGS='a | b'", 0, "FAIL"), passed, "a pipe in quotes is none");
}
