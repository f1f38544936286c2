//! The file `issues.jsonl` on disk: read line by line, replaced as a whole, one writer at a time, never torn.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use baton_model::refusal::{Kind, Refusal};
use baton_model::task::conflict::Conflict;

use crate::beads_file_note::BeadsFileNote;
use crate::error::AppError;
use crate::file_lock::LockFault;
use crate::raw_lines::{LineSelection, RawLines};
use crate::repo_file::{Fault, Folder, RepoFile};

/// The code of the refusal where another process holds the lock.
pub(crate) const LOCKED: &str = "beads_locked";
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// The longest line of it, in bytes: one line is held in memory.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// The longest line that is carried over unread, in bytes: what is longer was not made by any tool.
const CARRIED: u64 = 64 * 1024 * 1024;
/// The longest note of an earlier version in a lock file, in bytes.
const NOTE: u64 = 16 * 1024;

/// The right to write the file, until it is dropped. What the last writer of this machine noted about it comes with it.
pub(crate) struct FileTurn {
    /// Held open: closing it ends the turn.
    _lock: File,
    path: PathBuf,
    folder: Folder,
    note: BeadsFileNote,
    noted: String,
}

fn outside_refusal(path: &Path, what: &str, error: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(
        Kind::Outside,
        "beads_unwritable",
        format!("{} cannot be {what}: {error}", path.display()),
        "the ledger has everything; mend the folder and run `baton export beads PATH`",
    )
}

impl FileTurn {
    /// Waits for the lock, no longer than this for one holder. It is on the folder, which all writers of the file share and which
    /// leaves no file for git to pick up; what is recorded about the file lies in the data folder of this user.
    pub(crate) fn wait(file: &RepoFile, data_dir: &Path, patience: Duration) -> Result<Self, Refusal> {
        let path = file.path();
        let missing = || Fault::Io(std::io::ErrorKind::NotFound.into());
        let folder = file.folder(true).and_then(|folder| folder.ok_or_else(missing));
        let folder = folder.map_err(|fault| outside_refusal(&path, "written", &fault))?;
        let note =
            BeadsFileNote::of(&path, data_dir).map_err(|error| outside_refusal(&path, "noted", &error))?;
        // Where folders cannot be locked, a file in the data folder is.
        let lock = match folder.lock(patience) {
            Err(LockFault::Io(_)) => note.lock(patience),
            locked => locked,
        };
        let lock = lock.map_err(|fault| match &fault {
            LockFault::Io(error) => outside_refusal(&path, "locked", error),
            LockFault::Held(..) => fault.refusal(LOCKED, path.parent().unwrap_or(&path)),
        })?;
        let noted = note.read();
        Ok(Self { _lock: lock, path, folder, note, noted })
    }

    /// Whether the file was written for this number of this store and has not been modified since.
    pub(crate) fn is_current(&self, store: &str, seq: i64) -> bool {
        self.noted.strip_prefix(&note(self.mark().as_deref(), store, seq)).is_some()
    }

    /// How many lines at the end of a file of ours are kept although they cannot be read.
    pub(crate) fn unreadable_tail(&self) -> usize {
        self.noted.lines().nth(4).and_then(|line| line.parse().ok()).unwrap_or(0)
    }

    /// Whether the file is what the last writer left.
    pub(crate) fn is_ours(&self, store: &str) -> bool {
        self.noted_seq().is_some_and(|seq| self.is_current(store, seq))
    }

    /// The project with which the file is in step, where that was noted.
    pub(crate) fn project(&self) -> Option<String> {
        self.note.project()
    }

    /// Notes the project with which the file is in step.
    pub(crate) fn set_project(&self, project: &str) -> Result<(), Refusal> {
        self.note.set_project(project).map_err(|error| outside_refusal(&self.path, "noted", &error))
    }

    /// What git's merge driver has settled in the file and the ledger has not said yet.
    pub(crate) fn resolved_conflicts(&self) -> Vec<Conflict> {
        self.note.resolved_conflicts()
    }

