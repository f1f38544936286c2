//! Indexing: memories that changed are given their vectors and put into Qdrant, those that were withdrawn are taken out. What is to be
//! done is rows of the outbox; doing one twice is doing it once, so nothing has to be known of a try whose end was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use baton_model::duty;
use baton_model::effect::{Effect, Outcome, after};
use baton_model::memory::Memory;
use baton_model::recall::Packed;
use baton_ops::recall::{ADAPTER, AT_ONCE, text_of};
use baton_store::{Failure, Store, memory, outbox, vector};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{SWEEP, jitter, record, tell};
use crate::config::Config;
use crate::duties::Duties;
use crate::error::Ended;
use crate::host::{self, Machine};
use crate::recall::{Outside, Point, Trouble};

/// An index that is away is tried again for as long as it takes: after so many tries the pause grows no more.
const GROWS: i64 = 6;

/// The thread of a server that indexes.
pub struct Indexer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Indexer {
    /// Starts it on a store of its own, where there is somebody outside to be told.
    pub fn start(
        config: &Config,
        machine: &Arc<Machine>,
        duties: &Arc<Duties>,
        runtime: Handle,
    ) -> Result<Option<Self>, Ended> {
        let Some(outside) = machine.outside()? else { return Ok(None) };
        let (duties, clock) = (Arc::clone(duties), Arc::clone(machine));
        let mut store = Store::open(&config.store, host::now())?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let worker = Worker { outside: &outside, machine: &clock, duties: Some(&duties), runtime };
            while !stopped.load(Ordering::Relaxed) {
                let done = worker.sweep(&mut store);
                if let Err(failure) = &done {
                    tracing::error!(%failure, "what is to be indexed cannot be read");
                }
                if !matches!(done, Ok(count) if count > 0) {
                    std::thread::sleep(SWEEP);
                }
            }
        });
        Ok(Some(Self { stop, thread }))
    }

    /// Finishes what is in hand and ends.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
    }
}

/// Goes on with what is due until then, for a process without a server; says how much was tried.
pub fn drive(store: &mut Store, machine: &Arc<Machine>, until: Instant) -> Result<usize, Ended> {
    let Some(outside) = machine.outside()? else { return Ok(0) };
    let now = machine.now();
    if store.read(|tx| Ok(outbox::due(tx, ADAPTER, now, 1)?))?.is_empty() {
        return Ok(0);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let worker = Worker { outside: &outside, machine, duties: None, runtime: runtime.handle().clone() };
    let mut all = 0;
    while Instant::now() < until {
        match worker.sweep(store)? {
            0 => break,
            tried => all += tried,
        }
    }
    Ok(all)
}

struct Worker<'a> {
    outside: &'a Outside,
    machine: &'a Machine,
    /// Those of a server; a command has none, and leases what it takes.
    duties: Option<&'a Duties>,
    runtime: Handle,
}

