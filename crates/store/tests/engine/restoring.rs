//! A restore: whenever it is cut off, the store is the old one or the new one, whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use baton_model::access::{Grant, Token};
use baton_model::share::{Share, SharedKind};
use baton_store::restore::{ReplacedStore, StagedRestore, Step};
use baton_store::{Fault, FaultKind, MIGRATIONS, Store, Target, counter, params, share, token};

use crate::bench::{NOW, variable};

const INSERT: &str = "INSERT INTO duty (duty_id, holder, machine_id, process, fence, beat, taken_at) \
    VALUES ($1, '', '', '', 0, 0, 0)";

/// A folder with a store and a backup, each with rows that tell them apart.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let stage = Self { dir: tempfile::tempdir().unwrap() };
        fill(&stage.backup(), &["new-1", "new-2"], true);
        fill(&stage.store(), &["old-1", "old-2", "old-3"], false);
        stage
    }

    fn store(&self) -> PathBuf {
        self.dir.path().join("store.db")
    }

    fn backup(&self) -> PathBuf {
        self.dir.path().join("backup.db")
    }

    fn restore(&self, from: &Path) -> Result<Option<ReplacedStore>, Fault> {
        let go_on = &mut |_| Ok(());
        StagedRestore::build(from, &self.store(), false, NOW, go_on)?.install(NOW, &mut |_| Ok(()))
    }

    /// Names of everything beside the store and the backup.
    fn left_over(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| {
            !["store.db", "store.db-lock", "backup.db", "backup.db-lock"].contains(&name.as_str())
        });
        names.sort();
        names
    }
}

const CHILD: &str = "BATON_TEST_RESTORING";

/// Makes a store, as short commands leave it: with its rows in its log, or closed. It is done by another process, whose locks
/// end with it.
fn fill(path: &Path, rows: &[&str], close: bool) {
    run_child("fill", &[path.to_str().unwrap(), if close { "close" } else { "leave" }, &rows.join(",")]);
}

fn run_child(what: &str, words: &[&str]) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "restoring::other_process", "--ignored", "--nocapture"]);
    let words = [&[what], words].concat().join("\n");
    child.env(CHILD, words).stderr(std::process::Stdio::null()).status().unwrap().success()
}

/// What the other process does.
#[test]
#[ignore = "the process that another test starts"]
fn other_process() {
    let Some(words) = variable(CHILD) else { return };
    match *words.lines().collect::<Vec<_>>() {
        ["fill", path, ending, rows] => {
            // Making the tables leaves a log so long that it is written back: the rows go into one of their own.
            drop(Store::open(&Target::File(path.into()), NOW).unwrap());
            let mut store = Store::open(&Target::File(path.into()), NOW).unwrap();
            for row in rows.split(',') {
                store.write_shared(|tx| Ok(tx.execute(INSERT, params![row])?)).unwrap();
            }
            if ending == "leave" { store.leave() } else { drop(store) }
        }
        ["restore", backup, store, last] => {
            let mut steps = |step: Step| {
                if format!("{step:?}") == last {
                    std::process::abort();
                }
                Ok(())
            };
            let draft =
                StagedRestore::build(Path::new(backup), Path::new(store), false, NOW, &mut steps).unwrap();
            draft.install(NOW, &mut steps).unwrap();
        }
        ref other => panic!("{other:?}"),
    }
}

fn rows(path: &Path) -> Vec<String> {
    let mut store =
        Store::open_existing(&Target::File(path.to_owned()), NOW).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let sql = "SELECT duty_id FROM duty ORDER BY duty_id";
    let rows = store.read(|tx| Ok(tx.query(sql, &[])?)).unwrap();
    rows.into_iter().map(|row| row.reader().text().unwrap()).collect()
}

const OLD: [&str; 3] = ["old-1", "old-2", "old-3"];
const NEW: [&str; 2] = ["new-1", "new-2"];

