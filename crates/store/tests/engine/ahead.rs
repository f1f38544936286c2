//! Statements that are sent ahead: on a server they travel with the next question, and whatever becomes of them, nobody is told
//! of a write that is not there.

use baton_store::{Failure, FaultKind, Store, Tx, Value, params};

use crate::bench::{append, entries, on_every_engine};

const ADD: &str = "INSERT INTO entry (project_id, seq, note) VALUES ($1, $2, $3)";
/// What the table's key refuses, which a server says only later.
const TWICE: &str = "INSERT INTO project (project_id, seq) VALUES ($1, 0)";

fn add(tx: &mut Tx<'_>, seq: i64) -> Result<(), Failure> {
    Ok(tx.execute_deferred(ADD, params!["a", seq, format!("note {seq}")])?)
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
            tx.execute_deferred("UPDATE entry SET note = $1 WHERE seq = $2", params!["changed", 200])?;
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
                tx.execute_deferred(TWICE, params!["a"])?;
                add(tx, 7)?;
                if asks {
                    tx.query("SELECT seq FROM entry", &[])?;
                    went_on = true;
                }
                Ok(())
            });
            let Err(Failure::Fault(fault)) = answer else { panic!("{}: {answer:?}", place.name) };
            assert_eq!(fault.kind, FaultKind::Constraint);
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
            let mut answers = vec![store.write(&["a"], |tx| add(tx, 1)).is_ok()];
            let late = store.write(&["a"], |tx| {
                add(tx, 2)?;
                Ok(tx.execute_deferred(TWICE, params!["a"])?)
            });
            answers.push(late.is_ok());
            if next {
                answers.push(store.write_shared(|tx| add(tx, 3)).is_ok());
            }
            if last {
                answers.push(store.write(&["b"], |tx| add(tx, 4)).is_ok());
            }
            let committed = store.commit_batch();
            let expected =
                if committed.is_ok() { answers.iter().filter(|succeeded| **succeeded).count() } else { 0 };
            assert_eq!(count(&mut store), expected, "{}: {answers:?} {committed:?}", place.name);
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

const NOTE: &str = "SELECT note FROM entry WHERE project_id = $1 AND seq = $2";
/// What fails only when it is run.
const WRONG: &str = "SELECT CAST(1 AS BIGINT) / (seq - seq) FROM entry WHERE seq = $1";

fn note(tx: &mut Tx<'_>, seq: i64) -> Result<String, Failure> {
    Ok(tx.query_one(NOTE, params!["a", seq])?.reader().text()?)
}

fn filled(store: &mut Store) {
    store.write(&["a"], |tx| (1..=5).try_for_each(|seq| add(tx, seq))).unwrap();
}

/// A read that only announces a question.
fn announced(store: &mut Store, sql: &'static str, params: &[Value]) -> Result<(), Failure> {
    store.read(|tx| {
        tx.prefetch(|tx| drop(tx.query(sql, params)));
        Ok(())
    })
}

#[test]
fn what_was_foreseen_is_answered_in_one_round_trip() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        filled(&mut store);
        let mut all = |foreseen: bool| {
            let before = store.trips();
            let read = store.read(|tx| {
                if foreseen {
                    tx.prefetch(|tx| (1..=5).for_each(|seq| assert!(note(tx, seq).is_err())));
                }
                (1..=5).map(|seq| note(tx, seq)).collect::<Result<Vec<_>, _>>()
            });
            assert_eq!(read.unwrap(), ["note 1", "note 2", "note 3", "note 4", "note 5"]);
            store.trips() - before
        };
        all(false);
        let server = place.name == "postgres";
        assert_eq!(all(false), if server { 5 } else { 0 });
        assert_eq!(all(true), u64::from(server));
    });
}

#[test]
fn what_was_foreseen_before_a_write_is_asked_again_after_it() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        filled(&mut store);
        let read = store.write(&["a"], |tx| {
            tx.prefetch(|tx| drop(note(tx, 3)));
            tx.execute_deferred("UPDATE entry SET note = $1 WHERE seq = $2", params!["changed", 3])?;
            let sent = note(tx, 3)?;
            tx.prefetch(|tx| drop(note(tx, 3)));
            tx.execute("UPDATE entry SET note = $1 WHERE seq = $2", params!["again", 3])?;
            Ok((sent, note(tx, 3)?))
        });
        assert_eq!(read.unwrap(), ("changed".to_owned(), "again".to_owned()));
        announced(&mut store, NOTE, params!["a", 3]).unwrap();
        store.write(&["a"], |tx| Ok(tx.execute("DELETE FROM entry WHERE seq = $1", params![3])?)).unwrap();
        assert!(store.read(|tx| note(tx, 3)).is_err(), "an older announcement answers nobody");
    });
}

