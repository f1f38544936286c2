//! Several connections, threads and processes on one store.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use baton_store::{Store, Target};

use crate::bench::{NOW, Place, SCHEMA, append, counter, entries, on_shared_engines, variable};

const WRITERS: usize = 16;
const WRITES: usize = 20;

/// Half of the writers write one by one, half in batches; some writes are refused.
fn write_along(place: &Place, writer: usize) {
    let mut store = place.open();
    for turn in 0..WRITES {
        let batch = writer.is_multiple_of(2) && turn.is_multiple_of(5);
        if batch {
            store.begin_batch().unwrap();
        }
        let refuse = turn % 7 == 3;
        let written = store.write(&["a"], |tx| {
            let seq = append(tx, "a", &format!("{writer}/{turn}"))?;
            if refuse { Err(baton_store::Fault::other("on purpose").into()) } else { Ok(seq) }
        });
        assert_eq!(written.is_err(), refuse, "{written:?}");
        if store.is_batch_open() && turn % 5 == 4 {
            store.commit_batch().unwrap();
        }
    }
}

/// Polls like a reader of the ledger: whatever is new must follow the last one seen without a gap.
fn follow(place: &Place, done: &AtomicBool) -> i64 {
    let mut store = place.open();
    let mut cursor = 0;
    loop {
        let last = done.load(Ordering::Acquire);
        for (seq, _) in
            entries(&mut store, "a").into_iter().filter(|(seq, _)| *seq > cursor).collect::<Vec<_>>()
        {
            assert_eq!(seq, cursor + 1, "a number became visible before the one below it");
            cursor = seq;
        }
        if last {
            return cursor;
        }
    }
}

#[test]
fn numbers_become_visible_in_order_under_sixteen_writers() {
    on_shared_engines(|place| {
        let mut store = place.with_projects();
        let done = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            let reader = scope.spawn(|| follow(place, &done));
            let writers: Vec<_> = (0..WRITERS).map(|n| scope.spawn(move || write_along(place, n))).collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Ordering::Release);
            reader.join().unwrap()
        });
        let expected = WRITERS * (0..WRITES).filter(|turn| turn % 7 != 3).count();
        assert_eq!(seen, expected as i64);
        assert_eq!(counter(&mut store, "a"), expected as i64);
    });
}

#[test]
fn writers_of_two_projects_in_opposite_order_do_not_lock_each_other_out() {
    on_shared_engines(|place| {
        let mut store = place.with_projects();
        thread::scope(|scope| {
            for (first, second) in [("a", "b"), ("b", "a")] {
                scope.spawn(move || {
                    let mut store = place.open();
                    for _ in 0..30 {
                        let both = store.write(&[first, second], |tx| {
                            Ok((append(tx, first, "x")?, append(tx, second, "y")?))
                        });
                        both.unwrap();
                    }
                });
            }
        });
        assert_eq!((counter(&mut store, "a"), counter(&mut store, "b")), (60, 60));
    });
}

#[test]
fn a_killed_process_leaves_nothing_behind() {
    on_shared_engines(|place| {
        let mut store = place.with_projects();
        for batch in ["", "batch"] {
            let raw = match &place.target {
                Target::Postgres(url) => url.clone(),
                other => other.to_string(),
            };
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "sharing::half_a_write", "--ignored", "--nocapture"])
                .env("BATON_TEST_HALF_A_WRITE", raw)
                .env("BATON_TEST_HALF_A_BATCH", batch)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(
                lines.map_while(Result::ok).any(|line| line.contains("half way")),
                "the child did not get there"
            );
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(entries(&mut store, "a").is_empty());
        }
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "after")).unwrap(), 1);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    });
}

#[test]
#[ignore = "the process that another test starts and kills"]
fn half_a_write() {
    let Some(target) = variable("BATON_TEST_HALF_A_WRITE") else { return };
    let mut store = Store::open_with(&Target::parse(&target), SCHEMA, NOW).unwrap();
    if variable("BATON_TEST_HALF_A_BATCH").is_some() {
        store.begin_batch().unwrap();
        store.write(&["a"], |tx| append(tx, "a", "answered, not committed")).unwrap();
    }
    let _ = store.write(&["a"], |tx| {
        append(tx, "a", "half")?;
        println!("half way");
        thread::sleep(Duration::from_secs(60));
        Ok(())
    });
}

#[test]
fn a_store_may_move_to_another_thread() {
    on_shared_engines(|place| {
        let mut store = place.with_projects();
        let seq = thread::spawn(move || store.write(&["a"], |tx| append(tx, "a", "x")).unwrap()).join();
        assert_eq!(seq.unwrap(), 1);
    });
}

#[test]
fn a_reader_sees_only_what_is_committed() {
    on_shared_engines(|place| {
        let mut writer = place.with_projects();
        let mut reader = Store::open_read_only_with(&place.target, SCHEMA).unwrap();
        writer
            .write(&["a"], |tx| {
                append(tx, "a", "now")?;
                assert!(entries(&mut reader, "a").is_empty());
                Ok(())
            })
            .unwrap();
        assert_eq!(entries(&mut reader, "a").len(), 1);
        let refused = reader.write(&["a"], |tx| append(tx, "a", "no"));
        assert!(
            matches!(refused, Err(baton_store::Failure::Fault(fault)) if fault.kind == baton_store::FaultKind::ReadOnly)
        );
    });
}
