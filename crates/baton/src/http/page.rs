//! The web page: one file embedded in the binary, made of a few. It sends requests only to this server and runs only its own
//! scripts.

use std::sync::LazyLock;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_tools::launchers;
use sha2::{Digest, Sha256};

use super::answer::of_type;
use super::encoding::accepts_zstd;
use crate::shared_page::with_tools;

const DOCUMENT: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/style.css");
const ICON: &str = include_str!("page/icon.svg");

/// The scripts, one program in this order.
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("page/core.js"),
    include_str!("page/dialog.js"),
    include_str!("page/patch.js"),
    include_str!("page/markdown.js"),
    include_str!("page/store.js"),
    include_str!("page/events.js"),
    include_str!("page/links.js"),
    include_str!("page/labels.js"),
    include_str!("page/strips.js"),
    include_str!("page/alive.js"),
    include_str!("page/feed.js"),
    include_str!("page/inbox.js"),
    include_str!("page/lists.js"),
    include_str!("page/news.js"),
    include_str!("page/acts.js"),
    include_str!("page/things.js"),
    include_str!("page/timeline.js"),
    include_str!("page/story.js"),
    include_str!("page/thread.js"),
    include_str!("page/ledger.js"),
    include_str!("page/decisions.js"),
    include_str!("page/fleet.js"),
    include_str!("page/mail.js"),
    include_str!("page/memories.js"),
    include_str!("page/board.js"),
    include_str!("page/tree.js"),
    include_str!("page/project.js"),
    include_str!("page/search.js"),
    include_str!("page/transcripts.js"),
    include_str!("page/keys.js"),
    include_str!("page/account.js"),
    include_str!("page/main.js"),
);

/// The script with the names of the agents that a session can go on in.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<String> = launchers().map(|one| format!("'{}'", one.tool.id)).collect();
    without_comments(&with_tools(SCRIPT).replace("/*AGENTS*/", &names.join(", ")))
});

/// A script without what is for its readers alone: lines that are a comment, and indentation. Comments stand on lines of their own, and
/// no text goes over several lines.
fn without_comments(script: &str) -> String {
    let mut is_comment = false;
    let mut lines = Vec::new();
    for line in script.lines().map(str::trim) {
        let begins = line.starts_with("/**");
        if !(is_comment || begins || line.is_empty() || line.starts_with("//")) {
            lines.push(line);
        }
        is_comment = (is_comment || begins) && !line.ends_with("*/");
    }
    lines.join("\n")
}

/// The level at which the page is compressed, once.
const LEVEL: i32 = 19;

/// The page as it is sent.
struct Page {
    text: Bytes,
    compressed: Option<Bytes>,
    policy: HeaderValue,
    tag: HeaderValue,
}

/// Script and style stand in the page itself, and the policy names them by their hashes: the first view is one request, and
/// whatever an agent wrote, the browser runs and loads nothing that is not ours.
static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let icon = format!("data:image/svg+xml;base64,{}", STANDARD.encode(ICON));
    let text =
        DOCUMENT.replace("/*ICON*/", &icon).replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", &PROGRAM);
    let hash = |part: &str| STANDARD.encode(Sha256::digest(part));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hash(&PROGRAM),
        hash(STYLE)
    );
    let tag = format!("\"{}\"", hash(&text));
    Page {
        compressed: zstd::bulk::compress(text.as_bytes(), LEVEL).ok().map(Bytes::from),
        text: Bytes::from(text),
        policy: value(&policy),
        tag: value(&tag),
    }
});

/// A header of plain letters.
fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

/// The page. It contains no data of the ledger, so it needs no token.
pub(super) fn router() -> Router {
    Router::new().route("/", get(async |headers: HeaderMap| page(&headers)))
}

fn page(headers: &HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let is_known = headers.get(header::IF_NONE_MATCH) == Some(&PAGE.tag);
    let packed = PAGE.compressed.as_ref().filter(|_| accepted.is_some_and(accepts_zstd));
    let (status, body) = match (is_known, packed) {
        (true, _) => (StatusCode::NOT_MODIFIED, Bytes::new()),
        (false, packed) => (StatusCode::OK, packed.unwrap_or(&PAGE.text).clone()),
    };
    let mut response = guarded(of_type(status, "text/html; charset=utf-8", Body::from(body)));
    let headers = response.headers_mut();
    if packed.is_some() && !is_known {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("zstd"));
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(header::ETAG, PAGE.tag.clone());
    response
}

fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, PAGE.policy.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // A new version of the binary is a new page at once.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
