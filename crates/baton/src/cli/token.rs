//! `baton token`

use baton_model::id::visible;
use baton_ops::token::{Create, CreateInput, List, ListInput, Revoke, RevokeInput, TokenRow};

use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Create, list and revoke access tokens for the server
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Create a token and show it once
    ///
    /// From the first token on, every request to a server on this store needs one; commands on the machine of the store do not.
    Create {
        /// What its bearer may do: read, write (read and work) or operator (everything, including --force)
        #[arg(long, value_name = "S", default_value = "write", value_parser = ["read", "write", "operator"])]
        scope: String,
        /// Limit the token to this project; may be repeated; all projects if omitted
        #[arg(long = "only", value_name = "PROJECT")]
        only: Vec<String>,
        /// Identity it may act as; may be repeated, and the first is used if a call names none. If omitted, it acts as
        /// `token:NAME`, or under any name that is not in use
        #[arg(long = "identity", visible_alias = "as", value_name = "NAME")]
        identities: Vec<String>,
        /// What the token is for
        #[arg(long, value_name = "T")]
        name: Option<String>,
        /// Expire after this span: 12h, 30d
        #[arg(long, value_name = "SPAN")]
        expires_in: Option<String>,
    },
    /// List tokens without their secrets
    List,
    /// Revoke a token
    Revoke {
        /// Token id, a unique prefix, or the token's name if only one has it
        #[arg(value_name = "ID|NAME")]
        id: String,
    },
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Verb::Create { scope, mut only, identities, name, expires_in } => {
            // `--project` means the same here as elsewhere: where something may be done.
            only.extend(app.project.clone());
            let projects = (!only.is_empty()).then_some(only);
            let span = expires_in.as_deref().map(super::span).transpose()?;
            // A token of one agent is called after it.
            let name = name.or_else(|| identities.first().cloned());
            let expires_in_s = span.map(|millis| millis / 1_000);
            let input = CreateInput { name, scope, projects, identities, expires_in_s, identity: None };
            let is_first = app.run::<List>(&ListInput {}).is_ok_and(|known| known.items.is_empty());
            let made = app.run::<Create>(&input)?;
            if is_first {
                app.remark(
                    "this is the first token: from now on every request to a server on this store needs one (`--only PROJECT` limits a \
                     token to a project)",
                );
            }
            app.remark("the token is shown once");
            app.show(&made, |made| format!("{}\n", visible(&made.token)))
        }
        Verb::List => {
            let tokens = app.run::<List>(&ListInput {})?;
            app.show(&tokens, |tokens| render::table(&tokens.items.iter().map(row).collect::<Vec<_>>()))
        }
        Verb::Revoke { id } => {
            let revoked = app.run::<Revoke>(&RevokeInput { id })?;
            app.show(&revoked, |revoked| {
                let id = visible(&revoked.shown.token_id);
                if revoked.revoked_before {
                    format!("{id} was revoked before\n")
                } else {
                    format!("revoked {id}\n")
                }
            })
        }
    }
}

fn row(token: &TokenRow) -> Vec<String> {
    let words = |own: &[String]| own.iter().map(|word| visible(word)).collect::<Vec<_>>().join(", ");
    let projects = token.projects.as_deref().map_or_else(|| "all projects".to_owned(), words);
    let acts_as =
        token.identities.as_deref().map_or_else(|| format!("token:{}", visible(&token.name)), words);
    let state = match (token.valid, token.revoked_at) {
        (true, _) => "valid",
        (false, Some(_)) => "revoked",
        (false, None) => "expired",
    };
    vec![
        visible(&token.token_id),
        token.scope.as_str().to_owned(),
        projects,
        format!("as {acts_as}"),
        state.to_owned(),
        visible(&token.name),
    ]
}
