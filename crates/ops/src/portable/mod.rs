//! Batons that travel as files between ledgers that do not reach each other.
//!
//! A baton that is exported does not wait in its own ledger any more: it is spent by the entry that records the export, and is picked
//! up where the file is imported. Two ledgers that import the same file cannot know of each other; the same ledger imports it once.

mod continued;
mod export;
mod import;
mod import_check;
mod kept_back;
mod reclaim;
mod records;

pub use export::{BatonExport, BatonExportInput, BatonExportOutput};
pub use import::{BatonImport, BatonImportInput, BatonImportOutput};
pub use kept_back::KeptBack;
pub use reclaim::{BatonReclaim, BatonReclaimInput, BatonReclaimOutput};
pub(crate) use records::{export_of, exported_refusal, prefetch_exports, waiting_elsewhere};
