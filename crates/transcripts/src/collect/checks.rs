//! The last state of everything that was run: each step of a command line once, with how it ended last.

use std::borrow::Cow;

use super::Location;
use super::importance::{Importance, importance, makes_good};
use super::piped::{PipeEnd, UNKNOWN_CODE};
use crate::shared::words::one_line;

const MAX_CHECKS: usize = 60;
const MAX_COMMAND: usize = 240;
/// How it is told that a check passed since.
const MADE_GOOD: &str = "made good since";

/// A step and how it ended when it was run last.
#[derive(Debug, Clone)]
pub(super) struct Check {
    /// The step as it was typed last.
    pub command: String,
    /// Its exit code; absent where it is not known which step of several failed.
    pub exit_code: Option<i64>,
    /// What is known in place of a code.
    pub note: Option<String>,
    /// Place of the last run.
    pub at: Location,
    /// What makes two steps the same.
    key: String,
    runs: u64,
    worth: Importance,
    last: u64,
    /// The line on which it passed last.
    passed_at: Option<u64>,
}

/// Steps by their last run, the latest last.
#[derive(Debug, Default)]
pub(super) struct Checks {
    list: Vec<Check>,
    runs: u64,
}

impl Checks {
    /// A command line ended; what is known of its steps that ran through a pipe is told apart.
    pub(super) fn ran(
        &mut self,
        line: &str,
        exit_code: Option<i64>,
        ok: Option<bool>,
        piped: Option<&PipeEnd>,
        at: &Location,
    ) {
        self.runs += 1;
        let steps = chain(line);
        let telling: Vec<usize> = (0..steps.len()).filter(|at| is_work(&steps[*at].text)).collect();
        for &index in &telling {
            let by_output = piped.filter(|_| pipe(&steps[index].text).is_some()).and_then(PipeEnd::word);
            let (code, note) = match by_output {
                Some(word) => (None, Some(word)),
                None => outcome(&steps, index, exit_code, ok),
            };
            self.put(&steps[index].text, code, note, at);
        }
    }

    fn put(&mut self, text: &str, exit_code: Option<i64>, note: Option<String>, at: &Location) {
        if text.chars().count() > MAX_COMMAND {
            return;
        }
        let key = bare(text).to_owned();
        let known = self.list.iter().position(|check| check.key == key);
        let before = known.map(|slot| self.list.remove(slot));
        let passed_before = before.as_ref().and_then(|check| check.passed_at);
        let passed_at = if exit_code == Some(0) { Some(at.line) } else { passed_before };
        let runs = before.map_or(0, |check| check.runs) + 1;
        let worth = importance(text);
        let command = text.replace(" 2>&1", "");
        self.list.push(Check {
            command,
            exit_code,
            note,
            at: at.clone(),
            key,
            runs,
            worth,
            last: self.runs,
            passed_at,
        });
        if self.list.len() > MAX_CHECKS {
            self.list.remove(0);
        }
    }

    /// Whether every step of a command line that failed there has passed since.
    pub(super) fn passed_since(&self, line: &str, at: &Location) -> bool {
        let steps = work_steps(line);
        !steps.is_empty() && steps.iter().all(|step| self.has_passed(step, at))
    }

    /// Says of the failed steps of a line that another command made them good.
    pub(super) fn mended(&mut self, line: &str, by: &str) {
        let keys: Vec<String> = work_steps(line).iter().map(|step| bare(&step.text).to_owned()).collect();
        let failed = |check: &&mut Check| check.exit_code != Some(0) && keys.contains(&check.key);
        for check in self.list.iter_mut().filter(failed) {
            check.note = Some(format!("{MADE_GOOD} by `{}`", one_line(by, 80)));
        }
    }

    /// Whether the step that failed by its output there has passed since: the only one with a pipe, behind steps that passed,
    /// since it would not have run otherwise.
    pub(super) fn piped_step_passed_since(&self, line: &str, at: &Location) -> bool {
        let all_joined = chain(line).iter().all(|step| matches!(step.joint, "" | "&&"));
        let mut piped = work_steps(line).into_iter().filter(|step| pipe(&step.text).is_some());
        let (step, more) = (piped.next(), piped.next());
        step.is_some_and(|step| all_joined && more.is_none() && self.has_passed(&step, at))
    }

    /// The steps of a command line that failed there which have not passed since; the whole line where none has.
    pub(super) fn still_failing(&self, line: &str, at: &Location) -> String {
        let steps = work_steps(line);
        let failing: Vec<&str> =
            steps.iter().filter(|step| !self.has_passed(step, at)).map(|step| step.text.as_str()).collect();
        if failing.is_empty() || failing.len() == steps.len() {
            line.to_owned()
        } else {
            failing.join(" && ")
        }
    }

