//! The webhook: each delta of a project reaches its receiver.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::http::Server;
use crate::stage::{Stage, items, text};

/// What the receiver was sent.
pub(crate) struct Post {
    pub headers: HashMap<String, String>,
    pub body: String,
}

/// A receiver that answers with these statuses, one after the other, then always with the last.
pub(crate) fn receiver(statuses: &'static [u16]) -> (String, Receiver<Post>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/hook", listener.local_addr().expect("address"));
    let (send, posts) = channel();
    std::thread::spawn(move || {
        let mut n = 0;
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let mut headers = HashMap::new();
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some((name, value)) = line.split_once(':') {
                    headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
                }
                line.clear();
            }
            let length = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            // Cut off by the sender's death: nobody took it.
            if headers.is_empty() || reader.read_exact(&mut body).is_err() {
                continue;
            }
            let status = statuses.get(n).or(statuses.last()).copied().unwrap_or(200);
            let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = reader.get_mut().write_all(answer.as_bytes());
            let body = String::from_utf8(body).expect("text");
            n += 1;
            if send.send(Post { headers, body }).is_err() {
                break;
            }
        }
    });
    (url, posts)
}

/// A project with a webhook, and a server that posts.
fn hooked(url: &str, secret: Option<&str>) -> (Stage, Server) {
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["project", "set", "--webhook", url]);
    let mut terminal = stage.terminal("Server");
    if let Some(secret) = secret {
        terminal.set("BATON_WEBHOOK_SECRET", secret);
    }
    let server = Server::start(&terminal);
    (stage, server)
}

/// Takes what comes until so many have come, then sees that no more do.
fn take(posts: &Receiver<Post>, count: usize) -> Vec<Post> {
    let mut taken: Vec<Post> = (0..count)
        .map(|n| {
            posts.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|e| panic!("{n} of {count}: {e}"))
        })
        .collect();
    match posts.recv_timeout(Duration::from_millis(700)) {
        Err(RecvTimeoutError::Timeout) => {}
        Ok(post) => taken.push(post),
        Err(error) => panic!("{error}"),
    }
    taken
}

fn signature(text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(b"s3cret").expect("any length");
    mac.update(text.as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

#[allow(clippy::disallowed_methods, reason = "a test reads the clock that the server reads")]
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("after 1970").as_secs()).expect("seconds")
}

#[test]
fn each_delta_is_posted_once_and_signed() {
    let (url, posts) = receiver(&[200]);
    let (stage, _server) = hooked(&url, Some("s3cret"));
    let known = stage.deltas();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["note", "naïve 🏃"]);
    lola.json(&["wrap", "--summary", "x"]);
    stage.terminal("Donna").json(&["pickup"]);

    let expected: Vec<Value> = stage.ledger("shop").split_off(known);
    assert_eq!(expected.len(), 4);
    // The change that set the webhook may be the first thing it hears of.
    let mut taken = take(&posts, 4);
    taken.retain(|post| !post.body.contains("\"other\""));
    let mut bodies: Vec<Value> =
        taken.iter().map(|post| serde_json::from_str(&post.body).expect("a delta")).collect();
    bodies.sort_by_key(|delta| delta["seq"].as_i64());
    assert_eq!(bodies, expected, "each exactly once, as the log shows it");
    for post in &taken {
        // As docs/server.md tells a receiver to do it.
        let header = |name: &str| post.headers.get(name).cloned().unwrap_or_else(|| panic!("no {name}"));
        let (at, id) = (header("baton-timestamp"), header("baton-effect-id"));
        assert_eq!(header("baton-signature-v2"), signature(&format!("{at}.{id}.{}", post.body)));
        let age = now() - at.parse::<i64>().expect("seconds");
        assert!((0..300).contains(&age), "{age}");
        assert_eq!(header("baton-signature"), signature(&post.body), "for receivers that know no other yet");
        assert_eq!(post.headers.get("content-type").map(String::as_str), Some("application/json"));
    }
}

/// Fails unless something that was refused for now comes again, and what is noted meanwhile comes, too.
fn comes_again(stage: &Stage, posts: &Receiver<Post>) {
    let noted = text(&stage.terminal("Lola").json(&["note", "again"]), "delta_id");
    let id = |post: &Post| post.headers.get("baton-effect-id").cloned().expect("an id");
    let mut taken: Vec<Post> = Vec::new();
    // The first post is refused, whichever delta it brings, and comes again; none of the others does.
    let again = |taken: &[Post]| taken[1..].iter().any(|post| id(post) == id(&taken[0]));
    let heard = |taken: &[Post]| taken.iter().any(|post| post.body.contains(&noted));
    while taken.len() < 2 || !again(&taken) || !heard(&taken) {
        taken
            .push(posts.recv_timeout(Duration::from_secs(30)).expect("it is tried again, under the same id"));
    }
    taken.extend(take(posts, 0));
    let ids: HashSet<String> = taken.iter().map(id).collect();
    assert_eq!(ids.len() + 1, taken.len(), "one came twice: {ids:?}");
    assert!(
        taken.iter().all(|post| !post.headers.keys().any(|name| name.starts_with("baton-signature"))),
        "no secret, no signature"
    );
}

