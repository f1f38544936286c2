//! Which steps of a command line run in the repository in which the session works: what git says of another one is not told.

use std::borrow::Cow;

use super::Collector;
use super::calls::Calls;
use super::formatters::formatted;
use super::git::is_commit_line;
use super::open_call::Open;
use super::steps::{Step, chain, without_settings};
use super::stopped::{Stopped, ran_out_of_time};
use super::work_tree::{TreeEvent, begun_events, tree_events};
use crate::event::{Category, Outcome};

/// The part of a command line that runs in the session's own repository.
#[derive(Debug, PartialEq)]
pub(super) struct OwnSteps<'a> {
    pub line: Cow<'a, str>,
    /// Whether a step of git ran in another repository, so that the output is not of these steps alone.
    pub is_mixed: bool,
}

/// Stands for an output that is not of the session's own repository alone.
const OF_SEVERAL: &str = "(of several repositories)";

impl OwnSteps<'_> {
    /// What the command printed, as far as it is of these steps alone.
    pub(super) fn output<'o>(&self, output: &'o str) -> &'o str {
        if self.is_mixed { OF_SEVERAL } else { output }
    }
}

impl Calls {
    /// Notes the branch that a record of the tool names, if it is one of the session's own repository.
    pub(super) fn note_branch(&mut self, branch: Option<&str>) {
        branch.into_iter().for_each(|branch| self.git.on_branch(branch));
    }

    /// Notes what a command says of the session's own repository.
    pub(super) fn git_ended(&mut self, open: &Open, outcome: &Outcome<'_>, ok: Option<bool>) {
        let own = open.own_steps(self.root.as_deref());
        let output = own.output(&outcome.output);
        match ok {
            Some(false) if is_unfinished(outcome) => self.git.began(&own.line, open.at.line),
            Some(false) => self.git.failed(&own.line, output),
            _ => self.git.ran(&own.line, output, open.at.line),
        }
    }

    /// A command was stopped: what it was to do may be done.
    pub(super) fn git_stopped(&mut self, open: &Open, stopped: Stopped) {
        if stopped == Stopped::Aborted {
            self.git.began(&open.own_steps(self.root.as_deref()).line, open.at.line);
        }
    }

    /// What a command line did to the files by git, or by a formatter.
    pub(super) fn by_git(&mut self, open: &Open, outcome: &Outcome<'_>) -> Vec<TreeEvent> {
        let elsewhere = self.git.saw_commit_of_others().then_some(TreeEvent::CommittedElsewhere);
        let line = open.own_steps(self.root.as_deref()).line;
        let events = match Stopped::of(outcome) {
            Some(Stopped::Aborted) => begun_events(&line),
            Some(_) => Vec::new(),
            None if is_unfinished(outcome) => begun_events(&line),
            None => tree_events(&line, &outcome.output, outcome.ok != Some(false)),
        };
        let formats = Stopped::of(outcome).is_none_or(|stopped| stopped == Stopped::Aborted);
        let formatted = formats.then(|| formatted(&open.target)).into_iter().flatten();
        elsewhere.into_iter().chain(events).chain(formatted.map(TreeEvent::Formatted)).collect()
    }
}

/// Whether a command took too long, and prints no commit that would tell how far it came.
fn is_unfinished(outcome: &Outcome<'_>) -> bool {
    ran_out_of_time(outcome) && !outcome.output.lines().any(is_commit_line)
}

impl Collector<'_> {
    /// Of what commands without a result were to do to the files it is not known whether they did it, unless git told since.
    pub(super) fn leave_open_what_git_began(&mut self, open: &[Open]) {
        let root = self.root.clone();
        let is_command = |call: &&Open| call.category == Category::Shell && call.at.subagent.is_none();
        for call in open.iter().filter(is_command) {
            if self.calls.git.told_since(call.at.line) {
                continue;
            }
            let line = call.own_steps(root.as_deref()).line;
            self.calls.git.began(&line, call.at.line);
            for event in begun_events(&line) {
                self.files.tree_event(event, root.as_deref(), &call.at);
            }
        }
    }
}

