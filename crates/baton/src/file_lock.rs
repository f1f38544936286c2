//! A wait for a file lock that ends. The system's own wait has no time limit, and the holder may be a process that is stopped.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};

/// How often the wait begins anew because the lock has gone to another holder: the queue moves.
const ROUNDS: u32 = 6;

/// Why a lock is not ours.
#[derive(Debug)]
pub(crate) enum LockFault {
    /// Another process has held it for this long.
    Held(Duration, Option<LockHolder>),
    /// What the system says.
    Io(io::Error),
}

impl LockFault {
    /// The refusal of what needs the lock at this path.
    pub(crate) fn refusal(&self, code: &'static str, path: &Path) -> Refusal {
        let shown = path.display();
        match self {
            Self::Io(error) => {
                let hint = "it has to be a folder or file of your own on a disk with locks";
                Refusal::new(Kind::Outside, code, format!("{shown} cannot be locked: {error}"), hint)
            }
            Self::Held(waited, holder) => {
                let who = holder.as_ref().map_or_else(|| "another process".to_owned(), LockHolder::name);
                let what = format!("the lock of {shown} is held by {who}");
                let refusal = Refusal::new(Kind::Conflict, code, what, hint(holder.as_ref(), path));
                let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                let refusal = refusal.with("lock", shown.to_string()).with("waited_ms", waited);
                holder.iter().fold(refusal, |refusal, holder| refusal.with("holder", holder.pid))
            }
        }
    }
}

fn hint(holder: Option<&LockHolder>, path: &Path) -> String {
    match holder {
        Some(LockHolder { pid, is_stopped: true, .. }) => {
            format!("it is stopped: let it go on with `kill -CONT {pid}`, or end it with `kill -KILL {pid}`")
        }
        Some(LockHolder { pid, program: Some(_), .. }) => {
            format!(
                "wait until it is done, or end it with `kill {pid}`; then repeat what is not done yet (`baton log` shows what is)"
            )
        }
        _ => {
            let word = baton_model::shell::shell_word(&path.display().to_string());
            format!(
                "`fuser -v {word}` names it; wait until it is done, or end it; then repeat what is not done yet (`baton log` shows what is)"
            )
        }
    }
}

/// The process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LockHolder {
    pid: u32,
    program: Option<String>,
    is_stopped: bool,
}

impl LockHolder {
    /// The process that the system names for a lock on this file.
    #[cfg(target_os = "linux")]
    fn of(file: &File) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let meta = file.metadata().ok()?;
        let device = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        let pid = locks.lines().find_map(|line| pid_of_lock(line, device, meta.ino()))?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok();
        let program =
            stat.as_deref().and_then(|stat| Some(stat.split_once('(')?.1.rsplit_once(')')?.0.to_owned()));
        let state = stat
            .as_deref()
            .and_then(|stat| stat.rsplit_once(')')?.1.split_whitespace().next()?.chars().next());
        Some(Self { pid, program, is_stopped: matches!(state, Some('T' | 't')) })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &File) -> Option<Self> {
        None
    }

    fn name(&self) -> String {
        match &self.program {
            Some(program) => format!("process {} ({})", self.pid, visible(program)),
            // It ended, and a process that it started has the file open still.
            None => format!("a process that process {} started", self.pid),
        }
    }
}

/// The process of a line of `/proc/locks`, if that is a lock on this file: `1: FLOCK ADVISORY WRITE 42 08:01:1234 0 EOF`. A line of
/// a process that waits has an arrow.
#[cfg(any(target_os = "linux", test))]
fn pid_of_lock(line: &str, (major, minor): (u32, u32), inode: u64) -> Option<u32> {
    let mut words = line.split_whitespace().skip(1);
    if words.next()? != "FLOCK" {
        return None;
    }
    let pid = words.nth(2)?.parse().ok()?;
    let mut place = words.next()?.splitn(3, ':');
    let is_device = u32::from_str_radix(place.next()?, 16) == Ok(major)
        && u32::from_str_radix(place.next()?, 16) == Ok(minor);
    (is_device && place.next()?.parse() == Ok(inode)).then_some(pid)
}

