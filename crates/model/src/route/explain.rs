//! How every agent was judged, for an answer.

use serde::{Deserialize, Serialize};

use super::{CandidateAgent, Ineligibility, Requirements, Score, best, judge};
use crate::id::identity_key;

/// One agent as it was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The identity.
    pub agent: String,
    /// Whether it is the best of all.
    pub chosen: bool,
    /// How it fits, or why it does not.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// How an agent fits a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Verdict {
    /// It may take it.
    Able {
        /// How many of the wanted skills it has.
        skills: usize,
        /// How many are wanted.
        of_skills: usize,
        /// How many tasks it has.
        open_claims: i64,
        /// How many it may have at once.
        max_tasks: i64,
        /// How often it failed at this task.
        failed_before: usize,
        /// Whether it has no role.
        generalist: bool,
    },
    /// It may not take it now.
    Unable {
        /// A clause about the agent.
        no: String,
    },
}

/// Every agent with its score or the reason against it: the best first, then who came nearest.
pub fn explain(wanted: &Requirements, agents: &[CandidateAgent]) -> Vec<Judgement> {
    let chosen = best(wanted, agents);
    let mut judged: Vec<(Result<Score, Ineligibility>, usize)> =
        agents.iter().enumerate().map(|(at, agent)| (judge(wanted, agent), at)).collect();
    judged.sort_by(|(a, x), (b, y)| {
        let key = |r: &Result<Score, Ineligibility>| (r.is_err(), r.ok(), std::cmp::Reverse(r.err()));
        key(a).cmp(&key(b)).then_with(|| identity_key(&agents[*x].name).cmp(&identity_key(&agents[*y].name)))
    });
    let row = |(judged, at): (Result<Score, Ineligibility>, usize)| {
        let agent = &agents[at];
        Judgement {
            agent: agent.name.clone(),
            chosen: judged.is_ok() && chosen == Some(at),
            verdict: match judged {
                Ok(score) => Verdict::Able {
                    skills: wanted.tags.len() - score.lacking,
                    of_skills: wanted.tags.len(),
                    open_claims: score.open_claims,
                    max_tasks: agent.max_tasks,
                    failed_before: score.failed,
                    generalist: score.generalist,
                },
                Err(no) => Verdict::Unable { no: no.reason().to_owned() },
            },
        }
    };
    judged.into_iter().map(row).collect()
}
