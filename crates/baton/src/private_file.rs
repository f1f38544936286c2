//! Files that only their owner reads: they hold words of the ledger, of a session, or of a tool's settings.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use baton_model::refusal::{Kind, Refusal};
use baton_store::Target;

/// Refuses to write to a file that is there, unless that was asked for; and to one that holds a store, whatever was asked for.
pub(crate) fn check_output(path: &Path, overwrite: bool) -> Result<(), Refusal> {
    refuse_store(path)?;
    if !overwrite && fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        let what = format!("{} is there already", baton_model::id::visible(&path.display().to_string()));
        return Err(Refusal::new(
            Kind::Conflict,
            "file_exists",
            what,
            "choose another file, or say --overwrite",
        ));
    }
    Ok(())
}

/// Refuses to write to a file that holds a store, or to one beside it that SQLite or Baton makes.
pub(crate) fn refuse_store(path: &Path) -> Result<(), Refusal> {
    if is_database(path) { Err(store_file_refusal(path)) } else { refuse_side_file(path) }
}

/// Refuses the name of a file that SQLite or Baton makes beside a store.
pub(crate) fn refuse_side_file(path: &Path) -> Result<(), Refusal> {
    if is_side_file(path) || is_draft(path) { Err(store_file_refusal(path)) } else { Ok(()) }
}

fn store_file_refusal(path: &Path) -> Refusal {
    let what =
        format!("{} is a store, or part of one", baton_model::id::visible(&path.display().to_string()));
    Refusal::new(Kind::Conflict, "file_is_store", what, "choose another file; nothing was written")
}

/// Whether a file is named like one beside a database. A name without an ending may be another program's where there is no such database.
fn is_side_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let base = ["-wal", "-shm", "-journal", "-lock"].iter().find_map(|side| name.strip_suffix(side));
    base.is_some_and(|base| base.contains('.') || is_database(&path.with_file_name(base)))
}

/// Whether a file is named like one that a backup or a restore writes before it has its name.
fn is_draft(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.rsplit_once(baton_store::DRAFT_MARK)
        .is_some_and(|(_, number)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a regular file begins as databases of SQLite and their logs do.
fn is_database(path: &Path) -> bool {
    let mut begin = [0; 16];
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let read = is_file.then(|| File::open(path).and_then(|mut file| file.read(&mut begin)));
    let is_log = matches!(begin, [0x37, 0x7f, 0x06, 0x82 | 0x83, ..]);
    matches!(read, Some(Ok(_))) && (begin.starts_with(b"SQLite format 3\0") || is_log)
}

/// Writes a file as a whole: another process sees the old or the new text, and after a crash one of them is there. What is no
/// regular file (a pipe, a terminal) is written to as it is.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    // A link stays one: what it leads to is replaced.
    let path = match fs::metadata(path) {
        Ok(meta) if meta.is_file() => path.canonicalize()?,
        Ok(_) => return OpenOptions::new().write(true).open(path)?.write_all(content),
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
    let folder = folder_of(&path);
    let begin = format!(".{name}.baton-");
    remove_abandoned(&folder, &begin);
    let draft = folder.join(format!("{begin}{}", std::process::id()));
    let done = write_new(&draft, content).and_then(|()| fs::rename(&draft, &path));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done?;
    // The name, too, has to outlive a crash.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Removes what a process that was killed left of the same file: regular files with the number of a process that is gone.
pub(crate) fn remove_abandoned(folder: &Path, begin: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(begin)?.parse::<u32>().ok());
        let is_gone = number.is_some_and(|number| !Path::new(&format!("/proc/{number}")).exists());
        if is_gone && Path::new("/proc/self").exists() && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes a file that is not there yet; never through a link that another user has put in its place.
fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let open = |options: &mut OpenOptions| owner_only(options).open(path);
    let mut file = match open(&mut options) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            // An earlier process of this number left it.
            fs::remove_file(path)?;
            open(&mut options)?
        }
        opened => opened?,
    };
    file.write_all(content)?;
    file.sync_all()
}

