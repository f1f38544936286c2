//! The mark of what is committed: who follows the ledgers asks for it before it reads them.

use super::{OpenMode, Sqlite};
use crate::engine::fault::Fault;

impl Sqlite {
    /// SQLite counts for each connection how often it found that others had committed. So the mark names the connection, and only one that
    /// never writes has a mark: its own commits are not counted. A file that is opened as one that does not change has none.
    pub(super) fn read_mark(&mut self) -> Result<Option<String>, Fault> {
        if self.access != OpenMode::ReadOnly || self.immutable_stamp.is_some() {
            return Ok(None);
        }
        let version = self.pragma::<i64>("PRAGMA data_version")?;
        let name = match self.mark_name.take() {
            Some(name) => name,
            None => self.pragma("SELECT hex(randomblob(8))")?,
        };
        let mark = format!("{name}/{version}");
        self.mark_name = Some(name);
        Ok(Some(mark))
    }
}
