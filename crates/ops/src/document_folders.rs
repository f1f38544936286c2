//! Documents in folders of the machine of a call.

use crate::document::OmissionReason;
use crate::op::Host;

/// A document in these folders. Of several reasons the one that says most counts.
pub(crate) fn read_in(folders: &[String], host: &dyn Host, path: &str) -> Result<String, OmissionReason> {
    let mut why = None::<OmissionReason>;
    for folder in folders {
        match host.document(folder, path) {
            Ok(text) => return Ok(text),
            Err(omission) => why = Some(why.map_or(omission, |before| before.or_more(omission))),
        }
    }
    let unread = if host.is_served() { OmissionReason::OnServer } else { OmissionReason::Missing };
    Err(why.unwrap_or(unread))
}
