//! Which untracked files Baton wrote as an export, and so go their own way: exported batons, backups, exports of a ledger.
//!
//! Most say so themselves. What is encrypted does not: its hash is noted in the data folder when it is written.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use baton_model::baton_file::MAX_BYTES;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::content::hash;
use super::files::{fault, inside, metadata};
use super::{Fault, LeftOut};
use crate::{keys, private_file};

/// Why a file does not travel that `baton handoff export` wrote.
pub(super) const BATON: &str = "is a baton that was exported, which goes its own way";
/// Why a backup does not travel.
const BACKUP: &str = "is a store or a backup of one, which holds the whole ledger";
/// Why an export of a ledger does not travel.
const LEDGER: &str = "is an export of a ledger (`baton log export`), which goes its own way";
/// How much of a file tells which kind it may be, in bytes.
const HEAD_BYTES: u64 = 4096;
/// Where the header of a SQLite file has the number of the program whose database it is.
const PROGRAM_AT: usize = 68;
/// The number of Baton: "Batn".
const PROGRAM: &[u8] = b"Batn";

/// The notes of encrypted exports: a file for each, named by the hash of its content.
pub(crate) struct ExportNotes(PathBuf);

impl ExportNotes {
    /// Those below a data folder.
    pub(crate) fn of(data_dir: &Path) -> Self {
        Self(data_dir.join("exports"))
    }

    /// Notes an encrypted export before it is written.
    pub(crate) fn note(&self, content: &[u8]) -> io::Result<()> {
        private_file::create_folder(&self.0)?;
        private_file::write(&self.0.join(hash(content)), b"")
    }

    fn has(&self, content: &[u8]) -> bool {
        self.0.join(hash(content)).exists()
    }

    /// Takes exports out of untracked paths; each with why it does not travel.
    pub(super) fn take_out(&self, root: &Path, paths: &mut Vec<Vec<u8>>) -> Result<Vec<LeftOut>, Fault> {
        let (mut others, mut exports) = (Vec::new(), Vec::new());
        for path in paths.drain(..) {
            match self.reason(root, &path)? {
                Some(reason) => {
                    exports.push(LeftOut { path: super::files::text(&path), reason: reason.to_owned() });
                }
                None => others.push(path),
            }
        }
        *paths = others;
        Ok(exports)
    }

    /// Why an untracked file is an export. A file that cannot be read is none here: what reads it whole says why.
    fn reason(&self, root: &Path, path: &[u8]) -> Result<Option<&'static str>, Fault> {
        if path.ends_with(b"/") {
            return Ok(None);
        }
        let Some(meta) = metadata(root, path)?.filter(fs::Metadata::is_file) else { return Ok(None) };
        let full = inside(root, path)?;
        let mut head = Vec::new();
        let read = File::open(&full).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
        if read.is_err() {
            return Ok(None);
        }
        if keys::is_encrypted(&head) {
            // A longer file is no baton.
            let is_noted =
                meta.len() <= MAX_BYTES && self.has(&fs::read(&full).map_err(fault("read", &full))?);
            return Ok(is_noted.then_some(BATON));
        }
        let is_ours = head.get(PROGRAM_AT..).is_some_and(|rest| rest.starts_with(PROGRAM));
        Ok(match head.starts_with(b"SQLite format 3\0") && is_ours {
            true => Some(BACKUP),
            false => is_ledger_export(&head).then_some(LEDGER),
        })
    }
}

/// Whether a file begins with the header of an export of a ledger.
fn is_ledger_export(head: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Header {
        #[serde(rename = "_type")]
        kind: String,
        #[serde(rename = "project_id")]
        _project_id: String,
        #[serde(rename = "format")]
        _format: i64,
        #[serde(rename = "_sum")]
        _sum: IgnoredAny,
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Header>(line).is_ok_and(|header| header.kind == "export")
}