#[test]
fn what_was_refused_for_now_is_tried_again() {
    let (url, posts) = receiver(&[503, 200]);
    let (stage, _server) = hooked(&url, None);
    comes_again(&stage, &posts);
}

#[test]
fn a_server_whose_log_nobody_reads_goes_on_posting() {
    let (url, posts) = receiver(&[503, 200]);
    let stage = Stage::ready();
    let _server = Server::start_unheard(&stage.terminal("Server"));
    // That the first was refused is logged, into a pipe without a reader.
    stage.terminal("Lola").json(&["project", "set", "--webhook", &url]);
    comes_again(&stage, &posts);
}

#[test]
fn a_project_without_a_webhook_posts_nothing_and_a_bad_one_is_refused() {
    let (url, posts) = receiver(&[200]);
    let (stage, _server) = hooked(&url, None);
    let lola = stage.terminal("Lola");
    lola.json(&["project", "set", "--webhook", ""]);
    while posts.recv_timeout(Duration::from_millis(700)).is_ok() {}
    lola.json(&["note", "quiet"]);
    assert_eq!(take(&posts, 0).len(), 0);
    for bad in ["ftp://x", "not a url", "file:///etc/passwd"] {
        lola.refused(1, "webhook_invalid", &["project", "set", "--webhook", bad]);
    }
    assert_eq!(items(&lola.json(&["log", "--kind", "note"])).len(), 1);
}

/// A connection that has sent the head of a call of GitHub's webhook.
fn begun(server: &Server, headers: &[(&str, &str)], declared: usize) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).expect("connected");
    let mut head = format!("POST /api/v1/github/webhook HTTP/1.1\r\ncontent-length: {declared}\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).expect("sent");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("timeout");
    stream
}

/// The status that comes before the body was sent.
fn at_once(stream: &mut TcpStream) -> u16 {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("an answer without a body");
    line.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{line:?}"))
}

#[test]
fn the_webhook_of_github_reads_nothing_before_all_else_is_right() {
    let stage = Stage::ready();
    let unconfigured = Server::start(&stage.terminal("Server"));
    let server = Server::start(&stage.terminal("Server").with("BATON_GITHUB_WEBHOOK_SECRET", "s3cret"));
    let local = ("host", "127.0.0.1");
    let signed = ("x-hub-signature-256", signature("x"));
    let signed = (signed.0, signed.1.as_str());
    let (issues, push) = (("x-github-event", "issues"), ("x-github-event", "push"));
    const MAX_BODY_BYTES: usize = 25 * 1024 * 1024;
    assert_eq!(at_once(&mut begun(&unconfigured, &[local, signed, push], MAX_BODY_BYTES)), 404);
    assert_eq!(at_once(&mut begun(&server, &[local, push], MAX_BODY_BYTES)), 401);
    assert_eq!(
        at_once(&mut begun(&server, &[local, push, ("x-hub-signature-256", "sha256=00")], MAX_BODY_BYTES)),
        401
    );
    assert_eq!(at_once(&mut begun(&server, &[("host", "evil.example"), signed, push], 10)), 403);
    assert_eq!(at_once(&mut begun(&server, &[local, signed, push], MAX_BODY_BYTES + 1)), 413);
    assert_eq!(at_once(&mut begun(&server, &[local, signed, issues], 3 * 1024 * 1024)), 413);
    // What is large and not about issues is compared with its signature, and not kept.
    let large = "x".repeat(3 * 1024 * 1024);
    let whole = signature(&large);
    let mut stream = begun(&server, &[local, push, ("x-hub-signature-256", &whole)], large.len());
    stream.write_all(large.as_bytes()).expect("sent");
    assert_eq!(at_once(&mut stream), 204);
}

#[test]
fn bodies_that_nobody_has_signed_fill_no_memory() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server").with("BATON_GITHUB_WEBHOOK_SECRET", "s3cret"));
    let before = server.memory();
    let signed = signature("another body");
    let mut streams: Vec<TcpStream> = Vec::new();
    for event in ["push", "issues"] {
        let headers =
            [("host", "127.0.0.1"), ("x-github-event", event), ("x-hub-signature-256", signed.as_str())];
        let (declared, sent) = if event == "push" {
            (24 * 1024 * 1024, 1024 * 1024)
        } else {
            (2 * 1024 * 1024, 2 * 1024 * 1024 - 1)
        };
        for _ in 0..40 {
            let mut stream = begun(&server, &headers, declared);
            stream.set_write_timeout(Some(Duration::from_millis(300))).expect("timeout");
            let _ = stream.write_all(&vec![b'x'; sent]);
            streams.push(stream);
        }
    }
    let grown = server.memory().saturating_sub(before);
    // 32 bodies at once, of 2 MiB at the most, and what the sockets hold.
    assert!(grown < 120 * 1024, "80 bodies hold {grown} KiB");
    // Others are served meanwhile.
    assert_eq!(
        crate::http::request(&server.address, "GET", "/readyz", b"", &[]).expect("an answer").status,
        200
    );
}
