//! Values on PostgreSQL's wire.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::engine::value::{Row, Value};

type Boxed = Box<dyn Error + Sync + Send>;

/// The type that a value is sent as; for NULL the server finds it out.
pub(super) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::UNKNOWN,
        Value::Int(_) => Type::INT8,
        Value::Text(_) => Type::TEXT,
        Value::Blob(_) => Type::BYTEA,
    }
}

/// Copies a row out of the client's buffer.
pub(super) fn decode(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    (0..row.len()).map(|at| row.try_get::<_, Value>(at)).collect::<Result<_, _>>().map(Row)
}

impl ToSql for Value {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Boxed> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Int(value) => put_int(*value, ty, out)?,
            Self::Text(value) if is_text(ty) => out.put_slice(value.as_bytes()),
            Self::Blob(value) if *ty == Type::BYTEA => out.put_slice(value),
            Self::Text(_) => return Err(format!("a text cannot be sent as {ty}").into()),
            Self::Blob(_) => return Err(format!("a blob cannot be sent as {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn put_int(value: i64, ty: &Type, out: &mut BytesMut) -> Result<(), Boxed> {
    match *ty {
        Type::INT8 => out.put_i64(value),
        Type::INT4 => out.put_i32(value.try_into()?),
        Type::INT2 => out.put_i16(value.try_into()?),
        Type::BOOL => out.put_u8(u8::from(value != 0)),
        _ => return Err(format!("an integer cannot be sent as {ty}").into()),
    }
    Ok(())
}

fn is_text(ty: &Type) -> bool {
    matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN)
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Boxed> {
        Ok(match *ty {
            Type::INT8 => Self::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(ty, raw)?.into()),
            Type::BOOL => Self::from(bool::from_sql(ty, raw)?),
            Type::BYTEA => Self::Blob(raw.to_owned()),
            _ if is_text(ty) => Self::Text(std::str::from_utf8(raw)?.to_owned()),
            _ => return Err(format!("the type {ty} is not read: CAST it to BIGINT or TEXT").into()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Boxed> {
        Ok(Self::Null)
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
