use super::*;

fn check(text: &str) -> Packet {
    ValidatedPacket::parse(text.to_owned()).expect(text).view().clone()
}

fn refused(text: &str) -> String {
    ValidatedPacket::parse(text.to_owned()).expect_err(text).message
}

#[test]
fn items_are_read_from_strings_objects_and_single_values() {
    let packet = check(
        r#"{"summary":"s","files_modified":["droids/orchestrator.md:465-513",{"path":"b","lines":3}],
            "pending_tasks":"run tests","decisions":[{"what":"w","why":"y","rejected":"z"},"plain"],
            "last_failure":"npm test","requests":{"last":"go on"}}"#,
    );
    assert_eq!(packet.files_modified[0].path, "droids/orchestrator.md");
    assert_eq!(packet.files_modified[0].lines.as_deref(), Some("465-513"));
    assert_eq!(packet.files_modified[1].lines.as_deref(), Some("3"));
    assert_eq!(packet.pending_tasks[0].status, "pending");
    assert_eq!(packet.decisions[0].rejected, ["z"]);
    assert_eq!(packet.decisions[1].what, "plain");
    assert_eq!(packet.last_failure.map(|f| f.command).as_deref(), Some("npm test"));
    assert_eq!(packet.requests.and_then(|r| r.last).map(|t| t.text).as_deref(), Some("go on"));
}

#[test]
fn a_windows_path_is_not_a_line_range() {
    assert_eq!(check(r#"{"summary":"s","files_modified":["C:\\a.rs"]}"#).files_modified[0].path, "C:\\a.rs");
}

#[test]
fn the_text_is_kept_as_it_came_with_unknown_fields() {
    let text = "{ \"zeta\": 1.50,\n \"summary\": \"s\" }";
    let sealed = ValidatedPacket::parse(text.to_owned()).expect("valid");
    assert_eq!(sealed.text(), text);
    assert_eq!(sealed.view().other["zeta"], 1.5);
}

#[test]
fn a_fault_is_named_by_its_path() {
    assert!(refused(r#"{"summary":"s","decisions":[{"what":3}]}"#).contains("decisions[0].what"));
    assert!(refused(r#"{"summary":"s","git":{"dirty":"yes"}}"#).contains("git.dirty"));
    assert!(refused(r#"{"summary":"s"} {"#).contains("follows"));
    assert!(refused(r#"{"work_completed":"x"}"#).contains("summary"));
    assert!(refused("[1]").contains("malformed"));
    assert!(refused(r#"{"summary":"a\u0000b"}"#).contains("NUL"));
}

#[test]
fn a_packet_over_the_limit_is_refused_not_cut() {
    let text = format!(r#"{{"summary":"{}"}}"#, "x".repeat(MAX_BYTES));
    assert_eq!(ValidatedPacket::parse(text).expect_err("too large").code, "packet_too_large");
}

#[test]
fn the_one_line_summary_has_at_most_200_characters() {
    assert_eq!(one_line("  first\nsecond"), "first");
    let long = one_line(&"ä".repeat(300));
    assert_eq!(long.chars().count(), 200);
    assert!(long.ends_with('…'));
}
