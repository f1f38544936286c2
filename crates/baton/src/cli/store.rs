//! `baton store`

use std::time::Duration;

use baton_model::duty::{BEAT, Duty};
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::session::ProcessLocation;
use baton_model::shell::shell_word;
use baton_ops::op::{BeginsStore, Host};
use baton_store::ledger_transfer::{self, ChainPolicy};
use baton_store::{Store, Target, counter, duty, restore, share, token};
use serde::Serialize;

use crate::app::App;
use crate::error::AppError;
use crate::{clock, effect_ownership, private_file, render};

/// Move a whole ledger to another store
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Copy every row to an empty store of either engine and verify the copy
    ///
    /// Copies everything or nothing.
    Copy {
        /// Store to read: a path or postgres://…
        from: String,
        /// Store to write: a path or postgres://…; must be empty, and is created if missing
        to: String,
        /// Copy every row as it is, even if a ledger's chain is broken
        #[arg(long)]
        unverified: bool,
    },
    /// Continue every counter above the numbers that a restored database has given out before
    ///
    /// Run it once after a database was restored with its own tools, while no other process uses the store. Tokens of claims,
    /// versions and ledger positions are then never given out twice, and hand-offs that are not finished look into their
    /// trackers before they create anything. `baton restore` and `baton store copy` do this by themselves.
    AdvanceCounters,
    /// Let this store carry out issues and webhooks in place of the one that it is a copy of
    ///
    /// A copy, a restored backup or the clone of a machine has every hand-off, too, and two stores that write to one issue undo each
    /// other's work: so a copy waits until you say this. What the other store may have done already is looked up before it is tried. Where the other
    /// file is on this machine, it is told and waits from then on.
    TakeOver,
}

/// How long a server that lives shows so at the latest.
const BEATS: Duration = Duration::from_millis(BEAT.unsigned_abs() + 500);

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.verb {
        Verb::Copy { from, to, unverified } => copy_store(&from, &to, unverified, app),
        Verb::AdvanceCounters => advance_counters(app),
        Verb::TakeOver => take_over(app),
    }
}

fn advance_counters(app: &mut App) -> Result<(), AppError> {
    app.refuse_remote()?;
    app.require_named_store(BeginsStore::Never)?;
    let store = app.config.store.to_string();
    let floor = app.store()?.write_shared(|tx| Ok(counter::raise_floor_after_restore(tx, clock::now())?))?;
    app.show(&FloorOutput { store: &store, floor }, |advanced| {
        format!("counters of {} continue above {}\n", advanced.store, advanced.floor)
    })
}

/// What `baton store advance-counters` answers.
#[derive(Serialize)]
struct FloorOutput<'a> {
    store: &'a str,
    /// Every number that is given out from now on is greater.
    floor: i64,
}

fn take_over(app: &mut App) -> Result<(), AppError> {
    app.refuse_remote()?;
    app.require_named_store(BeginsStore::Never)?;
    let (store, machine) = (app.config.store.to_string(), app.machine.id.clone());
    let taken = effect_ownership::take_over(app.store()?, &machine, clock::now())?;
    let before = taken.before.map(|before| before.place);
    app.show(&TakeOverOutput { store: &store, before, is_told: taken.is_told }, |taken| {
        let text = format!("issues and webhooks are carried out by {} from now on\n", visible(taken.store));
        match (&taken.before, taken.is_told) {
            (None, _) => format!("issues and webhooks are carried out by {} already\n", visible(taken.store)),
            (Some(before), true) => format!("{text}  {} was told, and carries out none\n", visible(before)),
            (Some(before), false) => format!(
                "{text}  {} could not be told: see to it that nobody works on it any more\n",
                visible(before)
            ),
        }
    })
}

/// What `baton store take-over` answers.
#[derive(Serialize)]
struct TakeOverOutput<'a> {
    store: &'a str,
    /// The store that carried them out before; none where it was this one.
    before: Option<String>,
    /// Whether that one was told and waits from now on.
    #[serde(rename = "told")]
    is_told: bool,
}