    /// Forgets what the ledger has said.
    pub(crate) fn clear_resolved_conflicts(&self) {
        self.note.clear_resolved_conflicts();
    }

    /// The number of the store at which the file was written last.
    pub(crate) fn noted_seq(&self) -> Option<i64> {
        self.noted.lines().nth(1).and_then(|line| line.parse().ok())
    }

    /// Takes the note away, before what it says of file and ledger is no longer so: a file without one is read anew.
    pub(crate) fn forget(&mut self) -> Result<(), Refusal> {
        self.noted.clear();
        self.note.clear().map_err(|error| outside_refusal(&self.path, "noted", &error))
    }

    /// Notes which version of the file holds what the store has at this number, and how many lines follow that cannot be read.
    pub(crate) fn note(
        &mut self,
        store: &str,
        seq: i64,
        version: &FileVersion,
        unreadable: usize,
    ) -> Result<(), Refusal> {
        let mut text = note(Some(&version.mark), store, seq);
        if unreadable > 0 {
            text.push_str(&format!("{unreadable}\n"));
        }
        self.note.write(&text).map_err(|error| outside_refusal(&self.path, "noted", &error))?;
        self.noted = text;
        Ok(())
    }

    /// The lines of the file; none when there is no file.
    pub(crate) fn lines(&self) -> Result<Option<FileLines>, Refusal> {
        let file = self.folder.file().map_err(|fault| outside_refusal(&self.path, "read", &fault))?;
        file.map(|file| FileLines::of(&self.path, file)).transpose()
    }

    /// Lines of the file as they stand, byte for byte.
    pub(crate) fn raw(&self, which: &LineSelection) -> Result<Option<RawLines>, Refusal> {
        let failed = |error: &dyn std::fmt::Display| outside_refusal(&self.path, "read", error);
        let file = self.folder.file().map_err(|fault| failed(&fault))?;
        file.map(|file| RawLines::find(file, which).map_err(|error| failed(&error))).transpose()
    }

    fn meta(&self) -> Option<std::fs::Metadata> {
        self.folder.file().ok().flatten()?.metadata().ok()
    }

    fn mark(&self) -> Option<String> {
        self.folder.file().ok().flatten().as_ref().map(mark_of)
    }

    /// How many bytes the file has; 0 when there is none.
    pub(crate) fn bytes(&self) -> u64 {
        self.meta().map_or(0, |meta| meta.len())
    }

    /// What the file is now. It is taken before the file is read and given to [`FileTurn::replace`].
    pub(crate) fn version(&self) -> Option<FileVersion> {
        self.folder.file().ok().flatten().as_ref().map(FileVersion::of)
    }

    /// Puts what is written in place of the file: a new file under a name of its own, flushed, then renamed. When the writer
    /// says no, the file stays as it is. A file that is no longer the version that was read is left alone: git or another tool,
    /// which know nothing of turns, have written it in the meantime.
    pub(crate) fn replace(
        &self,
        read: Option<&FileVersion>,
        write: impl FnOnce(&mut dyn Write) -> Result<bool, AppError>,
    ) -> Result<ReplaceResult, AppError> {
        self.sweep();
        let failed =
            |error: &dyn std::fmt::Display| AppError::from(outside_refusal(&self.path, "written", error));
        let draft = self.folder.begin().map_err(|fault| failed(&fault))?;
        let made = || -> Result<bool, AppError> {
            let mut out = BufWriter::new(&draft.file);
            if !write(&mut out)? {
                return Ok(false);
            }
            out.flush().map_err(|error| failed(&error))?;
            draft.file.sync_all().map_err(|error| failed(&error))?;
            Ok(true)
        };
        let made = made();
        let is_overtaken = self.version().as_ref() != read;
        if !matches!(made, Ok(true)) || is_overtaken {
            self.folder.discard(&draft);
        }
        match (made?, is_overtaken) {
            (_, true) => Ok(ReplaceResult::Overtaken),
            (false, false) => {
                Ok(read.map_or(ReplaceResult::Overtaken, |read| ReplaceResult::Is(read.clone())))
            }
            (true, false) => {
                let written = FileVersion::of(&draft.file);
                self.folder.put(&draft).map_err(|fault| failed(&fault))?;
                Ok(ReplaceResult::Is(written))
            }
        }
    }

