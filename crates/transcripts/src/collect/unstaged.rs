//! Files that were put into the next commit and taken out of it again: what was said of them before no longer holds.

use super::run::Run;
use super::steps::{bare, chain, git_words, without_settings};
use super::{Collector, SourceRef};
use crate::shared::words::{has_phrase, one_line};

/// How many files are named.
const MAX_NAMED: usize = 8;
/// Programs that only answer what `git add -p` asks.
const FEEDERS: &[&str] = &["printf", "echo", "yes"];

/// What a step does to the next commit.
#[derive(Debug, PartialEq, Eq)]
enum Staging {
    /// Puts these files in; all of them where none is named. Of some only parts, which the user chose.
    In { files: Vec<String>, in_part: bool },
    /// Takes these files out; all of them where none is named.
    Out(Vec<String>),
    /// Makes the commit; whether it takes in every changed file, and else those that it names besides.
    Commit { all: bool, files: Vec<String> },
}

impl Collector<'_> {
    /// What no longer holds of what was said to be in the next commit, or in the last one.
    pub(super) fn unstaged(&self) -> Option<(String, &SourceRef)> {
        let left_out = || self.left_out_of_a_commit().filter(|_| self.calls.git.dirty != Some(false));
        self.unstaged_since_the_answer().or_else(left_out)
    }

    /// The last answer says what is staged, and a later command took it out again.
    fn unstaged_since_the_answer(&self) -> Option<(String, &SourceRef)> {
        let answer = self.answer_to_tell().filter(|answer| speaks_of_staging(&answer.text))?;
        let later: Vec<&Run> = self
            .calls
            .commands
            .iter()
            .filter(|run| run.at.line > answer.at.line && run.ok != Some(false))
            .collect();
        let takes_out = |run: &&Run| {
            stagings(&run.command).iter().any(|one| match one {
                Staging::Out(files) => files.is_empty() || files.iter().any(|file| names(&answer.text, file)),
                _ => false,
            })
        };
        let place = later.iter().rposition(takes_out)?;
        let (run, since) = (later[place], &later[place + 1..]);
        let commits =
            |run: &&Run| stagings(&run.command).iter().any(|one| matches!(one, Staging::Commit { .. }));
        if since.iter().any(commits) {
            return None;
        }
        let again: Vec<Staging> = since.iter().flat_map(|run| stagings(&run.command)).collect();
        let again = self.staged_again(&again);
        let command = one_line(&run.command, 120);
        let text = format!("`{command}` took files out that the last answer calls staged{again}");
        Some((text, &run.at))
    }

    /// What was put in again, whole and in part.
    fn staged_again(&self, stagings: &[Staging]) -> String {
        let files = |part: bool| -> Vec<&String> {
            let of = |one: &'_ Staging| matches!(one, Staging::In { in_part, .. } if *in_part == part);
            stagings.iter().filter(|one| of(one)).flat_map(Staging::files).collect()
        };
        let named = |what: &str, files: &[&String]| match files {
            [] => String::new(),
            files => format!("; {what}: {}", self.listed(files)),
        };
        named("staged since", &files(false)) + &named("in part", &files(true))
    }

    /// Files by their names, and by their paths where the session changed two of one name.
    fn listed(&self, files: &[&String]) -> String {
        let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let is_only = |file: &str| self.files.paths().filter(|path| base(path) == base(file)).count() <= 1;
        let name = |file: &&String| match is_only(file) {
            true => format!("`{}`", base(file)),
            false => format!("`{file}`"),
        };
        let mut shown: Vec<String> = files.iter().take(MAX_NAMED).map(name).collect();
        if files.len() > MAX_NAMED {
            shown.push(format!("{} more", files.len() - MAX_NAMED));
        }
        shown.join(", ")
    }

    /// A file was taken out before a commit whose message names it, and is in no later one.
    pub(super) fn left_out_of_a_commit(&self) -> Option<(String, &SourceRef)> {
        let runs: Vec<&Run> = self.calls.commands.iter().filter(|run| run.ok != Some(false)).collect();
        let mut out: Vec<String> = Vec::new();
        let mut found: Option<(String, &SourceRef)> = None;
        for run in runs {
            for staging in stagings(&run.command) {
                match staging {
                    Staging::Out(files) => out.extend(files),
                    Staging::In { files, .. } => {
                        let is_in =
                            |file: &String| files.is_empty() || files.iter().any(|put| meets(put, file));
                        out.retain(|file| !is_in(file));
                        found.take_if(|(file, _)| is_in(file));
                    }
                    Staging::Commit { all: true, .. } => {
                        out.clear();
                        found = None;
                    }
                    // What was left out of this one may be in the next by other ways.
                    Staging::Commit { all: false, files } => {
                        let is_in = |file: &String| files.iter().any(|put| meets(put, file));
                        found.take_if(|(file, _)| is_in(file));
                        let left = |file: &&String| names(&run.command, file) && !is_in(file);
                        let named = out.iter().find(left).cloned();
                        found = named.map(|file| (file, &run.at)).or(found);
                        out.clear();
                    }
                }
            }
        }
        found.map(|(file, at)| {
            (
                format!(
                    "`{file}` was taken out before the commit whose message names it: it is not committed"
                ),
                at,
            )
        })
    }
}

