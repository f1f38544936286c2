//! What `baton top` knows: the view, its rows, which one is meant, what is asked. No terminal and no ledger here.

use super::act::{Deed, Undo, Verb};

/// A list that can be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Inbox,
    Agents,
    Batons,
    Handoffs,
    Tasks,
    Mail,
    Projects,
}

impl View {
    /// Every view, in the order of their numbers.
    pub(super) const ALL: [Self; 7] =
        [Self::Inbox, Self::Agents, Self::Batons, Self::Handoffs, Self::Tasks, Self::Mail, Self::Projects];

    /// Its name.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Inbox => "Inbox",
            Self::Agents => "Agents",
            Self::Batons => "Batons",
            Self::Handoffs => "Hand-offs",
            Self::Tasks => "Tasks",
            Self::Mail => "Mail",
            Self::Projects => "Projects",
        }
    }

    fn neighbour(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|view| *view == self).unwrap_or_default();
        Self::ALL.get((at + by) % Self::ALL.len()).copied().unwrap_or(self)
    }
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Baton {
        project_id: String,
        id: String,
    },
    Session {
        project_id: String,
        id: String,
    },
    Handoff {
        id: String,
    },
    Task {
        project_id: String,
        id: String,
    },
    Message {
        project_id: String,
        id: String,
    },
    Project {
        id: String,
    },
    /// Something that has no page of its own.
    Nothing,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// By which it is found again, wherever it stands after the next look.
    pub key: String,
    /// Its columns; the last one has the room that is left.
    pub cells: Vec<String>,
    /// Its words and the command that helps, in full.
    pub about: [String; 2],
    pub target: Target,
}

/// What a look at the ledger gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// What there is, in one line.
    pub heading: String,
    pub columns: &'static [&'static str],
    pub rows: Vec<Row>,
    /// There are more than were read.
    pub is_more: bool,
}

/// A thing in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Detail {
    pub title: String,
    pub lines: Vec<String>,
    pub target: Target,
    /// The first line that is seen.
    pub top: usize,
}

/// A deed that asks for something first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub verb: Verb,
    pub target: Target,
    /// What is asked, and what was typed.
    pub fields: Vec<(&'static str, String)>,
    pub at: usize,
}

/// A key, whatever the terminal calls it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Key {
    Letter(char),
    Back,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Next,
    Previous,
    Enter,
    Leave,
    Interrupt,
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Stay,
    Quit,
    /// The ledger is to be read.
    Look,
    Open(Target),
    Act(Deed),
}

/// The whole state.
pub(super) struct State {
    pub view: View,
    /// The one project that is looked at.
    pub scope: Option<String>,
    /// The name under which one acts, as it was last given.
    pub identity: String,
    pub listing: Listing,
    /// How many pages of the list are read.
    pub pages: usize,
    pub filter: String,
    pub is_filtering: bool,
    pub is_following: bool,
    pub is_help: bool,
    pub detail: Option<Detail>,
    pub prompt: Option<Prompt>,
    pub message: String,
    undo: Option<Undo>,
    selected: Option<String>,
    height: usize,
}

impl State {
    pub(super) fn new(scope: Option<String>, identity: Option<String>) -> Self {
        Self {
            view: View::Inbox,
            scope,
            identity: identity.unwrap_or_default(),
            listing: Listing::default(),
            pages: 1,
            filter: String::new(),
            is_filtering: false,
            is_following: true,
            is_help: false,
            detail: None,
            prompt: None,
            message: String::new(),
            undo: None,
            selected: None,
            height: 10,
        }
    }

    /// How many rows a page of the screen has.
    pub(super) fn set_height(&mut self, height: usize) {
        self.height = height.max(1);
    }

    /// Takes what a look gave. The row that is meant stays so, wherever it stands now; where it is gone, the next one is.
    pub(super) fn take(&mut self, listing: Listing) {
        let at = self.at();
        self.listing = listing;
        let is_there = |key: &String| self.listing.rows.iter().any(|row| row.key == *key);
        if !self.selected.as_ref().is_some_and(is_there) {
            self.select(at);
        }
    }

    pub(super) fn set_message(&mut self, text: String) {
        self.message = text;
    }

    /// Takes what a deed came to.
    pub(super) fn finish(&mut self, message: String, undo: Option<Undo>) {
        self.message = message;
        self.undo = undo;
        self.detail = None;
    }

    pub(super) fn show(&mut self, detail: Detail) {
        self.message.clear();
        self.detail = Some(detail);
    }

