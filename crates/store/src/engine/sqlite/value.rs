//! Values on their way to SQLite and back.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::engine::value::Value;

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

/// A column of a row; a number with a point is none of ours.
pub(super) fn value(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Blob(value) => Value::Blob(value.to_owned()),
        ValueRef::Text(text) => Value::Text(str::from_utf8(text)?.to_owned()),
        ValueRef::Real(_) => {
            let name = row.as_ref().column_name(at)?.to_owned();
            return Err(rusqlite::Error::InvalidColumnType(at, name, rusqlite::types::Type::Real));
        }
    })
}
