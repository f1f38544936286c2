//! `SHA256SUMS`, in the format of `sha256sum`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// File name of the checksums.
pub(crate) const NAME: &str = "SHA256SUMS";

/// Writes a line for each file in the folder, sorted by name.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let mut files: Vec<_> = fs::read_dir(folder)?
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && path.file_name().is_some_and(|name| name != NAME))
        .collect();
    files.sort();
    let mut lines = String::new();
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).context("a file without a plain name")?;
        writeln!(lines, "{}  {name}", hex(&fs::read(&file)?))?;
    }
    fs::write(folder.join(NAME), lines).context("the checksums cannot be written")
}

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex(b""), empty);
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join("b"), "").expect("file");
        fs::write(folder.path().join("a"), "").expect("file");
        write(folder.path()).expect("sums");
        let text = fs::read_to_string(folder.path().join(NAME)).expect("text");
        assert_eq!(text, format!("{empty}  a\n{empty}  b\n"));
    }
}
