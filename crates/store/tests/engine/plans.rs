//! What is asked at every hand-off does not get slower with a project's age: it goes through the index of what is open.

use baton_store::{Store, Target, Value};

use crate::bench::NOW;

/// Indexes that hold what is open alone: one of these may be read as a whole.
const WHOLE: [&str; 8] = [
    "baton_unspent",
    "file_lease_held",
    "message_open_question",
    "message_question",
    "message_unacked",
    "session_open",
    "task_open",
    "task_retried",
];

#[test]
fn what_is_open_is_found_by_the_index_of_what_is_open() {
    let mut store = Store::open(&Target::Memory, NOW).unwrap();
    for (noun, name, index) in [
        ("session", "OPEN", "session_open"),
        ("attention", "BATON_PAGE", "baton_waiting"),
        ("attention", "OFFER_PAGE", "handoff_offered"),
        ("attention", "STUCK_PAGE", "handoff_stuck"),
        ("attention", "FAILURE_PAGE", "handoff_failed"),
        ("attention", "ACK_PAGE", "message_unacked"),
        ("attention", "RETRIED", "task_retried"),
        ("attention", "BLOCKED", "task_open"),
        ("attention", "BATON_COUNT", "baton_unspent"),
        ("attention", "OFFER_COUNT", "handoff_by_state"),
        ("attention", "STUCK_COUNT", "handoff_by_state"),
        ("attention", "FAILURE_COUNT", "handoff_by_state"),
        ("attention", "RETURN_OWN", "handoff_unseen"),
        ("attention", "QUESTION_COUNT", "message_question"),
        ("attention", "QUESTION_PAGE", "message_question"),
        ("attention", "UNANSWERED_COUNT", "message_open_question"),
        ("attention", "UNANSWERED_PAGE", "message_open_question"),
        ("attention", "ACK_COUNT", "message_unacked"),
        ("attention", "RETRY_PROJECTS", "task_retried"),
        ("attention", "BLOCKED_PROJECTS", "task_open"),
        ("attention", "LEASE_PROJECTS", "file_lease_held"),
        ("baton", "FREE_PAGE", "baton_waiting"),
        ("baton", "FREE_PAGE_BACK", "baton_waiting"),
        ("baton", "SPENT_PAGE", "baton_spent"),
        ("baton", "SPENT_PAGE_BACK", "baton_spent"),
        ("baton", "UNSPENT", "baton_unspent"),
        ("handoff", "OLDER", "handoff_by_age"),
        ("handoff", "OLDER_IN_STATE", "handoff_by_state"),
        ("handoff", "NEWER", "handoff_by_age"),
        ("handoff", "NEWER_IN_STATE", "handoff_by_state"),
        ("handoff", "OF_PROJECT_OLDER", "handoff_to"),
        ("handoff", "OF_PROJECT_NEWER", "handoff_from"),
        ("message", "PENDING", "message_pending"),
        ("message", "NEWEST", "message_newest"),
        ("message", "OF_THREAD", "message_thread"),
        ("message", "OF_THREAD", "sqlite_autoindex_message_1"),
        ("session", "OPEN_PAGE", "session_open"),
        ("session", "OLDER", "session_by_start"),
        ("session", "NEWEST_OF", "session_by_start"),
        ("task", "OPEN", "task_open"),
        ("task_page", "OPEN_AFTER", "task_open"),
        ("task_page", "OPEN_WHOLES_AFTER", "task_open"),
        ("task_page", "READY_AFTER", "task_ready"),
        ("task", "READY_OF", "task_ready_assigned"),
        ("task_page", "BLOCKED_AFTER", "task_blocked"),
        ("task", "CHILDREN", "task_children"),
        ("task_count", "PARTS_OF_MANY", "task_children"),
        ("task_count", "OPEN_PARTS_OF_MANY", "task_children"),
        ("task", "HELD", "task_claimed"),
        ("task", "CLAIMED_IN", "task_claimed"),
        ("task_dependency", "ON", "task_dependency_on"),
        ("task_dependency", "HELD_BY", "task_dependency_on"),
        ("task_dependency", "CHILDREN_AWAITED", "task_dependency_on"),
        ("outbox", "DUE", "outbox_of_adapter"),
    ] {
        let (_, _, sql) =
            baton_store::statements().into_iter().find(|(n, s, _)| (*n, *s) == (noun, name)).unwrap();
        let count = (1..).take_while(|n| sql.contains(&format!("${n}"))).count();
        let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
        let nulls = vec![Value::Null; count];
        let plan = store.read(|tx| Ok(tx.query(explain, &nulls)?)).unwrap();
        let plan = format!("{plan:?}");
        // After the name of an index stands what is looked up in it, or nothing where all of it is read.
        let ends: &[&str] = if WHOLE.contains(&index) { &[" ", "\""] } else { &[" "] };
        let is_used = ends.iter().any(|end| plan.contains(&format!("USING INDEX {index}{end}")));
        assert!(is_used, "{noun} {name}: {plan}");
    }
}