#[test]
fn a_restore_killed_after_any_step_leaves_the_old_store_or_the_new_one() {
    let mut seen = Vec::new();
    for step in Step::ALL {
        let stage = Stage::new();
        let (backup, store) = (stage.backup(), stage.store());
        let words = [backup.to_str().unwrap(), store.to_str().unwrap(), &format!("{step:?}")];
        assert!(!run_child("restore", &words), "{step:?}: it was killed");
        let found = rows(&store);
        assert!(found == OLD || found == NEW, "{step:?}: {found:?}");
        seen.push((step, found == NEW));
        assert_eq!(rows(&backup), NEW, "{step:?}");
        // Nothing stands in the way of doing it again, and what the first one left is swept away.
        let later = StagedRestore::build(&backup, &store, false, NOW, &mut |_| Ok(())).unwrap();
        let previous = later.install(NOW + 1, &mut |_| Ok(())).unwrap().unwrap();
        assert_eq!(rows(&store), NEW, "{step:?}");
        assert_eq!(rows(&previous.path), found, "{step:?}");
        assert!(
            !stage.left_over().iter().any(|name| name.contains(".baton-draft-")),
            "{:?}",
            stage.left_over()
        );
    }
    let swapped = seen.iter().filter(|(_, new)| *new).count();
    assert_eq!(swapped, 2, "new from the swap on: {seen:?}");
}

#[test]
fn a_restore_that_fails_at_any_step_leaves_the_old_store_or_the_new_one() {
    for failing in Step::ALL {
        let stage = Stage::new();
        let mut full = |step| match step {
            step if step == failing => Err(Fault::new(FaultKind::Full, "no room")),
            _ => Ok(()),
        };
        let restored = StagedRestore::build(&stage.backup(), &stage.store(), false, NOW, &mut full)
            .and_then(|draft| draft.install(NOW, &mut full));
        assert_eq!(restored.unwrap_err().kind, FaultKind::Full);
        let is_new = matches!(failing, Step::Swapped | Step::Settled);
        assert_eq!(rows(&stage.store()), if is_new { &NEW[..] } else { &OLD[..] }, "{failing:?}");
        let previous = if is_new { vec!["store.db.before-1700000000000"] } else { vec![] };
        let mut left = stage.left_over();
        left.retain(|name| name != "store.db-wal" && name != "store.db-shm");
        assert_eq!(left, previous, "{failing:?}");
    }
}

#[test]
fn what_was_there_is_kept_and_can_be_restored() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    fs::set_permissions(stage.store(), fs::Permissions::from_mode(0o644)).unwrap();
    let previous = stage.restore(&stage.backup()).unwrap().unwrap();
    assert!(previous.is_whole);
    assert_eq!(rows(&stage.store()), NEW);
    for file in [stage.store(), previous.path.clone()] {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
    StagedRestore::build(&previous.path, &stage.store(), false, NOW, &mut |_| Ok(()))
        .and_then(|draft| draft.install(NOW + 1, &mut |_| Ok(())))
        .unwrap();
    assert_eq!(rows(&stage.store()), OLD);
    assert_eq!(rows(&previous.path), OLD);
}

#[test]
fn a_backup_is_read_with_its_log() {
    let stage = Stage::new();
    let backup_file = stage.dir.path().join("store.db.before-1");
    for suffix in ["", "-wal"] {
        let with = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        fs::copy(with(&stage.store()), with(&backup_file)).unwrap();
    }
    fs::remove_file(stage.store()).unwrap();
    // What is left of the log belongs to the store that is gone: it is kept, and never meets the new one.
    let previous = stage.restore(&backup_file).unwrap().unwrap();
    assert!(!previous.is_whole);
    assert!(PathBuf::from(format!("{}-wal", previous.path.display())).exists());
    assert_eq!(rows(&stage.store()), OLD);
    assert_eq!(rows(&backup_file), OLD);
}

#[test]
fn a_store_that_is_open_is_not_replaced() {
    let stage = Stage::new();
    let mut user = Store::open(&Target::File(stage.store()), NOW).unwrap();
    let before = fs::read(stage.store()).unwrap();
    assert_eq!(stage.restore(&stage.backup()).unwrap_err().kind, FaultKind::Busy);
    assert!(fs::read(stage.store()).unwrap() == before);
    user.write_shared(|tx| Ok(tx.execute(INSERT, params!["old-4"])?)).unwrap();
    drop(user);
    assert_eq!(rows(&stage.store()).len(), 4);
    assert_eq!(stage.left_over(), Vec::<String>::new());
}

/// What is no backup is refused before anything is moved.
fn refused(what: &str, make: impl Fn(&Stage) -> PathBuf, kind: FaultKind) {
    let stage = Stage::new();
    let from = make(&stage);
    let fault = stage.restore(&from).expect_err(what);
    assert_eq!(fault.kind, kind, "{what}: {fault}");
    assert_eq!(rows(&stage.store()), OLD, "{what}");
    let left = stage.left_over();
    assert!(
        !left.iter().any(|name| name.contains(".before-") || name.contains(".baton-draft-")),
        "{what}: {left:?}"
    );
}

