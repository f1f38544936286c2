//! The Beads file of a project whose tasks a long-lived process serves, kept in step on a thread with a store of its own.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use baton_store::Target;
use tokio::sync::oneshot;

use crate::app::{App, Format};
use crate::beads::{self, Direction};
use crate::beads_file::mark;
use crate::config::Config;
use crate::error::AppError;
use crate::repo_file::RepoFile;

/// Pause between two looks of a server: what changes meanwhile is written together.
const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// How long a question about tasks waits for the file to be taken in.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// A running mirror.
pub(crate) struct BeadsFileService {
    file: RepoFile,
    asks: Mutex<Option<Sender<FileRequest>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The file as it was looked at last.
    seen: Arc<Mutex<String>>,
}

/// How long the file's turn is held for one operation.
const MAX_TURN: Duration = Duration::from_secs(30);

/// What the thread is asked for.
enum FileRequest {
    /// Look at the file now; the sender, if any, is notified when it is done.
    Look(Option<oneshot::Sender<()>>),
    /// A look after which no other process writes the file until an operation is done.
    Hold(ExclusiveHold),
}

/// The thread's side of a turn that an operation holds.
struct ExclusiveHold {
    /// Told when the turn has begun, or why the file could not be brought in step.
    begun: oneshot::Sender<Result<(), String>>,
    over: Receiver<oneshot::Sender<()>>,
}

/// The turn at the file, for one operation.
pub(crate) struct Exclusive(Sender<oneshot::Sender<()>>);