impl Open {
    /// The steps of a command that run in the session's own repository.
    pub(super) fn own_steps(&self, root: Option<&str>) -> OwnSteps<'_> {
        own_steps(&self.target, root, self.cwd.as_deref())
    }
}

/// Whether a folder lies in the repository of the session, as far as both are known and their paths tell.
pub(super) fn is_own_folder(folder: Option<&str>, root: Option<&str>) -> bool {
    folder.zip(root).is_none_or(|(folder, root)| Folder::Known(folder.to_owned()).is_in(root))
}

/// Leaves out the steps that run in another folder than `root` and those below it. `cwd` is where the line begins.
fn own_steps<'a>(line: &'a str, root: Option<&str>, cwd: Option<&str>) -> OwnSteps<'a> {
    let whole = OwnSteps { line: Cow::Borrowed(line), is_mixed: false };
    let Some(root) = root.filter(|_| line.contains("git ")) else { return whole };
    let mut folder = cwd.map_or(Folder::Known(root.to_owned()), |cwd| Folder::Known(cwd.to_owned()));
    let (mut outer, mut own, mut is_mixed) = (Vec::new(), Vec::new(), false);
    let steps = chain(line);
    for step in &steps {
        // A subshell comes back to the folder in which it began.
        let step_text = without_keywords(&step.text);
        let text = step_text.trim_start_matches('(');
        outer.extend((text.len() < step_text.len()).then(|| folder.clone()));
        let text_alone = text.trim_end_matches(')');
        let command = without_settings(text_alone);
        let named = git_settings(text_alone);
        if let (Some(target), true) = (&named, text_alone.starts_with("export ")) {
            folder = folder.enter(target);
        } else if let Some(target) = command.strip_prefix("cd ").or_else(|| command.strip_prefix("pushd ")) {
            folder = folder.enter(target);
        } else {
            let is_git = command.starts_with("git ");
            let begin =
                named.filter(|_| is_git).map_or_else(|| folder.clone(), |target| folder.enter(target));
            let at = if is_git { git_folder(command, &begin) } else { folder.clone() };
            match at.is_in(root) {
                true => own.push(step),
                false => is_mixed |= is_git,
            }
        }
        if text.ends_with(')') && !text.contains('(') {
            folder = outer.pop().unwrap_or(folder);
        }
    }
    if !is_mixed { whole } else { OwnSteps { line: Cow::Owned(joined(&own)), is_mixed } }
}

/// A step without the words of the shell's loops and conditions before it.
fn without_keywords(step: &str) -> &str {
    const KEYWORDS: [&str; 10] =
        ["do ", "then ", "else ", "if ", "elif ", "while ", "until ", "time ", "! ", "{ "];
    let mut rest = step;
    while let Some(shorter) = KEYWORDS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = shorter.trim_start();
    }
    rest
}

/// The repository that the environment names for a step: `GIT_DIR=/srv/x/.git git status`, `export GIT_DIR=…`.
fn git_settings(step: &str) -> Option<&str> {
    let words = step.strip_prefix("export ").unwrap_or(step).split_whitespace();
    let settings = words.take_while(|word| word.contains('='));
    let values = settings.filter_map(|word| {
        let (name, value) = word.split_once('=')?;
        ["GIT_DIR", "GIT_WORK_TREE"].contains(&name).then_some(value)
    });
    values.last()
}

/// The steps as one line again.
fn joined(steps: &[&Step]) -> String {
    let parts = steps.iter().enumerate().map(|(nth, step)| match nth {
        0 => step.text.clone(),
        _ => format!(" {} {}", step.joint, step.text),
    });
    parts.collect()
}

/// A folder, as far as the command line tells it.
#[derive(Debug, Clone, PartialEq)]
enum Folder {
    Known(String),
    Unknown,
}

