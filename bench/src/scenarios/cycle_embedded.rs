//! Start, wrap and pickup through the library: what an operation costs without process, socket and other clients.

use anyhow::{Result, anyhow};
use baton_ops::op::{Caller, Cx, Env, Host};
use baton_store::{Store, Target as Place};
use serde_json::{Value, json};

use crate::bare::Bare;
use crate::corpus::Dice;
use crate::lab::Lab;
use crate::process::packet;
use crate::report::{Line, Target};
use crate::sides::{Sides, timed};

/// Cycles that are measured together.
const BLOCK: u32 = 20;

/// A machine on which nothing ever ends.
struct Quiet(baton_transcripts::Env);

impl Host for Quiet {
    fn process_gone(&self, _: &baton_model::session::Place) -> bool {
        false
    }

    fn transcript_env(&self) -> &baton_transcripts::Env {
        &self.0
    }

    fn git(&self, _: &str) -> Option<baton_model::packet::Git> {
        None
    }
}

struct Ledger {
    store: Store,
    host: Quiet,
    caller: Caller,
    dice: Dice,
    now: i64,
}

impl Ledger {
    fn call(&mut self, operation: &str, input: Value) -> Result<()> {
        self.now += 1_000;
        let dice = &mut self.dice;
        let mut random = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = dice.below(256) as u8);
        let env = Env {
            now: self.now,
            random: &mut random,
            caller: &self.caller,
            limits: Default::default(),
            host: &self.host,
        };
        let answer = baton_ops::all::run(operation, input, &mut Cx { store: &mut self.store, env });
        answer.map(drop).map_err(|failure| anyhow!("{operation}: {failure:?}"))
    }

    /// The three that are measured.
    fn cycle(&mut self) -> Result<()> {
        self.call("session_start", json!({ "project": "p", "identity": "Ann" }))?;
        self.call("session_wrap", json!({ "project": "p", "identity": "Ann", "packet": packet() }))?;
        self.call("hd_exec", json!({ "project": "p", "identity": "Bob" }))
    }
}

/// Cycles against transactions.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("cycle-embedded")?;
    let bare = Bare::create(&folder.join("bare.db"))?;
    let store = Store::open(&Place::File(folder.join("store.db")), 0).map_err(|fault| anyhow!("{fault}"))?;
    let env = baton_transcripts::Env {
        home: folder.clone(),
        vars: Default::default(),
        os: baton_transcripts::Os::Linux,
    };
    let caller =
        Caller { surface: "human".to_owned(), folders: vec!["/bench".to_owned()], ..Caller::default() };
    let mut ledger = Ledger { store, host: Quiet(env), caller, dice: Dice::new(1), now: 1_795_168_800_000 };
    ledger.call("project_init", json!({ "id": "p", "vcs": "none" }))?;
    let mut sides = Sides::default();
    for _ in 0..lab.count(40, 8) {
        let reference = timed(|| (0..BLOCK * 3).try_for_each(|_| bare.transaction()))?.0;
        let mut took = 0.0;
        for _ in 0..BLOCK {
            took += timed(|| ledger.cycle())?.0;
            ledger.call("session_end", json!({ "project": "p", "identity": "Bob" }))?;
        }
        sides.push(reference, took);
    }
    let per = |seconds: f64| seconds / f64::from(BLOCK * 3) * 1e6;
    Ok(vec![
        Line::spread("start + wrap + pickup ÷ three durable transactions", sides.ratio(), "×")
            .target(Target::AtMost(3.0))
            .note("the target is ours: the issue sets none"),
        Line::new("one operation", per(sides.subject().median), "µs"),
        Line::new("one bare durable transaction", per(sides.reference().median), "µs"),
    ])
}
