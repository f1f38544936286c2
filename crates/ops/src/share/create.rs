//! `share_create`: make an address under which a baton or a thread is read without a token.

use baton_model::access::Scope;
use baton_model::refusal::Refusal;
use baton_model::share::{MAX_SHARE, Share, ShareRow, USUAL};
use baton_model::time::{bounds_hint, seconds_within};
use baton_store::{Failure, share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::subject;
use crate::op::{Cx, Meta, Operation, Retention};
use crate::{resolve, token};

/// Shares a baton or a thread.
pub struct Create;

/// Input of `share_create`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInput {
    /// Id of a baton, a session or a thread, or a unique prefix of it.
    pub id: String,
    /// `baton` or `thread`; without it a baton where the id is one's, else the thread.
    #[serde(default)]
    pub kind: Option<String>,
    /// Project id; else it is looked for in all that the caller reaches.
    #[serde(default)]
    pub project: Option<String>,
    /// Ends by itself after so many seconds; after seven days when it is left out.
    #[serde(default)]
    pub expires_in_s: Option<i64>,
    /// Identity that shares it.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `share_create`.
#[derive(Serialize, Deserialize)]
pub struct CreateOutput {
    /// The secret, shown once: the page is at `/share/` and this.
    pub secret: String,
    /// The share, without its secret.
    #[serde(flatten)]
    pub shown: ShareRow,
}

impl Operation for Create {
    const META: Meta = Meta::write(
        "share_create",
        "Make an address under which a baton or a thread is read without a token; its secret is shown once",
    )
    .scope(Scope::Operator)
    .retention(Retention::Without("secret"));
    type Input = CreateInput;
    type Output = CreateOutput;

    fn run(input: CreateInput, cx: &mut Cx<'_>) -> Result<CreateOutput, Failure> {
        let created_by = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let lasts = match input.expires_in_s {
            None => USUAL,
            Some(seconds) => seconds_within(seconds, MAX_SHARE).ok_or_else(|| too_long_refusal(seconds))?,
        };
        let found = subject(cx, input.project.as_deref(), (&input.id, input.kind.as_deref()))?;
        let now = cx.env.now;
        let secret = token::new_secret(&mut cx.env, "share_");
        let made = Share {
            share_id: cx.env.id(),
            hash: token::hash(&secret),
            project_id: found.project_id,
            kind: found.kind,
            object_id: found.object_id,
            created_by,
            created_at: now,
            expires_at: now.saturating_add(lasts),
            revoked_at: None,
        };
        cx.store.write_shared(|tx| Ok(share::insert(tx, &made)?))?;
        Ok(CreateOutput { secret, shown: made.row(now) })
    }
}

fn too_long_refusal(seconds: i64) -> Refusal {
    let what = format!("a share cannot last {} days", seconds / 86_400);
    Refusal::invalid("expiry_invalid", what, bounds_hint(MAX_SHARE))
}