    fn has_passed(&self, step: &Step, at: &Location) -> bool {
        let same = |check: &&Check| check.key == bare(&step.text);
        // A run of which it is not known how it ended takes nothing back.
        let is_unknown = |check: &Check| {
            check.exit_code.is_none() && check.note.as_deref().is_none_or(|note| note.ends_with(UNKNOWN_CODE))
        };
        let good = |check: &Check| {
            check.passed_at.is_some_and(|line| line > at.line)
                && (check.exit_code == Some(0) || is_unknown(check))
        };
        self.list.iter().find(same).is_some_and(good)
    }

    /// Says of what failed which run has made it good since, or which tests passed later without it.
    fn note_what_passed_later(&mut self) {
        let passed: Vec<(String, u64, Importance)> = self
            .list
            .iter()
            .filter(|check| check.exit_code == Some(0))
            .map(|check| (check.command.clone(), check.at.line, check.worth))
            .collect();
        let has_failed = |check: &&mut Check| {
            let is_told = |note: &str| note.ends_with(UNKNOWN_CODE) || note.starts_with(MADE_GOOD);
            check.exit_code != Some(0)
                && (check.exit_code.is_some() || check.note.is_some())
                && !check.note.as_deref().is_some_and(is_told)
        };
        for check in self.list.iter_mut().filter(has_failed) {
            let later = || passed.iter().filter(|(_, line, _)| *line > check.at.line);
            let note = match later().find(|(command, ..)| makes_good(&check.command, command)) {
                Some((command, ..)) => format!("{MADE_GOOD} by `{}`", one_line(command, 80)),
                None => {
                    let tests = later().filter(|(.., worth)| *worth == Importance::Test);
                    let Some((command, ..)) = tests.max_by_key(|(_, line, _)| *line) else { continue };
                    let before = check.note.as_deref().map(|note| format!("{note}; ")).unwrap_or_default();
                    format!("{before}not run again, `{}` passed later", one_line(command, 80))
                }
            };
            check.note = Some(note);
        }
    }

    /// The steps, those that the next agent is most likely to run again first: tests, then other work; often, lately, and in
    /// few words, because a long command line asked one question.
    pub(super) fn in_order(mut self) -> Vec<Check> {
        self.note_what_passed_later();
        let all = self.runs.max(1);
        let worth = |check: &Check| {
            let kind = match check.worth {
                Importance::Test => 4,
                Importance::Work => 3,
                Importance::Some | Importance::Look => 0,
            };
            let length = check.command.chars().count().min(120) as i64;
            kind * 100 + check.runs.min(10) as i64 * 60 + (check.last * 300 / all) as i64 - length * 3
        };
        self.list.sort_by_key(|check| std::cmp::Reverse(worth(check)));
        self.list
    }
}

/// A step of a command line, and what joins it to the one before it.
#[derive(Debug, PartialEq)]
struct Step {
    text: String,
    /// `&&`, `||` or `;`; the first has none.
    joint: &'static str,
}

/// The steps of a command line that do something.
fn work_steps(line: &str) -> Vec<Step> {
    chain(line).into_iter().filter(|step| is_work(&step.text)).collect()
}

/// How a step ended, as far as the end of the whole line tells: all steps of a chain of `&&` that ended well did, the
/// last did as the whole. Which step of several failed is not known.
fn outcome(
    steps: &[Step],
    index: usize,
    exit_code: Option<i64>,
    ok: Option<bool>,
) -> (Option<i64>, Option<String>) {
    let after = &steps[index + 1..];
    let Some(code) = exit_code else {
        return match ok {
            Some(false) => (None, Some("failed".to_owned())),
            _ => (None, None),
        };
    };
    let alone = steps.iter().filter(|step| !step.text.starts_with("cd ")).count() == 1;
    let all_joined = after.iter().all(|step| step.joint == "&&");
    let sure = steps[..=index].iter().all(|step| step.joint != "||");
    match code {
        _ if alone => (Some(code), None),
        0 if all_joined && sure => (Some(0), None),
        0 => (None, None),
        _ if after.is_empty() && steps[index].joint == ";" => (Some(code), None),
        _ => (None, Some(format!("in a chain that ended with exit {code}"))),
    }
}

/// The checks of a command line that ran through a pipe, without the filters.
pub(super) fn piped_commands(line: &str) -> Vec<String> {
    let steps = chain(line).into_iter().filter(|step| is_work(&step.text) && pipe(&step.text).is_some());
    steps.map(|step| without_settings(bare(&step.text)).to_owned()).collect()
}