#[test]
fn what_is_no_whole_backup_is_refused_before_anything_is_moved() {
    let newer = FaultKind::Newer { found: 9_999, known: i64::try_from(MIGRATIONS.len()).unwrap() };
    refused(
        "a torn copy",
        |stage| {
            let bytes = fs::read(stage.backup()).unwrap();
            fs::write(stage.backup(), &bytes[..bytes.len() / 2]).unwrap();
            stage.backup()
        },
        FaultKind::Corrupt,
    );
    refused(
        "damaged pages",
        |stage| {
            let mut bytes = fs::read(stage.backup()).unwrap();
            bytes[20 * 4096..40 * 4096].fill(0xa5);
            fs::write(stage.backup(), bytes).unwrap();
            stage.backup()
        },
        FaultKind::Corrupt,
    );
    refused(
        "a newer store",
        |stage| {
            let other = rusqlite::Connection::open(stage.backup()).unwrap();
            other.execute_batch("PRAGMA user_version = 9999").unwrap();
            stage.backup()
        },
        newer,
    );
    refused(
        "another program's",
        |stage| {
            let path = stage.dir.path().join("recipes.db");
            let other = rusqlite::Connection::open(&path).unwrap();
            other.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
            path
        },
        FaultKind::Corrupt,
    );
    refused(
        "nothing in it",
        |stage| {
            let path = stage.dir.path().join("empty.db");
            fs::write(&path, "").unwrap();
            path
        },
        FaultKind::Corrupt,
    );
    refused(
        "a lone main file",
        |stage| {
            let path = stage.dir.path().join("lone.db");
            fs::copy(stage.store(), &path).unwrap();
            path
        },
        FaultKind::Incomplete,
    );
    refused(
        "a pipe",
        |stage| {
            let path = stage.dir.path().join("pipe");
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            path
        },
        FaultKind::CannotOpen,
    );
    refused("a folder", |stage| stage.dir.path().to_owned(), FaultKind::CannotOpen);
    refused("nothing", |stage| stage.dir.path().join("none.db"), FaultKind::CannotOpen);
}

#[test]
fn a_lone_main_file_is_taken_where_that_is_asked_for() {
    let stage = Stage::new();
    let (lone, fresh) = (stage.dir.path().join("lone.db"), stage.dir.path().join("fresh.db"));
    let open = Store::open(&Target::File(fresh.clone()), NOW).unwrap();
    fs::copy(&fresh, &lone).unwrap();
    drop(open);
    // What is in it is what was written back last: of a store that was made just now, nothing at all, and that is no store.
    let fault = StagedRestore::build(&lone, &stage.store(), true, NOW, &mut |_| Ok(())).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Corrupt);
    drop(Store::open(&Target::File(stage.store()), NOW).unwrap());
    let mut store = Store::open(&Target::File(stage.store()), NOW).unwrap();
    store.write_shared(|tx| Ok(tx.execute(INSERT, params!["old-4"])?)).unwrap();
    fs::copy(stage.store(), &lone).unwrap();
    drop(store);
    let draft = StagedRestore::build(&lone, &stage.store(), true, NOW, &mut |_| Ok(())).unwrap();
    draft.install(NOW, &mut |_| Ok(())).unwrap();
    assert_eq!(rows(&stage.store()), OLD, "without what was in the log");
}

#[test]
fn a_damaged_store_is_replaced_and_kept_as_it_was() {
    let stage = Stage::new();
    let garbage = vec![b'x'; 9000];
    fs::write(stage.store(), &garbage).unwrap();
    // A log whose header is damaged, so that nothing in it can be read back.
    let log_file = stage.dir.path().join("store.db-wal");
    let mut log = fs::read(&log_file).unwrap();
    log[..32].fill(0x5a);
    fs::write(&log_file, &log).unwrap();
    assert!(Store::open(&Target::File(stage.store()), NOW).is_err());
    let previous = stage.restore(&stage.backup()).unwrap().unwrap();
    assert!(!previous.is_whole);
    assert_eq!(rows(&stage.store()), NEW);
    assert!(fs::read(&previous.path).unwrap() == garbage);
    assert!(fs::read(format!("{}-wal", previous.path.display())).unwrap() == log);
}

