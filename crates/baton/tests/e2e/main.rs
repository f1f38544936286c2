//! End to end: the real binary, an empty home, a git repository, and what the specification promises.
//!
//! `BATON_E2E_KILLS=200` kills more processes and waits for locks that take their time; `BATON_SAMPLES` points at real
//! transcripts, `BATON_TEST_CLIS` at a folder with the programs of coding agents. `BATON_TEST_E2E_STORE=postgres` gives every test a
//! database of its own on `BATON_TEST_POSTGRES` in place of a store in a file, except where a test is about the file (`Stage::in_a_file`).
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it left out"
)]

mod agent_handovers;
mod agent_journeys;
mod agent_policies;
mod agents;
mod api;
mod beads_consolidation;
mod beads_daily;
mod beads_day;
mod beads_field;
mod beads_file;
mod beads_git;
mod beads_habits;
mod beads_lock;
mod beads_options;
mod beads_partial;
mod beads_renames;
mod beads_shapes;
mod beads_untimed;
mod beads_verbs;
mod browser;
mod callers;
mod calls;
mod carry;
mod chain;
mod changes_kept;
mod changes_remote;
mod commits;
mod continue_places;
mod copied_stores;
mod cross;
mod cross_conversation;
mod cross_faces;
mod cross_kill;
mod database;
#[path = "../../../store/tests/support/database_server.rs"]
mod database_server;
mod delivery;
mod doctor;
mod door;
mod drift;
mod evil_clone;
mod evil_clone_git;
mod evil_clone_settings;
mod evil_names;
mod external_readers;
mod first_hours;
mod fleet;
mod full_disk;
mod github;
mod held_faces;
mod hooks;
mod hostile;
mod http;
mod install;
mod isolated_folders;
mod journey;
mod journeys;
mod kill;
mod ledger;
mod mail;
mod mcp;
mod mock_model;
mod native;
mod native_resume;
mod notify;
mod nouns;
#[path = "../../../store/tests/engine/pem.rs"]
mod pem;
mod picker;
mod plugin_packages;
mod portable;
mod project_words;
mod race;
mod real_agent;
mod recall;
mod redact;
mod redis_server;
mod remote;
mod remote_claims;
mod remote_rules;
mod remote_sensitive;
mod replaced_stores;
mod restored_tokens;
mod restores;
mod run;
mod run_chain;
mod schema;
mod search_kill;
mod sender;
mod served_beads_files;
mod server;
mod server_lifecycle;
mod service;
mod several_processes;
mod slow_bodies;
mod stage;
mod stores;
mod tasks;
mod terminal;
mod tools;
mod top;
mod top_counts;
mod top_tasks;
mod transcript_copies;
mod transcript_doctor;
mod transcripts;
mod two_homes;
mod upgrades;
mod verify;
mod webhook;
mod words;
mod work;
mod work_agents;
mod work_kill;
mod work_limits;
mod work_roles;
mod worktree_addresses;
mod worktree_answers;
mod worktree_changes;
mod worktree_checkouts;
mod worktree_commits;
mod worktree_faults;
mod worktree_files;
mod worktree_hints;
mod worktree_location;
mod worktree_looks;
mod worktree_machines;
mod worktree_merges;
mod worktree_page;
mod worktree_places;
mod worktree_put_away;
mod worktree_settings;
mod worktree_taken_back;
mod worktree_unfinished;
mod worktrees;
