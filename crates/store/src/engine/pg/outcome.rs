//! What became of a commit whose answer never came. PostgreSQL remembers by the transaction's number, unless it crashed
//! since: numbers that had not reached its disk are given out again, to transactions of others. So each transaction also
//! notes the epoch, which stands in a table that a crash, or a failover to a standby, leaves empty.

use std::thread::sleep;
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::Postgres;
use crate::engine::fault::{Fault, FaultKind};

/// The open transaction's number, and the epoch in which it counts.
pub(super) const NUMBER: &str = "SELECT txid_current(), (SELECT epoch FROM crash_epoch WHERE id = 1)";
const STATUS: &str = "SELECT txid_status($1), (SELECT epoch FROM crash_epoch WHERE id = 1)";
const EPOCH_TABLE: &str =
    "CREATE UNLOGGED TABLE IF NOT EXISTS crash_epoch (id BIGINT PRIMARY KEY, epoch TEXT NOT NULL)";
const NEW_EPOCH: &str = "INSERT INTO crash_epoch (id, epoch)
    VALUES (1, md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text)) ON CONFLICT DO NOTHING";

/// By which the server can say later what became of a transaction.
pub(super) struct TransactionNumber {
    pub(super) number: i64,
    pub(super) epoch: String,
}

/// Pauses, in milliseconds, in which a server may finish a transaction whose client is gone: five seconds in all.
const PAUSES: [u64; 15] = [5, 10, 20, 40, 80, 160, 320, 500, 500, 500, 500, 500, 500, 500, 500];

/// Whether the engine has no numbers of transactions.
pub(super) fn is_not_offered(fault: &Fault) -> bool {
    code(fault) == Some(&SqlState::UNDEFINED_FUNCTION)
}

/// Whether the table of the epoch is not there yet.
pub(super) fn has_no_epochs(fault: &Fault) -> bool {
    code(fault) == Some(&SqlState::UNDEFINED_TABLE)
}

fn code(fault: &Fault) -> Option<&SqlState> {
    let source =
        std::error::Error::source(fault).and_then(|source| source.downcast_ref::<tokio_postgres::Error>());
    source.and_then(tokio_postgres::Error::code)
}

impl Postgres {
    /// Reconnects and asks for the status of the transaction: `Ok` if it was committed, else a fault that says that it
    /// was rolled back, or `CommitUnknown`.
    pub(super) fn find_out(&mut self, mut fault: Fault) -> Result<(), Fault> {
        match self.number.take().and_then(|number| self.status(&number)) {
            Some(true) => Ok(()),
            Some(false) => {
                fault.message.push_str("; nothing was saved");
                Err(fault)
            }
            None => {
                fault.kind = FaultKind::CommitUnknown;
                fault.message.push_str("; the change may or may not have been saved");
                Err(fault)
            }
        }
    }

    /// Begins an epoch where there is none; no transaction is open. Without the right to make the table, lost commits stay
    /// unknown.
    pub(super) fn begin_epoch(&mut self) -> bool {
        // Another process may make it at the same moment.
        let _ = self.batch(EPOCH_TABLE);
        self.batch(NEW_EPOCH).is_ok()
    }

    /// Whether a transaction was committed, once the server knows.
    fn status(&mut self, number: &TransactionNumber) -> Option<bool> {
        self.reconnect().ok()?;
        for pause in PAUSES {
            let rows = self
                .with_client(async |client| client.query_typed(STATUS, &[(&number.number, Type::INT8)]).await)
                .ok()?;
            let row = rows.first()?;
            let epoch = row.try_get::<_, Option<String>>(1).ok()?;
            match row.try_get::<_, Option<String>>(0).ok()??.as_str() {
                // Of another epoch it may be another client's transaction. One that is ours is not aborted by a crash once it
                // is committed on disk, so that the other answer holds in any case.
                "committed" if epoch.as_ref() != Some(&number.epoch) => return None,
                "committed" => return Some(true),
                "aborted" => return Some(false),
                _ => sleep(Duration::from_millis(pause)),
            }
        }
        None
    }
}
