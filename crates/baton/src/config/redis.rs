//! The Redis that keeps live state beside the ledger.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use baton_model::id::visible;
use baton_model::refusal::Refusal;

/// A host with a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Name or address.
    pub host: String,
    /// Port.
    pub port: u16,
}

/// Where a Redis is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// One server.
    One(Node),
    /// One server, behind a socket of this machine.
    Socket(PathBuf),
    /// Whichever server these Sentinels name the master of a service.
    Sentinel(Vec<Node>, String),
    /// A cluster, of which these are some.
    Cluster(Vec<Node>),
}

/// How a Redis is reached.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Redis {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Whether it is spoken to over TLS.
    pub is_secure: bool,
    /// The number of the database.
    pub database: i64,
    /// The user name for authentication.
    pub user: Option<String>,
    /// With which password.
    pub password: Option<String>,
}

impl fmt::Display for Redis {
    /// Its URL without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.is_secure { "s" } else { "" };
        let user = match (&self.user, &self.password) {
            (None, None) => String::new(),
            (user, None) => format!("{}@", user.as_deref().unwrap_or_default()),
            (user, Some(_)) => format!("{}:[hidden]@", user.as_deref().unwrap_or_default()),
        };
        let database = if self.database == 0 { String::new() } else { format!("/{}", self.database) };
        match &self.endpoint {
            Endpoint::One(node) => write!(f, "redis{s}://{user}{node}{database}"),
            Endpoint::Socket(path) => write!(f, "unix://{}", path.display()),
            Endpoint::Sentinel(nodes, service) => {
                write!(f, "redis{s}+sentinel://{user}{}/{service}{database}", join_nodes(nodes))
            }
            Endpoint::Cluster(nodes) => write!(f, "redis{s}+cluster://{user}{}", join_nodes(nodes)),
        }
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

fn join_nodes(nodes: &[Node]) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The Redis of the settings, if there is one.
pub(super) fn read(origins: &BTreeMap<&'static str, (String, String)>) -> Result<Option<Redis>, Refusal> {
    let Some((url, origin)) = origins.get("redis_url") else { return Ok(None) };
    parse(url.trim()).map(Some).map_err(|why| {
        // The value itself is not shown: what cannot be read may hold a password anywhere.
        let what = format!("`redis_url` ({}) cannot be used: {why}", visible(origin));
        let hint = "write it as redis://HOST:6379, rediss://USER:PASSWORD@HOST/1, unix:///run/redis.sock, \
                    redis+sentinel://HOST,HOST/SERVICE or redis+cluster://HOST,HOST";
        Refusal::invalid("redis_url_invalid", what, hint)
    })
}

fn parse(url: &str) -> Result<Redis, &'static str> {
    let (scheme, rest) = url.split_once("://").ok_or("it is no URL")?;
    if rest.contains(char::is_whitespace) {
        return Err("it has a space in it");
    }
    if scheme == "unix" || scheme == "redis+unix" {
        return socket(rest);
    }
    if rest.contains(['?', '#']) {
        return Err("it takes no parameters");
    }
    let (access, rest) = rest.rsplit_once('@').map_or((None, rest), |(access, rest)| (Some(access), rest));
    let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.trim_end_matches('/');
    let is_secure = scheme.starts_with("rediss");
    let (place, database) = match scheme {
        "redis" | "rediss" => {
            let mut nodes = nodes(hosts, 6379)?;
            let node = nodes.pop().filter(|_| nodes.is_empty()).ok_or("it names several hosts")?;
            (Endpoint::One(node), number(path)?)
        }
        "redis+sentinel" | "rediss+sentinel" => {
            let (service, database) = path.split_once('/').unwrap_or((path, ""));
            if service.is_empty() {
                return Err("it names no service of the Sentinels");
            }
            (Endpoint::Sentinel(nodes(hosts, 26379)?, service.to_owned()), number(database)?)
        }
        "redis+cluster" | "rediss+cluster" if path.is_empty() || path == "0" => {
            (Endpoint::Cluster(nodes(hosts, 6379)?), 0)
        }
        "redis+cluster" | "rediss+cluster" => return Err("a cluster has no numbered databases"),
        _ => return Err("its scheme is not known"),
    };
    let (user, password) = credentials(access)?;
    Ok(Redis { endpoint: place, is_secure, database, user, password })
}

