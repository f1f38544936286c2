//! All transcripts of a machine, newest first.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::format::{ALL, TranscriptReader, by_id};
use crate::header::{Brief, Header, Stamp, TranscriptFile};
use crate::places::TranscriptEnv;

/// What a listing leaves out; by default empty files and sub-agents.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only these formats, by id; all when there are none.
    pub agents: Vec<String>,
    /// Only sessions that worked in this directory or below it.
    pub project: Option<String>,
    /// Only sessions with an entry at or after this time, in epoch milliseconds.
    pub since_ms: Option<i64>,
    /// Also files without a conversation.
    pub empty: bool,
    /// Also transcripts of sub-agents that stand as sessions of their own.
    pub subagents: bool,
}

/// Where headers are kept between listings. A session in a database goes by the path of the database, `#` and its key,
/// both in `get` and in the `Found` of `put`: no two sessions share a path here.
pub trait HeaderCache: Sync {
    /// The header kept for this file, if it was kept under the same stamp.
    fn get(&self, path: &Path, stamp: &Stamp) -> Option<Header>;

    /// What `get` would give, as far as a listing sorts and leaves out by it. Of thousands of sessions a page shows
    /// twenty, so a cache that can tell this without making the whole header should.
    fn brief(&self, path: &Path, stamp: &Stamp) -> Option<Brief> {
        self.get(path, stamp).as_ref().map(Brief::from)
    }

    /// Keeps a header.
    fn put(&self, found: &TranscriptFile, header: &Header);
}

/// No cache.
impl HeaderCache for () {
    fn get(&self, _: &Path, _: &Stamp) -> Option<Header> {
        None
    }

    fn put(&self, _: &TranscriptFile, _: &Header) {}
}

/// A session that is listed; its header is there on demand.
#[derive(Debug, Clone)]
pub struct SessionListing {
    /// What it is sorted and chosen by.
    pub brief: Brief,
    found: TranscriptFile,
    /// Boxed: thousands of these are sorted.
    header: Option<Box<Header>>,
}

impl SessionListing {
    /// The tool that wrote it.
    pub fn agent(&self) -> &str {
        self.found.agent
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.found.path
    }

    /// Under which path a cache keeps it.
    pub fn cache_path(&self) -> Cow<'_, Path> {
        self.found.cache_path()
    }

    /// Its header; none when the cache has lost it and the file has gone in the meantime.
    pub fn header(self, cache: &dyn HeaderCache) -> Option<Header> {
        self.header.map(|header| *header).or_else(|| header(&self.found, cache))
    }
}

/// Lists transcripts on `threads` threads, newest first. A file that the cache knows costs no more than looking at its
/// metadata.
pub fn browse(
    env: &TranscriptEnv,
    filter: &Filter,
    cache: &dyn HeaderCache,
    threads: usize,
) -> Vec<SessionListing> {
    let mut found = find(env, &filter.agents, threads);
    if let Some(since) = filter.since_ms {
        // The last entry cannot be younger than the file.
        found.retain(|one| one.stamp.mtime_ms() >= since);
    }
    let (mut listed, mut unknown) = (Vec::with_capacity(found.len()), Vec::new());
    for found in found {
        match cache.brief(&found.cache_path(), &found.stamp) {
            Some(brief) => listed.push(SessionListing { brief, found, header: None }),
            None => unknown.push(found),
        }
    }
    listed.extend(spread(&unknown, threads, |one, own| {
        own.extend(header(one, cache).map(|header| SessionListing {
            brief: Brief::from(&header),
            found: one.clone(),
            header: Some(Box::new(header)),
        }));
    }));
    listed.retain(|one| is_kept(filter, &one.brief));
    listed.sort_unstable_by(|a, b| {
        let by = |one: &SessionListing| Reverse(one.brief.updated_at_ms);
        (by(a), &a.found.path, &a.found.key).cmp(&(by(b), &b.found.path, &b.found.key))
    });
    listed
}

/// Lists sessions, each with its whole header.
pub fn list(env: &TranscriptEnv, filter: &Filter, cache: &dyn HeaderCache, threads: usize) -> Vec<Header> {
    browse(env, filter, cache, threads).into_iter().filter_map(|one| one.header(cache)).collect()
}

/// Every transcript of these formats (of all when none is named), unopened and in no order.
pub fn find(env: &TranscriptEnv, agents: &[String], threads: usize) -> Vec<TranscriptFile> {
    let wanted = |format: &&'static dyn TranscriptReader| is_wanted(agents, *format);
    let formats: Vec<&dyn TranscriptReader> = ALL.iter().copied().filter(wanted).collect();
    // Most tools are not there, and the walk is short: more threads would cost more than they bring.
    spread(&formats, threads.min(2), |format, own| format.find(env, &mut |one| own.push(one)))
}

/// The header of one file, from the cache or read.
pub fn header(found: &TranscriptFile, cache: &dyn HeaderCache) -> Option<Header> {
    if let Some(mut header) = cache.get(&found.cache_path(), &found.stamp) {
        // A cache keyed by path need not store the path in the header.
        header.path.clone_from(&found.path);
        return Some(header);
    }
    let header = by_id(found.agent)?.header(found).redacted();
    cache.put(&found.cached(), &header);
    Some(header)
}

/// Works on items on several threads; results come in no order.
pub(crate) fn spread<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T, &mut Vec<R>) + Sync,
) -> Vec<R> {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = || {
        let mut own = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item, &mut own);
        }
        // A poisoned lock means that another thread died; what it had is lost, what is here is whole.
        all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            scope.spawn(run);
        }
        run();
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn is_wanted(agents: &[String], format: &dyn TranscriptReader) -> bool {
    agents.is_empty() || agents.iter().any(|id| id == format.id())
}

fn is_kept(filter: &Filter, brief: &Brief) -> bool {
    let inside =
        |project: &String| brief.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(project));
    (filter.empty || !brief.empty)
        && (filter.subagents || !brief.subagent)
        && filter.project.as_ref().is_none_or(inside)
        && filter.since_ms.is_none_or(|since| brief.updated_at_ms.is_some_and(|at| at >= since))
}
