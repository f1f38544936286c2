//! Reading and writing files of others: whole or not at all, with the mode they had, through links.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use baton_model::refusal::Refusal;

use crate::private_file;
use crate::repo_file::{self, RepoFile};

/// The text of a file; none where there is no file.
pub(crate) fn read(file: &Path) -> Result<Option<String>, Refusal> {
    let refuse = |what: String| {
        let what = format!("{} cannot be read: {what}", file.display());
        Refusal::invalid("install_file_unreadable", what, "make it a readable file in UTF-8, or move it away")
    };
    match fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| refuse("it is not UTF-8 text".into())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(refuse(error.to_string())),
    }
}

/// Refuses a path of a working copy that leads out of it, or to what is no file: its links may come from a stranger. The
/// user's own links elsewhere are the user's.
pub(crate) fn check(path: &Path) -> Result<(), Refusal> {
    if repo_file::working_copy(path).is_none() {
        return Ok(());
    }
    RepoFile::from_user_path(path).open().map(drop).map_err(|fault| {
        let what = format!("{} is not changed: {fault}", path.display());
        Refusal::invalid("install_file_unreadable", what, "make it a file of the repository, or move it away")
    })
}

/// The file that a path means: what a link points to, even when that is not there yet.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..16 {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    path
}

/// The folders that are to be made before a file can be written, outermost first.
pub(crate) fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let missing =
        file.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Writes a file as a whole: another process sees the old or the new text.
pub(crate) fn write(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().ok_or(ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let begin = format!(".{name}.baton-");
    private_file::remove_abandoned(folder, &begin);
    let beside = folder.join(format!("{begin}{}", std::process::id()));
    let done = write_beside(&beside, file, text).and_then(|()| fs::rename(&beside, file));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done?;
    // The name, too, has to outlive a crash.
    if let Ok(folder) = fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_beside(beside: &Path, file: &Path, text: &str) -> io::Result<()> {
    let mut new = OpenOptions::new().write(true).create_new(true).open(beside)?;
    if let Ok(known) = fs::metadata(file) {
        new.set_permissions(known.permissions())?;
    }
    new.write_all(text.as_bytes())?;
    new.sync_all()
}

/// Deletes a file, and the folders made for it, as far as they are empty.
pub(crate) fn delete(file: &Path, folders: &[PathBuf]) -> io::Result<()> {
    fs::remove_file(file)?;
    for folder in folders.iter().rev() {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}
