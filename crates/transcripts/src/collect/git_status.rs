//! The files that a status of git lists.

use std::borrow::Cow;

use super::steps::git_words;
use super::work_tree::TreeEvent;

/// Before the paths of the long form.
const MARKS: &[&str] = &[
    "modified:",
    "new file:",
    "deleted:",
    "renamed:",
    "copied:",
    "typechange:",
    "both modified:",
    "both added:",
    "both deleted:",
    "added by us:",
    "added by them:",
    "deleted by us:",
    "deleted by them:",
];
/// The last lines of the long form: one that has none was cut off.
const ENDS: &[&str] = &["no changes added to commit", "nothing added to commit", "nothing to commit"];

/// What a status printed among the steps of a line, and whether that is all of it: nothing cut it off, and no other step may have
/// printed into it.
#[derive(Debug, PartialEq)]
pub(super) struct StatusPart<'o> {
    pub text: Cow<'o, str>,
    pub is_whole: bool,
}

/// Whether a pipe shortens what a command line prints.
pub(super) fn is_cut(command: &str) -> bool {
    command.replace("||", "").contains('|')
}

/// The part of an output that the status of these steps printed, which stands at this place among them. The long form stands by itself;
/// the short one ends where a line is none of its own.
pub(super) fn status_part<'o>(
    steps: &[String],
    place: usize,
    output: &'o str,
    is_cut: bool,
) -> StatusPart<'o> {
    let whole = |is_whole| StatusPart { text: Cow::Borrowed(output), is_whole };
    let is_short = steps.get(place).and_then(|step| git_words(step)).is_some_and(|(_, rest)| is_short(&rest));
    let others = || steps.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, step)| step.as_str());
    if steps.len() == 1 || !is_short {
        return whole(!is_cut && (steps.len() == 1 || others().all(prints_before)));
    }
    let is_own = |line: &&str| short_line(line).is_some() || line.starts_with("## ");
    let first = steps[..place].iter().all(|step| is_silent(step));
    let mut next = steps[place + 1..].iter().filter(|step| !is_silent(step));
    let own: Vec<&str> = match first {
        true => output.lines().take_while(is_own).collect(),
        false => output.lines().filter(is_own).collect(),
    };
    let is_known = match first {
        true => next.next().is_none_or(|step| prints_before(step)),
        false => others().all(prints_no_status),
    };
    StatusPart { text: Cow::Owned(own.join("\n")), is_whole: !is_cut && is_known }
}

/// Whether a step prints nothing where it goes well.
fn is_silent(step: &str) -> bool {
    let is_word = |word: &str| matches!(word, "true" | "sleep" | "mkdir");
    step.split_whitespace().next().is_some_and(is_word)
        || git_words(step).is_some_and(|(verb, _)| verb == "add")
}

/// Whether the first line that a step prints is none of a short status, and none is where it prints nothing.
fn prints_before(step: &str) -> bool {
    let is_word = |word: &str| matches!(word, "echo" | "pwd" | "date");
    let is_look = |(verb, _): (&str, Vec<&str>)| verb != "status" && verb != "ls-files";
    git_words(step).is_some_and(is_look) || step.split_whitespace().next().is_some_and(is_word)
}

/// Whether no line that a step prints may be one of a short status.
fn prints_no_status(step: &str) -> bool {
    const PLAIN: &[&str] = &[
        "add",
        "commit",
        "push",
        "fetch",
        "branch",
        "rev-parse",
        "remote",
        "stash",
        "checkout",
        "switch",
        "rev-list",
        "merge-base",
        "config",
        "reset",
        "restore",
    ];
    const SUMMARIES: &[&str] = &["--stat", "--shortstat", "--numstat", "--name-status", "--quiet"];
    match git_words(step) {
        Some(("diff" | "show", rest)) => rest.iter().any(|word| SUMMARIES.contains(word)),
        Some(("log", rest)) => {
            rest.contains(&"--oneline") && !rest.iter().any(|word| matches!(*word, "-p" | "--patch"))
        }
        Some((verb, _)) => PLAIN.contains(&verb),
        None => is_silent(step) || matches!(step.split_whitespace().next(), Some("echo" | "pwd" | "date")),
    }
}

