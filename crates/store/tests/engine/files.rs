//! What a SQLite file goes through: permissions, damage, full disks, copies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use baton_store::{Failure, Fault, FaultKind, Store, Target, params};

use crate::bench::{NOW, Place, SCHEMA, append, counter, entries, shout};

fn path(place: &Place) -> PathBuf {
    match &place.target {
        Target::File(path) => path.clone(),
        other => panic!("{other} is no file"),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

fn open_fault(target: &Target) -> Fault {
    Store::open_with(target, SCHEMA, NOW).err().unwrap()
}

fn kind<T>(answer: Result<T, Failure>) -> FaultKind {
    match answer {
        Err(Failure::Fault(fault)) => fault.kind,
        Err(Failure::Refused(refusal)) => panic!("{refusal}"),
        Ok(_) => panic!("it succeeded"),
    }
}

/// A store with one entry whose process has left without closing it, as a short command does.
fn left_open(place: &Place) {
    let mut store = place.with_projects();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    std::mem::forget(store);
}

fn contents(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    // The shared memory is an index of the log that readers rebuild and mark.
    let paths = files.filter(|file| !file.to_string_lossy().ends_with("-shm"));
    paths.map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
}

#[test]
#[cfg(unix)]
fn only_the_owner_can_read_what_is_created() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::file();
    let _store = place.with_projects();
    let file = path(&place);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for suffix in ["", "-wal", "-shm", "-lock"] {
        assert_eq!(mode(&beside(&file, suffix)), 0o600, "{suffix}");
    }
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    assert_eq!(mode(file.parent().unwrap().parent().unwrap()), 0o700);
}

#[test]
#[cfg(unix)]
fn a_store_that_begins_in_an_empty_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::file();
    let file = path(&place);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let _store = place.with_projects();
    for suffix in ["", "-wal", "-shm"] {
        let mode = fs::metadata(beside(&file, suffix)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{suffix}");
    }
}

#[test]
fn opening_and_reading_a_store_that_is_up_to_date_writes_nothing() {
    let place = Place::file();
    left_open(&place);
    let before = contents(&path(&place));
    let mut store = place.open();
    assert_eq!(entries(&mut store, "a").len(), 1);
    assert_eq!(contents(&path(&place)), before);
    drop(Store::open_read_only_with(&place.target, SCHEMA).unwrap());
    assert_eq!(contents(&path(&place)), before);
    std::mem::forget(store);
}

#[test]
fn a_store_in_a_read_only_directory_can_be_read() {
    let place = Place::file();
    drop(place.with_projects());
    let Some(_writable_again) = read_only(&place) else { return };
    for mut store in [place.open(), Store::open_read_only_with(&place.target, SCHEMA).unwrap()] {
        assert_eq!(counter(&mut store, "a"), 0);
        let refused = kind(store.write(&["a"], |tx| append(tx, "a", "no")));
        assert_eq!(refused, FaultKind::ReadOnly);
    }
}

#[test]
fn a_log_that_cannot_be_replayed_is_not_passed_over() {
    let place = Place::file();
    let source = Place::file();
    left_open(&source);
    fs::create_dir_all(path(&place).parent().unwrap()).unwrap();
    for suffix in ["", "-wal"] {
        fs::copy(beside(&path(&source), suffix), beside(&path(&place), suffix)).unwrap();
    }
    let Some(_writable_again) = read_only(&place) else { return };
    let fault = open_fault(&place.target);
    assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::ReadOnly, "store_readonly"));
}

#[test]
fn a_store_whose_side_files_are_there_can_be_read_in_a_read_only_directory() {
    let place = Place::file();
    left_open(&place);
    let Some(_writable_again) = read_only(&place) else { return };
    let mut store = place.open();
    assert_eq!(entries(&mut store, "a").len(), 1);
    // Nothing new has to be made in the directory, so writing works too.
    assert_eq!(store.write(&["a"], |tx| append(tx, "a", "two")).unwrap(), 2);
}

