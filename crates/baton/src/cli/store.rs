//! `baton store`

use baton_model::refusal::{Kind, Refusal};
use baton_store::copy::{self, ChainPolicy};
use baton_store::{Store, Target, restore};
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Ended;
use crate::{host, render};

/// Move a whole ledger to another store
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Copy every row to an empty store of either engine, and compare what is there then
    ///
    /// All of it is kept or nothing.
    Copy {
        /// Store to read: a path, or postgres://…
        from: String,
        /// Store to write: a path, or postgres://…; it must be empty, and is made when it is not there
        to: String,
        /// Also when a ledger's chain is broken: copy every row as it is
        #[arg(long)]
        unverified: bool,
    },
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let Verb::Copy { from, to, unverified } = args.verb;
    let (from, to) = (Target::read(&from)?, Target::read(&to)?);
    if is_same(&from, &to) || from == Target::Memory || to == Target::Memory {
        let what = "a ledger is copied from one store that lasts to another";
        return Err(Refusal::new(
            Kind::Invalid,
            "store_same",
            what,
            "name two stores: baton store copy FROM TO",
        )
        .into());
    }
    let mut source = Store::open_read_only(&from)?;
    let mut target = Store::open(&to, host::now())?;
    let chains = if unverified { ChainPolicy::AsTheyAre } else { ChainPolicy::Whole };
    let copied = copy::copy(&mut source, &mut target, chains)?;
    // What is on the disk is what counts, so the comparison is made once more from the outside.
    if copy::survey(&mut target)? != copied {
        return Err(anyhow::anyhow!("{to} does not hold what was written to it: do not use it").into());
    }
    target.analyze()?;
    let items: Vec<Value> = copied
        .iter()
        .map(|table| json!({ "table": table.name, "rows": table.rows, "hash": table.hash }))
        .collect();
    let rows: u64 = copied.iter().map(|table| table.rows).sum();
    let answer = json!({
        "from": from.to_string(), "to": to.to_string(), "rows": rows, "verified": !unverified, "items": items, "next": null,
    });
    app.answer(&answer, show)
}

/// Whether both are one store, by whatever name.
fn is_same(from: &Target, to: &Target) -> bool {
    match (from, to) {
        (Target::File(from_file), Target::File(to_file)) => {
            from == to || restore::is_same(from_file, to_file)
        }
        _ => from == to,
    }
}

fn show(answer: &Value) -> String {
    let rows: Vec<Vec<String>> = render::list(answer, "items")
        .iter()
        .filter(|table| table["rows"] != 0)
        .map(|table| vec![render::text(table, "table"), table["rows"].to_string()])
        .collect();
    let (from, to) = (render::text(answer, "from"), render::text(answer, "to"));
    format!(
        "{}copied {} rows from {from} to {to}; they read the same on both sides\n  \
         next: set BATON_STORE to the new store, and let nobody write to the old one\n",
        render::table(&rows),
        answer["rows"],
    )
}