/// Locks an open file, which is given back as the lock. Waits no longer than this for one holder; without patience it only tries.
pub(crate) fn lock_within(file: File, patience: Duration) -> Result<File, LockFault> {
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(std::fs::TryLockError::Error(error)) => return Err(LockFault::Io(error)),
        Err(std::fs::TryLockError::WouldBlock) => {}
    }
    let mut holder = LockHolder::of(&file);
    if patience.is_zero() {
        return Err(LockFault::Held(patience, holder));
    }
    let probe = file.try_clone().map_err(LockFault::Io)?;
    // The thread of a wait that was given up drops the file, and with it the lock, when its turn comes.
    let (hand_over, take) = mpsc::sync_channel(0);
    let wait = move || _ = hand_over.send(file.lock().map(|()| file));
    std::thread::Builder::new().name("file-lock".to_owned()).spawn(wait).map_err(LockFault::Io)?;
    for _ in 0..ROUNDS {
        match take.recv_timeout(patience) {
            Ok(locked) => return locked.map_err(LockFault::Io),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = LockHolder::of(&probe);
        if now.is_none() || now == holder {
            break;
        }
        holder = now;
    }
    Err(LockFault::Held(patience, holder))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn open(path: &Path) -> File {
        File::options().create(true).append(true).open(path).expect("open")
    }

    #[test]
    fn a_wait_for_a_lock_ends_and_names_its_holder() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("lock");
        let held = lock_within(open(&path), Duration::ZERO).expect("free");
        let (begin, patience) = (Instant::now(), Duration::from_millis(40));
        let fault = lock_within(open(&path), patience).expect_err("held");
        assert!(begin.elapsed() >= patience && begin.elapsed() < Duration::from_secs(5));
        let refusal = fault.refusal("beads_locked", &path);
        assert_eq!((refusal.code, refusal.kind), ("beads_locked", Kind::Conflict));
        assert!(refusal.message.contains(&path.display().to_string()), "{}", refusal.message);
        #[cfg(target_os = "linux")]
        assert!(refusal.message.contains(&format!("process {}", std::process::id())), "{}", refusal.message);
        // The wait that was given up takes the lock from no other holder.
        drop(held);
        lock_within(open(&path), Duration::from_secs(5)).expect("free again");
    }

    #[test]
    fn a_lock_is_handed_over_to_who_waits() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("lock");
        let held = lock_within(open(&path), Duration::ZERO).expect("free");
        let waiting = std::thread::spawn({
            let file = open(&path);
            move || lock_within(file, Duration::from_secs(20)).is_ok()
        });
        std::thread::sleep(Duration::from_millis(30));
        drop(held);
        assert!(waiting.join().expect("thread"));
    }

    #[test]
    fn the_holder_is_read_from_the_systems_table() {
        let of = |line| pid_of_lock(line, (8, 17), 1234);
        assert_eq!(of("1: FLOCK  ADVISORY  WRITE 42 08:11:1234 0 EOF"), Some(42));
        for other in [
            "1: -> FLOCK  ADVISORY  WRITE 43 08:11:1234 0 EOF",
            "2: POSIX  ADVISORY  WRITE 42 08:11:1234 0 EOF",
            "1: FLOCK  ADVISORY  WRITE 42 08:11:12345 0 EOF",
            "1: FLOCK  ADVISORY  WRITE 42 08:12:1234 0 EOF",
            "",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_stopped_holder_is_named_with_what_lets_it_go_on() {
        let holder = LockHolder { pid: 42, program: Some("bd".to_owned()), is_stopped: true };
        let fault = LockFault::Held(Duration::from_secs(5), Some(holder));
        let refusal = fault.refusal("beads_locked", Path::new("/repo/.beads"));
        assert_eq!(refusal.message, "the lock of /repo/.beads is held by process 42 (bd)");
        assert!(refusal.hint.contains("kill -CONT 42"), "{}", refusal.hint);
    }
}