#[test]
fn a_read_only_file_can_be_read() {
    let place = Place::file();
    drop(place.with_projects());
    let mut permissions = fs::metadata(path(&place)).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path(&place), permissions).unwrap();
    if fs::OpenOptions::new().write(true).open(path(&place)).is_ok() {
        shout("running with the right to write everywhere: read-only files were not tested");
        return;
    }
    let mut store = place.open();
    assert_eq!(counter(&mut store, "a"), 0);
    assert_eq!(kind(store.write(&["a"], |tx| append(tx, "a", "no"))), FaultKind::ReadOnly);
    assert_eq!(counter(&mut store, "a"), 0);
}

#[test]
fn a_frozen_store_that_changes_is_read_anew() {
    let place = Place::file();
    drop(place.with_projects());
    let Some(writable_again) = read_only(&place) else { return };
    let mut reader = place.open();
    assert!(entries(&mut reader, "a").is_empty());
    drop(writable_again);
    let mut writer = place.open();
    writer.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    assert_eq!(entries(&mut reader, "a").len(), 1);
    drop(writer);
    assert_eq!(entries(&mut reader, "a").len(), 1);
}

/// Takes the right to write from a store's directory; `None` (said aloud) where rights do not bind us.
fn read_only(place: &Place) -> Option<WritableAgain> {
    let directory = path(place).parent().unwrap().to_owned();
    let again = WritableAgain(directory.clone());
    set_writable(&directory, false);
    if fs::write(directory.join("probe"), "").is_ok() {
        shout("running with the right to write everywhere: read-only directories were not tested");
        return None;
    }
    Some(again)
}

struct WritableAgain(PathBuf);

impl Drop for WritableAgain {
    fn drop(&mut self) {
        set_writable(&self.0, true);
    }
}

#[cfg(unix)]
fn set_writable(directory: &Path, writable: bool) {
    use std::os::unix::fs::PermissionsExt;
    let mode = if writable { 0o700 } else { 0o500 };
    fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn set_writable(_: &Path, _: bool) {}

#[test]
fn what_cannot_be_opened_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Target::File(dir.path().join("missing.db"));
    for fault in [
        Store::open_existing(&missing, NOW).err().unwrap(),
        Store::open_read_only(&missing).err().unwrap(),
        open_fault(&Target::File(dir.path().to_owned())),
        open_fault(&Target::File(PathBuf::new())),
    ] {
        assert_eq!(
            (fault.kind, fault.to_refusal().unwrap().code),
            (FaultKind::CannotOpen, "store_unopenable")
        );
    }
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none(), "nothing was created");
}

#[test]
fn what_is_no_database_is_left_alone() {
    let place = Place::file();
    fs::create_dir_all(path(&place).parent().unwrap()).unwrap();
    fs::write(path(&place), "dear diary, ".repeat(1000)).unwrap();
    let fault = open_fault(&place.target);
    assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::Corrupt, "store_corrupt"));
    assert!(fs::read_to_string(path(&place)).unwrap().starts_with("dear diary"));
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let place = Place::file();
    fs::create_dir_all(path(&place).parent().unwrap()).unwrap();
    let other = rusqlite::Connection::open(path(&place)).unwrap();
    other.execute_batch("CREATE TABLE recipes (name TEXT); PRAGMA user_version = 2").unwrap();
    drop(other);
    let before = contents(&path(&place));
    assert_eq!(open_fault(&place.target).kind, FaultKind::CannotOpen);
    assert_eq!(contents(&path(&place)), before);
}

