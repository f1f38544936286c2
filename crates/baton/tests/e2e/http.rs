//! A server that is started and stopped, and just enough of HTTP to talk to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::Terminal;

/// A running `baton serve`; it is killed when the test ends without stopping it.
pub(crate) struct Server {
    child: Child,
    pub address: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub status: u16,
    pub kind: String,
    pub body: String,
    head: String,
}

impl Response {
    /// A header.
    pub(crate) fn header(&self, wanted: &str) -> Option<String> {
        let mut fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_owned())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl Server {
    /// Starts a server on a free port and waits until it serves.
    pub(crate) fn start(terminal: &Terminal<'_>) -> Self {
        Self::start_with(terminal, &[])
    }

    /// The same with more flags.
    pub(crate) fn start_with(terminal: &Terminal<'_>, flags: &[&str]) -> Self {
        Self::start_at(terminal, "127.0.0.1:0", flags)
    }

    /// Starts a server at this address.
    pub(crate) fn start_at(terminal: &Terminal<'_>, address: &str, flags: &[&str]) -> Self {
        let (server, mut lines) = Self::spawn(terminal, address, flags);
        // What it says later must find a reader.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        server
    }

    /// Starts a server whose log nobody reads any more once it has said where it serves.
    pub(crate) fn start_unheard(terminal: &Terminal<'_>) -> Self {
        Self::spawn(terminal, "127.0.0.1:0", &[]).0
    }

    fn spawn(terminal: &Terminal<'_>, address: &str, flags: &[&str]) -> (Self, BufReader<ChildStderr>) {
        let args: Vec<&str> = ["serve", "--listen", address].iter().chain(flags).copied().collect();
        let mut command = terminal.command(&args);
        let mut child = command.stdout(Stdio::null()).spawn().expect("baton serves");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr"));
        let mut output = String::new();
        // It may have something to remark before it says where it is.
        while lines.read_line(&mut output).expect("it says where") > 0 && !output.contains(" serves on ") {}
        let address =
            output.trim().rsplit_once("://").unwrap_or_else(|| panic!("no address: {output}")).1.to_owned();
        (Self { child, address }, lines)
    }

    /// Runs an operation.
    pub(crate) fn call(&self, operation: &str, input: &Value) -> Response {
        post(&self.address, operation, input, &[]).unwrap_or_else(|| panic!("no answer to {operation}"))
    }

    /// The answer of an operation that succeeds.
    pub(crate) fn ok(&self, operation: &str, input: &Value) -> Value {
        let response = self.call(operation, input);
        assert_eq!(response.status, 200, "{operation}: {response:#?}");
        response.json()
    }

    /// The memory that the server has now, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("its status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").trim().parse().expect("a number")
    }

    /// Tells the server to stop and does not wait.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    }

    /// Waits for the end and returns the exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(30) {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server does not end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The header that says who calls.
pub(crate) fn caller(identity: &str, project: &str) -> String {
    json!({ "identity": identity, "project": project, "machine": "m", "process": format!("p-{identity}"), "folders": [format!("/srv/{project}")] }).to_string()
}

/// Posts to an operation; `None` when the server did not answer to the end.
pub(crate) fn post(
    address: &str,
    operation: &str,
    input: &Value,
    headers: &[(&str, &str)],
) -> Option<Response> {
    request(address, "POST", &format!("/api/v1/ops/{operation}"), input.to_string().as_bytes(), headers)
}

/// One request on a connection of its own.
pub(crate) fn request(
    address: &str,
    method: &str,
    path: &str,
    body: &[u8],
    headers: &[(&str, &str)],
) -> Option<Response> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("timeout");
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // A server that refuses early may close before it has read everything.
    let _ = stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    parse(&bytes)
}

fn parse(bytes: &[u8]) -> Option<Response> {
    let text = String::from_utf8_lossy(bytes);
    let (head, rest) = text.split_once("\r\n\r\n")?;
    let field = |wanted: &str| {
        head.lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, v)| v.trim())
    };
    let body = match (field("content-length"), field("transfer-encoding")) {
        (Some(length), _) => rest.get(..length.parse().ok()?)?.to_owned(),
        (None, Some("chunked")) => unchunk(rest)?,
        (None, _) => rest.to_owned(),
    };
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let kind = field("content-type").unwrap_or_default().to_owned();
    Some(Response { status, kind, body, head: head.to_owned() })
}

/// A body in chunks; `None` when the last one is missing.
fn unchunk(mut rest: &str) -> Option<String> {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n")?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.push_str(after.get(..size)?);
        rest = after.get(size + 2..)?;
    }
}