impl Worker<'_> {
    /// One look at the outbox; returns how many effects were tried.
    fn sweep(&self, store: &mut Store) -> Result<usize, Failure> {
        if self.duties.is_some_and(|duties| duties.fence(duty::RELAY).is_none()) {
            return Ok(0);
        }
        let limit = i64::try_from(AT_ONCE).unwrap_or(i64::MAX);
        let now = self.machine.now();
        let due = store.read(|tx| Ok(outbox::due(tx, ADAPTER, now, limit)?))?;
        let mut projects: BTreeMap<&str, Vec<&Effect>> = BTreeMap::new();
        for effect in &due {
            projects.entry(&effect.project_id).or_default().push(effect);
        }
        let mut tried = 0;
        for (project, effects) in projects {
            tried += self.of_project(store, project, &effects)?;
        }
        Ok(tried)
    }

    fn of_project(&self, store: &mut Store, project: &str, effects: &[&Effect]) -> Result<usize, Failure> {
        let now = self.machine.now();
        let leased = store.write(&[project], |tx| {
            if let Some(duties) = self.duties
                && !duties.is_held(tx, duty::RELAY)?
            {
                return Ok(Vec::new());
            }
            let mut leased = Vec::new();
            for effect in few(effects) {
                leased.extend(outbox::lease(tx, effect, now)?);
            }
            Ok(leased)
        })?;
        if leased.is_empty() {
            return Ok(0);
        }
        let outcome = match self.carry_out(store, project, &Work::of(&leased)) {
            Ok(()) => Outcome::Done,
            Err(Stopped::Outside(trouble)) => {
                let hint = trouble.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                Outcome::Retry { why: format!("{}{hint}", trouble.why), after: trouble.after }
            }
            Err(Stopped::Ledger(failure)) => return Err(failure),
        };
        self.close(store, project, &leased, &outcome)?;
        Ok(leased.len())
    }

    fn close(
        &self,
        store: &mut Store,
        project: &str,
        effects: &[Effect],
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        let now = self.machine.now();
        let ended: Vec<_> = effects
            .iter()
            .map(|effect| {
                let counted = Effect { attempts: effect.attempts.min(GROWS), ..effect.clone() };
                let next = after(&counted, outcome.clone(), now, jitter());
                tell(effect, &next);
                (effect, next)
            })
            .collect();
        record(|| {
            store.write(&[project], |tx| {
                for (effect, next) in &ended {
                    outbox::close(tx, effect, next)?;
                }
                Ok(())
            })
        })
    }

    fn carry_out(&self, store: &mut Store, project: &str, work: &Work) -> Result<(), Stopped> {
        let ids: Vec<String> = work.ids.iter().cloned().collect();
        let known = store.read(|tx| Ok(memory::get_many(tx, project, &ids)?))?;
        let live: Vec<Memory> = known.into_iter().filter(|memory| memory.withdrawn_at.is_none()).collect();
        let vectors = self.vectors(store, project, &live)?;
        let Some(qdrant) = self.outside.qdrant() else { return Ok(()) };
        let point = |memory: &Memory| -> Option<Point> {
            let key = (project, memory.memory_id.as_str());
            Some(self.outside.point(key, &text_of(memory), vectors.get(&memory.memory_id)?))
        };
        let points: Vec<Point> = live.iter().filter_map(point).collect();
        let gone: Vec<String> =
            ids.into_iter().filter(|id| !live.iter().any(|memory| memory.memory_id == *id)).collect();
        let at = self.machine.now();
        self.runtime.block_on(async {
            qdrant.upsert(&points, at).await?;
            qdrant.delete(project, &gone).await?;
            match work.forget_before {
                Some(at) => qdrant.forget_before(project, at).await,
                None => Ok(()),
            }
        })?;
        // Withdrawn while it was put there: its own effect takes it out, unless that was carried out in between.
        let late: Vec<String> = points.into_iter().map(|point| point.memory_id).collect();
        let now = store.read(|tx| Ok(memory::get_many(tx, project, &late)?))?;
        let gone: Vec<String> = now
            .into_iter()
            .filter(|memory| memory.withdrawn_at.is_some())
            .map(|memory| memory.memory_id)
            .collect();
        Ok(self.runtime.block_on(qdrant.delete(project, &gone))?)
    }

    /// The vectors of these memories: those that the ledger has, and new ones for the rest, which it then has as well.
    fn vectors(
        &self,
        store: &mut Store,
        project: &str,
        live: &[Memory],
    ) -> Result<BTreeMap<String, Packed>, Stopped> {
        let embedder = self.outside.embedder();
        let mut vectors = store.read(|tx| {
            let mut known = BTreeMap::new();
            for memory in live {
                let row = vector::get(tx, project, &memory.memory_id)?;
                let packed = row.filter(|row| row.embedder == embedder).and_then(|row| row.packed);
                known.extend(packed.map(|packed| (memory.memory_id.clone(), packed)));
            }
            Ok(known)
        })?;
        let lacking: Vec<&Memory> =
            live.iter().filter(|memory| !vectors.contains_key(&memory.memory_id)).collect();
        if lacking.is_empty() {
            return Ok(vectors);
        }
        let texts: Vec<String> = lacking.iter().map(|memory| text_of(memory)).collect();
        let made = self.runtime.block_on(self.outside.embed(&texts))?;
        let made: Vec<_> = lacking.into_iter().zip(made).collect();
        store.write(&[project], |tx| {
            let seq = tx.next_seq(project)?;
            for (known, packed) in &made {
                // A text that changed meanwhile has an effect of its own.
                let now = memory::get(tx, project, &known.memory_id)?;
                if now.is_some_and(|now| now.text == known.text && now.withdrawn_at.is_none()) {
                    vector::put(tx, (project, &known.memory_id), seq, embedder, packed)?;
                }
            }
            Ok(())
        })?;
        vectors.extend(made.into_iter().map(|(memory, packed)| (memory.memory_id.clone(), packed)));
        Ok(vectors)
    }
}

