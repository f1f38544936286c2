//! `token_create`: make an access token. Its secret is in this answer and nowhere else.

use baton_model::access::{Bearer, Grant, Scope, Token, TokenRow};
use baton_model::id::{check_identity, check_label, identity_key, require_not_system, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::{Millis, TEN_YEARS, bounds_hint, seconds_within};
use baton_store::{Failure, Tx, project, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{hash, new_secret};
use crate::op::{BeginsStore, Cx, Meta, Operation, Reach, Retention};
use crate::resolve;

/// Makes a token.
pub struct Create;

/// Input of `token_create`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInput {
    /// What it is for.
    #[serde(default)]
    pub name: Option<String>,
    /// `read`, `write` or `operator`.
    pub scope: String,
    /// Only in these projects; else in all of them.
    #[serde(default)]
    pub projects: Option<Vec<String>>,
    /// The identities that it may act as: the first one where a call names none. Without any it acts as `token:NAME`, and under
    /// names that are not in use.
    #[serde(default)]
    pub identities: Vec<String>,
    /// Ends by itself after so many seconds.
    #[serde(default)]
    pub expires_in_s: Option<i64>,
    /// Identity that makes it.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `token_create`.
#[derive(Serialize, Deserialize)]
pub struct CreateOutput {
    /// The secret: shown once.
    pub token: String,
    /// The token, without its secret.
    #[serde(flatten)]
    pub shown: TokenRow,
}

impl Operation for Create {
    const META: Meta =
        Meta::write("token_create", "Make an access token for the server; its secret is shown once")
            .scope(Scope::Operator)
            .reach(Reach::Everything)
            .begins_store(BeginsStore::InFolder)
            .retention(Retention::Without("token"));
    type Input = CreateInput;
    type Output = CreateOutput;

    fn run(input: CreateInput, cx: &mut Cx<'_>) -> Result<CreateOutput, Failure> {
        let scope = Scope::from_word(&input.scope)?;
        let created_by = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let is_chosen = input.name.is_some();
        let name = input.name.unwrap_or_else(|| created_by.clone());
        check_name(&name)?;
        input.identities.iter().try_for_each(|name| {
            check_identity(name)?;
            require_not_system(name)
        })?;
        if let Some(seconds) = input.expires_in_s
            && seconds_within(seconds, TEN_YEARS).is_none()
        {
            let what = format!("a token cannot last {seconds} seconds");
            let hint = format!("{}, or nothing for one without an end", bounds_hint(TEN_YEARS));
            return Err(Refusal::invalid("expiry_invalid", what, hint).into());
        }
        let now = cx.env.now;
        let expires_at = input.expires_in_s.map(|seconds| now.saturating_add(seconds.saturating_mul(1_000)));
        let secret = new_secret(&mut cx.env, "baton_");
        let token_id = cx.env.id();
        let identities = Some(input.identities).filter(|names| !names.is_empty());
        let caller = cx.env.caller;
        let by_id = |named: Vec<String>| named.iter().map(|name| caller.id_of(name).to_owned()).collect();
        let projects = input.projects.map(by_id);
        let bearer = Bearer { token_id: token_id.clone(), name: name.clone(), identities };
        let token = Token {
            token_id,
            hash: hash(&secret),
            name,
            grant: Grant { scope, projects, bearer: Some(bearer), ..Grant::default() },
            created_by,
            created_at: now,
            expires_at,
            revoked_at: None,
        };
        let token = cx.store.write_shared(|tx| {
            for project_id in token.grant.projects.iter().flatten() {
                if project::get(tx, project_id)?.is_none() {
                    let refusal = resolve::no_project_refusal(project_id);
                    let hint = format!(
                        "a token is made for projects that are there: run `baton init --id {project_id}` in its repository first, then \
                         repeat; `baton project list` names the known ones"
                    );
                    return Err(Refusal { hint, ..refusal }.into());
                }
            }
            let mut token = token.clone();
            token.name = free_name(tx, &token, is_chosen, now)?;
            if let Some(bearer) = &mut token.grant.bearer {
                bearer.name.clone_from(&token.name);
            }
            token::insert(tx, &token)?;
            Ok(token)
        })?;
        Ok(CreateOutput { token: secret, shown: token.row(now) })
    }
}

/// Refuses a name that looks like another one: what a token does is told by it.
fn check_name(name: &str) -> Result<(), Refusal> {
    check_label("name", name)?;
    if name.trim() == name && visible(name) == name {
        return Ok(());
    }
    Err(Refusal::invalid(
        "label_invalid",
        format!("`{}` begins or ends with a space, or has characters that do not show", visible(name)),
        "use a name that reads as it is written",
    ))
}

/// The name of a new token. One without identities acts as `token:NAME`, and two of one name could not be told apart in claims and
/// leases: a name that was chosen is refused, one by default is numbered.
fn free_name(tx: &mut Tx<'_>, new: &Token, is_chosen: bool, now: Millis) -> Result<String, Failure> {
    let acts_by_name = |one: &Token| one.identities().is_none();
    let used: Vec<String> = match acts_by_name(new) {
        true => token::list(tx)?
            .into_iter()
            .filter(|one| one.is_valid(now) && acts_by_name(one))
            .map(|one| identity_key(&one.name))
            .collect(),
        false => Vec::new(),
    };
    if !used.contains(&identity_key(&new.name)) {
        return Ok(new.name.clone());
    }
    if is_chosen {
        return Err(name_in_use_refusal(&new.name).into());
    }
    let numbered =
        (2..).map(|number| format!("{}-{number}", new.name)).find(|name| !used.contains(&identity_key(name)));
    Ok(numbered.unwrap_or_else(|| new.name.clone()))
}

fn name_in_use_refusal(name: &str) -> Refusal {
    Refusal::new(
        Kind::Conflict,
        "token_name_in_use",
        format!("a valid token without an identity has the name `{}` already", visible(name)),
        "`baton token create --name OTHER` makes one, `--identity NAME` binds it; or revoke the other: `baton token list`, `baton token revoke ID` (or its name)",
    )
    .with("name", name)
}
