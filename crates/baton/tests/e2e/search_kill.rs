//! The search index of transcripts under `kill -9` while it is built, and under several builders and a searcher at once:
//! what is there is found once, and the index stays sound. `BATON_E2E_KILLS=200` kills so many builders.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use baton_store::{Target, search};
use serde_json::{Value, json};

use crate::stage::{Answer, Stage, Terminal, env, items, text};

const SESSIONS: usize = 24;
/// Every so many sessions one is so large that what came before it is committed; the rest of it is nothing to index.
const LARGE: usize = 8;
const LARGE_BYTES: u64 = 33 * 1024 * 1024;

/// A number below `limit`, different in every run.
fn random(limit: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % limit.max(1)
}

/// Sessions of Claude Code on one machine, each with a word that only it has.
struct Machine {
    stage: Stage,
    /// How many entries each session has.
    entries: Vec<usize>,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { stage: Stage::ready(), entries: vec![0; SESSIONS] };
        fs::create_dir_all(machine.folder()).expect("a folder");
        machine
    }

    fn full() -> Self {
        let mut machine = Self::new();
        for nth in 0..SESSIONS {
            machine.grow(nth, 40);
            if nth % LARGE == LARGE - 1 {
                let file = OpenOptions::new().write(true).open(machine.path(nth)).expect("a session");
                file.set_len(LARGE_BYTES).expect("a hole");
            }
        }
        machine
    }

    fn folder(&self) -> PathBuf {
        self.stage.home().join(".claude/projects/-shop")
    }

    fn id(nth: usize) -> String {
        format!("{nth:08}-aaaa-4000-8000-000000000000")
    }

    fn path(&self, nth: usize) -> PathBuf {
        self.folder().join(format!("{}.jsonl", Self::id(nth)))
    }

    /// Adds entries to a session. What stands at its end is cut off first: the hole of a large one.
    fn grow(&mut self, nth: usize, entries: usize) {
        let path = self.path(nth);
        let mut lines = String::new();
        let known = self.entries[nth];
        for n in known..known + entries {
            let parent = if n == 0 { Value::Null } else { json!(format!("u{}", n - 1)) };
            let words = format!("word{nth}x common {} {}", "filling ".repeat(60), n * 7919 % 1000);
            let line = json!({
                "type": "user", "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": Self::id(nth), "cwd": "/repos/p",
                "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": "user", "content": words },
            });
            lines.push_str(&format!("{line}\n"));
        }
        if known > 0 {
            let whole = fs::read(&path).expect("a session");
            let end = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            fs::write(&path, &whole[..end]).expect("written");
        } else {
            drop(File::create(&path).expect("a session"));
        }
        OpenOptions::new()
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(lines.as_bytes()))
            .expect("written");
        self.entries[nth] += entries;
    }

    fn terminal(&self) -> Terminal<'_> {
        self.stage.terminal("Lola")
    }

    fn index(&self) -> PathBuf {
        self.stage.home().join("data/baton").join(search::FILE)
    }

    /// What a search answers: ids of sessions and how many passages of each fit. Nothing may be there twice.
    fn found(&self, args: &[&str]) -> BTreeMap<String, i64> {
        let answer = self.terminal().json(&[&["transcripts", "search", "-n", "0"], args].concat());
        told(&answer)
    }

    /// Fails unless every session is found by the word that all have and by the word that only it has, as often as in
    /// an index made anew, and the file is sound.
    fn assert_whole(&self) {
        let common = self.found(&["common"]);
        let there: Vec<String> = (0..SESSIONS).filter(|nth| self.path(*nth).exists()).map(Self::id).collect();
        assert_eq!(common.keys().cloned().collect::<Vec<_>>(), there);
        for nth in 0..SESSIONS {
            let own = self.found(&["--no-refresh", &format!("word{nth}x")]);
            let wanted: Vec<String> = there.iter().filter(|id| **id == Self::id(nth)).cloned().collect();
            assert_eq!(own.into_keys().collect::<Vec<_>>(), wanted, "word{nth}x");
        }
        let index = self.index();
        let rules = baton_transcripts::redact::shared().fingerprint();
        let mut store = search::open(&Target::File(index.clone()), rules, 0).expect("the index opens");
        let faults = store.write_relaxed(|tx| Ok(search::faults(tx)?)).expect("it can be checked");
        assert_eq!(faults, Vec::<String>::new());
        drop(store);
        search::remove_index(&Target::File(index));
        assert_eq!(self.found(&["common"]), common, "an index made anew tells the same");
    }
}

