//! What the system tells of a process.

/// A process that runs.
pub(super) struct Process {
    pub parent: u32,
    pub start: u64,
    /// Where its arguments lie in its memory; zero where that is not told. Only a fork that runs no other program has them where
    /// its parent has them.
    pub args_address: u64,
    pub args: Vec<String>,
}
