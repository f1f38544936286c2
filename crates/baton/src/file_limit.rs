//! The limit of the size of files (`ulimit -f`).

use std::sync::Arc;

use signal_hook::consts::SIGXFSZ;

/// Has a write beyond the limit fail, so that the command says so: by itself the system ends the process with a signal.
pub(crate) fn fail_writes() {
    // Where the signal cannot be caught, it ends the process as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
