//! A whole ledger from one store into another, of either engine: every row as it is, in one transaction that is read back and
//! compared before it is committed.
//!
//! What is left out is what a store makes again by itself: caches, indexes, and who of its servers does what.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::refusal::{Kind, Refusal};
use sha2::{Digest, Sha256};

use crate::chain::{self, ChainVerifier};
use crate::engine::{Failure, Fault, Row, Store, Tx, Value};
use crate::{conversation_project, delta, dump, params, project, search_memory, share, token};

/// Deltas held in memory at once.
const PAGE: i64 = 1_000;

crate::sql! {
    EFFECTS = "SELECT project_id, effect_id, adapter, payload, state, attempts, due_at, lease_until, fence, last_error,
        created_at FROM outbox WHERE project_id = $1 ORDER BY effect_id";
    PUT_EFFECT = "INSERT INTO outbox (project_id, effect_id, adapter, payload, state, attempts, due_at, lease_until, fence,
        last_error, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
    EVERY_ROOT = "SELECT project_id, machine_id, path, created_at, repository_id, common_dir, is_worktree
        FROM project_root ORDER BY machine_id, path";
    PUT_ROOT = "INSERT INTO project_root (project_id, machine_id, path, created_at, repository_id, common_dir, is_worktree)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    POLLS = "SELECT repo, etag, since_at, due_at, comments_etag, comments_since_at FROM tracker_poll ORDER BY repo";
    PUT_POLL = "INSERT INTO tracker_poll (repo, etag, since_at, due_at, comments_etag, comments_since_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
}

/// How the rows of a table are found.
#[derive(Clone, Copy)]
enum RowSelection {
    /// Project by project.
    Project,
    /// Project by project, and a page at a time.
    Page,
    /// All at once.
    Whole,
}

/// A table that is carried over.
struct CopiedTable {
    name: &'static str,
    by: RowSelection,
    select: &'static str,
    insert: &'static str,
    count: &'static str,
}

macro_rules! parts {
    ($($name:literal: $by:ident $select:path, $insert:path;)+) => {
        /// The tables that an export leaves out.
        const REST: &[CopiedTable] = &[
            $(CopiedTable { name: $name, by: RowSelection::$by, select: $select, insert: $insert, count: concat!("SELECT COUNT(*) FROM ", $name) },)+
        ];
    };
}

parts! {
    "delta": Page chain::AFTER, delta::INSERT;
    "outbox": Project EFFECTS, PUT_EFFECT;
    "project_root": Whole EVERY_ROOT, PUT_ROOT;
    "conversation_project": Whole conversation_project::EVERY, conversation_project::PUT;
    "access_token": Whole token::LIST, token::INSERT;
    "share": Whole share::EVERY, share::INSERT;
    "tracker_poll": Whole POLLS, PUT_POLL;
}

/// What there is in one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// How many rows it has.
    pub rows: u64,
    /// A hash of all their columns, whatever their order, in hex.
    pub hash: String,
}

/// Whether a ledger whose chain is broken may be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainPolicy {
    /// No: it is refused with the first broken delta of each project.
    Whole,
    /// Yes, as it is: for what can still be read of a damaged store.
    AsTheyAre,
}

/// Copies everything, and says what was copied. Refused unless the other store is empty, and unless each project's chain holds
/// on both sides. Nothing is kept there unless every row came over and reads the same.
pub fn copy(from: &mut Store, to: &mut Store, chains: ChainPolicy) -> Result<Vec<Table>, Failure> {
    let place = to.target().to_string();
    let origin = from.target().to_string();
    from.snapshot(|source| {
        to.write_shared(|target| {
            if let Some(name) = occupied(target)? {
                return Err(not_empty_refusal(&place, name).into());
            }
            let mut sent = Tally::default();
            walk(source, |part, row| {
                sent.add(part.name, &row);
                put(target, part, &row)
            })?;
            complete(source, &sent)?;
            let stored = tally(target)?;
            if chains == ChainPolicy::Whole {
                refuse_broken(&origin, sent.faults())?;
                refuse_broken(&place, stored.faults())?;
            }
            let (sent, stored) = (sent.tables(), stored.tables());
            if sent == stored { Ok(sent) } else { Err(differs(&sent, &stored).into()) }
        })
    })
}

/// What is in a store, table by table.
pub fn survey(store: &mut Store) -> Result<Vec<Table>, Failure> {
    store.snapshot(measure)
}

/// Fails where a row of any table cannot be read, or belongs to no project.
pub fn readable(store: &mut Store) -> Result<(), Failure> {
    store.snapshot(|tx| {
        let met = tally(tx)?;
        complete(tx, &met)
    })
}

