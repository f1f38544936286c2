//! What a database consists of besides its rows, against what the migrations make.
//!
//! A trigger or a view that somebody else put into a file runs or answers with every statement of ours, and a changed table takes
//! or refuses other rows. The file is sound to SQLite all the same.

use std::collections::BTreeMap;

use baton_model::id::visible;
use rusqlite::Connection;

use super::Sqlite;
use crate::engine::fault::Fault;
use crate::migrate::{self, Migrations};

/// The most differences that are named; of more their number is.
const NAMED: usize = 20;
/// What SQLite itself makes when rows are counted for its planner.
const STATISTICS: [(&str, &str); 2] = [
    ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
];

/// A table, an index, a trigger or a view, by its kind and name.
type Key = (String, String);
/// The table that it is about, and the statement that makes it.
type Definition = (String, Option<String>);

/// The entries of a schema. More than one of a name is no schema that SQLite makes, so all are kept.
#[derive(Debug, Default, PartialEq, Eq)]
struct Schema(BTreeMap<Key, Vec<Definition>>);

impl Schema {
    fn of(conn: &Connection) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare("SELECT type, name, tbl_name, sql FROM sqlite_master")?;
        let mut rows = statement.query([])?;
        let mut schema = Self::default();
        while let Some(row) = rows.next()? {
            let (name, sql) = (row.get::<_, String>(1)?, row.get::<_, Option<String>>(3)?);
            let is_statistics = |(own, made): &(&str, &str)| name == *own && sql.as_deref() == Some(*made);
            if !STATISTICS.iter().any(is_statistics) {
                schema.0.entry((row.get(0)?, name)).or_default().push((row.get(2)?, sql));
            }
        }
        Ok(schema)
    }
}

/// How a database differs from what these migrations make; empty is their own.
pub(super) fn differences(conn: &Connection, migrations: Migrations) -> Result<Vec<String>, Fault> {
    let mut made = Sqlite::memory()?;
    migrate::bring_up_to_date(&mut made, migrations, Some(0), "memory")?;
    let fault = |error| super::error::fault(":memory:", None, error);
    let (own, found) = (Schema::of(&made.conn).map_err(fault)?, Schema::of(conn).map_err(fault)?);
    let mut differences = Vec::new();
    for (key, definitions) in &found.0 {
        match own.0.get(key) {
            None => differences
                .push(format!("it has {}, which is none of Baton's", object_name(key, definitions))),
            Some(own) if own != definitions => {
                differences.push(format!("{} is not as Baton makes it", object_name(key, definitions)));
            }
            Some(_) => {}
        }
    }
    let lost = own.0.iter().filter(|(key, _)| !found.0.contains_key(*key));
    differences.extend(lost.map(|(key, own)| format!("{} is missing", object_name(key, own))));
    let more = differences.len().saturating_sub(NAMED);
    differences.truncate(NAMED);
    if more > 0 {
        differences.push(format!("and {more} more"));
    }
    Ok(differences)
}

/// `the trigger t1 on message`
fn object_name((kind, name): &Key, definitions: &[Definition]) -> String {
    let table = definitions.first().map(|(table, _)| table).filter(|table| *table != name);
    let on = table.map(|table| format!(" on {}", visible(table))).unwrap_or_default();
    format!("the {} {}{on}", visible(kind), visible(name))
}

impl Sqlite {
    /// How its schema differs from what these migrations make.
    pub(super) fn differences(&self, migrations: Migrations) -> Result<Vec<String>, Fault> {
        differences(&self.conn, migrations)
    }
}
