//! Statements that are sent ahead: on a server they travel with the next question, and whatever becomes of them, nobody is told
//! of a write that is not there.

use baton_store::{Failure, FaultKind, Store, Tx, params};

use crate::bench::{append, entries, on_every_engine};

const ADD: &str = "INSERT INTO entry (project_id, seq, note) VALUES ($1, $2, $3)";
/// What the table's key refuses, which a server says only later.
const TWICE: &str = "INSERT INTO project (project_id, seq) VALUES ($1, 0)";

fn add(tx: &mut Tx<'_>, seq: i64) -> Result<(), Failure> {
    Ok(tx.send(ADD, params!["a", seq, format!("note {seq}")])?)
}

fn count(store: &mut Store) -> usize {
    entries(store, "a").len()
}

#[test]
fn what_is_sent_ahead_is_there_for_the_next_question_and_in_order() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let seen = store.write(&["a"], |tx| {
            (1..=200).try_for_each(|seq| add(tx, seq))?;
            tx.send("UPDATE entry SET note = $1 WHERE seq = $2", params!["changed", 200])?;
            let row = tx.query_one("SELECT note FROM entry WHERE seq = $1", params![200])?;
            Ok((tx.execute("DELETE FROM entry WHERE seq = $1", params![1])?, row.reader().text()?))
        });
        assert_eq!(seen.unwrap(), (1, "changed".to_owned()));
        assert_eq!(count(&mut store), 199);
    });
}

#[test]
fn a_statement_sent_ahead_that_fails_loses_its_transaction() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        for asks in [false, true] {
            let mut went_on = false;
            let answer = store.write(&["a"], |tx| {
                append(tx, "a", "never")?;
                tx.send(TWICE, params!["a"])?;
                add(tx, 7)?;
                if asks {
                    tx.query("SELECT seq FROM entry", &[])?;
                    went_on = true;
                }
                Ok(())
            });
            let Err(Failure::Fault(fault)) = answer else { panic!("{}: {answer:?}", place.name) };
            assert_eq!(fault.kind, FaultKind::Other);
            assert!(fault.message.contains("INSERT INTO project"), "the statement that failed: {fault}");
            assert!(!went_on);
            assert_eq!(count(&mut store), 0);
        }
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "whole")).unwrap(), 1);
    });
}

#[test]
fn a_refusal_after_it_undoes_it_and_a_batch_goes_on() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        store.begin_batch().unwrap();
        let refused: Result<(), _> = store.write(&["a"], |tx| {
            add(tx, 5)?;
            let kind = baton_model::refusal::Kind::Refused;
            Err(baton_model::refusal::Refusal::new(kind, "no", "not so", "differently").into())
        });
        assert!(refused.is_err());
        store.write(&["a"], |tx| add(tx, 6)).unwrap();
        store.commit_batch().unwrap();
        assert_eq!(entries(&mut store, "a"), [(6, "note 6".to_owned())]);
    });
}

#[test]
fn a_batch_in_which_one_failed_late_is_kept_as_it_was_answered_or_not_at_all() {
    for (next, last) in [(false, false), (true, false), (false, true), (true, true)] {
        on_every_engine(|place| {
            let mut store = place.with_projects();
            store.begin_batch().unwrap();
            let mut told = vec![store.write(&["a"], |tx| add(tx, 1)).is_ok()];
            let late = store.write(&["a"], |tx| {
                add(tx, 2)?;
                Ok(tx.send(TWICE, params!["a"])?)
            });
            told.push(late.is_ok());
            if next {
                told.push(store.write_shared(|tx| add(tx, 3)).is_ok());
            }
            if last {
                told.push(store.write(&["b"], |tx| add(tx, 4)).is_ok());
            }
            let kept = store.commit_batch();
            let expected = if kept.is_ok() { told.iter().filter(|told| **told).count() } else { 0 };
            assert_eq!(count(&mut store), expected, "{}: {told:?} {kept:?}", place.name);
            store.write(&["b"], |tx| append(tx, "b", "after")).unwrap();
        });
    }
}

#[test]
fn what_is_sent_ahead_costs_no_round_trip() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let mut seq = 0;
        let mut trips = |many: i64| {
            let before = (store.trips(), store.statements());
            let sent = store.write(&["a"], |tx| {
                (0..many).try_for_each(|_| {
                    seq += 1;
                    add(tx, seq)
                })
            });
            sent.unwrap();
            (store.trips() - before.0, store.statements() - before.1)
        };
        let server = place.name == "postgres";
        trips(2);
        assert_eq!(trips(0), if server { (2, 2) } else { (0, 0) });
        assert_eq!(trips(10), if server { (2, 12) } else { (0, 0) });
    });
}
