//! A web page must not reach us through a browser: `Host` has to name this machine, or a name that the server was told
//! (a rebound DNS name is neither), and `Origin`, where there is one, the same.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use baton_model::refusal::{Kind, Refusal};

/// The names under which the server may be called.
pub struct Hosts {
    names: Vec<String>,
    /// The address can be reached from elsewhere, so addresses are names too: they cannot be rebound.
    reachable: bool,
}

impl Hosts {
    /// This machine, and these names.
    pub fn new(names: Vec<String>, reachable: bool) -> Self {
        Self { names, reachable }
    }

    fn allow(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let origin = headers.get(header::ORIGIN);
        let origin_host =
            origin.and_then(|value| value.to_str().ok()).and_then(|text| text.parse::<Uri>().ok());
        host.is_some_and(|host| self.is_ours(strip_port(host)))
            && (origin.is_none()
                || origin_host.as_ref().and_then(Uri::host).is_some_and(|name| self.is_ours(name)))
    }

    fn is_ours(&self, name: &str) -> bool {
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        is_loopback(bare)
            || self.names.iter().any(|own| own.eq_ignore_ascii_case(bare))
            || (self.reachable && bare.parse::<std::net::IpAddr>().is_ok())
    }
}

/// Lets only requests through that were meant for this server.
pub async fn known_host(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    if hosts.allow(request.headers()) {
        return next.run(request).await;
    }
    let refusal = Refusal::new(
        Kind::Forbidden,
        "origin_refused",
        "the request comes from another origin or names another host",
        "call http://127.0.0.1 or http://localhost from a program, or start the server with --host NAME",
    );
    super::answer::problem_as(StatusCode::FORBIDDEN, &refusal.into())
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

    fn check(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("host"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("origin"));
        }
        Hosts::new(vec!["baton.example".into()], false).allow(&headers)
    }

    #[test]
    fn programs_on_this_machine_pass() {
        assert!(check("127.0.0.1:7077", None));
        assert!(check("localhost", Some("http://localhost:3000")));
        assert!(check("[::1]:7077", Some("http://[::1]:7077")));
    }

    #[test]
    fn names_that_the_server_was_told_pass() {
        assert!(check("Baton.example:7077", Some("https://baton.example")));
        assert!(!check("baton.example.evil.example", None));
    }

    #[test]
    fn web_pages_and_rebound_names_do_not() {
        assert!(!check("127.0.0.1:7077", Some("https://evil.example")));
        assert!(!check("127.0.0.1:7077", Some("null")));
        assert!(!check("evil.example:7077", None));
        assert!(!check("127.0.0.1.evil.example", None));
    }

    #[test]
    fn a_request_without_a_host_does_not() {
        assert!(!Hosts::new(Vec::new(), true).allow(&HeaderMap::new()));
    }
}
