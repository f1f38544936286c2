use super::*;

fn told(document: &str, check: Check) -> bool {
    Document::new(document).holds(&Fact::new(1, check))
}

fn said(text: &str, keys: &[&str]) -> Check {
    Check::Words { said: text.to_owned(), keys: keys.iter().map(|key| (*key).to_owned()).collect() }
}

fn changed(how: &str) -> Check {
    Check::File { path: "src/a.rs".into(), how: how.into(), from: None }
}

fn run(exit: i64) -> Check {
    Check::Command { command: "make test".into(), exit, message: None }
}

#[test]
fn a_sentence_counts_when_it_is_wrapped_quoted_or_escaped() {
    let fact = said("Never edit `a_b` by hand.", &["Never edit", "`a_b`"]);
    assert!(told("## Rules\n\n> Never edit\n> a\\_b by hand.\n", fact.clone()));
    assert!(told("- **never edit `a_b`** (#3)\n", fact.clone()));
    assert!(!told("- Never edit `a_…`\n", fact));
}

#[test]
fn a_sentence_that_says_the_opposite_does_not_count() {
    let fact = said("We use SQLite, not Redis.", &["SQLite", "Redis"]);
    assert!(told("- We use SQLite, not Redis.\n", fact.clone()));
    assert!(!told("- We do not use SQLite but Redis.\n", fact.clone()));
    assert!(!told("- Superseded: SQLite, not Redis.\n", fact.clone().into_superseded()));
    assert!(!told("- We use Redis, not SQLite.\n", fact));
}

impl Check {
    fn into_superseded(self) -> Self {
        said("SQLite, not Redis.", &["SQLite", "Redis"])
    }
}

#[test]
fn a_file_counts_only_with_what_was_done_to_it() {
    assert!(told("- `src/a.rs` modified, +1 -2\n", changed("modified")));
    assert!(told("## Files modified\n\n- ~/shop/src/a.rs\n", changed("modified")));
    assert!(told("| `/home/you/shop/src/a.rs` | created |\n", changed("created")));
    assert!(!told("- `src/a.rs` created\n", changed("modified")));
    assert!(!told("- `src/a.rs`\n", changed("modified")));
    assert!(!told("- `src/a.rs.bak` modified\n", changed("modified")));
    assert!(!told("- `lib/src/a.rs` modified\n", changed("modified")));
    assert!(!told("- `src/a.rs` edit failed\n", changed("modified")));
}

#[test]
fn a_renamed_file_counts_with_its_former_name() {
    let moved = Check::File { path: "b.rs".into(), how: "renamed".into(), from: Some("a.rs".into()) };
    assert!(told("- `b.rs` renamed from `a.rs`\n", moved.clone()));
    assert!(told("- `a.rs` → `b.rs`\n", moved.clone()));
    assert!(!told("- `b.rs` renamed\n", moved));
}

#[test]
fn a_command_counts_only_with_its_own_exit_code() {
    assert!(told("- `make test` → exit 2\n", run(2)));
    assert!(told("| make test | exit code: 2 |\n", run(2)));
    assert!(told("- exit 0: `ls` · `make test`\n", run(0)));
    assert!(!told("- `make test` → exit 0\n", run(2)));
    assert!(!told("- `make test` failed\n", run(2)));
    assert!(!told("- `make test-all` → exit 2\n", run(2)));
    assert!(!told("- `make test` ran; `ls` → exit 0; exit 2\n", run(2)));
}

#[test]
fn the_message_of_a_failure_stands_with_it() {
    let failed = Check::Command { command: "make".into(), exit: 2, message: Some("no rule for x".into()) };
    assert!(told("## Failure\n\n`make` → exit 2\n\n```\nno rule for x\n```\n", failed.clone()));
    assert!(!told("## Failure\n\n`make` → exit 2\n\n## Log\n\n```\nno rule for x\n```\n", failed.clone()));
    assert!(!told("## Failure\n\n`make` → exit 2: no rule f…\n", failed));
}

#[test]
fn an_item_counts_only_with_its_state() {
    let open = Check::Item { title: "write docs".into(), state: "open".into() };
    assert!(told("- [ ] Write docs\n", open.clone()));
    assert!(told("## Pending\n\n- Write docs\n", open.clone()));
    assert!(!told("- [x] Write docs\n", open.clone()));
    assert!(!told("- Write docs\n", open));
}

#[test]
fn a_lure_is_taken_only_under_its_heading() {
    let lure = Fact::lure(3, changed("modified"));
    let taken = |text: &str| Document::new(text).holds(&lure);
    assert!(taken("## Files modified\n\n- src/a.rs\n"));
    assert!(!taken("## Files modified\n\n- src/b.rs\n\n## Tools\n\n- edit src/a.rs\n"));
}

#[test]
fn a_clean_copy_is_not_dirty() {
    assert!(told("- branch `main`, uncommitted changes\n", Check::Dirty));
    assert!(!told("- branch `main`, no uncommitted changes\n", Check::Dirty));
}
