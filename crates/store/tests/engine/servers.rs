//! What a connection to a server goes through. Each test needs PostgreSQL.

use std::net::ToSocketAddrs;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use baton_store::{Failure, Fault, FaultKind, Store, Target, params};

use crate::bench::{NOW, Place, SCHEMA, admin, append, counter, entries, postgres_url, variable};
use crate::database_server::DatabaseServer;
use crate::proxy::{Cut, Proxy};

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
fn a_write_whose_connection_breaks_before_its_commit_is_run_again() {
    let Some((_place, mut store, url)) = server() else { return };
    let lost = pid(&mut store);
    let mut runs = 0;
    let answer = store.write(&["a"], |tx| {
        runs += 1;
        append(tx, "a", "x")?;
        if runs == 1 {
            cut(&url, lost);
        }
        append(tx, "a", "y")
    });
    assert_eq!((answer.unwrap(), runs), (2, 2));
    assert_eq!(entries(&mut store, "a").len(), 2, "once");
}

#[test]
fn a_write_whose_connection_breaks_again_and_again_is_a_fault_and_nothing_is_written() {
    let Some((_place, mut store, url)) = server() else { return };
    let answer = store.write(&["a"], |tx| {
        append(tx, "a", "x")?;
        let lost = tx.query_one(PID, &[])?.reader().int()?;
        cut(&url, lost);
        append(tx, "a", "y")
    });
    let fault = fault(answer);
    assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::Unreachable, "store_unreachable"));
    assert!(entries(&mut store, "a").is_empty());
}

/// A store behind a proxy.
fn behind_a_proxy() -> Option<(Place, Proxy, Store)> {
    let (place, _store, _) = server()?;
    let Target::Postgres(url) = &place.target else { return None };
    let (host, port) = host_and_port(url);
    let proxy = Proxy::before((host.as_str(), port).to_socket_addrs().unwrap().next().unwrap());
    let through = Target::parse(&url.replacen(&format!("{host}:{port}"), &proxy.address.to_string(), 1));
    let store = Store::open_with(&through, SCHEMA, NOW).unwrap();
    Some((place, proxy, store))
}

fn host_and_port(url: &str) -> (String, u16) {
    let rest = url.split_once("://").unwrap().1;
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let (host, port) = rest.split(['/', '?']).next().unwrap().rsplit_once(':').unwrap();
    (host.to_owned(), port.parse().unwrap())
}

#[test]
fn a_commit_whose_answer_is_lost_is_looked_up() {
    let Some((_place, proxy, mut store)) = behind_a_proxy() else { return };
    for (cut, times) in [(Cut::AfterCommit, 1), (Cut::BeforeCommit, 2)] {
        proxy.cut(cut, 1, false);
        let mut runs = 0;
        let seq = store.write(&["a"], |tx| {
            runs += 1;
            append(tx, "a", "x")
        });
        assert!(seq.is_ok(), "{cut:?}: {seq:?}");
        assert_eq!(runs, times, "{cut:?}");
    }
    let written = entries(&mut store, "a");
    assert_eq!(written.len(), 2, "neither is there twice: {written:?}");
    store.begin_batch().unwrap();
    store.write(&["a"], |tx| append(tx, "a", "y")).unwrap();
    store.write(&["a"], |tx| append(tx, "a", "z")).unwrap();
    proxy.cut(Cut::AfterCommit, 1, false);
    store.commit_batch().unwrap();
    assert_eq!(entries(&mut store, "a").len(), 4, "a batch, too");
    store.begin_batch().unwrap();
    store.write(&["a"], |tx| append(tx, "a", "never")).unwrap();
    proxy.cut(Cut::BeforeCommit, 1, false);
    assert_eq!(store.commit_batch().unwrap_err().kind, FaultKind::Unreachable);
    assert_eq!(entries(&mut store, "a").len(), 4, "it surely did not happen");
}