#[test]
fn nothing_is_written_while_questions_are_announced() {
    on_every_engine(|place| {
        if place.name != "postgres" {
            return;
        }
        let mut store = place.with_projects();
        let answer = store.write(&["a"], |tx| {
            tx.prefetch(|tx| drop(add(tx, 1)));
            Ok(())
        });
        assert!(answer.is_err());
        assert_eq!(count(&mut store), 0);
    });
}

/// A server ends the transaction of a statement that fails, even of one whose answer nobody wants.
#[test]
fn a_foreseen_question_that_fails_is_never_a_commit_that_did_not_happen() {
    on_every_engine(|place| {
        if place.name != "postgres" {
            return;
        }
        let mut store = place.with_projects();
        filled(&mut store);
        for sql in
            [WRONG, "SELECT nothing FROM entry WHERE seq = $1", "SELECT nothing FROM entry WHERE seq = $1"]
        {
            for asks in [false, true] {
                let answer = store.write(&["a"], |tx| {
                    add(tx, 7)?;
                    tx.prefetch(|tx| drop(tx.query(sql, params![1])));
                    if asks {
                        note(tx, 1)?;
                    }
                    Ok(())
                });
                assert!(answer.is_err(), "{sql} {asks}");
                assert_eq!(count(&mut store), 5);
            }
            let read = store.read(|tx| {
                tx.prefetch(|tx| drop(tx.query(sql, params![1])));
                note(tx, 1)
            });
            assert_eq!(read.unwrap(), "note 1");
            store.begin_batch().unwrap();
            let answers = [
                store.write(&["a"], |tx| add(tx, 8)).is_ok(),
                announced(&mut store, sql, params![1]).is_ok(),
                store.write(&["b"], |tx| add(tx, 9)).is_ok(),
            ];
            assert!(store.commit_batch().is_err(), "{answers:?}");
            assert_eq!(count(&mut store), 5);
        }
        store.write(&["a"], |tx| add(tx, 8)).unwrap();
        assert_eq!(count(&mut store), 6);
    });
}

/// Who announced it hears why, and not only that the transaction is lost, whichever question comes first.
#[test]
fn the_announced_question_that_ended_the_transaction_is_the_one_to_blame() {
    on_every_engine(|place| {
        if place.name != "postgres" {
            return;
        }
        let mut store = place.with_projects();
        filled(&mut store);
        for _ in 0..3 {
            let answer = store.write(&["a"], |tx| {
                tx.prefetch(|tx| drop(tx.query(WRONG, params![1])));
                note(tx, 1)
            });
            let Err(Failure::Fault(fault)) = answer else { panic!("{answer:?}") };
            assert!(fault.message.contains("division by zero"), "{fault}");
            assert!(fault.message.contains("seq - seq"), "{fault}");
        }
    });
}

#[test]
fn what_was_foreseen_before_the_next_number_was_taken_is_asked_again() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let seq = "SELECT seq FROM project WHERE project_id = $1";
        let seen = store.write(&["a"], |tx| {
            tx.next_seq("a")?;
            tx.prefetch(|tx| drop(tx.query(seq, params!["a"])));
            Ok((tx.next_seq("a")?, tx.query_one(seq, params!["a"])?.reader().int()?))
        });
        assert_eq!(seen.unwrap(), (2, 2));
    });
}

const NOTES: &str = "SELECT note FROM entry WHERE project_id = $1 AND seq > $2 ORDER BY seq";

/// An answer that nobody takes yet must not keep the next one from coming.
#[test]
fn large_answers_may_be_asked_for_in_any_order_or_never() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let large = "x".repeat(100_000);
        let fill = store.write(&["a"], |tx| {
            (1..=20).try_for_each(|seq| Ok(tx.execute_deferred(ADD, params!["a", seq, large.clone()])?))
        });
        fill.unwrap();
        let foresee = |tx: &mut Tx<'_>| {
            tx.prefetch(|tx| (0..=4).for_each(|seq| drop(tx.query(NOTES, params!["a", seq]))));
        };
        for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [4, 4, 4, 0, 0]] {
            let read = |tx: &mut Tx<'_>| {
                foresee(tx);
                let queries =
                    order.iter().map(|seq| Ok(tx.query(NOTES, params!["a", *seq])?.len() + *seq as usize));
                queries.collect::<Result<Vec<_>, Failure>>()
            };
            assert_eq!(store.read(read).unwrap(), [20; 5]);
            let deleted = store.write(&["a"], |tx| {
                (30..40).try_for_each(|seq| add(tx, seq))?;
                foresee(tx);
                (40..50).try_for_each(|seq| add(tx, seq))?;
                foresee(tx);
                Ok(tx.execute("DELETE FROM entry WHERE seq >= $1", params![30])?)
            });
            assert_eq!(deleted.unwrap(), 20);
        }
    });
}
