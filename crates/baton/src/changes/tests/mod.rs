//! Changes of a working copy, captured and applied with real git.

mod faults;
mod field;
mod random;
mod speed;
mod stage;