fn socket(path: &str) -> Result<Redis, &'static str> {
    if !path.starts_with('/') || path.contains(['?', '#']) {
        return Err("a socket is named by its whole path and nothing else");
    }
    let place = Endpoint::Socket(PathBuf::from(path));
    Ok(Redis { endpoint: place, is_secure: false, database: 0, user: None, password: None })
}

/// User and password, percent-encoded; a user without a colon is a user.
fn credentials(access: Option<&str>) -> Result<(Option<String>, Option<String>), &'static str> {
    let Some(access) = access else { return Ok((None, None)) };
    let plain = |text: &str| {
        let text = percent_encoding::percent_decode_str(text).decode_utf8();
        text.map(|text| Some(text.into_owned()).filter(|text| !text.is_empty()))
            .map_err(|_| "its user or password is no text")
    };
    match access.split_once(':') {
        Some((user, password)) => Ok((plain(user)?, plain(password)?)),
        None => Ok((plain(access)?, None)),
    }
}

fn number(path: &str) -> Result<i64, &'static str> {
    match path {
        "" => Ok(0),
        path => path.parse().ok().filter(|n| *n >= 0).ok_or("its database is not a number of 0 or more"),
    }
}

fn nodes(hosts: &str, usual: u16) -> Result<Vec<Node>, &'static str> {
    hosts.split(',').map(|host| node(host, usual)).collect()
}

fn node(text: &str, usual: u16) -> Result<Node, &'static str> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("it has a bracket that is not closed")?;
            (host, rest.strip_prefix(':').or(rest.is_empty().then_some("")).ok_or("its port is no number")?)
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if host.is_empty() {
        return Err("it names no host");
    }
    let port = match port {
        "" => usual,
        port => port.parse().ok().filter(|port| *port > 0).ok_or("its port is no number")?,
    };
    Ok(Node { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Redis, Refusal> {
        let origins = [("redis_url", (url.to_owned(), "env BATON_REDIS_URL".to_owned()))].into();
        read(&origins).map(|redis| redis.expect("one is named"))
    }

    #[test]
    fn a_url_is_shown_as_it_was_understood_and_without_its_password() {
        for (url, shown) in [
            ("redis://cache.example", "redis://cache.example:6379"),
            ("rediss://me:p%40ss@cache.example:7000/2", "rediss://me:[hidden]@cache.example:7000/2"),
            ("redis://:secret@[::1]:7000", "redis://:[hidden]@[::1]:7000"),
            ("unix:///run/redis.sock", "unix:///run/redis.sock"),
            ("redis+sentinel://a,b:7000/main", "redis+sentinel://a:26379,b:7000/main"),
            ("redis+sentinel://a/main/3", "redis+sentinel://a:26379/main/3"),
            ("rediss+cluster://:x@a,b:7001/", "rediss+cluster://:[hidden]@a:6379,b:7001"),
        ] {
            let redis = of(url).expect(url);
            assert_eq!(redis.to_string(), shown);
            assert!(!format!("{redis:?}").contains("secret"));
        }
        let redis = of("rediss://me:p%40ss@cache.example").expect("valid");
        assert_eq!((redis.user.as_deref(), redis.password.as_deref()), (Some("me"), Some("p@ss")));
    }

    #[test]
    fn what_is_no_url_of_a_redis_is_refused_without_telling_its_password() {
        for url in [
            "cache.example:6379",
            "http://a",
            "redis://",
            "redis://a,b",
            "redis://a:x",
            "redis://a:0",
            "redis://a/x",
            "redis://a/-1",
            "redis://a?x=1",
            "redis://a b",
            "redis+sentinel://a",
            "redis+sentinel://a/",
            "redis+cluster://a/1",
            "redis://[::1",
            "unix://run/redis.sock",
            "redis://me:secret@:1",
        ] {
            let refusal = of(url).expect_err(url);
            assert_eq!(refusal.code, "redis_url_invalid", "{url}");
            assert!(!refusal.message.contains("secret"), "{}", refusal.message);
        }
    }
}
