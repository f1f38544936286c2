//! Facts that are actions: the plan, files, commands, git, and what was undone.

use crate::fact::{Check, Fact};
use crate::noise;
use crate::phrase::fill;
use crate::plant::{Plot, plain};
use crate::story::{State, Step};

/// A plan that changes, and what comes next.
pub fn plan(plot: &mut Plot) {
    let tasks = plot.random.shuffled(plot.world.tasks);
    let items = plot.random.in_range(6, 10);
    let done = plot.random.in_range(1, items - 2);
    let last = plot.last();
    for step in 0..=done {
        let turn = (1 + step * (last - 2) / (done + 1)).min(last - 1);
        let state = |at: usize| match at {
            at if at < step => State::Done,
            at if at == step => State::Doing,
            _ => State::Open,
        };
        let list = tasks[..items].iter().enumerate().map(|(at, task)| ((*task).to_owned(), state(at)));
        plot.turns[turn].steps.push(Step::Plan(list.collect()));
    }
    for (at, task) in tasks[..items].iter().enumerate() {
        let state = match at {
            at if at < done => "done",
            at if at == done => "doing",
            _ => "open",
        };
        plot.facts.push(Fact::new(2, Check::Item { title: (*task).to_owned(), state: state.to_owned() }));
    }
    let phrase = fill(plot.random.pick(plot.phrases.next), &[('n', tasks[items])]);
    plot.turns[last].close.push(phrase.text.clone());
    plot.words(2, &phrase);
}

/// Files that are changed, and edits that were refused.
pub fn files(plot: &mut Plot) {
    let files = plot.random.shuffled(plot.world.files);
    let count = (6 + plot.turns.len() / 12).min(20);
    for (at, path) in files[..count].iter().enumerate() {
        let (turn, again) = (plot.middle(), plot.middle());
        let path = (*path).to_owned();
        let mut how = "modified";
        let mut from = None;
        let edit = edit(plot, &path, None);
        match at {
            0 => {
                how = "deleted";
                plot.turns[turn].steps.push(Step::Delete(path.clone()));
            }
            1 => {
                let new = path.replacen('.', "_new.", 1);
                how = "renamed";
                plot.turns[turn].steps.push(Step::Rename(path.clone(), new.clone()));
                from = Some(path.clone());
                push_file(plot, new, how, from.clone());
                continue;
            }
            at if at % 3 == 2 => {
                how = "created";
                let content = noise::code(&mut plot.random, 12);
                plot.turns[turn].steps.push(Step::Create { path: path.clone(), content });
            }
            _ => {
                if plot.random.chance(40) {
                    let refused = self::edit(plot, &path, Some("String to replace not found in file."));
                    plot.turns[turn].steps.push(refused);
                }
                plot.turns[turn].steps.push(edit);
                if plot.random.chance(40) {
                    let edit = self::edit(plot, &path, None);
                    plot.turns[again].steps.push(edit);
                }
            }
        }
        push_file(plot, path, how, from);
    }
    for path in &files[count..count + 2] {
        let turn = plot.middle();
        let refused = edit(plot, path, Some("String to replace not found in file."));
        plot.turns[turn].steps.push(refused);
        let check = Check::File { path: (*path).to_owned(), how: "modified".into(), from: None };
        plot.facts.push(Fact::lure(3, check));
    }
}

fn push_file(plot: &mut Plot, path: String, how: &str, from: Option<String>) {
    plot.facts.push(Fact::new(3, Check::File { path, how: how.to_owned(), from }));
}

fn edit(plot: &mut Plot, path: &str, refused: Option<&'static str>) -> Step {
    let lines = plot.random.in_range(1, 8);
    let old = noise::code(&mut plot.random, lines);
    let new = noise::code(&mut plot.random, lines + 1);
    Step::Edit { path: path.to_owned(), old, new, refused }
}

