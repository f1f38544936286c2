//! Values that go into statements and rows that come out of them.

use super::fault::{Fault, FaultKind};

/// One value of a parameter or of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// BIGINT; booleans are 0 and 1.
    Int(i64),
    /// TEXT.
    Text(String),
    /// BYTEA or BLOB.
    Blob(Vec<u8>),
}

impl Value {
    /// What the value is, for messages; never its content.
    fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Int(_) => "an integer",
            Self::Text(_) => "a text",
            Self::Blob(_) => "a blob",
        }
    }
}

/// Refuses what one of the engines could not store, so that both behave alike.
pub(crate) fn check_params(params: &[Value]) -> Result<(), Fault> {
    let nul = params.iter().position(|value| matches!(value, Value::Text(text) if text.contains('\0')));
    match nul {
        None => Ok(()),
        Some(at) => Err(Fault::other(format!(
            "parameter ${} holds a text with a NUL character, which PostgreSQL cannot store",
            at + 1
        ))),
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::Text(value.clone())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row, copied out of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row(pub(crate) Vec<Value>);

impl Row {
    /// Reads the columns from the first to the last.
    pub fn reader(self) -> RowReader {
        RowReader { values: self.0.into_iter(), column: 0 }
    }
}

/// Takes the columns of a row one after the other; each call advances by one column.
#[derive(Debug)]
pub struct RowReader {
    values: std::vec::IntoIter<Value>,
    column: usize,
}

impl RowReader {
    /// An integer.
    pub fn int(&mut self) -> Result<i64, Fault> {
        match self.next()? {
            Value::Int(value) => Ok(value),
            other => Err(self.mismatch("an integer", &other)),
        }
    }

    /// An integer or NULL.
    pub fn opt_int(&mut self) -> Result<Option<i64>, Fault> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            other => Err(self.mismatch("an integer or NULL", &other)),
        }
    }

    /// A text.
    pub fn text(&mut self) -> Result<String, Fault> {
        match self.next()? {
            Value::Text(value) => Ok(value),
            other => Err(self.mismatch("a text", &other)),
        }
    }

    /// A text or NULL.
    pub fn opt_text(&mut self) -> Result<Option<String>, Fault> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            other => Err(self.mismatch("a text or NULL", &other)),
        }
    }

    /// A boolean, stored as 0 or 1.
    pub fn bool(&mut self) -> Result<bool, Fault> {
        match self.next()? {
            Value::Int(0) => Ok(false),
            Value::Int(1) => Ok(true),
            other => Err(self.mismatch("0 or 1", &other)),
        }
    }

    /// A blob.
    pub fn blob(&mut self) -> Result<Vec<u8>, Fault> {
        match self.next()? {
            Value::Blob(value) => Ok(value),
            other => Err(self.mismatch("a blob", &other)),
        }
    }

    /// A blob or NULL.
    pub fn opt_blob(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        match self.next()? {
            Value::Null => Ok(None),
            Value::Blob(value) => Ok(Some(value)),
            other => Err(self.mismatch("a blob or NULL", &other)),
        }
    }

    fn next(&mut self) -> Result<Value, Fault> {
        let value = self.values.next();
        self.column += 1;
        value.ok_or_else(|| Fault::other(format!("the row has no column {}", self.column - 1)))
    }

    fn mismatch(&self, wanted: &str, found: &Value) -> Fault {
        let column = self.column - 1;
        Fault::new(
            FaultKind::Other,
            format!("column {column} should be {wanted}, but is {}", found.type_name()),
        )
    }
}