/// For each check of a command line that ran through a pipe, the filters that it ran through.
pub(super) fn piped_steps(line: &str) -> Vec<Vec<String>> {
    chain(line).iter().filter(|step| is_work(&step.text)).filter_map(|step| pipe(&step.text)).collect()
}

/// The filters through which a check runs, if it is one and there are any.
fn pipe(step: &str) -> Option<Vec<String>> {
    let (mut quote, mut before, mut bars) = (None, ' ', Vec::new());
    for (at, c) in step.char_indices() {
        match (quote, c) {
            _ if before == '\\' => {}
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            // `>|` writes to a file.
            (None, '|') if before != '>' => bars.push(at),
            _ => {}
        }
        before = if before == '\\' { ' ' } else { c };
    }
    let first = step.get(..*bars.first()?)?;
    let ends = bars.iter().skip(1).copied().chain([step.len()]);
    let filters = bars.iter().zip(ends).filter_map(|(from, to)| step.get(from + 1..to));
    let bare = |filter: &str| filter.trim_start_matches('&').trim().to_owned();
    (importance(first) >= Importance::Work).then(|| filters.map(bare).collect())
}

/// Whether a step does something; git has its own section.
fn is_work(step: &str) -> bool {
    let step = bare(step);
    let first = step.trim_start_matches(['(', '{', ' ']).split_whitespace().next().unwrap_or_default();
    let named = first.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'));
    let is_setting = first.split_once('=').is_some_and(|(_, value)| value.starts_with(['$', '`', '"']));
    let looks = importance(step.trim_start_matches(['(', '{', ' '])) == Importance::Look;
    let fetches = first == "curl" && !["localhost", "127.0.0.1"].iter().any(|host| step.contains(host));
    named
        && !fetches
        && !is_setting
        && !NO_CHECKS.contains(&first)
        && !asks_a_program_about_itself(step)
        && !looks
}

/// Whether a program is asked for its version or its usage.
fn asks_a_program_about_itself(step: &str) -> bool {
    let words: Vec<&str> = step.split_whitespace().collect();
    matches!(
        words.as_slice(),
        [_, .., "--version" | "--help" | "-V"] | [_, "version" | "help" | "linters", ..]
    )
}

/// Words of the shell, and programs whose outcome says nothing about the work.
const NO_CHECKS: &[&str] = &[
    "git", "gh", "exit", "return", "for", "while", "until", "do", "done", "if", "then", "elif", "else", "fi",
    "case", "esac", "kill", "pkill", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "read", "wait",
    "trap", "break", "continue", "unset", "alias", "pushd", "popd", "tee", "xargs", "rmdir", "curl", "wget",
    "code", "open", "claude", "sed", "perl",
];

/// The step without redirections and what only shortens its output.
fn bare(step: &str) -> &str {
    let first = step.split(" | ").next().unwrap_or(step);
    let end = [" 2>", " >", " &>"].iter().filter_map(|mark| first.find(mark)).min().unwrap_or(first.len());
    first[..end].trim()
}

/// The command of each step of a line: without settings of the environment, filters, redirections, and changes of the folder.
pub(super) fn plain_steps(line: &str) -> Vec<String> {
    let steps = chain(line).into_iter().map(|step| without_settings(bare(&step.text)).to_owned());
    steps.filter(|step| !step.is_empty() && !step.starts_with("cd ")).collect()
}

/// A command without the settings of the environment before it.
pub(super) fn without_settings(command: &str) -> &str {
    let mut rest = command.trim_start();
    while let Some((name, value)) = rest.split_once('=') {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let end = match value.chars().next() {
            Some(mark @ ('\'' | '"')) => value[1..].find(mark).map(|at| at + 2),
            _ => value.find(char::is_whitespace),
        };
        let Some(end) = end.filter(|_| is_name) else { break };
        rest = value[end..].trim_start();
    }
    rest
}

/// A command line without the texts of its here-documents; what follows a text that does not end is not known.
fn without_here_documents(line: &str) -> Cow<'_, str> {
    let Some((before, after)) = line.split_once("<<") else { return Cow::Borrowed(line) };
    let (opening, text) = after.split_once('\n').unwrap_or((after, ""));
    let mark = opening.trim_start_matches(['-', ' ']);
    let end =
        mark.find(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '"' | '_')).unwrap_or(mark.len());
    let (tag, rest) = (mark[..end].trim_matches(['\'', '"']), &mark[end..]);
    let mut lines = text.split_inclusive('\n');
    let closed = !tag.is_empty() && lines.by_ref().any(|line| line.trim() == tag);
    match closed {
        true => {
            let left: String = lines.collect();
            Cow::Owned(format!("{before}{rest}\n{}", without_here_documents(&left)))
        }
        false => Cow::Borrowed(before),
    }
}