/// A request that was undone with everything that followed from it.
pub fn undone(plot: &mut Plot) {
    let turn = plot.middle();
    let path = "experiments/undone.txt".to_owned();
    let request = "Write the whole thing in Haskell instead.".to_owned();
    let steps = vec![
        Step::User(request.clone()),
        Step::Create { path: path.clone(), content: "main = pure ()\n".into() },
        Step::Agent("I decided to use Haskell instead of the old language because you asked for it.".into()),
    ];
    plot.turns[turn].steps.push(Step::Undone(steps));
    plot.facts.push(Fact::lure(1, plain(&request)));
    plot.facts.push(Fact::lure(3, Check::File { path, how: "created".into(), from: None }));
    plot.facts.push(Fact::lure(5, plain("I decided to use Haskell instead of the old language")));
}

/// A commit, and changes after it.
pub fn git(plot: &mut Plot) -> String {
    let branch = plot.random.pick(plot.world.branches).to_owned();
    let id = plot.random.hex(7);
    let (half, last) = (plot.turns.len() / 2, plot.last());
    let turn = plot.random.in_range(half, last - 1);
    let path = plot.random.pick(plot.world.files);
    plot.turns[1].steps.push(shell(
        format!("git checkout -b {branch}"),
        0,
        format!("Switched to a new branch '{branch}'\n"),
    ));
    let subject = plot.random.pick(plot.world.tasks);
    plot.turns[turn].steps.push(shell(
        format!("git add -A && git commit -m '{subject}'"),
        0,
        format!("[{branch} {id}] {subject}\n 3 files changed, 41 insertions(+), 7 deletions(-)\n"),
    ));
    plot.turns[last].steps.push(shell("git status --short".into(), 0, format!(" M {path}\n")));
    let command = format!("git commit -m '{subject}'");
    plot.facts.push(Fact::new(8, Check::Branch { name: branch.clone() }));
    plot.facts.push(Fact::new(8, Check::Commit { id }));
    plot.facts.push(Fact::new(8, Check::Dirty));
    plot.facts.push(Fact::new(4, Check::Command { command, exit: 0, message: None }));
    branch
}

/// Tests that fail and pass, checks, and the last failure with its message.
pub fn commands(plot: &mut Plot) {
    let (world, last) = (plot.world, plot.last());
    let errors = plot.random.shuffled(world.errors);
    let exit = plot.random.pick(&[1, 2, 101, 8]);
    let early = plot.middle();
    let failing = fails(plot, world.test, exit, errors[0]);
    plot.turns[early].steps.push(failing);
    let checks = plot.random.shuffled(world.checks);
    let passing = passes(plot, checks[0]);
    let turn = plot.middle();
    plot.turns[turn].steps.push(passing);
    plot.facts.push(command(checks[0], 0, None));
    if plot.random.chance(50) {
        let failing = fails(plot, world.test, exit, errors[1]);
        plot.turns[last].steps.push(failing);
        plot.facts.push(command(world.test, exit, Some(errors[1])));
    } else {
        let failing = fails(plot, checks[1], exit, errors[1]);
        plot.turns[last - 1].steps.push(failing);
        let passing = passes(plot, world.test);
        plot.turns[last].steps.push(passing);
        plot.facts.push(command(world.test, 0, None));
        plot.facts.push(command(checks[1], exit, Some(errors[1])));
    }
    if plot.random.chance(30) {
        plot.turns[last].steps.push(shell("grep -rn obsolete .".into(), 1, String::new()));
    }
}

fn command(line: &str, exit: i64, message: Option<&str>) -> Fact {
    let message = message.map(str::to_owned);
    Fact::new(4, Check::Command { command: line.to_owned(), exit, message })
}

fn fails(plot: &mut Plot, line: &str, exit: i64, error: &str) -> Step {
    let lines = plot.random.in_range(5, 80);
    let before = noise::log(&mut plot.random, lines, plot.world);
    let after = plot.random.pick(&["", "\n1 failed, 41 passed in 3.21s\n", "\nerror: could not finish\n"]);
    shell(line.to_owned(), exit, format!("{before}{error}\n{after}"))
}

fn passes(plot: &mut Plot, line: &str) -> Step {
    let lines = plot.random.in_range(2, 40);
    let output = noise::log(&mut plot.random, lines, plot.world);
    shell(line.to_owned(), 0, format!("{output}42 passed, 0 failed\n"))
}

fn shell(command: String, exit: i64, output: String) -> Step {
    Step::Shell { command, exit, output }
}
