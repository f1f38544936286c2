//! What the file of an imported baton says besides its packet. The entry with which the session begins that stands for the one of the
//! other ledger holds it: the packet is kept byte for byte, and may be that of a session in another place.

use baton_model::baton_file::{EarlierPlace, PortableBaton};
use baton_model::changes::CarriedOperation;
use baton_model::delta::Kind;
use baton_store::{Failure, Tx, delta};
use serde::{Deserialize, Serialize};

/// What a file says of the place where the work was left, and of what git was in the middle of along its way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileFacts {
    /// Whether files were not committed in its place; files of older versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_dirty: Option<bool>,
    /// Operations of git that no commit of the work has finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<CarriedOperation>,
    /// Other working copies along its way in which something was left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierPlace>,
}

impl FileFacts {
    /// Of a file.
    pub(crate) fn of(file: &PortableBaton) -> Self {
        Self {
            was_dirty: file.location.as_ref().and_then(|location| location.was_dirty),
            unfinished: file.unfinished.clone(),
            earlier: file.earlier.clone(),
        }
    }
}

/// The beginning of a session, as far as it holds what a file said.
#[derive(Default, Deserialize)]
struct ImportEntry {
    #[serde(default)]
    baton_file: FileFacts,
}

/// What the file said of which a session is that stands for one of another ledger; nothing of any other session.
pub(super) fn file_facts(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<FileFacts, Failure> {
    let begun = delta::last_of_session(tx, project_id, session_id, Kind::Start)?;
    let entry = begun.and_then(|begun| serde_json::from_str::<ImportEntry>(&begun.body).ok());
    Ok(entry.unwrap_or_default().baton_file)
}
