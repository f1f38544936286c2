//! What sub-agents ran to see whether their work is right: apart for each, as their lines may stand in files of their own.

use std::collections::BTreeMap;

use super::super::coverage::covers;
use super::super::importance::Importance;
use super::{Check, CheckState, Checks, same_folder};

/// So many sub-agents' checks are kept.
const MAX_AGENTS: usize = 200;

/// The last state of every step that sub-agents ran.
#[derive(Debug, Default)]
pub(in super::super) struct SubagentChecks(BTreeMap<String, Checks>);

impl SubagentChecks {
    /// Those of one of them.
    pub(in super::super) fn of(&mut self, agent: &str) -> Option<&mut Checks> {
        let is_new = !self.0.contains_key(agent);
        (!is_new || self.0.len() < MAX_AGENTS).then(|| self.0.entry(agent.to_owned()).or_default())
    }
}

impl Checks {
    /// Adds the tests and builds of sub-agents that neither the session nor another sub-agent is known to have run since.
    pub(in super::super) fn add_of_subagents(&mut self, agents: SubagentChecks) {
        let mut all: Vec<Check> = Vec::new();
        for mut checks in agents.0.into_values() {
            checks.settle();
            checks.drop_what_others_tell();
            let runs = checks.runs;
            let listed = checks.list.into_iter();
            let listed =
                listed.filter(|one| one.importance >= Importance::Work && one.state != CheckState::Covered);
            all.extend(listed.map(|one| Check { last: self.runs * one.last / runs.max(1), ..one }));
        }
        all.sort_by_key(|check| check.at_ms);
        for check in all {
            if !self.list.iter().any(|known| known.stands_for(&check)) {
                self.add_of_subagent(check);
            }
        }
    }

    fn add_of_subagent(&mut self, mut check: Check) {
        let same = self.list.iter().position(|known| known.key == check.key);
        let before = same.map(|slot| self.list.remove(slot));
        // It passed after all that the session itself ran.
        if before.is_some_and(|before| before.at.subagent.is_none()) && check.state == CheckState::Passed {
            check.passed_at = Some(u64::MAX);
        }
        check.edits = self.edits;
        self.list.push(check);
    }

    /// The test or build that failed last in the hands of a sub-agent and that nothing is known to have made good.
    pub(in super::super) fn failed_by_subagent(&self) -> Option<&Check> {
        let failed = self.list.iter().filter(|check| {
            check.at.subagent.is_some()
                && check.importance >= Importance::Work
                && check.state == CheckState::Failed
        });
        failed.max_by_key(|check| check.at_ms)
    }
}

impl Check {
    /// Whether it tells all that an earlier run by a sub-agent told. What the session itself runs, it runs after that, where
    /// no times say otherwise.
    fn stands_for(&self, other: &Check) -> bool {
        let is_timed = self.at_ms.is_some() && other.at_ms.is_some();
        let is_later = self.is_after(other) || !is_timed && self.at.subagent.is_none();
        let covers = || {
            self.state == CheckState::Passed
                && same_folder(&self.folder, &other.folder)
                && covers(&other.command, &self.command)
        };
        is_later && (self.key == other.key || covers())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{Collector, Options};
    use crate::event::{Call, Category, Edit, Event, EventKind, Outcome, SourcePosition};
    use crate::report::Report;

    #[test]
    fn a_check_of_a_sub_agent_is_outdated_where_source_files_were_changed_after_it() {
        let checks = |last: &'static str, last_ms: Option<i64>| {
            let mut collector = Collector::new(&Options::default(), None);
            let mut lines = 1..;
            let mut tell = |agent: Option<&'static str>,
                            at_ms: Option<i64>,
                            call: Call<'static>,
                            output: &'static str| {
                let id = call.id.clone();
                let outcome = Outcome { id, ok: Some(true), output: output.into(), ..Outcome::default() };
                for what in [EventKind::Call(call), EventKind::Outcome(outcome)] {
                    let position = SourcePosition { line: lines.next().unwrap_or_default(), offset: 0 };
                    collector.event(&Event { position, at_ms, subagent: agent.map(Into::into), what });
                }
            };
            let edit = |id: &'static str, path: &'static str| Call {
                id: id.into(),
                category: Category::Edit,
                target: path.into(),
                edits: vec![Edit::replaced(path, "a", "b")],
                ..Call::default()
            };
            let run = |id: &'static str, line: &'static str| Call {
                id: id.into(),
                category: Category::Shell,
                target: line.into(),
                ..Call::default()
            };
            tell(None, Some(10), edit("a", "a.go"), "");
            tell(Some("a275765"), Some(20), run("b", "mise run fmt"), "[fmt] $ gofmt -w .");
            tell(Some("a275765"), Some(30), run("c", "make test"), "ok  x 0.1s");
            tell(None, last_ms, edit("d", last), "");
            let packet = collector.finish("claude", Path::new("x.jsonl"), Report::default());
            let of = |check: &baton_packet::packet::Command| (check.by.clone(), check.outdated);
            packet.checks.iter().map(of).collect::<Vec<_>>()
        };
        let by = Some("sub-agent".to_owned());
        assert_eq!(checks("a.go", Some(40)), [(by.clone(), Some(true)), (by.clone(), Some(true))]);
        let between = checks("a.go", Some(25));
        assert!(
            between.contains(&(by.clone(), Some(true))) && between.contains(&(by.clone(), None)),
            "{between:?}"
        );
        assert_eq!(checks("notes.md", Some(40)), [(by.clone(), None), (by.clone(), None)], "no source file");
        assert_eq!(checks("a.go", None), [(by.clone(), None), (by, None)], "no time is known");
    }
}
