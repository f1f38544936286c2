//! Databases of other tools: made from samples, locked, damaged.

use std::path::{Path, PathBuf};

use baton_transcripts::report::kind;
use baton_transcripts::{Filter, Header, TranscriptEnv, TranscriptFile, by_id, list};
use proptest::prelude::*;
use rusqlite::Connection;

use super::{damage, packet_of, sample};

/// A database made from a sample, with the name that the tool gives it.
pub(crate) struct Database {
    dir: tempfile::TempDir,
    name: String,
}

impl Database {
    /// The sample `<format>/<sample>.sql` as the file `name`, whose folders are made.
    pub(crate) fn new(sql: &str, name: &str) -> Self {
        let dir = tempfile::tempdir().expect("dir");
        let made = Self { dir, name: name.to_owned() };
        std::fs::create_dir_all(made.path().parent().expect("parent")).expect("dir");
        made.open().execute_batch(&std::fs::read_to_string(sample(sql)).expect("sample")).expect("SQL");
        made
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join(&self.name)
    }

    pub(crate) fn home(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn open(&self) -> Connection {
        Connection::open(self.path()).expect("database")
    }

    /// Everything that a listing of this format finds with the database's folder as home.
    pub(crate) fn list(&self, format: &str) -> Vec<Header> {
        let env = TranscriptEnv { home: self.home().to_owned(), ..TranscriptEnv::default() };
        listed(&env, format)
    }
}

/// Everything of a format.
pub(crate) fn listed(env: &TranscriptEnv, format: &str) -> Vec<Header> {
    let filter =
        Filter { agents: vec![format.to_owned()], empty: true, subagents: true, ..Filter::default() };
    list(env, &filter, &(), 2)
}

/// Every database sample: format, sample, key of a session in it.
pub(crate) const SAMPLES: &[(&str, &str, &str)] = &[
    ("opencode", "opencode/normal.sql", "ses_aa01"),
    ("opencode", "opencode/v2.sql", "ses_dd01"),
    ("opencode", "opencode/v2-copied.sql", "ses_df01"),
    ("kilo", "kilo/normal.sql", "ses_ee01"),
    ("antigravity", "antigravity/conversation.sql", "x"),
    ("pi", "pi/openclaw.sql", "91000000-0000-4000-8000-000000000005"),
    ("crush", "crush/normal.sql", "5c0f6a1e-0000-4000-8000-000000000001"),
    ("goose", "goose/normal.sql", "20261118_1"),
    ("hermes", "hermes/normal.sql", "20261120_110640_9e0001"),
    ("zed", "zed/normal.sql", "z1"),
    ("devin", "devin/normal.sql", "brave-otter"),
    ("kiro", "kiro/normal.sql", "k1"),
    ("cursor", "cursor/ide.sql", "c0000000-0000-4000-8000-000000000001"),
];

fn complaints(header: &Header) -> Vec<&str> {
    header.complaints.iter().map(|one| one.kind.as_str()).collect()
}

#[test]
fn a_database_is_read_while_its_tool_writes_and_nothing_is_left_beside_it() {
    let made = Database::new("opencode/normal.sql", ".local/share/opencode/opencode.db");
    let files = || std::fs::read_dir(made.path().parent().expect("parent")).expect("dir").count();
    made.open().pragma_update(None, "journal_mode", "wal").expect("WAL");
    assert_eq!(files(), 1);
    assert_eq!(made.list("opencode").len(), 2);
    assert_eq!(files(), 1, "reading makes no files");
    let writer = made.open();
    writer
        .execute_batch(
            "UPDATE session SET title = 'Newer', time_updated = time_updated + 1; BEGIN IMMEDIATE;",
        )
        .expect("SQL");
    let headers = made.list("opencode");
    assert!(headers.iter().all(|header| header.title.as_deref() == Some("Newer")), "{headers:#?}");
    let packet = packet_of("opencode", &made.path(), Some("ses_aa01"));
    assert_eq!(packet["files_modified"][0]["path"], "cart.py");
}

#[test]
fn a_locked_database_is_a_complaint_and_not_an_empty_list() {
    let made = Database::new("opencode/normal.sql", ".local/share/opencode/opencode.db");
    let writer = made.open();
    writer.execute_batch("BEGIN EXCLUSIVE;").expect("lock");
    let headers = made.list("opencode");
    assert_eq!(headers.len(), 1);
    assert_eq!(complaints(&headers[0])[0], kind::LOCKED);
    let packet = packet_of("opencode", &made.path(), Some("ses_aa01"));
    assert_eq!(packet["metadata"]["complaints"][0]["kind"], kind::LOCKED);
}

#[test]
fn what_is_no_database_is_a_complaint_and_what_is_missing_is_nothing() {
    let home = tempfile::tempdir().expect("dir");
    let env = TranscriptEnv { home: home.path().to_owned(), ..TranscriptEnv::default() };
    assert_eq!(listed(&env, "opencode"), []);
    let path = home.path().join(".local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().expect("parent")).expect("dir");
    std::fs::write(&path, "this is no database").expect("write");
    let headers = listed(&env, "opencode");
    assert_eq!(headers.len(), 1);
    assert_eq!(complaints(&headers[0])[0], kind::UNREADABLE);
}

#[test]
fn a_change_in_the_log_changes_the_stamp_of_every_session() {
    let made = Database::new("opencode/normal.sql", ".local/share/opencode/opencode.db");
    let stamps = || {
        let env = TranscriptEnv { home: made.home().to_owned(), ..TranscriptEnv::default() };
        let mut found = Vec::new();
        by_id("opencode")
            .expect("known")
            .find(&env, &mut |one: TranscriptFile| found.push((one.key, one.stamp)));
        found
    };
    let before = stamps();
    assert_eq!(before, stamps());
    let writer = made.open();
    writer.pragma_update(None, "journal_mode", "wal").expect("WAL");
    writer.execute_batch("UPDATE part SET data = data").expect("SQL");
    let after = stamps();
    assert!(before.iter().zip(&after).all(|(one, other)| one.0 == other.0 && one.1 != other.1));
}

#[test]
fn the_sessions_of_a_database_do_not_share_a_place_in_the_cache() {
    let made = Database::new("opencode/normal.sql", ".local/share/opencode/opencode.db");
    let (env, cache) = (
        TranscriptEnv { home: made.home().to_owned(), ..TranscriptEnv::default() },
        super::listing::Kept::default(),
    );
    let filter = Filter { subagents: true, ..Filter::default() };
    let first = list(&env, &filter, &cache, 1);
    assert_eq!(first.len(), 2);
    assert_eq!(list(&env, &filter, &cache, 1), first);
    assert_eq!(cache.puts(), 2);
}

#[test]
fn a_packet_does_not_change_from_run_to_run() {
    for (format, sql, key) in SAMPLES {
        let made = Database::new(sql, "x.db");
        let packet = || packet_of(format, &made.path(), Some(key)).to_string();
        assert_eq!(packet(), packet(), "{format}");
        let none = packet_of(format, &made.path(), Some("no such session"));
        assert_eq!(none["metadata"]["complaints"][0]["kind"], kind::EMPTY, "{format}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_damage_to_a_database_is_survived(
        pick in 0..SAMPLES.len(), at in any::<prop::sample::Index>(), damage in prop::collection::vec(any::<u8>(), 1..200),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (format, sql, key) = SAMPLES[pick];
        let made = Database::new(sql, "x.db");
        let mut bytes = std::fs::read(made.path()).expect("read");
        let at = at.index(bytes.len());
        let end = (at + damage.len()).min(bytes.len());
        bytes.splice(at..end, damage);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(made.path(), &bytes).expect("write");
        damage::check_session(format, &made.path(), Some(key));
        damage::check_session(format, &made.path(), None);
    }
}
