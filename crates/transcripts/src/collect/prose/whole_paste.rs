//! A message that is nothing but the output of a program: it is told by its length, its verdict and what went wrong in it.

use super::pasted::{Origin, lines};

/// Fewer lines are told as they are.
const MIN_LINES: usize = 6;
const MAX_FAULTS: usize = 6;
/// How many of the last lines are told: there a run says how it ended.
const LAST: usize = 3;
const PASTED: &str = " pasted lines, and no words beside them] ";

/// What is told of a message that is all output, if this is one.
pub(crate) fn told_as_pasted(text: &str) -> Option<String> {
    let all = lines(text);
    let is_verdict = |line: &str| matches!(line.trim(), "" | "PASS" | "FAIL" | "OK");
    let is_pasted = all.iter().all(|(origin, line)| *origin == Origin::Output || is_verdict(line));
    let telling: Vec<&str> =
        all.iter().map(|(_, line)| *line).filter(|line| !line.trim().is_empty()).collect();
    if !is_pasted || telling.len() < MIN_LINES {
        return None;
    }
    let (before, last) = telling.split_at(telling.len() - LAST);
    let begins = before.first().into_iter().copied();
    let faults = before.iter().skip(1).copied().filter(|line| names_fault(line)).take(MAX_FAULTS);
    let excerpt: Vec<&str> = begins.chain(faults).chain(last.iter().copied()).collect();
    Some(format!("[{}{PASTED}{}", telling.len(), excerpt.join("\n")))
}

/// Whether this is told of such a message.
pub(crate) fn is_told_as_pasted(text: &str) -> bool {
    text.starts_with('[') && text.contains(PASTED)
}

fn names_fault(line: &str) -> bool {
    const STARTS: &[&str] =
        &["--- FAIL", "FAIL", "E   ", "panic:", "error", "Error", "npm ERR!", "npm error"];
    let line = line.trim();
    STARTS.iter().any(|start| line.starts_with(start))
        || line.contains("Error: ")
        || line.contains(" error: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_told_by_its_end_and_its_failures() {
        let mut log = "[test:e2e] $ go test -tags=e2e -v ./e2e/...\n".to_owned();
        for test in 0..20 {
            log += &format!("=== RUN   TestE2E_{test}\n=== PAUSE TestE2E_{test}\n");
        }
        log += "--- FAIL: TestE2E_3 (3.00s)\n    a_test.go:3: got 1\n--- PASS: TestE2E_4 (3.00s)\nFAIL\nFAIL    shop/e2e    41.069s\n";
        let excerpt = told_as_pasted(&log).expect("a paste");
        assert_eq!(
            excerpt,
            "[46 pasted lines, and no words beside them] [test:e2e] $ go test -tags=e2e -v ./e2e/...\n--- FAIL: TestE2E_3 (3.00s)\n\
             --- PASS: TestE2E_4 (3.00s)\nFAIL\nFAIL    shop/e2e    41.069s"
        );
        assert!(is_told_as_pasted(&excerpt));
        let python = "Run python -m pytest -q\n.FF..      [100%]\n=========== FAILURES ===========\n\ntmp_path = PosixPath('/tmp/x')\n\n\
                      >       code = run_main([\n            \"opk\",\n        ])\nE   ImportError: libEGL\n\n2 failed, 3 passed in 0.41s";
        assert!(told_as_pasted(python).is_some_and(|excerpt| excerpt.contains("2 failed, 3 passed")));
        for words in ["Why is this?\n".to_owned() + &log, log.clone() + "\nFix it.", "Fix it.".to_owned()] {
            assert_eq!(told_as_pasted(&words), None, "{words}");
        }
    }
}