/// Whether a text says what is in the next commit.
fn speaks_of_staging(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["staged", "unstaged", "git add"].iter().any(|word| has_phrase(&lower, word))
}

/// Whether a text names a file, by its path or by its name. A word of no sign, as `tests`, is none of a folder.
fn names(text: &str, file: &str) -> bool {
    let path = file.trim_end_matches('/');
    let has_sign = |c: char| matches!(c, '.' | '/' | '_') || c.is_uppercase();
    let has = |name: &str| match name.contains(has_sign) {
        true => has_phrase(text, name),
        false => text.contains(&format!("{name}/")),
    };
    has(path) || has(path.rsplit('/').next().unwrap_or(path))
}

/// Whether what is put in may be this file, hold it, or lie in it; `src/*.rs` may be any file of its folder.
fn meets(put: &str, file: &str) -> bool {
    let whole = put.trim_start_matches(":/").trim_start_matches("./");
    let fixed = whole.split(['*', '?', '[', '{']).next().unwrap_or(whole);
    holds(whole, file) || holds(file, whole) || (fixed.len() < whole.len() && file.starts_with(fixed))
}

/// Whether a path is this file or a folder that holds it.
fn holds(path: &str, file: &str) -> bool {
    path == "."
        || path == file
        || file.strip_prefix(path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

impl Staging {
    /// The files that it names.
    fn files(&self) -> &[String] {
        match self {
            Self::In { files, .. } | Self::Out(files) => files,
            Self::Commit { .. } => &[],
        }
    }
}

/// The commands of a line, each without a program that only answers what it asks.
pub(super) fn fed_steps(line: &str) -> Vec<String> {
    let fed = |text: &str| -> String {
        let (first, rest) = text.split_once(" | ").unwrap_or((text, ""));
        let is_feeder = first.split_whitespace().next().is_some_and(|word| FEEDERS.contains(&word));
        let text = if is_feeder && rest.starts_with("git ") { rest } else { text };
        without_settings(bare(text)).to_owned()
    };
    let steps = chain(line).into_iter().map(|step| fed(&step.text));
    steps.filter(|step| !step.is_empty() && !step.starts_with("cd ") && !step.starts_with('#')).collect()
}

/// What the steps of a line do to the next commit.
fn stagings(line: &str) -> Vec<Staging> {
    fed_steps(line).iter().filter_map(|step| staging(step)).collect()
}

fn staging(step: &str) -> Option<Staging> {
    let (verb, rest) = git_words(step)?;
    let files = || -> Vec<String> {
        let is_file = |word: &&&str| !word.starts_with('-') && !matches!(**word, "HEAD" | "@" | "\\");
        rest.iter().filter(is_file).map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
    };
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(word));
    match verb {
        "add" => {
            let all = has(&["-A", "--all", "-u", "--update", "."]);
            let in_part = has(&["-p", "--patch", "-i", "--interactive", "-e", "--edit"]);
            Some(Staging::In { files: if all { Vec::new() } else { files() }, in_part })
        }
        "reset" if has(&["--hard", "--soft", "--merge", "--keep"]) => None,
        // It goes to another commit.
        "reset" if rest.iter().any(|word| word.contains(['~', '^'])) => None,
        "reset" => Some(Staging::Out(files())),
        "restore" if has(&["--staged", "-S"]) => Some(Staging::Out(files())),
        "rm" if has(&["--cached"]) => Some(Staging::Out(files())),
        "commit" if !has(&["--dry-run"]) => {
            let all = rest.iter().any(|word| {
                *word == "--all" || (word.starts_with('-') && !word.starts_with("--") && word.contains('a'))
            });
            let files = rest.iter().skip_while(|word| **word != "--").skip(1);
            let files: Vec<String> = files.map(|word| word.trim_matches(['"', '\'']).to_owned()).collect();
            Some(Staging::Commit { all, files })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SessionScript, texts};

    const ANSWER: &str =
        "Done.\n\n**Staged (types):**\n- `explain.rs` - the new type\n- `resume.rs` - a conversion";

    #[test]
    fn what_is_staged_no_more_is_not_left_to_be_believed() {
        let script = SessionScript::new()
            .user("Stage the changes of the types, and leave the refactoring out of it")
            .run("a", "git add explain.rs resume.rs", 0, "")
            .agent(ANSWER)
            .user("sorry I messed up, can you do it again")
            .run("b", "git reset HEAD", 0, "Unstaged changes after reset:\nM\texplain.rs")
            .run("c", "git add src/explain.rs", 0, "")
            .run("d", "printf 'y\\nn\\n' | git add -p src/resume.rs", 0, "(1/2) Stage this hunk?");
        let summary = script.summary();
        assert_eq!(
            texts(&summary.open_loops),
            [
                "`git reset HEAD` took files out that the last answer calls staged; staged since: `explain.rs`; in part: `resume.rs`"
            ]
        );
        let commands: Vec<&str> = summary.commands.iter().map(|run| run.command.as_str()).collect();
        assert_eq!(
            commands,
            ["git reset HEAD", "git add src/explain.rs", "printf 'y\\nn\\n' | git add -p src/resume.rs"]
        );
    }

    #[test]
    fn an_answer_about_other_files_stands() {
        let open_points = |command: &'static str| {
            let script = SessionScript::new()
                .user("Stage the changes of the types, and leave the refactoring out of it")
                .run("a", "git add explain.rs", 0, "")
                .agent(ANSWER)
                .user("and unstage the other one")
                .run("b", command, 0, "");
            script.summary().open_loops.len()
        };
        assert_eq!(open_points("git restore --staged src/explain.rs"), 1);
        assert_eq!(open_points("git reset HEAD other.rs"), 0);
        assert_eq!(open_points("git reset --soft HEAD~1"), 0);
    }

    #[test]
    fn a_file_that_was_taken_out_is_not_in_the_commit_that_names_it() {
        let state = |last: &'static str| {
            let script = SessionScript::new()
                .user("Commit the parser")
                .edit("a", "parser.rs")
                .edit("b", "lexer.rs")
                .run("c", "git add parser.rs lexer.rs", 0, "")
                .run("d", "git reset HEAD lexer.rs", 0, "Unstaged changes after reset:\nM\tlexer.rs")
                .run("e", "git commit -m 'Mend parser.rs and lexer.rs'", 0, "[main 1a2b3c4] Mend")
                .run("f", last, 0, "")
                .agent("Committed.");
            let summary = script.summary();
            (summary.open_loops.len(), summary.git.and_then(|git| git.dirty))
        };
        assert_eq!(state("true"), (1, Some(true)));
        assert_eq!(state("git add -A && git commit --amend --no-edit").0, 0);
    }
}
