//! The web page: a few files embedded in the binary. It sends requests only to this server and runs only its own
//! scripts.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;

use super::answer::of_type;

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files, by their place.
static FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/page/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/page/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("/page/core.js", SCRIPT, include_str!("page/core.js")),
    ("/page/home.js", SCRIPT, include_str!("page/home.js")),
    ("/page/mail.js", SCRIPT, include_str!("page/mail.js")),
    ("/page/main.js", SCRIPT, include_str!("page/main.js")),
    ("/page/project.js", SCRIPT, include_str!("page/project.js")),
    ("/page/search.js", SCRIPT, include_str!("page/search.js")),
    ("/page/things.js", SCRIPT, include_str!("page/things.js")),
    ("/page/timeline.js", SCRIPT, include_str!("page/timeline.js")),
    ("/page/transcripts.js", SCRIPT, include_str!("page/transcripts.js")),
];

/// Whatever an agent wrote, the browser runs and loads nothing that is not ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The page's files. They contain no data of the ledger, so they need no token.
pub(super) fn router() -> Router {
    FILES.iter().fold(Router::new(), |router, &(path, kind, text)| {
        router.route(path, get(async move || file(kind, text)))
    })
}

fn file(kind: &'static str, text: &'static str) -> Response {
    let mut response = of_type(StatusCode::OK, kind, Body::from(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // A new version of the binary is a new page at once.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
