//! Batons that travel as files between ledgers that do not reach each other.
//!
//! A baton that is exported does not wait in its own ledger any more: it is spent by the entry that records the export, and whoever
//! imports the file picks it up. Two ledgers that import the same file cannot know of each other; the same ledger imports it once.

mod export;
mod import;
mod records;
mod take_back;

pub use export::{BatonExport, BatonExportInput, BatonExportOutput};
pub use import::{BatonImport, BatonImportInput, BatonImportOutput};
pub(crate) use records::{exported_refusal, waiting_elsewhere};
pub use take_back::{BatonTakeBack, BatonTakeBackInput, BatonTakeBackOutput};
