//! Commits, rollbacks, numbers and batches.

use baton_model::refusal::Refusal;
use baton_store::{Failure, FaultKind, Value, params};

use crate::bench::{append, counter, entries, insert_project, on_every_engine};

fn refusal() -> Failure {
    Refusal::invalid("no", "no", "do not").into()
}

#[test]
fn values_come_back_as_they_went() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let blob = vec![0u8, 1, 255];
        let sql = "INSERT INTO entry (project_id, seq, note, body) VALUES ($1, $2, $3, $4)";
        for round in 0..3 {
            store
                .write(&["a"], |tx| Ok(tx.execute(sql, params!["a", round, "naïve ✓", blob.clone()])?))
                .unwrap();
            store
                .write(
                    &["b"],
                    |tx| Ok(tx.execute(sql, params!["b", round, None::<String>, None::<Vec<u8>>])?),
                )
                .unwrap();
        }
        let rows = store
            .read(|tx| {
                let sql = "SELECT seq, note, body, seq = 2 FROM entry WHERE project_id = $1 ORDER BY seq DESC LIMIT $2";
                Ok((tx.query(sql, params!["a", 1])?, tx.query(sql, params!["b", 1])?))
            })
            .unwrap();
        let mut a = rows.0.into_iter().next().unwrap().reader();
        assert_eq!((a.int().unwrap(), a.text().unwrap(), a.blob().unwrap()), (2, "naïve ✓".into(), blob));
        assert!(a.bool().unwrap());
        let mut b = rows.1.into_iter().next().unwrap().reader();
        assert_eq!(
            (b.opt_int().unwrap(), b.opt_text().unwrap(), b.opt_blob().unwrap()),
            (Some(2), None, None)
        );
    });
}

#[test]
fn a_reader_names_the_column_that_does_not_fit() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let row = store
            .read(|tx| Ok(tx.query_one("SELECT seq, project_id FROM project WHERE project_id = 'a'", &[])?))
            .unwrap();
        let mut row = row.reader();
        assert_eq!(row.int().unwrap(), 0);
        assert_eq!(row.int().unwrap_err().message, "column 1 should be an integer, but is a text");
        assert_eq!(row.int().unwrap_err().message, "the row has no column 2");
    });
}

#[test]
fn each_write_gets_the_next_number() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let first = store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
        let pair =
            store.write(&["a"], |tx| Ok((append(tx, "a", "two")?, append(tx, "a", "three")?))).unwrap();
        assert_eq!((first, pair), (1, (2, 3)));
        assert_eq!(counter(&mut store, "a"), 3);
        assert_eq!(counter(&mut store, "b"), 0);
    });
}

#[test]
fn two_projects_are_taken_once_each_in_any_order() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let numbers =
            store.write(&["b", "a", "b"], |tx| Ok((append(tx, "b", "x")?, append(tx, "a", "y")?))).unwrap();
        assert_eq!(numbers, (1, 1));
        assert_eq!((counter(&mut store, "a"), counter(&mut store, "b")), (1, 1));
    });
}

#[test]
fn a_missing_project_is_for_the_closure_to_judge() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let seq = store
            .write(&["a", "new"], |tx| {
                assert!(tx.has_project("a") && !tx.has_project("new") && !tx.has_project("b"));
                insert_project(tx, "new")?;
                append(tx, "new", "first")
            })
            .unwrap();
        assert_eq!(seq, 1);
        let fault = store.write(&["a"], |tx| Ok(tx.next_seq("b")?)).unwrap_err();
        assert!(fault.to_string().contains("has not taken the project b"), "{fault}");
        let fault = store.write(&["gone"], |tx| Ok(tx.next_seq("gone")?)).unwrap_err();
        assert!(fault.to_string().contains("no row"), "{fault}");
    });
}

#[test]
fn a_refusal_undoes_everything_the_number_too() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let answer: Result<(), _> = store.write(&["a"], |tx| {
            append(tx, "a", "never")?;
            Err(refusal())
        });
        assert!(matches!(answer, Err(Failure::Refused(refusal)) if refusal.code == "no"));
        assert_eq!(counter(&mut store, "a"), 0);
        assert!(entries(&mut store, "a").is_empty());
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "kept")).unwrap(), 1);
    });
}

#[test]
fn a_failed_statement_dooms_its_transaction_even_when_ignored() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let answer = store.write(&["a"], |tx| {
            append(tx, "a", "before")?;
            let _ = tx.execute("INSERT INTO project (project_id, seq) VALUES ($1, 0)", params!["a"]);
            Ok(())
        });
        assert!(matches!(answer, Err(Failure::Fault(fault)) if fault.kind == FaultKind::Constraint));
        assert!(entries(&mut store, "a").is_empty());
    });
}