    /// The rows that have all words of the filter.
    pub(super) fn matching_rows(&self) -> Vec<&Row> {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let fits = |row: &&Row| {
            let text = format!("{} {}", row.cells.join(" "), row.about.join(" ")).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.listing.rows.iter().filter(fits).collect()
    }

    /// The place of the row that is meant among those that are found.
    pub(super) fn at(&self) -> usize {
        let found = self.matching_rows();
        found.iter().position(|row| Some(&row.key) == self.selected.as_ref()).unwrap_or_default()
    }

    /// The row that is meant.
    pub(super) fn row(&self) -> Option<&Row> {
        self.matching_rows().get(self.at()).copied()
    }

    fn select(&mut self, at: usize) {
        let found = self.matching_rows();
        let key = found.get(at.min(found.len().saturating_sub(1))).map(|row| row.key.clone());
        self.selected = key;
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: Key) -> Step {
        if matches!(key, Key::Interrupt) {
            return Step::Quit;
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
            return Step::Stay;
        }
        if self.detail.is_some() { self.press_in_detail(key) } else { self.press_in_list(key) }
    }

    fn press_in_list(&mut self, key: Key) -> Step {
        let at = self.at();
        let last = self.matching_rows().len().saturating_sub(1);
        match key {
            Key::Down | Key::Letter('j') if at >= last && self.listing.is_more => {
                self.pages += 1;
                return Step::Look;
            }
            Key::Down | Key::Letter('j') => self.select(at + 1),
            Key::Up | Key::Letter('k') => self.select(at.saturating_sub(1)),
            Key::PageDown => self.select(at + self.height),
            Key::PageUp => self.select(at.saturating_sub(self.height)),
            Key::First | Key::Letter('g') => self.select(0),
            Key::Last | Key::Letter('G') => self.select(last),
            Key::Next | Key::Letter('l') => return self.turn(self.view.neighbour(1)),
            Key::Previous | Key::Letter('h') => return self.turn(self.view.neighbour(View::ALL.len() - 1)),
            Key::Enter => return self.enter(),
            Key::Leave if !self.filter.is_empty() => self.filter.clear(),
            Key::Leave | Key::Letter('q') => return Step::Quit,
            Key::Letter(letter) => {
                let target = self.row().map(|row| row.target.clone());
                return self.letter(letter, target);
            }
            Key::Back | Key::Interrupt => {}
        }
        Step::Stay
    }

    /// Keys that do the same in a list and in a thing that is shown.
    fn letter(&mut self, letter: char, target: Option<Target>) -> Step {
        match letter {
            '1'..='7' => {
                let at = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(1);
                return self.turn(View::ALL.get(at - 1).copied().unwrap_or(self.view));
            }
            '0' => {
                self.scope = None;
                return self.turn(self.view);
            }
            '/' => self.is_filtering = self.detail.is_none(),
            'f' => self.is_following = !self.is_following,
            'R' => return Step::Look,
            '?' => self.is_help = true,
            'u' => return self.undo.take().map_or(Step::Stay, |undo| Step::Act(Deed::Undo(undo))),
            _ => {
                let verb = target.as_ref().and_then(|target| Verb::of(letter, target));
                if let (Some(verb), Some(target)) = (verb, target) {
                    self.prompt = Some(Prompt { fields: verb.fields(&self.identity), verb, target, at: 0 });
                }
            }
        }
        Step::Stay
    }

    fn turn(&mut self, view: View) -> Step {
        (self.view, self.pages, self.selected, self.detail) = (view, 1, None, None);
        self.filter.clear();
        self.listing = Listing::default();
        Step::Look
    }

    fn enter(&mut self) -> Step {
        match self.row().map(|row| row.target.clone()) {
            None | Some(Target::Nothing) => Step::Stay,
            Some(Target::Project { id }) => {
                self.scope = Some(id);
                self.turn(View::Inbox)
            }
            Some(target) => Step::Open(target),
        }
    }

    fn press_in_detail(&mut self, key: Key) -> Step {
        let height = self.height;
        let Some(detail) = &mut self.detail else { return Step::Stay };
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
        Step::Stay
    }

    fn press_in_filter(&mut self, key: Key) -> Step {
        match key {
            Key::Letter(c) => self.filter.push(c),
            Key::Back => _ = self.filter.pop(),
            Key::Leave => {
                self.filter.clear();
                self.is_filtering = false;
            }
            Key::Enter => self.is_filtering = false,
            Key::Down => self.select(self.at() + 1),
            Key::Up => self.select(self.at().saturating_sub(1)),
            _ => {}
        }
        Step::Stay
    }

    fn press_in_prompt(&mut self, key: Key) -> Step {
        let Some(mut prompt) = self.prompt.take() else { return Step::Stay };
        let last = prompt.fields.len().saturating_sub(1);
        let field = prompt.fields.get_mut(prompt.at).map(|(_, value)| value);
        match (key, field) {
            (Key::Leave, _) => {
                self.message = "nothing was done".to_owned();
                return Step::Stay;
            }
            (Key::Letter(c), Some(value)) => value.push(c),
            (Key::Back, Some(value)) => _ = value.pop(),
            (Key::Enter | Key::Next | Key::Down, Some(value)) if value.trim().is_empty() => {
                self.message = "this cannot be empty; Esc leaves".to_owned();
            }
            (Key::Enter, _) if prompt.at == last => {
                let values: Vec<String> =
                    prompt.fields.iter().map(|(_, value)| value.trim().to_owned()).collect();
                self.identity = values.first().cloned().unwrap_or_default();
                return Step::Act(Deed::Do { verb: prompt.verb, target: prompt.target, values });
            }
            (Key::Enter | Key::Next | Key::Down, _) => prompt.at = (prompt.at + 1).min(last),
            (Key::Previous | Key::Up, _) => prompt.at = prompt.at.saturating_sub(1),
            _ => {}
        }
        self.prompt = Some(prompt);
        Step::Stay
    }
}

#[cfg(test)]
mod tests;