fn told(answer: &Value) -> BTreeMap<String, i64> {
    let listed = items(answer);
    let rows: BTreeMap<String, i64> =
        listed.iter().map(|item| (text(item, "id"), item["passages"].as_i64().expect("a count"))).collect();
    assert_eq!(rows.len(), listed.len(), "a session was found twice: {answer:#}");
    rows
}

/// Bytes of the index and its log.
fn size(machine: &Machine) -> u64 {
    let log = machine.index().with_extension("db-wal");
    [machine.index(), log].iter().map(|path| fs::metadata(path).map_or(0, |meta| meta.len())).sum()
}

/// Starts a builder and kills it when it has written so many bytes, unless it has ended before. How long it takes on
/// this machine does not matter.
fn build_and_kill(machine: &Machine, bytes: u64) {
    let until = size(machine) + bytes;
    let mut child = machine.terminal().spawn(BUILD);
    while child.try_wait().expect("a process").is_none() && size(machine) < until {
        std::thread::sleep(Duration::from_micros(200));
    }
    // It may have ended in this moment.
    let _ = child.kill();
    Answer::of(child, BUILD);
}

const BUILD: &[&str] = &["transcripts", "search", "common", "-n", "0", "--json"];

#[test]
fn a_killed_builder_leaves_an_index_that_the_next_one_completes() {
    let kills = env("BATON_E2E_KILLS").and_then(|text| text.parse().ok()).unwrap_or(12);
    let mut machine = Machine::full();
    assert_eq!(machine.found(&["common"]).len(), SESSIONS);
    let whole = size(&machine);
    let (mut partly, mut kill) = (0, 0);
    // Where a builder ends before this process gets to kill it, there are more tries.
    while kill < kills || partly == 0 && kill < 20 * kills {
        if kill % 4 == 0 {
            search::remove_index(&Target::File(machine.index()));
        } else {
            // Some have grown, one is gone, and one is back.
            for _ in 0..3 {
                let nth = usize::try_from(random(SESSIONS as u64)).unwrap_or(0);
                machine.grow(nth, 5);
            }
            let gone = kill % SESSIONS;
            let content = fs::read(machine.path(gone)).expect("a session");
            fs::remove_file(machine.path(gone)).expect("removed");
            build_and_kill(&machine, random(whole / 8));
            fs::write(machine.path(gone), content).expect("back");
        }
        // From nothing on it is killed when a part of the sessions has been committed, else at any moment.
        let bytes = if kill % 4 == 0 { whole / 6 + random(whole / 8) } else { random(whole) };
        build_and_kill(&machine, bytes);
        if machine.index().exists() {
            // What was committed can be searched, and nothing in it is there twice.
            let half = machine.found(&["--no-refresh", "common"]).len();
            partly += usize::from(half > 0 && half < SESSIONS);
        }
        kill += 1;
    }
    assert!(partly > 0, "no kill left a part of the sessions: nothing was interrupted");
    machine.assert_whole();
}

#[test]
fn two_builders_and_a_searcher_at_once_leave_one_whole_index() {
    let rounds = if env("BATON_E2E_KILLS").is_some() { 20 } else { 2 };
    let mut machine = Machine::full();
    for round in 0..rounds {
        if round % 2 == 0 {
            search::remove_index(&Target::File(machine.index()));
        } else {
            (0..SESSIONS).for_each(|nth| machine.grow(nth, 3));
        }
        let done = AtomicBool::new(false);
        let (machine, done) = (&machine, &done);
        std::thread::scope(|scope| {
            let searcher = scope.spawn(move || {
                while !done.load(Ordering::Acquire) {
                    let found = machine.found(&["--no-refresh", "common"]);
                    assert!(found.len() <= SESSIONS, "{found:?}");
                }
            });
            let builders: Vec<_> = (0..2).map(|_| machine.terminal().spawn(BUILD)).collect();
            let answers: Vec<Answer> = builders.into_iter().map(|child| Answer::of(child, BUILD)).collect();
            done.store(true, Ordering::Release);
            searcher.join().expect("the searcher");
            for answer in answers {
                // Whoever found the other at it says so; whoever did not has everything.
                let answer = answer.done().json();
                let busy = answer["index"]["refreshed"]["busy"] == true;
                assert!(busy || told(&answer).len() == SESSIONS, "{answer:#}");
            }
        });
    }
    machine.assert_whole();
}
