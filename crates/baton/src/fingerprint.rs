//! Fingerprints of files: by them a working copy tells whether it holds captured changes, without their content at hand.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use baton_model::changes::MAX_BYTES;
use sha2::{Digest, Sha256};

use crate::repo_file::stays_inside;

/// Bytes of the SHA-256 that are kept. A collision only has changes counted as present; it gives no access.
const HASH_BYTES: usize = 8;

/// What each path below this top folder holds: its kind and the hash of its content, `-` for nothing, and `?` where it cannot be read,
/// which is the fingerprint of no file.
pub(crate) fn fingerprints(root: &Path, paths: &[String]) -> Vec<String> {
    paths.iter().map(|path| of_path(root, Path::new(path)).unwrap_or_else(|_| "?".to_owned())).collect()
}

/// The fingerprint of a text as a commit has it, with its mode there; none of what is neither a file nor a link.
pub(crate) fn of_committed(mode: &str, text: &str) -> Option<String> {
    let kind = match mode {
        "100644" => 'f',
        "100755" => 'x',
        "120000" => 'l',
        _ => return None,
    };
    Some(of_hash(kind, Sha256::new_with_prefix(text)))
}

/// What stands for a path that holds nothing.
pub(crate) const NOTHING: &str = "-";

fn of_path(root: &Path, path: &Path) -> io::Result<String> {
    if !stays_inside(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // A link on the way may lead anywhere.
    let mut folder = root.to_owned();
    for name in path.parent().into_iter().flatten() {
        folder.push(name);
        match metadata(&folder)? {
            None => return Ok(NOTHING.to_owned()),
            Some(meta) if meta.is_dir() => {}
            Some(_) => return Err(io::ErrorKind::NotADirectory.into()),
        }
    }
    let full = root.join(path);
    let mut hash = Sha256::new();
    let kind = match metadata(&full)? {
        None => return Ok(NOTHING.to_owned()),
        Some(meta) if meta.is_symlink() => {
            hash.update(fs::read_link(&full)?.as_os_str().as_encoded_bytes());
            'l'
        }
        // Captured changes hold no file of that size: its content is not read, only whether it was written since.
        Some(meta) if meta.is_file() && meta.len() > MAX_BYTES => {
            return Ok(format!("?{}.{:?}", meta.len(), meta.modified()?));
        }
        Some(meta) if meta.is_file() => {
            digest(&full, &mut hash)?;
            if is_executable(&meta) { 'x' } else { 'f' }
        }
        Some(_) => return Err(io::ErrorKind::InvalidData.into()),
    };
    Ok(of_hash(kind, hash))
}

fn of_hash(kind: char, hash: Sha256) -> String {
    let hex = hash.finalize().iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{kind}{hex}")
}

fn digest(file: &Path, hash: &mut Sha256) -> io::Result<()> {
    let (mut file, mut buffer) = (File::open(file)?, vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(()),
            count => hash.update(&buffer[..count]),
        }
    }
}

fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(unix)]
fn is_executable(meta: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_a_path_holds_is_told_by_kind_and_content_and_no_link_is_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("sub")).expect("made");
        for name in ["a", "b", "sub/c", "run"] {
            fs::write(at(name), if name == "b" { "other" } else { "same" }).expect("written");
        }
        fs::set_permissions(at("run"), fs::Permissions::from_mode(0o755)).expect("set");
        symlink("a", at("link")).expect("linked");
        symlink("/etc", at("out")).expect("linked");
        let names = ["a", "b", "sub/c", "run", "link", "gone", "sub", "out/passwd", "../a", "a/below"];
        let all = fingerprints(root.path(), &names.map(str::to_owned));
        assert_eq!((&all[0], &all[3][1..]), (&all[2], &all[0][1..]), "{all:?}");
        assert!(all[0].starts_with('f') && all[3].starts_with('x') && all[4].starts_with('l'), "{all:?}");
        assert_ne!(all[0], all[1]);
        assert_eq!(all[5..], ["-", "?", "?", "?", "?"]);
    }
}
