//! Three servers, fifty clients, a database whose connections break all the time, and a Redis that is killed, emptied and hangs. What the clients saw must be possible,
//! and what was acknowledged must be there, once.
//!
//! `BATON_TEST_FAULTS=600` goes on for ten minutes and, on the private server of `./test`, lets the database itself crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::history::{Held, History};
use super::proxy::{Cut, Proxy};
use super::{in_time, proxy_of, through};
use crate::database::numbers;
use crate::database_server::DatabaseServer;
use crate::http::{Response, Server, caller, post, request};
use crate::redis_server::RedisServer;
use crate::stage::{Stage, env, text};
use crate::webhook::receiver;

const CLIENTS: usize = 50;
const PROJECTS: usize = 4;
const SERVERS: usize = 3;

/// Everything that the threads share.
struct Field<'a> {
    stage: &'a Stage,
    /// What the servers connect to.
    url: String,
    proxy: Proxy,
    /// What stands beside the database, where the tests have one.
    redis: Option<RedisServer>,
    servers: RwLock<Vec<Server>>,
    over: AtomicBool,
    /// For how long nobody could do anything after the database was back, at most, in milliseconds.
    away: AtomicUsize,
}

/// A small generator: each thread has its own seed, so that a run can be looked at again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A client: it asks until it is answered, whichever server that takes, always with the same key.
struct Client<'a> {
    field: &'a Field<'a>,
    dice: Dice,
    number: usize,
    asked: usize,
    history: History,
}

impl Client<'_> {
    fn ask(&mut self, who: &str, project: &str, operation: &str, input: &Value) -> Option<Response> {
        self.asked += 1;
        let key = format!("c{}-{}", self.number, self.asked);
        let who = caller(who, project);
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            let server = usize::try_from(self.dice.roll(SERVERS as u64)).expect("small");
            let address =
                self.field.servers.read().expect("no panic").get(server).map(|server| server.address.clone());
            let headers = [("baton-caller", who.as_str()), ("idempotency-key", key.as_str())];
            match address.and_then(|address| post(&address, operation, input, &headers)) {
                Some(answer) if !matches!(answer.status, 500..) => return Some(answer),
                Some(answer) => assert_eq!(answer.status, 503, "{operation} {input}: {answer:#?}"),
                None => {}
            }
            self.history.retried += 1;
            std::thread::sleep(Duration::from_millis(20 + self.dice.roll(80)));
        }
        None
    }

    fn go(mut self) -> History {
        while !self.field.over.load(Ordering::Relaxed) {
            let project = format!("p{}", self.dice.roll(PROJECTS as u64));
            match self.dice.roll(4) {
                0 | 1 => self.note(&project),
                2 => self.work(&project),
                _ => self.pass_on(&project),
            }
        }
        self.history
    }

    fn note(&mut self, project: &str) {
        let text = format!("{project}/{}/{}", self.number, self.asked);
        let who = format!("N{}", self.number);
        match self.ask(&who, project, "ledger_note", &json!({ "text": text })) {
            Some(answer) if answer.status == 200 => _ = self.history.kept.insert(text),
            _ => _ = self.history.unknown.insert(text),
        }
    }

    /// Claims a task, has it for a moment, and gives it back.
    fn work(&mut self, project: &str) {
        let who = format!("W{}", self.number);
        let Some(answer) = self.ask(&who, project, "task_claim", &json!({ "lease_s": 3600 })) else { return };
        let from = Instant::now();
        let claimed = answer.json();
        if answer.status != 200 || claimed["claimed"] != true {
            self.history.refused += 1;
            return;
        }
        let task = text(&claimed["task"], "id");
        std::thread::sleep(Duration::from_millis(self.dice.roll(20)));
        let until = Instant::now();
        self.history.held.push(Held { what: format!("{project}/{task}"), by: who.clone(), from, until });
        let back = json!({ "id": task, "token": claimed["token"], "untried": true });
        let answer = self.ask(&who, project, "task_release", &back).expect("it can be given back");
        assert_eq!(answer.status, 200, "it was still ours: {answer:#?}");
    }

    /// Picks a baton up under a new name, holds it for a moment, and wraps.
    fn pass_on(&mut self, project: &str) {
        let who = format!("B{}-{}", self.number, self.asked);
        let Some(answer) = self.ask(&who, project, "hd_exec", &json!({})) else { return };
        let from = Instant::now();
        if answer.status != 200 {
            assert_eq!(answer.status, 409, "{answer:#?}");
            self.history.refused += 1;
            return;
        }
        let picked = answer.json();
        std::thread::sleep(Duration::from_millis(self.dice.roll(20)));
        let until = Instant::now();
        if let Some(baton) = picked["baton"]["delta_id"].as_str() {
            self.history.held.push(Held { what: format!("{project}/{baton}"), by: who.clone(), from, until });
        }
        let beat = json!({ "session": picked["session_id"] });
        let answer = self.ask(&who, project, "session_heartbeat", &beat).expect("it can beat");
        assert_eq!(answer.status, 200, "the session is open: {answer:#?}");
        let packet = json!({ "summary": format!("{who} leaves this"), "session": picked["session_id"] });
        let answer = self.ask(&who, project, "session_wrap", &packet).expect("it can be wrapped");
        assert_eq!(answer.status, 200, "the session was open: {answer:#?}");
        self.history.wraps.insert(format!("{project}/{}", text(&answer.json(), "delta_id")));
    }
}

