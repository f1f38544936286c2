//! The hash chain over a project's ledger: a delta's `chain` is the SHA-256 of all its columns and of the `chain` of the delta
//! before it, in hex; the project's row carries the newest (`chain_head`). Gaps in the numbers are no gaps in the chain.
//!
//! The chain has no secret key. It shows that a delta was damaged, removed, moved or added by anything but Baton; an
//! attacker who can write to the store and knows this file can compute a new chain.

use sha2::{Digest, Sha256};

use crate::engine::{Engine, Failure, Fault, FaultKind, Row, Store, Tx, Value};
use crate::{params, project};

/// The encoding of a delta, hashed first: another encoding has another version, and no text of one is a text of the other.
const VERSION: &[u8] = b"baton delta 1\n";
/// The columns of a delta that its hash covers, in this order; `chain` comes after them.
pub(crate) const COVERED: usize = 10;
/// Deltas held in memory at once.
const PAGE_SIZE: i64 = 500;
/// Broken deltas that are named; the others are counted.
const MAX_NAMED_DELTAS: usize = 20;

crate::sql! {
    AFTER = "SELECT project_id, seq, delta_id, kind, session_id, identity, created_at, inherited_from, thread_id, body, chain
        FROM delta WHERE project_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    HEAD = "SELECT chain_head FROM project WHERE project_id = $1";
    NUMBERS = "SELECT seq FROM delta WHERE project_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    SEAL = "UPDATE delta SET chain = $1 WHERE project_id = $2 AND seq = $3";
    SEAL_HEAD = "UPDATE project SET chain_head = $1 WHERE project_id = $2";
}

/// Adds a value to a hash so that no two lists of values are hashed alike: its type, its length, its bytes.
pub(crate) fn encode(hash: &mut Sha256, value: &Value) {
    match value {
        Value::Null => bytes(hash, 0, &[]),
        Value::Int(number) => bytes(hash, 1, &number.to_be_bytes()),
        Value::Text(text) => bytes(hash, 2, text.as_bytes()),
        Value::Blob(blob) => bytes(hash, 3, blob),
    }
}

fn bytes(hash: &mut Sha256, tag: u8, bytes: &[u8]) {
    hash.update([tag]);
    hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
    hash.update(bytes);
}

/// The `chain` of a delta with these columns that follows one whose `chain` is `previous`; empty: it is the first.
pub(crate) fn chain_hash(previous: &str, columns: &[Value]) -> String {
    let mut hash = Sha256::new();
    hash.update(VERSION);
    bytes(&mut hash, 2, previous.as_bytes());
    columns.iter().for_each(|value| encode(&mut hash, value));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The newest `chain` of a project, as its row has it; empty where nothing was appended.
pub fn head(tx: &mut Tx<'_>, project_id: &str) -> Result<String, Fault> {
    tx.query_one(HEAD, params![project_id])?.reader().text()
}

/// Walks along the deltas of projects, each in order, and finds those whose `chain` is not theirs.
#[derive(Debug, Clone, Default)]
pub struct ChainVerifier {
    project_id: String,
    previous: String,
    before: i64,
    /// Deltas that agree.
    pub sound: u64,
    /// Those that do not.
    pub broken: Vec<ChainBreak>,
}

/// A delta at which the chain is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainBreak {
    /// The project.
    pub project_id: String,
    /// The number of the delta; that of the newest where the end is missing.
    pub seq: i64,
    /// What is wrong, in one sentence.
    pub what: String,
}

impl ChainVerifier {
    /// Begins the ledger of a project.
    pub(crate) fn begin(project: &str) -> Self {
        Self { project_id: project.to_owned(), ..Self::default() }
    }

    /// Takes the next delta, as [`AFTER`] reads it.
    pub(crate) fn delta(&mut self, row: &[Value]) {
        let Some(Value::Int(seq)) = row.get(1) else {
            return self.broke(self.before, "a delta after this one has no number");
        };
        let covered = row.get(..COVERED).unwrap_or(row);
        let given = match row.get(COVERED) {
            Some(Value::Text(chain)) => chain.as_str(),
            _ => "",
        };
        if chain_hash(&self.previous, covered) == given {
            self.sound += 1;
        } else {
            let what = "this delta, its hash, or the delta before it is not what was written";
            self.broke(*seq, what);
        }
        given.clone_into(&mut self.previous);
        self.before = *seq;
    }

    /// Compares the end of the ledger with the `chain_head` of the project's row.
    pub(crate) fn end(&mut self, head: &str) {
        if self.previous != head {
            let what = match self.previous.as_str() {
                "" => "the deltas of this project are gone, or its row names a newest one that there is not",
                _ => {
                    "this is not the delta that the project's row names as the newest: later ones are gone, or the row is damaged"
                }
            };
            self.broke(self.before, what);
        }
    }

    fn broke(&mut self, seq: i64, what: &str) {
        self.broken.push(ChainBreak { project_id: self.project_id.clone(), seq, what: what.to_owned() });
    }
}

/// Checks the ledger of a project from its first delta to its last, within an open transaction.
pub fn walk(tx: &mut Tx<'_>, project_id: &str) -> Result<ChainVerifier, Fault> {
    let mut walk = ChainVerifier::begin(project_id);
    let mut after = i64::MIN;
    loop {
        let rows = tx.query(AFTER, params![project_id, after, PAGE_SIZE])?;
        match rows.last().and_then(|row| row.0.get(1)) {
            Some(Value::Int(seq)) => after = *seq,
            _ => break,
        }
        rows.iter().for_each(|row| walk.delta(&row.0));
    }
    let head = head(tx, project_id)?;
    walk.end(&head);
    Ok(walk)
}

