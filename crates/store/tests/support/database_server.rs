//! A connection to the database server of a test, beside the store that is tested.

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Error, NoTls, Row};

/// A connection, driven by a thread of its own.
pub(crate) struct DatabaseServer {
    client: Client,
    runtime: Runtime,
}

impl DatabaseServer {
    /// Connects, or says why not: a server that has just crashed refuses for a moment.
    pub(crate) fn try_connect(url: &str) -> Result<Self, Error> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the client");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(connection);
        Ok(Self { client, runtime })
    }

    /// Connects to a server that has to be there.
    pub(crate) fn connect(url: &str) -> Self {
        Self::try_connect(url).expect("a connection to the server")
    }

    /// Runs statements without parameters.
    #[allow(dead_code, reason = "each suite that includes this file uses a part of it")]
    pub(crate) fn execute(&self, sql: &str) -> Result<(), Error> {
        self.runtime.block_on(self.client.batch_execute(sql))
    }

    /// The rows of a query without parameters.
    #[allow(dead_code, reason = "each suite that includes this file uses a part of it")]
    pub(crate) fn query(&self, sql: &str) -> Result<Vec<Row>, Error> {
        self.runtime.block_on(self.client.query(sql, &[]))
    }
}
