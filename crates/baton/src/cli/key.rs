//! `baton key`

use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Make and list keys, with which what is sensitive is encrypted
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Make a key on this machine, unless there is one, and list its public half
    ///
    /// The private half stays in the user's key directory, ~/.config/baton/keys/PROJECT/NAME.key, in the form of age-keygen.
    /// Keep a copy: what was encrypted for a key that is lost is lost too.
    Create {
        #[command(flatten)]
        who: Who,
        #[command(flatten)]
        force: Force,
    },
    /// List the public keys of the project
    List,
    /// List somebody's public key, so that they can be sent what only they can read
    Add {
        /// Whose key it is
        name: String,
        /// The public key: age1…
        public_key: String,
        #[command(flatten)]
        who: Who,
        #[command(flatten)]
        force: Force,
    },
    /// Print a public key
    Show {
        /// Whose; else your own
        name: Option<String>,
        #[command(flatten)]
        who: Who,
    },
    /// Take a public key off the list
    Remove {
        /// Whose key it is
        name: String,
        #[command(flatten)]
        who: Who,
    },
}

#[derive(clap::Args)]
struct Force {
    /// Replace another key that is listed
    #[arg(long, requires = "why")]
    force: bool,
    /// Why force is used; written into the ledger
    #[arg(long, value_name = "T", requires = "force")]
    why: Option<String>,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let project = app.project.clone();
    match args.verb {
        Verb::Create { who, force } => {
            let input = json!({
                "project": project, "identity": who.identity, "force": force.force, "why": force.why,
            });
            let answer = app.call(baton_ops::key::Create::NAME, input)?;
            app.answer(&answer, listed)
        }
        Verb::Add { name, public_key, who, force } => {
            let input = json!({
                "project": project, "identity": who.identity, "name": name, "public_key": public_key,
                "force": force.force, "why": force.why,
            });
            let answer = app.call(baton_ops::key::Add::NAME, input)?;
            app.answer(&answer, listed)
        }
        Verb::List => {
            let answer = app.call(baton_ops::key::List::NAME, json!({ "project": project }))?;
            app.answer(&answer, |a| match render::list(a, "items") {
                [] => "no key is listed: baton key create --as NAME\n".to_owned(),
                items => render::table(&items.iter().map(row).collect::<Vec<_>>()),
            })
        }
        Verb::Show { name, who } => {
            let own = who.identity.or(app.config.identity.clone()).unwrap_or_else(|| "Bot".to_owned());
            let name = name.unwrap_or(own);
            let answer = app.call(baton_ops::key::List::NAME, json!({ "project": project, "name": name }))?;
            if render::list(&answer, "items").is_empty() {
                let what = format!("no key of {name} is listed");
                let hint = format!("`baton key create --as {name}` makes one; `baton key list` shows all");
                return Err(Refusal::new(Kind::NotFound, "key_unknown", what, hint).into());
            }
            app.answer(&answer, |a| {
                render::list(a, "items")
                    .iter()
                    .map(|k| format!("{}\n", render::text(k, "public_key")))
                    .collect()
            })
        }
        Verb::Remove { name, who } => {
            let input = json!({ "project": project, "identity": who.identity, "name": name });
            let answer = app.call(baton_ops::key::Remove::NAME, input)?;
            app.answer(&answer, |a| format!("took the key of {} off the list\n", render::text(a, "name")))
        }
    }
}

fn listed(answer: &Value) -> String {
    let how = if answer["listed_now"] == true { "listed" } else { "listed already" };
    format!("{how}: {}\n{}\n", render::text(answer, "name"), render::text(answer, "public_key"))
}

fn row(key: &Value) -> Vec<String> {
    vec![
        render::text(key, "name"),
        render::text(key, "public_key"),
        format!("listed by {} {}", render::text(key, "added_by"), render::age(key, "added_at")),
        if key["here"] == true { "private half here".to_owned() } else { String::new() },
    ]
}
