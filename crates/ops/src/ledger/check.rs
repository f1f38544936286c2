//! `store_check`: is the ledger sound?

use std::borrow::Cow;

use baton_store::{Failure, FaultKind, baton, chain, dump, ledger_transfer, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation, Reach};

/// Checks the store.
pub struct StoreCheck;

/// Input of `store_check`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreCheckInput {}

/// Answer of `store_check`.
#[derive(Serialize, Deserialize)]
pub struct StoreCheckOutput {
    /// The storage engine.
    pub engine: Cow<'static, str>,
    /// How many projects there are.
    pub projects: usize,
    /// Whether no fault was found.
    pub sound: bool,
    /// What is damaged.
    pub faults: Vec<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Cow<'static, str>>,
}

/// Next steps after damage was found.
const NEXT: [&str; 3] = [
    "write no more to this store, and keep a copy of it as it is",
    "`baton restore FILE` puts the newest backup back; `baton --store FILE doctor` says beforehand whether it is sound",
    "without one, `baton log export --unverified FILE` writes what can still be read of a project, and `baton --store NEW log import --unverified FILE` rebuilds it",
];

impl Operation for StoreCheck {
    const META: Meta = Meta::read("store_check", "Check that the ledger is sound").reach(Reach::Everything);
    type Input = StoreCheckInput;
    type Output = StoreCheckOutput;

    fn run(_: StoreCheckInput, cx: &mut Cx<'_>) -> Result<StoreCheckOutput, Failure> {
        let store = &mut *cx.store;
        let mut faults = Faults(store.check()?);
        let projects = store.read(|tx| Ok(project::ids(tx)?));
        let projects = faults.take("the list of projects", projects)?.unwrap_or_default();
        for id in &projects {
            let found = store.read(|tx| Ok(baton::faults(tx, id)?));
            faults.add(id, found)?;
            faults.add(id, chain::check(store, id).map(|walk| walk.faults()))?;
            faults.add(id, dump::faults(store, id))?;
            let whole = store.read(|tx| Ok(project::get(tx, id)?));
            faults.take(id, whole)?;
        }
        if faults.0.is_empty() {
            // What none of these looks at.
            let rest = ledger_transfer::readable(store);
            faults.take("the store", rest)?;
        }
        let faults = faults.0;
        let next = if faults.is_empty() { Vec::new() } else { NEXT.map(Cow::Borrowed).to_vec() };
        Ok(StoreCheckOutput {
            engine: store.kind().into(),
            projects: projects.len(),
            sound: faults.is_empty(),
            faults,
            next,
        })
    }
}

/// What was found, each thing once.
struct Faults(Vec<String>);

impl Faults {
    /// What was read. What cannot be read because it is damaged is one of the faults; a database that is not there is not.
    fn take<T>(&mut self, of: &str, read: Result<T, Failure>) -> Result<Option<T>, Failure> {
        match read {
            Err(Failure::Fault(fault)) if matches!(fault.kind, FaultKind::Corrupt | FaultKind::Other) => {
                self.0.push(format!("{of}: {fault}"));
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn add(&mut self, of: &str, found: Result<Vec<String>, Failure>) -> Result<(), Failure> {
        let found = self.take(of, found)?.unwrap_or_default();
        self.0.extend(found);
        Ok(())
    }
}
