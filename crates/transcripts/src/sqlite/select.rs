//! Queries that take databases of every version: what a table lacks reads as nothing.

use rusqlite::types::ValueRef;

use super::{Db, Fault};

/// A larger cell is not read.
const MAX_CELL: usize = 8 * 1024 * 1024;
/// No session has so many rows; a damaged database might.
const MAX_ROWS: u64 = 5_000_000;

/// A query of one table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Select<'q> {
    /// The table.
    pub table: &'q str,
    /// The columns that are wanted, in order.
    pub columns: &'q [&'q str],
    /// Conditions and order.
    pub tail: &'q str,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Nothing there.
    Null,
    /// Text, or bytes that are text.
    Text(String),
    /// It is larger than we keep in memory.
    Oversized,
}

impl Cell {
    /// How many bytes there are to read.
    pub(crate) fn len(&self) -> usize {
        match self {
            Cell::Text(text) => text.len(),
            Cell::Null | Cell::Oversized => 0,
        }
    }
}

/// A row of a query, its columns by number.
#[derive(Debug)]
pub(crate) struct Row<'r>(&'r rusqlite::Row<'r>);

impl Db {
    /// The columns of a table; none if there is no such table.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>, Fault> {
        let mut query = self.connection.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        let names = query.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Whether there is such a table.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.columns(table).is_ok_and(|columns| !columns.is_empty())
    }

    /// Gives out rows until `each` says that it has enough. A table that is not there has no rows.
    pub(crate) fn each(
        &self,
        select: Select<'_>,
        params: &[&str],
        each: &mut dyn FnMut(&Row<'_>) -> bool,
    ) -> Result<(), Fault> {
        let known = self.columns(select.table)?;
        if known.is_empty() {
            return Ok(());
        }
        let column = |name: &&str| match known.iter().any(|known| known == name) {
            // An empty blob stands for what is too large: no tool keeps one.
            true => format!("CASE WHEN octet_length(\"{name}\") > {MAX_CELL} THEN x'' ELSE \"{name}\" END"),
            false => "NULL".to_owned(),
        };
        let columns: Vec<String> = select.columns.iter().map(column).collect();
        let text = format!("SELECT {} FROM \"{}\" {}", columns.join(", "), select.table, select.tail);
        let mut query = self.connection.prepare_cached(&text)?;
        let mut rows = query.query(rusqlite::params_from_iter(params))?;
        for _ in 0..MAX_ROWS {
            let Some(row) = rows.next()? else { return Ok(()) };
            if !each(&Row(row)) {
                return Ok(());
            }
        }
        Err(Fault::Damaged)
    }

    /// What `take` makes of the first row for which it makes something.
    pub(crate) fn first<T>(
        &self,
        select: Select<'_>,
        params: &[&str],
        take: &mut dyn FnMut(&Row<'_>) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let mut found = None;
        self.each(select, params, &mut |row| {
            found = take(row);
            found.is_none()
        })?;
        Ok(found)
    }
}

impl Row<'_> {
    /// A cell that may be large.
    pub(crate) fn cell(&self, column: usize) -> Cell {
        match self.0.get_ref(column) {
            Ok(ValueRef::Blob([])) => Cell::Oversized,
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => {
                Cell::Text(String::from_utf8_lossy(bytes).into_owned())
            }
            _ => Cell::Null,
        }
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, column: usize) -> Option<String> {
        match self.cell(column) {
            Cell::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Bytes, whatever they mean.
    pub(crate) fn bytes(&self, column: usize) -> Option<Vec<u8>> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) if !bytes.is_empty() => Some(bytes.to_vec()),
            _ => None,
        }
    }

    /// A whole number, also one kept as text or with a fraction.
    pub(crate) fn int(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column).ok()? {
            ValueRef::Integer(number) => Some(number),
            // A time in seconds fits without loss; what does not fit is no time.
            ValueRef::Real(number) if number.abs() < 9e15 => Some(number as i64),
            ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// A time in seconds, milliseconds or as text, in epoch milliseconds.
    pub(crate) fn time(&self, column: usize) -> Option<i64> {
        match self.int(column) {
            Some(number) => Some(crate::shared::time::millis(number)),
            None => crate::shared::time::lenient(&self.text(column)?),
        }
    }
}