fn is_short(rest: &[&str]) -> bool {
    rest.iter().any(|word| {
        word.starts_with("--short")
            || word.starts_with("--porcelain")
            || matches!(*word, "-s" | "-sb" | "-bs")
    })
}

/// What `git status`, with these words behind it, printed. `is_alone` says whether nothing else printed into the same output and
/// nothing cut it off.
pub(super) fn status_event(rest: &[&str], output: &str, is_alone: bool) -> Option<TreeEvent> {
    let names_paths = rest.iter().any(|word| !word.starts_with('-'));
    let leaves_out = |word: &&str| word.starts_with("-u") || word.starts_with("--untracked-files");
    let is_partial = names_paths || rest.iter().any(leaves_out);
    match is_short(rest) {
        true => {
            let uncommitted: Vec<String> = output.lines().filter_map(short_line).collect();
            let is_all = is_alone && !is_partial;
            (is_all || !uncommitted.is_empty()).then_some(TreeEvent::Shown { uncommitted, is_all })
        }
        false => long_form(output, is_partial),
    }
}

/// The long form, which stands by itself among other output; `git stash pop` prints it, too.
pub(super) fn long_form(output: &str, is_partial: bool) -> Option<TreeEvent> {
    let from = output
        .lines()
        .position(|line| line.starts_with("On branch ") || line.starts_with("HEAD detached"))?;
    let lines = || output.lines().skip(from);
    let has = |text: &str| lines().any(|line| line.trim_start().starts_with(text));
    let listed = lines().filter_map(|line| line.strip_prefix('\t')).map(|line| path_of(line.trim()));
    let uncommitted: Vec<String> = listed.collect();
    // Where all that was changed is staged, no sentence ends it.
    let is_staged_only =
        has("Changes to be committed") && !has("Changes not staged") && !has("Untracked files");
    let is_all = !is_partial && (ENDS.iter().any(|end| has(end)) || is_staged_only);
    (is_all || !uncommitted.is_empty()).then_some(TreeEvent::Shown { uncommitted, is_all })
}

/// `modified:   src/a.rs`, `renamed:    a.rs -> b.rs`, `notes/`
fn path_of(line: &str) -> String {
    let path = MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim();
    let path = path.strip_suffix(" (new commits)").unwrap_or(path);
    bare(path.rsplit(" -> ").next().unwrap_or(path))
}

/// ` M src/a.rs`, `?? notes/`, `R  a.rs -> b.rs`
fn short_line(line: &str) -> Option<String> {
    let bytes = line.as_bytes();
    let is_mark = |at: usize| bytes.get(at).is_some_and(|mark| b" MADRCUT?".contains(mark));
    let is_file = is_mark(0) && is_mark(1) && !line.starts_with("  ") && bytes.get(2) == Some(&b' ');
    // ` M | 2 +-` is of a summary of changes to a file of one letter.
    let is_path = |path: &&str| !path.trim().is_empty() && !path.trim_start().starts_with("| ");
    let path = line.get(3..).filter(|path| is_file && is_path(path))?;
    Some(bare(path.rsplit(" -> ").next().unwrap_or(path)))
}

/// A path without quotation marks, and without the steps up from the folder in which git ran.
fn bare(path: &str) -> String {
    let mut path = path.trim().trim_matches('"');
    while let Some(rest) = path.strip_prefix("../").or_else(|| path.strip_prefix("./")) {
        path = rest;
    }
    path.to_owned()
}