impl Exclusive {
    /// After the operation: what it did is in the file when this is over.
    pub(crate) async fn finish(self) {
        let (done, wait) = oneshot::channel();
        if self.0.send(done).is_ok() {
            // The mirror thread reports errors itself.
            let _ = tokio::time::timeout(IMPORT_TIMEOUT, wait).await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BeadsFileService {
    /// The mirror of a server, where the settings name a file.
    pub(crate) fn of_server(config: &Config) -> Option<Arc<Self>> {
        Self::start(config, Some(WRITE_INTERVAL))
    }

    /// The mirror of a process with one client, which looks when its client asks.
    pub(crate) fn of_client(config: &Config) -> Option<Arc<Self>> {
        Self::start(config, None)
    }

    fn start(config: &Config, pause: Option<Duration>) -> Option<Arc<Self>> {
        let file = config.beads_file.clone().filter(|_| !matches!(config.store, Target::Memory))?;
        let config = config.clone();
        let (asks, requests) = channel();
        let seen = Arc::new(Mutex::new(String::new()));
        let keeper = FileThread {
            file: file.clone(),
            seen: Arc::clone(&seen),
            reported: String::new(),
            asked: requests,
            pause,
        };
        let thread = std::thread::spawn(move || keeper.run(App::new(config, Format::Json, false, true)));
        Some(Arc::new(Self { file, asks: Mutex::new(Some(asks)), thread: Mutex::new(Some(thread)), seen }))
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.path()
    }

    /// Before an operation that goes by the tasks: takes in a file that has changed.
    pub(crate) async fn import(&self) {
        match mark(&self.file) {
            Some(mark) if *lock(&self.seen) != mark => {}
            _ => return,
        }
        let (done, wait) = oneshot::channel();
        self.ask(FileRequest::Look(Some(done)));
        // The mirror thread reports errors itself; the answer comes from the ledger in any case.
        let _ = tokio::time::timeout(IMPORT_TIMEOUT, wait).await;
    }

    /// The turn at the file, for an operation that only one ledger may carry out at a time; none where no project has the file. Without
    /// the turn what the ledger has is gone by, and the error says why.
    pub(crate) async fn hold(&self) -> Result<Option<Exclusive>, String> {
        let ((begun, wait), (end, over)) = (oneshot::channel(), channel());
        self.ask(FileRequest::Hold(ExclusiveHold { begun, over }));
        match tokio::time::timeout(IMPORT_TIMEOUT, wait).await {
            Ok(Ok(Ok(()))) => Ok(Some(Exclusive(end))),
            Ok(Ok(Err(why))) => Err(self.describe(&why)),
            Ok(Err(_)) => Ok(None),
            Err(_) => Err(self.describe(&format!("it was not free within {} s", IMPORT_TIMEOUT.as_secs()))),
        }
    }

    fn describe(&self, why: &str) -> String {
        format!("{} is not in step: {why}", self.file.path().display())
    }

    /// After an operation that may have changed tasks: writes the file, without waiting.
    pub(crate) fn export(&self) {
        self.ask(FileRequest::Look(None));
    }

    fn ask(&self, ask: FileRequest) {
        if let Some(asks) = lock(&self.asks).as_ref() {
            // It has ended: so has the process.
            let _ = asks.send(ask);
        }
    }

    /// Writes what is left to write and ends.
    pub(crate) fn stop(&self) {
        drop(lock(&self.asks).take());
        if let Some(thread) = lock(&self.thread).take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the mirror panicked");
        }
    }
}

struct FileThread {
    file: RepoFile,
    seen: Arc<Mutex<String>>,
    /// What went wrong last: the same is reported once.
    reported: String,
    asked: Receiver<FileRequest>,
    /// The interval between two looks on the thread's own account.
    pause: Option<Duration>,
}

impl FileThread {
    fn run(mut self, mut app: App) {
        // A server sees to the file by itself. A client that only reads leaves it as it is.
        let mut writes = self.pause.is_some();
        while let Some(ask) = self.next() {
            // All that was asked until now is answered by one look.
            let (mut waiting, mut holds) = (Vec::new(), Vec::new());
            for ask in std::iter::once(ask).chain(self.asked.try_iter()) {
                match ask {
                    FileRequest::Look(Some(done)) => waiting.push(done),
                    FileRequest::Look(None) => writes = true,
                    FileRequest::Hold(hold) => holds.push(hold),
                }
            }
            if !waiting.is_empty() || holds.is_empty() {
                self.sync(&mut app, if writes { Direction::Both } else { Direction::Import });
            }
            for done in waiting {
                // The receiver may have given up waiting.
                let _ = done.send(());
            }
            for hold in holds {
                self.hold(&mut app, hold);
            }
        }
        // What was written last is in the file when the process has ended.
        if writes {
            self.sync(&mut app, Direction::Both);
        }
        app.shut_down();
    }

    /// Waits for the next look; none when the process ends.
    fn next(&self) -> Option<FileRequest> {
        let Some(pause) = self.pause else { return self.asked.recv().ok() };
        match self.asked.recv_timeout(pause) {
            Ok(ask) => Some(ask),
            Err(RecvTimeoutError::Timeout) => Some(FileRequest::Look(None)),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Holds the turn at the file while an operation runs.
    fn hold(&mut self, app: &mut App, hold: ExclusiveHold) {
        let held = match beads::own_project(app) {
            Some(project) => beads::ExclusiveTurn::take(app, project, &self.file),
            None => return,
        };
        let held = match held {
            Ok((held, complaints)) => {
                self.report(Ok(complaints));
                held
            }
            // The asker goes on without it.
            Err(error) => {
                let why = first_line(&error);
                self.report(Err(error));
                // The asker may have given up waiting.
                let _ = hold.begun.send(Err(why));
                return;
            }
        };
        if hold.begun.send(Ok(())).is_err() {
            return;
        }
        // An asker that has gone has done what it did.
        let done = hold.over.recv_timeout(MAX_TURN).ok();
        let settled = held.finish(app);
        self.report(settled);
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    fn sync(&mut self, app: &mut App, direction: Direction) {
        let done = step(app, &self.file, direction);
        self.report(done);
    }

    fn report(&mut self, done: Result<Vec<String>, AppError>) {
        let why = match done {
            Ok(complaints) => complaints.join("; "),
            Err(error) => first_line(&error),
        };
        if !why.is_empty() && why != self.reported {
            tracing::warn!(path = %self.file.path().display(), why, "the tasks' file is not in step");
        }
        self.reported = why;
        *lock(&self.seen) = mark(&self.file).unwrap_or_default();
    }
}

fn first_line(error: &AppError) -> String {
    error.text().lines().next().unwrap_or_default().to_owned()
}

fn step(app: &mut App, file: &RepoFile, direction: Direction) -> Result<Vec<String>, AppError> {
    match beads::own_project(app) {
        Some(project) => beads::sync_beads_file(app, &project, file, direction),
        // Its folder is not registered, or not any more.
        None => Ok(Vec::new()),
    }
}
