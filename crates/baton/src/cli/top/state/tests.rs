//! Keys and rows of `baton top`, without a terminal.

use baton_model::handoff::State as HandoffState;
use baton_model::row_action::{HandoffParties, RowAction, TaskState, Viewer, of_message, of_session};

use super::super::draw;
use super::*;
use crate::cells::cells;

fn target(noun: Noun, id: &str, actions: &[RowAction]) -> Target {
    let actions = actions.iter().copied().map(OfferedAction::from).collect();
    Target { noun, project_id: "shop".into(), id: id.into(), actions }
}

fn row(key: &str, words: &str) -> Row {
    let target = target(Noun::Baton, key, &[RowAction::PickUp]);
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

/// Of what is done: the id of its target, the action, and what was typed.
fn done(effect: &KeyEffect) -> (String, RowAction, Vec<String>) {
    let KeyEffect::Act(Action::Do { offered, target, fields, .. }) = effect else { panic!("{effect:?}") };
    (target.id.clone(), offered.action, fields.iter().map(|field| field.value.clone()).collect())
}

fn typed(state: &mut State, text: &str) -> KeyEffect {
    text.chars().fold(KeyEffect::Stay, |_, letter| state.press(Key::Letter(letter)))
}

#[test]
fn the_row_that_is_meant_stays_so_whatever_comes_and_goes() {
    let mut state = state(&["a", "b", "c"]);
    state.press(Key::Down);
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("b"));
    state.take(listing(&["x", "y", "a", "b", "c"]));
    assert_eq!((state.selected_index(), state.row().map(|row| row.key.as_str())), (3, Some("b")));
    state.take(listing(&["x", "y", "a", "c"]));
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("c"), "the next one where it is gone");
    state.take(listing(&[]));
    assert_eq!(state.row(), None);
    assert_eq!(state.press(Key::Enter), KeyEffect::Stay);
}

#[test]
fn a_baton_is_picked_up_with_three_keys_and_nothing_happens_without_a_name() {
    let mut state = state(&["a", "b"]);
    typed(&mut state, "jp");
    let deed = state.press(Key::Enter);
    assert_eq!(done(&deed), ("b".to_owned(), RowAction::PickUp, vec!["Ann".to_owned()]));
    typed(&mut state, "p");
    for _ in 0..3 {
        state.press(Key::Back);
    }
    assert_eq!(state.press(Key::Enter), KeyEffect::Stay);
    assert!(state.prompt.is_some() && state.message.contains("empty"), "{}", state.message);
    state.press(Key::Leave);
    assert!(state.prompt.is_none());
    assert_eq!(typed(&mut state, "rtac"), KeyEffect::Stay, "no key of another target");
    assert!(state.prompt.is_none());
}

#[test]
fn a_name_that_is_known_is_not_typed_into() {
    let mut over = about(target(Noun::Session, "s", &[RowAction::Reassign]));
    typed(&mut over, "rRita");
    let deed = over.press(Key::Enter);
    let values = vec!["Ann".to_owned(), "Rita".to_owned()];
    assert_eq!(done(&deed), ("s".to_owned(), RowAction::Reassign, values));
    // Where all is filled in, letters change nothing, and who goes up changes the name.
    let mut over = state(&["a"]);
    typed(&mut over, "py");
    assert!(last_line(&over).starts_with("Enter does it"), "{}", last_line(&over));
    let name = |state: &State| state.prompt.as_ref().map(|prompt| prompt.fields[0].value.clone());
    assert_eq!(name(&over).as_deref(), Some("Ann"));
    over.press(Key::Up);
    typed(&mut over, "a");
    assert_eq!(name(&over).as_deref(), Some("Anna"));
    assert!(matches!(over.press(Key::Enter), KeyEffect::Act(_)));
    let mut over = about(target(Noun::Project, "shop", &[]));
    typed(&mut over, "r");
    assert_eq!(over.message, "nothing to reassign here");
}

