//! The file `issues.jsonl` on disk: read line by line, replaced as a whole, one writer at a time, never torn.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use baton_model::refusal::{Kind, Refusal};

use crate::error::Ended;

/// The right to write the file, until it is dropped. What the last writer of this machine noted about it comes with it.
pub struct Turn {
    /// Held open: closing it ends the turn.
    _lock: File,
    path: PathBuf,
    note_path: PathBuf,
    noted: String,
}

fn outside(path: &Path, what: &str, error: &std::io::Error) -> Refusal {
    Refusal::new(
        Kind::Outside,
        "beads_unwritable",
        format!("{} cannot be {what}: {error}", path.display()),
        "the ledger has everything; mend the folder and run `baton export beads PATH`",
    )
}

impl Turn {
    /// Waits for the turn. The lock is on the folder, which is the same one for everybody who shares the file and leaves nothing
    /// that git would take; what is noted about the file lies in the data folder of this user.
    pub fn wait(path: &Path, data_dir: &Path) -> Result<Self, Refusal> {
        let folder = folder(path);
        fs::create_dir_all(&folder).map_err(|error| outside(&folder, "made", &error))?;
        let notes = data_dir.join("mirrors");
        fs::create_dir_all(&notes).map_err(|error| outside(&notes, "made", &error))?;
        let place = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        let name = path.file_name().unwrap_or_default();
        let note_path =
            notes.join(format!("{:016x}", digest(place.join(name).as_os_str().as_encoded_bytes())));
        let lock = lock(&folder, &note_path)?;
        // What is no text was not noted by us.
        let noted = fs::read_to_string(&note_path).unwrap_or_default();
        Ok(Self { _lock: lock, path: path.to_owned(), note_path, noted })
    }

    /// Whether the file is what was written for this number of this store, and nobody has touched it since.
    pub fn is_current(&self, store: &str, seq: i64) -> bool {
        self.noted == note(&self.path, store, seq)
    }

    /// Whether the file is what the last writer left.
    pub fn is_ours(&self, store: &str) -> bool {
        let seq = self.noted.lines().nth(1).and_then(|line| line.parse().ok());
        seq.is_some_and(|seq| self.is_current(store, seq))
    }

    /// Notes what the file is now.
    pub fn note(&mut self, store: &str, seq: i64) -> Result<(), Refusal> {
        let text = note(&self.path, store, seq);
        fs::write(&self.note_path, &text).map_err(|error| outside(&self.note_path, "noted", &error))?;
        self.noted = text;
        Ok(())
    }

    /// The lines of the file; none when there is no file.
    pub fn lines(&self) -> Result<Option<FileLines>, Refusal> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(FileLines::of(&self.path, file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(outside(&self.path, "read", &error)),
        }
    }

    /// How many bytes the file has; 0 when there is none.
    pub fn bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |meta| meta.len())
    }

    /// Puts what is written in place of the file: a new file under a name of its own, flushed, then renamed. When the writer
    /// says no, the file stays as it is.
    pub fn replace(&self, write: impl FnOnce(&mut dyn Write) -> Result<bool, Ended>) -> Result<(), Ended> {
        self.sweep();
        let mut random = [0; 8];
        crate::host::random(&mut random);
        let new = beside(&self.path, &format!(".{:016x}.tmp", u64::from_le_bytes(random)));
        let failed = |error: std::io::Error| Ended::from(outside(&self.path, "written", &error));
        let made = || -> Result<bool, Ended> {
            let file = OpenOptions::new().write(true).create_new(true).open(&new).map_err(failed)?;
            if let Ok(old) = fs::metadata(&self.path) {
                fs::set_permissions(&new, old.permissions()).map_err(failed)?;
            }
            let mut out = BufWriter::new(file);
            if !write(&mut out)? {
                return Ok(false);
            }
            let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
            file.sync_all().map_err(failed)?;
            fs::rename(&new, &self.path).map_err(failed)?;
            Ok(true)
        };
        let put = made();
        if !matches!(put, Ok(true)) {
            let _ = fs::remove_file(&new);
        }
        // The name is on disk once the folder is; where folders cannot be opened, the system does it by itself.
        match (put?, File::open(folder(&self.path))) {
            (true, Ok(folder)) => folder.sync_all().map_err(failed),
            _ => Ok(()),
        }
    }

    /// Removes what a writer left that was killed, and the lock of versions that had one beside the file.
    fn sweep(&self) {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let entries = fs::read_dir(folder(&self.path)).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
            let found = entry.file_name().to_string_lossy().into_owned();
            let Some(rest) = found.strip_prefix(&name) else { continue };
            let middle = rest.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp"));
            let is_ours = match middle {
                Some(hex) => hex.len() == 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
                None => rest == ".lock" && fs::read_to_string(entry.path()).is_ok_and(|text| is_note(&text)),
            };
            if is_ours {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Locks the folder; where folders cannot be locked, a file in the data folder.
fn lock(folder: &Path, note_path: &Path) -> Result<File, Refusal> {
    if let Ok(lock) = File::open(folder)
        && lock.lock().is_ok()
    {
        return Ok(lock);
    }
    let beside = note_path.with_extension("lock");
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&beside);
    let lock = opened.map_err(|error| outside(&beside, "opened", &error))?;
    lock.lock().map_err(|error| outside(&beside, "locked", &error))?;
    Ok(lock)
}

/// FNV-1a: a name for a path.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The lines of a file, one after another.
pub struct FileLines {
    path: PathBuf,
    file: BufReader<File>,
    number: usize,
}

impl FileLines {
    /// Those of a file that must be there.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
            true => Err(ErrorKind::IsADirectory.into()),
            false => Ok(file),
        });
        let file = file.map_err(|error| {
            Refusal::invalid(
                "input_unreadable",
                format!("{} cannot be read: {error}", path.display()),
                "name an issues.jsonl that exists, for instance .beads/issues.jsonl",
            )
        })?;
        Ok(Self::of(path, file))
    }

    fn of(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file: BufReader::new(file), number: 0 }
    }
}

