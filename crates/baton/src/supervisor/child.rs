//! The agent as a child: it has the terminal, its signals and its exit code; we only stand behind it.

use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

/// A running agent.
pub(super) struct Agent {
    child: Child,
}

impl Agent {
    /// Starts it with our own standard streams, in our own group of processes, so that the terminal is its.
    pub(super) fn start(
        program: &Path,
        args: &[String],
        vars: &[(&'static str, String)],
    ) -> io::Result<Self> {
        let vars = vars.iter().map(|(name, value)| (name, value));
        Ok(Self { child: Command::new(program).args(args).envs(vars).spawn()? })
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

#[cfg(unix)]
pub(super) use unix::Signals;

#[cfg(unix)]
mod unix {
    use std::io::IsTerminal;

    use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, waitpid};
    use tokio::runtime::Runtime;
    use tokio::signal::unix::{Signal as Listener, SignalKind, signal};

    use super::{Agent, Duration, io};

    /// Catches signals from its creation on, so that none ends the supervisor before the agent.
    pub(crate) struct Signals {
        runtime: Runtime,
        ended: Listener,
        terminate: Listener,
        hangup: Listener,
        interrupt: Listener,
        quit: Listener,
        /// Whether a terminal sends what its keys mean to the whole group itself.
        terminal: bool,
        /// Whether a signal that asks for the end was passed on to an agent.
        forwarded: bool,
    }

    impl Signals {
        /// Begins to listen.
        pub(crate) fn listen() -> io::Result<Self> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let inside = runtime.enter();
            let [ended, terminate, hangup, interrupt, quit] = [
                signal(SignalKind::child())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::quit())?,
            ];
            drop(inside);
            let terminal = io::stdin().is_terminal();
            Ok(Self { runtime, ended, terminate, hangup, interrupt, quit, terminal, forwarded: false })
        }

        /// Waits so long at most, and hands on what is sent to us; the exit code, once the agent has ended.
        pub(crate) fn wait(&mut self, agent: &Agent, pause: Duration) -> io::Result<Option<i32>> {
            let pid = Pid::from_child(&agent.child);
            if let Some(code) = self.wait_status(pid)? {
                return Ok(Some(code));
            }
            let keys = !self.terminal;
            let heard = self.runtime.block_on(async {
                tokio::select! {
                    _ = self.ended.recv() => None,
                    _ = self.terminate.recv() => Some(Signal::TERM),
                    _ = self.hangup.recv() => Some(Signal::HUP),
                    _ = self.interrupt.recv() => keys.then_some(Signal::INT),
                    _ = self.quit.recv() => keys.then_some(Signal::QUIT),
                    () = tokio::time::sleep(pause) => None,
                }
            });
            if let Some(signal) = heard {
                self.forwarded = true;
                // One that has just ended needs it no more.
                let _ = kill_process(pid, signal);
            }
            self.wait_status(pid)
        }

        /// Whether the end was asked for, beside the keys of a terminal.
        pub(crate) fn was_forwarded(&self) -> bool {
            self.forwarded
        }

        /// Waits so long at most while no agent runs; whether the end is asked for.
        pub(crate) fn is_end_requested(&mut self, pause: Duration) -> bool {
            self.runtime.block_on(async {
                tokio::select! {
                    _ = self.terminate.recv() => true,
                    _ = self.hangup.recv() => true,
                    _ = self.interrupt.recv() => true,
                    _ = self.quit.recv() => true,
                    () = tokio::time::sleep(pause) => false,
                }
            })
        }

        /// What became of the agent. When it stops itself, as for Ctrl-Z, so do we: else the shell would never take the
        /// terminal back.
        fn wait_status(&self, pid: Pid) -> io::Result<Option<i32>> {
            let Some((_, status)) = waitpid(Some(pid), WaitOptions::NOHANG | WaitOptions::UNTRACED)? else {
                return Ok(None);
            };
            if status.stopped() {
                if self.terminal {
                    kill_process(getpid(), Signal::STOP)?;
                    kill_process(pid, Signal::CONT)?;
                }
                return Ok(None);
            }
            Ok(Some(code(status)))
        }
    }

    /// The exit code that a shell gives.
    fn code(status: WaitStatus) -> i32 {
        let killed = status.terminating_signal().map(|signal| 128_i32.saturating_add(signal));
        status.exit_status().or(killed).unwrap_or(1)
    }
}

#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub fn was_forwarded(&self) -> bool {
        false
    }

    pub fn is_end_requested(&mut self, pause: Duration) -> bool {
        std::thread::sleep(pause);
        false
    }

    pub fn wait(&mut self, agent: &mut Agent, pause: Duration) -> io::Result<Option<i32>> {
        if let Some(status) = agent.child.try_wait()? {
            return Ok(Some(status.code().unwrap_or(1)));
        }
        std::thread::sleep(pause.min(Duration::from_millis(100)));
        Ok(None)
    }
}
