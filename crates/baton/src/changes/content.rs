//! The content of changes as it is kept: all of [`Changes`] and its pack, compressed.
//!
//! | bytes | hold |
//! | --- | --- |
//! | 8 | the length of the header, big-endian |
//! | header | [`Changes`] as JSON |
//! | rest | the pack |

use sha2::{Digest, Sha256};

use super::{Changes, Fault};

/// The most bytes after decompression: a capture within its limits, its pack stored without compression, and the names.
const MAX_UNPACKED_BYTES: usize = 96 * 1024 * 1024;
/// Speed over size: capture is waited for.
const LEVEL: i32 = 3;

/// The content of changes. The same changes give the same bytes, so that they are kept once.
pub(crate) fn encode(changes: &Changes) -> Result<Vec<u8>, Fault> {
    let header = serde_json::to_vec(changes).map_err(|error| Fault::Invalid(error.to_string()))?;
    let mut bytes = (header.len() as u64).to_be_bytes().to_vec();
    bytes.extend_from_slice(&header);
    bytes.extend_from_slice(&changes.pack);
    zstd::bulk::compress(&bytes, LEVEL).map_err(|error| Fault::Invalid(error.to_string()))
}

/// The changes of a content.
pub(crate) fn decode(content: &[u8]) -> Result<Changes, Fault> {
    let damaged = || Fault::Invalid("the content is damaged".into());
    let bytes = zstd::bulk::decompress(content, MAX_UNPACKED_BYTES).map_err(|_| damaged())?;
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| damaged())?;
    let (header, pack) = rest.split_at_checked(length).ok_or_else(damaged)?;
    let changes: Changes = serde_json::from_slice(header).map_err(|_| damaged())?;
    Ok(Changes { pack: pack.to_vec(), ..changes })
}

/// The SHA-256 of a content, in hex.
pub(crate) fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
