//! What is said and heard, with a real Redis: one server, a cluster, and a master that Sentinels name.

#[path = "../../tests/e2e/redis_server.rs"]
#[allow(dead_code, reason = "the end-to-end tests use the rest")]
mod redis_server;

use std::collections::BTreeMap;

use baton_model::session::ProcessLocation;
use baton_store::state::SavedState as Saved;

use super::*;
use redis_server::RedisServer;

fn config(url: &str) -> Redis {
    let vars = [("BATON_REDIS_URL".to_owned(), url.to_owned())].into();
    crate::config::of_test(vars).redis.expect("a Redis")
}

fn live(url: &str) -> Arc<Live> {
    // Everything in these tests happens in the first seconds of 1970.
    Live::start(&config(url), Limits::default(), Arc::new(|| 7_000))
}

fn session(id: &str) -> Session {
    Session {
        project_id: "shop".into(),
        session_id: id.into(),
        identity: "Donna".into(),
        surface: "human".into(),
        location: ProcessLocation::default(),
        started_at: 1,
        heartbeat_at: 1,
        last_verb: "session_start".into(),
        release: None,
        thread_id: id.into(),
        inherited_from: None,
        picked_up_session_id: None,
        opened_by: None,
        stale_after: 0,
        working_copy: None,
        baton_id: None,
    }
}

/// Waits for something that happens by itself.
fn in_time(what: &str, mut f: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if f() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}");
}

fn wait_for_state(live: &Live, state: State) {
    in_time(state.as_str(), || live.state() == state);
}

fn saved(body: &str, version: i64) -> CommitEvent {
    let state = Saved {
        identity: "Donna".into(),
        session_id: "s1".into(),
        version,
        body: body.into(),
        updated_at: 7,
        ..Saved::default()
    };
    CommitEvent::Saved { project_id: "shop".into(), state }
}

fn head(seq: i64) -> CommitEvent {
    CommitEvent::Head { project_id: "shop".into(), seq }
}

/// Everything that one process says is heard by another one that is there, and by one that comes later.
fn is_heard(url: &str) {
    let (here, there) = (live(url), live(url));
    wait_for_state(&here, State::Up);
    wait_for_state(&there, State::Up);
    assert!(here.keep_beat(&session("s1"), 5_000));
    assert_eq!(here.heard_at("s1"), Some(5_000), "at once where it was said");
    in_time("the other hears of it", || there.heard_at("s1") == Some(5_000));
    here.flush();
    let later = live(url);
    assert_eq!(later.heard_at("s1"), Some(5_000), "a process that begins knows it");
    there.listen();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let woken = || {
        let wait = async { tokio::time::timeout(Duration::from_millis(200), there.wait_for_write()).await };
        runtime.block_on(wait).is_ok()
    };
    // The first word of a listener is its own: whatever was written before it listened.
    in_time("it listens", woken);
    while woken() {}
    let mut seq = 0;
    in_time("a hint wakes", || {
        seq += 1;
        here.committed(vec![head(seq)]);
        woken()
    });
    while woken() {}
    there.committed(vec![head(seq + 1)]);
    there.flush();
    assert!(!woken(), "nobody is woken by what it wrote itself");
}

#[test]
fn one_server_hears_what_another_says() {
    let Some(server) = RedisServer::start(&[]) else { return };
    is_heard(&server.url());
    let dir = tempfile::tempdir().expect("a folder");
    let socket = dir.path().join("redis.sock").display().to_string();
    let Some(server) = RedisServer::start(&["--unixsocket", &socket, "--requirepass", "no secret"]) else {
        return;
    };
    is_heard(&format!("redis://:no%20secret@{}/2", server.address));
    assert_eq!(probe(&config(&server.url())).0, State::Away, "without its password it answers nobody");
    assert_eq!(probe(&config(&format!("unix://{socket}"))).0, State::Away);
}