/// Whether a path that git lists is this one, or a folder that holds it; either may be told from a folder further up.
pub(super) fn lists(listed: &str, path: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    match listed.strip_suffix('/') {
        Some(folder) => path.starts_with(listed) || path.contains(&format!("/{folder}/")),
        None => ends(path, listed) || ends(listed, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[&str], is_all: bool) -> Option<TreeEvent> {
        let uncommitted = paths.iter().map(|path| (*path).to_owned()).collect();
        Some(TreeEvent::Shown { uncommitted, is_all })
    }

    #[test]
    fn the_files_of_a_status_are_known_and_whether_they_are_all() {
        let long = "On branch x\nYour branch is ahead of 'origin/x' by 1 commit.\n\nChanges not staged for commit:\n  (use \"git add\")\n\
                    \tmodified:   cli/common.go\n\trenamed:    a.go -> b.go\n\nUntracked files:\n\tnotes/\n\nno changes added to commit";
        let all = ["cli/common.go", "b.go", "notes/"];
        assert_eq!(status_event(&[], long, true), shown(&all, true));
        assert_eq!(status_event(&["--", "cli"], long, true), shown(&all, false), "of some paths");
        let cut = "On branch x\nChanges not staged for commit:\n\tmodified:   a.go";
        assert_eq!(status_event(&[], cut, true), shown(&["a.go"], false));
        let popped = format!("{long}\nDropped refs/stash@{{0}} (1a2b3c4)");
        assert_eq!(long_form(&popped, false), shown(&all, true));
        let clean = "On branch x\nnothing to commit, working tree clean";
        assert_eq!(status_event(&[], clean, true), shown(&[], true));
        assert_eq!(status_event(&[], "fatal: not a git repository", true), None);
        let short = "## x...origin/x\n M ../a.go\n?? \"n o/\"\nR  c.go -> d.go";
        assert_eq!(status_event(&["-sb"], short, true), shown(&["a.go", "n o/", "d.go"], true));
        assert_eq!(status_event(&["--short"], short, false), shown(&["a.go", "n o/", "d.go"], false));
        assert_eq!(status_event(&["--short"], "", true), shown(&[], true));
        assert_eq!(status_event(&["--short"], "", false), None, "the end may be another step's");
    }

    #[test]
    fn the_part_of_a_status_among_other_steps_is_known() {
        let part = |line: &str, output: &'static str| {
            let steps = super::super::steps::plain_steps(line);
            let place = steps.iter().position(|step| step.starts_with("git status")).expect("a status");
            let part = status_part(&steps, place, output, false);
            (part.text.into_owned(), part.is_whole)
        };
        let both = " M c.go\n?? d.go\n c.go | 2 +-\n 1 file changed, 1 insertion(+)";
        let own = (" M c.go\n?? d.go".to_owned(), true);
        assert_eq!(part("git status --short && git diff --stat", both), own);
        assert_eq!(
            part("git add -A && git status -s; echo --- && git log -p", " M c.go\n?? d.go\n---\n M x"),
            own
        );
        let turned = " c.go | 2 +-\n 1 file changed, 1 insertion(+)\n M c.go\n?? d.go";
        assert_eq!(part("git diff --stat && git status --short", turned), own);
        assert_eq!(part("git log --oneline -1 && git status --short", "abc1234 x"), (String::new(), true));
        assert_eq!(part("git status --short && git diff --stat", ""), (String::new(), true));
        assert!(!part("git diff && git status --short", " M c.go").1, "a line of the diff may look like one");
        assert!(!part("git status --short && ./list.sh", " M c.go\n M d.go").1, "it may print anything");
        let line = super::super::steps::plain_steps("git status --short");
        assert!(!status_part(&line, 0, " M c.go", true).is_whole);
    }

    #[test]
    fn a_listed_path_may_be_told_from_another_folder() {
        for (listed, path) in
            [("cli/a.go", "a.go"), ("a.go", "cli/a.go"), ("notes/", "notes/x/a.md"), ("a.go", "a.go")]
        {
            assert!(lists(listed, path), "{listed} {path}");
        }
        for (listed, path) in [("ba.go", "a.go"), ("notes/", "other/a.md"), ("notes", "notes/a.md")] {
            assert!(!lists(listed, path), "{listed} {path}");
        }
    }
}
