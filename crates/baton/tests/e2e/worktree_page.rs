//! docs/worktrees.md, played: what the page has a person type is typed here, word for word, in two homes with a bare remote, and the work
//! arrives. A command of the page that no longer works fails here, and so does a row or a block that nobody plays.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::stage::{Answer, BATON, Stage, Terminal, env};
use crate::worktrees::git;

const PAGE: &str = include_str!("../../../../docs/worktrees.md");

/// The lines of each block in this language, without the comments behind them.
fn blocks(language: &str) -> Vec<Vec<String>> {
    let mut parts = PAGE.split("```");
    parts.next();
    let fenced = parts.step_by(2).filter_map(|part| part.strip_prefix(&format!("{language}\n")));
    let command = |line: &str| line.split(" #").next().unwrap_or_default().trim().to_owned();
    fenced.map(|block| block.lines().map(command).collect()).collect()
}

/// What stands in backticks in a cell, but for what is an aside.
fn commands(cell: &str) -> Vec<String> {
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    for (nth, part) in cell.split('`').enumerate() {
        if nth % 2 == 1 {
            found.extend((depth == 0).then(|| part.to_owned()));
            continue;
        }
        for c in part.chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    found
}

/// The rows of the table: from where to where, and what is typed here and there.
fn rows() -> Vec<(String, Vec<String>, Vec<String>)> {
    let table = PAGE.split("## From here to there").nth(1).expect("the table");
    let lines = table.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
    let mut rows: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for line in lines.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 3, "{line}");
        let (mut here, mut there) = (commands(cells[1]), commands(cells[2]));
        if cells[1].starts_with("the same") {
            here.splice(0..0, rows.last().expect("a row above").1.clone());
        }
        if cells[2] == "as in the row above" {
            there.clone_from(&rows.last().expect("a row above").2);
        }
        rows.push((cells[0].to_owned(), here, there));
    }
    rows
}

/// A command of the page with the names of the test.
fn literal(command: &str) -> String {
    let words = [
        ("--summary … --next …", WORDS),
        ("wrap …", &format!("wrap {WORDS}")),
        ("[BATON] ", ""),
        ("BRANCH", "fix"),
    ];
    let mut command = words.iter().fold(command.to_owned(), |text, (from, to)| text.replace(from, to));
    if let Some(begin) = command.strip_suffix(" ID") {
        command = format!("{begin} shop");
    }
    assert!(!command.contains(['…', '[']), "{command}");
    command
}

const WORDS: &str = "--summary 'half of the cart' --next 'finish it'";

/// A home whose `~/src/shop` is a repository, and the bare one from which it comes.
struct Home {
    stage: Stage,
}

impl Home {
    fn new() -> Self {
        let stage = Stage::in_a_file("two homes with a ledger each");
        let baton = stage.file("bin/baton", format!("#!/bin/sh\nexec '{BATON}' \"$@\"\n"));
        fs::set_permissions(baton, fs::Permissions::from_mode(0o755)).expect("executable");
        fs::create_dir_all(stage.home().join("src")).expect("a folder");
        Self { stage }
    }

    fn src(&self, name: &str) -> PathBuf {
        self.stage.home().join("src").join(name)
    }

    fn terminal(&self, of: Terminal<'_>, folder: &Path, lines: &[String]) -> Answer {
        let path = format!("{}:{}", self.stage.root().join("bin").display(), env("PATH").expect("PATH"));
        let mut at = of.within(folder).with("PATH", path);
        for role in ["AUTHOR", "COMMITTER"] {
            at.set(format!("GIT_{role}_NAME"), "you");
            at.set(format!("GIT_{role}_EMAIL"), "you@example.com");
        }
        at.shell(&format!("set -e\n{}", lines.join("\n")))
    }

    /// Types lines in a folder as this agent, or with no name where the lines say it.
    fn types(&self, name: &str, folder: &Path, lines: &[String]) -> Answer {
        let of = if name.is_empty() { self.stage.bare() } else { self.stage.terminal(name) };
        let lines: Vec<String> = lines.iter().map(|line| literal(line)).collect();
        self.terminal(of, folder, &lines).done()
    }

    /// The first block of the page: project, worktree and session. Then something is committed in the worktree, and something is not.
    fn begun(name: &str) -> Self {
        let home = Self::new();
        let shop = home.src("shop");
        let first = [
            "git init -q -b main .",
            "echo total > cart.py",
            "git add -A",
            "git commit -qm one",
            "git clone -q --bare . ../../bare.git",
            "git remote add origin ~/bare.git",
        ];
        fs::create_dir_all(&shop).expect("a folder");
        home.types("", &shop, &first.map(str::to_owned));
        let mut block = blocks("sh")[0].clone();
        assert_eq!(block[0], "cd ~/src/shop && baton init");
        // The comment of the first line says so.
        block.insert(1, "git add docs && git commit -qm project && git push -q origin main".to_owned());
        home.types(name, home.stage.root(), &block);
        let work = [
            "echo committed > done.py",
            "git add done.py",
            "git commit -qm two",
            "echo half >> cart.py",
            "mkdir tests",
            "echo new > tests/test_cart.py",
        ];
        home.types(name, &home.src("shop-fix"), &work.map(str::to_owned));
        home
    }

    /// A clone that was made before the work began to be pushed.
    fn clone_of(&self, other: &Self, name: &str) -> PathBuf {
        let bare = other.stage.home().join("bare.git").display().to_string();
        git(&self.stage, self.stage.home().join("src"), &["clone", "-q", &bare, name]);
        self.src(name)
    }
}

#[track_caller]
fn assert_arrived(folder: &Path) {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    assert_eq!(
        [read("done.py"), read("cart.py"), read("tests/test_cart.py")],
        ["committed\n", "total\nhalf\n", "new\n"],
        "{}",
        folder.display()
    );
}

