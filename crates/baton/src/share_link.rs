//! The address of a share. It is a secret: anyone who has it may read.

/// What the path of such an address begins with.
pub(crate) const PREFIX: &str = "/share/";

/// The address at a server.
pub(crate) fn address(server: &str, secret: &str) -> String {
    format!("{}{PREFIX}{secret}", server.trim_end_matches('/'))
}

/// A path as logs and traces may have it.
pub(crate) fn without_secret(path: &str) -> String {
    if path.starts_with(PREFIX) { format!("{PREFIX}…") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_no_secret() {
        assert_eq!(without_secret("/share/share_0123"), "/share/…");
        assert_eq!(without_secret("/api/v1/share"), "/api/v1/share");
        assert_eq!(address("https://b.example/", "s"), "https://b.example/share/s");
    }
}
