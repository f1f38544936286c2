mod cut_lists;
mod files;
mod fixtures;
mod hostile;
mod last;
mod lines;
mod plan;
mod session;
mod stale;

use super::*;
use fixtures::{bare, long, packet, rich, unfolded};

fn options(preset: Preset) -> Options<'static> {
    let drift = CurrentCheckout {
        branch: Some("main".into()),
        commit: Some("4e1d9c0".into()),
        dirty: Some(false),
        ..CurrentCheckout::default()
    };
    Options {
        preset,
        now_ms: Some(1_772_484_000_000),
        drift: Some(drift),
        more_hint: Some("baton handoff from-transcript b1946ac9 --preset full"),
        ..Options::default()
    }
}

fn at(tokens: usize) -> Options<'static> {
    Options { budget: Some(Budget::Tokens(tokens)), ..options(Preset::Standard) }
}

#[test]
fn minimal() {
    insta::assert_snapshot!(render(&rich(), &options(Preset::Minimal)).text);
}

#[test]
fn standard() {
    insta::assert_snapshot!(render(&rich(), &options(Preset::Standard)).text);
}

#[test]
fn full() {
    insta::assert_snapshot!(render(&rich(), &options(Preset::Full)).text);
}

#[test]
fn without_a_limit_it_is_said_where_texts_were_cut_before_and_what_prints_them() {
    let mut packet = rich();
    let hint = Options { source_hint: Some("baton transcripts show b1946ac9"), ..options(Preset::Full) };
    assert!(!render(&packet, &hint).text.contains("Texts are cut"));
    packet
        .constraints
        .push(crate::packet::Text { text: "Keep the… [2405 bytes left out]".into(), at: None });
    let line = "\n*Texts are cut in 1 place, where “[… bytes left out]” stands. All that was said: `baton transcripts show b1946ac9`*\n";
    assert!(render(&packet, &hint).text.contains(line), "{}", render(&packet, &hint).text);
    assert!(!render(&packet, &Options { preset: Preset::Standard, ..hint }).text.contains("Texts are cut"));
}

#[test]
fn a_file_that_is_in_a_commit_is_told_from_one_that_is_not() {
    let line = |states: &[Option<bool>]| {
        let mut packet = rich();
        let file = |(nth, committed): (usize, &Option<bool>)| crate::packet::FileChange {
            path: format!("src/{nth}.rs"),
            committed: *committed,
            ..Default::default()
        };
        packet.files_modified = states.iter().enumerate().map(file).collect();
        let text = render(&packet, &options(Preset::Standard)).text;
        text.lines()
            .find(|line| {
                line.ends_with("committed")
                    || line.starts_with("- Not committed")
                    || line.contains("it is not known")
            })
            .map(str::to_owned)
    };
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(
        line(&[yes, no, yes]).as_deref(),
        Some("- Not committed: `1.rs`; 2 changed files are committed")
    );
    assert_eq!(line(&[yes, yes]).as_deref(), Some("- All 2 changed files are committed"));
    assert_eq!(line(&[no, None]).as_deref(), Some("- Not committed: `0.rs`; of 1 it is not known"));
    assert_eq!(line(&[yes, None]).as_deref(), Some("- 1 changed file is committed; of 1 it is not known"));
    assert_eq!((line(&[no, no]), line(&[None])), (None, None), "the state of the working copy says it");
}

#[test]
fn as_many_uncommitted_files_are_named_as_there_is_room_for_the_new_ones_first() {
    let mut packet = rich();
    let file = |nth: usize| crate::packet::FileChange {
        path: format!("src/n{nth:02}.rs"),
        change: Some(if nth >= 12 { "created" } else { "modified" }.to_owned()),
        committed: Some(nth == 0),
        ..Default::default()
    };
    packet.files_modified = (0..60).map(file).collect();
    let line = |preset| {
        let text = render(&packet, &options(preset)).text;
        text.lines().find(|line| line.starts_with("- Not committed")).map(str::to_owned).expect("a line")
    };
    let full = line(Preset::Full);
    assert_eq!(full.matches("`n").count(), 59, "{full}");
    assert!(!full.contains(" more") && full.contains("`n59.rs`, `n01.rs`"), "{full}");
    let standard = line(Preset::Standard);
    assert!(standard.starts_with("- Not committed: `n12.rs`, `n13.rs`"), "{standard}");
    assert!(standard.contains(" more; 1 changed file is committed"), "{standard}");
}

#[test]
fn what_git_has_begun_and_not_ended_stands_in_its_state() {
    let mut packet = rich();
    packet.git = Some(crate::packet::Git {
        branch: Some("main".into()),
        in_progress: Some("merge".into()),
        dirty: Some(true),
        ..Default::default()
    });
    let text = render(&packet, &options(Preset::Standard)).text;
    assert!(text.contains("branch `main`, a merge is in progress, uncommitted changes"), "{text}");
}

#[test]
fn a_long_session_at_standard() {
    insta::assert_snapshot!(render(&long().packet, &options(Preset::Standard)).text);
}

#[test]
fn only_a_summary() {
    let document = render(&bare(), &Options::default());
    assert_eq!(document.left_out, []);
    insta::assert_snapshot!(document.text);
}

#[test]
fn files_commands_that_failed_and_the_plan_survive_two_thousand_tokens() {
    let planted = long();
    let document = render(&planted.packet, &at(2000));
    let text = unfolded(&document.text);
    let must = planted.facts.iter().filter(|(_, _, must)| *must);
    let lost: Vec<_> = must.filter(|(_, words, _)| words.iter().any(|word| !text.contains(word))).collect();
    assert_eq!(lost, Vec::<&(&str, Vec<String>, bool)>::new());
    assert!(document.tokens_estimated <= 2000);
}

