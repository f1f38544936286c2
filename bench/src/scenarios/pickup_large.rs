//! `hd_exec` on a ledger of a million deltas in a thousand projects, against the same call on a thousand deltas.

use anyhow::{Result, anyhow};
use baton_model::delta::{Delta, Kind};
use baton_store::delta;
use serde_json::json;

use super::cycle_embedded::{Ledger, ledger};
use crate::lab::Lab;
use crate::report::Line;
use crate::sides::{Sides, timed};

/// Deltas that every project has before it is measured.
const DELTAS: i64 = 1_000;

/// A pickup in a large ledger against one in a small ledger, by turns. Every pair takes another project of the large one.
pub fn run(lab: &Lab) -> Result<Vec<Line>> {
    let projects = lab.count(1_000, 100);
    let mut large = ledger(&lab.folder("pickup-large")?)?;
    for number in 0..projects {
        fill(&mut large, &format!("p-{number}"))?;
    }
    let mut small = ledger(&lab.folder("pickup-small")?)?;
    let mut sides = Sides::default();
    for turn in 0..lab.count(200, 40) {
        // A project of its own for every pair, so that the work handed over has as short a past on both sides; five
        // deltas each, which makes a thousand.
        let young = format!("p-{turn}");
        small.call("project_init", json!({ "id": young, "vcs": "none" }))?;
        // Far apart, so that no page of the ledger is warm by chance.
        let old = format!("p-{}", turn * 37 % projects);
        let reference = handed_over(&mut small, &young)?;
        let subject = handed_over(&mut large, &old)?;
        sides.push(reference, subject);
    }
    let deltas = DELTAS * i64::try_from(projects)?;
    Ok(vec![
        Line::spread("pickup in a large ledger ÷ pickup in a small one", sides.ratio(), "×")
            .note(format!("{deltas} deltas in {projects} projects; a thousand in small ones")),
        Line::new("pickup in the large one", sides.subject().median * 1e6, "µs"),
    ])
}

/// A first hand-off and the wrap of a second, unmeasured, and the seconds that the second pickup took.
fn handed_over(ledger: &mut Ledger, project: &str) -> Result<f64> {
    ledger.first(project)?;
    ledger
        .call("session_wrap", json!({ "project": project, "identity": "Bob", "summary": "handed over" }))?;
    Ok(timed(|| ledger.call("hd_exec", json!({ "project": project, "identity": "Cleo" })))?.0)
}

/// Registers a project and gives it a past.
pub(super) fn fill(ledger: &mut Ledger, project: &str) -> Result<()> {
    ledger.call("project_init", json!({ "id": project, "vcs": "none" }))?;
    let now = ledger.now;
    let filled = ledger.store.write(&[project], |tx| {
        for number in 0..DELTAS {
            let past = Delta {
                project_id: project.to_owned(),
                seq: tx.next_seq(project)?,
                delta_id: format!("{project}-{number}"),
                kind: if number % 10 == 0 { Kind::Decision } else { Kind::Note },
                session_id: None,
                identity: "Ann".to_owned(),
                created_at: now - DELTAS + number,
                inherited_from: None,
                thread_id: None,
                body:
                    json!({ "text": "what was done in this step, and why it was done so", "what": "decided" })
                        .to_string(),
            };
            delta::append(tx, &past)?;
        }
        Ok(())
    });
    filled.map_err(|failure| anyhow!("{project}: {failure}"))
}
