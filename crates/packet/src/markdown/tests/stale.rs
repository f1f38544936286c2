//! What is told of runs that changes came after, and that a run is told once.

use super::*;

fn text(changed: &str, more: &str) -> String {
    let files = format!(r#"[{{"path": "{changed}", "change": "modified", "at": "claude:x#50"}}]"#);
    let packet = format!(r#"{{"summary": "s", "files_modified": {files}, {more}}}"#);
    render(&self::packet(&packet), &Options::default()).text
}

const CHECKS: &str = r#""checks": [
    {"command": "make test", "exit_code": 0, "at": "claude:x#40"},
    {"command": "make lint", "exit_code": 0, "at": "claude:x#60"},
    {"command": "make e2e", "exit_code": 1, "note": "no login", "at": "claude:x#41"},
    {"command": "make docs", "exit_code": 0, "at": "claude:y#3"},
    {"command": "npm run check", "note": "ok", "at": "claude:x#61"}]"#;

#[test]
fn a_check_that_source_files_were_changed_after_says_so() {
    let text = text("src/cart.rs", CHECKS);
    for line in [
        "- `make e2e` → exit 1: no login, before the last changes (#41)\n",
        "- exit 0: `make lint` (#60) · `make docs` (`claude:y#3`)\n",
        "- exit 0, before the last changes: `make test` (#40)\n",
        "- ok: `npm run check` (#61)\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_check_of_a_sub_agent_says_whose_it_is_and_whether_it_is_older_than_the_changes() {
    let checks = r#""checks": [
        {"command": "make fmt", "note": "ok", "by": "sub-agent", "outdated": true, "at": "claude:x/a1#5"},
        {"command": "make dup", "note": "ok", "by": "sub-agent", "at": "claude:x/a1#7"},
        {"command": "make lint", "exit_code": 2, "note": "run by a sub-agent: no", "by": "sub-agent", "outdated": true, "at": "claude:x/a1#9"},
        {"command": "make docs", "by": "sub-agent", "at": "claude:x/a1#11"}]"#;
    let files = r#""files_modified": [{"path": "src/a.rs", "change": "modified", "at": "claude:x#50"}]"#;
    let packet = packet(&format!(r#"{{"summary": "s", {files}, {checks}}}"#));
    for preset in [Preset::Minimal, Preset::Standard, Preset::Verbose, Preset::Full] {
        let text = render(&packet, &Options { preset, ..Options::default() }).text;
        for line in [
            "- ok, before the last changes, run by a sub-agent: `make fmt`",
            "- ok, run by a sub-agent: `make dup`",
            "- `make lint` → exit 2: run by a sub-agent: no, before the last changes",
        ] {
            assert!(text.contains(line), "{preset:?} {line}: {text}");
        }
    }
    let text = render(&packet, &Options::default()).text;
    assert!(text.contains("- run by a sub-agent, outcome not known: `make docs`"), "{text}");
}

#[test]
fn a_document_a_plan_and_what_lies_outside_change_no_check() {
    for path in ["docs/guide.md", "PLAN.md", "notes.txt", ".claude/settings.json", "/tmp/try.py", "LICENSE"] {
        let text = text(path, CHECKS);
        assert!(!text.contains("before the last changes"), "{path}: {text}");
    }
}

#[test]
fn a_last_failure_that_changes_came_after_may_fail_no_more() {
    let failure = r#""last_failure": {"command": "make test 2>&1 | tail", "output": "--- FAIL: TestA", "at": "claude:x#40"},
        "checks": [{"command": "make test | tail", "at": "claude:x#40",
            "note": "tail behind it ended ok, but the output shows a failure: --- FAIL: TestA"}],
        "commands": [{"command": "make test 2>&1 | tail", "at": "claude:x#40"}]"#;
    let text = text("src/cart.rs", failure);
    let line = "- **Last failure** (#40), before the last changes: `make test 2>&1 | tail` → tail behind it ended ok, but the output shows a failure\n";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("see whether the last failure, below, still fails"), "{text}");
    assert_eq!(text.matches("make test").count(), 1, "{text}");
}

#[test]
fn a_failed_attempt_is_no_command_beside() {
    let attempt = r#""failed_attempts": [{"tried": "`deploy --now`", "why_failed": "exit 2: no key", "at": "claude:x#7"}],
        "commands": [{"command": "deploy --now 2>&1", "exit_code": 2, "note": "no key", "at": "claude:x#7"},
            {"command": "cp a b", "note": "ok", "at": "claude:x#8"}]"#;
    let text = text("src/cart.rs", attempt);
    assert_eq!(text.matches("deploy --now").count(), 1, "{text}");
    assert!(text.contains("- ok: `cp a b` (#8)\n"), "{text}");
}

#[test]
fn the_tests_that_failed_are_named_where_the_output_does_not_name_them() {
    let names: Vec<String> = (1..=6).map(|n| format!("TestOfTheStoreThatHasALongName{n}")).collect();
    let of = |note: &str| {
        let failure = format!(
            r#""last_failure": {{"command": "make test 2>&1 | tail", "output": "--- FAIL: {}", "at": "claude:x#40"}},
            "checks": [{{"command": "make test | tail", "at": "claude:x#40", "note": "tail behind it ended ok, but the output shows a failure: {note}"}}]"#,
            names[0]
        );
        text("docs/a.md", &failure)
    };
    let all = of(&format!("failing tests: {}", names.join(", ")));
    assert!(names.iter().all(|name| all.contains(name.as_str())), "{all}");
    let one = of(&format!("--- FAIL: {}", names[0]));
    assert_eq!(one.matches("make test").count(), 1, "{one}");
}