    /// Removes what a writer left that was killed, and the lock of versions that had one beside the file.
    fn sweep(&self) {
        for (name, ending) in self.folder.siblings_with_prefix() {
            let middle = ending.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp"));
            let is_ours = match middle {
                Some(hex) => hex.len() == 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
                None => ending == ".lock" && self.folder.text(&name, NOTE).is_some_and(|text| is_note(&text)),
            };
            if is_ours {
                self.folder.remove(&name);
            }
        }
    }
}

/// Which file this is, and what it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileVersion {
    mark: String,
    /// Who replaces a file makes another one, also within one tick of the clock.
    number: u64,
}

impl FileVersion {
    fn of(file: &File) -> Self {
        #[cfg(unix)]
        let number = file.metadata().map_or(0, |meta| std::os::unix::fs::MetadataExt::ino(&meta));
        #[cfg(not(unix))]
        let number = 0;
        Self { mark: mark_of(file), number }
    }
}

/// What became of a file that was to be replaced.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReplaceResult {
    /// It is this version now: the new one, or the one that was read where nothing was to be changed.
    Is(FileVersion),
    /// Another program has written it since it was read; it is as that left it.
    Overtaken,
}

/// The lines of a file, one after another.
pub(crate) struct FileLines {
    path: PathBuf,
    file: BufReader<File>,
    number: usize,
}

impl FileLines {
    /// Those of a file that must be there.
    pub(crate) fn open(file: &RepoFile) -> Result<Self, Refusal> {
        let path = file.path();
        let unreadable = |why: &dyn std::fmt::Display| {
            Refusal::invalid(
                "input_unreadable",
                format!("{} cannot be read: {why}", path.display()),
                "name an issues.jsonl that exists, for instance .beads/issues.jsonl",
            )
        };
        let opened = file.open().map_err(|fault| unreadable(&fault))?;
        let opened = opened.ok_or_else(|| unreadable(&"there is no such file"))?;
        Self::of(&path, opened)
    }

    fn of(path: &Path, file: File) -> Result<Self, Refusal> {
        let bytes = file.metadata().map_err(|error| outside_refusal(path, "read", &error))?.len();
        if bytes > MAX_FILE_BYTES {
            return Err(outside_refusal(path, "read", &Fault::TooLarge(MAX_FILE_BYTES)));
        }
        Ok(Self { path: path.to_owned(), file: BufReader::new(file), number: 0 })
    }
}

impl baton_ops::Lines for FileLines {
    fn rewind(&mut self) -> Result<(), Refusal> {
        self.number = 0;
        self.file.rewind().map_err(|error| outside_refusal(&self.path, "read", &error))
    }

