//! What readers ask alike of tables in which every row is a session.

use std::path::Path;

use super::{Db, Fault, Select, open};
use crate::header::TranscriptFile;
use crate::shared::emit::EventEmitter;

/// Where a tool keeps its sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// Their table, with an `id`.
    pub table: &'static str,
    /// The table of their messages, without which there is nothing to read.
    pub messages: &'static str,
    /// The column that names whose sub-agent a session is, where the tool has them.
    pub parent: Option<&'static str>,
    /// The column with the time of its beginning.
    pub created: &'static str,
    /// The column with the time of its last change.
    pub updated: &'static str,
}

impl Sessions {
    /// Gives out the sessions of a database, see [`super::find`].
    pub(crate) fn find(&self, agent: &'static str, path: &Path, found: &mut dyn FnMut(TranscriptFile)) {
        super::find(agent, path, |db, each| self.all(db, each), found);
    }

    /// Every session with the time of its last change.
    pub(super) fn all(&self, db: &Db, each: &mut dyn FnMut(String, Option<i64>)) -> Result<(), Fault> {
        if !db.has(self.table) || !db.has(self.messages) {
            return Err(Fault::Damaged);
        }
        let select = Select { table: self.table, columns: &["id", self.updated], tail: "" };
        db.each(select, &[], &mut |row| {
            row.text(0).into_iter().for_each(|id| each(id, row.time(1)));
            true
        })
    }

    /// The session that changed last and is no sub-agent.
    pub(crate) fn newest(&self, db: &Db) -> Result<Option<String>, Fault> {
        let own = self.parent(db)?.map(|parent| format!("WHERE {parent} IS NULL OR {parent} = ''"));
        let own = own.unwrap_or_default();
        let tail = format!("{own} ORDER BY {} DESC LIMIT 1", self.updated);
        let select = Select { table: self.table, columns: &["id"], tail: &tail };
        db.first(select, &[], &mut |row| row.text(0))
    }

    /// The sub-agents of a session, oldest first.
    pub(crate) fn children(&self, db: &Db, id: &str) -> Result<Vec<String>, Fault> {
        let Some(parent) = self.parent(db)? else { return Ok(Vec::new()) };
        let tail = format!("WHERE {parent} = ?1 ORDER BY {}, id", self.created);
        let mut ids = Vec::new();
        db.each(Select { table: self.table, columns: &["id"], tail: &tail }, &[id], &mut |row| {
            ids.extend(row.text(0));
            true
        })?;
        Ok(ids)
    }

    /// The column with the id of the parent session; nothing in a database of an older version of the tool.
    fn parent(&self, db: &Db) -> Result<Option<&'static str>, Fault> {
        let columns = db.columns(self.table)?;
        Ok(self.parent.filter(|parent| columns.iter().any(|column| column == parent)))
    }

    /// Reads the session of this key, or the newest; what is wrong with the database is a complaint.
    pub(crate) fn read(
        &self,
        emitter: &mut EventEmitter<'_>,
        path: &Path,
        key: Option<&str>,
        read: impl FnOnce(&mut EventEmitter<'_>, &Db, &str) -> Result<(), Fault>,
    ) {
        let done = open(path).and_then(|db| {
            let id = key.map_or_else(|| self.newest(&db), |key| Ok(Some(key.to_owned())))?;
            id.map_or(Ok(()), |id| read(emitter, &db, &id))
        });
        if let Err(fault) = done {
            emitter.complain(fault.kind());
        }
    }
}
