//! What a key means in a list, in a thing that is shown, in a filter and in a prompt.

use super::super::act::{self, Action};
use super::{Key, KeyEffect, Listing, Noun, Prompt, State, Target, View};

/// As many pages as are read where all rows are wanted.
const ALL_PAGES: usize = 200;

impl State {
    /// Takes a key.
    pub(in super::super) fn press(&mut self, key: Key) -> KeyEffect {
        if matches!(key, Key::Interrupt) {
            return KeyEffect::Quit;
        }
        if self.prompt.is_some() {
            return self.press_in_prompt(key);
        }
        if self.is_filtering {
            return self.press_in_filter(key);
        }
        self.message.clear();
        if self.is_help {
            self.is_help = false;
            return KeyEffect::Stay;
        }
        if self.detail.is_some() { self.press_in_detail(key) } else { self.press_in_list(key) }
    }

    fn press_in_list(&mut self, key: Key) -> KeyEffect {
        let at = self.selected_index();
        let last = self.matching_rows().len().saturating_sub(1);
        match key {
            Key::Down | Key::Letter('j') if at >= last && self.listing.is_more => {
                self.pages += 1;
                return KeyEffect::Look;
            }
            Key::Down | Key::Letter('j') => self.select(at + 1),
            Key::Up | Key::Letter('k') => self.select(at.saturating_sub(1)),
            Key::PageDown => self.select(at + self.height),
            Key::PageUp => self.select(at.saturating_sub(self.height)),
            Key::First | Key::Letter('g') => self.select(0),
            Key::Last | Key::Letter('G') if self.listing.is_more => {
                (self.pages, self.goes_to_last) = (ALL_PAGES, true);
                return KeyEffect::Look;
            }
            Key::Last | Key::Letter('G') => self.select(last),
            Key::Next | Key::Letter('l') => return self.turn(self.view.neighbour(1)),
            Key::Previous | Key::Letter('h') => return self.turn(self.view.neighbour(View::ALL.len() - 1)),
            Key::Enter => return self.enter(),
            Key::Leave if !self.filter.is_empty() => self.end_filter(),
            Key::Leave | Key::Letter('q') => return KeyEffect::Quit,
            Key::Letter(letter) => {
                let target = self.row().map(|row| row.target.clone());
                return self.letter(letter, target);
            }
            Key::Back | Key::Interrupt => {}
        }
        KeyEffect::Stay
    }

    /// Keys that do the same in a list and in a thing that is shown.
    fn letter(&mut self, letter: char, target: Option<Target>) -> KeyEffect {
        match letter {
            '1'..='9' => {
                let at = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(1);
                return self.turn(View::ALL.get(at - 1).copied().unwrap_or(self.view));
            }
            '0' => {
                self.scope = None;
                return self.turn(self.view);
            }
            '/' => {
                self.is_filtering = self.detail.is_none();
                // Words are looked for in all rows.
                if self.is_filtering && self.listing.is_more {
                    self.pages = ALL_PAGES;
                    return KeyEffect::Look;
                }
            }
            'f' => self.is_following = !self.is_following,
            'R' => return KeyEffect::Look,
            '?' => self.is_help = true,
            'u' => {
                return self.undo.take().map_or(KeyEffect::Stay, |undo| KeyEffect::Act(Action::Undo(undo)));
            }
            _ => {
                let offered = target.as_ref().and_then(|target| act::of_letter(letter, target));
                match (offered, target) {
                    (Some(offered), Some(target)) => {
                        let about = self.row_of(&target).map(|row| row.about.clone()).unwrap_or_default();
                        self.prompt = Some(Prompt::new(offered, target, about, &self.identity));
                    }
                    _ => self.message = act::absent(letter).unwrap_or_default(),
                }
            }
        }
        KeyEffect::Stay
    }

    /// Shows all rows again. The row that the filter showed as the one that is meant stays so.
    fn end_filter(&mut self) {
        self.select_shown();
        self.filter.clear();
        self.is_filtering = false;
    }

    /// The row under the cursor is the one that is meant; where none is shown, the one before stays so.
    fn select_shown(&mut self) {
        if let Some(key) = self.row().map(|row| row.key.clone()) {
            self.selected = Some(key);
        }
    }

