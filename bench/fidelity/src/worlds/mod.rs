//! What the made-up sessions are about.

mod billing;
mod courses;
mod garden;
mod radio;
mod tiles;

/// Words and facts of one project. Every sentence of a session is a phrase filled from here.
pub struct World {
    /// The folder's name.
    pub name: &'static str,
    /// What the user asks for first, and later.
    pub requests: &'static [&'static str],
    /// Things that the user wants to stay as they are.
    pub protect: &'static [&'static str],
    /// What not to do, after "do not".
    pub forbid: &'static [&'static str],
    /// What to do always, after "you must".
    pub require: &'static [&'static str],
    /// Chosen, rejected, why.
    pub choices: &'static [[&'static str; 3]],
    /// Tried, why it failed.
    pub attempts: &'static [[&'static str; 2]],
    /// Clauses after "whether".
    pub questions: &'static [&'static str],
    /// Items of the plan, and what comes next: infinitives without "to".
    pub tasks: &'static [&'static str],
    /// Paths of source files.
    pub files: &'static [&'static str],
    /// The test command.
    pub test: &'static str,
    /// Other commands that matter.
    pub checks: &'static [&'static str],
    /// Messages of failing commands.
    pub errors: &'static [&'static str],
    /// Branches.
    pub branches: &'static [&'static str],
}

/// All of them.
pub const ALL: &[&World] = &[&billing::WORLD, &courses::WORLD, &garden::WORLD, &radio::WORLD, &tiles::WORLD];
