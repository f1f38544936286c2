//! What a document must keep: the limits of the specification, on a few sessions in every format.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use baton_fidelity::phrases::{HELD, TUNE};
use baton_fidelity::score::{Document, Share};
use baton_fidelity::write::TOOLS;
use baton_fidelity::{document, packet, put, story};

#[test]
fn facts_survive_at_2000_and_4000_tokens() {
    let root = tempfile::tempdir().expect("a folder");
    for phrases in [TUNE, HELD] {
        let mut sums = [[Share::default(); 9]; 2];
        for (seed, turns) in [(100, 12), (101, 40), (102, 100)] {
            let story = story(seed, turns, phrases);
            for tool in TOOLS {
                let packet = packet(&put(root.path(), tool, &story).expect("written"), tool).expect("read");
                for (sum, tokens) in sums.iter_mut().zip([2000, 4000]) {
                    let scored = Document::new(&document(&packet, tokens)).score(&story.facts);
                    sum.iter_mut().zip(scored).for_each(|(sum, share)| *sum = sum.plus(share));
                }
            }
        }
        let [small, large] = sums;
        for kind in [2, 3, 4] {
            assert!(small[kind - 1].value() >= 1.0, "kind {kind} at 2,000 tokens: {:?}", small[kind - 1]);
        }
        for (kind, share) in large.iter().enumerate() {
            assert!(share.value() >= 0.95, "kind {} at 4,000 tokens: {share:?}", kind + 1);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_session_and_document() {
    let root = tempfile::tempdir().expect("a folder");
    let made = |name: &str| {
        let folder = root.path().join(name);
        let path = put(&folder, &TOOLS[0], &story(7, 30, TUNE)).expect("written");
        let text = std::fs::read_to_string(&path).expect("a session");
        let document = document(&packet(&path, &TOOLS[0]).expect("read"), 4000);
        (text, document.replace(&*folder.to_string_lossy(), ""))
    };
    assert_eq!(made("a"), made("b"));
}
