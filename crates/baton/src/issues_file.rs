//! The file `issues.jsonl` on disk: read whole, written whole, one writer at a time, never torn.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use baton_model::refusal::{Kind, Refusal};

/// The right to write the file, until it is dropped. What the last writer noted about it comes with it.
pub struct Turn {
    lock: File,
    path: PathBuf,
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
    /// Waits for the turn. The lock stands beside the file, because the file itself is replaced.
    pub fn wait(path: &Path) -> Result<Self, Refusal> {
        let folder = folder(path);
        fs::create_dir_all(&folder).map_err(|error| outside(&folder, "made", &error))?;
        let beside = beside(path, ".lock");
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&beside);
        let mut lock = opened.map_err(|error| outside(&beside, "opened", &error))?;
        lock.lock().map_err(|error| outside(&beside, "locked", &error))?;
        let mut noted = String::new();
        // What is no text was not noted by us.
        if lock.read_to_string(&mut noted).is_err() {
            noted.clear();
        }
        Ok(Self { lock, path: path.to_owned(), noted })
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
        let mut write = || {
            self.lock.set_len(0)?;
            self.lock.seek(SeekFrom::Start(0))?;
            self.lock.write_all(text.as_bytes())
        };
        write().map_err(|error| outside(&self.path, "noted", &error))?;
        self.noted = text;
        Ok(())
    }

    /// The lines of the file; none when there is no file.
    pub fn lines(&self) -> Result<Vec<String>, Refusal> {
        match fs::read(&self.path) {
            Ok(bytes) => lines(&self.path, bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(outside(&self.path, "read", &error)),
        }
    }

    /// Puts the lines in place of the file: a new file under a name of its own, flushed, then renamed.
    pub fn replace<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Result<(), Refusal> {
        let mut random = [0; 8];
        crate::host::random(&mut random);
        let new = beside(&self.path, &format!(".{:016x}.tmp", u64::from_le_bytes(random)));
        let write = || {
            let mut file =
                std::io::BufWriter::new(OpenOptions::new().write(true).create_new(true).open(&new)?);
            if let Ok(old) = fs::metadata(&self.path) {
                fs::set_permissions(&new, old.permissions())?;
            }
            for line in lines {
                file.write_all(line.as_bytes())?;
                file.write_all(b"\n")?;
            }
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&new, &self.path)?;
            // The name is on disk once the folder is; where folders cannot be opened, the system does it by itself.
            match File::open(folder(&self.path)) {
                Ok(folder) => folder.sync_all(),
                Err(_) => Ok(()),
            }
        };
        write().map_err(|error: std::io::Error| {
            let _ = fs::remove_file(&new);
            outside(&self.path, "written", &error)
        })
    }
}

/// The lines of a file that must be there.
pub fn read(path: &Path) -> Result<Vec<String>, Refusal> {
    let bytes = fs::read(path).map_err(|error| {
        Refusal::invalid(
            "input_unreadable",
            format!("{} cannot be read: {error}", path.display()),
            "name an issues.jsonl that exists, for instance .beads/issues.jsonl",
        )
    })?;
    lines(path, bytes)
}

fn lines(path: &Path, bytes: Vec<u8>) -> Result<Vec<String>, Refusal> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        Refusal::invalid(
            "beads_invalid",
            format!("line {line} of {} is not UTF-8", path.display()),
            "mend the line; nothing was taken in",
        )
        .with("line", line)
    })?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn folder(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// What tells a file from another: size and instant of its last change, for which number of which store it was written.
fn note(path: &Path, store: &str, seq: i64) -> String {
    let meta = fs::metadata(path).ok();
    let size = meta.as_ref().map_or(0, fs::Metadata::len);
    let changed = meta.and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    format!("{store}\n{seq}\n{size}\n{}\n", changed.unwrap_or_default().as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_a_touch_from_outside_is_noticed() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("deep/issues.jsonl");
        let mut turn = Turn::wait(&path).expect("turn");
        assert_eq!((turn.lines().expect("none"), turn.is_ours("s")), (Vec::<String>::new(), false));
        turn.replace(["a", "b"].into_iter()).expect("written");
        turn.note("s", 7).expect("noted");
        assert!(
            turn.is_current("s", 7) && turn.is_ours("s") && !turn.is_current("s", 8) && !turn.is_ours("t")
        );
        drop(turn);
        let turn = Turn::wait(&path).expect("turn");
        assert!(turn.is_current("s", 7));
        fs::write(&path, "a\r\nb\r\nc\r\n").expect("written");
        assert!(!turn.is_ours("s"));
        assert_eq!(turn.lines().expect("lines"), ["a", "b", "c"]);
        assert_eq!(
            fs::read_dir(dir.path().join("deep")).expect("folder").count(),
            2,
            "no temporary file stays"
        );
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_with_its_line() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("x");
        fs::write(&path, b"a\n\xff\n").expect("written");
        assert_eq!(read(&path).expect_err("no text").details["line"], 2);
    }
}