#[test]
fn nearly_every_fact_of_every_kind_survives_four_thousand_tokens() {
    let planted = long();
    let document = render(&planted.packet, &at(4000));
    assert!(document.tokens_estimated <= 4000);
    let mut kinds: Vec<&str> = planted.facts.iter().map(|(kind, _, _)| *kind).collect();
    kinds.dedup();
    let text = unfolded(&document.text);
    let mut kept_in_all = 0;
    for kind in kinds {
        let of_kind: Vec<_> = planted.facts.iter().filter(|(of, _, _)| *of == kind).collect();
        let count =
            of_kind.iter().filter(|(_, words, _)| words.iter().all(|word| text.contains(word))).count();
        assert!(count * 100 >= of_kind.len() * 85, "{kind}: {count} of {}", of_kind.len());
        kept_in_all += count;
    }
    let facts = planted.facts.len();
    assert!(kept_in_all * 100 >= facts * 95, "{kept_in_all} of {facts}");
}

#[test]
fn verbose_keeps_every_fact_with_its_line_mark() {
    let planted = long();
    let document = render(&planted.packet, &options(Preset::Verbose));
    let text = unfolded(&document.text);
    for (kind, words, _) in &planted.facts {
        for word in words {
            assert!(text.contains(word), "{kind}: {word}");
        }
    }
    assert!(document.text.contains("(#1180)") && document.text.contains("is a line of `claude:7d0c1c5e"));
}

#[test]
fn full_leaves_nothing_out() {
    let planted = long();
    let document = render(&planted.packet, &options(Preset::Full));
    assert_eq!(document.left_out, []);
    assert!(!document.text.contains('…'));
    for turn in &planted.packet.recent_messages {
        assert!(document.text.contains(&turn.text), "{}", turn.text);
    }
}

#[test]
fn what_is_left_out_is_counted_and_said_in_one_line() {
    let document = render(&long().packet, &at(2000));
    let lines: Vec<&str> = document.text.lines().filter(|line| line.starts_with("*Left out")).collect();
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("197 turns")
            && lines[0].contains("`baton handoff from-transcript b1946ac9 --preset full`")
    );
    assert!(document.left_out.contains(&LeftOut { section: "turns", count: 197 }));
}

#[test]
fn below_the_least_budget_the_least_is_given_and_said() {
    for budget in [Budget::Tokens(10), Budget::Bytes(100)] {
        let document = render(&long().packet, &Options { budget: Some(budget), ..options(Preset::Standard) });
        let least =
            if budget == Budget::Tokens(10) { Budget::Tokens(MIN_TOKENS) } else { Budget::Bytes(MIN_BYTES) };
        assert!(least.allows(&document.text));
        assert!(document.text.contains(&format!("A budget of {budget} is too small")), "{}", document.text);
        assert!(document.text.contains("make the search tests green"), "{}", document.text);
    }
}

#[test]
fn the_same_packet_gives_the_same_bytes() {
    assert_eq!(render(&rich(), &at(900)), render(&rich(), &at(900)));
}

#[test]
fn a_named_target_takes_the_place_of_the_packets() {
    let text = render(&rich(), &Options { to: Some("gemini"), ..Options::default() }).text;
    assert!(text.contains("| **Target** | gemini |"));
}

#[test]
fn a_working_copy_that_did_not_move_is_said_to_be_the_same() {
    let drift = CurrentCheckout {
        branch: Some("fix/login-loop".into()),
        commit: Some("4e1d9c0".into()),
        dirty: Some(true),
        ..CurrentCheckout::default()
    };
    let text = render(&rich(), &Options { drift: Some(drift.clone()), ..Options::default() }).text;
    assert!(text.contains("- Now: no drift\n"));
    let missing = vec!["app.py".to_owned()];
    let gone = CurrentCheckout { missing, ..drift };
    let text = render(&rich(), &Options { drift: Some(gone.clone()), ..Options::default() }).text;
    assert!(text.contains("- **Drift since**: `app.py` is not here\n"), "{text}");
    let mut without_commit = rich();
    without_commit.git.as_mut().expect("a working copy").commit = None;
    let text = render(&without_commit, &Options { drift: Some(gone), ..Options::default() }).text;
    assert!(
        text.contains(
            "- Now: cannot tell whether anything changed: no commit was recorded; `app.py` is not here\n"
        ),
        "{text}"
    );
}

#[test]
fn presets_are_known_by_name() {
    for (name, preset) in
        Preset::NAMES.into_iter().zip([Preset::Minimal, Preset::Standard, Preset::Verbose, Preset::Full])
    {
        assert_eq!(Preset::parse(name), Ok(preset));
    }
    assert_eq!(Preset::parse("huge").expect_err("no preset").code, "preset_unknown");
}

#[test]
fn a_headline_is_one_short_line() {
    insta::assert_snapshot!(headline(&rich()), @"claude: Login no longer loops when the session cookie is from before the key rotation: stale cookies … · 3 files · 3 open tasks · last failure exit 1");
    assert_eq!(headline(&bare()), "Moved the parser to its own crate; all tests pass.");
    let hostile = packet(r##"{"summary": "# A\u001b[31m\n\n## B", "source": {"agent": "x\n# y"}}"##);
    assert_eq!(headline(&hostile), "\\# A");
}
