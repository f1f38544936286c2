//! What must be there of the end of a session, and what is no next step.

use super::*;

#[test]
fn the_last_answer_and_the_last_turns_are_there_from_a_thousand_tokens_on() {
    // The files and checks of a long session crowd it.
    let planted = long();
    let turns = &planted.packet.recent_messages;
    for tokens in [1000, 1500, 2000, 4000, 8000] {
        let text = render(&planted.packet, &at(tokens)).text;
        assert!(text.contains("The cursor is opaque now"), "{tokens}: {text}");
        for turn in &turns[turns.len() - 3..] {
            let start: String = turn.text.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
            let section = text.split("## Recent Turns").nth(1).unwrap_or_default();
            assert!(section.contains(&start) || section.contains(", above\n"), "{tokens} {start}: {text}");
        }
    }
}

#[test]
fn a_failure_from_before_the_last_request_is_not_what_comes_next() {
    let of = |failed: u32| {
        packet(&format!(
            r##"{{"summary": "s", "requests": {{"last": {{"text": "Port it", "at": "claude:x#90"}}}},
                "last_answer": {{"text": "Ported.", "at": "claude:x#99"}},
                "last_failure": {{"command": "make docs", "exit_code": 2, "at": "claude:x#{failed}"}}}}"##
        ))
    };
    let next = "find out why the last failure, below, fails";
    assert!(render(&of(95), &Options::default()).text.contains(next));
    let text = render(&of(5), &Options::default()).text;
    assert!(!text.contains(next) && text.contains("make docs"), "{text}");
}

#[test]
fn more_than_twenty_files_fold_into_folders_however_large_the_document() {
    let files = |count: usize| {
        let file = |n: usize| serde_json::json!({"path": format!("src/part{n}.rs"), "change": "modified", "lines": "+3 -1"});
        let files: Vec<_> = (0..count).map(file).collect();
        packet(&serde_json::json!({"summary": "s", "files_modified": files}).to_string())
    };
    let text = |count| render(&files(count), &at(8000)).text;
    assert!(text(20).contains("- `src/part0.rs` modified, +3 -1\n"));
    assert!(text(21).contains("- `src/`: modified `part0.rs +3 -1, part1.rs"), "{}", text(21));
}

#[test]
fn what_stopped_at_conflicts_is_ended_and_not_run_again() {
    let of = |command: &str, output: &str| {
        let failure =
            serde_json::json!({"command": command, "exit_code": 1, "output": output, "at": "claude:x#40"});
        let changed = serde_json::json!([{"path": "src/a.rs", "change": "modified", "at": "claude:x#50"}]);
        let packet = serde_json::json!({"summary": "s", "last_failure": failure, "files_modified": changed});
        render(&self::packet(&packet.to_string()), &Options::default()).text
    };
    let next = "- **Next:** end what stopped at conflicts, the last failure below";
    assert!(
        of("git merge origin/x --no-edit", "Automatic merge failed; fix conflicts and then commit")
            .contains(next)
    );
    assert!(!of("git merge origin/x", "merge: origin/x - not something we can merge").contains(next));
    assert!(!of("make test", "CONFLICT").contains(next));
}

#[test]
fn an_answer_that_work_came_after_says_so() {
    let of = |changed: u32| {
        let text = render(
            &packet(&format!(
                r##"{{"summary": "s", "last_answer": {{"text": "Both hands read it.", "at": "claude:x#50"}},
                    "files_modified": [{{"path": "a.rs", "change": "modified", "at": "claude:x#{changed}"}}]}}"##
            )),
            &Options::default(),
        );
        text.text
    };
    assert!(of(40).contains("- **Last answer** (#50):\n"));
    assert!(of(60).contains("- **Last answer, in the middle of the work** (#50):\n"));
}

#[test]
fn a_failure_after_the_last_step_of_the_plan_comes_before_it() {
    let of = |set: u32| {
        let text = render(
            &packet(&format!(
                r##"{{"summary": "s", "requests": {{"last": {{"text": "Port it", "at": "claude:x#6"}}}},
                    "pending_tasks": [{{"title": "Write the tests", "status": "in_progress", "at": "claude:x#{set}"}}],
                    "last_failure": {{"command": "make test", "exit_code": 2, "at": "claude:x#64"}}}}"##
            )),
            &Options::default(),
        );
        text.text
    };
    let text = of(48);
    assert!(text.contains("- **Next:** find out why the last failure, below, fails"), "{text}");
    assert!(text.contains("- **Then, from the plan:** Write the tests (#48)"), "{text}");
    assert!(of(70).contains("- **Next, from the plan:** Write the tests (#70)"), "the plan was set after it");
}

#[test]
fn what_was_done_since_is_looked_at_only_where_something_was() {
    let of = |more: &str| {
        let text = format!(
            r##"{{"summary": "s", "requests": {{"last": {{"text": "Port it", "at": "claude:x#90"}}}},
                "next_steps": [{{"text": "Port it", "at": "claude:x#90"}}]{more}}}"##
        );
        render(&packet(&text), &Options::default()).text
    };
    let since = "See first what was done since.";
    assert!(!of("").contains(since));
    assert!(of(r##", "commands": [{"command": "make", "at": "claude:x#92"}]"##).contains(since));
}

#[test]
fn a_check_without_an_outcome_says_so() {
    let text = r##"{"summary": "s", "checks": [{"command": "go vet ./...", "at": "claude:x#4"}, {"command": "make cover", "at": "claude:x#5"}]}"##;
    let text = render(&packet(text), &Options::default()).text;
    assert!(text.contains("- run, outcome not known: `go vet ./...` · `make cover`\n"), "{text}");
}

#[test]
fn a_file_that_only_a_plan_names_is_not_said_to_be_changed() {
    let text = r##"{"summary": "s", "proposal": {"text": "Port it", "files": [{"path": "src/a.rs", "change": "planned"}]}}"##;
    let text = render(&packet(text), &Options::default()).text;
    assert!(text.contains("named in the plan `a.rs`"), "{text}");
}

#[test]
fn one_of_a_kind_is_counted_in_the_singular() {
    use super::super::section::counted;
    assert_eq!(counted(1, "tool categories"), "1 tool category");
    assert_eq!(
        (counted(1, "diffs"), counted(2, "tool categories")),
        ("1 diff".into(), "2 tool categories".into())
    );
}
