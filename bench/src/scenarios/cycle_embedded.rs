//! Start, wrap and pickup through the library: what an operation costs without process, socket and other clients.

use std::path::Path;

use anyhow::{Result, anyhow};
use baton_ops::memory_index::MatrixCache;
use baton_ops::op::{Caller, Cx, Env, Host};
use baton_store::{Store, Target as Place};
use serde_json::{Value, json};

use crate::bare::Bare;
use crate::corpus::Dice;
use crate::lab::Lab;
use crate::process::packet;
use crate::report::Line;
use crate::sides::{Sides, timed};

/// Cycles that are measured together.
const BLOCK: u32 = 20;

/// A machine on which nothing ever ends.
struct StaticHost(baton_transcripts::TranscriptEnv, Option<MatrixCache>);

impl Host for StaticHost {
    fn has_process_ended(&self, _: &baton_model::session::ProcessLocation) -> bool {
        false
    }

    fn transcript_env(&self) -> &baton_transcripts::TranscriptEnv {
        &self.0
    }

    fn github_access(&self) -> bool {
        true
    }

    fn matrices(&self) -> Option<&MatrixCache> {
        self.1.as_ref()
    }

    fn git(&self, _: &str) -> Option<baton_model::packet::Git> {
        None
    }
}

/// A store with somebody who calls operations on it.
pub(super) struct Ledger {
    pub(super) store: Store,
    host: StaticHost,
    caller: Caller,
    dice: Dice,
    pub(super) now: i64,
}

impl Ledger {
    /// Keeps vectors in memory between two calls, or does not.
    pub(super) fn keep(&mut self, matrices: Option<MatrixCache>) {
        self.host.1 = matrices;
    }

    /// Calls an operation and throws its answer away.
    pub(super) fn call(&mut self, operation: &str, input: Value) -> Result<()> {
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

    /// A first hand-off: begin, wrap, pick up.
    pub(super) fn first(&mut self, project: &str) -> Result<()> {
        self.call("session_start", json!({ "project": project, "identity": "Ann" }))?;
        self.call("session_wrap", json!({ "project": project, "identity": "Ann", "packet": packet() }))?;
        self.call("hd_exec", json!({ "project": project, "identity": "Bob" }))
    }

    /// Two further ones, so that who has it at the end is who had it before.
    fn there_and_back(&mut self, project: &str) -> Result<()> {
        for (at_work, next) in [("Bob", "Ann"), ("Ann", "Bob")] {
            self.call(
                "session_wrap",
                json!({ "project": project, "identity": at_work, "packet": packet() }),
            )?;
            self.call("hd_exec", json!({ "project": project, "identity": next }))?;
        }
        Ok(())
    }
}

/// Cycles against transactions.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let folder = lab.folder("cycle-embedded")?;
    let bare = Bare::create(&folder.join("bare.db"))?;
    let mut ledger = ledger(&folder)?;
    let long = "p-0".to_owned();
    ledger.call("project_init", json!({ "id": long, "vcs": "none" }))?;
    ledger.first(&long)?;
    let (mut firsts, mut further) = (Sides::default(), Sides::default());
    for run in 0..lab.count(40, 8) as u32 {
        let names: Vec<String> = (1..=BLOCK).map(|number| format!("p-{}", run * BLOCK + number)).collect();
        for name in &names {
            ledger.call("project_init", json!({ "id": name, "vcs": "none" }))?;
        }
        let reference = timed(|| (0..BLOCK * 3).try_for_each(|_| bare.transaction()))?.0;
        firsts.push(reference, timed(|| names.iter().try_for_each(|name| ledger.first(name)))?.0);
        let reference = timed(|| (0..BLOCK * 4).try_for_each(|_| bare.transaction()))?.0;
        further.push(reference, timed(|| (0..BLOCK).try_for_each(|_| ledger.there_and_back(&long)))?.0);
    }
    let per = |seconds: f64| seconds / f64::from(BLOCK * 4) * 1e6;
    Ok(vec![
        Line::spread("start + wrap + pickup ÷ three durable transactions", firsts.ratio(), "×")
            .note("a new project each"),
        Line::spread("wrap + pickup ÷ two durable transactions", further.ratio(), "×")
            .note("in one project that grows"),
        Line::new("one operation", per(further.subject().median), "µs"),
        Line::new("one bare durable transaction", per(further.reference().median), "µs"),
    ])
}

/// A new ledger in a file.
pub(super) fn ledger(folder: &Path) -> Result<Ledger> {
    ledger_in(folder, &folder.join("store.db"))
}

/// A ledger in this file.
pub(super) fn ledger_in(folder: &Path, file: &Path) -> Result<Ledger> {
    let store = Store::open(&Place::File(file.to_owned()), 0).map_err(|fault| anyhow!("{fault}"))?;
    Ok(on(store, folder))
}

/// A ledger on a store.
pub(super) fn on(store: Store, folder: &Path) -> Ledger {
    let env = baton_transcripts::TranscriptEnv {
        home: folder.to_owned(),
        vars: Default::default(),
        os: baton_transcripts::Os::Linux,
        folders: Vec::new(),
    };
    let caller =
        Caller { surface: "human".to_owned(), folders: vec!["/bench".to_owned()], ..Caller::default() };
    Ledger { store, host: StaticHost(env, None), caller, dice: Dice::new(1), now: 1_795_168_800_000 }
}