/// Opens a file to write behind what is in it.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    owner_only(OpenOptions::new().create(true).append(true)).open(path)
}

/// Creates a folder, and those above it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Leaves a file that another program has made to its owner alone.
pub(crate) fn restrict(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    let _ = path;
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Inode and creation time of a store's file, to distinguish it from an earlier one of the same name.
pub(crate) fn store_identity(store: &Target) -> String {
    use std::os::unix::fs::MetadataExt;
    let Target::File(path) = store else { return String::new() };
    let Ok(meta) = fs::metadata(path) else { return String::new() };
    let made =
        meta.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    format!(" {}-{}", meta.ino(), made.as_nanos())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().expect("dir");
        let at = |name: &str| dir.path().join(name);
        // No process has the highest number.
        let (abandoned, other) = (at(".out.json.baton-4194304"), at(".out.json.baton-notes"));
        fs::write(&abandoned, "secret").expect("written");
        fs::write(&other, "somebody's").expect("written");
        fs::write(at("victim"), "kept").expect("written");
        symlink(at("victim"), at(&format!(".out.json.baton-{}", std::process::id()))).expect("a link");
        write(&at("out.json"), b"new").expect("written");
        assert_eq!(fs::read_to_string(at("out.json")).expect("read"), "new");
        assert_eq!(fs::read_to_string(at("victim")).expect("read"), "kept");
        assert!(!abandoned.exists() && other.exists());
    }

    #[test]
    fn what_is_there_is_overwritten_only_where_that_was_asked_for_and_a_store_never() {
        let dir = tempfile::tempdir().expect("dir");
        let at = |name: &str| dir.path().join(name);
        fs::write(at("notes.md"), "mine").expect("written");
        fs::write(at("a.db"), b"SQLite format 3\0 and more").expect("written");
        fs::write(at("log"), [0x37, 0x7f, 0x06, 0x82, 0, 0]).expect("written");
        let code = |name: &str, overwrite| check_output(&at(name), overwrite).map_err(|refusal| refusal.code);
        fs::write(at("plain"), b"SQLite format 3\0...").expect("written");
        assert_eq!(code("deploy-lock", false), Ok(()));
        assert_eq!((code("new.md", false), code("notes.md", true)), (Ok(()), Ok(())));
        assert_eq!(code("notes.md", false), Err("file_exists"));
        for store in [
            "a.db",
            "log",
            "gone.db-wal",
            "gone.db-shm",
            "gone.db-journal",
            "gone.db-lock",
            "a.db.baton-draft-7",
            "plain-lock",
            "plain-wal",
        ] {
            assert_eq!(code(store, true), Err("file_is_store"), "{store}");
        }
        assert_eq!(check_output(Path::new("/dev/null"), false).map_err(|refusal| refusal.code), Ok(()));
    }

    #[test]
    fn only_the_owner_reads_what_is_written() {
        let dir = tempfile::tempdir().expect("dir");
        let (new, old, link) = (dir.path().join("new"), dir.path().join("old"), dir.path().join("link"));
        fs::write(&old, "old").expect("written");
        fs::set_permissions(&old, fs::Permissions::from_mode(0o644)).expect("set");
        symlink(&old, &link).expect("linked");
        for path in [&new, &link] {
            write(path, b"text").expect("written");
        }
        append(&dir.path().join("log")).and_then(|mut log| log.write_all(b"x")).expect("appended");
        create_folder(&dir.path().join("a/b")).expect("made");
        assert_eq!([mode(&new), mode(&old), mode(&dir.path().join("log"))], [0o600; 3]);
        assert_eq!(mode(&dir.path().join("a")), 0o700);
        assert!(fs::symlink_metadata(&link).expect("link").is_symlink());
        assert_eq!(fs::read_to_string(&old).expect("text"), "text");
        assert_eq!(fs::read_dir(dir.path()).expect("folder").count(), 5, "no draft is left");
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        write(Path::new("/dev/null"), b"text").expect("written");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }
}
