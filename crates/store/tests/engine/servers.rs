//! What a connection to a server goes through. Each test needs PostgreSQL.

use std::sync::Barrier;
use std::thread;

use baton_store::{Failure, Fault, FaultKind, Store, Target, params};

use crate::bench::{NOW, Place, SCHEMA, admin, append, counter, entries, postgres_url};

const PID: &str = "SELECT pg_backend_pid()";

fn fault<T>(answer: Result<T, Failure>) -> Fault {
    match answer {
        Err(Failure::Fault(fault)) => fault,
        Err(Failure::Refused(refusal)) => panic!("{refusal}"),
        Ok(_) => panic!("it succeeded"),
    }
}

fn server() -> Option<(Place, Store, String)> {
    let place = Place::postgres()?;
    let store = place.with_projects();
    Some((place, store, postgres_url()?))
}

fn pid(store: &mut Store) -> i64 {
    store.read(|tx| Ok(tx.query_one(PID, &[])?.reader().int()?)).unwrap()
}

/// Ends a connection from the server's side, and waits until it is gone.
fn cut(url: &str, pid: i64) {
    admin(url, &format!("SELECT pg_terminate_backend({pid}, 5000)"));
}

#[test]
fn a_connection_lost_between_transactions_is_made_again() {
    let Some((_place, mut store, url)) = server() else { return };
    for _ in 0..2 {
        let lost = pid(&mut store);
        cut(&url, lost);
        assert_eq!(counter(&mut store, "a"), 0);
        assert_ne!(pid(&mut store), lost);
    }
    let lost = pid(&mut store);
    cut(&url, lost);
    assert_eq!(store.write(&["a"], |tx| append(tx, "a", "x")).unwrap(), 1);
    let lost = pid(&mut store);
    cut(&url, lost);
    store.begin_batch().unwrap();
    assert_eq!(store.write(&["a"], |tx| append(tx, "a", "y")).unwrap(), 2);
    store.commit_batch().unwrap();
}

#[test]
fn a_connection_lost_in_a_transaction_is_a_fault_and_nothing_is_written() {
    let Some((_place, mut store, url)) = server() else { return };
    let lost = pid(&mut store);
    let answer = store.write(&["a"], |tx| {
        append(tx, "a", "x")?;
        cut(&url, lost);
        append(tx, "a", "y")
    });
    let fault = fault(answer);
    assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::Unreachable, "store_unreachable"));
    assert!(entries(&mut store, "a").is_empty());
}

#[test]
fn a_commit_without_an_answer_says_that_nobody_knows() {
    let Some((_place, mut store, url)) = server() else { return };
    let lost = pid(&mut store);
    let answer = store.write(&["a"], |tx| {
        append(tx, "a", "x")?;
        cut(&url, lost);
        Ok(())
    });
    let fault = fault(answer);
    assert_eq!(fault.kind, FaultKind::CommitUnknown);
    assert!(fault.message.contains("may or may not"), "{fault}");
    assert_eq!(store.write(&["a"], |tx| append(tx, "a", "next")).unwrap(), 1);
}

#[test]
fn a_connection_lost_in_a_batch_loses_the_batch_aloud() {
    let Some((_place, mut store, url)) = server() else { return };
    let lost = pid(&mut store);
    store.begin_batch().unwrap();
    store.write(&["a"], |tx| append(tx, "a", "x")).unwrap();
    cut(&url, lost);
    assert_eq!(fault(store.write(&["a"], |tx| append(tx, "a", "y"))).kind, FaultKind::Unreachable);
    assert_eq!(fault(store.write(&["a"], |tx| append(tx, "a", "z"))).kind, FaultKind::Unreachable);
    assert_eq!(store.commit_batch().unwrap_err().kind, FaultKind::Unreachable);
    assert!(entries(&mut store, "a").is_empty());
}

