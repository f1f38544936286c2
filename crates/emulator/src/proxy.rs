//! A proxy before any server that speaks plain HTTP: it lets calls go wrong, and remembers what was asked and answered.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::answer::{Answer, ok};
use crate::http::Request;
use crate::service::Service;
use crate::{Script, lock};

/// Headers of answers that are passed on.
const PASSED: [&str; 8] = [
    "etag",
    "link",
    "location",
    "retry-after",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-resource",
];

/// A call and what the server answered, whatever became of the answer.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// What was asked.
    pub request: Request,
    /// The answer's status.
    pub status: u16,
    /// The answer's body as JSON; null where there is none.
    pub body: Value,
}

struct Shared {
    upstream: String,
    exchanges: Mutex<Vec<Exchange>>,
}

/// A running proxy; it ends when it is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
    service: Service,
}

impl Proxy {
    /// Starts one before a server: `127.0.0.1:4001`, or a URL of it.
    pub fn start(upstream: &str, script: Option<Script>) -> std::io::Result<Self> {
        let upstream = upstream.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let shared = Arc::new(Shared { upstream, exchanges: Mutex::default() });
        let serving = Arc::clone(&shared);
        let service =
            Service::start(listener, (Duration::ZERO, script), move |request| forward(request, &serving))?;
        Ok(Self { shared, service })
    }

    /// Where it listens, as a URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.service.address())
    }

    /// Replaces the scripted failures.
    pub fn script(&self, script: Option<Script>) {
        self.service.script(script);
    }

    /// What went through so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.shared.exchanges).clone()
    }
}

/// Passes a call on; a server that does not answer is a bad gateway.
fn forward(request: &Request, shared: &Shared) -> Answer {
    let answer = forward_request(request, &shared.upstream).unwrap_or_else(|| ok(502, Value::Null));
    let (status, body) = (answer.status, answer.body.clone());
    lock(&shared.exchanges).push(Exchange { request: request.clone(), status, body });
    answer
}

fn forward_request(request: &Request, upstream: &str) -> Option<Answer> {
    let mut stream = TcpStream::connect(upstream).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let body = if request.body.is_null() { String::new() } else { request.body.to_string() };
    let mut head = format!(
        "{} {} HTTP/1.1\r\nhost: {upstream}\r\nconnection: close\r\n",
        request.method, request.target
    );
    for (name, value) in &request.headers {
        if !["host", "connection", "content-length", "transfer-encoding", "accept-encoding"]
            .contains(&name.as_str())
        {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok()?;
    parsed(&bytes)
}

fn parsed(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let rest = bytes.get(end + 4..)?;
    let field = |wanted: &str| {
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_owned())
    };
    let chunked = field("transfer-encoding").is_some_and(|kind| kind.eq_ignore_ascii_case("chunked"));
    let body = if chunked { unchunked(rest)? } else { rest.to_vec() };
    let mut answer =
        ok(head.split(' ').nth(1)?.parse().ok()?, serde_json::from_slice(&body).unwrap_or(Value::Null));
    answer.headers = PASSED.into_iter().filter_map(|name| Some((name, field(name)?))).collect();
    Some(answer)
}

/// A body in chunks, put together.
fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(rest.get(..end)?).ok()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend(rest.get(end + 2..end + 2 + size)?);
        rest = rest.get(end + 4 + size..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_whole_or_in_chunks() {
        let whole = parsed(b"HTTP/1.1 201 Created\r\nETag: \"a\"\r\nContent-Length: 7\r\n\r\n{\"a\":1}")
            .expect("an answer");
        assert_eq!((whole.status, whole.body["a"].as_i64(), whole.headers.len()), (201, Some(1), 1));
        let chunks =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n";
        assert_eq!(parsed(chunks).expect("an answer").body["a"].as_i64(), Some(1));
        assert!(parsed(b"HTTP/1.1 200 OK\r\n").is_none() && unchunked(b"9\r\ncut").is_none());
    }
}
