//! How a store's tables come to be, and what is refused.

use std::thread;

use baton_store::{FaultKind, MIGRATIONS, Migrations, Store, Value, params};

use crate::bench::{NOW, SCHEMA, append, counter, on_every_engine, on_shared_engines};

const CHANGED: Migrations =
    &[SCHEMA[0], ("0002_entry", "CREATE TABLE entry (project_id TEXT NOT NULL, seq BIGINT NOT NULL);")];
const CHANGED_AND_MORE: Migrations =
    &[CHANGED[0], CHANGED[1], ("0003_more", "CREATE TABLE more (x BIGINT);")];
const HALF: Migrations =
    &[SCHEMA[0], ("0002_entry", "CREATE TABLE half (x BIGINT);\nCREATE TABLE half (x BIGINT);")];
const MORE: Migrations = &[SCHEMA[0], SCHEMA[1], ("0003_more", "CREATE TABLE more (x BIGINT);")];
const BY_ENGINE: Migrations = &[(
    "0001_project",
    "CREATE TABLE project (project_id TEXT PRIMARY KEY, seq BIGINT NOT NULL, chain_head TEXT NOT NULL DEFAULT '', counter_floor BIGINT NOT NULL DEFAULT 0, merged_into TEXT, webhook_url TEXT);\n\
     -- @sqlite\n\
     CREATE VIRTUAL TABLE words USING fts5(text);\n\
     -- @postgres\n\
     CREATE TABLE words (text TEXT, found tsvector);\n\
     -- @all\n\
     CREATE TABLE last (x BIGINT);",
)];

