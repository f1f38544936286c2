//! A small world: a ledger, a clock that stands still, numbers that repeat, processes that end, and agents that call.

use std::sync::Arc;

use baton_model::session::{Limits, ProcessLocation};
use baton_ops::op::{Caller, Cx, Env, OperationEntry};
use baton_store::{Failure, Store};
use serde_json::{Value, json};

use crate::backend::{Backend, Ground, NOW};
use crate::machines::{Home, Keeper, Machines};

/// The cut-off of freshness, and the one of the green dot.
pub(crate) const STALE: i64 = 600_000;
pub(crate) const LIVE: i64 = 90_000;

/// An agent as its operations see it: works in project `p`, on machine `m1`, in a process of its own.
#[derive(Debug, Clone)]
pub(crate) struct Agent(pub Caller);

pub(crate) fn agent(identity: &str) -> Agent {
    Agent(Caller {
        identity: Some(identity.to_owned()),
        project: Some("p".to_owned()),
        surface: "codex".to_owned(),
        location: ProcessLocation { machine: "m1".to_owned(), process: format!("{identity} 1") },
        ..Caller::default()
    })
}

impl Agent {
    /// The same agent in another process.
    pub(crate) fn process(mut self, process: &str) -> Self {
        process.clone_into(&mut self.0.location.process);
        self
    }

    /// The same agent on another machine.
    pub(crate) fn machine(mut self, machine: &str) -> Self {
        machine.clone_into(&mut self.0.location.machine);
        self
    }

    /// The same agent in another project.
    pub(crate) fn project(mut self, project: &str) -> Self {
        self.0.project = Some(project.to_owned());
        self
    }

    /// Its face remembers the session that it works in.
    pub(crate) fn in_session(mut self, answer: &Value) -> Self {
        self.0.session = Some(text(answer, "session_id"));
        self
    }

    /// Its environment says nothing: no project, no identity.
    pub(crate) fn nameless(mut self) -> Self {
        (self.0.identity, self.0.project) = (None, None);
        self
    }

    /// Stands in this folder, inside this working copy.
    pub(crate) fn at(mut self, folder: &str, git_root: Option<&str>) -> Self {
        let above = |f: &str| f.rfind('/').filter(|at| *at > 0).map(|at| f[..at].to_owned());
        self.0.folders = std::iter::successors(Some(folder.to_owned()), |f| above(f)).collect();
        self.0.git_root = git_root.map(str::to_owned);
        self
    }
}

/// Numbers that repeat for a seed.
#[derive(Debug, Clone)]
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() >> 33).unwrap_or_default() % n
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = u8::try_from(self.roll() >> 56).unwrap_or_default();
        }
    }
}

/// Whether every rule is to hold with heartbeats that are kept beside the ledger.
#[allow(clippy::disallowed_methods, reason = "a test learns from its environment how it is to run")]
fn kept_beside() -> bool {
    std::env::var("BATON_TEST_BESIDE").is_ok_and(|value| !value.is_empty())
}

/// Everything that one test happens in. Project `p` is registered.
pub(crate) struct World {
    pub store: Store,
    pub ground: Ground,
    pub now: i64,
    pub dice: Dice,
    pub machines: Machines,
    pub limits: Limits,
    /// The rule is about damage, so there is some at its end.
    pub damaged: bool,
}

impl World {
    /// `None` where the backend is not there.
    pub(crate) fn new(backend: Backend, seed: u64) -> Option<Self> {
        let ground = Ground::new(backend)?;
        Some(Self::on(ground, seed))
    }

    fn on(ground: Ground, seed: u64) -> Self {
        let store = ground.open();
        let machines = Machines::default();
        let mut w = Self {
            store,
            ground,
            now: NOW,
            dice: Dice(seed),
            machines,
            limits: Limits::default(),
            damaged: false,
        };
        if kept_beside() {
            w.stand_beside();
        }
        w.register("p");
        w
    }

    /// From now on heartbeats are kept beside the ledger.
    pub(crate) fn stand_beside(&mut self) -> Arc<Keeper> {
        let keeper = Arc::new(Keeper::default());
        self.machines.keeper = Some(Arc::clone(&keeper));
        self.store.observe(Arc::clone(&keeper) as Arc<dyn baton_store::CommitObserver>);
        keeper
    }

