//! What a failing command said, in one line.

/// The line of a failing command's output that says most: the last that names an error, else the last.
pub(super) fn error_line(tail: &str) -> Option<&str> {
    const CAUSES: &[&str] = &[
        "error",
        "fail",
        "panic",
        "exception",
        "assert",
        "fatal",
        "cannot",
        "denied",
        "not found",
        "no such",
    ];
    let lines = || tail.lines().rev().filter(|line| !line.trim().is_empty());
    let names = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        CAUSES.iter().any(|cause| lower.contains(cause))
    };
    // What only says that something before it failed comes second.
    let news = |line: &&str| !ECHOES.iter().any(|echo| line.trim_start().starts_with(echo));
    let cause = lines().take(20).filter(news).find(names).or_else(|| lines().take(20).find(names));
    cause.or_else(|| lines().next())
}

/// Beginnings of lines by which a tool says that what it ran has failed.
const ECHOES: &[&str] = &[
    "make: ***",
    "make[",
    "npm ERR!",
    "npm error",
    "error Command failed",
    "ELIFECYCLE",
    "error: test failed, to rerun",
    "error: could not compile",
    "For more information about this error",
    "Some errors have detailed explanations",
];
