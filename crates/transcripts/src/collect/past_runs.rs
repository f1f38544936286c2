//! Commands that say nothing of the present: what only staged files, what git took back since, trials with work put aside,
//! calls that never ran, and what is a failed attempt.

use super::calls::{Calls, NO_OUTCOME};
use super::run::Run;
use super::shell_edits;
use super::steps::{git_words, plain_steps};
use super::unstaged::fed_steps;
use super::work_tree::{TreeEvent, tree_events};

impl Calls {
    /// Notes of what failed before that the same program went well with other arguments.
    pub(super) fn note_other_way(&mut self, run: &Run) {
        if run.ok != Some(true) || !self.commands.iter().any(Run::is_failed_trial) {
            return;
        }
        let programs = run.programs();
        let failed = self.commands.items_mut().filter(|failed| failed.is_failed_trial());
        for failed in failed.filter(|failed| failed.at.line < run.at.line) {
            failed.found_another_way |= failed.programs().iter().any(|one| programs.contains(one));
        }
    }

    /// Takes them out. Whatever came after the user's last words stays.
    pub(super) fn drop_past_runs(&mut self, spoke_at: u64, threw_away_at: &[u64]) {
        let undone = self.undone_by_reset();
        let last = self.commands.iter().map(|run| run.at.line).max().unwrap_or(0);
        let (staged_since, unstaged_at) = (self.last_commit_or_reset(), self.unstaged_earlier(spoke_at));
        let commits = self.commands.iter().filter(|run| only_commits(run) && !undone.contains(&run.at.line));
        let last_commit = commits.map(|run| run.at.line).max().unwrap_or(0);
        self.commands.retain(|run| {
            let line = run.at.line;
            let is_in_history = line < last_commit && only_commits(run);
            let never_ran = run.note.as_deref() == Some(super::stopped::NEVER_RAN_WORD) && line < last;
            let no_outcome = run.note.as_deref() == Some(NO_OUTCOME) && line < spoke_at;
            let only_staged = only_stages(&run.command)
                && (line < spoke_at || line <= staged_since)
                && Some(line) != unstaged_at;
            !(undone.contains(&line)
                || threw_away_at.contains(&line)
                || never_ran
                || no_outcome
                || only_staged
                || is_in_history
                || only_moves_stashes(&run.command))
        });
    }

    /// The lines of commits that a reset took back, and of the changes by commands that went into them.
    fn undone_by_reset(&self) -> Vec<u64> {
        let mut undone = Vec::new();
        let all: Vec<&Run> = self.commands.iter().collect();
        for (place, reset) in all.iter().enumerate().filter(|(_, run)| run.ok != Some(false)) {
            let commits = tree_events(&reset.command, "", true).into_iter().find_map(|event| match event {
                TreeEvent::Reset { commits } => commits,
                _ => None,
            });
            let Some(mut left) = commits.filter(|commits| *commits > 0) else { continue };
            let before: Vec<&Run> =
                all[..place].iter().rev().copied().filter(|run| !undone.contains(&run.at.line)).collect();
            for run in before {
                let commits = is_verb(&run.command, "commit") && run.ok != Some(false);
                if commits && left == 0 {
                    break;
                }
                left -= usize::from(commits);
                if commits || !shell_edits::edits(&run.command).is_empty() || only_stages(&run.command) {
                    undone.push(run.at.line);
                }
            }
        }
        undone
    }

    /// The line of the last reset since the user spoke, where it took out what was staged before that: it was told as staged.
    fn unstaged_earlier(&self, spoke_at: u64) -> Option<u64> {
        let ends = |run: &&Run| is_verb(&run.command, "commit") || is_verb(&run.command, "reset");
        let reset = self.commands.iter().rev().find(ends).filter(|run| only_stages(&run.command))?;
        let before = self.commands.iter().filter(|run| run.at.line < reset.at.line);
        let last = before.rev().find(|run| ends(run) || is_verb(&run.command, "add"))?;
        (reset.at.line > spoke_at && last.at.line < spoke_at && is_verb(&last.command, "add"))
            .then_some(reset.at.line)
    }

    /// The line of the last commit or reset: what was staged before it is staged no more.
    fn last_commit_or_reset(&self) -> u64 {
        let ends = |run: &&Run| is_verb(&run.command, "commit") || is_verb(&run.command, "reset");
        self.commands.iter().filter(ends).map(|run| run.at.line).max().unwrap_or(0)
    }
}

fn is_verb(command: &str, wanted: &str) -> bool {
    fed_steps(command).iter().any(|step| git_words(step).is_some_and(|(verb, _)| verb == wanted))
}

/// Whether a line does nothing but put files into the next commit or take them out of it.
fn only_stages(command: &str) -> bool {
    let steps = fed_steps(command);
    let stages = |step: &String| {
        let words = git_words(step);
        words.is_some_and(|(verb, rest)| {
            matches!(verb, "add" | "status" | "diff")
                || (verb == "reset"
                    && !rest.contains(&"--hard")
                    && !rest.iter().any(|word| word.contains(['~', '^'])))
        }) || step.starts_with("echo ")
    };
    let real = |step: &String| git_words(step).is_some_and(|(verb, _)| matches!(verb, "add" | "reset"));
    steps.iter().all(stages) && steps.iter().any(real)
}

/// Whether a line did nothing but commit: the history of the branch tells it.
fn only_commits(run: &Run) -> bool {
    let steps = fed_steps(&run.command);
    let is_of_commit =
        |step: &String| git_words(step).is_some_and(|(verb, _)| matches!(verb, "add" | "commit" | "status"));
    run.ok == Some(true) && is_verb(&run.command, "commit") && steps.iter().all(is_of_commit)
}