    fn next(&mut self) -> Result<Option<String>, Refusal> {
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let read = read.map_err(|error| outside_refusal(&self.path, "read", &error))?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if bytes.last() != Some(&b'\n') && u64::try_from(read).is_ok_and(|read| read == MAX_LINE_BYTES) {
            let skipped = (&mut self.file).take(CARRIED).skip_until(b'\n');
            let skipped = skipped.map_err(|error| outside_refusal(&self.path, "read", &error))?;
            if u64::try_from(skipped).is_ok_and(|skipped| skipped == CARRIED) {
                return Err(
                    outside_refusal(&self.path, "read", &Fault::TooLarge(CARRIED)).with("line", self.number)
                );
            }
            let what = format!(
                "line {} of {} is longer than {MAX_LINE_BYTES} bytes",
                self.number,
                self.path.display()
            );
            let hint = "mend the line; nothing was taken in";
            return Err(Refusal::invalid("beads_invalid", what, hint).with("line", self.number));
        }
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

/// Size and modification time of a file, to detect a change. None if there is no file.
pub(crate) fn mark(file: &RepoFile) -> Option<String> {
    match file.open() {
        Ok(file) => file.as_ref().map(mark_of),
        Err(fault) => Some(fault.to_string()),
    }
}

fn mark_of(file: &File) -> String {
    let meta = file.metadata().ok();
    let size = meta.as_ref().map_or(0, std::fs::Metadata::len);
    let changed = meta.and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    format!("{size}\n{}", changed.unwrap_or_default().as_nanos())
}

/// For which number of which store a file was written, and what it was then.
fn note(mark: Option<&str>, store: &str, seq: i64) -> String {
    format!("{store}\n{seq}\n{}\n", mark.unwrap_or("0\n0"))
}

fn is_note(text: &str) -> bool {
    text.is_empty()
        || (text.lines().count() == 4 && text.lines().skip(1).all(|line| line.parse::<i128>().is_ok()))
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        let (file, data) = (RepoFile::from_user_path(&path), dir.path().join("data"));
        let mut turn = FileTurn::wait(&file, &data, Duration::from_secs(5)).expect("turn");
        assert_eq!((turn.lines().expect("none").is_none(), turn.is_ours("s")), (true, false));
        let write = |text: &'static str, keep: bool| {
            move |out: &mut dyn Write| {
                out.write_all(text.as_bytes())?;
                Ok(keep)
            }
        };
        let Ok(ReplaceResult::Is(version)) = turn.replace(None, write("a\nb\n", true)) else {
            panic!("written")
        };
        turn.note("s", 7, &version, 0).expect("noted");
        assert!(
            turn.is_current("s", 7) && turn.is_ours("s") && !turn.is_current("s", 8) && !turn.is_ours("t")
        );
        assert_eq!(
            turn.replace(Some(&version), write("not kept", false)).expect("left"),
            ReplaceResult::Is(version.clone())
        );
        let torn = |out: &mut dyn Write| {
            out.write_all(b"half")?;
            Err(AppError::Reported)
        };
        assert!(turn.replace(Some(&version), torn).is_err());
        assert_eq!(all(turn.lines().expect("lines")), ["a", "b"]);
        drop(turn);
        // A writer that was killed, and a version that had its lock beside the file.
        for (left, text) in
            [(".0123456789abcdef.tmp", "half"), (".lock", "s\n7\n4\n1\n"), (".lock.mine", "x")]
        {
            fs::write(dir.path().join(format!("deep/issues.jsonl{left}")), text).expect("left");
        }
        let turn = FileTurn::wait(&file, &data, Duration::from_secs(5)).expect("turn");
        assert!(turn.is_current("s", 7));
        fs::write(&path, "a\r\nb\r\nc").expect("written");
        assert!(!turn.is_ours("s"));
        assert_eq!(all(turn.lines().expect("lines")), ["a", "b", "c"]);
        let other = turn.replace(Some(&version), write("d\n", true)).expect("asked");
        assert_eq!(other, ReplaceResult::Overtaken, "what another program wrote stays");
        assert_eq!(all(turn.lines().expect("lines")), ["a", "b", "c"]);
        let now = turn.version();
        turn.replace(now.as_ref(), write("d\n", true)).expect("written");
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
        let mut lines = FileLines::open(&RepoFile::from_user_path(&path)).expect("opened");
        assert_eq!(lines.next(), Ok(Some("a".to_owned())));
        assert_eq!(lines.next().expect_err("no text").details["line"], 2);
        assert!(FileLines::open(&RepoFile::from_user_path(dir.path())).is_err(), "a folder is no file");
        fs::write(&path, vec![b'x'; usize::try_from(MAX_LINE_BYTES).expect("small") + 1]).expect("written");
        let mut lines = FileLines::open(&RepoFile::from_user_path(&path)).expect("opened");
        assert_eq!(lines.next().expect_err("too long").details["line"], 1);
    }
}
