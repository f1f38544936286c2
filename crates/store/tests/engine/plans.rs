//! What is asked at every hand-off does not get slower with a project's age: it goes through the index of what is open.

use baton_store::{Store, Target, Value};

use crate::bench::NOW;

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
        ("baton", "FREE_PAGE", "baton_waiting"),
        ("baton", "UNSPENT", "baton_unspent"),
        ("handoff", "OLDER", "handoff_by_age"),
        ("handoff", "OLDER_IN_STATE", "handoff_by_state"),
        ("message", "PENDING", "message_pending"),
        ("task", "OPEN", "task_open"),
        ("task", "OPEN_AFTER", "task_open"),
        ("task", "READY_AFTER", "task_ready"),
        ("task", "READY_OF", "task_ready_assigned"),
        ("task", "BLOCKED_AFTER", "task_blocked"),
        ("task", "CHILDREN", "task_children"),
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
        assert!(plan.contains(&format!("USING INDEX {index} ")), "{noun} {name}: {plan}");
    }
}
