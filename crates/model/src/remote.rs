//! The address of a git remote, in every shape that git and people write, and which hosts are GitHub.
//!
//! A host is compared as a whole. What cannot be parsed has no host, and no host is GitHub by accident: an issue that is
//! opened in the wrong place shows private text to strangers.

/// The hosts under which github.com serves repositories.
const GITHUB: [&str; 3] = ["github.com", "www.github.com", "ssh.github.com"];

/// Schemes of URLs that name a host. Anything else (`file`, `ext::…`, a helper of the user's) names none.
const SCHEMES: [&str; 9] =
    ["https", "http", "ssh", "git", "git+ssh", "ssh+git", "git+https", "git+http", "ftps"];

/// A parsed remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// The host in lower case, without port, user and final dot; none for a path of this machine.
    pub host: Option<String>,
    /// What follows the host.
    pub path: String,
}

impl Remote {
    /// Parses `https://h/p`, `ssh://u@h:22/p`, `u@h:p`, `h/o/r`, `o/r` or a path. None for what git would not take for one,
    /// or would read differently than a person.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return None;
        }
        match text.split_once("://") {
            Some((scheme, rest)) => Self::url(&scheme.to_ascii_lowercase(), rest),
            None => Self::short(text),
        }
    }

    fn url(scheme: &str, rest: &str) -> Option<Self> {
        if scheme == "file" {
            return Some(Self { host: None, path: format!("/{}", rest.trim_start_matches('/')) });
        }
        if !SCHEMES.contains(&scheme) {
            return None;
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        Some(Self {
            host: Some(host_name(without_port(host)?)?),
            path: path.trim_start_matches('/').to_owned(),
        })
    }

    fn short(text: &str) -> Option<Self> {
        let colon = text.find(':').filter(|at| !text[..*at].contains('/'));
        let Some(colon) = colon else { return Some(Self::plain(text)) };
        let (before, path) = (&text[..colon], &text[colon + 1..]);
        let drive = before.len() == 1 && before.chars().all(|c| c.is_ascii_alphabetic());
        if drive {
            return Some(Self { host: None, path: format!("/{text}") });
        }
        // `helper::address` has git run a program.
        if path.starts_with(':') {
            return None;
        }
        let host = before.rsplit_once('@').map_or(before, |(_, host)| host);
        Some(Self { host: Some(host_name(host)?), path: path.trim_start_matches('/').to_owned() })
    }

    /// Without scheme and colon: `host/owner/repo`, `owner/repo`, or a path.
    fn plain(text: &str) -> Self {
        let parts: Vec<&str> = text.trim_end_matches('/').split('/').collect();
        match parts.as_slice() {
            [first, owner, repo] if first.contains('.') && !first.starts_with('.') => {
                Self { host: host_name(first), path: format!("{owner}/{repo}") }
            }
            _ => Self { host: None, path: text.to_owned() },
        }
    }
}

/// The authority without its port; none where what follows the colon is no number.
fn without_port(authority: &str) -> Option<&str> {
    if authority.starts_with('[') {
        let (address, rest) = authority.split_at(authority.find(']')? + 1);
        return (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_number)).then_some(address);
    }
    match authority.split_once(':') {
        None => Some(authority),
        Some((host, port)) => is_number(port).then_some(host),
    }
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

/// A host name in the one form in which it is compared. Names outside ASCII, percent signs and the like are no host here:
/// they look like another one.
fn host_name(text: &str) -> Option<String> {
    let address = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(address) = address {
        let good = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
        return (!address.is_empty() && address.chars().all(good)).then(|| text.to_ascii_lowercase());
    }
    let name = text.strip_suffix('.').unwrap_or(text);
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let sound = !name.is_empty() && !name.starts_with(['.', '-']) && !name.ends_with('.');
    (sound && name.chars().all(good)).then(|| name.to_ascii_lowercase())
}

/// Whether a host serves the GitHub that the settings name: github.com, or the one Enterprise host of `github_api`. Both at
/// once would open issues of one in a repository of the same name in the other.
pub fn is_github_host(host: &str, enterprise: Option<&str>) -> bool {
    match enterprise {
        Some(name) => host == name,
        None => GITHUB.contains(&host),
    }
}

/// Whether a remote's host is GitHub.
pub fn is_github(remote: &str, enterprise: Option<&str>) -> bool {
    Remote::parse(remote).and_then(|remote| remote.host).is_some_and(|host| is_github_host(&host, enterprise))
}

