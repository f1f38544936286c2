//! As much HTTP/1.1 as the emulator needs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

use crate::answer::Answer;

/// The largest body that is read.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// A call.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query as they came.
    pub target: String,
    /// The path without its query.
    pub path: String,
    /// The query.
    pub query: BTreeMap<String, String>,
    /// Headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body as JSON; null where there is none.
    pub body: Value,
}

/// A connection that is kept alive.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> std::io::Result<Self> {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30)))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// The next request; nothing when the other side has gone.
    pub(crate) fn read(&mut self) -> Option<Request> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let headers = self.headers()?;
        let length = headers.get("content-length").and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        let mut body = vec![0; length.min(MAX_BODY)];
        self.0.read_exact(&mut body).ok()?;
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let query =
            query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (decoded(k), decoded(v)));
        Some(Request {
            method,
            path: decoded(path),
            query: query.collect(),
            target: target.clone(),
            headers,
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        })
    }

    fn headers(&mut self) -> Option<BTreeMap<String, String>> {
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { return Some(headers) };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }

    /// Writes an answer; says whether it arrived.
    pub(crate) fn write(&mut self, answer: &Answer) -> bool {
        let stream = self.0.get_mut();
        stream.write_all(&bytes(answer)).and_then(|()| stream.flush()).is_ok()
    }

    /// Writes the beginning of an answer and ends.
    pub(crate) fn write_half(&mut self, answer: &Answer) {
        let bytes = bytes(answer);
        let _ = self.0.get_mut().write_all(&bytes[..bytes.len() / 2]);
        self.end();
    }

    /// Ends the connection.
    pub(crate) fn end(&mut self) {
        let _ = self.0.get_mut().shutdown(Shutdown::Both);
    }
}

fn bytes(answer: &Answer) -> Vec<u8> {
    let body = if answer.body.is_null() { String::new() } else { answer.body.to_string() };
    let mut head =
        format!("HTTP/1.1 {} X\r\ncontent-type: application/json; charset=utf-8\r\n", answer.status);
    for (name, value) in &answer.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
    let mut bytes = head.into_bytes();
    bytes.extend(body.into_bytes());
    bytes
}

/// Percent signs and plus signs of a query undone.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let hex: Vec<u8> = rest.by_ref().take(2).collect();
                let value = std::str::from_utf8(&hex).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                bytes.extend(value);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
