//! Keeps the search index of transcripts: reads what changed, forgets what is gone.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use baton_model::time::Millis;
use baton_store::search::{self, IndexedTranscript, SearchScope};
use baton_store::{Failure, Fault, FaultKind, Store, Target, Tx};
use baton_transcripts::search::passages;
use baton_transcripts::{Header, Stamp, TranscriptFile};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::find::{THREADS, places};
use crate::op::{Env, Host};

/// Bytes of transcripts between two commits: what an interrupted run loses at most, and how long another one waits.
const COMMIT_BYTES: u64 = 32 * 1024 * 1024;

/// What a refresh did.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RefreshStats {
    /// Sessions that were read, because they are new or have changed.
    pub read: usize,
    /// Sessions that are gone.
    pub removed: usize,
    /// Sessions that were looked at and left as they were.
    pub unchanged: usize,
    /// Whether another process was indexing, so that not everything was read.
    pub busy: bool,
}

/// Where the index is: beside the caches of this machine, else in memory for as long as it is needed.
pub(super) fn target(host: &dyn Host) -> Target {
    host.cache_dir().map_or(Target::Memory, |dir| Target::File(dir.join(search::FILE)))
}

/// Opens the index. Where none can be kept, it is made for this search alone.
pub(super) fn open(target: &Target, now: Millis) -> Result<Store, Failure> {
    let rules = baton_transcripts::redact::shared().fingerprint();
    match search::open(target, rules, now) {
        Err(Failure::Fault(fault)) if matches!(fault.kind, FaultKind::CannotOpen | FaultKind::ReadOnly) => {
            search::open(&Target::Memory, rules, now)
        }
        opened => opened,
    }
}

/// Brings the index up to date with the transcripts of these tools, of all tools when none is named.
pub(super) fn refresh(
    index: &mut Store,
    env: &Env<'_>,
    folders: &[String],
    agents: &[String],
) -> Result<RefreshStats, Failure> {
    let mut done = RefreshStats::default();
    match bring_up_to_date(index, env, folders, agents, &mut done) {
        Err(Failure::Fault(fault)) if fault.kind == FaultKind::Busy => done.busy = true,
        answer => answer?,
    }
    Ok(done)
}

fn bring_up_to_date(
    index: &mut Store,
    env: &Env<'_>,
    folders: &[String],
    agents: &[String],
    done: &mut RefreshStats,
) -> Result<(), Failure> {
    let found = baton_transcripts::find(&places(env, folders), agents, THREADS);
    let known = index.read(|tx| Ok(search::indexed_transcripts(tx)?))?;
    remove_gone(index, &known, &found, done)?;
    let known: HashMap<String, IndexedTranscript> =
        known.into_iter().map(|one| (one.name.clone(), one)).collect();
    let mut changed: Vec<(String, TranscriptFile)> = found
        .into_iter()
        .map(|one| (name(&one), one))
        .filter(|(name, one)| is_changed(&known, name, one))
        .collect();
    done.unchanged = known.len().saturating_sub(done.removed + changed.len());
    // The newest get the highest numbers, by which they are found first.
    changed.sort_by(|a, b| (a.1.stamp.mtime_ms(), &a.0).cmp(&(b.1.stamp.mtime_ms(), &b.0)));
    let home = env.host.transcript_env().home.to_string_lossy().into_owned();
    let total = changed.iter().map(|(_, one)| one.stamp.size).sum();
    let (mut next, mut bytes) = (0, 0);
    while next < changed.len() {
        let batch = batch(&changed[next..]);
        index.write_relaxed(|tx| {
            let mut seen = bytes;
            for (name, one) in &changed[next..next + batch] {
                env.host.progress(seen, total);
                update(tx, name, one, &home)?;
                seen += one.stamp.size;
            }
            Ok(())
        })?;
        bytes += changed[next..next + batch].iter().map(|(_, one)| one.stamp.size).sum::<u64>();
        next += batch;
        done.read = next;
    }
    env.host.progress(total, total);
    Ok(())
}

/// How many sessions go into one transaction: at least one.
fn batch(changed: &[(String, TranscriptFile)]) -> usize {
    let mut bytes = 0;
    let fits = changed.iter().take_while(|(_, one)| {
        let before = bytes;
        bytes += one.stamp.size.max(16 * 1024);
        before < COMMIT_BYTES
    });
    fits.count().max(1)
}

fn is_changed(known: &HashMap<String, IndexedTranscript>, name: &str, found: &TranscriptFile) -> bool {
    known.get(name).is_none_or(|one| stamp(one) != Some(found.stamp))
}

