//! What git was in the middle of along the line of a baton: it does not travel, and a later wrap is in the middle of nothing.

use baton_model::changes::{CarriedOperation, GitOperation, UnfinishedOperation};
use baton_store::{Failure, Tx, changes};

use super::BatonChanges;

/// The most batons before one that are looked at.
const MAX_ANCESTORS: i64 = 64;

/// The operations of git's that were named along the line of a baton.
pub(crate) struct LineOperations {
    /// Each that a baton before it named, the latest first, and the baton itself does not name.
    pub earlier: Vec<CarriedOperation>,
    /// What the baton itself names.
    pub own: Vec<UnfinishedOperation>,
    /// The session that left the first baton of the line.
    pub first_session: Option<String>,
}

impl LineOperations {
    /// Adds one, unless the same is named by a later baton. A bisect leaves nothing behind that could be lost.
    pub(crate) fn add(&mut self, found: CarriedOperation) {
        let is_named = self.own.contains(&found.unfinished)
            || self.earlier.iter().any(|known| known.unfinished == found.unfinished);
        if !is_named && found.unfinished.operation != GitOperation::Bisect {
            self.earlier.push(found);
        }
    }
}

/// The operations that were named along the line of a baton.
pub(crate) fn line_operations(
    tx: &mut Tx<'_>,
    project_id: &str,
    baton_id: &str,
) -> Result<LineOperations, Failure> {
    let line = changes::lineage(tx, project_id, baton_id, MAX_ANCESTORS)?;
    let first_session = line.last().map(|link| link.session_id.clone());
    let mut found = LineOperations { earlier: Vec::new(), own: Vec::new(), first_session };
    for (depth, link) in line.into_iter().enumerate() {
        let Some(stored) = link.changes else { continue };
        let BatonChanges { baton_id, manifest, .. } = BatonChanges::read(stored)?;
        if depth == 0 {
            found.own = manifest.unfinished;
            continue;
        }
        for unfinished in manifest.unfinished {
            let (baton_id, base) = (baton_id.clone(), manifest.base.clone());
            found.add(CarriedOperation { baton_id, base, unfinished });
        }
    }
    Ok(found)
}
