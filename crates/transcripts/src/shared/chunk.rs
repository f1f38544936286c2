//! What a listing looks at: directories, and of a file its beginning and end.

use std::fs::{DirEntry, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// A packed file that asks for more than 32 MiB of window is refused; level 3 needs 2.
const MAX_WINDOW_LOG: u32 = 25;

/// The first bytes of what a reader gives, up to `limit`; a line that was cut by the limit is left out.
pub(crate) fn head(reader: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(limit.min(64 * 1024));
    reader.take(limit as u64).read_to_end(&mut bytes)?;
    if bytes.len() == limit {
        let whole = memchr::memrchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
        bytes.truncate(whole);
    }
    Ok(bytes)
}

/// The last lines of a file that are needed: as many bytes as the first limit says, and more, up to the second, until what they
/// say is enough. A line may be longer than any limit that fits most files: an image, the output of a command.
pub(crate) fn last_lines(
    file: &mut File,
    size: u64,
    from: u64,
    (least, most): (usize, usize),
    is_enough: impl Fn(&[u8]) -> bool,
) -> io::Result<Vec<u8>> {
    let mut limit = least;
    loop {
        let bytes = tail(file, size, from, limit as u64)?;
        let is_all = size.saturating_sub(from) <= limit as u64;
        if is_all || limit >= most || is_enough(&bytes) {
            return Ok(bytes);
        }
        limit = (limit * 8).min(most);
    }
}

/// The last bytes of a file, up to `limit` and not before `from`; a line that was cut at the front is left out.
fn tail(file: &mut File, size: u64, from: u64, limit: u64) -> io::Result<Vec<u8>> {
    let start = size.saturating_sub(limit).max(from);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(size.saturating_sub(start)).read_to_end(&mut bytes)?;
    if start > from {
        let cut = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
        bytes.drain(..cut);
    }
    Ok(bytes)
}

/// The lines of a chunk.
pub(crate) fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// A file as a stream, unpacked if its name ends in `.zst`.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    if path.extension().is_some_and(|extension| extension == "zst") {
        let mut decoder = zstd::stream::read::Decoder::new(file)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(file))
}

/// The entries of a directory by name, so that every run gives the same order; none if it cannot be read.
pub(crate) fn entries(dir: &Path) -> Vec<DirEntry> {
    let mut entries: Vec<DirEntry> = std::fs::read_dir(dir).into_iter().flatten().flatten().collect();
    entries.sort_by_cached_key(DirEntry::file_name);
    entries
}