#[test]
fn a_deadlock_is_resolved_by_running_again() {
    let Some((place, mut store, _)) = server() else { return };
    let meet = Barrier::new(2);
    let place = &place;
    thread::scope(|scope| {
        for (first, second) in [("a", "b"), ("b", "a")] {
            let meet = &meet;
            scope.spawn(move || {
                let mut store = place.open();
                let mut runs = 0;
                let sql = "UPDATE project SET seq = seq + 1 WHERE project_id = $1";
                let answer = store.write_shared(|tx| {
                    runs += 1;
                    tx.execute(sql, params![first])?;
                    if runs == 1 {
                        meet.wait();
                    }
                    Ok(tx.execute(sql, params![second])?)
                });
                assert_eq!(answer.unwrap(), 1);
            });
        }
    });
    assert_eq!((counter(&mut store, "a"), counter(&mut store, "b")), (2, 2));
}

#[test]
fn a_project_that_is_held_for_too_long_is_busy() {
    let Some((place, mut store, _)) = server() else { return };
    let Target::Postgres(url) = &place.target else { return };
    let hasty = Target::parse(&format!("{url}%20-clock_timeout%3D100"));
    let mut other = Store::open_with(&hasty, SCHEMA, NOW).unwrap();
    store
        .write(&["a"], |_| {
            let fault = fault(other.write(&["a"], |tx| append(tx, "a", "x")));
            assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::Busy, "store_busy"));
            other.begin_batch().unwrap();
            assert!(other.write(&["a"], |tx| append(tx, "a", "x")).is_err());
            assert_eq!(other.write(&["b"], |tx| append(tx, "b", "y")).unwrap(), 1);
            other.commit_batch().unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(entries(&mut store, "b").len(), 1);
}

#[test]
fn tables_may_change_under_a_prepared_statement() {
    let Some((place, mut store, _)) = server() else { return };
    let Target::Postgres(url) = &place.target else { return };
    let sql = "SELECT * FROM project WHERE project_id = $1";
    for column in ["x", "y"] {
        for _ in 0..3 {
            store.read(|tx| Ok(tx.query_one(sql, params!["a"])?)).unwrap();
        }
        admin(url, &format!("ALTER TABLE project ADD COLUMN {column} BIGINT"));
        if column == "x" {
            store.write(&["a"], |tx| Ok(tx.query_one(sql, params!["a"])?)).unwrap();
        }
        store.read(|tx| Ok(tx.query_one(sql, params!["a"])?)).unwrap();
    }
}

#[test]
fn project_names_cannot_break_out_of_their_quotes() {
    let Some((_place, mut store, _)) = server() else { return };
    for name in ["it's", "'; DROP TABLE project; --", "back\\'slash", "\\"] {
        store.write_shared(|tx| crate::bench::insert_project(tx, name)).unwrap();
        assert_eq!(store.write(&[name], |tx| append(tx, name, "x")).unwrap(), 1);
        assert!(!store.write(&["never"], |tx| Ok(tx.has_project("never"))).unwrap());
    }
    let fault = fault(store.write(&["nul\0"], |_| Ok(())));
    assert!(fault.message.contains("NUL"), "{fault}");
}

#[test]
fn a_server_that_is_not_there_is_unreachable_and_no_password_is_told() {
    for url in ["postgres://u:s3cret@127.0.0.1:1/d", "postgres://u@127.0.0.1:1/d?password=s3cret"] {
        let fault = Store::open(&Target::parse(url), NOW).err().unwrap();
        assert_eq!(
            (fault.kind, fault.to_refusal().unwrap().code),
            (FaultKind::Unreachable, "store_unreachable")
        );
        assert!(fault.message.contains("127.0.0.1:1/d"), "{fault}");
        assert!(!format!("{fault} {fault:?} {:?}", fault.to_refusal()).contains("s3cret"));
    }
    let fault = Store::open(&Target::parse("postgres://u:s3cret@h:port/d?s3cret=x"), NOW).err().unwrap();
    assert_eq!(fault.kind, FaultKind::CannotOpen);
    assert!(!fault.message.contains("s3cret@"), "{fault}");
}

#[test]
fn a_server_is_not_backed_up_by_us() {
    let Some((_place, mut store, _)) = server() else { return };
    let fault = store.backup(std::path::Path::new("/nowhere/x")).unwrap_err();
    assert!(fault.message.contains("pg_dump"), "{fault}");
}
