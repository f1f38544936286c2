//! What a session is mostly made of: chatter, long outputs, reading and searching.

use crate::random::Random;
use crate::story::Step;
use crate::worlds::World;

/// What users say without asking for anything that lasts.
pub const CHATTER: &[&str] = &[
    "ok",
    "go on",
    "thanks, looks good",
    "continue",
    "yes",
    "sounds good, carry on",
    "hm, interesting",
    "and now?",
    "nice",
    "can you explain that in one sentence?",
    "what did you just change?",
    "yes please",
    "great, keep going",
    "I had lunch, where are we?",
    "looks fine to me",
    "go ahead",
    "ah I see",
    "could you show me the diff again?",
    "that was quick",
    "ok that makes sense",
    "are the tests green now?",
    "proceed",
];

/// What sounds like a rule and is none.
pub const NO_RULES: &[&str] = &[
    "no tools: what next",
    "no problem, take your time",
    "don't worry about the warning",
    "never mind, I found it",
    "I never saw that before, funny",
    "no idea, but go on",
    "do whatever you think is best",
    "no hurry",
    "must be the coffee, I misread that",
    "only one test failed? good",
];

/// What agents say between calls.
const SAYINGS: &[&str] = &[
    "Let me look at {f} first.",
    "I'll check how {f} is used.",
    "Reading {f} now.",
    "The structure is clear; {f} is where it happens.",
    "Now the next part.",
    "That matches what I expected.",
    "I'll run the tests again to be sure.",
    "The test failed before my change and passes now, as expected.",
    "Good, that worked.",
    "I tried the build again and it works.",
    "Nothing unusual in {f}.",
    "I don't need to change {f} for this.",
    "Here is the relevant part of {f}.",
    "This should do it; let me verify.",
    "The function in {f} is only called from two places.",
    "Everything compiles.",
];

/// How an agent ends an unimportant turn.
const ENDINGS: &[&str] = &[
    "Done. The code in {f} is easier to follow now.",
    "That part is finished.",
    "Yes: {f} holds the logic, and the caller only passes the options.",
    "The output looks right.",
    "In one sentence: the value is computed once and then handed down.",
    "All as before, nothing else changed.",
    "Sure. I keep going with the next item.",
    "The diff is small: a few lines in {f}.",
];

/// A sentence between calls.
pub fn saying(random: &mut Random, world: &World) -> String {
    random.pick(SAYINGS).replace("{f}", &format!("`{}`", random.pick(world.files)))
}

/// The end of an unimportant turn.
pub fn ending(random: &mut Random, world: &World) -> String {
    random.pick(ENDINGS).replace("{f}", &format!("`{}`", random.pick(world.files)))
}

/// One to four calls that change nothing.
pub fn calls(random: &mut Random, world: &World) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..random.in_range(1, 4) {
        if random.chance(40) {
            steps.push(Step::Agent(saying(random, world)));
        }
        steps.push(call(random, world));
    }
    steps
}

fn call(random: &mut Random, world: &World) -> Step {
    let file = random.pick(world.files);
    let lines = random.in_range(3, 60);
    match random.below(8) {
        0..=2 => Step::Read(file.to_owned(), code(random, lines)),
        3 => Step::Search(word(random), log(random, lines / 4, world)),
        4 => shell(format!("sed -n 1,80p {file}"), 0, code(random, lines)),
        // The log of a file: that of the branch would name another newest commit than the story's.
        5 => shell(format!("git log --oneline -5 -- {file}"), 0, log(random, 5, world)),
        6 => shell(format!("grep -rn {} {file}", word(random)), 1, String::new()),
        _ => shell("ls -la".to_owned(), 0, log(random, lines, world)),
    }
}

fn shell(command: String, exit: i64, output: String) -> Step {
    Step::Shell { command, exit, output }
}

/// Lines that look like code.
pub fn code(random: &mut Random, lines: usize) -> String {
    let mut text = String::new();
    for _ in 0..lines {
        let line = match random.below(6) {
            0 => format!("    let {} = {}({});\n", word(random), word(random), random.below(999)),
            1 => format!("    // never call this before {} is set\n", word(random)),
            2 => format!("    if {} > {} {{ return {}; }}\n", word(random), random.below(99), word(random)),
            3 => format!("    // TODO: should {} be moved?\n", word(random)),
            4 => format!("fn {}_{}() {{\n", word(random), word(random)),
            _ => format!("    {}.{}(\"{}\");\n", word(random), word(random), word(random)),
        };
        text.push_str(&line);
    }
    text
}

/// Lines that look like a log.
pub fn log(random: &mut Random, lines: usize, world: &World) -> String {
    let mut text = String::new();
    for _ in 0..lines {
        let file = random.pick(world.files);
        let line = match random.below(5) {
            0 => format!(
                "{file}:{}: warning: {} must not be {}\n",
                random.below(300),
                word(random),
                word(random)
            ),
            1 => format!("[{:02}:{:02}] {} ok\n", random.below(24), random.below(60), word(random)),
            2 => format!("{} {} {}\n", random.hex(7), word(random), word(random)),
            3 => format!("   Compiling {} v0.{}.{}\n", word(random), random.below(30), random.below(9)),
            _ => format!("{:>6} {file}\n", random.below(99_999)),
        };
        text.push_str(&line);
    }
    text
}

/// A word as programs use them.
pub fn word(random: &mut Random) -> String {
    const WORDS: &[&str] = &[
        "buffer", "limit", "cursor", "index", "handle", "total", "entry", "state", "frame", "reader",
        "queue", "range", "token", "offset", "config", "result", "stack", "item", "width", "count",
    ];
    random.pick(WORDS).to_owned()
}