#[test]
fn a_backup_of_an_older_version_is_brought_up_to_date() {
    let stage = Stage::new();
    let older = stage.dir.path().join("older.db");
    drop(Store::open_with(&Target::File(older.clone()), &MIGRATIONS[..7], NOW).unwrap());
    let previous = stage.restore(&older).unwrap().unwrap();
    assert_eq!(rows(&stage.store()), Vec::<String>::new());
    assert_eq!(rows(&previous.path), OLD);
    assert!(Store::open_read_only(&Target::File(older)).is_err(), "the backup is as old as it was");
}

#[test]
fn a_link_to_a_store_stays_a_link() {
    let stage = Stage::new();
    let link = stage.dir.path().join("link.db");
    std::os::unix::fs::symlink(stage.store(), &link).unwrap();
    let draft = StagedRestore::build(&stage.backup(), &link, false, NOW, &mut |_| Ok(())).unwrap();
    draft.install(NOW, &mut |_| Ok(())).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(rows(&stage.store()), NEW);
}

#[test]
fn whoever_had_the_old_store_open_by_other_means_writes_nothing_to_it() {
    let stage = Stage::new();
    let mut server = Store::open(&Target::File(stage.store()), NOW).unwrap();
    let new = stage.dir.path().join("new.db");
    fs::copy(stage.backup(), &new).unwrap();
    fs::rename(&new, stage.store()).unwrap();
    let answer = server.write_shared(|tx| Ok(tx.execute(INSERT, params!["lost"])?));
    assert!(answer.is_err());
}

#[test]
fn numbers_continue_above_those_of_the_store_that_is_replaced() {
    let stage = Stage::new();
    let (project, ahead) = ("p", NOW + 86_400_000);
    let given_out =
        "INSERT INTO project (project_id, seq, is_isolated, is_placeholder, focus, created_at, updated_at)
        VALUES ($1, $2, 0, 0, '[]', 0, 0)";
    let mut store = Store::open_existing(&Target::File(stage.store()), NOW).unwrap();
    store.write_shared(|tx| Ok(tx.execute(given_out, params![project, ahead])?)).unwrap();
    drop(store);
    stage.restore(&stage.backup()).unwrap();
    let mut restored = Store::open_existing(&Target::File(stage.store()), NOW).unwrap();
    let floor = restored.read(|tx| Ok(counter::highest(tx)?)).unwrap();
    assert!(floor > ahead, "{floor} is not above {ahead}");
}

#[test]
fn a_token_that_was_revoked_stays_so_and_one_is_asked_for_as_before() {
    let token = |id: &str, revoked_at| Token {
        token_id: id.into(),
        hash: format!("hash of {id}"),
        name: id.into(),
        grant: Grant::default(),
        created_by: "Ann".into(),
        created_at: NOW,
        expires_at: None,
        revoked_at,
    };
    let put = |path: PathBuf, tokens: Vec<Token>| {
        let mut store = Store::open_existing(&Target::File(path), NOW).unwrap();
        store.write_shared(|tx| Ok(tokens.iter().try_for_each(|one| token::insert(tx, one))?)).unwrap();
    };
    let stage = Stage::new();
    put(stage.backup(), vec![token("old", None)]);
    put(stage.store(), vec![token("old", Some(NOW + 1)), token("new", None)]);
    stage.restore(&stage.backup()).unwrap();
    let mut restored = Store::open_existing(&Target::File(stage.store()), NOW).unwrap();
    let found = restored.read(|tx| Ok(token::list(tx)?)).unwrap();
    let found: Vec<(&str, Option<i64>)> =
        found.iter().map(|one| (one.token_id.as_str(), one.revoked_at)).collect();
    assert_eq!(found, [("new", None), ("old", Some(NOW + 1))]);
}