/// The steps of a chain; pipes belong to their step, and what stands in quotes is not looked into.
fn chain(line: &str) -> Vec<Step> {
    let line = without_here_documents(line);
    let line = line.as_ref();
    let mut all = Vec::new();
    let (mut start, mut quote, mut escaped, mut skip, mut joint) = (0, None, false, 0, "");
    let mut end = |from: usize, to: usize, joint: &'static str| {
        let text = line.get(from..to).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            all.push(Step { text, joint });
        }
    };
    for (at, c) in line.char_indices() {
        if at < skip {
            continue;
        }
        let rest = line.get(at..).unwrap_or_default();
        let mark = ["&&", "||", ";", "\n"].into_iter().find(|mark| rest.starts_with(mark));
        match (quote, c) {
            _ if escaped => escaped = false,
            (open, '\\') if open != Some('\'') => escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, _) => {
                let Some(mark) = mark else { continue };
                end(start, at, joint);
                joint = if mark == "\n" { ";" } else { mark };
                start = at + mark.len();
                skip = start;
            }
            _ => {}
        }
    }
    end(start, line.len(), joint);
    all
}

/// Whether a chain that ended well ran this step, or these steps, and nothing between them changed the folder.
pub(super) fn ran_in(failed: &str, passed: &str) -> bool {
    let (failed, passed) = (chain(failed), chain(passed));
    if passed.iter().any(|step| matches!(step.joint, "||" | ";")) {
        return false;
    }
    let folder = |steps: &[Step]| -> Vec<String> {
        steps.iter().filter(|step| step.text.starts_with("cd ")).map(|step| step.text.clone()).collect()
    };
    let wanted: Vec<&str> =
        failed.iter().filter(|step| !step.text.starts_with("cd ")).map(|step| bare(&step.text)).collect();
    let piped = |step: &Step| step.text.contains(" | ");
    let ran = |wanted: &&str| passed.iter().any(|step| bare(&step.text) == *wanted && !piped(step));
    !wanted.is_empty() && folder(&failed) == folder(&passed) && wanted.iter().all(ran)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(runs: &[(&str, i64)]) -> Vec<(String, Option<i64>, Option<String>)> {
        let mut checks = Checks::default();
        for (line, code) in runs {
            checks.ran(line, Some(*code), Some(*code == 0), None, &Location::default());
        }
        checks.list.into_iter().map(|check| (check.command, check.exit_code, check.note)).collect()
    }

    #[test]
    fn every_step_of_a_chain_that_ended_well_did() {
        let wanted =
            [("mise run fmt".to_owned(), Some(0), None), ("mise run lint".to_owned(), Some(0), None)];
        assert_eq!(states(&[("mise run lint", 1), ("cd a && mise run fmt && mise run lint", 0)]), wanted);
    }

    #[test]
    fn which_step_of_a_chain_failed_is_not_guessed() {
        let in_chain = Some("in a chain that ended with exit 2".to_owned());
        let wanted = [("make a".to_owned(), None, in_chain.clone()), ("make b".to_owned(), None, in_chain)];
        assert_eq!(states(&[("make a && make b", 2)]), wanted);
        assert_eq!(states(&[("make a; echo done", 0)]), [("make a".to_owned(), None, None)]);
        assert_eq!(states(&[("make a || make b", 0)]).first().map(|check| check.1), Some(None));
    }

    #[test]
    fn a_step_is_one_whatever_shortens_its_output() {
        let told = states(&[("go test ./... 2>&1 | tail -5", 0), ("go test ./...", 1)]);
        assert_eq!(told, [("go test ./...".to_owned(), Some(1), None)]);
        assert_eq!(
            states(&[("cat a && ls", 0), ("git push", 0), ("printf y | git add -p", 0), ("exit $X", 0)]),
            []
        );
    }

    #[test]
    fn a_chain_is_made_good_step_by_step() {
        let mut checks = Checks::default();
        let at = |line| Location { line, agent: None };
        checks.ran("make a && make b", Some(1), Some(false), None, &at(1));
        checks.ran("make a", Some(0), Some(true), None, &at(2));
        assert!(!checks.passed_since("make a && make b", &at(1)));
        checks.ran("make c && make b", Some(0), Some(true), None, &at(3));
        assert!(checks.passed_since("make a && make b", &at(1)));
        assert!(!checks.passed_since("make a && make b", &at(3)));
        assert_eq!(checks.still_failing("make a && make b && make d", &at(1)), "make d");
        assert_eq!(checks.still_failing("make d && make e", &at(1)), "make d && make e");
    }
}
