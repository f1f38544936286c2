//! A store whose file was copied, moved or removed without its log: it is never taken for the whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use baton_store::{Failure, Fault, FaultKind, Store, Target};

use crate::bench::{NOW, Place, SCHEMA, append, counter, entries};

fn path(place: &Place) -> PathBuf {
    match &place.target {
        Target::File(path) => path.clone(),
        other => panic!("{other} is no file"),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

fn open(path: &Path) -> Result<Store, Fault> {
    Store::open_with(&Target::File(path.to_owned()), SCHEMA, NOW)
}

fn kind<T>(answer: Result<T, Failure>) -> FaultKind {
    match answer {
        Err(Failure::Fault(fault)) => fault.kind,
        Err(Failure::Refused(refusal)) => panic!("{refusal}"),
        Ok(_) => panic!("it succeeded"),
    }
}

/// Copies a store's files with these endings to another place.
fn copied(store: &Path, name: &str, endings: &[&str]) -> PathBuf {
    let copy = store.with_file_name(name);
    for ending in endings {
        fs::copy(beside(store, ending), beside(&copy, ending)).unwrap();
    }
    copy
}

/// Fails unless the main file alone is refused, in every way of opening it, and both files together hold so many entries.
fn is_known_to_be_a_part(store: &Path, count: usize, when: &str) {
    let lone = copied(store, "lone.db", &[""]);
    let target = Target::File(lone.clone());
    for opened in [open(&lone), Store::open_read_only_with(&target, SCHEMA), open(&lone)] {
        let fault = opened.err().unwrap_or_else(|| panic!("{when}: a lone file was taken for the store"));
        assert_eq!(fault.kind, FaultKind::Incomplete, "{when}: {fault}");
        assert_eq!(fault.to_refusal().unwrap().code, "store_incomplete");
    }
    let both = copied(store, "both.db", &["", "-wal"]);
    let mut both = open(&both).unwrap_or_else(|fault| panic!("{when}: {fault}"));
    assert_eq!(entries(&mut both, "a").len(), count, "{when}");
    assert!(both.check().unwrap().is_empty(), "{when}");
    drop(both);
    for name in ["lone.db", "both.db"] {
        for ending in ["", "-wal", "-shm", "-lock"] {
            let _ = fs::remove_file(beside(&store.with_file_name(name), ending));
        }
    }
}

#[test]
fn a_main_file_without_its_log_is_never_taken_for_the_store() {
    let place = Place::file();
    let file = path(&place);
    let mut store = place.open();
    is_known_to_be_a_part(&file, 0, "just made");
    drop(store);
    store = place.with_projects();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    is_known_to_be_a_part(&file, 1, "after a first write");
    // A command leaves with the store open.
    std::mem::forget(store);
    is_known_to_be_a_part(&file, 1, "after a command");
    let mut store = place.open();
    store.write(&["a"], |tx| append(tx, "a", "two")).unwrap();
    is_known_to_be_a_part(&file, 2, "after a second command");
}

#[test]
fn a_closed_store_is_one_whole_file() {
    let place = Place::file();
    let mut store = place.with_projects();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    drop(store);
    let file = path(&place);
    assert!(!beside(&file, "-wal").exists());
    let copy = copied(&file, "copy.db", &[""]);
    assert_eq!(entries(&mut open(&copy).unwrap(), "a").len(), 1);
    // Whoever closes it, SQLite's own tools for instance, makes it whole.
    let mut store = place.open();
    store.write(&["a"], |tx| append(tx, "a", "two")).unwrap();
    std::mem::forget(store);
    is_known_to_be_a_part(&file, 2, "before another program came");
}

#[test]
fn another_program_that_looks_into_a_store_leaves_it_whole() {
    let place = Place::file();
    let file = path(&place);
    // In a process of its own: this one keeps the forgotten connection's locks.
    left_by_a_command(&file);
    let other = rusqlite::Connection::open(&file).unwrap();
    let count: i64 = other.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
    drop(other);
    assert!(!beside(&file, "-wal").exists(), "the last to leave has folded it");
    assert_eq!(entries(&mut place.open(), "a").len(), 1);
    let copy = copied(&file, "copy.db", &[""]);
    assert_eq!(entries(&mut open(&copy).unwrap(), "a").len(), 1);
}

const CHILD: &str = "BATON_TEST_LEFT_BY_A_COMMAND";

fn left_by_a_command(store: &Path) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child
        .args(["--exact", "incomplete::child_that_leaves", "--ignored", "--nocapture"])
        .env(CHILD, store);
    assert!(child.status().unwrap().success());
}

#[test]
fn processes_that_make_a_store_at_once_make_one() {
    for _ in 0..5 {
        let place = Place::file();
        let file = path(&place);
        let start = || {
            let mut child = Command::new(std::env::current_exe().unwrap());
            let args = ["--exact", "incomplete::child_that_appends", "--ignored", "--nocapture"];
            child.args(args).env(CHILD, &file).stdout(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = (0..8).map(|_| start()).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        is_known_to_be_a_part(&file, 8 * 3, "made by eight");
    }
}

#[test]
#[ignore = "the process that another test starts"]
fn child_that_appends() {
    let Some(path) = crate::bench::variable(CHILD) else { return };
    let mut store = open(Path::new(&path)).unwrap();
    let insert = "INSERT INTO project (project_id, seq) VALUES ('a', 0) ON CONFLICT DO NOTHING";
    store.write_shared(|tx| Ok(tx.execute(insert, &[])?)).unwrap();
    for _ in 0..3 {
        store.write(&["a"], |tx| append(tx, "a", "one of many")).unwrap();
    }
    store.leave();
}

#[test]
#[ignore = "the process that another test starts"]
fn child_that_leaves() {
    let Some(path) = crate::bench::variable(CHILD) else { return };
    let mut store = open(Path::new(&path)).unwrap();
    store.write_shared(|tx| crate::bench::insert_project(tx, "a")).unwrap();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    store.leave();
}

#[test]
fn a_log_that_is_written_back_and_begins_anew_is_missed_too() {
    let place = Place::file();
    let mut store = place.with_projects();
    let file = path(&place);
    let log = || fs::metadata(beside(&file, "-wal")).unwrap().len();
    let big = "x".repeat(200_000);
    let mut begun_anew = 0;
    let mut before = log();
    for n in 1..=100 {
        store.write(&["a"], |tx| append(tx, "a", &big)).unwrap();
        begun_anew += usize::from(log() < before);
        before = log();
        if n % 10 == 0 {
            is_known_to_be_a_part(&file, n, &format!("after {n} large writes"));
        }
    }
    assert!(begun_anew >= 2, "the log was never written back");
    assert!(log() < 8 * 1024 * 1024, "it does not grow for ever: {}", log());
    assert!(store.check().unwrap().is_empty());
}

#[test]
fn a_reader_that_needs_the_log_does_not_hold_up_writers_and_loses_nothing() {
    let place = Place::file();
    let mut store = place.with_projects();
    let mut reader = place.open();
    let big = "x".repeat(200_000);
    reader
        .read(|tx| {
            tx.query("SELECT count(*) FROM entry", &[])?;
            for _ in 0..60 {
                store.write(&["a"], |tx| append(tx, "a", &big))?;
            }
            let mut seen = tx.query_one("SELECT count(*) FROM entry", &[])?.reader();
            assert_eq!(seen.int()?, 0, "it reads one moment");
            Ok(())
        })
        .unwrap();
    for _ in 0..30 {
        store.write(&["a"], |tx| append(tx, "a", &big)).unwrap();
    }
    is_known_to_be_a_part(&path(&place), 90, "after the reader has gone");
}

#[test]
fn a_reader_at_the_first_write_does_not_keep_the_file_from_being_marked() {
    let place = Place::file();
    drop(place.with_projects());
    let mut reader = place.open();
    let mut store = place.open();
    reader
        .read(|tx| {
            tx.query("SELECT count(*) FROM entry", &[])?;
            store.write(&["a"], |tx| append(tx, "a", "one"))?;
            Ok(())
        })
        .unwrap();
    store.write(&["a"], |tx| append(tx, "a", "two")).unwrap();
    is_known_to_be_a_part(&path(&place), 2, "after the reader has gone");
}

#[test]
fn what_was_cut_off_while_it_was_marked_is_not_taken_for_incomplete() {
    let place = Place::file();
    drop(place.with_projects());
    let file = path(&place);
    // As a process leaves it that is killed after it has set the mark, and before it has set the id again.
    let cut_off = rusqlite::Connection::open(&file).unwrap();
    cut_off.execute_batch("PRAGMA application_id = 0x4261746c; PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    let store = copied(&file, "cut_off.db", &["", "-wal"]);
    drop(cut_off);
    let mut store = open(&store).unwrap();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    drop(store);
    let mut store = open(&file.with_file_name("cut_off.db")).expect("the next write has set it right");
    assert_eq!(entries(&mut store, "a").len(), 1);
}

#[test]
fn an_empty_file_that_was_made_for_a_log_is_not_a_new_store() {
    let place = Place::file();
    let file = path(&place);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    // What an older version had in its main file until the log was written back.
    let made = rusqlite::Connection::open(&file).unwrap();
    made.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    drop(made);
    assert_eq!(open(&file).err().unwrap().kind, FaultKind::Incomplete);
    // Beside the lock of one who was killed while making it, it is.
    fs::write(beside(&file, "-lock"), "").unwrap();
    assert_eq!(counter(&mut place.with_projects(), "a"), 0);
}

#[test]
fn a_log_whose_store_is_gone_is_not_deleted() {
    let place = Place::file();
    let mut store = place.with_projects();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    let file = path(&place);
    let moved = copied(&file, "moved.db", &["", "-wal"]);
    drop(store);
    let whole = fs::read(&moved).unwrap();
    let log = fs::read(beside(&moved, "-wal")).unwrap();
    fs::remove_file(&moved).unwrap();
    for empty in [false, true] {
        if empty {
            fs::write(&moved, "").unwrap();
        }
        let fault = open(&moved).err().unwrap();
        assert_eq!(fault.kind, FaultKind::Incomplete, "{fault}");
        assert_eq!(fs::read(beside(&moved, "-wal")).unwrap(), log);
    }
    fs::write(&moved, whole).unwrap();
    assert_eq!(entries(&mut open(&moved).unwrap(), "a").len(), 1);
}

#[test]
#[cfg(unix)]
fn two_names_of_one_file_never_have_two_logs() {
    let place = Place::file();
    let file = path(&place);
    left_by_a_command(&file);
    let other = file.with_file_name("other.db");
    fs::hard_link(&file, &other).unwrap();
    let fault = open(&other).err().unwrap();
    assert_eq!(fault.kind, FaultKind::Incomplete, "{fault}");
    assert_eq!(entries(&mut place.open(), "a").len(), 1);
}

#[test]
#[cfg(unix)]
fn a_symbolic_link_leads_to_the_store_and_its_log() {
    let place = Place::file();
    let mut store = place.with_projects();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    let link = path(&place).parent().unwrap().parent().unwrap().join("link.db");
    std::os::unix::fs::symlink(path(&place), &link).unwrap();
    let mut linked = open(&link).unwrap();
    linked.write(&["a"], |tx| append(tx, "a", "two")).unwrap();
    assert_eq!(entries(&mut store, "a").len(), 2);
    assert!(!beside(&link, "-lock").exists() && !beside(&link, "-wal").exists());
    // A link that leads elsewhere now leads to another store.
    let other = path(&place).with_file_name("other.db");
    drop(open(&other).unwrap());
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    assert_eq!(kind(linked.write(&["a"], |tx| append(tx, "a", "no"))), FaultKind::Replaced);
}

#[test]
#[cfg(unix)]
fn a_store_that_is_replaced_or_removed_is_noticed() {
    for removed in [false, true] {
        let place = Place::file();
        let mut store = place.with_projects();
        let mut reader = Store::open_read_only_with(&place.target, SCHEMA).unwrap();
        store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
        let file = path(&place);
        for ending in ["", "-wal", "-shm"] {
            let (from, to) = (beside(&file, ending), beside(&file, &format!("{ending}.old")));
            if removed { fs::remove_file(from).unwrap() } else { fs::rename(from, to).unwrap() }
        }
        let is_noticed = |answer: Result<i64, Failure>| {
            let Err(Failure::Fault(fault)) = answer else { panic!("it went on") };
            assert_eq!(fault.to_refusal().unwrap().code, "store_replaced", "{fault}");
        };
        is_noticed(store.write(&["a"], |tx| append(tx, "a", "lost")));
        is_noticed(reader.read(|_| Ok(0)));
        let mut new = place.with_projects();
        new.write(&["a"], |tx| append(tx, "a", "new")).unwrap();
        is_noticed(store.write(&["a"], |tx| append(tx, "a", "lost")));
        // Whoever leaves the old file must not take the new one's log along.
        drop(store);
        drop(reader);
        new.write(&["a"], |tx| append(tx, "a", "newer")).unwrap();
        let both = copied(&file, "both.db", &["", "-wal"]);
        assert_eq!(entries(&mut open(&both).unwrap(), "a").len(), 2);
        assert_eq!(entries(&mut place.open(), "a").len(), 2);
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_and_a_device_are_refused_at_once() {
    let place = Place::file();
    let file = path(&place);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    for path in [file.as_path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
        let fault = open(path).err().unwrap();
        assert_eq!(fault.kind, FaultKind::CannotOpen, "{fault}");
    }
}
