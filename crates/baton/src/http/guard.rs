//! On loopback without tokens the local user is trusted, but a web page must not reach us: `Host` has to name this
//! machine (a rebound DNS name does not) and `Origin`, where there is one, too.

use axum::extract::Request;
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use baton_model::refusal::{Kind, Refusal};

/// Lets only requests through that were meant for this machine by somebody on it.
pub async fn local_only(request: Request, next: Next) -> Response {
    if is_local(request.headers()) {
        return next.run(request).await;
    }
    let refusal = Refusal::new(
        Kind::Refused,
        "origin_refused",
        "the request comes from another origin or names another host",
        "call http://127.0.0.1 or http://localhost from a program, not from a web page",
    );
    super::problem_as(axum::http::StatusCode::FORBIDDEN, &refusal.into())
}

fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let origin = headers.get(header::ORIGIN);
    let origin_host = origin.and_then(|value| value.to_str().ok()).and_then(|text| text.parse::<Uri>().ok());
    host.is_some_and(|host| is_loopback(strip_port(host)))
        && (origin.is_none() || origin_host.as_ref().and_then(Uri::host).is_some_and(is_loopback))
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
        is_local(&headers)
    }

    #[test]
    fn programs_on_this_machine_pass() {
        assert!(check("127.0.0.1:7077", None));
        assert!(check("localhost", Some("http://localhost:3000")));
        assert!(check("[::1]:7077", Some("http://[::1]:7077")));
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
        assert!(!is_local(&HeaderMap::new()));
    }
}