/// The Enterprise host of an API's address; none for github.com's, and for one on this machine, which stands in for it.
pub fn enterprise_of(api: &str) -> Option<String> {
    let host = token_host_of(api)?;
    let local = host == "localhost" || host.starts_with("127.") || host == "[::1]";
    (!local).then_some(host)
}

/// The host whose token is wanted for an API's address; none for github.com's. One on this machine is a host of its own: it
/// gets no token of github.com.
pub fn token_host_of(api: &str) -> Option<String> {
    let host = Remote::parse(api)?.host?;
    let host = host.strip_prefix("api.").map_or(host.clone(), str::to_owned);
    (!GITHUB.contains(&host.as_str())).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Option<String> {
        Remote::parse(text).and_then(|remote| remote.host)
    }

    #[test]
    fn a_host_is_githubs_only_as_a_whole() {
        for text in [
            "https://github.com/o/r.git",
            "HTTPS://GitHub.COM/o/r",
            "https://github.com./o/r",
            "https://github.com:443/o/r",
            "https://user:pw@github.com/o/r",
            "https://gitlab.com@github.com/o/r",
            "git@github.com:o/r.git",
            "github.com:o/r",
            "ssh://git@github.com/o/r",
            "ssh://git@ssh.github.com:443/o/r.git",
            "git://www.github.com/o/r",
            "github.com/o/r",
        ] {
            assert!(is_github(text, None), "{text}");
        }
        for text in [
            "https://gitlab.com/acme/acme.github.io",
            "git@gitlab.com:acme/acme.github.io.git",
            "https://github.corp.example/o/r",
            "https://notgithub.com/o/r",
            "https://github.com.evil.example/o/r",
            "https://evil.example/github.com/o/r",
            "https://github.com@evil.example/o/r",
            "https://github.com:443@evil.example/o/r",
            "https://github.com:x@evil.example:8080/o/r",
            "https://github.com%2f@evil.example/o/r",
            "https://evil.example?@github.com/o/r",
            "https://evil.example#@github.com/o/r",
            "https://evil.example\\@github.com/o/r",
            "https://github.com%00.evil.example/o/r",
            "https://github%2ecom/o/r",
            "https://gıthub.com/o/r",
            "https://xn--gthub-n4a.com/o/r",
            "https://github.com:22x/o/r",
            "https://github.com../o/r",
            "https://.github.com/o/r",
            "github.com@evil.example:o/r",
            "evil.example:github.com/o/r",
            "git@github.com\n.evil.example:o/r",
            "ext::sh -c x% github.com/o/r",
            "ext::github.com/o/r",
            "github.com::o/r",
            "ext::ssh://github.com/o/r",
            "file://github.com/o/r",
            "/srv/github.com/o/r",
            "./github.com/o/r",
            "C:/github.com/o/r",
            "https:///github.com/o/r",
            "javascript://github.com/o/r",
            "",
        ] {
            assert!(!is_github(text, None), "{text}: {:?}", Remote::parse(text));
        }
    }

    #[test]
    fn an_enterprise_host_counts_only_where_the_settings_name_it_and_then_alone() {
        let corp = "git@github.corp.example:o/r.git";
        let named = enterprise_of("https://github.corp.example/api/v3");
        assert!(is_github(corp, named.as_deref()) && !is_github(corp, None));
        assert!(!is_github("git@github.com:o/r.git", named.as_deref()), "its issues are elsewhere");
        assert_eq!(enterprise_of("https://api.acme.ghe.com").as_deref(), Some("acme.ghe.com"));
        for api in
            ["https://api.github.com", "http://127.0.0.1:8080", "http://localhost:1", "http://[::1]:1", "x"]
        {
            assert_eq!(enterprise_of(api), None, "{api}");
        }
    }

    #[test]
    fn a_remote_has_a_host_and_a_path() {
        for (text, host_is, path) in [
            ("ssh://git@h.example:2222/~/r", Some("h.example"), "~/r"),
            ("https://[::1]:8080/o/r", Some("[::1]"), "o/r"),
            ("u@h:/srv/r.git", Some("h"), "srv/r.git"),
            ("/srv/git/r", None, "/srv/git/r"),
            ("o/r", None, "o/r"),
            ("C:/code/r", None, "/C:/code/r"),
        ] {
            let remote = Remote::parse(text).expect(text);
            assert_eq!((remote.host.as_deref(), remote.path.as_str()), (host_is, path), "{text}");
        }
        assert_eq!(host("-oProxyCommand=x:o/r"), None);
    }
}