/// The pooler's words come in place of the answer of what was sent ahead of the commit, which says nothing of the commit.
#[test]
fn a_commit_whose_answer_a_pooler_lost_is_looked_up() {
    let Some((_place, proxy, mut store)) = behind_a_proxy() else { return };
    proxy.cut(Cut::ByPooler, 1, false);
    let mut runs = 0;
    let seq = store.write(&["a"], |tx| {
        runs += 1;
        append(tx, "a", "x")
    });
    assert!(seq.is_ok(), "{seq:?}");
    assert_eq!((entries(&mut store, "a").len(), runs), (1, 1), "once");
    store.begin_batch().unwrap();
    store.write(&["a"], |tx| append(tx, "a", "y")).unwrap();
    store.write(&["a"], |tx| append(tx, "a", "z")).unwrap();
    proxy.cut(Cut::ByPooler, 1, false);
    store.commit_batch().unwrap();
    assert_eq!(entries(&mut store, "a").len(), 3, "a batch, too");
}

#[test]
fn a_commit_that_cannot_be_looked_up_says_that_nobody_knows() {
    let Some((_place, proxy, mut store)) = behind_a_proxy() else { return };
    proxy.cut(Cut::AfterCommit, 1, true);
    let fault = fault(store.write(&["a"], |tx| append(tx, "a", "x")));
    assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::CommitUnknown, "commit_unknown"));
    assert!(fault.message.contains("may or may not"), "{fault}");
    proxy.close(false);
    assert_eq!(entries(&mut store, "a").len(), 1, "the connection comes back by itself");
}

/// A server that crashes gives the numbers of transactions out again that had not reached its disk.
#[test]
fn a_commit_is_not_looked_up_by_its_number_after_a_crash() {
    let Some((place, proxy, mut store)) = behind_a_proxy() else { return };
    let Target::Postgres(url) = &place.target else { return };
    let fault = fault(store.write(&["a"], |tx| {
        // What a crash leaves of the table.
        admin(url, "DELETE FROM crash_epoch");
        proxy.cut(Cut::AfterCommit, 1, false);
        append(tx, "a", "x")
    }));
    assert_eq!(fault.kind, FaultKind::CommitUnknown);
    assert_eq!(entries(&mut store, "a").len(), 1);
    for text in ["y", "z"] {
        proxy.cut(Cut::AfterCommit, 1, false);
        store.write(&["a"], |tx| append(tx, "a", text)).unwrap();
    }
    assert_eq!(entries(&mut store, "a").len(), 3, "from then on it is looked up as before");
}

#[test]
#[ignore = "kills a process of the database, which ends the connections of all tests; run it alone"]
fn a_commit_that_a_crash_took_is_not_acknowledged() {
    let (Some((_place, proxy, mut store)), Some(url), Some(_)) =
        (behind_a_proxy(), postgres_url(), variable("BATON_TEST_PG_PRIVATE"))
    else {
        return;
    };
    store.write(&["a"], |tx| append(tx, "a", "x")).unwrap();
    let victim = DatabaseServer::connect(&url);
    let victim_pid = victim.query("SELECT pg_backend_pid()::bigint").unwrap()[0].get::<_, i64>(0).to_string();
    let answer = thread::scope(|scope| {
        let (proxy, url) = (&proxy, &url);
        store.write(&["a"], |tx| {
            append(tx, "a", "y")?;
            let victim_pid = victim_pid.clone();
            proxy.cut(Cut::BeforeCommit, 1, true);
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(20));
                std::process::Command::new("kill").args(["-KILL", &victim_pid]).status().unwrap();
                thread::sleep(Duration::from_millis(800));
                // Others go on, with the numbers that did not reach the disk.
                for _ in 0..20 {
                    admin(url, "SELECT txid_current()");
                }
                proxy.close(false);
            });
            append(tx, "a", "z")
        })
    });
    let written = entries(&mut store, "a").len();
    eprintln!("{answer:?}, {written} entries");
    assert!(answer.is_err() || written == 3, "acknowledged, and {written} entries");
}

