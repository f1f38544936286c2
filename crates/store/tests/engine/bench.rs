//! The stores that the suite runs on.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use baton_store::{Failure, Migrations, Store, Target, Tx, Value, params};

use crate::database_server::DatabaseServer;

/// The schema of this suite, independent of the real one.
pub(crate) const SCHEMA: Migrations = &[
    (
        "0001_project",
        "CREATE TABLE project (project_id TEXT PRIMARY KEY, seq BIGINT NOT NULL, chain_head TEXT NOT NULL DEFAULT '', counter_floor BIGINT NOT NULL DEFAULT 0, merged_into TEXT, webhook_url TEXT);",
    ),
    (
        "0002_entry",
        "CREATE TABLE entry (project_id TEXT NOT NULL, seq BIGINT NOT NULL, note TEXT, body BYTEA,\n\
         PRIMARY KEY (project_id, seq));",
    ),
];

pub(crate) const NOW: i64 = 1_700_000_000_000;

/// A place for a store of its own, removed at the end.
pub(crate) struct Place {
    pub target: Target,
    pub name: &'static str,
    _dir: Option<tempfile::TempDir>,
    admin: Option<(String, String)>,
}

impl Place {
    pub(crate) fn memory() -> Self {
        Self { target: Target::Memory, name: "memory", _dir: None, admin: None }
    }

    pub(crate) fn file() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::File(dir.path().join("deep/er/store.db"));
        Self { target, name: "file", _dir: Some(dir), admin: None }
    }

    /// A schema of its own on the server that `BATON_TEST_POSTGRES` names.
    pub(crate) fn postgres() -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let Some(url) = postgres_url() else {
            shout("BATON_TEST_POSTGRES is not set: nothing was tested on PostgreSQL");
            return None;
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("t_{}_{number}", std::process::id());
        admin(&url, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
        let sign = if url.contains('?') { '&' } else { '?' };
        let target = Target::parse(&format!("{url}{sign}options=-csearch_path%3D{schema}"));
        Some(Self { target, name: "postgres", _dir: None, admin: Some((url, schema)) })
    }

    pub(crate) fn open(&self) -> Store {
        Store::open_with(&self.target, SCHEMA, NOW).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// A store with the projects a, b and c, each at number 0.
    pub(crate) fn with_projects(&self) -> Store {
        let mut store = self.open();
        for project in ["a", "b", "c"] {
            store.write_shared(|tx| insert_project(tx, project)).unwrap();
        }
        store
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((url, schema)) = &self.admin {
            admin(url, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE"));
        }
    }
}

/// Runs a test on every engine.
pub(crate) fn on_every_engine(test: impl Fn(&Place)) {
    test(&Place::memory());
    on_shared_engines(test);
}

/// Runs a test on the engines that several connections can share.
pub(crate) fn on_shared_engines(test: impl Fn(&Place)) {
    test(&Place::file());
    if let Some(place) = Place::postgres() {
        test(&place);
    }
}

pub(crate) fn insert_project(tx: &mut Tx<'_>, project: &str) -> Result<(), Failure> {
    tx.execute("INSERT INTO project (project_id, seq) VALUES ($1, 0)", params![project])?;
    Ok(())
}

/// Appends an entry under the project's next number.
pub(crate) fn append(tx: &mut Tx<'_>, project: &str, note: &str) -> Result<i64, Failure> {
    let seq = tx.next_seq(project)?;
    tx.execute_deferred(
        "INSERT INTO entry (project_id, seq, note) VALUES ($1, $2, $3)",
        params![project, seq, note],
    )?;
    Ok(seq)
}

/// Numbers and notes of a project.
pub(crate) fn entries(store: &mut Store, project: &str) -> Vec<(i64, String)> {
    let rows = store.read(|tx| {
        Ok(tx.query("SELECT seq, note FROM entry WHERE project_id = $1 ORDER BY seq", params![project])?)
    });
    let pair = |row: baton_store::Row| {
        let mut row = row.reader();
        (row.int().unwrap(), row.text().unwrap())
    };
    rows.unwrap().into_iter().map(pair).collect()
}

/// The number at which a project stands.
pub(crate) fn counter(store: &mut Store, project: &str) -> i64 {
    let sql = "SELECT seq FROM project WHERE project_id = $1";
    let row = store.read(|tx| Ok(tx.query_one(sql, &[Value::from(project)])?));
    row.unwrap().reader().int().unwrap()
}

/// Says once, past the capture of the test runner, what was not tested.
pub(crate) fn shout(what: &'static str) {
    static SAID: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut output = SAID.lock().unwrap();
    if !output.contains(&what) {
        output.push(what);
        let line = format!("\n!!! {what} !!!\n\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

#[allow(clippy::disallowed_methods, reason = "a test asks its environment for a server")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub(crate) fn postgres_url() -> Option<String> {
    variable("BATON_TEST_POSTGRES")
}

/// Runs statements on the server, beside the store.
pub(crate) fn admin(url: &str, sql: &str) {
    DatabaseServer::connect(url).execute(sql).unwrap();
}
