//! Redis beside the ledger: what it saves, and that nothing but liveness is lost with it.

use std::time::Duration;

use serde_json::{Value, json};

use super::proxy::Proxy;
use super::{in_time, metric};
use crate::http::{Server, request};
use crate::redis_server::RedisServer;
use crate::stage::{Stage, Terminal, items, text};

/// A registered project, a Redis, and a server that uses it.
struct Field {
    redis: RedisServer,
    server: Server,
    stage: Stage,
}

impl Field {
    fn new() -> Option<Self> {
        let redis = RedisServer::start(&[])?;
        let stage = Stage::local();
        stage.terminal("Setup").json(&["init"]);
        let server = Server::start(&stage.terminal("Server").with("BATON_REDIS_URL", redis.url()));
        let field = Self { redis, server, stage };
        field.is("up");
        Some(field)
    }

    fn is(&self, state: &str) {
        in_time(state, || redis_of(&self.server) == state);
    }

    /// A session of this identity.
    fn start(&self, identity: &str) -> String {
        text(
            &self.server.ok("session_start", &json!({ "project": "shop", "identity": identity })),
            "session_id",
        )
    }

    /// A heartbeat, and when it was.
    fn beat(&self, session: &str) -> String {
        // So that no two are in one millisecond.
        std::thread::sleep(Duration::from_millis(3));
        let input = json!({ "project": "shop", "session": session });
        text(&self.server.ok("session_heartbeat", &input), "last_heartbeat")
    }

    /// A terminal that knows of no Redis: what it shows is the ledger's own.
    fn ledger(&self) -> Terminal<'_> {
        self.stage.terminal("Reader").with("BATON_REDIS_URL", "")
    }
}

fn redis_of(server: &Server) -> String {
    let answer = request(&server.address, "GET", "/healthz", b"", &[]).expect("an answer");
    assert_eq!(answer.status, 200, "whatever Redis does");
    text(&answer.json(), "redis")
}

/// When a session was last heard of, as a terminal shows it.
fn heard(terminal: &Terminal<'_>, session: &str) -> String {
    let card = terminal.json(&["status", "--project", "shop"]);
    let rows = card["sessions"].as_array().expect("sessions").clone();
    text(rows.iter().find(|row| row["session_id"] == session).expect("the session"), "last_heartbeat")
}

#[test]
fn heartbeats_go_to_redis_and_every_process_knows_of_them() {
    let Some(field) = Field::new() else { return };
    let session = field.start("Donna");
    let stored = heard(&field.ledger(), &session);
    let beats: Vec<String> = (0..5).map(|_| field.beat(&session)).collect();
    let last = beats.last().expect("a beat");
    assert_eq!(heard(&field.ledger(), &session), stored, "the ledger was not asked to write");
    let with_redis = field.ledger().with("BATON_REDIS_URL", field.redis.url());
    in_time("a command knows of it", || heard(&with_redis, &session) == *last);
    let other = Server::start(&with_redis);
    let shown =
        || other.ok("session_status", &json!({ "project": "shop" }))["sessions"][0]["last_heartbeat"].clone();
    assert_eq!(shown(), json!(last), "a server that begins knows of it");
    let next = field.beat(&session);
    in_time("it hears of the next one", || shown() == json!(next));
    assert_eq!(metric(&field.server, "baton_redis_heartbeats"), Some(6));
    // A command is a process of the same fleet: its heartbeat is known, too.
    let donna = with_redis.with("BATON_SESSION", &session);
    let own = text(&donna.json(&["heartbeat"]), "last_heartbeat");
    in_time("a command's heartbeat is known", || shown() == json!(own));
    assert_eq!(heard(&field.ledger(), &session), stored);
    field.server.ok(
        "session_wrap",
        &json!({ "project": "shop", "identity": "Donna", "session": session, "summary": "done" }),
    );
    for server in [&field.server, &other] {
        let late = server.call("session_heartbeat", &json!({ "project": "shop", "session": session }));
        assert_eq!((late.status, late.json()["code"].clone()), (409, json!("session_released")));
    }
    field.stage.assert_sound();
}

