//! The reference: SQLite by itself, the same library, with what a durable hand-off needs at the least: one row updated,
//! one inserted, one flush.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::{Connection, params};

use crate::process;

/// The hidden word that makes this program the reference process.
pub const SUBCOMMAND: &str = "reference-transaction";

/// A database with a counter and a list.
pub struct Bare {
    conn: Connection,
    body: String,
}

impl Bare {
    /// Opens it, and makes it when it is not there.
    pub fn open(file: &Path) -> Result<Self> {
        let conn = Connection::open(file)?;
        conn.execute_batch("PRAGMA synchronous = FULL")?;
        Ok(Self { conn, body: process::packet().to_string() })
    }

    /// Makes the tables.
    pub fn create(file: &Path) -> Result<Self> {
        let bare = Self::open(file)?;
        bare.conn.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE project (project_id TEXT PRIMARY KEY, seq BIGINT NOT NULL);
             CREATE TABLE delta (project_id TEXT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL,
                PRIMARY KEY (project_id, seq));
             INSERT INTO project VALUES ('p', 0);",
        )?;
        Ok(bare)
    }

    /// One durable transaction.
    pub fn transaction(&self) -> Result<()> {
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut take = self
            .conn
            .prepare_cached("UPDATE project SET seq = seq + 1 WHERE project_id = 'p' RETURNING seq")?;
        let seq: i64 = take.query_row([], |row| row.get(0))?;
        self.conn
            .prepare_cached("INSERT INTO delta VALUES ('p', ?1, ?2)")?
            .execute(params![seq, self.body])?;
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// Transactions a second, by one thread.
    pub fn rate(&self, span: Duration) -> Result<f64> {
        let begin = Instant::now();
        let mut count = 0;
        while begin.elapsed() < span {
            self.transaction()?;
            count += 1;
        }
        Ok(f64::from(count) / begin.elapsed().as_secs_f64())
    }
}

/// What the reference process does. It leaves like `baton` does, without closing the database: closing would write the
/// log back and make the reference about twice as slow.
pub fn once_and_leave(file: &str) -> Result<()> {
    Bare::open(Path::new(file))?.transaction()?;
    std::process::exit(0)
}

/// The reference process on a database.
pub fn command(file: &Path) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(SUBCOMMAND).arg(file).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}