/// As many of the first as name no more memories than fit one try, so that a lease does not run out before its end.
fn few<'a>(effects: &'a [&'a Effect]) -> impl Iterator<Item = &'a Effect> {
    let mut named = 0;
    effects.iter().copied().take_while(move |effect| {
        let first = named == 0;
        named += Work::of(std::slice::from_ref(*effect)).ids.len().max(1);
        first || named <= AT_ONCE
    })
}

/// What some effects ask for together.
#[derive(Debug, Default, PartialEq)]
struct Work {
    ids: BTreeSet<String>,
    forget_before: Option<i64>,
}

impl Work {
    fn of(effects: &[Effect]) -> Self {
        let mut work = Self::default();
        for effect in effects {
            let payload: Value = serde_json::from_str(&effect.payload).unwrap_or_default();
            let ids = payload["memory_ids"].as_array().into_iter().flatten();
            work.ids.extend(ids.filter_map(Value::as_str).map(str::to_owned));
            work.forget_before = work.forget_before.max(payload["forget_before"].as_i64());
        }
        work
    }
}

/// Why a try ended early.
enum Stopped {
    Outside(Trouble),
    Ledger(Failure),
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self::Outside(trouble)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Ledger(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(payload: Value) -> Effect {
        Effect {
            effect_id: "e".into(),
            project_id: "p".into(),
            adapter: ADAPTER.into(),
            payload: payload.to_string(),
            attempts: 0,
            due_at: 0,
            fence: 0,
            last_error: None,
        }
    }

    fn page(count: usize) -> Effect {
        effect(serde_json::json!({ "memory_ids": (0..count).map(|n| n.to_string()).collect::<Vec<_>>() }))
    }

    #[test]
    fn a_try_takes_no_more_than_it_can_end_in_time() {
        let taken = |effects: &[Effect]| few(&effects.iter().collect::<Vec<_>>()).count();
        assert_eq!(taken(&[page(64), page(1)]), 1);
        assert_eq!(taken(&[page(1), page(63), page(1)]), 2);
        assert_eq!(taken(&[page(1), page(64)]), 1);
        assert_eq!(taken(&vec![page(1); 70]), 64);
        assert_eq!(taken(&[page(1_000)]), 1, "whatever one effect names is one try");
        assert_eq!(taken(&vec![effect(serde_json::json!({ "forget_before": 1 })); 3]), 3);
    }

    #[test]
    fn what_cannot_be_read_asks_for_nothing() {
        let odd = [
            effect(serde_json::json!({ "memory_ids": [1, "m"] })),
            Effect { payload: "{".into(), ..page(0) },
        ];
        assert_eq!(Work::of(&odd), Work { ids: ["m".to_owned()].into(), forget_before: None });
        let both = [
            effect(serde_json::json!({ "forget_before": 7 })),
            effect(serde_json::json!({ "forget_before": 5 })),
        ];
        assert_eq!(Work::of(&both).forget_before, Some(7));
    }
}
