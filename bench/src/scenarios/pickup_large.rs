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
    let mut small = ledger(&lab.folder("pickup-small")?)?;
    let mut large = ledger(&lab.folder("pickup-large")?)?;
    fill(&mut small, "p-0")?;
    for number in 0..projects {
        fill(&mut large, &format!("p-{number}"))?;
    }
    small.first("p-0")?;
    let mut sides = Sides::default();
    let names = ["Bob", "Ann"];
    for turn in 0..lab.count(200, 40) {
        // Far apart, so that no page of the ledger is warm by chance.
        let project = format!("p-{}", turn * 37 % projects);
        large.first(&project)?;
        let reference = handed_over(&mut small, "p-0", names[turn % 2], names[(turn + 1) % 2])?;
        let subject = handed_over(&mut large, &project, "Bob", "Cleo")?;
        sides.push(reference, subject);
    }
    let deltas = DELTAS * i64::try_from(projects)?;
    Ok(vec![
        Line::spread("pickup in a large ledger ÷ pickup in a small one", sides.ratio(), "×")
            .note(format!("{deltas} deltas in {projects} projects; {DELTAS} in one")),
        Line::new("pickup in the large one", sides.subject().median * 1e6, "µs"),
    ])
}

/// One wraps, unmeasured, and another picks up: the seconds that the pickup took.
fn handed_over(ledger: &mut Ledger, project: &str, at_work: &str, next: &str) -> Result<f64> {
    ledger
        .call("session_wrap", json!({ "project": project, "identity": at_work, "summary": "handed over" }))?;
    Ok(timed(|| ledger.call("hd_exec", json!({ "project": project, "identity": next })))?.0)
}

/// Registers a project and gives it a past.
fn fill(ledger: &mut Ledger, project: &str) -> Result<()> {
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
