//! Tools that keep their sessions in a store of their own: they are told to import what was written.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use baton_model::refusal::{Kind, Refusal};
use baton_ops::transcript::ConversationExtent;
use baton_tools::native::NativeImport;
use baton_transcripts::{TranscriptEnv, by_id, header};

use super::write;

/// Time for one call of the tool.
const LIMIT: Duration = Duration::from_secs(120);
/// Bytes that it may print.
const PRINTED: u64 = 4 * 1024 * 1024;

/// A tool that imports sessions.
#[derive(Clone)]
pub(crate) struct Importer {
    /// What it is called with.
    pub import: &'static NativeImport,
    /// Its program.
    pub program: PathBuf,
    /// Where it works.
    pub cwd: PathBuf,
}

impl Importer {
    /// The model that the session names.
    pub(super) fn model(&self, env: &TranscriptEnv) -> Result<String, Refusal> {
        let settings = self.call(self.import.settings, "").map_err(|why| self.refusal(&why))?;
        let last = std::fs::read_to_string((self.import.last_model)(env)).unwrap_or_default();
        (self.import.model)(&settings, &last).ok_or_else(|| {
            let what = format!("{} names no model that a session can go on with", self.name());
            let hint =
                "choose a model in it once, or name one as `model` in its settings; or leave --native out";
            Refusal::invalid("native_unwritable", what, hint)
        })
    }

    /// Has the file imported; tells where the session lies then.
    pub(super) fn import(
        &self,
        file: &Path,
        (agent, id): (&str, &str),
        env: &TranscriptEnv,
    ) -> Result<(PathBuf, ConversationExtent), Refusal> {
        let printed = self.call(self.import.words, &file.display().to_string());
        match (imported(agent, id, env), printed) {
            (Some(found), Ok(_)) => Ok(found),
            (None, Ok(_)) => Err(self.refusal("it does not list the session afterwards")),
            (found, Err(why)) => {
                found.iter().for_each(|_| self.undo(id));
                Err(self.refusal(&why))
            }
        }
    }

    /// Removes a session that was imported.
    pub(super) fn undo(&self, id: &str) {
        let _ = self.call(self.import.undo, id);
    }

    fn name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn refusal(&self, why: &str) -> Refusal {
        let what = format!("{} did not import the session: {why}", self.name());
        let hint = "try it again; or leave --native out, and it begins with the document";
        Refusal::new(Kind::Outside, "native_not_imported", what, hint)
    }

    /// Calls the tool and gives what it printed.
    fn call(&self, words: &[&str], id: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(words.iter().map(|word| word.replace("{id}", id))).current_dir(&self.cwd);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
        let (send, receive) = mpsc::channel();
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let read = pipe.take(PRINTED).read_to_end(&mut text);
                _ = send.send(read.map(|_| String::from_utf8_lossy(&text).into_owned()));
            });
        }
        let begin = Instant::now();
        let text = receive.recv_timeout(LIMIT);
        // One may close its output and go on.
        let mut ended = child.try_wait();
        while matches!(ended, Ok(None)) && text.is_ok() && begin.elapsed() < LIMIT {
            std::thread::sleep(Duration::from_millis(20));
            ended = child.try_wait();
        }
        let (Ok(Ok(text)), Ok(Some(status))) = (text, ended) else {
            crate::process_group::stop_group(&mut child);
            return Err(format!("it had not ended after {} seconds", LIMIT.as_secs()));
        };
        if status.success() { Ok(text) } else { Err(format!("it ended with {status}")) }
    }
}

/// The session as its tool lists it.
fn imported(agent: &str, id: &str, env: &TranscriptEnv) -> Option<(PathBuf, ConversationExtent)> {
    let mut found = None;
    by_id(agent)?.find(env, &mut |one| {
        if one.key.as_deref() == Some(id) {
            found = Some(one);
        }
    });
    let found = found?;
    Some((found.path.clone(), write::extent(header(&found, &())?)))
}