/// The tables that are carried over, each with the statement that reads it.
pub fn tables() -> Vec<(&'static str, &'static str)> {
    parts().map(|part| (part.name, part.select)).collect()
}

fn refuse_broken(place: &str, faults: Vec<String>) -> Result<(), Refusal> {
    let Some(first) = faults.first() else { return Ok(()) };
    let what = format!("the ledger in {place} is damaged: {first}");
    let hint = "`baton doctor` names what is broken; restore a backup, or copy it as it is with --unverified";
    Err(Refusal::new(Kind::Refused, "chain_broken", what, hint).with("faults", faults))
}

fn parts() -> impl Iterator<Item = CopiedTable> {
    let exported = dump::TABLES.iter().map(|table| CopiedTable {
        name: table.name,
        by: RowSelection::Project,
        select: table.select,
        insert: table.insert,
        count: table.count,
    });
    let rest = REST.iter().map(|part| CopiedTable { ..*part });
    exported.chain(rest)
}

fn occupied(tx: &mut Tx<'_>) -> Result<Option<&'static str>, Fault> {
    for part in parts() {
        if count(tx, &part)? > 0 {
            return Ok(Some(part.name));
        }
    }
    Ok(None)
}

fn count(tx: &mut Tx<'_>, part: &CopiedTable) -> Result<i64, Fault> {
    tx.query_one(part.count, params![])?.reader().int()
}

fn not_empty_refusal(place: &str, table: &str) -> Refusal {
    let what = format!("{place} is not empty: its table `{table}` has rows");
    Refusal::new(Kind::Refused, "store_not_empty", what, "copy into a new store; nothing was written")
        .with("table", table)
}

/// Gives every row of every table to `f`, each once.
fn walk(
    tx: &mut Tx<'_>,
    mut f: impl FnMut(&CopiedTable, Vec<Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let projects = project::ids(tx)?;
    let mut handoffs = BTreeSet::new();
    // A request may belong to no project: the one that makes a project or a token.
    let no_project = String::new();
    for part in parts() {
        match part.by {
            RowSelection::Whole => for_each_row(&part, tx.query(part.select, params![])?, &mut f)?,
            RowSelection::Project => {
                let outside = (part.name == "request").then_some(&no_project);
                for project in projects.iter().chain(outside) {
                    let mut rows = tx.query(part.select, params![project])?;
                    if matches!(part.name, "handoff" | "handoff_step" | "issue_comment" | "issue_text") {
                        // They are found from both projects of the hand-off, by its id and the number of the step or the comment.
                        let key = |row: &Row| {
                            format!("{} {:?}", part.name, row.0.iter().take(2).collect::<Vec<_>>())
                        };
                        rows.retain(|row| handoffs.insert(key(row)));
                    }
                    for_each_row(&part, rows, &mut f)?;
                }
            }
            RowSelection::Page => {
                for project in &projects {
                    pages(tx, &part, project, &mut f)?;
                }
            }
        }
    }
    Ok(())
}

fn for_each_row(
    part: &CopiedTable,
    rows: Vec<Row>,
    f: &mut impl FnMut(&CopiedTable, Vec<Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    rows.into_iter().try_for_each(|row| f(part, row.0))
}

fn pages(
    tx: &mut Tx<'_>,
    part: &CopiedTable,
    project: &str,
    f: &mut impl FnMut(&CopiedTable, Vec<Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut after = i64::MIN;
    loop {
        let rows = tx.query(part.select, params![project, after, PAGE])?;
        // The number stands second.
        match rows.last().and_then(|row| row.0.get(1)) {
            Some(Value::Int(seq)) => after = *seq,
            _ => return Ok(()),
        }
        for_each_row(part, rows, f)?;
    }
}

fn put(tx: &mut Tx<'_>, part: &CopiedTable, row: &[Value]) -> Result<(), Failure> {
    if tx.execute(part.insert, row)? != 1 {
        return Err(Fault::other(format!("a row of `{}` was there already", part.name)).into());
    }
    if part.name == "memory"
        && let [Value::Text(project), Value::Text(id), _, Value::Text(text), Value::Text(tags), ..] = row
    {
        search_memory::index(tx, project, id, &format!("{text} {tags}"))?;
    }
    Ok(())
}

/// Fails unless every row of the source was met: one that belongs to no project would be left behind.
fn complete(source: &mut Tx<'_>, sent: &Tally) -> Result<(), Failure> {
    for part in parts() {
        let (there, met) = (count(source, &part)?, sent.rows(part.name));
        if u64::try_from(there) != Ok(met) {
            let what =
                format!("the table `{}` has {there} rows, of which {met} belong to a project", part.name);
            return Err(Fault::other(what).into());
        }
    }
    Ok(())
}

fn measure(tx: &mut Tx<'_>) -> Result<Vec<Table>, Failure> {
    tally(tx).map(|tally| tally.tables())
}

fn tally(tx: &mut Tx<'_>) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    walk(tx, |part, row| {
        tally.add(part.name, &row);
        Ok(())
    })?;
    Ok(tally)
}

fn differs(sent: &[Table], stored: &[Table]) -> Fault {
    let names: Vec<&str> =
        sent.iter().zip(stored).filter(|(sent, stored)| sent != stored).map(|(sent, _)| sent.name).collect();
    Fault::other(format!("what was written reads back otherwise in {}: nothing was kept", names.join(", ")))
}

/// Counts rows and adds their hashes up, so that the order in which an engine gives them does not matter; and walks along the
/// chain of each project, whose row comes first and whose deltas come in order.
#[derive(Default)]
struct Tally {
    sums: BTreeMap<&'static str, (u64, [u64; 4])>,
    /// The `chain_head` of each project.
    heads: BTreeMap<String, String>,
    walks: BTreeMap<String, ChainVerifier>,
}

impl Tally {
    fn add(&mut self, table: &'static str, row: &[Value]) {
        if let Some((id, head)) = chain_head(table, row) {
            self.heads.insert(id.to_owned(), head.to_owned());
        }
        if let ("delta", Some(Value::Text(id))) = (table, row.first()) {
            self.walks.entry(id.clone()).or_insert_with(|| ChainVerifier::begin(id)).delta(row);
        }
        let mut hash = Sha256::new();
        row.iter().for_each(|value| chain::encode(&mut hash, value));
        let digest = hash.finalize();
        let (rows, sum) = self.sums.entry(table).or_default();
        *rows += 1;
        for (part, bytes) in sum.iter_mut().zip(digest.chunks(8)) {
            let number = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            *part = part.wrapping_add(number);
        }
    }

    /// Where the chains are broken, in sentences.
    fn faults(&self) -> Vec<String> {
        let mut walks = self.walks.clone();
        for (project, head) in &self.heads {
            walks.entry(project.clone()).or_insert_with(|| ChainVerifier::begin(project)).end(head);
        }
        walks.values().flat_map(ChainVerifier::faults).collect()
    }

    fn rows(&self, table: &str) -> u64 {
        self.sums.get(table).map_or(0, |(rows, _)| *rows)
    }

    fn tables(&self) -> Vec<Table> {
        let table = |part: CopiedTable| {
            let (rows, sum) = self.sums.get(part.name).copied().unwrap_or_default();
            let hash = sum.iter().map(|part| format!("{part:016x}")).collect();
            Table { name: part.name, rows, hash }
        };
        parts().map(table).collect()
    }
}

/// The project of a row and the newest link of its chain, if it is the row of a project.
fn chain_head<'a>(table: &str, row: &'a [Value]) -> Option<(&'a str, &'a str)> {
    let at = |column| row.get(dump::position(table, column)?);
    match (table == "project").then(|| (at("project_id"), at("chain_head"))) {
        Some((Some(Value::Text(id)), Some(Value::Text(head)))) => Some((id, head)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(rows: &[&[Value]]) -> String {
        let mut tally = Tally::default();
        rows.iter().for_each(|row| tally.add("delta", row));
        tally.tables().into_iter().find(|table| table.name == "delta").expect("delta").hash
    }

    /// Columns that come in later stand behind it.
    #[test]
    fn the_head_of_a_chain_is_read_by_its_name() {
        let count = dump::position("project", "merged_into").expect("a column") + 1;
        let mut row = vec![Value::Text("into".into()); count];
        row[dump::position("project", "project_id").expect("a column")] = Value::Text("p".into());
        row[dump::position("project", "chain_head").expect("a column")] = Value::Text("abc".into());
        assert_eq!(chain_head("project", &row), Some(("p", "abc")));
        assert_eq!(chain_head("session", &row), None);
    }

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let (a, b): (&[Value], &[Value]) = (params!["a", 1], params!["b", 2]);
        assert_eq!(hash(&[a, b]), hash(&[b, a]));
        for other in [&[a][..], &[a, b, b], &[a, params!["b", 3]], &[params!["a", 2], params!["b", 1]]] {
            assert_ne!(hash(&[a, b]), hash(other));
        }
        assert_ne!(hash(&[params!["ab", ""]]), hash(&[params!["a", "b"]]));
        assert_ne!(hash(&[&[Value::Null]]), hash(&[params![""]]));
        assert_ne!(hash(&[params![1]]), hash(&[params!["1"]]));
    }
}