#[test]
fn the_migrations_of_this_build_apply() {
    on_every_engine(|place| {
        let mut store = Store::open(&place.target, NOW).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn migrations_are_recorded_with_name_checksum_and_time() {
    on_every_engine(|place| {
        let mut store = place.open();
        let sql =
            "SELECT version, name, checksum, applied_at FROM migration WHERE version > 0 ORDER BY version";
        let rows = store.read(|tx| Ok(tx.query(sql, &[])?)).unwrap();
        assert_eq!(rows.len(), 2);
        let mut row = rows.into_iter().next().unwrap().reader();
        assert_eq!((row.int().unwrap(), row.text().unwrap()), (1, "0001_project".to_owned()));
        assert_eq!((row.text().unwrap().len(), row.int().unwrap()), (64, NOW));
    });
}

#[test]
fn many_connections_may_open_a_new_store_at_once() {
    on_shared_engines(|place| {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| place.open());
            }
        });
        let mut store = place.with_projects();
        assert_eq!(store.write(&["a"], |tx| append(tx, "a", "x")).unwrap(), 1);
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_newer_store_is_refused_untouched() {
    on_shared_engines(|place| {
        drop(place.with_projects());
        let fault = Store::open_with(&place.target, &SCHEMA[..1], NOW).err().unwrap();
        assert_eq!(fault.kind, FaultKind::Newer { found: 2, known: 1 });
        let refusal = fault.to_refusal().unwrap();
        assert_eq!((refusal.code, refusal.details["found"].as_i64()), ("store_newer", Some(2)));
        assert_eq!(counter(&mut place.open(), "a"), 0);
    });
}

#[test]
fn a_reader_does_not_bring_a_store_up_to_date() {
    on_shared_engines(|place| {
        drop(place.with_projects());
        let fault = Store::open_read_only_with(&place.target, MORE).err().unwrap();
        assert_eq!(fault.kind, FaultKind::Older { found: 2, known: 3 });
        drop(Store::open_with(&place.target, MORE, NOW).unwrap());
        Store::open_read_only_with(&place.target, MORE).unwrap();
    });
}

#[test]
fn a_migration_that_fails_leaves_nothing_of_itself() {
    on_shared_engines(|place| {
        assert!(Store::open_with(&place.target, HALF, NOW).is_err());
        let mut store = place.open();
        assert!(store.prepare_only("SELECT x FROM half").is_err());
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_changed_migration_is_reported_and_nothing_is_built_on_it() {
    on_shared_engines(|place| {
        drop(place.with_projects());
        let mut store = Store::open_with(&place.target, CHANGED, NOW).unwrap();
        assert_eq!(store.check().unwrap()[0], "migration 0002_entry is not the one that this build carries");
        drop(store);
        let fault = Store::open_with(&place.target, CHANGED_AND_MORE, NOW).err().unwrap();
        assert_eq!(fault.kind, FaultKind::Corrupt);
        assert!(fault.message.contains("0002_entry"), "{fault}");
        Store::open_with(&place.target, MORE, NOW).unwrap();
    });
}

#[test]
fn a_part_may_be_meant_for_one_engine() {
    on_every_engine(|place| {
        let mut store = Store::open_with(&place.target, BY_ENGINE, NOW).unwrap();
        store
            .write_shared(|tx| Ok(tx.execute("INSERT INTO words (text) VALUES ($1)", &[Value::from("x")])?))
            .unwrap();
        store.prepare_only("SELECT x FROM last").unwrap();
    });
}

/// A task as a store of before [`MIGRATIONS`] 0032 has it: id, parent, status, until when it is put off, blocked, passes on.
type FormerTask = (&'static str, Option<&'static str>, &'static str, Option<i64>, [i64; 2]);

const FORMER_TASKS: [FormerTask; 9] = [
    ("whole", None, "deferred", Some(5), [0, 1]),
    ("part", Some("whole"), "open", None, [1, 1]),
    ("part.part", Some("part"), "open", None, [1, 1]),
    ("waits", Some("whole"), "open", None, [1, 1]),
    ("waited", Some("whole"), "open", None, [1, 1]),
    ("shelved", Some("whole"), "blocked", None, [1, 1]),
    ("shelved.part", Some("shelved"), "open", None, [1, 1]),
    ("for ever", None, "deferred", None, [0, 1]),
    ("for ever.part", Some("for ever"), "open", None, [1, 1]),
];
const FORMER_TASK: &str = "INSERT INTO task (project_id, task_id, title, description, status, priority, issue_type, labels, created_by, \
    created_at, updated_at, extra, parent_id, defer_until, blocked, passes, ready) \
    VALUES ('p', $1, 't', '', $2, 2, 'task', '[]', 'Ann', 1, 1, '{}', $3, $4, $5, $6, 0)";

#[test]
fn parts_of_what_was_put_off_until_a_time_are_not_blocked_by_that_after_an_upgrade() {
    on_shared_engines(|place| {
        let mut store = Store::open_with(&place.target, &MIGRATIONS[..31], NOW).unwrap();
        store
            .write_shared(|tx| {
                for (id, parent, status, until, [blocked, passes]) in FORMER_TASKS {
                    tx.execute(FORMER_TASK, params![id, status, parent, until, blocked, passes])?;
                }
                let waits = "INSERT INTO task_dependency (project_id, task_id, depends_on_id, kind, gate, place, body) \
                    VALUES ('p', 'waits', 'waited', 'blocks', 'closed', 0, '{}')";
                Ok(tx.execute(waits, &[])?)
            })
            .unwrap();
        drop(store);
        let mut store = Store::open(&place.target, NOW).unwrap();
        let rows = store.read(|tx| {
            Ok(tx.query("SELECT task_id, blocked, passes, ready FROM task ORDER BY task_id", &[])?)
        });
        let read = |row: baton_store::Row| {
            let mut row = row.reader();
            let id = row.text().unwrap();
            (id, [row.int().unwrap(), row.int().unwrap(), row.int().unwrap()])
        };
        let mut found: Vec<(String, [i64; 3])> = rows.unwrap().into_iter().map(read).collect();
        found.sort();
        let expected = [
            ("for ever", [0, 1, 0]),
            ("for ever.part", [1, 1, 0]),
            ("part", [0, 0, 1]),
            ("part.part", [0, 0, 1]),
            ("shelved", [0, 1, 0]),
            ("shelved.part", [1, 1, 0]),
            ("waited", [0, 0, 1]),
            ("waits", [1, 1, 0]),
            ("whole", [0, 0, 0]),
        ];
        assert_eq!(found, expected.map(|(id, columns)| (id.to_owned(), columns)), "{}", place.name);
    });
}