impl baton_ops::Lines for FileLines {
    fn rewind(&mut self) -> Result<(), Refusal> {
        self.number = 0;
        self.file.rewind().map_err(|error| outside(&self.path, "read", &error))
    }

    fn next(&mut self) -> Result<Option<String>, Refusal> {
        let mut bytes = Vec::new();
        let read = self.file.read_until(b'\n', &mut bytes);
        if read.map_err(|error| outside(&self.path, "read", &error))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let mut line = String::from_utf8(bytes).map_err(|_| {
            Refusal::invalid(
                "beads_invalid",
                format!("line {} of {} is not UTF-8", self.number, self.path.display()),
                "mend the line; nothing was taken in",
            )
            .with("line", self.number)
        })?;
        line.truncate(line.trim_end_matches(['\r', '\n']).len());
        Ok(Some(line))
    }
}

fn folder(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// What tells a file from another: size and instant of its last change. The same text for the same file.
pub fn mark(path: &Path) -> String {
    let meta = fs::metadata(path).ok();
    let size = meta.as_ref().map_or(0, fs::Metadata::len);
    let changed = meta.and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    format!("{size}\n{}", changed.unwrap_or_default().as_nanos())
}

/// For which number of which store a file was written, and what it was then.
fn note(path: &Path, store: &str, seq: i64) -> String {
    format!("{store}\n{seq}\n{}\n", mark(path))
}

fn is_note(text: &str) -> bool {
    text.is_empty()
        || (text.lines().count() == 4 && text.lines().skip(1).all(|line| line.parse::<i128>().is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_ops::Lines;

    fn all(lines: Option<FileLines>) -> Vec<String> {
        let mut lines = lines.expect("a file");
        std::iter::from_fn(|| lines.next().expect("text")).collect()
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_touch_from_outside_is_noticed() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("deep/issues.jsonl");
        let data = dir.path().join("data");
        let mut turn = Turn::wait(&path, &data).expect("turn");
        assert_eq!((turn.lines().expect("none").is_none(), turn.is_ours("s")), (true, false));
        let write = |text: &'static str, keep: bool| {
            move |out: &mut dyn Write| {
                out.write_all(text.as_bytes())?;
                Ok(keep)
            }
        };
        turn.replace(write("a\nb\n", true)).expect("written");
        turn.note("s", 7).expect("noted");
        assert!(
            turn.is_current("s", 7) && turn.is_ours("s") && !turn.is_current("s", 8) && !turn.is_ours("t")
        );
        turn.replace(write("not kept", false)).expect("left");
        let torn = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            Err(Ended::Told)
        };
        assert!(turn.replace(torn).is_err());
        assert_eq!(all(turn.lines().expect("lines")), ["a", "b"]);
        drop(turn);
        // A writer that was killed, and a version that had its lock beside the file.
        for (left, text) in
            [(".0123456789abcdef.tmp", "half"), (".lock", "s\n7\n4\n1\n"), (".lock.mine", "x")]
        {
            fs::write(beside(&path, left), text).expect("left");
        }
        let turn = Turn::wait(&path, &data).expect("turn");
        assert!(turn.is_current("s", 7));
        fs::write(&path, "a\r\nb\r\nc").expect("written");
        assert!(!turn.is_ours("s"));
        assert_eq!(all(turn.lines().expect("lines")), ["a", "b", "c"]);
        turn.replace(write("d\n", true)).expect("written");
        let mut left: Vec<_> = fs::read_dir(dir.path().join("deep"))
            .expect("folder")
            .map(|e| e.expect("entry").file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["issues.jsonl", "issues.jsonl.lock.mine"], "nothing of ours lies beside the file");
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("x");
        fs::write(&path, b"a\n\xff\n").expect("written");
        let mut lines = FileLines::open(&path).expect("opened");
        assert_eq!(lines.next(), Ok(Some("a".to_owned())));
        assert_eq!(lines.next().expect_err("no text").details["line"], 2);
        assert!(FileLines::open(dir.path()).is_err(), "a folder is no file");
    }
}