fn copy_store(from: &str, to: &str, unverified: bool, app: &mut App) -> Result<(), AppError> {
    let (from, to) = (Target::read(from)?, Target::read(to)?);
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
    if let Target::File(path) = &to {
        // A name beside another store, of which SQLite or Baton takes the file for its own.
        private_file::refuse_side_file(path)?;
    }
    let mut source = Store::open_read_only(&from)?;
    let before = source.read(|tx| Ok(duty::all(tx)?))?;
    let mut target = Store::open(&to, clock::now())?;
    let chains = if unverified { ChainPolicy::AsTheyAre } else { ChainPolicy::Whole };
    let copied = ledger_transfer::copy(&mut source, &mut target, chains)?;
    // What is on the disk is what counts, so the comparison is made once more from the outside.
    if ledger_transfer::survey(&mut target)? != copied {
        return Err(anyhow::anyhow!("{to} does not hold what was written to it: do not use it").into());
    }
    // The source may be a backup, and what came after it has given out numbers.
    target.write_shared(|tx| Ok(counter::raise_floor_after_restore(tx, clock::now())?))?;
    warn_of_server(&mut source, (&before, &to), app)?;
    let place = (app.machine.id.as_str(), clock::now());
    let effects_held_for = effect_ownership::note_source(&mut source, &mut target, place)?;
    let tokens = settle_tokens(&mut target, [&from, &to], app)?;
    target.analyze()?;
    let items = copied.iter();
    let items = items.map(|table| Table { table: table.name, rows: table.rows, hash: &table.hash }).collect();
    let rows: u64 = copied.iter().map(|table| table.rows).sum();
    let (from, to) = (from.to_string(), to.to_string());
    let effects_held_for = effects_held_for.map(|other| other.place);
    let copied =
        CopyOutput { from, to, rows, verified: !unverified, items, tokens, effects_held_for, next: None };
    app.show(&copied, show)
}

/// Says that a server uses the source still: what it writes from here on is not in the copy. One of this machine is known by its process,
/// another by its beats.
fn warn_of_server(source: &mut Store, (before, copy): (&[Duty], &Target), app: &App) -> Result<(), AppError> {
    let held: Vec<&Duty> = before.iter().filter(|duty| !duty.holder.is_empty()).collect();
    let is_here = |duty: &&&Duty| duty.machine_id == app.machine.id && !duty.process.is_empty();
    let place =
        |duty: &Duty| ProcessLocation { machine: duty.machine_id.clone(), process: duty.process.clone() };
    let mut runs = held.iter().filter(is_here).any(|duty| !app.machine.has_process_ended(&place(duty)));
    if !runs && held.iter().any(|duty| !is_here(&duty)) {
        std::thread::sleep(BEATS);
        let now = source.read(|tx| Ok(duty::all(tx)?))?;
        let has_beaten =
            |one: &&Duty| now.iter().any(|now| now.duty_id == one.duty_id && now.beat != one.beat);
        runs = held.into_iter().filter(|duty| !is_here(&duty)).any(|duty| has_beaten(&duty));
    }
    if runs {
        app.remark(&format!(
            "warning: a server runs on the store that was copied, and what it writes from now on is not in the copy: stop it, \
             remove the copy{}, and copy again",
            removal(copy)
        ));
    }
    Ok(())
}

/// How a copy is removed, where that is no file.
fn removal(copy: &Target) -> String {
    let Target::Postgres(address) = copy else { return String::new() };
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit_once('/').map(|(_, name)| shell_word(name));
    let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "DATABASE".to_owned());
    format!(" (`dropdb {name}`, then `createdb {name}`, as a user who may)")
}

/// What `baton store copy` answers.
#[derive(Serialize)]
struct CopyOutput<'a> {
    from: String,
    to: String,
    rows: u64,
    verified: bool,
    items: Vec<Table<'a>>,
    tokens: CopiedTokens,
    /// The store that goes on to carry out issues and webhooks, until the copy takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects_held_for: Option<String>,
    /// Lists have a cursor; this one has no further page.
    next: Option<u64>,
}

/// What became of access tokens.
#[derive(Serialize)]
struct CopiedTokens {
    /// Those that open the new store. The source may be a backup from before one of them was revoked.
    valid: Vec<CopiedToken>,
    /// Those that the source has as valid and the store in use as revoked: they stay revoked.
    revoked: Vec<CopiedToken>,
}

