//! The headers of transcripts that the store keeps: a listing of thousands reads the beginning of each, and all of the few that it shows.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use baton_store::transcript::{self, CachedHeader};
use baton_store::{Failure, Store};
use baton_transcripts::{Brief, Header, HeaderCache, SessionListing, Stamp, TranscriptFile};
use serde_json::json;

/// Characters of a row that a listing of all reads: the rules and the brief header. One whose folder has a longer name is read whole.
const BEGINNING: i64 = 600;
/// Up to so many chosen sessions are asked for by their path; for more, everything is gone through once more.
const FEW: usize = 64;

/// The headers that the store keeps, and what this listing adds to them.
pub(super) struct StoreCache {
    /// By path: the stamp, and the beginning of what is kept.
    known: HashMap<String, (Stamp, String)>,
    /// By path: all that is kept, of the few that are shown.
    whole: HashMap<String, (Stamp, String)>,
    rules: String,
    fresh: Mutex<Vec<(TranscriptFile, Header)>>,
}

fn keyed(row: CachedHeader) -> (String, (Stamp, String)) {
    let stamp = Stamp {
        size: u64::try_from(row.size).unwrap_or(u64::MAX),
        mtime_ns: row.mtime_ns,
        inode: u64::from_ne_bytes(row.inode.to_ne_bytes()),
    };
    (row.path, (stamp, row.header))
}

impl StoreCache {
    /// Reads of each row what a listing sorts and chooses by.
    pub(super) fn load(store: &mut Store, machine: &str) -> Result<Self, Failure> {
        let mut known = HashMap::new();
        let mut long = Vec::new();
        store.read(|tx| {
            transcript::each(tx, machine, Some(BEGINNING), |row| {
                if row.header.split('\n').nth(2).is_none() {
                    long.push(row.path.clone());
                }
                known.extend([keyed(row)]);
            })?;
            for paths in long.chunks(FEW) {
                known.extend(transcript::get_all(tx, machine, paths)?.into_iter().map(keyed));
            }
            Ok(())
        })?;
        Ok(Self { known, whole: HashMap::new(), rules: rules(), fresh: Mutex::new(Vec::new()) })
    }

    /// Reads all that is kept of those that were chosen.
    pub(super) fn load_whole(
        &mut self,
        store: &mut Store,
        machine: &str,
        chosen: &[SessionListing],
    ) -> Result<(), Failure> {
        let paths = chosen.iter().filter_map(|one| one.cache_path().to_str().map(str::to_owned));
        let paths = paths.filter(|path| self.known.contains_key(path)).collect();
        self.load_paths(store, machine, paths)
    }

    fn load_paths(&mut self, store: &mut Store, machine: &str, paths: Vec<String>) -> Result<(), Failure> {
        let whole = &mut self.whole;
        store.read(|tx| {
            if paths.len() <= FEW {
                whole.extend(transcript::get_all(tx, machine, &paths)?.into_iter().map(keyed));
                return Ok(());
            }
            let wanted: HashSet<String> = paths.into_iter().collect();
            Ok(transcript::each(tx, machine, None, |row| {
                if wanted.contains(&row.path) {
                    whole.extend([keyed(row)]);
                }
            })?)
        })
    }

    /// What is kept of this file as it is now, from the brief header on. What another version of the program kept is read anew.
    fn cached<'a>(
        &self,
        rows: &'a HashMap<String, (Stamp, String)>,
        path: &Path,
        stamp: &Stamp,
    ) -> Option<(&'a str, &'a str)> {
        let (known, cached) = rows.get(path.to_str()?)?;
        let (rules, cached) = cached.split_once('\n')?;
        if known == stamp && rules == self.rules { cached.split_once('\n') } else { None }
    }

    /// Keeps what was read. A cache may be lost, so a store that cannot be written is no reason to fail.
    pub(super) fn save(self, store: &mut Store, machine: &str) {
        let fresh = self.fresh.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if fresh.is_empty() {
            return;
        }
        let _ = store.write_relaxed(|tx| {
            for (found, header) in &fresh {
                let cached = CachedHeader {
                    path: found.path.to_string_lossy().into_owned(),
                    size: i64::try_from(found.stamp.size).unwrap_or(i64::MAX),
                    mtime_ns: found.stamp.mtime_ns,
                    inode: i64::from_ne_bytes(found.stamp.inode.to_ne_bytes()),
                    header: keep(header),
                };
                transcript::put(tx, machine, &cached)?;
            }
            Ok(())
        });
    }
}

