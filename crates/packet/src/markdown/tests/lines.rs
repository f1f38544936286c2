//! Single lines: how one thing of a packet appears.

use super::*;

/// The document of a packet with a summary and these fields holds this line.
fn check(fields: &str, line: &str) {
    let text = render(&packet(&format!("{{\"summary\": \"s\", {fields}}}")), &Options::default()).text;
    assert!(text.lines().any(|l| l == line), "no line {line:?} in\n{text}");
}

#[test]
fn plan_items_show_their_state() {
    check(r#""pending_tasks": [{"title": "a", "status": "done"}]"#, "- The one task is ticked off: a");
    check(r#""pending_tasks": "a""#, "- [ ] a");
    check(r#""pending_tasks": [{"title": "a", "status": "In-Progress"}]"#, "- [ ] **in progress:** a");
    check(r#""pending_tasks": [{"title": "a", "status": "waiting for Tom"}]"#, "- [ ] (waiting for Tom) a");
    check(
        r#""pending_tasks": [{"title": "b"}, {"title": "a", "status": "doing"}]"#,
        "- **Next, from the plan:** a",
    );
}

#[test]
fn commands_show_how_they_ended_and_runs_of_one_are_told_once() {
    check(r#""commands": [{"command": "a", "exit_code": 2}]"#, "- `a` → exit 2");
    check(r#""commands": ["a"]"#, "- `a`");
    check(
        r#""commands": [{"command": "a", "exit_code": 1}, {"command": "a", "exit_code": 0}]"#,
        "- `a` → exit 0 (×2, before that exit 1)",
    );
    check(
        r#""commands": [{"command": "a", "exit_code": 0}, {"command": "b", "exit_code": 0}]"#,
        "- exit 0: `a` · `b`",
    );
    check(r#""commands": [{"command": "cat <<E\nx\nE", "exit_code": 1}]"#, "- `cat <<E ⏎ x ⏎ E` → exit 1");
}

#[test]
fn decisions_show_reason_and_what_was_rejected() {
    check(
        r#""decisions": [{"what": "a", "why": "b", "rejected": ["c", "d"]}]"#,
        "- a. *Why:* b. *Rejected:* c; d.",
    );
    check(r#""decisions": ["a"]"#, "- a");
    check(r#""decisions": [{"what": "a because b", "why": "b"}]"#, "- a because b");
    check(r#""failed_attempts": [{"tried": "a", "why_failed": "b!"}]"#, "- a. *Failed:* b!");
}

#[test]
fn places_are_short_where_they_share_a_transcript_and_whole_where_not() {
    check(r#""constraints": [{"text": "a", "at": "claude:x#4"}]"#, "- a (#4)");
    check(
        r#""constraints": [{"text": "a", "at": "claude:x#4"}, {"text": "b", "at": "codex:y#5"}]"#,
        "- b (`codex:y#5`)",
    );
    check(
        r#""constraints": [{"text": "a", "at": "claude:x#4"}]"#,
        "- A mark such as `#4` is a line of `claude:x`.",
    );
    check(
        r#""constraints": [{"text": "a", "at": "claude:x#4"}, {"text": "b", "at": "nowhere"}]"#,
        "- b (`nowhere`)",
    );
}

#[test]
fn files_show_how_they_changed() {
    check(r#""files_modified": ["src/a.rs:3-4"]"#, "- `src/a.rs` 3-4");
    check(r#""files_modified": [{"path": "a`b", "change": "created", "diff": "+```"}]"#, "- ``a`b`` created");
    check(r#""files_modified": [{"path": "a", "diff": "+```"}]"#, "  ````diff");
}

#[test]
fn fields_of_later_versions_are_shown() {
    check(r#""mood": "good""#, "- `mood`: `good`");
    check(r#""metadata": {"n": {"a": [1]}}"#, "- `n`: `{\"a\":[1]}`");
}

#[test]
fn cell_text_cannot_end_its_cell() {
    check(r#""source": {"agent": "a|b", "id": "c|d"}"#, "| **Source** | a\\|b (`c\\|d`) |");
}