#[test]
fn the_end_of_a_page_leads_to_the_next() {
    let mut state = state(&["a", "b"]);
    state.listing.is_more = true;
    assert_eq!(typed(&mut state, "j"), KeyEffect::Stay);
    assert_eq!((typed(&mut state, "j"), state.pages), (KeyEffect::Look, 2));
}

#[test]
fn the_filter_narrows_and_is_left_again() {
    let mut state = state(&["alpha", "beta"]);
    typed(&mut state, "/BET");
    assert_eq!(state.matching_rows().len(), 1);
    state.press(Key::Enter);
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("beta"), "what is found is meant");
    assert_eq!((state.press(Key::Leave), state.matching_rows().len()), (KeyEffect::Stay, 2));
    assert_eq!(state.row().map(|row| row.key.as_str()), Some("beta"), "and stays so among all");
    // Left while it is typed, too; where nothing is found, what was meant before stays so.
    for (words, expected) in [("/alp", "alpha"), ("/zzz", "alpha"), ("/BET", "beta")] {
        typed(&mut state, words);
        state.press(Key::Leave);
        assert_eq!(state.row().map(|row| row.key.as_str()), Some(expected), "{words}");
    }
    assert_eq!(state.press(Key::Leave), KeyEffect::Quit);
}

#[test]
fn a_project_narrows_every_view_until_zero() {
    let mut state = state(&[]);
    assert_eq!((typed(&mut state, "7"), state.view), (KeyEffect::Look, View::Projects));
    let of = Row { target: target(Noun::Project, "depot", &[]), ..row("depot", "") };
    state.take(Listing { rows: vec![of], ..listing(&[]) });
    assert_eq!((state.press(Key::Enter), state.view), (KeyEffect::Look, View::Inbox));
    assert_eq!(state.scope.as_deref(), Some("depot"));
    typed(&mut state, "0");
    assert_eq!(state.scope, None);
    assert_eq!((state.press(Key::Previous), state.view), (KeyEffect::Look, View::Decisions));
    assert_eq!((state.press(Key::Next), state.view), (KeyEffect::Look, View::Inbox));
}

