//! Keys and rows of `baton top`, without a terminal.

use super::super::draw;
use super::*;
use crate::cells::cells;

fn row(key: &str, words: &str) -> Row {
    let target = Target::Baton { project_id: "shop".into(), id: key.into() };
    Row {
        key: key.into(),
        cells: vec!["open".into(), "3 h".into(), words.into()],
        about: [words.into(), format!("baton pickup --handoff {key}")],
        target,
    }
}

fn listing(keys: &[&str]) -> Listing {
    Listing {
        heading: format!("{} wait", keys.len()),
        columns: &["state", "age", "words"],
        rows: keys.iter().map(|key| row(key, &format!("words of {key}"))).collect(),
        is_more: false,
    }
}

fn state(keys: &[&str]) -> State {
    let mut state = State::new(None, Some("Ann".into()));
    state.take(listing(keys));
    state
}

fn typed(state: &mut State, text: &str) -> Step {
    text.chars().fold(Step::Stay, |_, letter| state.press(Key::Letter(letter)))
}

#[test]
fn the_row_that_is_meant_stays_so_whatever_comes_and_goes() {
    let mut state = state(&["a", "b", "c"]);
    state.press(Key::Down);
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("b"));
    state.take(listing(&["x", "y", "a", "b", "c"]));
    assert_eq!((state.at(), state.row().map(|row| row.key.as_str())), (3, Some("b")));
    state.take(listing(&["x", "y", "a", "c"]));
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("c"), "the next one where it is gone");
    state.take(listing(&[]));
    assert_eq!(state.row(), None);
    assert_eq!(state.press(Key::Enter), Step::Stay);
}

#[test]
fn a_baton_is_picked_up_with_three_keys_and_nothing_happens_without_a_name() {
    let mut state = state(&["a", "b"]);
    typed(&mut state, "jp");
    let deed = state.press(Key::Enter);
    let target = Target::Baton { project_id: "shop".into(), id: "b".into() };
    assert_eq!(deed, Step::Act(Deed::Do { verb: Verb::PickUp, target, values: vec!["Ann".into()] }));
    typed(&mut state, "p");
    for _ in 0..3 {
        state.press(Key::Back);
    }
    assert_eq!(state.press(Key::Enter), Step::Stay);
    assert!(state.prompt.is_some() && state.message.contains("empty"), "{}", state.message);
    state.press(Key::Leave);
    assert!(state.prompt.is_none());
    assert_eq!(typed(&mut state, "rtac"), Step::Stay, "no key of another target");
    assert!(state.prompt.is_none());
}

#[test]
fn the_end_of_a_page_leads_to_the_next() {
    let mut state = state(&["a", "b"]);
    state.listing.is_more = true;
    assert_eq!(typed(&mut state, "j"), Step::Stay);
    assert_eq!((typed(&mut state, "j"), state.pages), (Step::Look, 2));
}

#[test]
fn the_filter_narrows_and_is_left_again() {
    let mut state = state(&["alpha", "beta"]);
    typed(&mut state, "/BET");
    assert_eq!(state.matching_rows().len(), 1);
    state.press(Key::Enter);
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("beta"), "what is found is meant");
    assert_eq!((state.press(Key::Leave), state.matching_rows().len()), (Step::Stay, 2));
    assert_eq!(state.press(Key::Leave), Step::Quit);
}

#[test]
fn a_project_narrows_every_view_until_zero() {
    let mut state = state(&[]);
    assert_eq!((typed(&mut state, "7"), state.view), (Step::Look, View::Projects));
    let of = Row { target: Target::Project { id: "depot".into() }, ..row("depot", "") };
    state.take(Listing { rows: vec![of], ..listing(&[]) });
    assert_eq!((state.press(Key::Enter), state.view), (Step::Look, View::Inbox));
    assert_eq!(state.scope.as_deref(), Some("depot"));
    typed(&mut state, "0");
    assert_eq!(state.scope, None);
    assert_eq!((state.press(Key::Previous), state.view), (Step::Look, View::Projects));
    assert_eq!((state.press(Key::Next), state.view), (Step::Look, View::Inbox));
}

#[test]
fn a_screen_of_any_size_is_filled_and_never_overrun_with_and_without_colours() {
    let mut state = state(&["a"]);
    let rows = (0..50).map(|n| row(&format!("k{n}"), &"計算 \u{1b}[2J ".repeat(30))).collect();
    state.take(Listing { rows, ..listing(&[]) });
    let long =
        Detail { title: "baton".into(), lines: vec!["word ".repeat(200)], target: Target::Nothing, top: 0 };
    for (width, height) in [(20, 6), (80, 24), (200, 60)] {
        for detail in [None, Some(long.clone())] {
            state.detail = detail;
            for color in [false, true] {
                let lines = draw::lines(&state, color, (width, height));
                assert_eq!(lines.len(), height);
                let plain = |line: &String| {
                    ["\u{1b}[7m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"]
                        .iter()
                        .fold(line.clone(), |line, code| line.replace(code, ""))
                };
                assert!(lines.iter().all(|line| cells(&plain(line)) <= width), "{width}: {lines:#?}");
                assert!(lines.iter().all(|line| !plain(line).contains('\u{1b}')), "{lines:#?}");
                assert!(color || lines.iter().all(|line| !line.contains('\u{1b}')), "no colour is no code");
            }
        }
        let lines = draw::lines(&State { detail: None, ..state_of(&state) }, false, (width, height));
        assert_eq!(lines.iter().filter(|line| line.starts_with("> ")).count(), 1, "{lines:#?}");
    }
}

/// The same rows in a new state.
fn state_of(other: &State) -> State {
    let mut state = State::new(None, None);
    state.take(other.listing.clone());
    state
}
