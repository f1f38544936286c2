//! Content that is uploaded in parts, before something names it: changes of a working copy, and sessions that are pushed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_model::changes::{MAX_BYTES, PART_BYTES};
use baton_model::refusal::{Kind, Refusal};
use baton_store::content::{ContentStore, UploadedPart};
use baton_store::{Failure, Tx};
use sha2::{Digest, Sha256};

/// How long content that nothing names is kept, in milliseconds: between its upload and what is to name it.
pub(crate) const UNUSED: i64 = 86_400_000;

/// How many parts of a project that one caller uploaded may wait for what is to name them: ten times what the largest changes have.
const MAX_UNNAMED: i64 = 512;

/// The refusal of content of one kind, for a reason.
type Invalid = fn(&str) -> Refusal;

/// Refuses a part that no content has.
pub(crate) fn check_part(part: i64, content: &str, invalid: Invalid) -> Result<(), Refusal> {
    let most = i64::try_from(MAX_BYTES.div_ceil(PART_BYTES)).unwrap_or(i64::MAX);
    if !(0..most).contains(&part) || decode(content, invalid)?.len() as u64 > PART_BYTES {
        return Err(invalid("a part is too long, or there are too many"));
    }
    Ok(())
}

/// Writes a part that was uploaded. Refuses it while too much of the same caller waits for what is to name it: an upload alone
/// fills no disk, and takes no room from others.
pub(crate) fn put_part(
    tx: &mut Tx<'_>,
    store: &ContentStore,
    project_id: &str,
    part: &UploadedPart<'_>,
) -> Result<(), Failure> {
    if store.count_unnamed(tx, project_id, part.by)? >= MAX_UNNAMED {
        store.remove_unused(tx, project_id, part.at - UNUSED)?;
        if store.count_unnamed(tx, project_id, part.by)? >= MAX_UNNAMED {
            return Err(too_many_uploads_refusal(project_id).into());
        }
    }
    Ok(store.put_part(tx, project_id, part)?)
}

fn too_many_uploads_refusal(project_id: &str) -> Refusal {
    Refusal::new(
        Kind::Conflict,
        "uploads_limited",
        format!("you have uploaded {MAX_UNNAMED} parts to project {project_id} that no baton and no pushed session names"),
        "name them by the wrap or the push that they are for; after a day what nothing names is removed",
    )
    .with("project_id", project_id)
}

/// The bytes of a part.
fn decode(content: &str, invalid: Invalid) -> Result<Vec<u8>, Refusal> {
    STANDARD.decode(content).map_err(|_| invalid("a part of the content is not base64"))
}

/// What a manifest says of its content.
pub(crate) struct ContentFacts<'a> {
    /// The SHA-256 of all bytes, in hex.
    pub hash: &'a str,
    /// How many bytes there are.
    pub bytes: u64,
    /// In how many parts.
    pub parts: i64,
}

/// Refuses content of which a part is missing or another one.
pub(crate) fn check(
    tx: &mut Tx<'_>,
    project_id: &str,
    store: &ContentStore,
    facts: &ContentFacts<'_>,
    invalid: Invalid,
) -> Result<(), Failure> {
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    for part in 0..facts.parts {
        let content = store
            .part(tx, project_id, (facts.hash, part))?
            .ok_or_else(|| invalid(&format!("part {part} of the content was not uploaded")))?;
        let content = decode(&content, invalid)?;
        bytes += content.len() as u64;
        hash.update(content);
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    if found == facts.hash && bytes == facts.bytes {
        return Ok(());
    }
    Err(invalid("the content is not that of the manifest").into())
}