#[test]
fn a_screen_of_any_size_is_filled_and_never_overrun_with_and_without_colours() {
    let mut state = state(&["a"]);
    let rows = (0..50).map(|n| row(&format!("k{n}"), &"計算 \u{1b}[2J ".repeat(30))).collect();
    state.take(Listing { rows, ..listing(&[]) });
    let long = Detail {
        title: "baton".into(),
        lines: vec!["word ".repeat(200)],
        target: target(Noun::Project, "p", &[]),
        top: 0,
    };
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

/// A state whose one row is about this.
fn about(target: Target) -> State {
    let mut state = state(&[]);
    state.take(Listing { rows: vec![Row { target, ..row("a", "words") }], ..listing(&[]) });
    state
}

fn last_line(state: &State) -> String {
    draw::lines(state, false, (80, 24)).pop().unwrap_or_default()
}

/// A hand-off from Mara to Ben, as an identity sees it.
fn handoff(state: HandoffState, viewer: &str) -> Target {
    let parties = HandoffParties { state, from: "Mara", to: Some("Ben"), accepted_by: Some("Ben") };
    Target { actions: parties.actions(Viewer(viewer)), ..target(Noun::Handoff, "h", &[]) }
}

#[test]
fn a_row_offers_nothing_that_would_be_refused() {
    for (is, viewer, letters, hint) in [
        (HandoffState::Offered, "ben", "pdx", "p pick up · d decline"),
        (HandoffState::Offered, "mara", "x", "x cancel"),
        (HandoffState::Failed, "mara", "tx", "t try now · x cancel"),
        (HandoffState::Pending, "mara", "tx", "t try now · x cancel"),
        (HandoffState::Accepted, "ben", "edx", "e complete · d decline"),
        (HandoffState::Accepted, "zoe", "pex", "p take over"),
        (HandoffState::Declined, "mara", "n", "n leave anew"),
    ] {
        for letter in "pdextnwo".chars() {
            let mut state = about(handoff(is, viewer));
            assert!(last_line(&state).starts_with(hint), "{is:?}: {}", last_line(&state));
            state.press(Key::Letter(letter));
            assert_eq!(state.prompt.is_some(), letters.contains(letter), "{is:?} {viewer} {letter}");
        }
    }
    let mut over = about(handoff(HandoffState::Completed, "mara"));
    typed(&mut over, "pt");
    assert!(over.prompt.is_none() && last_line(&over).starts_with("j k"), "{}", last_line(&over));
    let message = |viewer| {
        let actions = of_message("Mara", Some("Ben"), false, Viewer(viewer));
        about(Target { actions, ..target(Noun::Message, "m", &[]) })
    };
    let (mut own, mut question) = (message("mara"), message("ben"));
    typed(&mut own, "y");
    question.press(Key::Letter('y'));
    assert!(own.prompt.is_none() && question.prompt.is_some(), "who wrote it does not acknowledge it");
    typed(&mut own, "w");
    assert!(draw::lines(&own, false, (80, 24)).iter().any(|line| line.starts_with("Take back unread")));
    let task = |status| {
        let actions =
            TaskState { status, is_blocked: false, holder: None, assignee: None }.actions(Viewer("ann"));
        about(Target { actions, ..target(Noun::Task, "t", &[]) })
    };
    let (mut blocked, mut ready) = (task("blocked"), task("open"));
    typed(&mut blocked, "c");
    assert!(
        blocked.prompt.is_none() && last_line(&blocked).starts_with("o open again"),
        "{}",
        last_line(&blocked)
    );
    typed(&mut blocked, "o");
    typed(&mut ready, "c");
    assert!(blocked.prompt.is_some() && ready.prompt.is_some());
}

#[test]
fn what_may_stay_empty_is_left_and_what_is_anothers_needs_a_reason() {
    let mut own = about(handoff(HandoffState::Offered, "mara"));
    typed(&mut own, "x");
    let deed = own.press(Key::Enter);
    assert_eq!(done(&deed), ("h".to_owned(), RowAction::Cancel, vec!["Ann".to_owned(), String::new()]));
    let mut other = about(handoff(HandoffState::Accepted, "zoe"));
    typed(&mut other, "e");
    assert_eq!(other.press(Key::Enter), KeyEffect::Stay, "the result may stay empty");
    assert_eq!(other.press(Key::Enter), KeyEffect::Stay, "why may not");
    assert!(other.message.contains("empty"), "{}", other.message);
    typed(&mut other, "he is away");
    let values = vec!["Ann".to_owned(), String::new(), "he is away".to_owned()];
    assert_eq!(done(&other.press(Key::Enter)), ("h".to_owned(), RowAction::Complete, values));
}

#[test]
fn a_message_is_begun_from_any_row_and_goes_to_whom_it_is_about() {
    let actions = of_session("Jon", Viewer("ann"));
    let mut over = about(Target { actions, ..target(Noun::Session, "s", &[]) });
    assert!(last_line(&over).starts_with("r reassign · m write"), "{}", last_line(&over));
    typed(&mut over, "mlunch");
    over.press(Key::Enter);
    typed(&mut over, "at noon?");
    // The row may go meanwhile: its agent is written to all the same.
    over.take(listing(&[]));
    assert!(last_line(&over).starts_with("Enter goes on"), "{}", last_line(&over));
    let values = ["Ann", "Jon", "lunch", "at noon?"].map(str::to_owned).to_vec();
    assert_eq!(done(&over.press(Key::Enter)), ("s".to_owned(), RowAction::Write, values.clone()));
    assert!(over.is_confirmed());
    // A refusal leaves what was typed.
    let refusal =
        format!("nobody called Jon has worked here, {}which is the end", "so it is not sent, ".repeat(6));
    over.refuse("recipient_unknown", refusal);
    let fields =
        over.prompt.as_ref().map(|prompt| prompt.fields.iter().map(|field| field.value.clone()).collect());
    assert_eq!(fields, Some(values));
    let lines = draw::lines(&over, false, (80, 24));
    assert!(lines.iter().any(|line| line.ends_with("the end")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.ends_with("text: at noon?▏")), "{lines:#?}");
    over.press(Key::Leave);
    // Of a row that names nobody, one says to whom.
    let mut paths = about(target(Noun::Paths, "src/**", &[]));
    typed(&mut paths, "m");
    let fields = paths.prompt.as_ref().map(|prompt| (prompt.at, prompt.fields[1].value.clone()));
    assert_eq!(fields, Some((1, String::new())));
}

#[test]
fn a_task_is_taken_back_with_a_reason_and_ones_own_session_is_ended() {
    let actions = TaskState { status: "in_progress", is_blocked: false, holder: Some("Ned"), assignee: None }
        .actions(Viewer("ann"));
    let mut task = about(Target { actions, ..target(Noun::Task, "t", &[]) });
    assert!(last_line(&task).starts_with("b take back · m write"), "{}", last_line(&task));
    typed(&mut task, "bIda");
    assert!(draw::lines(&task, false, (80, 24)).iter().any(|line| line.starts_with("Take back from Ned · ")));
    task.press(Key::Enter);
    assert_eq!(task.press(Key::Enter), KeyEffect::Stay, "its agent is told why");
    typed(&mut task, "it hangs");
    let values = ["Ann", "Ida", "it hangs"].map(str::to_owned).to_vec();
    assert_eq!(done(&task.press(Key::Enter)), ("t".to_owned(), RowAction::Release, values));
    let mut own =
        about(Target { actions: of_session("Ann", Viewer("ann")), ..target(Noun::Session, "s", &[]) });
    assert!(last_line(&own).contains("e end, giving back what it holds"), "{}", last_line(&own));
    typed(&mut own, "e");
    assert_eq!(done(&own.press(Key::Enter)).1, RowAction::End);
}

#[test]
fn a_conflict_of_leases_can_be_opened() {
    let paths = target(Noun::Paths, "src/**", &[]);
    assert_eq!(about(paths.clone()).press(Key::Enter), KeyEffect::Open(paths));
}

#[test]
fn a_name_is_remembered_once_its_deed_was_done() {
    let mut state = State::new(None, None);
    state.take(listing(&["a"]));
    typed(&mut state, "pnot a name");
    let KeyEffect::Act(deed) = state.press(Key::Enter) else { panic!("nothing is done") };
    state.set_message("`not a name` is not an identity".to_owned());
    typed(&mut state, "p");
    assert_eq!(state.prompt.as_ref().map(|prompt| prompt.fields[0].value.as_str()), Some(""));
    state.press(Key::Leave);
    state.finish(&deed, "done".to_owned(), None);
    assert_eq!(state.identity, "not a name", "what an operation took is a name");
}

#[test]
fn a_long_refusal_is_read_to_its_end_and_leaves_the_row_that_is_meant() {
    let keys: Vec<String> = (0..40).map(|n| format!("k{n}")).collect();
    let mut state = state(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    state.press(Key::Last);
    state.set_message(format!("{}and this helps: baton handoff retry", "why it is refused, ".repeat(12)));
    let lines = draw::lines(&state, false, (80, 24));
    assert_eq!(lines.len(), 24);
    assert!(lines.iter().any(|line| line.ends_with("baton handoff retry")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("> ") && line.contains("k39")), "{lines:#?}");
}

#[test]
fn the_reason_of_what_is_yours_is_read_whole_at_80_columns() {
    let columns = &["what", "age", "project", "who", "words"];
    let row = |what: &str| Row {
        cells: [what, "20h ago", "a-long-project-name", "Bartholomew → Iris", &"words ".repeat(20)]
            .map(str::to_owned)
            .to_vec(),
        ..row(what, "")
    };
    let mut state = state(&[]);
    let reasons = ["* late acknowledgement", "* starving hand-off", "retried task"];
    state.take(Listing { columns, rows: reasons.map(row).to_vec(), ..listing(&[]) });
    let lines = draw::lines(&state, false, (80, 24));
    let heading =
        "12 in all: 1 retried task, 2 late acknowledgements, 1 lease conflict, 3 silent sessions".into();
    state.take(Listing { heading, ..state.listing.clone() });
    let first = draw::lines(&state, false, (80, 24)).get(1).cloned().unwrap_or_default();
    assert!(first.ends_with("1 lease conflict, 3 …") || first.ends_with("3 silent …"), "{first}");
    for reason in reasons {
        let found = lines.iter().find(|line| line.contains(reason));
        assert!(found.is_some_and(|line| line.contains("words")), "{reason}: {lines:#?}");
        assert!(found.is_some_and(|line| line.contains("20h ago")), "an age is read whole: {lines:#?}");
    }
    assert!(lines.iter().any(|line| line.contains("project")), "and the name of a column: {lines:#?}");
}

#[test]
fn what_is_typed_for_one_row_never_goes_to_another() {
    let question = |key: &str| Row {
        target: target(Noun::Message, key, &[RowAction::Reply, RowAction::Acknowledge]),
        ..row(key, &format!("words of {key}"))
    };
    let list =
        |keys: &[&str]| Listing { rows: keys.iter().map(|key| question(key)).collect(), ..listing(&[]) };
    let mut state = state(&[]);
    state.take(list(&["drop", "keep"]));
    typed(&mut state, "a");
    state.take(list(&["keep"]));
    let screen = draw::lines(&state, false, (80, 24)).join("\n");
    assert!(screen.contains("words of drop\nbaton pickup"), "the words are those of its own row: {screen}");
    assert!(last_line(&state).starts_with("it is gone"), "{}", last_line(&state));
    typed(&mut state, "yes");
    assert!(matches!(state.press(Key::Enter), KeyEffect::Act(_)));
    assert!(
        !state.is_confirmed() && last_line(&state).starts_with("nothing was sent"),
        "{}",
        last_line(&state)
    );
    let typed_text = state.prompt.as_ref().map(|prompt| prompt.fields[1].value.clone());
    assert_eq!(typed_text.as_deref(), Some("yes"), "what was typed can still be read");
    state.press(Key::Leave);
    // Of a row that is still there it is sent.
    typed(&mut state, "ayes");
    assert_eq!(done(&state.press(Key::Enter)).0, "keep");
    state.take(list(&["keep"]));
    assert!(state.is_confirmed() && state.prompt.is_none());
}

#[test]
fn what_changed_while_it_was_asked_is_asked_again() {
    let mut state = about(handoff(HandoffState::Offered, "mara"));
    typed(&mut state, "x");
    assert!(matches!(state.press(Key::Enter), KeyEffect::Act(_)));
    let now = |target| Listing { rows: vec![Row { target, ..row("a", "accepted") }], ..listing(&[]) };
    state.take(now(handoff(HandoffState::Accepted, "mara")));
    assert!(!state.is_confirmed(), "what was accepted meanwhile is not cancelled without a word");
    assert!(last_line(&state).starts_with("it has changed meanwhile"), "{}", last_line(&state));
    assert!(matches!(state.press(Key::Enter), KeyEffect::Act(_)));
    assert!(state.is_confirmed(), "who is asked again may say yes");
    // What the new state does not offer is not done at all.
    typed(&mut state, "x");
    state.press(Key::Enter);
    state.take(now(handoff(HandoffState::Completed, "mara")));
    assert!(!state.is_confirmed() && last_line(&state).starts_with("nothing was sent"));
    state.press(Key::Enter);
    assert!(!state.is_confirmed());
}

/// A task that an agent has in progress.
fn claimed(holder: &str) -> Target {
    let actions =
        TaskState { status: "in_progress", is_blocked: false, holder: Some(holder), assignee: None };
    Target { actions: actions.actions(Viewer("ann")), ..target(Noun::Task, "t", &[]) }
}

#[test]
fn a_task_that_another_has_by_now_is_taken_back_from_them_once_that_was_read() {
    let mut state = about(claimed("Jim"));
    typed(&mut state, "b");
    state.press(Key::Enter);
    typed(&mut state, "enough");
    assert!(matches!(state.press(Key::Enter), KeyEffect::Act(_)));
    let row = Row { target: claimed("Ula"), ..row("a", "words of a") };
    state.take(Listing { rows: vec![row], ..listing(&[]) });
    assert!(!state.is_confirmed(), "it is not taken from Ula without a word");
    assert!(last_line(&state).starts_with("Ula has it by now: Enter once more"), "{}", last_line(&state));
    assert!(draw::lines(&state, false, (80, 24)).iter().any(|line| line.contains("Take back from Ula")));
    let deed = state.press(Key::Enter);
    let KeyEffect::Act(Action::Do { offered, fields, .. }) = &deed else { panic!("{deed:?}") };
    assert_eq!(offered.in_place_of.as_deref(), Some("Ula"));
    assert_eq!(fields.last().map(|field| field.value.as_str()), Some("enough"), "what was typed is kept");
    assert!(state.is_confirmed());
}

#[test]
fn what_was_warned_of_is_done_with_another_enter_and_is_warned_of_anew_for_another_name() {
    let session = of_session("Ben", Viewer("ann"));
    let mut state = about(Target { actions: session, ..target(Noun::Session, "s", &[]) });
    let warnings = |effect: KeyEffect| match effect {
        KeyEffect::Act(Action::Do { warnings, .. }) => warnings,
        other => panic!("{other:?}"),
    };
    typed(&mut state, "rIda");
    assert!(warnings(state.press(Key::Enter)).is_empty());
    assert!(state.is_confirmed());
    state.refuse("agent_at_work", "Ben is at work: its session ends at once · a hint".to_owned());
    let message = state.message.clone();
    assert!(message.starts_with("Ben is at work: its session ends at once · Enter once more"), "{message}");
    assert_eq!(warnings(state.press(Key::Enter)), ["agent_at_work"]);
    state.refuse("session_released", "it is over".to_owned());
    assert_eq!(state.message, "it is over", "what no second Enter helps says so");
    state.press(Key::Back);
    typed(&mut state, "y");
    assert!(warnings(state.press(Key::Enter)).is_empty(), "another name is another request");
}

#[test]
fn what_agents_did_is_seen_whole_where_words_are_short() {
    let columns = &["agent", "state", "project", "tool", "heard", "branch", "12 h", "words"];
    let cells =
        ["Cai", "live", "shop", "claude_code", "just now", "devel", "▁▁▃█▂▅", "ok"].map(str::to_owned);
    let row = Row { cells: cells.to_vec(), ..row("a", "") };
    let mut state = state(&[]);
    state.take(Listing { heading: String::new(), columns, rows: vec![row], is_more: false });
    let lines = draw::lines(&state, false, (80, 24));
    let line = lines.iter().find(|line| line.contains("Cai")).cloned().unwrap_or_default();
    assert!(line.contains("▁▁▃█▂▅") && line.contains("claude_code") && line.contains("just now"), "{line}");
}

#[test]
fn the_last_row_and_words_are_looked_for_among_all_rows() {
    for (key, is_last) in [('G', true), ('/', false)] {
        let mut state = state(&["a", "b"]);
        state.listing.is_more = true;
        assert_eq!(state.press(Key::Letter(key)), KeyEffect::Look, "{key}");
        assert!(state.pages > 100, "{key}");
        state.take(listing(&["a", "b", "c", "d"]));
        assert_eq!(state.row().map(|row| row.key == "d"), Some(is_last), "{key}");
        assert_eq!(state.is_filtering, !is_last);
    }
}

/// The same rows in a new state.
fn state_of(other: &State) -> State {
    let mut state = State::new(None, None);
    state.take(other.listing.clone());
    state
}
