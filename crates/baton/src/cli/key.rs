//! `baton key`

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::key::{
    Add, AddInput, Create, CreateInput, List, ListInput, ListedKey, Remove, RemoveInput, Row,
};

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Create and list the keys that encrypt sensitive content
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Create a key on this machine, unless there is one, and list its public half
    ///
    /// The private half stays in your key directory, ~/.config/baton/keys/PROJECT/NAME.key, in the format of
    /// age-keygen. Keep a copy: whatever was encrypted for a lost key is lost too.
    Create {
        #[command(flatten)]
        who: ActingIdentity,
        #[command(flatten)]
        force: ForceArgs,
    },
    /// List the project's public keys
    List,
    /// Add someone's public key, so that you can send them what only they can read
    Add {
        /// Identity the key belongs to
        name: String,
        /// Public key: age1…
        public_key: String,
        #[command(flatten)]
        who: ActingIdentity,
        #[command(flatten)]
        force: ForceArgs,
    },
    /// Print a public key
    Show {
        /// Identity the key belongs to; defaults to your own
        name: Option<String>,
        #[command(flatten)]
        who: ActingIdentity,
    },
    /// Remove your public key from the list, or with --force someone else's
    Remove {
        /// Identity the key belongs to
        name: String,
        #[command(flatten)]
        who: ActingIdentity,
        #[command(flatten)]
        force: RemovalForceArgs,
    },
}

#[derive(clap::Args)]
struct RemovalForceArgs {
    /// Remove the key of another identity
    #[arg(long, requires = "why")]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
}

#[derive(clap::Args)]
struct ForceArgs {
    /// Replace a different key listed for this identity
    #[arg(long, requires = "why")]
    force: bool,
    /// Reason for using --force; recorded in the ledger
    #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
    why: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Verb::Create { who, force: ForceArgs { force, why } } => {
            let input = CreateInput { project, identity: who.identity, force, why };
            let made = app.run::<Create>(&input)?;
            app.show(&made, |made| listed_text(&made.key, made.listed_now))
        }
        Verb::Add { name, public_key, who, force: ForceArgs { force, why } } => {
            let input = AddInput { project, identity: who.identity, name, public_key, force, why };
            let added = app.run::<Add>(&input)?;
            app.show(&added, |added| listed_text(&added.key, added.listed_now))
        }
        Verb::List => {
            let keys = app.run::<List>(&ListInput { project, name: None })?;
            app.show(&keys, |keys| match keys.items.as_slice() {
                [] => "no key is listed: baton key create --as NAME\n".to_owned(),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Show { name, who } => {
            let own = who.identity.or(app.config.identity.clone()).unwrap_or_else(|| "Bot".to_owned());
            let name = name.unwrap_or(own);
            let keys = app.run::<List>(&ListInput { project, name: Some(name.clone()) })?;
            if keys.items.is_empty() {
                let what = format!("no key of {name} is listed");
                let hint = format!("`baton key create --as {name}` makes one; `baton key list` shows all");
                return Err(Refusal::new(Kind::NotFound, "key_unknown", what, hint).into());
            }
            app.show(&keys, |keys| {
                keys.items.iter().map(|row| format!("{}\n", visible(&row.key.public_key))).collect()
            })
        }
        Verb::Remove { name, who, force: RemovalForceArgs { force, why } } => {
            let input = RemoveInput { project, identity: who.identity, name, force, why };
            let removed = app.run::<Remove>(&input)?;
            app.show(&removed, |removed| {
                format!("took the key of {} off the list\n", visible(&removed.key.name))
            })
        }
    }
}

fn listed_text(key: &ListedKey, now: bool) -> String {
    let how = if now { "listed" } else { "listed already" };
    format!("{how}: {}\n{}\n", visible(&key.name), visible(&key.public_key))
}

fn row(row: &Row) -> Vec<String> {
    let key = &row.key;
    vec![
        visible(&key.name),
        visible(&key.public_key),
        format!("listed by {} {}", visible(&key.added_by), render::time_ago(key.added_at)),
        if row.here { "private half here".to_owned() } else { String::new() },
    ]
}
