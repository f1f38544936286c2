//! What Baton does, rule by rule, on every backend: memory, a file, PostgreSQL.
//!
//! A test is a few calls of operations by name, in a world whose clock and numbers stand still, and assertions on codes
//! and rows. Its name is the rule. Set `BATON_TEST_POSTGRES` to a server's URL to have each of them run there too.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says where"
)]

#[macro_use]
mod every;
mod backend;
#[path = "../../../store/tests/support/database_server.rs"]
mod database_server;
mod linked_documents;
mod machines;
mod work_holder;
mod world;

mod accounting;
mod agents;
mod attention;
mod beads;
mod beads_claims;
mod beads_kept;
mod bearers;
mod beside;
mod broken;
mod bundle;
mod capture;
mod carry;
mod chain;
mod changes;
mod checkpoint;
mod claims;
mod conversations;
mod counted_ids;
mod counters;
mod cross_project_answers;
mod crowd;
mod entrusted;
mod expired_claims;
mod family;
mod file_handoffs;
mod first_hours;
mod free_fields;
mod handoff_ends;
mod handoffs;
mod held_acts;
mod held_elsewhere;
mod history;
mod holding;
mod hub;
mod identity;
mod import_shared;
mod inbox;
mod increments;
mod inheritance;
mod isolation;
mod issue_conversation;
mod kept_whole;
mod keys;
mod leases;
mod ledger;
mod left_work;
mod lists;
mod mail;
mod memories;
mod merged_claims;
mod merged_sender;
mod others_holdings;
mod packets;
mod passed_on_handoffs;
mod passing;
mod pickup;
mod portable;
mod project_document;
mod project_merge;
mod project_merge_twice;
mod project_rename;
mod projects;
mod publish;
mod reach;
mod ready;
mod recall;
mod released;
mod removal;
mod rename_families;
mod renames;
mod replaced_texts;
mod requests;
mod resolving;
mod resumed;
mod routing;
mod row_actions;
mod saga;
mod saga_edits;
mod saga_histories;
mod saga_late;
mod search;
mod second_words;
mod seed;
mod sender_news;
mod sensitive;
mod shares;
mod signals;
mod start;
mod takeover;
mod task_faults;
mod tasks;
mod tokens;
mod transcript_copies;
mod transcript_doctor;
mod trips;
mod unnamed;
mod unwrapped;
mod wrap;
