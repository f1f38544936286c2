//! The key-value tables of Cursor's editor, and the blobs of its command line.

use super::{Cell, Db, Fault, Select};

const ENTRIES: &str = "cursorDiskKV";
const ITEMS: &str = "ItemTable";

/// Every conversation of the editor: its id.
pub(crate) fn conversation_ids(db: &Db, each: &mut dyn FnMut(String)) -> Result<(), Fault> {
    if !db.has(ENTRIES) {
        return Err(Fault::Damaged);
    }
    // The semicolon follows the colon: this is every key that begins with the word.
    let tail = "WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL ORDER BY rowid";
    db.each(Select { table: ENTRIES, columns: &["key"], tail }, &[], &mut |row| {
        let key = row.text(0).unwrap_or_default();
        key.strip_prefix("composerData:").into_iter().for_each(|id| each(id.to_owned()));
        true
    })
}

/// The value of a key in the table of conversations.
pub(crate) fn entry(db: &Db, key: &str) -> Result<Cell, Fault> {
    value(db, ENTRIES, key)
}

/// The value of a key in the table of settings.
pub(crate) fn item(db: &Db, key: &str) -> Result<Cell, Fault> {
    value(db, ITEMS, key)
}

fn value(db: &Db, table: &str, key: &str) -> Result<Cell, Fault> {
    let select = Select { table, columns: &["value"], tail: "WHERE key = ?1 LIMIT 1" };
    Ok(db.first(select, &[key], &mut |row| Some(row.cell(0)))?.unwrap_or(Cell::Null))
}

/// What the command line's database says of its conversation: JSON in hexadecimal digits.
pub(crate) fn meta(db: &Db) -> Result<Option<Vec<u8>>, Fault> {
    if !db.has("meta") || !db.has("blobs") {
        return Err(Fault::Damaged);
    }
    let select = Select { table: "meta", columns: &["value"], tail: "WHERE key = '0' LIMIT 1" };
    db.first(select, &[], &mut |row| row.bytes(0))
}

/// A blob of the command line's database.
pub(crate) fn blob(db: &Db, id: &str) -> Result<Option<Vec<u8>>, Fault> {
    let select = Select { table: "blobs", columns: &["data"], tail: "WHERE id = ?1 LIMIT 1" };
    db.first(select, &[id], &mut |row| row.bytes(0))
}