impl HeaderCache for StoreCache {
    fn get(&self, path: &Path, stamp: &Stamp) -> Option<Header> {
        self.cached(&self.whole, path, stamp).and_then(|(_, whole)| serde_json::from_str(whole).ok())
    }

    fn brief(&self, path: &Path, stamp: &Stamp) -> Option<Brief> {
        self.cached(&self.known, path, stamp).and_then(|(brief, _)| serde_json::from_str(brief).ok())
    }

    fn put(&self, found: &TranscriptFile, header: &Header) {
        if let Ok(mut fresh) = self.fresh.lock() {
            // The row has the path, and thousands of rows are read for each listing.
            fresh.push((found.clone(), Header { path: PathBuf::new(), ..header.clone() }));
        }
    }
}

/// The rules by which secrets were taken out, and two lines of JSON: a listing of thousands reads the short one of each,
/// and the long one of the few that it shows.
fn keep(header: &Header) -> String {
    format!("{}\n{}\n{}", rules(), json!(Brief::from(header)), json!(header))
}

/// What was kept under other rules than these is read anew.
fn rules() -> String {
    format!("{:016x}", baton_transcripts::redact::shared().fingerprint())
}

#[cfg(test)]
mod tests {
    use baton_store::Target;

    use super::*;

    /// A header whose title tells whether it comes from the store, and that of a file that was never opened.
    fn header(path: &str, cwd: &str) -> Header {
        let stamp = Stamp { size: 5, mtime_ns: 7, inode: 9 };
        let file =
            TranscriptFile { stamp, ..TranscriptFile::from_path("codex", Path::new("Cargo.toml")).unwrap() };
        Header {
            id: path.to_owned(),
            cwd: Some(cwd.to_owned()),
            title: Some("kept".to_owned()),
            ..file.header()
        }
    }

    #[test]
    fn a_listing_reads_briefs_of_all_and_whole_headers_of_those_that_are_shown() {
        let mut store = Store::open(&Target::Memory, 0).unwrap();
        // More rows than are read at once, and one with a folder so long that its beginning does not hold the brief header.
        let long = "/very/long".repeat(100);
        let cwd = |n: usize| if n == 1_203 { long.as_str() } else { "/src/shop" };
        store
            .write_relaxed(|tx| {
                for n in 0..1_204 {
                    let path = format!("/t/{n:04}");
                    let header = keep(&header(&path, cwd(n)));
                    let row = CachedHeader { path, size: 5, mtime_ns: 7, inode: 9, header };
                    transcript::put(tx, "m1", &row)?;
                }
                Ok(())
            })
            .unwrap();
        let mut cache = StoreCache::load(&mut store, "m1").unwrap();
        let stamp = Stamp { size: 5, mtime_ns: 7, inode: 9 };
        for n in [0, 499, 500, 999, 1_000, 1_203] {
            let path = format!("/t/{n:04}");
            let brief = cache.brief(Path::new(&path), &stamp).expect("a brief header");
            assert_eq!((brief.id.as_str(), brief.cwd.as_deref()), (path.as_str(), Some(cwd(n))));
            assert!(cache.get(Path::new(&path), &stamp).is_none(), "nothing is shown yet");
        }
        let changed = Stamp { size: 6, ..stamp };
        assert!(cache.brief(Path::new("/t/0000"), &changed).is_none(), "the file is another by now");
        for shown in [vec!["/t/0007", "/t/1203", "/t/gone"], (0..100).map(|_| "/t/0042").collect()] {
            let shown: Vec<String> = shown.into_iter().map(str::to_owned).collect();
            cache.load_paths(&mut store, "m1", shown.clone()).unwrap();
            for path in shown.iter().filter(|path| *path != "/t/gone") {
                let whole = cache.get(Path::new(path), &stamp).expect("a header");
                assert_eq!((whole.id.as_str(), whole.title.as_deref()), (path.as_str(), Some("kept")));
            }
        }
        assert!(cache.get(Path::new("/t/0007"), &changed).is_none());
    }
}
