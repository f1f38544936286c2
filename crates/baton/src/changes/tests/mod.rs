//! Changes of a working copy, captured and applied with real git.

mod bounds;
mod conflict;
mod faults;
mod field;
mod left_out;
mod random;
mod settings;
mod speed;
mod stage;
