//! How the checks of a forge stand.

use crate::shared::words::one_line;

/// The states that are told, the worst first.
const STATES: &[&str] = &["fail", "pending", "pass"];

/// Which checks failed, are not done and passed, from `lint\tpass\t1m2s\thttps://…`.
pub(super) fn forge_checks(command: &str, output: &str) -> Option<String> {
    if !command.contains("gh pr checks") {
        return None;
    }
    let named = |state: &&str| {
        let lines = output.lines().map(|line| line.split('\t').map(str::trim).collect::<Vec<_>>());
        let names: Vec<String> = lines
            .filter(|parts| parts.len() >= 3 && parts[1] == *state)
            .map(|parts| one_line(parts[0], 30))
            .collect();
        (!names.is_empty()).then(|| format!("{state}: {}", names.join(", ")))
    };
    let all: Vec<String> = STATES.iter().filter_map(named).collect();
    (!all.is_empty()).then(|| one_line(&all.join("; "), 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pending_is_told_from_what_passed() {
        let output = "Bugbot\tpending\t0\thttps://x\nlint\tpass\t1m\thttps://x\ntest\tpass\t2m\thttps://x";
        assert_eq!(
            forge_checks("gh pr checks 142", output).as_deref(),
            Some("pending: Bugbot; pass: lint, test")
        );
        assert_eq!((forge_checks("make", output), forge_checks("gh pr checks", "no checks")), (None, None));
    }
}