    /// Another connection to the same ledger, with numbers of its own.
    pub(crate) fn beside(ground: &Ground, seed: u64) -> Beside {
        Beside { store: ground.open(), dice: Dice(seed) }
    }

    pub(crate) fn register(&mut self, project: &str) {
        let owner = agent("Owner").project(project).at(&format!("/repos/{project}"), None);
        self.ok(&owner, "project_init", json!({ "id": project }));
    }

    pub(crate) fn advance(&mut self, millis: i64) {
        self.now += millis;
    }

    /// Gives the machine a home directory of its own, empty, and a place for caches.
    pub(crate) fn settle(&mut self) -> &Home {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let env = baton_transcripts::TranscriptEnv { home: dir.path().join("home"), ..Default::default() };
        self.machines.home.insert(Home { env, caches: dir.path().join("caches"), _dir: dir })
    }

    /// The home directory that [`settle`](Self::settle) made.
    pub(crate) fn home(&self) -> &Home {
        self.machines.home.as_ref().expect("a home")
    }

    /// The agent's process ends.
    pub(crate) fn kill(&mut self, who: &Agent) {
        self.machines.ended.insert(who.0.location.process.clone());
    }

    /// What an operation answers; a fault of the store fails the test.
    pub(crate) fn call(&mut self, who: &Agent, verb: &str, input: Value) -> Result<Value, Value> {
        let Self { store, dice, now, limits, machines, .. } = self;
        call(store, dice, who, &mut Moment { now: *now, limits: *limits, machines }, verb, input)
    }

    /// The same under a key: the answer of a retry is the first one.
    pub(crate) fn once(
        &mut self,
        who: &Agent,
        entry: &OperationEntry,
        input: Value,
        key: &str,
    ) -> Result<Value, Value> {
        let Self { store, dice, now, limits, machines, .. } = self;
        let mut random = |bytes: &mut [u8]| dice.fill(bytes);
        let env = Env { now: *now, random: &mut random, caller: &who.0, limits: *limits, host: machines };
        told(entry.name, baton_ops::idempotency::run(entry, input, key, &mut Cx { store, env }))
    }

    #[track_caller]
    pub(crate) fn ok(&mut self, who: &Agent, verb: &str, input: Value) -> Value {
        self.call(who, verb, input).unwrap_or_else(|refusal| panic!("{verb} was refused: {refusal:#}"))
    }

    /// The refusal, which has this code.
    #[track_caller]
    pub(crate) fn no(&mut self, who: &Agent, verb: &str, input: Value, code: &str) -> Value {
        match self.call(who, verb, input) {
            Ok(answer) => panic!("{verb} should be refused as {code}, but answered {answer:#}"),
            Err(refusal) => {
                assert_eq!(refusal["code"], code, "{verb}: {refusal:#}");
                refusal
            }
        }
    }

    /// The refusal, and nothing at all is written.
    #[track_caller]
    pub(crate) fn no_trace(&mut self, who: &Agent, verb: &str, input: Value, code: &str) -> Value {
        let before = self.everything();
        let refusal = self.no(who, verb, input, code);
        assert_eq!(self.everything(), before, "{verb} was refused, but wrote something");
        refusal
    }

    #[track_caller]
    pub(crate) fn start(&mut self, who: &Agent) -> Value {
        self.ok(who, "session_start", json!({}))
    }

    #[track_caller]
    pub(crate) fn checkpoint(&mut self, who: &Agent, summary: &str) -> Value {
        self.ok(who, "session_checkpoint", json!({ "summary": summary }))
    }

    #[track_caller]
    pub(crate) fn wrap(&mut self, who: &Agent, summary: &str) -> Value {
        self.ok(who, "session_wrap", json!({ "summary": summary }))
    }

    #[track_caller]
    pub(crate) fn end(&mut self, who: &Agent) -> Value {
        self.ok(who, "session_end", json!({}))
    }

    #[track_caller]
    pub(crate) fn pickup(&mut self, who: &Agent) -> Value {
        self.ok(who, "hd_exec", json!({}))
    }

    #[track_caller]
    pub(crate) fn force(&mut self, who: &Agent, why: &str) -> Value {
        self.ok(who, "hd_exec", json!({ "force": true, "why": why }))
    }

    /// One after the other starts and wraps: a baton that waits.
    #[track_caller]
    pub(crate) fn leave_baton(&mut self, who: &Agent, summary: &str) -> Value {
        self.start(who);
        self.wrap(who, summary)
    }

