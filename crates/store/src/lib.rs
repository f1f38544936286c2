//! The ledger: what Baton knows, in one database.
//!
//! [`engine`] opens a store and runs transactions on SQLite and PostgreSQL from one SQL text; every other module is one
//! noun with its statements, its row reader and its writes. Nothing here decides anything: rules live in `baton_model`.

pub mod engine;
mod migrate;

pub use engine::{Failure, Fault, FaultKind, Row, RowReader, Store, Target, Tx, Value};
pub use migrate::{MIGRATIONS, Migrations};
