//! The house's rules, kept as tests over the sources of the whole workspace.
//!
//! Each rule is a function from a source to its violations, with tests on small bad inputs next to it; the tests in this
//! file run it over the tree. A rule that has to give way is named in `exempt.rs`, with the reason.

mod answers;
mod circles;
mod exempt;
mod hygiene;
mod keys;
mod layers;
mod links;
mod names;
mod repository;
mod size;
mod source;
mod sql;
#[allow(clippy::panic, clippy::expect_used, reason = "a tree that cannot be read is a failed test")]
mod tree;

use std::collections::BTreeMap;

use source::{Source, Violation, report};

fn over_sources(rule: impl Fn(&Source) -> Vec<Violation>) {
    report(tree::sources().iter().flat_map(rule).collect());
}

#[test]
fn every_source_file_can_be_read() {
    assert!(tree::sources().len() > 5, "the sources of the workspace were not found");
    over_sources(|source| source.complaint.iter().cloned().collect());
}

#[test]
fn files_are_short() {
    over_sources(size::files);
}

#[test]
fn functions_are_short() {
    over_sources(size::functions);
}

#[test]
fn names_are_nouns_of_the_trade() {
    over_sources(names::names);
}

#[test]
fn bindings_are_nouns_of_the_trade() {
    over_sources(names::bindings);
}

#[test]
fn no_identifier_is_a_verb_of_a_story() {
    over_sources(names::identifiers);
}

#[test]
fn one_thing_has_one_key_in_every_answer() {
    over_sources(keys::one_key);
}

#[test]
fn a_function_that_makes_a_refusal_says_so() {
    over_sources(names::refusals);
}

#[test]
fn the_median_function_is_under_ten_lines() {
    let lengths = tree::sources().iter().flat_map(size::lengths).collect();
    let (count, median) = size::median(lengths);
    println!("{count} functions, median {median} lines");
    assert!(
        count < 50 || median < size::MEDIAN,
        "the median of {count} functions is {median} lines, {} or more: split the long ones where they change subject",
        size::MEDIAN
    );
}

#[test]
fn every_exemption_is_still_needed() {
    report(size::stale(&tree::sources()));
}

#[test]
fn crates_depend_downwards() {
    report(tree::manifests().iter().flat_map(layers::dependencies).collect());
}

#[test]
fn crates_keep_to_their_layer() {
    over_sources(layers::source);
}

#[test]
fn modules_need_each_other_in_one_direction() {
    report(circles::circles(&tree::sources()));
}

#[test]
fn answers_are_read_as_the_outputs_of_their_operations() {
    over_sources(answers::by_key);
    report(answers::stale(&tree::sources()));
}

#[test]
fn operations_are_named_by_their_types() {
    let operations = answers::operations(&tree::sources());
    assert!(operations.len() > 100, "the operations were not found: {}", operations.len());
    over_sources(|source| answers::by_name(source, &operations));
}

#[test]
fn sql_is_written_in_the_store() {
    over_sources(sql::placement);
}

#[test]
fn sql_runs_on_both_engines() {
    over_sources(sql::dialect);
    report(tree::sql_files().iter().flat_map(|(path, text)| sql::script(path, text)).collect());
}

#[test]
fn what_a_repository_holds_is_reached_in_one_way() {
    over_sources(repository::git);
    over_sources(repository::files);
}

#[test]
fn the_lock_file_is_small() {
    report(hygiene::lock_file(&tree::read("Cargo.lock")));
}

#[test]
fn the_root_is_tidy() {
    report(hygiene::root(&tree::tracked()));
}

#[test]
fn nothing_unfinished_and_no_machine_paths() {
    let texts = tree::tracked().into_iter().filter_map(|path| Some((tree::read_text(&path)?, path)));
    report(texts.flat_map(|(text, path)| hygiene::text(&path, &text)).collect());
}

#[test]
fn documents_for_engineers_are_short() {
    let texts = tree::tracked().into_iter().filter_map(|path| Some((tree::read_text(&path)?, path)));
    report(texts.flat_map(|(text, path)| hygiene::document(&path, &text)).collect());
}

#[test]
fn the_tests_that_the_security_page_names_are_there() {
    let sources: Vec<String> = tree::sources().iter().map(|source| tree::read(&source.path)).collect();
    let path = "docs/security.md";
    report(hygiene::unknown_tests(path, &tree::read(path), &sources.join("\n")));
}

#[test]
fn links_of_the_documents_lead_somewhere_and_the_book_has_every_page() {
    let files = tree::tracked();
    let pages = files.iter().filter(|path| path.ends_with(".md"));
    let pages: BTreeMap<String, String> =
        pages.filter_map(|path| Some((path.clone(), tree::read_text(path)?))).collect();
    let mut found = links::missing_from_book(&tree::read(links::SUMMARY), &files);
    for (path, text) in pages.iter().filter(|(path, _)| !path.starts_with("packaging/plugins/")) {
        found.extend(links::broken(path, text, &pages, &files));
    }
    report(found);
}
