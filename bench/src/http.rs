//! As much of HTTP/1.1 as a benchmark needs: one connection kept open, a request after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// A connection to a server.
pub struct Client {
    stream: BufReader<TcpStream>,
    /// Who calls, as an agent's command line would say it.
    caller: String,
}

impl Client {
    /// Connects.
    pub fn new(address: SocketAddr) -> Result<Self> {
        Self::in_folder(address, "/bench")
    }

    /// Connects, as one who works in a folder of this project alone.
    pub fn of_project(address: SocketAddr, project: &str) -> Result<Self> {
        Self::in_folder(address, &format!("/bench/{project}"))
    }

    fn in_folder(address: SocketAddr, folder: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let caller =
            json!({ "surface": "human", "machine": "bench", "process": "bench", "folders": [folder] });
        Ok(Self { stream: BufReader::new(stream), caller: caller.to_string() })
    }

    /// Calls an operation and returns its answer, unread.
    pub fn call(&mut self, operation: &str, input: &Value) -> Result<Vec<u8>> {
        let body = input.to_string();
        let request = format!(
            "POST /api/v1/ops/{operation} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Baton-Caller: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.caller,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (status, answer) = self.answer()?;
        if status != 200 {
            bail!("{operation}: {status} {}", String::from_utf8_lossy(&answer));
        }
        Ok(answer)
    }

    /// Gets a path; returns the answer, unread.
    pub fn get(&mut self, path: &str) -> Result<Vec<u8>> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (status, answer) = self.answer()?;
        if status != 200 {
            bail!("{path}: {status} {}", String::from_utf8_lossy(&answer));
        }
        Ok(answer)
    }

    /// Opens a stream of events; from here on [`heard`](Self::heard) waits for what comes.
    pub fn listen(&mut self) -> Result<()> {
        let request = "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        self.stream.get_mut().write_all(request.as_bytes())?;
        while !self.line()?.starts_with(": here") {}
        Ok(())
    }

    /// Waits for an event that holds this word.
    pub fn wait_for_event(&mut self, word: &str) -> Result<()> {
        while !self.line()?.contains(word) {}
        Ok(())
    }

    fn answer(&mut self) -> Result<(u16, Vec<u8>)> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status")?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse()?,
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                Some(_) => {}
                None => break,
            }
        }
        if !chunked {
            return Ok((status, self.bytes(length)?));
        }
        let mut body = Vec::new();
        loop {
            let size = usize::from_str_radix(self.line()?.trim(), 16)?;
            let chunk = self.bytes(size)?;
            self.line()?;
            if size == 0 {
                return Ok((status, body));
            }
            body.extend(chunk);
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            bail!("the server closed the connection");
        }
        Ok(line.trim_end().to_owned())
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
