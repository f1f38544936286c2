//! Access tokens: what a caller from outside may do, and in which projects.
//!
//! The local user, who reaches the store itself, may do everything; a token may do what was written into it when it was
//! made. It is shown once and kept as a hash.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::id::{TOKEN, check_identity, identity_key, is_shared_name, require_not_system, visible};
use crate::refusal::{Kind, Refusal};
use crate::time::{Millis, Timestamp};

/// What a token lets its bearer do. Each one includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Look.
    Read,
    /// Work: sessions, hand-offs, tasks, messages.
    Write,
    /// Everything: `force`, settings of projects, tokens, the store.
    Operator,
}

impl Scope {
    /// All, weakest first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Operator];

    /// The word that people write.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Operator => "operator",
        }
    }

    /// The scope of this word.
    pub fn from_word(word: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word).ok_or_else(|| {
            Refusal::invalid(
                "scope_unknown",
                format!("`{}` is not a scope", crate::id::visible(word)),
                "use read, write or operator",
            )
        })
    }
}

/// The token that a caller came with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// Its id.
    pub token_id: String,
    /// What it is for.
    pub name: String,
    /// The identities that it may act as; `None` for a token that is bound to none.
    pub identities: Option<Vec<String>>,
}

impl Bearer {
    /// The name under which it acts where it is bound to no identity: `token:NAME`.
    pub fn actor(&self) -> String {
        format!("{TOKEN}{}", self.name)
    }

    /// The acting identity: the one that the call names, which is refused where the token may not act as it; without a name the first
    /// one that the token is bound to, else the token itself. Whether a name is free for an unbound token is checked against the ledger.
    pub fn identity(&self, named: Option<&str>) -> Result<String, Refusal> {
        let Some(bound) = &self.identities else {
            return match named {
                // Another token's name is no identity.
                Some(name) if name != self.actor() && (name.starts_with(TOKEN) || !is_shared_name(name)) => {
                    check_identity(name)?;
                    require_not_system(name).map(|()| name.to_owned())
                }
                _ => Ok(self.actor()),
            };
        };
        let own_name =
            named.map_or_else(|| bound.first(), |name| bound.iter().find(|own| is_same(own, name)));
        match (own_name, named) {
            (Some(own), _) => Ok(own.clone()),
            (None, Some(name)) => Err(self.not_bound_refusal(name)),
            (None, None) => Ok(self.actor()),
        }
    }

    fn not_bound_refusal(&self, name: &str) -> Refusal {
        let bound = self.identities.as_deref().unwrap_or_default();
        Refusal::new(
            Kind::Forbidden,
            "identity_not_bound",
            format!("the token `{}` acts as {}, not as {}", self.name, bound.join(" or "), visible(name)),
            format!(
                "where no name is given (--as, BATON_IDENTITY) it acts as {}; name what is somebody else's by its id (a session: \
                 `baton sessions`), or ask for a token made with `baton token create --identity NAME`",
                bound.first().map_or("itself", String::as_str)
            ),
        )
        .with("identities", json!(bound))
    }

    /// Whether it may act in a session of this identity: a bound token in every session of its identities, an unbound one in those
    /// that it opened.
    pub fn owns(&self, identity: &str, opened_by: Option<&str>) -> bool {
        match &self.identities {
            Some(bound) => bound.iter().any(|own| is_same(own, identity)),
            None => opened_by == Some(self.token_id.as_str()),
        }
    }
}

fn is_same(one: &str, other: &str) -> bool {
    identity_key(one) == identity_key(other)
}

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// How much.
    pub scope: Scope,
    /// In which projects; `None` for all, and for what belongs to no project.
    pub projects: Option<Vec<String>>,
    /// The token that it came with; `None` for the local user.
    pub bearer: Option<Bearer>,
    /// Whether it came over a socket without a token: it holds until the store has its first one, and every write looks for that one
    /// itself.
    pub until_first_token: bool,
}

impl Default for Grant {
    /// The local user's.
    fn default() -> Self {
        Self { scope: Scope::Operator, projects: None, bearer: None, until_first_token: false }
    }
}

impl Grant {
    /// Whether it reaches into this project.
    pub fn reaches(&self, project_id: &str) -> bool {
        self.projects.as_ref().is_none_or(|own| own.iter().any(|p| p == project_id))
    }

    /// Whether it is the local user's, or of a token with the scope operator: who may take over what another agent holds.
    pub fn is_operator(&self) -> bool {
        self.bearer.is_none() || self.scope >= Scope::Operator
    }

    /// Refuses unless it is for all projects: for what belongs to the machine and not to a project.
    pub fn require_all_projects(&self) -> Result<(), Refusal> {
        if self.projects.is_none() {
            return Ok(());
        }
        Err(Refusal::new(
            Kind::Forbidden,
            "token_of_project",
            "this concerns more than the projects of the token",
            "use a token that `baton token create` made without `--only`",
        ))
    }

    /// Refuses unless it covers this scope.
    pub fn require(&self, scope: Scope) -> Result<(), Refusal> {
        if self.scope >= scope {
            return Ok(());
        }
        let (has, needs) = (self.scope.as_str(), scope.as_str());
        Err(Refusal::new(
            Kind::Forbidden,
            "scope_missing",
            format!("the token has the scope {has}, and this needs {needs}"),
            format!("ask for a token made with `baton token create --scope {needs}`"),
        )
        .with("scope", needs))
    }
}

