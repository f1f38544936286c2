//! Who calls.

use baton_model::access::Grant;
use baton_model::memory_index::IndexResult;
use baton_model::repository::Repository;
use baton_model::session::{Limits, ProcessLocation};
use baton_model::task::claim::MAX_LEASE;
use baton_model::time::Millis;

use crate::project_name::RenamedProject;

/// Who calls, as the face knows it. Arguments of the call win over it.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// Identity from the environment.
    pub identity: Option<String>,
    /// Project from the environment.
    pub project: Option<String>,
    /// Session from the environment.
    pub session: Option<String>,
    /// The tool that it works through.
    pub surface: String,
    /// Where it runs.
    pub location: ProcessLocation,
    /// Its working directory and the folders above it, nearest first.
    pub folders: Vec<String>,
    /// The top folder of the git working copy it is in.
    pub git_root: Option<String>,
    /// The repository of that working copy, where its files are sound.
    pub repository: Option<Repository>,
    /// What is wrong with them where they are not, in a sentence.
    pub git_fault: Option<String>,
    /// The span of silence that its own settings promise its sessions, where it calls from another machine and they say one. What holds
    /// here can make that longer.
    pub stale_after: Option<Millis>,
    /// Whether its own settings keep subjects from agents, where it calls from another machine.
    pub hides_subjects: bool,
    /// What it may do. The local user may do everything.
    pub grant: Grant,
    /// What an index outside found for this call: its face asks before the operation runs.
    pub found: Option<std::sync::Arc<IndexResult>>,
    /// Names in this call that are no ids of projects, each with the id of the project that is called so.
    pub renamed: Vec<RenamedProject>,
}

impl Caller {
    /// The limits that hold for its calls: these, and the span that its own settings promise where that is longer. A claim lasts as
    /// long, and so long it waits for others. No span is longer than a claim may be.
    pub fn limits(&self, here: Limits) -> Limits {
        let own = self.stale_after.unwrap_or_default().min(MAX_LEASE);
        Limits { stale_after: here.stale_after.max(own), ..here }
    }

    /// The id of the project that is called so: of a renamed one as it was looked up, else the word itself.
    pub(crate) fn id_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.renamed.iter().find(|one| one.name == name).map_or(name, |one| &one.project_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_settings_make_a_span_longer_than_it_is_here_and_never_shorter_nor_without_end() {
        let here = Limits::default();
        for (own, expected) in [
            (None, here.stale_after),
            (Some(0), here.stale_after),
            (Some(-1), here.stale_after),
            (Some(1_000), here.stale_after),
            (Some(3 * 3_600_000), 3 * 3_600_000),
            (Some(i64::MAX), MAX_LEASE),
        ] {
            let caller = Caller { stale_after: own, ..Caller::default() };
            let limits = caller.limits(here);
            assert_eq!((limits.stale_after, limits.live_after), (expected, here.live_after), "{own:?}");
        }
    }
}
