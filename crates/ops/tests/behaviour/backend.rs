//! The stores that every rule is tried on: memory, a file, a schema of its own on a PostgreSQL server.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use baton_store::{Store, Target};

use crate::database_server::DatabaseServer;

/// When every history begins.
pub(crate) const NOW: i64 = 1_795_168_800_000;

/// Where a test keeps its ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Memory,
    File,
    Postgres,
}

/// A store of one test, removed at its end.
pub(crate) struct Ground {
    pub backend: Backend,
    pub target: Target,
    _dir: Option<tempfile::TempDir>,
    schema: Option<(String, String)>,
}

impl Ground {
    /// `None` where there is no server to test on, which is said once.
    pub(crate) fn new(backend: Backend) -> Option<Self> {
        match backend {
            Backend::Memory => Some(Self { backend, target: Target::Memory, _dir: None, schema: None }),
            Backend::File => {
                let dir = tempfile::tempdir().expect("a temporary folder");
                let target = Target::File(dir.path().join("store.db"));
                Some(Self { backend, target, _dir: Some(dir), schema: None })
            }
            Backend::Postgres => server().map(Self::schema),
        }
    }

    fn schema(url: String) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let schema = format!("b_{}_{number}", std::process::id());
        admin(&url, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}"));
        let sign = if url.contains('?') { '&' } else { '?' };
        let target = Target::parse(&format!("{url}{sign}options=-csearch_path%3D{schema}"));
        Self { backend: Backend::Postgres, target, _dir: None, schema: Some((url, schema)) }
    }

    /// One more connection to it; in memory there is only the first.
    pub(crate) fn open(&self) -> Store {
        Store::open(&self.target, NOW).unwrap_or_else(|fault| panic!("{:?}: {fault}", self.backend))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some((url, schema)) = &self.schema {
            admin(url, &format!("DROP SCHEMA IF EXISTS {schema} CASCADE"));
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "a test asks its environment for a server")]
fn server() -> Option<String> {
    static SAY: Once = Once::new();
    let url = std::env::var("BATON_TEST_POSTGRES").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        SAY.call_once(|| {
            let line = "\n!! BATON_TEST_POSTGRES is not set: nothing of this suite ran on PostgreSQL\n\n";
            // Not through the test's own output, which is shown for failures only.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
        });
    }
    url
}

/// Runs statements on the server, beside the store.
fn admin(url: &str, sql: &str) {
    DatabaseServer::connect(url).execute(sql).expect("a schema of its own");
}