#[test]
fn a_cluster_does_as_well() {
    let Some(server) = RedisServer::start(&["--cluster-enabled", "yes"]) else { return };
    let slots: Vec<String> = (0..16_384).map(|slot| slot.to_string()).collect();
    let mut commands = vec!["CLUSTER", "ADDSLOTS"];
    commands.extend(slots.iter().map(String::as_str));
    server.ask::<String>(&commands);
    in_time("the cluster is whole", || {
        server.ask::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
    });
    let url = format!("redis+cluster://127.0.0.1:1,{}", server.address);
    is_heard(&url);
    let here = live(&url);
    for n in 0..100 {
        assert!(here.keep_beat(&session(&format!("c{n}")), 6_000));
    }
    here.flush();
    assert_eq!(server.ask::<usize>(&["ZCARD", "baton:heard"]), 101);
    assert_eq!(server.ask::<String>(&["HGET", "baton:session:c99", "heard"]), "6000");
}

#[test]
fn sentinels_name_the_master_and_after_it_another() {
    let Some(master) = RedisServer::start(&[]) else { return };
    let port = master.address.port().to_string();
    let Some(replica) = RedisServer::start(&["--replicaof", "127.0.0.1", &port]) else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("sentinel.conf");
    let text = format!(
        "sentinel monitor main 127.0.0.1 {port} 1\nsentinel down-after-milliseconds main 500\n\
         sentinel failover-timeout main 3000\n"
    );
    std::fs::write(&file, text).expect("written");
    let Some(sentinel) = RedisServer::start(&[&file.display().to_string()]) else { return };
    let url = format!("redis+sentinel://127.0.0.1:1,{}/main", sentinel.address);
    is_heard(&url);
    assert_eq!(probe(&config(&format!("redis+sentinel://{}/other", sentinel.address))).0, State::Away);
    let here = live(&url);
    wait_for_state(&here, State::Up);
    in_time("the Sentinel knows the replica", || {
        let replicas: Vec<redis::Value> = sentinel.ask(&["SENTINEL", "REPLICAS", "main"]);
        replicas.len() == 1
    });
    master.kill();
    in_time("the replica is promoted and found", || {
        here.state() == State::Up
            && here.keep_beat(&session("s9"), 9_000)
            && replica.ask::<Option<String>>(&["HGET", "baton:session:s9", "heard"]).is_some()
    });
}

#[test]
fn what_a_session_saved_stands_in_its_hash_until_it_ends() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    here.committed(vec![saved("{\"next\":1}", 1)]);
    here.committed(vec![saved("{\"next\":2}", 2)]);
    assert!(here.keep_beat(&session("s1"), 5_000));
    here.flush();
    let fields: BTreeMap<String, String> = server.ask(&["HGETALL", "baton:session:s1"]);
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        fields,
        ["heard=5000", "identity=Donna", "project=shop", "saved=7", "state={\"next\":2}", "version=2"]
    );
    let left: i64 = server.ask(&["PTTL", "baton:session:s1"]);
    assert!((1..=600_000).contains(&left), "it goes by itself: {left}");
    here.committed(vec![CommitEvent::Released { session_id: "s1".into() }]);
    here.flush();
    assert_eq!(server.ask::<i64>(&["EXISTS", "baton:session:s1"]), 0);
    assert_eq!(server.ask::<i64>(&["ZCARD", "baton:heard"]), 0);
}

#[test]
fn a_redis_that_goes_away_is_known_and_its_return_too() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    assert!(here.keep_beat(&session("s1"), 5_000));
    server.kill();
    wait_for_state(&here, State::Away);
    assert!(!here.keep_beat(&session("s1"), 6_000), "then it belongs into the ledger");
    assert_eq!(here.heard_at("s1"), Some(5_000), "what was heard stays true");
    server.restart();
    wait_for_state(&here, State::Up);
    // One that hangs is away, too, and is not waited for.
    server.signal("-STOP");
    wait_for_state(&here, State::Away);
    server.signal("-CONT");
    wait_for_state(&here, State::Up);
    let (errors, beats) = here.counts();
    assert!(errors >= 2 && beats == 1, "{errors} {beats}");
}