#[test]
fn every_way_of_the_table_brings_the_work_from_here_to_there() {
    let rows = rows();
    let mut ways: Vec<&str> = Vec::new();
    for (way, here, there) in &rows {
        let home = Home::begun("Donna");
        let (shop, fix) = (home.src("shop"), home.src("shop-fix"));
        match way.as_str() {
            "to another worktree, what is committed" => {
                home.types("Donna", &fix, here);
                assert_eq!(there.len(), 2, "{there:?}");
                let enter = [there[1].clone(), "pwd".to_owned()];
                assert_eq!(home.types("Lola", &shop, &enter).out.trim(), fix.display().to_string());
                let picked = home.types("Lola", &shop, &there[..1]);
                assert!(picked.out.contains("half of the cart"), "{picked:#?}");
            }
            "to another worktree, what is not committed" => {
                home.types("Donna", &fix, here);
                let other = home.src("other");
                git(&home.stage, &shop, &["worktree", "add", "-q", "-b", "other", "../other", "fix"]);
                home.types("Lola", &other, there);
                assert_arrived(&other);
            }
            "to another machine without a shared ledger" => {
                let far = Home::new();
                let clone = far.clone_of(&home, "shop");
                home.types("Donna", &fix, here);
                fs::copy(home.stage.home().join("work.baton"), clone.join("work.baton"))
                    .expect("carried over");
                far.types("Lola", &clone, there);
                assert_arrived(&clone);
            }
            // It needs a server and Claude Code: `transcript_copies` and `native` play it.
            "a whole conversation" => {
                assert_eq!(here, &["baton project set --transcripts yes", "baton transcripts push"]);
                assert_eq!(there, &["baton continue ID --native --in claude"]);
            }
            way if way.starts_with("to a second clone, or to another machine with a shared ledger")
                || way == "the same, without uncommitted files in the ledger" =>
            {
                let clone = home.clone_of(&home, "shop-2");
                home.types("Donna", &fix, here);
                assert!(there.iter().any(|line| line == "baton init --join ID"), "{there:?}");
                home.types("Lola", &clone, there);
                assert_arrived(&clone);
            }
            other => panic!("nobody plays this row: {other}"),
        }
        ways.push(way);
    }
    assert_eq!(ways.len(), 6, "{ways:?}");
}

#[test]
fn the_blocks_of_the_page_do_what_they_say() {
    let blocks = blocks("sh");
    assert_eq!(blocks.len(), 4, "each of them is played here or in `begun`");
    // The working copy travels: two agents that nothing but the call names.
    let home = Home::begun("");
    let (shop, fix, other) = (home.src("shop"), home.src("shop-fix"), home.src("other"));
    git(&home.stage, &shop, &["worktree", "add", "-q", "-b", "other", "../other", "fix"]);
    home.types("", &fix, &blocks[1][..1]);
    home.types("", &other, &blocks[1][1..]);
    assert_arrived(&other);
    // In a remote, not in the ledger.
    let home = Home::begun("Donna");
    let clone = home.clone_of(&home, "shop-2");
    let fix = home.src("shop-fix");
    home.types("Donna", &fix, &["git push -q -u origin fix".to_owned()]);
    home.types("Donna", &fix, &blocks[2]);
    assert!(git(&home.stage, &fix, &["ls-remote", "origin", "refs/baton/*"]).contains("refs/baton/changes/"));
    let there =
        ["git fetch -q origin fix", "git switch -q fix", "baton init --join shop", "baton pickup --apply"];
    home.types("Lola", &clone, &there.map(str::to_owned));
    assert_arrived(&clone);
    // To another machine without a server.
    let (home, far) = (Home::begun("Donna"), Home::new());
    let (fix, clone) = (home.src("shop-fix"), far.clone_of(&home, "shop"));
    let before = [format!("baton wrap {WORDS} --with-changes"), "git push -q -u origin fix".to_owned()];
    home.types("Donna", &fix, &before);
    home.types("Donna", &fix, &blocks[3][..1]);
    far.types("Lola", &clone, &["git fetch -q origin fix", "git switch -q fix"].map(str::to_owned));
    fs::copy(fix.join("work.baton"), clone.join("work.baton")).expect("carried over");
    far.types("Lola", &clone, &blocks[3][1..]);
    assert_arrived(&clone);
}

#[test]
fn a_second_clone_hears_what_the_page_shows() {
    let home = Home::new();
    let shop = home.src("shop");
    fs::create_dir_all(&shop).expect("a folder");
    let first = [
        "git init -q -b main .",
        "echo total > cart.py",
        "git add -A",
        "git commit -qm one",
        "git clone -q . ../shop-2",
        "git remote add origin https://github.com/acme/shop.git",
        "baton init",
        "git -C ../shop-2 remote set-url origin git@github.com:acme/shop",
    ];
    home.types("Ann", &shop, &first.map(str::to_owned));
    let shown =
        PAGE.split("## A second clone").nth(1).and_then(|rest| rest.split("```\n").nth(1)).expect("it");
    let (typed, text) = shown.split_once('\n').expect("a command and an answer");
    let line = typed.strip_prefix("$ ").expect("a command").to_owned();
    let answer = home.terminal(home.stage.terminal("Ann"), home.stage.root(), &[line]);
    assert_ne!(answer.code, 0, "{answer:#?}");
    let text = text.replace("/home/you", &home.stage.home().display().to_string());
    assert!(answer.err.starts_with(text.trim_end()), "{answer:#?}\n{text}");
    // And what the hint says can be typed.
    home.types("Ann", &home.src("shop-2"), &["baton init --join shop".to_owned(), "baton start".to_owned()]);
}