#[test]
fn what_a_session_saves_stands_in_redis_and_its_version_is_the_ledgers() {
    let Some(field) = Field::new() else { return };
    let session = field.start("Donna");
    let save = |state: Value, expected: i64| {
        let input = json!({ "project": "shop", "identity": "Donna", "session": session, "state": state, "expected_version": expected });
        field.server.call("session_checkpoint", &input)
    };
    let key = format!("baton:session:{session}");
    let in_redis = |name: &str| field.redis.ask::<Option<String>>(&["HGET", &key, name]);
    assert_eq!(save(json!({ "next_action": "read" }), 0).status, 200);
    in_time("it is there", || in_redis("state").as_deref() == Some("{\"next_action\":\"read\"}"));
    // What somebody writes into Redis has no say.
    field.redis.ask::<i64>(&["HSET", &key, "version", "41", "state", "{}"]);
    let refused = save(json!({}), 41);
    assert_eq!((refused.status, refused.json()["code"].clone()), (409, json!("version_conflict")));
    assert_eq!(save(json!({ "next_action": "write" }), 1).status, 200);
    in_time("the ledger's is there again", || in_redis("version").as_deref() == Some("2"));
    assert!(field.redis.ask::<i64>(&["PTTL", &key]) > 0, "it goes by itself");
    field.server.ok("session_end", &json!({ "project": "shop", "identity": "Donna", "session": session }));
    in_time("and with its session", || field.redis.ask::<i64>(&["EXISTS", &key]) == 0);
}