#[test]
fn a_redis_that_is_full_is_known_and_keeps_no_state_of_yesterday() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    here.committed(vec![saved("{}", 1)]);
    here.flush();
    server.ask::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    in_time("it is full", || {
        here.keep_beat(&session("s2"), 5_000);
        here.state() == State::Full
    });
    assert!(!here.keep_beat(&session("s2"), 6_000));
    in_time("an old state is removed", || {
        here.committed(vec![saved("{}", 2)]);
        here.flush();
        version(&server).is_none()
    });
    assert_eq!(probe(&config(&server.url())).0, State::Full);
    server.ask::<String>(&["CONFIG", "SET", "maxmemory", "0"]);
    wait_for_state(&here, State::Up);
}

/// What programs of others see of what a session saved.
fn version(server: &RedisServer) -> Option<i64> {
    server.ask(&["HGET", "baton:session:s1", "version"])
}

#[test]
fn what_was_saved_while_redis_was_away_leaves_no_older_state_behind() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    assert!(here.keep_beat(&session("s1"), 5_000));
    here.committed(vec![saved("{}", 1)]);
    here.flush();
    assert_eq!(version(&server), Some(1));
    // It hangs, and has all its data when it goes on.
    server.signal("-STOP");
    wait_for_state(&here, State::Away);
    here.committed(vec![saved("{}", 2)]);
    server.signal("-CONT");
    wait_for_state(&here, State::Up);
    assert!(here.keep_beat(&session("s1"), 6_000));
    here.flush();
    let fields: BTreeMap<String, String> = server.ask(&["HGETALL", "baton:session:s1"]);
    let names: Vec<_> = fields.keys().map(String::as_str).collect();
    assert_eq!(names, ["heard", "identity", "project"], "the state is not the newest");
    here.committed(vec![saved("{}", 3)]);
    here.flush();
    assert_eq!(version(&server), Some(3));
    // The one that finds out that it is away.
    server.signal("-STOP");
    here.committed(vec![saved("{}", 4)]);
    wait_for_state(&here, State::Away);
    server.signal("-CONT");
    wait_for_state(&here, State::Up);
    in_time("what was on its way came, or the older one went", || {
        here.flush();
        version(&server).is_none_or(|version| version == 4)
    });
}

#[test]
fn more_sessions_than_are_remembered_leave_no_older_state_behind() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    assert!(here.keep_beat(&session("s1"), 5_000));
    here.committed(vec![saved("{}", 1)]);
    here.flush();
    server.signal("-STOP");
    wait_for_state(&here, State::Away);
    let others = (0..70_000).map(|n| CommitEvent::Released { session_id: format!("other{n}") }).collect();
    here.committed(others);
    here.committed(vec![saved("{}", 2)]);
    server.signal("-CONT");
    wait_for_state(&here, State::Up);
    in_time("the old state is removed", || version(&server).is_none());
    assert_eq!(server.ask::<i64>(&["HGET", "baton:session:s1", "heard"]), 5_000);
    here.committed(vec![saved("{}", 3)]);
    in_time("the next one comes", || version(&server) == Some(3));
}

#[test]
fn what_was_saved_while_redis_was_full_leaves_no_older_state_behind() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    here.committed(vec![saved("{}", 1)]);
    assert!(here.keep_beat(&session("s1"), 5_000));
    here.flush();
    server.ask::<String>(&["CONFIG", "SET", "maxmemory", "1"]);
    in_time("it is full", || {
        here.keep_beat(&session("s2"), 5_000);
        here.state() == State::Full
    });
    // Said once, in one of the pauses between two tries.
    here.committed(vec![saved("{}", 2)]);
    here.flush();
    in_time("the old state is removed", || version(&server).is_none());
    server.ask::<String>(&["CONFIG", "SET", "maxmemory", "0"]);
    wait_for_state(&here, State::Up);
    assert!(here.keep_beat(&session("s1"), 6_000));
    here.flush();
    assert_eq!(version(&server), None);
}

#[test]
fn what_is_emptied_fills_again() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let here = live(&server.url());
    wait_for_state(&here, State::Up);
    assert!(here.keep_beat(&session("s1"), 5_000));
    here.flush();
    server.ask::<String>(&["FLUSHALL"]);
    assert!(here.keep_beat(&session("s1"), 6_000));
    here.flush();
    assert_eq!(live(&server.url()).heard_at("s1"), Some(6_000));
    assert_eq!(here.heard_at("s1"), Some(6_000));
}
