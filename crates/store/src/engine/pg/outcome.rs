//! What became of a commit whose answer never came. PostgreSQL remembers by the transaction's number.

use std::thread::sleep;
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::Postgres;
use crate::engine::fault::{Fault, FaultKind};

/// The open transaction's number.
pub(super) const NUMBER: &str = "SELECT txid_current()";
const STATUS: &str = "SELECT txid_status($1)";

/// Pauses, in milliseconds, in which a server may finish a transaction whose client is gone: five seconds in all.
const PAUSES: [u64; 15] = [5, 10, 20, 40, 80, 160, 320, 500, 500, 500, 500, 500, 500, 500, 500];

/// Whether the engine has no numbers of transactions.
pub(super) fn is_not_offered(fault: &Fault) -> bool {
    let source =
        std::error::Error::source(fault).and_then(|source| source.downcast_ref::<tokio_postgres::Error>());
    source.and_then(tokio_postgres::Error::code) == Some(&SqlState::UNDEFINED_FUNCTION)
}

impl Postgres {
    /// Reconnects and asks for the status of the transaction: `Ok` if it was committed, else a fault that says that it
    /// was rolled back, or `CommitUnknown`.
    pub(super) fn find_out(&mut self, mut fault: Fault) -> Result<(), Fault> {
        match self.number.take().and_then(|number| self.status(number)) {
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

    /// Whether a transaction was committed, once the server knows.
    fn status(&mut self, number: i64) -> Option<bool> {
        self.reconnect().ok()?;
        for pause in PAUSES {
            let rows =
                self.ask(async |client| client.query_typed(STATUS, &[(&number, Type::INT8)]).await).ok()?;
            match rows.first()?.try_get::<_, Option<String>>(0).ok()??.as_str() {
                "committed" => return Some(true),
                "aborted" => return Some(false),
                _ => sleep(Duration::from_millis(pause)),
            }
        }
        None
    }
}