#[test]
fn a_share_that_was_taken_back_stays_so_whatever_the_backup_says() {
    let made = |id: &str, revoked_at| Share {
        share_id: id.into(),
        hash: format!("hash of {id}"),
        project_id: "p".into(),
        kind: SharedKind::Baton,
        object_id: "b".into(),
        created_by: "Ann".into(),
        created_at: NOW,
        expires_at: NOW + 1_000,
        revoked_at,
    };
    let put = |path: PathBuf, shares: Vec<Share>| {
        let mut store = Store::open_existing(&Target::File(path), NOW).unwrap();
        store.write_shared(|tx| Ok(shares.iter().try_for_each(|one| share::insert(tx, one))?)).unwrap();
    };
    let stage = Stage::new();
    put(stage.backup(), vec![made("taken-back", None), made("valid", None)]);
    put(stage.store(), vec![made("taken-back", Some(NOW + 1)), made("valid", None)]);
    stage.restore(&stage.backup()).unwrap();
    let mut restored = Store::open_existing(&Target::File(stage.store()), NOW).unwrap();
    let mut revoked =
        |id: &str| restored.read(|tx| Ok(share::get(tx, id)?)).unwrap().expect("a share").revoked_at;
    assert_eq!((revoked("taken-back"), revoked("valid")), (Some(NOW + 1), None));
}

/// What nobody but Baton may put into a store: SQLite runs it with every statement, or answers in a table's place.
const FOREIGN: [(&str, &str); 8] = [
    ("trigger t1 on duty", "CREATE TRIGGER t1 AFTER INSERT ON duty BEGIN DELETE FROM duty; END"),
    ("view v1", "CREATE VIEW v1 AS SELECT duty_id FROM duty"),
    ("table extra", "CREATE TABLE extra (a TEXT)"),
    ("index i1 on duty", "CREATE INDEX i1 ON duty (holder)"),
    ("trigger delta_is_chained on delta is missing", "DROP TRIGGER delta_is_chained"),
    (
        "trigger delta_is_chained on delta is not",
        "DROP TRIGGER delta_is_chained; CREATE TRIGGER delta_is_chained BEFORE INSERT ON delta BEGIN DELETE FROM duty; END",
    ),
    ("table duty is not", "ALTER TABLE duty ADD COLUMN more TEXT"),
    (
        "table duty is not",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'holder TEXT', 'holder  TEXT') WHERE name = 'duty'",
    ),
];

#[test]
fn a_backup_with_what_baton_does_not_make_is_refused_by_name_and_changes_nothing() {
    for (name, sql) in FOREIGN {
        let stage = Stage::new();
        rusqlite::Connection::open(stage.backup()).unwrap().execute_batch(sql).unwrap();
        let fault = stage.restore(&stage.backup()).expect_err(name);
        assert_eq!(fault.kind, FaultKind::Corrupt, "{name}: {fault}");
        assert!(fault.message.contains(name), "{name}: {fault}");
        assert_eq!(rows(&stage.store()), OLD, "{name}");
        assert_eq!(stage.left_over(), Vec::<String>::new(), "{name}");
        let mut opened = Store::open_existing(&Target::File(stage.backup()), NOW).unwrap();
        let found = opened.check().unwrap().join("; ");
        assert!(found.contains(name), "a check names it, too: {found}");
    }
}

#[test]
fn a_backup_of_an_earlier_version_is_held_against_what_that_version_makes() {
    for known in [1, 11, 12, 21, MIGRATIONS.len() - 1] {
        let stage = Stage::new();
        let path = stage.dir.path().join("earlier.db");
        drop(Store::open_with(&Target::File(path.clone()), &MIGRATIONS[..known], NOW).unwrap());
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("CREATE TRIGGER t1 AFTER INSERT ON delta BEGIN DELETE FROM delta; END").unwrap();
        let fault = stage.restore(&path).expect_err("a trigger");
        assert!(fault.message.contains("trigger t1 on delta"), "{known}: {fault}");
        other.execute_batch("DROP TRIGGER t1").unwrap();
        drop(other);
        stage.restore(&path).unwrap_or_else(|fault| panic!("{known}: {fault}"));
    }
}

#[test]
fn a_trigger_that_is_in_a_store_already_does_not_run() {
    let stage = Stage::new();
    let sql = "CREATE TRIGGER t1 AFTER INSERT ON duty BEGIN DELETE FROM duty; END";
    rusqlite::Connection::open(stage.store()).unwrap().execute_batch(sql).unwrap();
    let mut store = Store::open_existing(&Target::File(stage.store()), NOW).unwrap();
    store.write_shared(|tx| Ok(tx.execute(INSERT, params!["later"])?)).unwrap();
    let count = store.read(|tx| Ok(tx.query("SELECT duty_id FROM duty", &[])?.len())).unwrap();
    assert_eq!(count, 4, "every row is there");
}
