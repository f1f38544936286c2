//! One behaviour suite for every engine: memory, file and PostgreSQL.

mod bench;
mod transactions;
