//! `baton token`

use baton_model::id::visible;
use baton_ops::op::Operation;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Make, list and revoke access tokens for the server
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Make a token and show it, once
    Create {
        /// What its bearer may do: read, write (read and work) or operator (everything, also --force)
        #[arg(long, value_name = "S", default_value = "write", value_parser = ["read", "write", "operator"])]
        scope: String,
        /// Only in this project; can be given several times. Else in all
        #[arg(long = "only", value_name = "PROJECT")]
        only: Vec<String>,
        /// Identity that it may act as; can be given several times, and the first one acts where a call names none. Without
        /// any it acts as `token:NAME`, and under names that nobody is using
        #[arg(long = "identity", visible_alias = "as", value_name = "NAME")]
        identities: Vec<String>,
        /// What it is for
        #[arg(long, value_name = "T")]
        name: Option<String>,
        /// Ends by itself after this time: 12h, 30d
        #[arg(long, value_name = "SPAN")]
        expires_in: Option<String>,
    },
    /// List the tokens, without their secrets
    List,
    /// Take a token back
    Revoke {
        /// Token id or a unique prefix of one
        id: String,
    },
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    match args.verb {
        Verb::Create { scope, mut only, identities, name, expires_in } => {
            // `--project` means the same here as elsewhere: where something may be done.
            only.extend(app.project.clone());
            let projects = (!only.is_empty()).then_some(only);
            let span = expires_in.as_deref().map(super::span).transpose()?;
            // A token of one agent is called after it.
            let name = name.or_else(|| identities.first().cloned());
            let input = json!({
                "scope": scope, "projects": projects, "name": name, "identities": identities,
                "expires_in_s": span.map(|millis| millis / 1_000),
            });
            let answer = app.call(baton_ops::token::Create::NAME, input)?;
            app.remark(
                "this is shown once; from now on every request to a server on this store needs a token",
            );
            app.answer(&answer, |a| format!("{}\n", render::text(a, "token")))
        }
        Verb::List => {
            let answer = app.call(baton_ops::token::List::NAME, json!({}))?;
            app.answer(&answer, |a| {
                render::table(&render::list(a, "items").iter().map(row).collect::<Vec<_>>())
            })
        }
        Verb::Revoke { id } => {
            let answer = app.call(baton_ops::token::Revoke::NAME, json!({ "id": id }))?;
            app.answer(&answer, |a| match a["revoked_before"].as_bool() {
                Some(true) => format!("{} was revoked before\n", render::text(a, "token_id")),
                _ => format!("revoked {}\n", render::text(a, "token_id")),
            })
        }
    }
}

fn row(token: &Value) -> Vec<String> {
    let list = |field: &str, none: String| match token[field].as_array() {
        None => none,
        Some(own) => own.iter().filter_map(Value::as_str).map(visible).collect::<Vec<_>>().join(", "),
    };
    let projects = list("projects", "all projects".to_owned());
    let acts_as = list("identities", format!("token:{}", render::text(token, "name")));
    let state = match (token["valid"] == true, token["revoked_at"].is_null()) {
        (true, _) => "valid",
        (false, false) => "revoked",
        (false, true) => "expired",
    };
    vec![
        render::text(token, "token_id"),
        render::text(token, "scope"),
        projects,
        format!("as {acts_as}"),
        state.to_owned(),
        render::text(token, "name"),
    ]
}
