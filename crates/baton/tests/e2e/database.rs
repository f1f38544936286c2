//! A schema of its own on the PostgreSQL server of the tests, removed at the end.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::database_server::DatabaseServer;
use crate::stage::env;

/// A store on a server.
pub(crate) struct Database {
    /// What `BATON_STORE` is set to.
    pub url: String,
    server: String,
    schema: String,
}

impl Database {
    /// `None` where there is no server.
    pub(crate) fn new() -> Option<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let server = env("BATON_TEST_POSTGRES")?;
        let schema = format!("e_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        run(&server, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
        let sign = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{sign}options=-csearch_path%3D{schema}");
        Some(Self { url, server, schema })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // Processes that are still about would hold their tables against it.
        let others = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (SELECT l.pid FROM pg_locks l \
             JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{}') AND pid <> pg_backend_pid()",
            self.schema
        );
        run(&self.server, &others);
        run(&self.server, &format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema));
    }
}

/// Runs statements on the server, beside the store.
pub(crate) fn run(url: &str, sql: &str) {
    DatabaseServer::connect(url).execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// The numbers that a query gives.
pub(crate) fn numbers(url: &str, sql: &str) -> Vec<i64> {
    let rows = DatabaseServer::connect(url).query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.iter().map(|row| row.get(0)).collect()
}