    /// Every delta of a project, in order.
    pub(crate) fn ledger_of(&mut self, project: &str) -> Vec<Value> {
        let reader = agent("Reader").project(project);
        let page = self.ok(&reader, "ledger_list", json!({ "limit": 10_000 }));
        assert!(page["next"].is_null(), "the ledger of a test fits on one page");
        list(&page["items"])
    }

    pub(crate) fn ledger(&mut self) -> Vec<Value> {
        self.ledger_of("p")
    }

    /// The deltas of one kind.
    pub(crate) fn deltas(&mut self, kind: &str) -> Vec<Value> {
        self.ledger().into_iter().filter(|d| d["kind"] == kind).collect()
    }

    /// The newest delta of one kind.
    #[track_caller]
    pub(crate) fn newest(&mut self, kind: &str) -> Value {
        self.deltas(kind).pop().unwrap_or_else(|| panic!("the ledger has no {kind}"))
    }

    pub(crate) fn project(&mut self) -> Value {
        self.ok(&agent("Reader"), "project_show", json!({}))
    }

    /// The open sessions.
    pub(crate) fn roster(&mut self) -> Vec<Value> {
        list(&self.ok(&agent("Reader"), "session_status", json!({}))["sessions"])
    }

    /// The state of a baton on the status card; nothing when it is spent.
    pub(crate) fn baton_state(&mut self, baton: &str) -> Option<String> {
        let card = self.ok(&agent("Reader"), "session_status", json!({}));
        list(&card["handoffs"]).iter().find(|row| row["id"] == baton).map(|row| text(row, "state"))
    }

    pub(crate) fn pending(&mut self, who: &Agent) -> Vec<Value> {
        list(&self.ok(who, "signal_pending", json!({}))["items"])
    }

    #[track_caller]
    pub(crate) fn assert_sound(&mut self) {
        let report = self.ok(&agent("Reader"), "store_check", json!({}));
        assert_eq!(report["faults"], json!([]));
        assert_eq!(report["sound"], true);
    }

    /// Calls an operation while the store fails after so many steps of writes. `None`: it failed.
    pub(crate) fn call_failing(
        &mut self,
        who: &Agent,
        verb: &str,
        input: Value,
        steps: u32,
    ) -> Option<Result<Value, Value>> {
        self.store.fail_after(Some(steps));
        let mut random = |bytes: &mut [u8]| self.dice.fill(bytes);
        let env = Env {
            now: self.now,
            random: &mut random,
            caller: &who.0,
            limits: self.limits,
            host: &self.machines,
        };
        let answer = baton_ops::all::run(verb, input, &mut Cx { store: &mut self.store, env });
        self.store.fail_after(None);
        match answer {
            Ok(answer) => Some(Ok(answer)),
            Err(Failure::Refused(refusal)) => Some(Err(refusal.to_json())),
            Err(Failure::Fault(_)) => None,
        }
    }

    /// Every row of every table.
    pub(crate) fn everything(&mut self) -> Vec<String> {
        let rows = self.store.read(|tx| {
            let mut all = Vec::new();
            for (table, sql) in TABLES {
                all.extend(tx.query(sql, &[])?.iter().map(|row| format!("{table}: {row:?}")));
            }
            Ok(all)
        });
        rows.expect("the tables can be read")
    }
}

