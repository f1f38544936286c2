//! The body of an answer over HTTP, up to a limit: how long it is, the other side decides.

use reqwest::Response;

/// Why a body is not there.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is longer than the limit, in bytes.
    TooLong(usize),
    /// The connection ended before it, or took too long.
    Broken(reqwest::Error),
}

/// Reads a body of at most so many bytes. What announces more is not read at all.
pub(crate) async fn read(mut response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let announced = response.content_length().map(usize::try_from);
    if announced.is_some_and(|length| length.is_ok_and(|length| length > limit)) {
        return Err(BodyError::TooLong(limit));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyError::Broken)? {
        if bytes.len() + chunk.len() > limit {
            return Err(BodyError::TooLong(limit));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// What a client reads of a server that answers with this head and then with `x` until the connection is closed.
    async fn read_from(head: &'static str) -> Result<Vec<u8>, BodyError> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            _ = stream.read(&mut [0; 1024]);
            _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes());
            while stream.write_all(&[b'x'; 100]).is_ok() {}
        });
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        read(client.get(url).send().await.expect("a head"), 1_000).await
    }

    #[tokio::test]
    async fn an_endless_body_is_read_up_to_the_limit() {
        assert!(matches!(read_from("").await, Err(BodyError::TooLong(1_000))));
        assert!(matches!(read_from("content-length: 1001\r\n").await, Err(BodyError::TooLong(1_000))));
        assert_eq!(read_from("content-length: 1000\r\n").await.expect("a body").len(), 1_000);
    }
}