/// Checks the ledger of a project even where some of it cannot be read: then each delta is read by itself. A database that
/// cannot be reached is a fault all the same.
pub fn check(store: &mut Store, project_id: &str) -> Result<ChainVerifier, Failure> {
    match store.snapshot(|tx| Ok(walk(tx, project_id)?)) {
        Err(Failure::Fault(fault)) if is_damage(fault.kind) => piecewise(store, project_id),
        walked => walked,
    }
}

fn is_damage(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Corrupt | FaultKind::Other)
}

fn piecewise(store: &mut Store, project_id: &str) -> Result<ChainVerifier, Failure> {
    let mut walk = ChainVerifier::begin(project_id);
    let mut after = i64::MIN;
    loop {
        match store.read(|tx| Ok(tx.query_opt(AFTER, params![project_id, after, 1])?)) {
            Ok(Some(row)) => {
                walk.delta(&row.0);
                match row.0.get(1) {
                    Some(Value::Int(seq)) if *seq > after => after = *seq,
                    _ => return Ok(walk),
                }
            }
            Ok(None) => break,
            Err(Failure::Fault(fault)) if is_damage(fault.kind) => {
                // Its number is in the index even where the row itself cannot be read.
                let next = store.read(|tx| Ok(tx.query_opt(NUMBERS, params![project_id, after, 1])?));
                let number = next.ok().flatten().and_then(|row| row.reader().int().ok());
                walk.broke(number.unwrap_or(walk.before), &format!("it cannot be read: {}", fault.message));
                match number.filter(|number| *number > after) {
                    Some(number) => after = number,
                    None => return Ok(walk),
                }
            }
            Err(failure) => return Err(failure),
        }
    }
    match store.read(|tx| Ok(head(tx, project_id)?)) {
        Ok(head) => walk.end(&head),
        Err(failure) => walk.broke(walk.before, &format!("the project's row cannot be read: {failure}")),
    }
    Ok(walk)
}

impl ChainVerifier {
    /// What is wrong, in sentences that name project and number of each broken delta; none where all is well.
    pub fn faults(&self) -> Vec<String> {
        let Some(first) = self.broken.first() else { return Vec::new() };
        let name = |found: &ChainBreak| {
            format!("{}: the chain is broken at delta {}: {}", found.project_id, found.seq, found.what)
        };
        let mut names: Vec<String> = self.broken.iter().take(MAX_NAMED_DELTAS).map(name).collect();
        if self.broken.len() > MAX_NAMED_DELTAS {
            names.push(format!(
                "{}: and at {} deltas more",
                first.project_id,
                self.broken.len() - MAX_NAMED_DELTAS
            ));
        }
        names.push(format!(
            "{}: {} of its deltas read as they were written; the first that does not is {}",
            first.project_id, self.sound, first.seq
        ));
        names
    }
}

/// Gives every delta its `chain`, project by project: for ledgers from before there was one. Runs in the transaction of its
/// migration.
pub(crate) fn compute_chain(engine: &mut dyn Engine) -> Result<(), Fault> {
    for row in engine.query(project::IDS, &[])? {
        let project = row.reader().text()?;
        let mut previous = String::new();
        let mut after = i64::MIN;
        loop {
            let rows = engine.query(AFTER, params![&project, after, PAGE_SIZE])?;
            match rows.last().and_then(|row| row.0.get(1)) {
                Some(Value::Int(seq)) => after = *seq,
                _ => break,
            }
            for Row(columns) in rows {
                previous = chain_hash(&previous, columns.get(..COVERED).unwrap_or(&columns));
                let number = columns.into_iter().nth(1).unwrap_or(Value::Null);
                engine
                    .execute_deferred(SEAL, &[previous.as_str().into(), project.as_str().into(), number])?;
            }
        }
        engine.execute_deferred(SEAL_HEAD, params![&previous, &project])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Value> {
        params!["p", 7, "d", "note", None::<String>, "Ann", 1_700, None::<String>, "t", "{\"text\":\"x\"}"]
            .to_vec()
    }

    #[test]
    fn the_encoding_of_version_one_never_changes() {
        assert_eq!(
            chain_hash("", &columns()),
            "5ef5e6c0837b34c87f9cba6761a72919dd01ac6c2a8fdcc9b519b0b50a8bc9e9"
        );
    }

    #[test]
    fn every_column_its_type_its_place_and_what_came_before_count() {
        let whole = chain_hash("", &columns());
        assert_ne!(chain_hash("x", &columns()), whole);
        for at in 0..COVERED {
            for other in [Value::Null, Value::Int(0), Value::from("y"), Value::Blob(b"t".to_vec())] {
                let mut changed = columns();
                changed[at] = other;
                if changed != columns() {
                    assert_ne!(chain_hash("", &changed), whole, "column {at}");
                }
            }
        }
        let (one, other) = (params!["ab", "c"], params!["a", "bc"]);
        assert_ne!(chain_hash("", one), chain_hash("", other), "no two lists are encoded alike");
    }
}