const TABLES: [(&str, &str); 33] = [
    ("project", "SELECT * FROM project ORDER BY project_id"),
    ("project_root", "SELECT * FROM project_root ORDER BY machine_id, path"),
    ("memory_vector", "SELECT * FROM memory_vector ORDER BY project_id, memory_id"),
    ("session", "SELECT * FROM session ORDER BY project_id, session_id"),
    ("session_state", "SELECT * FROM session_state ORDER BY project_id, identity_key, task_key"),
    ("delta", "SELECT * FROM delta ORDER BY project_id, seq"),
    ("baton", "SELECT * FROM baton ORDER BY project_id, baton_id"),
    ("changes", "SELECT * FROM changes ORDER BY project_id, baton_id"),
    ("changes_part", "SELECT * FROM changes_part ORDER BY project_id, content_hash, part"),
    ("transcript_copy", "SELECT * FROM transcript_copy ORDER BY project_id, agent, transcript_id"),
    ("transcript_copy_part", "SELECT * FROM transcript_copy_part ORDER BY project_id, content_hash, part"),
    ("conversation", "SELECT * FROM conversation ORDER BY project_id, tool, native_id"),
    ("request", "SELECT * FROM request ORDER BY project_id, caller, verb, request_id"),
    ("message", "SELECT * FROM message ORDER BY project_id, message_id"),
    ("agent", "SELECT * FROM agent ORDER BY project_id, identity_key"),
    ("file_lease", "SELECT * FROM file_lease ORDER BY project_id, lease_id"),
    ("public_key", "SELECT * FROM public_key ORDER BY project_id, identity_key"),
    ("task", "SELECT * FROM task ORDER BY project_id, task_id"),
    ("task_dependency", "SELECT * FROM task_dependency ORDER BY project_id, task_id, depends_on_id, kind"),
    ("task_comment", "SELECT * FROM task_comment ORDER BY project_id, task_id, place"),
    ("task_counter", "SELECT * FROM task_counter ORDER BY project_id, parent_id"),
    ("task_line", "SELECT * FROM task_line ORDER BY project_id, task_id"),
    ("task_other_line", "SELECT * FROM task_other_line ORDER BY project_id, place"),
    ("handoff", "SELECT * FROM handoff ORDER BY handoff_id"),
    ("handoff_step", "SELECT * FROM handoff_step ORDER BY handoff_id, step_no"),
    ("issue_comment", "SELECT * FROM issue_comment ORDER BY handoff_id, comment_id"),
    ("issue_text", "SELECT * FROM issue_text ORDER BY handoff_id"),
    ("memory", "SELECT * FROM memory ORDER BY project_id, memory_id"),
    ("project_relation", "SELECT * FROM project_relation ORDER BY project_id, other_project_id"),
    ("tracker_poll", "SELECT * FROM tracker_poll ORDER BY repo"),
    ("outbox", "SELECT * FROM outbox ORDER BY project_id, effect_id"),
    ("access_token", "SELECT * FROM access_token ORDER BY token_id"),
    ("share", "SELECT * FROM share ORDER BY share_id"),
];

/// A connection of another thread.
pub(crate) struct Beside {
    store: Store,
    dice: Dice,
}

impl Beside {
    pub(crate) fn call(&mut self, who: &Agent, verb: &str, input: Value) -> Result<Value, Value> {
        let machines = Machines::default();
        let mut moment = Moment { now: NOW, limits: Limits::default(), machines: &machines };
        call(&mut self.store, &mut self.dice, who, &mut moment, verb, input)
    }
}

struct Moment<'a> {
    now: i64,
    limits: Limits,
    machines: &'a Machines,
}

fn call(
    store: &mut Store,
    dice: &mut Dice,
    who: &Agent,
    moment: &mut Moment<'_>,
    verb: &str,
    input: Value,
) -> Result<Value, Value> {
    let mut random = |bytes: &mut [u8]| dice.fill(bytes);
    let env = Env {
        now: moment.now,
        random: &mut random,
        caller: &who.0,
        limits: moment.limits,
        host: moment.machines,
    };
    told(verb, baton_ops::all::run(verb, input, &mut Cx { store, env }))
}

fn told(verb: &str, answer: Result<Value, Failure>) -> Result<Value, Value> {
    match answer {
        Ok(answer) => {
            assert_typed(verb, &answer);
            Ok(answer)
        }
        Err(Failure::Refused(refusal)) => Err(refusal.to_json()),
        Err(Failure::Fault(fault)) => panic!("{verb}: the store failed: {fault}"),
    }
}

/// A typed client reads the answer as the operation's output, and loses nothing of it.
fn assert_typed(verb: &str, answer: &Value) {
    let entry = baton_ops::all::find(verb).unwrap_or_else(|_| panic!("no operation `{verb}`"));
    match (entry.reread)(answer) {
        Ok(again) => assert_eq!(&again, answer, "{verb}: the output loses something of its own answer"),
        Err(error) => panic!("{verb}: its own answer cannot be read as its output: {error}\n{answer:#}"),
    }
}

/// A field that must be a text.
#[track_caller]
pub(crate) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_else(|| panic!("no text `{key}` in {value:#}")).to_owned()
}

/// A list, whatever it holds.
#[track_caller]
pub(crate) fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value:#}")).clone()
}

/// One field of every row, as texts.
#[track_caller]
pub(crate) fn column(rows: &[Value], key: &str) -> Vec<String> {
    rows.iter().map(|row| text(row, key)).collect()
}