/// A token as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its id, which is not secret.
    pub token_id: String,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub hash: String,
    /// What it is for.
    pub name: String,
    /// What it may do.
    pub grant: Grant,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: Millis,
    /// When it ends by itself.
    pub expires_at: Option<Millis>,
    /// When it was taken back.
    pub revoked_at: Option<Millis>,
}

impl Token {
    /// Whether it still opens anything.
    pub fn is_valid(&self, now: Millis) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// The identities that it is bound to.
    pub fn identities(&self) -> Option<&Vec<String>> {
        self.grant.bearer.as_ref()?.identities.as_ref()
    }

    /// What may be shown of it: never the secret, never its hash.
    pub fn row(&self, now: Millis) -> TokenRow {
        TokenRow {
            token_id: self.token_id.clone(),
            name: self.name.clone(),
            scope: self.grant.scope,
            projects: self.grant.projects.clone(),
            identities: self.identities().cloned(),
            valid: self.is_valid(now),
            created_by: self.created_by.clone(),
            created_at: Timestamp(self.created_at),
            expires_at: self.expires_at.map(Timestamp),
            revoked_at: self.revoked_at.map(Timestamp),
        }
    }
}

/// A token as answers show it: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// Its id, which is not secret.
    pub token_id: String,
    /// What it is for.
    pub name: String,
    /// What its bearer may do.
    pub scope: Scope,
    /// Its projects; all where there are none.
    pub projects: Option<Vec<String>>,
    /// The identities that it may act as; its own name where there are none.
    pub identities: Option<Vec<String>>,
    /// Whether it still opens anything.
    pub valid: bool,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was taken back.
    pub revoked_at: Option<Timestamp>,
}

/// The refusal for a token that opens nothing, whatever the reason: a stranger learns no more.
pub fn token_invalid_refusal() -> Refusal {
    Refusal::new(
        Kind::Unauthorized,
        "token_invalid",
        "a valid access token is needed",
        "set BATON_TOKEN, or send `Authorization: Bearer TOKEN`; the operator of the server makes one with `baton token create`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scope: Scope, projects: Option<&[&str]>) -> Grant {
        let projects = projects.map(|own| own.iter().map(|p| (*p).to_owned()).collect());
        Grant { scope, projects, bearer: None, ..Grant::default() }
    }

    #[test]
    fn a_scope_includes_the_weaker_ones() {
        for has in Scope::ALL {
            for needs in Scope::ALL {
                assert_eq!(of(has, None).require(needs).is_ok(), has >= needs, "{has:?} {needs:?}");
            }
        }
    }

    #[test]
    fn a_token_of_projects_reaches_these_and_nothing_of_the_machine() {
        let grant = of(Scope::Operator, Some(&["a"]));
        assert!(grant.reaches("a") && !grant.reaches("b"));
        assert_eq!(grant.require_all_projects().map_err(|r| r.code), Err("token_of_project"));
        assert!(of(Scope::Read, None).reaches("b") && of(Scope::Read, None).require_all_projects().is_ok());
        assert!(!of(Scope::Read, Some(&[])).reaches("a"), "no project is not every project");
    }

    fn bearer(identities: Option<&[&str]>) -> Bearer {
        let identities = identities.map(|own| own.iter().map(|name| (*name).to_owned()).collect());
        Bearer { token_id: "t1".into(), name: "ci".into(), identities }
    }

    #[test]
    fn a_bound_token_is_nobody_else() {
        let bound = bearer(Some(&["Ann", "Ben"]));
        assert_eq!(bound.identity(None).as_deref(), Ok("Ann"));
        assert_eq!(bound.identity(Some("ben")).as_deref(), Ok("Ben"));
        for other in ["Eve", "Bot", "token:ci"] {
            assert_eq!(
                bound.identity(Some(other)).map_err(|refusal| refusal.code),
                Err("identity_not_bound"),
                "{other}"
            );
        }
        assert!(bound.owns("ANN", None) && bound.owns("Ann", Some("t2")) && !bound.owns("Eve", Some("t1")));
    }

    #[test]
    fn a_token_that_is_bound_to_none_acts_under_its_own_name() {
        let free = bearer(None);
        assert_eq!(free.identity(None).as_deref(), Ok("token:ci"));
        assert_eq!(free.identity(Some("Bot")).as_deref(), Ok("token:ci"));
        assert_eq!(free.identity(Some("token:ci")).as_deref(), Ok("token:ci"));
        assert_eq!(free.identity(Some("Ann")).as_deref(), Ok("Ann"));
        assert_eq!(
            free.identity(Some("token:other")).map_err(|refusal| refusal.code),
            Err("identity_invalid")
        );
        assert!(free.owns("Ann", Some("t1")) && !free.owns("Ann", Some("t2")) && !free.owns("Ann", None));
    }

    #[test]
    fn a_token_ends_when_it_was_said_or_taken_back() {
        let token = |expires_at, revoked_at| Token {
            token_id: "t".into(),
            hash: "h".into(),
            name: "n".into(),
            grant: Grant::default(),
            created_by: "Bot".into(),
            created_at: 0,
            expires_at,
            revoked_at,
        };
        assert!(token(None, None).is_valid(i64::MAX));
        assert!(token(Some(10), None).is_valid(9) && !token(Some(10), None).is_valid(10));
        assert!(!token(None, Some(5)).is_valid(6));
        let shown = json!(token(None, None).row(0)).to_string();
        assert!(!shown.contains("hash"), "{shown}");
    }
}
