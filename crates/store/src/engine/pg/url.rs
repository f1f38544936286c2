//! What a URL says about encryption. The client knows three of PostgreSQL's modes and no file of authorities, so both are
//! read here and taken out of what it is given.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

/// How a connection is protected: `sslmode`, as PostgreSQL's own tools mean it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Never encrypted.
    Disable,
    /// Encrypted if the server supports it; the certificate is not verified.
    Prefer,
    /// Always encrypted; the certificate is not verified.
    Require,
    /// The certificate comes from an authority that we trust.
    VerifyCa,
    /// And it names the host that was dialled.
    VerifyFull,
}

/// The trusted root certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Roots {
    /// Those that this machine trusts.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

/// A URL, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// What the client is given.
    pub(super) url: String,
    pub(super) mode: Mode,
    pub(super) roots: Roots,
}

/// Takes `sslmode` and `sslrootcert` out of a URL. The error is a sentence.
pub(super) fn parts(url: &str) -> Result<Parts, String> {
    let (before, query) = split(url);
    let (mut mode, mut roots) = (None, None);
    let mut rest = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "sslmode" => mode = Some(mode_of(value)?),
            "sslrootcert" => roots = Some(roots_of(value)?),
            _ => rest.push(pair),
        }
    }
    let mark = if rest.is_empty() { "" } else { "?" };
    let url = format!("{before}{mark}{}", rest.join("&"));
    // A file of authorities that is named is meant to be used, as PostgreSQL's own tools do.
    let mode = match (mode, &roots) {
        (Some(Mode::Require), Some(_)) => Mode::VerifyCa,
        (Some(mode), _) => mode,
        (None, Some(_)) => Mode::VerifyFull,
        (None, None) => Mode::Prefer,
    };
    Ok(Parts { url, mode, roots: roots.unwrap_or(Roots::System) })
}

/// The query begins at the first question mark after user and password.
fn split(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let host = url[host..].find('@').map_or(host, |at| host + at + 1);
    match url[host..].find('?') {
        Some(at) => (&url[..host + at], &url[host + at + 1..]),
        None => (url, ""),
    }
}

fn mode_of(value: &str) -> Result<Mode, String> {
    Ok(match value {
        "disable" => Mode::Disable,
        "prefer" => Mode::Prefer,
        "require" => Mode::Require,
        "verify-ca" => Mode::VerifyCa,
        "verify-full" => Mode::VerifyFull,
        _ => return Err("sslmode is one of disable, prefer, require, verify-ca, verify-full".into()),
    })
}

fn roots_of(value: &str) -> Result<Roots, String> {
    let path = percent_decode_str(value).decode_utf8();
    match path.as_deref() {
        Ok("") | Err(_) => Err("sslrootcert names a PEM file, or `system`".into()),
        Ok("system") => Ok(Roots::System),
        Ok(path) => Ok(Roots::File(path.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, rest: &str, mode: Mode, roots: Roots) {
        assert_eq!(parts(url), Ok(Parts { url: rest.into(), mode, roots }), "{url}");
    }

    #[test]
    fn every_mode_is_read_and_taken_out() {
        use Mode::{Disable, Prefer, Require, VerifyCa, VerifyFull};
        check("postgres://u@h/d", "postgres://u@h/d", Prefer, Roots::System);
        check("postgres://h/d?sslmode=disable", "postgres://h/d", Disable, Roots::System);
        check("postgres://h/d?a=b&sslmode=prefer&c=d", "postgres://h/d?a=b&c=d", Prefer, Roots::System);
        check("postgres://h/d?sslmode=require", "postgres://h/d", Require, Roots::System);
        check("postgres://h?sslmode=verify-ca&sslrootcert=system", "postgres://h", VerifyCa, Roots::System);
        let file = Roots::File("/etc/my ca.pem".into());
        check(
            "postgres://h/d?sslrootcert=/etc/my%20ca.pem&sslmode=verify-full",
            "postgres://h/d",
            VerifyFull,
            file,
        );
    }

    #[test]
    fn a_named_authority_is_always_asked() {
        let file = || Roots::File("ca.pem".into());
        check("postgres://h/d?sslmode=require&sslrootcert=ca.pem", "postgres://h/d", Mode::VerifyCa, file());
        check("postgres://h/d?sslrootcert=ca.pem", "postgres://h/d", Mode::VerifyFull, file());
    }

    #[test]
    fn a_password_may_hold_a_question_mark() {
        let url = "postgres://u:p?sslmode=x@h/d?sslmode=require";
        check(url, "postgres://u:p?sslmode=x@h/d", Mode::Require, Roots::System);
    }

    #[test]
    fn what_is_no_mode_is_refused_by_its_name() {
        for url in ["postgres://h/d?sslmode=maybe", "postgres://h/d?sslmode", "postgres://h/d?sslrootcert="] {
            assert!(parts(url).is_err(), "{url}");
        }
    }
}
