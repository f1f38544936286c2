//! The end of what a command writes, kept while it passes through.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Bytes kept: more than the longest secret (64 KiB of a private key) plus what is shown, so that a secret is recognised from its
/// start.
const MAX_TAIL_BYTES: usize = 128 * 1024;
/// How long output is drained after the command ended: its own children may keep its output open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// Starts a command whose standard output and standard error are one pipe, so that their lines keep the order in which they were
/// written.
pub(crate) fn spawn_joined(mut command: Command) -> io::Result<(Child, PipeReader)> {
    let (output, input) = io::pipe()?;
    let child = command.stdout(input.try_clone()?).stderr(input).spawn()?;
    // Dropped with its two ends of the pipe: the output ends when the child's own are closed.
    drop(command);
    Ok((child, output))
}

/// The end of an output.
#[derive(Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Copies a stream to standard error in a thread of its own, and keeps its end.
    pub(super) fn follow(&self, stream: impl Read + Send + 'static) -> std::thread::JoinHandle<()> {
        self.read(stream, true)
    }

    /// Keeps the end of a stream in a thread of its own.
    pub(crate) fn keep(&self, stream: impl Read + Send + 'static) -> std::thread::JoinHandle<()> {
        self.read(stream, false)
    }

    fn read(&self, mut stream: impl Read + Send + 'static, copy: bool) -> std::thread::JoinHandle<()> {
        let buffer = Arc::clone(&self.0);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = stream.read(&mut bytes) {
                let Some(read) = bytes.get(..count).filter(|read| !read.is_empty()) else { break };
                if copy {
                    let _ = std::io::stderr().write_all(read);
                }
                if let Ok(mut buffer) = buffer.lock() {
                    buffer.extend(read);
                    let over = buffer.len().saturating_sub(MAX_TAIL_BYTES);
                    buffer.drain(..over);
                }
            }
        })
    }

    /// The end as text, once the streams have ended or were waited for.
    pub(crate) fn text(&self, streams: &[std::thread::JoinHandle<()>]) -> String {
        let step = Duration::from_millis(5);
        let mut waited = Duration::ZERO;
        while waited < DRAIN_TIMEOUT && streams.iter().any(|stream| !stream.is_finished()) {
            std::thread::sleep(step);
            waited += step;
        }
        let bytes: Vec<u8> = self.0.lock().map(|buffer| buffer.iter().copied().collect()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn lines_of_both_outputs_keep_their_order() {
        let script = "for n in $(seq 1 60); do echo line $n; done; echo the cause >&2; echo the end; exit 1";
        for _ in 0..20 {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let (mut child, output) = spawn_joined(command).expect("started");
            let tail = Tail::default();
            let stream = tail.keep(output);
            child.wait().expect("ended");
            stream.join().expect("read");
            assert!(tail.text(&[]).ends_with("line 60\nthe cause\nthe end\n"), "{}", tail.text(&[]));
        }
    }

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let tail = Tail::default();
        let long = format!("{}the end", "x".repeat(3 * MAX_TAIL_BYTES));
        let stream = tail.follow(std::io::Cursor::new(long));
        let text = tail.text(&[stream]);
        assert!(text.ends_with("the end") && text.len() == MAX_TAIL_BYTES);
    }
}
