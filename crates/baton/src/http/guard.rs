//! A web page must not reach us through a browser: `Host` has to name this machine, or a configured host name (a
//! rebound DNS name is neither). Where a browser says by `Origin`, `Sec-Fetch-Site` or `Referer` that a page sends the
//! request, that page has to be ours, and what it writes has to be JSON, which no form and no `no-cors` request can
//! send. Another port of this machine is another origin. No answer carries a permission for other origins.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use baton_model::refusal::{Kind, Refusal};

use crate::share_link;

/// The names under which the server may be called.
pub(super) struct Hosts {
    names: Vec<String>,
    /// The address can be reached from elsewhere, so addresses are names too: they cannot be rebound.
    reachable: bool,
}

impl Hosts {
    /// This machine, and these names.
    pub(super) fn new(names: Vec<String>, reachable: bool) -> Self {
        Self { names, reachable }
    }

    /// Refuses a request that was not meant for this server, or that a page of another origin makes a browser send.
    fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refusal> {
        let hosts: Vec<&str> = texts(headers, header::HOST.as_str());
        let own = match hosts.as_slice() {
            [host] if self.is_ours(strip_port(host)) => *host,
            _ => return Err(foreign_refusal()),
        };
        let (origins, site) = (texts(headers, "origin"), texts(headers, "sec-fetch-site"));
        let referers = texts(headers, "referer");
        if origins.is_empty() && site.is_empty() && referers.is_empty() {
            // A program: browsers say where a request comes from.
            return Ok(());
        }
        let is_same_site = site.iter().all(|word| *word == "same-origin");
        let is_own = |origins: &[&str]| origins.iter().all(|origin| self.is_own_origin(origin, own));
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        let is_meant = match (is_read, origins.is_empty()) {
            (_, false) => is_own(&origins) && is_same_site,
            // Following a link to the page or to a share, or typing its address, shows it to the user and to no other page.
            (true, true) if path == "/" || path.starts_with(share_link::PREFIX) => true,
            (true, true) if !site.is_empty() => is_same_site || site == ["none"],
            (false, true) if !site.is_empty() => is_same_site,
            (_, true) => is_own(&referers),
        };
        match is_meant {
            false => Err(foreign_refusal()),
            true if is_read || says_json(headers) => Ok(()),
            true => Err(untyped_refusal()),
        }
    }

    /// Whether an origin is the one under which this request reached us: scheme apart, which a proxy may change, host
    /// and port are those of `Host`. Behind a proxy that changes `Host` it is a configured host name, without a port.
    fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
        let usual = match scheme {
            "http" => ":80",
            "https" => ":443",
            _ => return false,
        };
        let origin = authority.as_str().trim_end_matches(usual);
        origin.eq_ignore_ascii_case(host.trim_end_matches(usual))
            || self.names.iter().any(|own| own.eq_ignore_ascii_case(origin))
    }

    fn is_ours(&self, name: &str) -> bool {
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        is_loopback(bare)
            || self.names.iter().any(|own| own.eq_ignore_ascii_case(bare))
            || (self.reachable && bare.parse::<std::net::IpAddr>().is_ok())
    }
}

/// Lets only requests through that were meant for this server.
pub(super) async fn known_host(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    match hosts.check(request.method(), request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => super::answer::problem(&refusal.into()),
    }
}

fn foreign_refusal() -> Refusal {
    Refusal::new(
        Kind::Forbidden,
        "origin_refused",
        "the request comes from another origin or names another host",
        "call http://127.0.0.1 or http://localhost from a program, or start the server with --host NAME",
    )
}

fn untyped_refusal() -> Refusal {
    let what = "a page writes JSON only: a form's types can be sent from any page";
    Refusal::new(Kind::Forbidden, "content_type_refused", what, "send `content-type: application/json`")
}

/// Whether the body is said to be JSON, or there is none.
fn says_json(headers: &HeaderMap) -> bool {
    let kinds = texts(headers, "content-type");
    let is_json = |kind: &&str| {
        let name = kind.split(';').next().unwrap_or_default().trim();
        name.eq_ignore_ascii_case("application/json")
    };
    let is_empty = || {
        texts(headers, "transfer-encoding").is_empty()
            && texts(headers, "content-length").iter().all(|length| *length == "0")
    };
    if kinds.is_empty() { is_empty() } else { kinds.iter().all(is_json) }
}

/// Values of a header; one that is no text becomes a value that matches nothing.
fn texts<'a>(headers: &'a HeaderMap, name: &str) -> Vec<&'a str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("\u{fffd}")).collect()
}