    fn turn(&mut self, view: View) -> KeyEffect {
        (self.view, self.pages, self.selected, self.detail) = (view, 1, None, None);
        self.filter.clear();
        self.listing = Listing::default();
        KeyEffect::Look
    }

    fn enter(&mut self) -> KeyEffect {
        match self.row().map(|row| row.target.clone()) {
            None => KeyEffect::Stay,
            Some(target) if target.noun == Noun::Project => {
                self.scope = Some(target.id);
                self.turn(View::Inbox)
            }
            Some(target) => KeyEffect::Open(target),
        }
    }

    fn press_in_detail(&mut self, key: Key) -> KeyEffect {
        let height = self.height;
        let Some(detail) = &mut self.detail else { return KeyEffect::Stay };
        let last = detail.lines.len().saturating_sub(1);
        match key {
            Key::Down | Key::Letter('j') => detail.top = (detail.top + 1).min(last),
            Key::Up | Key::Letter('k') => detail.top = detail.top.saturating_sub(1),
            Key::PageDown | Key::Letter(' ') => detail.top = (detail.top + height).min(last),
            Key::PageUp => detail.top = detail.top.saturating_sub(height),
            Key::First | Key::Letter('g') => detail.top = 0,
            Key::Last | Key::Letter('G') => detail.top = (last + 1).saturating_sub(height),
            Key::Leave | Key::Back | Key::Previous | Key::Letter('q' | 'h') => self.detail = None,
            Key::Letter(letter) => {
                let target = Some(detail.target.clone());
                return self.letter(letter, target);
            }
            Key::Enter | Key::Next | Key::Interrupt => {}
        }
        KeyEffect::Stay
    }

    fn press_in_filter(&mut self, key: Key) -> KeyEffect {
        match key {
            Key::Letter(c) => self.filter.push(c),
            Key::Back => _ = self.filter.pop(),
            Key::Leave => self.end_filter(),
            Key::Enter => {
                self.select_shown();
                self.is_filtering = false;
            }
            Key::Down => self.select(self.selected_index() + 1),
            Key::Up => self.select(self.selected_index().saturating_sub(1)),
            _ => {}
        }
        KeyEffect::Stay
    }

    fn press_in_prompt(&mut self, key: Key) -> KeyEffect {
        let Some(mut prompt) = self.prompt.take() else { return KeyEffect::Stay };
        let last = prompt.fields.len().saturating_sub(1);
        // What is filled in already is changed by who goes to it.
        if prompt.is_ready() && matches!(key, Key::Back | Key::Previous | Key::Up) {
            prompt.at = last;
            if !matches!(key, Key::Back) {
                self.prompt = Some(prompt);
                return KeyEffect::Stay;
            }
        }
        // What was warned of was about what stood there.
        if matches!(key, Key::Letter(_) | Key::Back) {
            prompt.warnings.clear();
        }
        let is_optional = prompt.fields.get(prompt.at).is_some_and(|field| field.is_optional);
        let field = prompt.fields.get_mut(prompt.at).map(|field| &mut field.value);
        match (key, field) {
            (Key::Leave, _) => {
                self.message = "nothing was done".to_owned();
                return KeyEffect::Stay;
            }
            (Key::Letter(c), Some(value)) => value.push(c),
            (Key::Back, Some(value)) => _ = value.pop(),
            (Key::Enter | Key::Next | Key::Down, Some(value)) if value.trim().is_empty() && !is_optional => {
                self.message = "this cannot be empty; Esc leaves".to_owned();
            }
            (Key::Enter, _) if prompt.at >= last => {
                self.message.clear();
                self.confirmed = Some(prompt.clone());
                let Prompt { offered, target, fields, warnings, .. } = prompt;
                return KeyEffect::Act(Action::Do { offered, target, fields, warnings });
            }
            (Key::Enter | Key::Next | Key::Down, Some(_)) => prompt.at = (prompt.at + 1).min(last),
            (Key::Previous | Key::Up, _) => prompt.at = prompt.at.saturating_sub(1),
            _ => {}
        }
        self.prompt = Some(prompt);
        KeyEffect::Stay
    }
}