/// Forgets sessions that are gone: the file, or the session in a database that is still there. A file that merely was not
/// found from here stays: some tools keep theirs in the folder one stands in.
fn remove_gone(
    index: &mut Store,
    known: &[IndexedTranscript],
    found: &[TranscriptFile],
    done: &mut RefreshStats,
) -> Result<(), Failure> {
    let there: HashSet<String> = found.iter().map(name).collect();
    let databases: HashSet<&Path> =
        found.iter().filter(|one| one.key.is_some()).map(|one| one.path.as_path()).collect();
    let gone = |one: &&IndexedTranscript| {
        !there.contains(&one.name) && !Path::new(&one.name).exists() && {
            let database = one.name.rsplit_once('#').map(|(path, _)| Path::new(path));
            database.is_none_or(|path| databases.contains(path) || !path.exists())
        }
    };
    let gone: Vec<&IndexedTranscript> = known.iter().filter(gone).collect();
    if gone.is_empty() {
        return Ok(());
    }
    done.removed = index.write_relaxed(|tx| {
        let mut removed = 0;
        for one in &gone {
            // Another process may have been here since we looked, and given the number to another session.
            if let Some(still) = search::find_by_name(tx, &one.name)? {
                search::forget(tx, &still)?;
                removed += 1;
            }
        }
        Ok(removed)
    })?;
    Ok(())
}

/// Reads a session anew and writes what differs. A session that grew keeps its passages up to where it grew.
fn update(tx: &mut Tx<'_>, name: &str, found: &TranscriptFile, home: &str) -> Result<(), Fault> {
    let before = search::find_by_name(tx, name)?;
    // Another process may have read it since we looked.
    if before.as_ref().and_then(stamp) == Some(found.stamp) {
        return Ok(());
    }
    let number = match &before {
        Some(one) => one.number,
        None => search::next_number(tx)?,
    };
    let old = before.map_or(0, |one| one.passages);
    let header = baton_transcripts::header(found, &()).unwrap_or_else(|| found.header());
    let (passages, folders) = write_passages(tx, number, old, found, home)?;
    let about = search_scope(number, &header, folders);
    let session = IndexedTranscript {
        number,
        name: name.to_owned(),
        size: i64::try_from(found.stamp.size).unwrap_or(i64::MAX),
        mtime_ns: found.stamp.mtime_ns,
        inode: i64::from_ne_bytes(found.stamp.inode.to_ne_bytes()),
        passages,
    };
    search::put(tx, &session, &about, &clean(&json!(header).to_string()))
}

/// Writes the passages of a session over its old ones; returns how many there are, and the folders that its entries name.
fn write_passages(
    tx: &mut Tx<'_>,
    number: i64,
    old: i64,
    found: &TranscriptFile,
    home: &str,
) -> Result<(i64, Vec<String>), Fault> {
    let (mut place, mut count, mut fault) = (0, old, None);
    let folders = passages(found, Some(home), &mut |passage| {
        if fault.is_some() || place >= search::MAX_PASSAGES {
            return;
        }
        let write = || {
            if place < count && search::passage_line(tx, number, place)? == Some(passage.mark) {
                return Ok(());
            }
            // From the first difference on the old ones go.
            search::delete_passages(tx, number, place, count)?;
            count = count.min(place);
            search::put_passage(tx, number, place, passage.mark, &passage.words, passage.packed)
        };
        fault = write().err();
        place += 1;
    });
    match fault {
        Some(fault) => Err(fault),
        None => search::delete_passages(tx, number, place, count).map(|()| (place, folders)),
    }
}

fn search_scope(number: i64, header: &Header, folders: Vec<String>) -> SearchScope {
    SearchScope {
        number,
        agent: header.tool_id.clone(),
        native_id: clean(&header.id),
        folders: folders.iter().map(|folder| clean(folder)).collect(),
        cwd: clean(header.cwd.as_deref().unwrap_or_default()),
        updated_at: header.updated_at_ms.unwrap_or(0),
    }
}

/// No text in a store has NUL characters.
fn clean(text: &str) -> String {
    text.replace('\0', "")
}

fn name(found: &TranscriptFile) -> String {
    clean(&found.cached().path.to_string_lossy())
}

fn stamp(one: &IndexedTranscript) -> Option<Stamp> {
    Some(Stamp {
        size: u64::try_from(one.size).ok()?,
        mtime_ns: one.mtime_ns,
        inode: u64::from_ne_bytes(one.inode.to_ne_bytes()),
    })
}