/// Whether a line does nothing but put changes aside and back, or ran something between the two.
fn only_moves_stashes(command: &str) -> bool {
    let steps = plain_steps(command);
    let moves = |step: &String| git_words(step).is_some_and(|(verb, _)| verb == "stash");
    puts_aside_and_back(command) || (!steps.is_empty() && steps.iter().all(moves))
}

/// The paths that a line which did nothing but remove them and take changes back removed.
pub(super) fn removed_by(run: &Run) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    for step in plain_steps(&run.command) {
        let words: Vec<&str> = step.split_whitespace().collect();
        match words.as_slice() {
            ["rm", rest @ ..] => {
                let named = rest.iter().filter(|word| !word.starts_with('-'));
                paths.extend(named.map(|word| word.trim_matches(['"', '\'']).to_owned()));
            }
            ["git", "checkout" | "restore", ..] | ["echo", ..] => {}
            _ => return None,
        }
    }
    (run.ok == Some(true) && !paths.is_empty()).then_some(paths)
}

/// Whether a line puts changes aside and back again: what it ran between them ran on other files.
pub(super) fn puts_aside_and_back(command: &str) -> bool {
    let steps = plain_steps(command);
    let stash = |back: bool| {
        steps.iter().position(|step| {
            git_words(step).is_some_and(|(verb, rest)| {
                verb == "stash" && matches!(rest.first(), Some(&("pop" | "apply"))) == back
            })
        })
    };
    stash(false).zip(stash(true)).is_some_and(|(aside, back)| aside < back)
}

#[cfg(test)]
mod tests {
    use super::super::tests::SessionScript;
    use super::*;

    fn commands(script: SessionScript) -> Vec<String> {
        script.summary().commands.into_iter().map(|run| run.command).collect()
    }

    #[test]
    fn what_was_staged_and_committed_or_taken_out_again_is_not_told() {
        let script = SessionScript::new()
            .user("Commit the two apart")
            .run("a", "git add a.rs", 0, "")
            .run("b", "git reset HEAD", 0, "")
            .run("c", "git add b.rs", 0, "")
            .run("d", "./seed.sh", 0, "");
        assert_eq!(commands(script), ["git add b.rs", "./seed.sh"]);
    }

    #[test]
    fn what_a_reset_took_back_is_not_told() {
        let script = SessionScript::new()
            .user("Silence it")
            .run("a", "git commit -m first", 0, "[main 1a2b3c4] first")
            .run("b", "rm a.txt", 0, "")
            .run("c", "git commit -am nolint", 0, "[main 2a2b3c4] nolint")
            .run("d", "git reset --hard HEAD~1", 0, "HEAD is now at 1a2b3c4 first");
        assert_eq!(commands(script), ["git commit -m first", "git reset --hard HEAD~1"]);
    }

    #[test]
    fn what_was_removed_and_made_anew_since_is_not_told() {
        let script = || {
            let script = SessionScript::new().user("Begin anew");
            script.run("b", "git checkout -- . && rm -rf src/parts", 0, "").run("c", "./seed.sh", 0, "")
        };
        assert_eq!(commands(script()), ["git checkout -- . && rm -rf src/parts", "./seed.sh"]);
        let anew = script().edit("d", "src/parts/b.ts").run("e", "./seed.sh --all", 0, "");
        assert_eq!(commands(anew), ["./seed.sh", "./seed.sh --all"]);
    }

    #[test]
    fn a_copy_that_another_path_made_good_is_no_failed_attempt() {
        let names: Vec<&'static str> = (0..150).map(|nth| &*format!("./seed.sh {nth}").leak()).collect();
        let script = SessionScript::new()
            .user("create a new theme")
            .run(
                "a",
                "mkdir -p ~/.pi/themes && cp $(npm root -g)/@x/agent/dist/dark.json ~/.pi/themes/custom.json",
                1,
                "cp: no/dark.json: No such file or directory",
            )
            .run(
                "b",
                "mkdir -p ~/.pi/themes && cp packages/agent/src/dark.json ~/.pi/themes/custom.json",
                0,
                "",
            )
            .edit("c", "src/tui.ts");
        // What made it good is kept no more after so many commands.
        let script = (0..150).fold(script, |script, nth| script.run("n", names[nth], 0, "")).agent("Done.");
        let packet = script.summary();
        assert_eq!(packet.failed_attempts, []);
        assert!(
            !packet.commands.iter().any(|run| run.command.contains("npm root")),
            "{:#?}",
            packet.commands
        );
    }

    #[test]
    fn of_commits_the_last_is_told() {
        let script = SessionScript::new()
            .user("Do it in steps")
            .run("a", "cd /srv/shop && git add -A && git commit -m one", 0, "[main 1a2b3c4] one")
            .run("b", "make deploy && git commit -am two", 0, "[main 2a2b3c4] two")
            .run("d", "git add -A && git commit -m four", 0, "[main 3a2b3c4] four");
        assert_eq!(
            commands(script),
            ["make deploy && git commit -am two", "git add -A && git commit -m four"]
        );
    }

    #[test]
    fn a_trial_with_the_work_put_aside_is_no_check() {
        let script = SessionScript::new()
            .user("Is it ours?")
            .run("a", "git stash && make lint && git stash pop", 0, "Dropped refs/stash@{0}")
            .run("b", "make all", 0, "");
        let summary = script.summary();
        assert_eq!(
            summary.checks.iter().map(|check| check.command.as_str()).collect::<Vec<_>>(),
            ["make all"]
        );
        assert_eq!(summary.commands.len(), 1);
        assert!(
            puts_aside_and_back("git stash; make; git stash pop")
                && !puts_aside_and_back("git stash && make")
        );
    }
}