/// Breaks one thing after the other.
fn break_things(field: &Field<'_>, until: Instant, long: bool) -> BTreeMap<&'static str, usize> {
    let mut dice = Dice(seed());
    let mut done: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut turn = 0;
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200 + dice.roll(600)));
        // Each once in order, then by chance.
        let kind = if turn < 7 { turn } else { dice.roll(if long { 8 } else { 7 }) };
        turn += 1;
        let what = match kind {
            0 => {
                let few = 1 + dice.roll(4);
                kill_connections(field, &format!("ORDER BY random() LIMIT {few}"));
                "connections killed"
            }
            1 => {
                field.proxy.cut(Cut::AfterCommit, 3, false);
                "answers to commits lost"
            }
            2 => {
                field.proxy.cut(Cut::BeforeCommit, 3, false);
                "commits lost"
            }
            3 => {
                field.proxy.close(true);
                std::thread::sleep(Duration::from_millis(300 + dice.roll(1_200)));
                field.proxy.close(false);
                watch_recovery(field);
                "database out of reach"
            }
            4 => {
                field.proxy.delay(Duration::from_millis(5 + dice.roll(40)));
                std::thread::sleep(Duration::from_millis(500));
                field.proxy.delay(Duration::ZERO);
                "answers late"
            }
            5 => {
                kill_a_server(field, &mut dice);
                "servers killed"
            }
            6 => match break_redis(field, &mut dice) {
                Some(what) => what,
                None => continue,
            },
            _ => {
                if env("BATON_TEST_PG_PRIVATE").is_none() || dice.roll(4) != 0 {
                    continue;
                }
                crash(field);
                watch_recovery(field);
                "database crashed"
            }
        };
        *done.entry(what).or_default() += 1;
    }
    done
}

