//! Parts of the events that Baton writes, read again.

use crate::event::{Change, Edit};
use crate::shared::json::Json;

/// A change of a file as Baton's own exports write it; none without a path.
pub(crate) fn edit(json: &Json<'_>) -> Option<Edit> {
    let text = |key: &str| json.get(key).str().map(str::to_owned);
    let lines = |key: &str| json.get(key).int().and_then(|count| u64::try_from(count).ok());
    let change = match json.get("change").str() {
        Some("created") => Change::Created,
        Some("deleted") => Change::Deleted,
        Some("renamed") => Change::Renamed,
        _ => Change::Modified,
    };
    let (from, diff) = (text("from"), text("diff"));
    let (added, removed) = (lines("added"), lines("removed"));
    Some(Edit { path: text("path")?, change, from, added, removed, diff, ..Edit::default() })
}