#[test]
fn a_panic_in_a_closure_leaves_nothing_open() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            store.write::<()>(&["a"], |tx| {
                append(tx, "a", "half")?;
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "whole")).unwrap(), 1);
        assert_eq!(entries(&mut store, "a"), [(1, "whole".to_owned())]);
    });
}

#[test]
fn a_read_cannot_write() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let answer = store.read(|tx| Ok(tx.execute("DELETE FROM project", &[])?));
        assert!(answer.unwrap_err().to_string().contains("may not write"));
        assert_eq!(counter(&mut store, "a"), 0);
    });
}

#[test]
fn a_batch_keeps_what_succeeded_and_only_that() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        store.begin_batch().unwrap();
        assert!(store.is_batch_open());
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "one")).unwrap(), 1);
        for _ in 0..2 {
            let refused: Result<(), _> = store.write(&["a"], |tx| {
                append(tx, "a", "never")?;
                Err(refusal())
            });
            assert!(refused.is_err());
        }
        let broken = store.write(&["a"], |tx| {
            append(tx, "a", "never")?;
            Ok(tx.execute("INSERT INTO project (project_id, seq) VALUES ($1, 0)", params!["a"])?)
        });
        assert!(broken.is_err());
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "two")).unwrap(), 2);
        assert_eq!(store.write(&["b"], |tx| append(tx, "b", "other")).unwrap(), 1);
        assert_eq!(entries(&mut store, "a").len(), 2, "a batch reads its own writes");
        store.write_relaxed(|tx| insert_project(tx, "d")).unwrap();
        store.commit_batch().unwrap();
        assert!(!store.is_batch_open());
        assert_eq!(entries(&mut store, "a"), [(1, "one".to_owned()), (2, "two".to_owned())]);
        assert_eq!((counter(&mut store, "b"), counter(&mut store, "d")), (1, 0));
    });
}

#[test]
fn a_batch_can_be_thrown_away() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        store.begin_batch().unwrap();
        store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
        store.rollback_batch().unwrap();
        assert!(entries(&mut store, "a").is_empty());
        assert!(store.commit_batch().is_err() && store.rollback_batch().is_err());
        store.begin_batch().unwrap();
        assert!(store.begin_batch().is_err());
        store.commit_batch().unwrap();
    });
}

#[test]
fn a_transient_failure_runs_the_closure_again() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let mut runs = 0;
        let seq = store.write(&["a"], |tx| {
            runs += 1;
            let seq = append(tx, "a", "again")?;
            if runs < 4 {
                return Err(baton_store::Fault::new(FaultKind::Retry, "collision").into());
            }
            Ok(seq)
        });
        assert_eq!((seq.unwrap(), runs), (1, 4));
        let mut runs = 0;
        let gave_up: Result<(), _> = store.write(&["a"], |_| {
            runs += 1;
            Err(baton_store::Fault::new(FaultKind::Retry, "collision").into())
        });
        assert!(gave_up.is_err());
        assert_eq!(runs, 11);
    });
}

#[test]
fn texts_that_one_engine_cannot_store_are_faults_on_all() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        let fault = store.write(&["a"], |tx| append(tx, "a", "nul\0nul")).unwrap_err();
        assert!(fault.to_string().contains("$3"), "{fault}");
    });
}

#[test]
fn statements_are_prepared_and_their_order_is_checked() {
    on_every_engine(|place| {
        let mut store = place.open();
        store.prepare_only("SELECT seq FROM project WHERE project_id = $1").unwrap();
        assert!(store.prepare_only("SELECT nothing FROM project").is_err());
        if store.kind() != "postgres" {
            assert!(
                store.prepare_only("SELECT seq FROM project WHERE seq = $2 AND project_id = $1").is_err()
            );
        }
    });
}

#[test]
fn a_relaxed_write_is_a_write() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        store.write_relaxed(|tx| insert_project(tx, "d")).unwrap();
        assert_eq!(counter(&mut store, "d"), 0);
        assert_eq!(store.write(&["d"], |tx| append(tx, "d", "durable")).unwrap(), 1);
    });
}

#[test]
fn a_sound_store_has_nothing_to_report() {
    on_every_engine(|place| {
        let mut store = place.with_projects();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        store.analyze().unwrap();
        let row = store.read(|tx| Ok(tx.query_one("SELECT $1", &[Value::from("x")])?)).unwrap();
        assert_eq!(row.reader().text().unwrap(), "x");
    });
}
