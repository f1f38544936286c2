//! Writes that hold until the store has its first token, the projects that were written, and the mark of what is committed.

use baton_model::access::{Grant, Token};
use baton_store::{Failure, Store, Tx, counter, project, token};

use crate::bench::{NOW, on_shared_engines};

fn open(place: &crate::bench::Place) -> Store {
    Store::open(&place.target, NOW).unwrap()
}

fn make_token(store: &mut Store) {
    let token = Token {
        token_id: "t".to_owned(),
        hash: "h".to_owned(),
        name: "n".to_owned(),
        grant: Grant::default(),
        created_by: "Owner".to_owned(),
        created_at: NOW,
        expires_at: None,
        revoked_at: Some(NOW),
    };
    store.write_shared(|tx| Ok(token::insert(tx, &token)?)).unwrap();
}

fn make(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    Ok(project::create(tx, project_id, false, NOW).map(drop)?)
}

#[track_caller]
fn assert_closed<T: std::fmt::Debug>(answer: Result<T, Failure>) {
    match answer {
        Err(Failure::Refused(refusal)) => assert_eq!(refusal.code, "token_invalid"),
        other => panic!("it should be refused: {other:?}"),
    }
}

#[test]
fn the_very_next_write_without_a_token_is_refused_once_another_connection_has_made_one() {
    on_shared_engines(|place| {
        let (mut store, mut other) = (open(place), open(place));
        store.refuse_writes_once_token_exists(true);
        for project_id in ["a", "b"] {
            store.write(&[project_id], |tx| make(tx, project_id)).unwrap();
        }
        store.write_relaxed(|tx| make(tx, "c")).unwrap();
        store.begin_batch().unwrap();
        store.write(&["a"], |tx| Ok(tx.next_seq("a")?)).unwrap();
        store.write_relaxed(|tx| make(tx, "d")).unwrap();
        store.commit_batch().unwrap();
        // One that was revoked counts, too.
        make_token(&mut other);
        assert_closed(store.write(&["a"], |tx| Ok(tx.next_seq("a")?)));
        assert_closed(store.write_relaxed(|tx| make(tx, "e")));
        store.begin_batch().unwrap();
        assert_closed(store.write(&["a"], |tx| Ok(tx.next_seq("a")?)));
        assert_closed(store.write_shared(|tx| make(tx, "f")));
        // A caller with a token writes in the same batch.
        store.refuse_writes_once_token_exists(false);
        store.write(&["g"], |tx| make(tx, "g")).unwrap();
        store.refuse_writes_once_token_exists(true);
        assert_closed(store.write(&["a"], |tx| make(tx, "h")));
        store.commit_batch().unwrap();
        let ids = store.read(|tx| Ok(project::ids(tx)?)).unwrap();
        assert_eq!(
            ids,
            ["a", "b", "c", "d", "g"],
            "reads are not asked, and nothing that was refused is kept"
        );
    });
}

#[test]
fn a_store_says_in_which_projects_was_written() {
    on_shared_engines(|place| {
        let mut store = open(place);
        store.write(&["a"], |tx| make(tx, "a")).unwrap();
        assert!(store.take_written().is_empty(), "nobody asked for it");
        store.note_written();
        store.write(&["b", "a"], |tx| make(tx, "b")).unwrap();
        store.write_shared(|tx| Ok(tx.count_change("c")?)).unwrap();
        store.read(|tx| Ok(counter::highest(tx)?)).unwrap();
        let gone = store.write(&["d"], |tx| tx.query_one("SELECT 1 WHERE 1 = 0", &[]).map_err(Failure::from));
        gone.unwrap_err();
        assert_eq!(store.take_written().into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(store.take_written().is_empty());
    });
}

#[test]
fn a_mark_is_the_same_until_somebody_commits() {
    on_shared_engines(|place| {
        let mut writer = open(place);
        writer.write(&["a"], |tx| make(tx, "a")).unwrap();
        let mut readers = [(); 2].map(|()| Store::open_read_only(&place.target).unwrap());
        let mut mark = |at: usize| readers[at].read(|tx| Ok(tx.commit_mark()?)).unwrap().expect("a mark");
        // A database server counts the transactions of all its databases: others may commit meanwhile.
        let is_alone = writer.kind() != "postgres";
        let before = [mark(0), mark(1)];
        writer.read(|tx| Ok(project::ids(tx)?)).unwrap();
        assert!(!is_alone || [mark(0), mark(1)] == before, "who reads changes nothing");
        writer.write_relaxed(|tx| make(tx, "b")).unwrap();
        let after = [mark(0), mark(1)];
        assert!(after[0] != before[0] && after[1] != before[1], "{before:?} {after:?}");
        assert!(!is_alone || [mark(0), mark(1)] == after);
    });
}
