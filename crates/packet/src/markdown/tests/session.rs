//! What the document tells of the session itself.

use super::fixtures::packet;
use super::*;

fn text(json: &str) -> String {
    render(&packet(json), &Options { preset: Preset::Full, ..Options::default() }).text
}

#[test]
fn the_summary_of_what_was_compacted_has_a_place_of_its_own() {
    let document = text(
        r#"{"summary": "x", "source": {"agent": "amp", "id": "T-1"}, "requests": {"last": {"text": "Go on", "at": "amp:T-1#9"}},
        "metadata": {"compaction": {"count": 2, "summary": "Monolith half split.\n# Not a heading", "at": "amp:T-1#7"}}}"#,
    );
    let wanted = "## Earlier Work\n\n- **The agent's own summary when its context was compacted, the last of 2 times** (#7):\n  > Monolith half split.\n";
    assert!(document.contains(wanted), "{document}");
    assert!(!document.contains("\n# Not") && !document.contains("Other Fields"), "{document}");
}

#[test]
fn where_it_ran_stands_in_the_overview_and_not_as_json() {
    let document = text(
        r#"{"summary": "x", "environment": {"cwd": "~/my | shop"},
        "metadata": {"provider_stop": {"text": "usage limit | reached", "again": "again at 3pm"}, "model": "glm-5", "started_at": "2026-11-18T11:06:40.000Z"}}"#,
    );
    assert!(
        document.contains("| **Directory** | `~/my \\| shop` |\n| **Model** | glm-5 |\n| **Started** |"),
        "{document}"
    );
    assert!(!document.contains("Other Fields"), "{document}");
    let document = text(r#"{"summary": "x", "environment": {}}"#);
    assert!(!document.contains("environment"), "{document}");
    let document = text(r#"{"summary": "x", "environment": {"cwd": "~/a", "tool_version": "2"}}"#);
    assert!(document.contains("- `environment`: `{\"tool_version\":\"2\"}`"), "{document}");
}

#[test]
fn what_was_lost_is_said_in_words() {
    let document = text(
        r#"{"summary": "x", "metadata": {"complaints": [{"kind": "bad_line", "count": 1, "first_line": 3},
        {"kind": "unknown_type", "count": 2, "first_line": 6}, {"kind": "truncated_document", "count": 1, "first_line": 0}],
        "redactions": {"password": 2}, "left_out": {"commands_that_only_looked": 4}}}"#,
    );
    for line in [
        "- Skipped or mended while the transcript was read: bad line (line 3), unknown type ×2 (first at line 6), truncated document\n",
        "- Redacted: password ×2\n",
        "- In the transcript, but not in this hand-off: commands that only looked ×4\n",
    ] {
        assert!(document.contains(line), "{document}");
    }
    // What has another form is shown as it came.
    let document =
        text(r#"{"summary": "x", "metadata": {"complaints": "none", "redactions": {"a": "b"}, "model": 7}}"#);
    for field in ["`complaints`: `none`", "`redactions`: `{\"a\":\"b\"}`", "`model`: `7`"] {
        assert!(document.contains(field), "{document}");
    }
}

#[test]
fn an_answer_that_was_given_twice_is_told_once_as_the_last() {
    let document = text(
        r#"{"summary": "x", "last_answer": {"text": "Fixed.", "at": "claude:a#99"},
        "recent_messages": [{"role": "assistant", "text": "Fixed.", "at": "claude:a#57"}, {"role": "assistant", "text": "Fixed.", "at": "claude:a#99"}]}"#,
    );
    assert!(
        document.contains("- **assistant** (#57): the same words as the last answer, above\n"),
        "{document}"
    );
    assert!(document.contains("- **assistant** (#99): the last answer, above\n"), "{document}");
}

#[test]
fn a_place_without_a_line_is_no_mark() {
    let document = text(
        r#"{"summary": "x", "pending_tasks": [{"title": "Ship it", "status": "pending", "at": "qwen:y"}],
        "requests": {"last": {"text": "Go on", "at": "qwen:y#1"}}}"#,
    );
    assert!(document.contains("- [ ] Ship it\n"), "{document}");
}