fn strip_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str = "ok";
    const FOREIGN: &str = "origin_refused";
    const UNTYPED: &str = "content_type_refused";
    const JSON: (&str, &str) = ("content-type", "application/json");

    fn judged(method: Method, path: &str, fields: &[(&'static str, &str)]) -> &'static str {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().expect("a header"));
        }
        let hosts = Hosts::new(vec!["baton.example".into()], false);
        hosts.check(&method, path, &headers).map_or_else(|refusal| refusal.code, |()| "ok")
    }

    fn write(fields: &[(&'static str, &str)]) -> &'static str {
        judged(Method::POST, "/api/v1/ops/session_start", fields)
    }

    fn read(path: &str, fields: &[(&'static str, &str)]) -> &'static str {
        judged(Method::GET, path, fields)
    }

    #[test]
    fn programs_on_this_machine_pass() {
        for host in ["127.0.0.1:7077", "localhost", "[::1]:7077", "Baton.example:7077"] {
            assert_eq!(write(&[("host", host)]), OK, "{host}");
            // Node's fetch says this much and nothing of where it comes from.
            assert_eq!(write(&[("host", host), ("sec-fetch-mode", "cors")]), OK, "{host}");
        }
        for host in ["evil.example:7077", "127.0.0.1.evil.example", "baton.example.evil.example"] {
            assert_eq!(
                (write(&[("host", host)]), read("/", &[("host", host)])),
                (FOREIGN, FOREIGN),
                "{host}"
            );
        }
        assert_eq!((write(&[]), read("/healthz", &[])), (FOREIGN, FOREIGN), "without a host");
        assert_eq!(read("/", &[("host", "localhost"), ("host", "evil.example")]), FOREIGN, "two hosts");
    }

    #[test]
    fn only_a_page_of_ours_writes_and_only_json() {
        for (host, origin) in [
            ("127.0.0.1:7077", "http://127.0.0.1:7077"),
            ("localhost:7077", "http://localhost:7077"),
            ("[::1]:7077", "http://[::1]:7077"),
            ("localhost", "http://localhost"),
            ("baton.example", "https://baton.example"),
            ("127.0.0.1:7077", "https://baton.example"),
            ("baton.example:443", "https://baton.example"),
        ] {
            let own = [("host", host), ("origin", origin), ("sec-fetch-site", "same-origin")];
            assert_eq!(write(&[&own[..], &[JSON]].concat()), OK, "{host} {origin}");
            assert_eq!(write(&[&own[..2], &[JSON]].concat()), OK, "an older browser");
            assert_eq!(write(&own), OK, "no body");
            for kind in [
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "application/jsonp",
            ] {
                assert_eq!(write(&[&own[..], &[("content-type", kind)]].concat()), UNTYPED, "{kind}");
            }
            assert_eq!(write(&[&own[..], &[("content-length", "2")]].concat()), UNTYPED, "a body of no type");
        }
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1:7077",
            "http://[::1]:7077",
            "https://evil.example",
            "null",
            "file://",
            "http://localhost:7077.evil.example",
            "http://user@localhost:7077",
            "ftp://localhost:7077",
            "http://localhost",
            "",
        ] {
            assert_eq!(write(&[("host", "localhost:7077"), ("origin", origin), JSON]), FOREIGN, "{origin}");
            assert_eq!(
                read("/api/v1/projects", &[("host", "localhost:7077"), ("origin", origin)]),
                FOREIGN,
                "{origin}"
            );
            let preflight =
                [("host", "localhost:7077"), ("origin", origin), ("access-control-request-method", "POST")];
            assert_eq!(judged(Method::OPTIONS, "/mcp", &preflight), FOREIGN, "{origin}");
        }
        let two =
            [("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://evil.example"), JSON];
        assert_eq!(write(&two), FOREIGN, "two origins");
        for site in ["cross-site", "same-site", "none", "what"] {
            assert_eq!(write(&[("host", "localhost"), ("sec-fetch-site", site), JSON]), FOREIGN, "{site}");
            let both =
                [("host", "localhost"), ("origin", "http://localhost"), ("sec-fetch-site", site), JSON];
            assert_eq!(write(&both), FOREIGN, "{site}");
        }
        assert_eq!(write(&[("host", "localhost"), ("referer", "http://localhost:3000/x"), JSON]), FOREIGN);
        assert_eq!(write(&[("host", "localhost"), ("referer", "http://localhost/#/x"), JSON]), OK);
    }

    #[test]
    fn other_pages_read_nothing_and_may_link_to_the_page() {
        let from = |site: &'static str| [("host", "localhost"), ("sec-fetch-site", site)];
        for path in ["/api/v1/projects", "/api/v1/events", "/metrics", "/mcp", "/page/core.js", "/healthz"] {
            assert_eq!(read(path, &from("same-origin")), OK, "{path}");
            assert_eq!(read(path, &from("none")), OK, "{path} was typed");
            assert_eq!(
                (read(path, &from("cross-site")), read(path, &from("same-site"))),
                (FOREIGN, FOREIGN),
                "{path}"
            );
            assert_eq!(
                read(path, &[("host", "localhost"), ("referer", "https://evil.example/")]),
                FOREIGN,
                "{path}"
            );
        }
        assert_eq!(read("/", &from("cross-site")), OK, "a link in a chat");
    }
}