#[test]
fn the_state_that_a_hand_off_seeds_stands_in_redis_until_it_is_completed() {
    let Some(field) = Field::new() else { return };
    field.stage.repo("lib");
    field.stage.terminal("Setup").within(field.stage.root().join("lib")).json(&["init"]);
    let hand = json!({ "from_project_id": "shop", "to_project_id": "lib", "subject": "Add rounding", "to_identity": "Bob", "local": true });
    let made = field.server.ok("handoff_create", &hand);
    let seed = text(&made["seeded_session"], "session_id");
    let key = format!("baton:session:{seed}");
    let in_redis = |name: &str| field.redis.ask::<Option<String>>(&["HGET", &key, name]);
    in_time("the seed is there", || in_redis("state").is_some_and(|state| state.contains("Add rounding")));
    assert_eq!(in_redis("task"), Some(text(&made["seeded_session"], "task_id")));
    let shown = |path: &str| {
        let answer = request(&field.server.address, "GET", path, b"", &[]).expect("an answer");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let path = format!("/api/v1/sessions/{seed}?project=lib");
    let waiting = shown(&path);
    assert_eq!(
        (&waiting["seeded"], &waiting["session_state"]["version"]),
        (&json!(true), &json!(1)),
        "{waiting:#}"
    );
    let bob = json!({ "project": "lib", "identity": "Bob", "handoff_id": made["handoff_id"] });
    assert_eq!(field.server.ok("hd_exec", &bob)["session_id"], json!(seed));
    let save = json!({ "project": "lib", "identity": "Bob", "session": seed, "state": { "next_action": "round" }, "task": made["seeded_session"]["task_id"] });
    field.server.ok("session_checkpoint", &save);
    in_time("what is saved is there", || in_redis("version").as_deref() == Some("2"));
    assert_eq!(shown(&path)["session_state"], json!({ "version": 2, "state": { "next_action": "round" } }));
    let done = json!({ "id": made["handoff_id"], "action": "complete", "identity": "Bob", "result": "done" });
    field.server.ok("handoff_advance", &done);
    in_time("its state goes with the work", || in_redis("state").is_none());
    assert_eq!(shown(&path).get("session_state"), None, "and its session goes on");
}

#[test]
fn a_session_that_a_hook_wraps_is_gone_from_redis() {
    let Some(field) = Field::new() else { return };
    let donna = field.stage.terminal("Donna").with("BATON_REDIS_URL", field.redis.url());
    let donna = donna.with("BATON_AUTO_WRAP", "true");
    let session = text(&donna.json(&["start"]), "session_id");
    let state = json!({ "next_action": "read" });
    let input = json!({ "project": "shop", "identity": "Donna", "session": session, "state": state });
    field.server.ok("session_checkpoint", &input);
    let exists = || field.redis.ask::<i64>(&["EXISTS", &format!("baton:session:{session}")]) == 1;
    in_time("it is there", exists);
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../transcripts/samples/claude/compacted.jsonl");
    let payload = json!({ "session_id": "s", "transcript_path": sample, "cwd": field.stage.shop() });
    donna.feed(payload.to_string().as_bytes(), &["hook", "session-end", "--agent", "claude"]).done();
    in_time("it went with its session", || !exists());
}

#[test]
fn a_redis_that_is_emptied_or_killed_takes_nothing_with_it() {
    let Some(field) = Field::new() else { return };
    let session = field.start("Donna");
    let state = json!({ "project": "shop", "identity": "Donna", "session": session, "state": { "next": 1 } });
    field.server.ok("session_checkpoint", &state);
    let before = heard(&field.ledger(), &session);
    field.beat(&session);
    field.redis.ask::<String>(&["FLUSHALL"]);
    let later = field.beat(&session);
    let with_redis = field.ledger().with("BATON_REDIS_URL", field.redis.url());
    in_time("it fills again", || heard(&with_redis, &session) == later);
    field.redis.kill();
    field.is("away");
    assert_eq!(metric(&field.server, "baton_redis_up"), Some(0));
    let away = field.beat(&session);
    assert_eq!(heard(&field.ledger(), &session), away, "then the ledger is told");
    assert!(away > before);
    assert_eq!(heard(&with_redis, &session), away, "a command does without");
    let doctor = with_redis.json(&["doctor"]);
    assert_eq!((&doctor["sound"], &doctor["redis"]["state"]), (&json!(true), &json!("away")));
    field.server.ok(
        "ledger_note",
        &json!({ "project": "shop", "identity": "Donna", "session": session, "text": "meanwhile" }),
    );
    field.redis.restart();
    field.is("up");
    assert_eq!(with_redis.json(&["doctor"])["redis"]["state"], "up");
    let stored = heard(&field.ledger(), &session);
    let back = field.beat(&session);
    in_time("heartbeats go there again", || heard(&with_redis, &session) == back);
    assert_eq!(heard(&field.ledger(), &session), stored, "and not to the ledger");
    let again = json!({ "project": "shop", "identity": "Donna", "session": session, "state": {}, "expected_version": 1 });
    assert_eq!(field.server.ok("session_checkpoint", &again)["state_version"], 2, "what was saved is there");
    let notes = items(&field.ledger().json(&["log", "--project", "shop", "--kind", "note"]));
    assert_eq!(notes.len(), 1);
    field.stage.assert_sound();
}

#[test]
fn a_redis_that_is_full_leaves_everything_to_the_ledger() {
    let Some(field) = Field::new() else { return };
    let session = field.start("Donna");
    // An empty one has more than that: nothing more is taken.
    field.redis.ask::<String>(&["CONFIG", "SET", "maxmemory", "1mb"]);
    field.redis.ask::<String>(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    in_time("it is full", || {
        field.beat(&session);
        redis_of(&field.server) == "full"
    });
    let beat = field.beat(&session);
    assert_eq!(heard(&field.ledger(), &session), beat);
    let state = json!({ "project": "shop", "identity": "Donna", "session": session, "state": { "next": 1 } });
    assert_eq!(field.server.ok("session_checkpoint", &state)["state_version"], 1);
    field.redis.ask::<String>(&["CONFIG", "SET", "maxmemory", "0"]);
    field.is("up");
    let stored = heard(&field.ledger(), &session);
    assert_ne!(field.beat(&session), stored);
    assert_eq!(heard(&field.ledger(), &session), stored, "Redis has it again");
}

#[test]
fn nobody_waits_for_a_redis_that_is_slow_or_hangs() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let stage = Stage::local();
    stage.terminal("Setup").json(&["init"]);
    let proxy = Proxy::before(redis.address);
    let url = format!("redis://{}", proxy.address);
    let server = Server::start(&stage.terminal("Server").with("BATON_REDIS_URL", &url));
    let field = Field { server, redis, stage };
    let terminal = field.ledger().with("BATON_REDIS_URL", &url);
    field.is("up");
    let session = field.start("Donna");
    // Slow, but not too slow: it goes on being used.
    proxy.delay(Duration::from_millis(60));
    (0..20).for_each(|_| _ = field.beat(&session));
    assert_eq!(redis_of(&field.server), "up");
    // Far too slow.
    proxy.delay(Duration::from_secs(5));
    field.is("away");
    let beat = field.beat(&session);
    assert_eq!(heard(&field.ledger(), &session), beat);
    proxy.hang_up();
    proxy.delay(Duration::ZERO);
    field.is("up");
    // It hangs, with its connections open.
    field.redis.signal("-STOP");
    for n in 0..20 {
        let note = json!({ "project": "shop", "identity": "Donna", "session": session, "text": format!("note {n}") });
        field.server.ok("ledger_note", &note);
        field.beat(&session);
    }
    field.is("away");
    assert_eq!(heard(&terminal, &session), heard(&field.ledger(), &session), "a command does without");
    field.redis.signal("-CONT");
    field.is("up");
    field.server.signal("-TERM");
}

#[test]
fn a_url_that_is_none_is_refused_and_a_password_is_not_shown() {
    let stage = Stage::local();
    let terminal = stage.terminal("Donna").with("BATON_REDIS_URL", "redis://me:hunter2@a,b");
    let refusal = terminal.refused(1, "redis_url_invalid", &["status"]);
    assert!(!refusal.to_string().contains("hunter2"), "{refusal:#}");
    let terminal = stage.terminal("Donna").with("BATON_REDIS_URL", "redis://me:hunter2@127.0.0.1:1");
    let shown = terminal.json(&["config", "show"]);
    assert_eq!(shown["settings"]["redis_url"]["value"], "redis://me:[hidden]@127.0.0.1:1");
    let output = terminal.json(&["doctor"]).to_string();
    assert!(output.contains("away") && !output.contains("hunter2"), "{output}");
}