#[test]
fn a_server_that_is_away_for_a_moment_is_waited_for() {
    let Some((_place, proxy, mut store)) = behind_a_proxy() else { return };
    proxy.close(true);
    let back = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(700));
            proxy.close(false);
        });
        store.write(&["a"], |tx| append(tx, "a", "x"))
    });
    assert_eq!(back.unwrap(), 1);
    proxy.close(true);
    for _ in 0..2 {
        let fault = fault(store.write(&["a"], |tx| append(tx, "a", "y")));
        assert_eq!(fault.kind, FaultKind::Unreachable);
    }
    proxy.close(false);
    assert_eq!(store.write(&["a"], |tx| append(tx, "a", "z")).unwrap(), 2);
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
fn a_stale_plan_of_an_announced_question_is_made_anew_in_a_batch_too() {
    let Some((place, mut store, _)) = server() else { return };
    let Target::Postgres(url) = &place.target else { return };
    let sql = "SELECT * FROM project WHERE project_id = $1";
    for _ in 0..3 {
        store.read(|tx| Ok(tx.query_one(sql, params!["a"])?)).unwrap();
    }
    admin(url, "ALTER TABLE project ADD COLUMN x BIGINT");
    let mut answers = Vec::new();
    for _ in 0..2 {
        store.begin_batch().unwrap();
        let answer = store.read(|tx| {
            tx.prefetch(|tx| drop(tx.query(sql, params!["a"])));
            Ok(tx.query_one(sql, params!["a"])?)
        });
        answers.push(answer.map(drop).map_err(|failure| fault::<()>(Err(failure)).kind));
        let _ = store.rollback_batch();
    }
    assert_eq!(answers, [Err(FaultKind::Retry), Ok(())]);
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

/// The parameters of an address but for the schema that a test has for itself.
fn without_options(parameters: &str) -> String {
    let own = parameters.split('&').filter(|one| !one.starts_with("options="));
    own.collect::<Vec<_>>().join("&")
}

#[test]
fn a_database_that_is_not_there_is_to_be_made_and_an_address_to_be_corrected() {
    let hint = |url: &str| {
        let fault = Store::open(&Target::parse(url), NOW).err().unwrap();
        assert_eq!(fault.kind, FaultKind::CannotOpen, "{fault}");
        fault.to_refusal().unwrap().hint
    };
    let unreadable = hint("postgres://u:s3cret@h:port/d");
    assert!(unreadable.contains("postgres://USER:PASSWORD@HOST/NAME"), "{unreadable}");
    let Some((_place, _store, url)) = server() else { return };
    let (address, parameters) = url.split_once('?').unwrap_or((&url, ""));
    let (server, _) = address.rsplit_once('/').unwrap();
    let missing = hint(&format!("{server}/not%20there?{parameters}"));
    assert!(missing.starts_with("Make it: `createdb 'not there'`"), "{missing}");
    let sign = if parameters.is_empty() { "" } else { "&" };
    let schema =
        hint(&format!("{address}?{}{sign}options=-csearch_path%3Dnope", without_options(parameters)));
    assert!(schema.contains("CREATE SCHEMA"), "{schema}");
}

#[test]
fn a_server_is_not_backed_up_by_us() {
    let Some((_place, mut store, _)) = server() else { return };
    let fault = store.backup(std::path::Path::new("/nowhere/x")).unwrap_err();
    assert!(fault.message.contains("pg_dump"), "{fault}");
}

#[test]
fn plans_are_made_once_and_a_new_connection_does_so_again() {
    let Some((_place, mut store, url)) = server() else { return };
    for _ in 0..2 {
        let mode = store.read(|tx| {
            let row = tx.query_one("SELECT current_setting('plan_cache_mode')", &[])?;
            Ok(row.reader().text()?)
        });
        assert_eq!(mode.unwrap(), "force_generic_plan");
        let lost = pid(&mut store);
        cut(&url, lost);
    }
}

#[test]
fn what_was_foreseen_on_a_lost_connection_is_asked_on_the_next() {
    let Some((_place, mut store, url)) = server() else { return };
    let read = "SELECT seq FROM project WHERE project_id = $1";
    for _ in 0..3 {
        let lost = pid(&mut store);
        cut(&url, lost);
        let seq = store.read(|tx| {
            tx.prefetch(|tx| ["a", "b"].iter().for_each(|project| drop(tx.query(read, params![*project]))));
            ["a", "b"]
                .iter()
                .map(|project| Ok(tx.query_one(read, params![*project])?.reader().int()?))
                .collect()
        });
        let seq: Vec<i64> = seq.unwrap();
        assert_eq!(seq, [0, 0]);
        assert_ne!(pid(&mut store), lost);
    }
}
