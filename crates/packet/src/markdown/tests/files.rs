use super::*;
use crate::budget::Budget;

fn many() -> Packet {
    let file = |n: usize| {
        let folder = ["src/api", "src/store", "tests"][n % 3];
        serde_json::json!({"path": format!("{folder}/part{n}.rs"), "change": "modified", "lines": "+3 -1", "weight": 100 - n})
    };
    let files: Vec<_> = (0..30).map(file).collect();
    let read = serde_json::json!([
        {"path": "src/api/part1.rs", "change": "read", "lines": "1-20", "weight": 90},
        {"path": "docs/plan.md", "change": "read", "lines": "40-80", "weight": 99},
        {"path": "README.md", "change": "read", "weight": 98},
    ]);
    let checks = serde_json::json!([
        {"command": "cargo test", "exit_code": 0},
        {"command": "cargo clippy | tail -5", "exit_code": 1},
        {"command": "cargo fmt", "note": "in a chain that ended with exit 1"},
    ]);
    packet(
        &serde_json::json!({
            "summary": "s", "files_modified": files, "files_read": read, "checks": checks,
            "commands": [{"command": "cargo test 2>&1 | tail -3", "exit_code": 0}, {"command": "cd x && cargo test && cargo fmt", "exit_code": 0},
                {"command": "./deploy", "exit_code": 0}],
            "searched": ["load_user", "save_user", "load_user"],
        })
        .to_string(),
    )
}

fn text(tokens: usize) -> String {
    render(&many(), &Options { budget: Some(Budget::Tokens(tokens)), ..Options::default() }).text
}

#[test]
fn a_file_that_was_only_read_is_named_and_one_that_was_changed_is_not_named_twice() {
    let text = text(2000);
    assert!(text.contains("- `docs/`: read `plan.md:40-80`\n"), "{text}");
    assert!(text.contains("- read `README.md`\n"), "{text}");
    assert_eq!(unfolded(&text).matches("src/api/part1.rs").count(), 1, "{text}");
}

#[test]
fn many_files_are_folded_so_that_a_small_document_names_them_all() {
    let small = unfolded(&text(500));
    for n in 0..30 {
        assert!(small.contains(&format!("part{n}.rs")), "part{n}.rs: {small}");
    }
    let whole = render(&many(), &options(Preset::Full)).text;
    assert!(whole.contains("- `src/api/part0.rs` modified, +3 -1\n"), "{whole}");
}

#[test]
fn the_last_state_of_every_check_is_told_once() {
    let text = text(500);
    for line in [
        "- exit 0: `cargo test`\n",
        "- `cargo clippy` (through tail) → exit 1\n",
        "- `cargo fmt` → in a chain that ended with exit 1\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let text = super::files::text(2000);
    assert!(text.contains("`./deploy`") && !text.contains("cd x && cargo test"), "{text}");
    assert!(text.contains("## Names\n\n- `load_user, save_user`\n"), "{text}");
}

#[test]
fn names_of_files_and_searches_cannot_leave_their_place() {
    let hostile = packet(
        &serde_json::json!({"summary": "s",
            "files_read": [{"path": "a`b/\n# c`.rs", "change": "read", "lines": "`\n# d"}],
            "checks": [{"command": "x`\n# e", "exit_code": 0, "note": "\n# f"}],
            "searched": ["`\n# g"]})
        .to_string(),
    );
    let text = render(&hostile, &Options::default()).text;
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let ours = ["# Session", "## Session", "## Summary", "## Start", "## Files", "## Checks", "## Names"];
        assert!(ours.iter().any(|heading| line.starts_with(heading)), "{line}");
    }
}

#[test]
fn a_document_keeps_within_its_budget_where_four_characters_count_as_a_token() {
    for tokens in [500, 1000, 2000, 4000] {
        let text = render(&long().packet, &at(tokens)).text;
        assert!(text.chars().count() <= tokens * 4, "{tokens}");
    }
}

#[test]
fn files_that_went_from_one_folder_to_another_share_a_line() {
    let file = |n: usize| serde_json::json!({"path": format!("src/core/part{n}.rs"), "change": format!("renamed from src/part{n}.rs"), "lines": "+3 -1"});
    let mut files: Vec<_> = (0..30).map(file).collect();
    files.push(serde_json::json!({"path": "src/b.rs", "change": "renamed from src/a.rs"}));
    let packet = packet(&serde_json::json!({"summary": "s", "files_modified": files}).to_string());
    let text = render(&packet, &Options { budget: Some(Budget::Tokens(2000)), ..Options::default() }).text;
    assert!(text.contains("- from `src/` to `src/core/`: moved `part0.rs"), "{text}");
    assert_eq!(text.matches("from `src/`").count(), 1, "{text}");
    assert!(text.contains("- `src/b.rs` renamed from src/a.rs\n"), "{text}");
}

#[test]
fn an_edit_is_among_the_last_ones_only_with_all_that_came_after_it() {
    let file = |n: u32| {
        let diff = "+a line of it\n".repeat(if n == 29 { 400 } else { 1 });
        serde_json::json!({"path": format!("src/part{n}.rs"), "change": "modified", "diff": diff, "at": format!("claude:x#{n}")})
    };
    let files: Vec<_> = (0..30).map(file).collect();
    let whole = packet(&serde_json::json!({"summary": "s", "files_modified": files}).to_string());
    let shown = |tokens: usize| -> Vec<u32> {
        let text =
            render(&whole, &Options { budget: Some(Budget::Tokens(tokens)), ..Options::default() }).text;
        let edits = text.split_once("\n## Last Edits\n").map_or("", |(_, edits)| edits);
        let number = |line: &str| line.strip_prefix("- `src/part")?.split_once('.')?.0.parse().ok();
        edits.lines().filter_map(number).collect()
    };
    for tokens in (400..2000).step_by(100) {
        let mut shown = shown(tokens);
        shown.sort_unstable();
        let latest: Vec<u32> = (30 - u32::try_from(shown.len()).unwrap()..30).collect();
        assert_eq!(shown, latest, "{tokens}");
    }
    assert!(!shown(1900).is_empty());
}