/// An access token that was copied.
#[derive(Serialize)]
struct CopiedToken {
    token_id: String,
    name: String,
}

/// Revokes in a copy what is revoked in the store that is in use, if that is a third one, and names the tokens that are valid.
fn settle_tokens(target: &mut Store, ends: [&Target; 2], app: &App) -> Result<CopiedTokens, AppError> {
    let in_use = &app.config.store;
    let is_third = *in_use != Target::Memory && !ends.into_iter().any(|end| is_same(end, in_use));
    let (known, revoked_shares) = match Store::open_read_only(in_use) {
        Ok(mut store) if is_third => {
            store.read(|tx| Ok((token::list(tx)?, share::revocations(tx)?))).unwrap_or_default()
        }
        // Without a store in use nothing is known of later revocations.
        _ => Default::default(),
    };
    let now = clock::now();
    let settled = target.write_shared(|tx| {
        for (share_id, at) in &revoked_shares {
            share::revoke(tx, share_id, *at)?;
        }
        let mut settled = CopiedTokens { valid: Vec::new(), revoked: Vec::new() };
        for copied in token::list(tx)?.into_iter().filter(|copied| copied.is_valid(now)) {
            let later = known.iter().find(|known| known.token_id == copied.token_id);
            let row = CopiedToken { token_id: copied.token_id, name: copied.name };
            match later.and_then(|later| later.revoked_at) {
                Some(at) => {
                    token::revoke(tx, &row.token_id, at)?;
                    settled.revoked.push(row);
                }
                None => settled.valid.push(row),
            }
        }
        Ok(settled)
    })?;
    Ok(settled)
}

/// A table that was copied.
#[derive(Serialize)]
struct Table<'a> {
    table: &'a str,
    rows: u64,
    hash: &'a str,
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

fn show(copied: &CopyOutput<'_>) -> String {
    let filled = copied.items.iter().filter(|table| table.rows != 0);
    let rows: Vec<Vec<String>> =
        filled.map(|table| vec![table.table.to_owned(), table.rows.to_string()]).collect();
    // From a database back to a file: the file may go where the store lay before.
    let home = match [&copied.from, &copied.to].map(|end| end.starts_with("postgres")) {
        [true, false] => ", or unset it and run `baton restore FILE`, which puts the file in the usual place",
        _ => "",
    };
    let take_over = match &copied.effects_held_for {
        Some(_) => format!(
            "  issues and webhooks stay with the old store until you say `baton --store {} store take-over`\n",
            visible(&copied.to)
        ),
        None => String::new(),
    };
    format!(
        "{}copied {} rows from {} to {}; they read the same on both sides\n{}  \
         next: set BATON_STORE to the new store{}, and let nobody write to the old one\n{take_over}",
        render::table(&rows),
        copied.rows,
        visible(&copied.from),
        visible(&copied.to),
        tokens(copied),
        home
    )
}

/// Which access tokens open the new store, and how to take one back.
fn tokens(copied: &CopyOutput<'_>) -> String {
    let names = |tokens: &[CopiedToken]| {
        let names: Vec<String> = tokens.iter().map(|token| visible(&token.name)).collect();
        names.join(", ")
    };
    let CopiedTokens { valid, revoked } = &copied.tokens;
    let mut text = String::new();
    if !revoked.is_empty() {
        text += &format!("  access tokens that stay revoked, as in the store in use: {}\n", names(revoked));
    }
    if !valid.is_empty() {
        let (names, to) = (names(valid), visible(&copied.to));
        text += &format!(
            "  access tokens that open the new store: {names}; if you copied from a backup, look at `baton --store {to} token list`: \
             a token revoked since is valid there\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_in_a_database_is_removed_with_its_tools() {
        let copy = |address: &str| removal(&Target::read(address).expect("a store"));
        assert_eq!(
            copy("postgres://u@h:5432/team?sslmode=require"),
            " (`dropdb team`, then `createdb team`, as a user who may)"
        );
        assert_eq!(copy("/tmp/copy.db"), "");
    }
}