/// Nothing depends on Redis: whatever happens to it is no reason to be refused.
fn break_redis(field: &Field<'_>, dice: &mut Dice) -> Option<&'static str> {
    let redis = field.redis.as_ref()?;
    let pause = Duration::from_millis(300 + dice.roll(1_500));
    match dice.roll(3) {
        0 => {
            redis.kill();
            std::thread::sleep(pause);
            redis.restart();
            Some("Redis killed")
        }
        1 => {
            redis.ask::<String>(&["FLUSHALL"]);
            Some("Redis emptied")
        }
        _ => {
            redis.signal("-STOP");
            std::thread::sleep(pause);
            redis.signal("-CONT");
            Some("Redis hung")
        }
    }
}

fn seed() -> u64 {
    env("BATON_TEST_SEED").and_then(|seed| seed.parse().ok()).unwrap_or_else(|| u64::from(std::process::id()))
}

fn mark(stage: &Stage) -> String {
    stage.database().rsplit_once("%3D").expect("a schema").1.to_owned()
}

fn kill_connections(field: &Field<'_>, which: &str) {
    let sql = format!(
        "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = '{}' {which}) picked",
        mark(field.stage)
    );
    let _ = database(field).execute(&sql);
}

/// The database, as soon as it lets anybody in: one that has just crashed may go on doing so for a moment.
fn database(field: &Field<'_>) -> DatabaseServer {
    let begin = Instant::now();
    loop {
        match DatabaseServer::try_connect(field.stage.database()) {
            Ok(client) => return client,
            Err(error) => {
                assert!(begin.elapsed() < Duration::from_secs(60), "it does not come back: {error}")
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill_a_server(field: &Field<'_>, dice: &mut Dice) {
    let which = usize::try_from(dice.roll(SERVERS as u64)).expect("small");
    field.servers.read().expect("no panic")[which].signal("-KILL");
    std::thread::sleep(Duration::from_millis(dice.roll(500)));
    let new = start(field);
    field.servers.write().expect("no panic")[which] = new;
}

fn start(field: &Field<'_>) -> Server {
    let redis = field.redis.as_ref().map(RedisServer::url).unwrap_or_default();
    let terminal = field.stage.terminal("Server").with("BATON_STORE", &field.url);
    Server::start(&terminal.with("BATON_REDIS_URL", redis))
}

/// One killed process of the database takes all its connections down, and it recovers from its log.
fn crash(field: &Field<'_>) {
    let sql = format!(
        "SELECT pid::bigint FROM pg_stat_activity WHERE application_name = '{}' LIMIT 1",
        mark(field.stage)
    );
    let rows = database(field).query(&sql).unwrap_or_default();
    for pid in rows.iter().map(|row| row.get::<_, i64>(0)) {
        let _ = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    }
    drop(database(field));
}

/// Waits until every server is ready again, and notes how long that took.
fn watch_recovery(field: &Field<'_>) {
    let begin = Instant::now();
    in_time("every server is ready again", || {
        let servers = field.servers.read().expect("no panic");
        servers.iter().all(|server| {
            request(&server.address, "GET", "/readyz", b"", &[]).is_some_and(|answer| answer.status == 200)
        })
    });
    let took = usize::try_from(begin.elapsed().as_millis()).expect("small");
    field.away.fetch_max(took, Ordering::Relaxed);
}

#[test]
fn fifty_clients_and_three_servers_live_through_broken_connections() {
    let Some(stage) = Stage::on_postgres() else { return };
    let seconds = env("BATON_TEST_FAULTS").and_then(|seconds| seconds.parse().ok());
    let (url, posts) = receiver(&[200]);
    prepare(&stage, &url);
    let proxy = proxy_of(stage.database());
    let url = format!("{}&application_name={}", through(&proxy, stage.database()), mark(&stage));
    let field = Field {
        stage: &stage,
        url,
        proxy,
        redis: RedisServer::start(&[]),
        servers: RwLock::new(Vec::new()),
        over: AtomicBool::new(false),
        away: AtomicUsize::new(0),
    };
    let servers = (0..SERVERS).map(|_| start(&field)).collect();
    *field.servers.write().expect("no panic") = servers;
    let all = Mutex::new(History::default());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(8));
    let broken = std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (field, all) = (&field, &all);
            scope.spawn(move || {
                let dice = Dice(seed() + 1 + number as u64);
                let client = Client { field, dice, number, asked: 0, history: History::default() };
                let history = client.go();
                all.lock().expect("no panic").join(history);
            });
        }
        // However this ends, the clients end with it.
        let _over = Over(&field.over);
        break_things(&field, until, seconds.is_some())
    });
    let history = all.into_inner().expect("no panic");
    let away = field.away.load(Ordering::Relaxed);
    eprintln!(
        "{broken:?}; {} notes, {} held, {} wraps, {} refused, {} retried; back after {away} ms at most",
        history.kept.len(),
        history.held.len(),
        history.wraps.len(),
        history.refused,
        history.retried
    );
    assert!(history.kept.len() > 50 && history.held.len() > 20, "there was load");
    judge(&stage, &history);
    in_time("the outbox is empty", || {
        numbers(stage.database(), "SELECT count(*) FROM outbox WHERE state = 'pending'") == [0]
    });
    judge_effects(&stage, &posts);
    drop(field);
    stage.assert_sound();
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn prepare(stage: &Stage, url: &str) {
    for number in 0..PROJECTS {
        let id = format!("p{number}");
        let setup = stage.terminal("Setup").within(stage.repo(&id));
        setup.json(&["init", "--id", &id]);
        for task in 0..6 {
            setup.json(&["task", "create", &format!("task {task}")]);
        }
    }
    let setup = stage.terminal("Setup");
    setup.json(&["project", "set", "--project", "p0", "--webhook", url]);
}

fn judge(stage: &Stage, history: &History) {
    let conflicts = history.conflicts();
    assert!(conflicts.is_empty(), "held by two at one time: {conflicts:#?}");
    let (mut notes, mut wraps) = (Vec::new(), BTreeSet::new());
    for number in 0..PROJECTS {
        let project = format!("p{number}");
        let mut picked: BTreeMap<String, String> = BTreeMap::new();
        let mut last = 0;
        for delta in stage.ledger(&project) {
            let seq = delta["seq"].as_i64().expect("a number");
            assert!(seq > last, "numbers rise");
            last = seq;
            match delta["kind"].as_str() {
                Some("note") => notes.push(text(&delta["body"], "text")),
                Some("wrap") => _ = wraps.insert(format!("{project}/{}", text(&delta, "delta_id"))),
                Some("pickup") => {
                    let Some(baton) = delta["body"]["inherited_from_wrap_delta_id"].as_str() else {
                        continue;
                    };
                    let before = picked.insert(baton.to_owned(), text(&delta, "session_id"));
                    assert_eq!(before, None, "{baton} has two holders");
                }
                _ => {}
            }
        }
    }
    notes.retain(|note| note.starts_with('p') && note.matches('/').count() == 2);
    let faults = history.faults_of_notes(&notes);
    assert!(faults.is_empty(), "{faults:#?}");
    let lost: Vec<_> = history.wraps.difference(&wraps).collect();
    assert!(lost.is_empty(), "acknowledged wraps are gone: {lost:#?}");
}

/// Every delta of the project with the webhook was posted, under one id. A server that dies between a post and its record leaves
/// it to the next one to post again, under the same id: that is how a receiver knows.
fn judge_effects(stage: &Stage, posts: &std::sync::mpsc::Receiver<crate::webhook::Post>) {
    let mut ids: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut count = 0;
    while let Ok(post) = posts.recv_timeout(Duration::from_millis(500)) {
        let delta: Value = serde_json::from_str(&post.body).expect("JSON");
        ids.entry(text(&delta, "delta_id")).or_default().insert(post.headers["baton-effect-id"].clone());
        count += 1;
    }
    eprintln!("{count} posts of {} deltas", ids.len());
    let doubled: Vec<_> = ids.iter().filter(|(_, ids)| ids.len() > 1).collect();
    assert!(doubled.is_empty(), "{doubled:#?}");
    let effects = numbers(stage.database(), "SELECT count(*) FROM outbox");
    assert_eq!(effects, [i64::try_from(ids.len()).expect("small")], "every effect happened");
}
