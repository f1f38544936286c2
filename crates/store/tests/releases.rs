//! A store of every release, and of every state of the tables on the way to it, is brought up to date with its rows.
//!
//! The fixtures are what each release's own binary wrote (`cargo xtask release-fixtures`). A store of an earlier state has the
//! rows of a release, as far as its tables had a place for them.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking, and says where")]

use std::fs;
use std::path::{Path, PathBuf};

use baton_store::{FaultKind, MIGRATIONS, Store, Target, chain, project};
use rusqlite::Connection;

const NOW: i64 = 2_000_000_000_000;

/// The folder of every release.
fn releases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../baton/tests/releases");
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).expect("fixtures").map(|entry| entry.expect("an entry").path()).collect();
    found.sort();
    assert!(!found.is_empty(), "no release has fixtures");
    found
}

/// The store of a release, in a file.
fn unpack(release: &Path, file: &Path) {
    let packed = fs::read(release.join("store.db.zst")).expect("a store");
    fs::write(file, zstd::bulk::decompress(&packed, 64 << 20).expect("unpacked")).expect("written");
}

fn text_list(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("text")).collect()
}

/// Tables with rows of their own: no index of words with its shadow tables, and not the list of migrations.
fn tables(connection: &Connection, schema: &str) -> Vec<String> {
    let virtual_tables = format!("SELECT name FROM {schema}.sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'");
    let indexes = text_list(connection, &virtual_tables);
    let all = format!(
        "SELECT name FROM {schema}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'migration'"
    );
    let mut found = text_list(connection, &all);
    found.retain(|table| !indexes.iter().any(|index| table.starts_with(index.as_str())));
    found
}

fn columns(connection: &Connection, schema: &str, table: &str) -> Vec<String> {
    text_list(connection, &format!("SELECT name FROM pragma_table_info('{table}', '{schema}')"))
}

/// A store with the first `known` migrations, and with the rows of the release that fit into it.
fn store_at(known: usize, release: &Path, file: &Path) {
    drop(Store::open_with(&Target::File(file.to_owned()), &MIGRATIONS[..known], NOW).expect("a store"));
    let connection = Connection::open(file).expect("opened");
    connection.execute("ATTACH ?1 AS release", [release.display().to_string()]).expect("attached");
    connection.execute_batch("PRAGMA foreign_keys = OFF").expect("set");
    let there = tables(&connection, "release");
    for table in tables(&connection, "main").iter().filter(|table| there.contains(table)) {
        let then = columns(&connection, "main", table);
        let mut shared = columns(&connection, "release", table);
        shared.retain(|column| then.contains(column));
        let names = shared.join(", ");
        let copy =
            format!("INSERT OR REPLACE INTO main.{table} ({names}) SELECT {names} FROM release.{table}");
        connection.execute(&copy, []).unwrap_or_else(|error| panic!("{known} migrations, {table}: {error}"));
    }
}

fn count(file: &Path, sql: &str) -> i64 {
    let connection = Connection::open(file).expect("opened");
    connection.query_row(sql, [], |row| row.get(0)).expect("a number")
}

/// Opens it with this build, and looks whether all of the ledger is there and whether it goes on.
fn assert_up_to_date(file: &Path, deltas: i64, what: &str) {
    let mut store =
        Store::open(&Target::File(file.to_owned()), NOW).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    assert_eq!(store.check().expect("checked"), Vec::<String>::new(), "{what}");
    for id in ["shop", "bank"] {
        assert_eq!(
            chain::check(&mut store, id).expect("checked").faults(),
            Vec::<String>::new(),
            "{what}: {id}"
        );
    }
    store.write_shared(|tx| Ok(project::create(tx, "later", false, NOW)?)).expect("a new project");
    let next = store.write(&["shop"], |tx| Ok(tx.next_seq("shop")?)).expect("a write");
    drop(store);
    assert_eq!(count(file, "SELECT COUNT(*) FROM delta"), deltas, "{what}");
    let highest = count(file, "SELECT MAX(seq) FROM delta WHERE project_id = 'shop'");
    assert!(next > highest, "{what}: {next} was given out before");
}

#[test]
fn the_store_of_every_release_is_brought_up_to_date() {
    for release in releases() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("store.db");
        unpack(&release, &file);
        let deltas = count(&file, "SELECT COUNT(*) FROM delta");
        assert!(deltas > 10, "{} holds a day", release.display());
        assert_up_to_date(&file, deltas, &release.display().to_string());
    }
}

#[test]
fn a_store_of_every_earlier_state_is_brought_up_to_date_with_its_rows() {
    for release in releases() {
        let folder = tempfile::tempdir().expect("folder");
        let whole = folder.path().join("release.db");
        unpack(&release, &whole);
        let deltas = count(&whole, "SELECT COUNT(*) FROM delta");
        for known in 1..MIGRATIONS.len() {
            let file = folder.path().join(format!("{known}.db"));
            store_at(known, &whole, &file);
            assert_up_to_date(&file, deltas, &format!("{} of {} migrations", known, MIGRATIONS.len()));
        }
    }
}

#[test]
fn an_older_build_refuses_the_store_of_a_release_and_leaves_it_as_it_is() {
    for release in releases() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("store.db");
        unpack(&release, &file);
        let before = fs::read(&file).expect("a store");
        let (found, known) = (count(&file, "PRAGMA user_version"), 7);
        let target = Target::File(file.clone());
        let fault = Store::open_with(&target, &MIGRATIONS[..7], NOW).expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Newer { found, known });
        let refusal = fault.to_refusal().expect("a refusal");
        assert_eq!(refusal.code, "store_newer");
        assert!(refusal.hint.contains("Update Baton"), "{}", refusal.hint);
        assert!(fs::read(&file).expect("a store") == before, "nothing was touched");
    }
}