impl Folder {
    fn enter(&self, target: &str) -> Self {
        let target = target.split(" | ").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        let target = target.strip_prefix("-- ").unwrap_or(target);
        match self {
            // The top of the repository is still the repository.
            _ if target.contains("rev-parse --show-toplevel") => self.clone(),
            _ if target.contains('$') || target.contains('`') || target == "-" || target.is_empty() => {
                Self::Unknown
            }
            _ if is_absolute(target) => Self::Known(target.to_owned()),
            Self::Known(folder) => resolve(folder, target).map_or(Self::Unknown, Self::Known),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Whether it is this folder or below it; a folder above it may be the top of the same repository.
    fn is_in(&self, root: &str) -> bool {
        let Self::Known(folder) = self else { return false };
        let (folder, root) = (folder.trim_end_matches(['/', '\\']), root.trim_end_matches(['/', '\\']));
        // A home or a folder of all projects is no top of a repository.
        let least = if folder.starts_with('~') { 1 } else { 3 };
        let is_deep = folder.matches(['/', '\\']).count() >= least;
        is_at_or_below(folder, root) || (is_at_or_below(root, folder) && is_deep)
    }
}

fn is_at_or_below(folder: &str, top: &str) -> bool {
    folder.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~', '\\']) || path.get(1..2) == Some(":")
}

/// A relative path from a folder; none where it leads above the first one.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().filter(|part| !part.is_empty())?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Where a step of git runs: `-C`, `--git-dir` and `--work-tree` name another folder.
fn git_folder(command: &str, folder: &Folder) -> Folder {
    let mut words = command.split_whitespace().skip(1);
    let mut at = folder.clone();
    while let Some(word) = words.next().filter(|word| word.starts_with('-')) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "-C" => at = at.enter(words.next().unwrap_or_default()),
            "--git-dir" | "--work-tree" => {
                let value = if value.is_empty() { words.next().unwrap_or_default() } else { value };
                at = at.enter(value);
            }
            "-c" => drop(words.next()),
            _ => {}
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(line: &str, cwd: Option<&str>) -> String {
        own_steps(line, Some("/home/you/proj"), cwd).line.into_owned()
    }

    #[test]
    fn steps_in_another_folder_are_left_out() {
        for line in [
            "cd /home/you/playground && git log --oneline -5",
            "git -C /home/you/playground log --oneline -3",
            "git -C ../other status",
            "cd ../playground && git add -A && git commit -m wip",
            "(cd /tmp/x && git status)",
            "cd /tmp && mkdir test && cd test && git init && git commit --allow-empty -m initial",
            "cd \"$DIR\" && git status",
            "cd ~/other && git status",
            "git --git-dir=/srv/other/.git log -1",
            "\\\ncd /tmp/x\n\n# Configure\ngit add -A && git commit -m c",
            "# elsewhere\ncd /tmp/x\ngit commit -am c",
            "GIT_DIR=/tmp/x/.git git commit -am c",
            "export GIT_DIR=/tmp/x/.git; git commit -am c",
            "for r in /tmp/x /tmp/y; do cd $r && git commit -am c; done",
            "if true; then cd /tmp/x; git status; fi",
        ] {
            let found = own_steps(line, Some("/home/you/proj"), None);
            assert!(!found.line.contains("git ") && found.is_mixed, "{line}: {found:?}");
        }
    }

    #[test]
    fn steps_in_the_session_s_own_repository_stay() {
        for line in [
            "git status",
            "cd /home/you/proj && git status",
            "cd /home/you/proj/sub && git commit -m x",
            "cd sub && git add . && cd .. && git status",
            "git -C sub log -1",
            "cd \"$(git rev-parse --show-toplevel)\" && git status",
            "cd /tmp/x && make",
        ] {
            assert_eq!(own(line, None), line);
        }
        let mixed = "(cd /tmp/x && git status) && git commit -m y";
        assert_eq!(own(mixed, None), "git commit -m y");
        assert_eq!(own("cd /srv/x && git log -1 && cd /home/you/proj && git status", None), "git status");
        assert_eq!(own("git status", Some("/home/you/other")), "");
        assert_eq!(own("git status", Some("/home/you/proj/deep")), "git status");
        assert_eq!(own_steps("git status", None, None).line, "git status");
        let top = own_steps("cd /home/you/proj && git status", Some("/home/you/proj/crates/x"), None);
        assert!(!top.is_mixed, "the folder above may be the top of the repository");
    }
}