#[test]
fn damage_is_reported() {
    let place = Place::file();
    let mut store = place.with_projects();
    for _ in 0..50 {
        store.write(&["a"], |tx| append(tx, "a", &"x".repeat(500))).unwrap();
    }
    drop(store);
    let mut bytes = fs::read(path(&place)).unwrap();
    let from = 4 * 4096;
    bytes[from..].fill(0xa5);
    fs::write(path(&place), bytes).unwrap();
    let mut store = place.open();
    assert!(!store.check().unwrap().is_empty());
    let sql = "SELECT count(note) FROM entry WHERE note > ''";
    assert_eq!(kind(store.read(|tx| Ok(tx.query(sql, &[])?))), FaultKind::Corrupt);
}

/// Lets the file grow by no more than a few pages.
fn fill_up(store: &mut Store) {
    store.write_shared(|tx| Ok(tx.query("PRAGMA max_page_count = 1", &[])?)).unwrap();
}

#[test]
fn a_full_disk_is_told_and_nothing_is_written() {
    let place = Place::file();
    let mut store = place.with_projects();
    fill_up(&mut store);
    let big = "x".repeat(100_000);
    let answer = store.write(&["a"], |tx| append(tx, "a", &big));
    let Err(Failure::Fault(fault)) = answer else { panic!("there was room") };
    assert_eq!((fault.kind, fault.to_refusal().unwrap().code), (FaultKind::Full, "disk_full"));
    assert!(fault.message.contains("store.db"), "{fault}");
    assert_eq!(counter(&mut store, "a"), 0);
    assert_eq!(store.write(&["a"], |tx| append(tx, "a", "small")).unwrap(), 1);
}

#[test]
fn a_disk_that_fills_up_never_loses_half_a_batch_in_silence() {
    let place = Place::file();
    let mut store = place.with_projects();
    fill_up(&mut store);
    let big = "x".repeat(100_000);
    store.begin_batch().unwrap();
    store.write(&["a"], |tx| append(tx, "a", "small")).unwrap();
    assert_eq!(kind(store.write(&["a"], |tx| append(tx, "a", &big))), FaultKind::Full);
    let after = store.write(&["a"], |tx| append(tx, "a", "after"));
    let committed = store.commit_batch();
    let count = entries(&mut store, "a").len();
    match committed {
        // SQLite has undone the one statement: the others count.
        Ok(()) => assert_eq!((after.unwrap(), count), (2, 2)),
        // SQLite has undone everything: everybody is told.
        Err(fault) => assert_eq!((fault.kind, kind(after), count), (FaultKind::Full, FaultKind::Full, 0)),
    }
}

#[test]
fn a_backup_is_a_store() {
    let place = Place::file();
    let mut store = place.with_projects();
    store.write(&["a"], |tx| append(tx, "a", "one")).unwrap();
    let copy = path(&place).with_file_name("copy.db");
    store.backup(&copy).unwrap();
    assert!(store.backup(&copy).is_err(), "a copy is never overwritten");
    let mut copy = Store::open_with(&Target::File(copy), SCHEMA, NOW).unwrap();
    assert_eq!(copy.check().unwrap(), Vec::<String>::new());
    assert_eq!(copy.write(&["a"], |tx| append(tx, "a", "two")).unwrap(), 2);
    assert_eq!(entries(&mut store, "a").len(), 1);
    let mode = copy.read(|tx| Ok(tx.query_one("PRAGMA journal_mode", &[])?)).unwrap();
    assert_eq!(mode.reader().text().unwrap(), "wal");
}

#[test]
fn durable_writes_wait_for_the_disk_and_relaxed_ones_do_not() {
    let place = Place::file();
    let mut store = place.with_projects();
    let level = |tx: &mut baton_store::Tx<'_>| Ok(tx.query_one("PRAGMA synchronous", &[])?.reader().int()?);
    assert_eq!(store.write_relaxed(level).unwrap(), 1);
    assert_eq!(store.write(&["a"], level).unwrap(), 2);
    let real = store.read(|tx| Ok(tx.query("SELECT 1.5", params![])?));
    assert!(real.is_err(), "a column that is neither BIGINT nor TEXT nor BLOB is a fault");
}
