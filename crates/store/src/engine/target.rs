//! Where a store is.

use std::fmt;
use std::path::PathBuf;

use baton_model::id::visible;
use baton_model::refusal::Refusal;

/// Where a store is. `Display` and `Debug` never show a password.
#[derive(Clone, PartialEq, Eq)]
pub enum Target {
    /// A SQLite database of this process alone, gone when it is closed.
    Memory,
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL server, by URL.
    Postgres(String),
}

impl Target {
    /// Reads what a person gave as a target. An address of a kind that is not known is refused: a file would be made of it. So is a store
    /// in memory, which acknowledges what nothing keeps.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        let known = ["postgres", "postgresql", "sqlite"];
        match text.trim().split_once("://") {
            Some((scheme, _)) if !known.contains(&scheme) => Err(Refusal::invalid(
                "store_unknown",
                format!("`{}` is no kind of store", visible(scheme)),
                "give a path, or postgres://USER@HOST/DATABASE",
            )),
            _ => match Self::parse(text) {
                Self::Memory => Err(Refusal::invalid(
                    "store_unknown",
                    "a store in memory ends with the command that writes to it",
                    "give a path, or postgres://USER@HOST/DATABASE",
                )),
                target => Ok(target),
            },
        }
    }

    /// Reads a target: `postgres://…` and `postgresql://…` are servers, `:memory:` and `memory:` are memory, and
    /// `sqlite://path` or anything else is a file.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Self::Postgres(text.to_owned());
        }
        match text.strip_prefix("sqlite://").unwrap_or(text) {
            ":memory:" | "memory:" => Self::Memory,
            path => Self::File(PathBuf::from(path)),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str(":memory:"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Scheme, user, host, port and database of a URL. Options are left out, because a password may stand among them, and
/// where an `@` leaves open what belongs to the password only the scheme is shown.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "postgres://…".to_owned() };
    let (head, options) = rest.split_once('?').unwrap_or((rest, ""));
    match head.rsplit_once('@') {
        Some((login, place)) => {
            let user = login.split([':', '@']).next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None if options.contains('@') => format!("{scheme}://…"),
        None => format!("{scheme}://{head}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_finds_its_engine() {
        assert_eq!(Target::parse(":memory:"), Target::Memory);
        assert_eq!(Target::read("mysql://h/d").map_err(|refusal| refusal.code), Err("store_unknown"));
        assert_eq!(Target::read(":memory:").map_err(|refusal| refusal.code), Err("store_unknown"));
        assert_eq!(Target::read("sqlite://x.db"), Ok(Target::File("x.db".into())));
        assert_eq!(Target::read("a:/b.db"), Ok(Target::File("a:/b.db".into())));
        assert_eq!(Target::parse("memory:"), Target::Memory);
        assert_eq!(Target::parse("sqlite://:memory:"), Target::Memory);
        assert_eq!(Target::parse("sqlite:///var/x.db"), Target::File("/var/x.db".into()));
        assert_eq!(Target::parse("sqlite://x.db"), Target::File("x.db".into()));
        assert_eq!(Target::parse(" some/x.db "), Target::File("some/x.db".into()));
        assert!(matches!(Target::parse("postgres://h/d"), Target::Postgres(_)));
        assert!(matches!(Target::parse("postgresql://h/d"), Target::Postgres(_)));
    }

    #[test]
    fn no_spelling_of_a_password_is_shown() {
        for url in [
            "postgres://u:s3cret@h:5432/d",
            "postgres://u:s3cret@s3cret@h/d",
            "postgres://u:s3cret/s3cret@h/d",
            "postgres://u:s3cret?s3cret@h/d",
            "postgres://:s3cret@h/d",
            "postgres://u@h/d?password=s3cret",
            "postgres://h/d?user=u&password=s3cret@s3cret",
        ] {
            let target = Target::parse(url);
            assert!(!format!("{target} {target:?}").contains("s3cret"), "{url} shows as {target}");
        }
        assert_eq!(Target::parse("postgres://u:p@h:5432/d?x=y").to_string(), "postgres://u@h:5432/d");
    }
}
