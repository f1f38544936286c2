//! What the picker knows: the items, what was typed, which one is meant. No terminal here.

use std::collections::HashMap;

/// One thing to choose.
#[derive(Debug, Clone, Default)]
pub(crate) struct Item {
    /// What stands in the list, in columns.
    pub columns: Vec<String>,
    /// What else it is found by.
    pub words: String,
}

/// A key, whatever the terminal calls it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Letter(char),
    Back,
    Clear,
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    Leave,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The list stays.
    Stay,
    /// This item it is.
    Chosen(usize),
    /// None of them.
    Quit,
}

/// How far a page goes.
const PAGE: usize = 10;

/// The whole state.
pub(super) struct State {
    pub title: String,
    pub items: Vec<Item>,
    /// What was typed.
    pub query: String,
    /// The items that are found, in order.
    pub found: Vec<usize>,
    /// Which of the found ones is meant.
    pub at: usize,
    previews: HashMap<usize, Vec<String>>,
}

impl State {
    /// Everything is found while nothing is typed.
    pub(super) fn new(title: &str, items: Vec<Item>) -> Self {
        let found = (0..items.len()).collect();
        Self { title: title.to_owned(), items, query: String::new(), found, at: 0, previews: HashMap::new() }
    }

    /// The item that is meant.
    pub(super) fn selected(&self) -> Option<usize> {
        self.found.get(self.at).copied()
    }

    /// The selected item, if its preview has not been made yet.
    pub(super) fn unseen(&self) -> Option<usize> {
        self.selected().filter(|item| !self.previews.contains_key(item))
    }

    /// Takes a preview.
    pub(super) fn set_preview(&mut self, item: usize, text: &str) {
        let lines = text.lines().take(200).map(baton_model::id::visible).collect();
        self.previews.insert(item, lines);
    }

    /// The preview of the item that is meant.
    pub(super) fn preview(&self) -> &[String] {
        self.selected().and_then(|item| self.previews.get(&item)).map_or(&[], Vec::as_slice)
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: Key) -> Step {
        let last = self.found.len().saturating_sub(1);
        match key {
            Key::Letter(c) => self.typed(|query| query.push(c)),
            Key::Back => self.typed(|query| _ = query.pop()),
            Key::Clear => self.typed(String::clear),
            Key::Up => self.at = self.at.saturating_sub(1),
            Key::Down => self.at = (self.at + 1).min(last),
            Key::PageUp => self.at = self.at.saturating_sub(PAGE),
            Key::PageDown => self.at = (self.at + PAGE).min(last),
            Key::Enter => return self.selected().map_or(Step::Stay, Step::Chosen),
            Key::Leave => return Step::Quit,
        }
        Step::Stay
    }

    fn typed(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.query);
        let words: Vec<String> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let fits = |item: &Item| {
            let text = format!("{} {}", item.columns.join(" "), item.words).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.found = (0..self.items.len()).filter(|at| self.items.get(*at).is_some_and(fits)).collect();
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let item =
            |title: &str, words: &str| Item { columns: vec![title.to_owned()], words: words.to_owned() };
        State::new(
            "t",
            vec![
                item("Round prices", "claude main"),
                item("Fix Übersicht", "codex"),
                item("Round corners", "codex"),
            ],
        )
    }

    fn typed(state: &mut State, text: &str) -> Vec<usize> {
        text.chars().for_each(|c| _ = state.press(Key::Letter(c)));
        state.found.clone()
    }

    #[test]
    fn every_word_has_to_be_somewhere() {
        let mut state = state();
        assert_eq!(typed(&mut state, "round"), [0, 2]);
        assert_eq!(typed(&mut state, " CODEX"), [2]);
        assert_eq!(state.press(Key::Enter), Step::Chosen(2));
        assert_eq!(typed(&mut state, "x"), [] as [usize; 0]);
        assert_eq!(state.press(Key::Enter), Step::Stay, "nothing is meant");
        state.press(Key::Back);
        assert_eq!(state.found, [2]);
        state.press(Key::Clear);
        assert_eq!(typed(&mut state, "über"), [1]);
    }

    #[test]
    fn the_mark_stays_inside_the_list() {
        let mut state = state();
        state.press(Key::Up);
        assert_eq!(state.selected(), Some(0));
        state.press(Key::PageDown);
        state.press(Key::Down);
        assert_eq!(state.selected(), Some(2));
        assert_eq!(
            (state.press(Key::Leave), State::new("t", Vec::new()).press(Key::Down)),
            (Step::Quit, Step::Stay)
        );
    }

    #[test]
    fn a_preview_is_wanted_once_and_cannot_move_the_cursor() {
        let mut state = state();
        assert_eq!(state.unseen(), Some(0));
        state.set_preview(0, "a\u{1b}[2Jb\nc");
        assert_eq!(state.unseen(), None);
        assert!(state.preview().iter().all(|line| !line.contains('\u{1b}')), "{:?}", state.preview());
        state.press(Key::Down);
        assert_eq!(state.unseen(), Some(1));
    }
}
