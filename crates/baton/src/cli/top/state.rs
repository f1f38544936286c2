//! What `baton top` knows: the view, its rows, which one is meant, what is asked. No terminal and no ledger here.

mod keys;
mod view;

use baton_model::id::visible;
use baton_model::row_action::{OfferedAction, RowAction};

use super::act::{self, Action, Undo};
pub(super) use view::View;

/// Of what kind a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    Baton,
    Session,
    Handoff,
    Task,
    Message,
    /// A pattern of paths, and who works on them.
    Paths,
    Project,
    /// The sessions that a piece of work went through.
    Thread,
    /// What was decided, by the number of its entry.
    Decision,
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub noun: Noun,
    /// The project in which something is done about it: of a hand-off, the receiver's.
    pub project_id: String,
    /// Its id; of paths, the pattern.
    pub id: String,
    /// What can be done about it, the first thing first.
    pub actions: Vec<OfferedAction>,
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

/// What a deed asks for, and what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub name: &'static str,
    pub value: String,
    /// It may stay empty.
    pub is_optional: bool,
}

/// Why what a prompt was opened for is not what the ledger has now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The list has no such row any more.
    Gone,
    /// Other things can be done about it now.
    Changed,
}

impl Conflict {
    /// What is said of it while the prompt is open.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Gone => "it is gone, answered or done elsewhere: Enter sends nothing · Esc leaves",
            Self::Changed => "it has changed meanwhile: Enter asks again · Esc leaves",
        }
    }
}

/// A deed that asks for something first. It is bound to the row for which it was opened, whatever the list shows meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub offered: OfferedAction,
    pub target: Target,
    /// The words and the command of its row.
    pub about: [String; 2],
    pub conflict: Option<Conflict>,
    pub fields: Vec<Field>,
    /// Codes of the refusals that were read, and after which Enter does it all the same.
    pub warnings: Vec<&'static str>,
    /// The field that is typed into; behind the last one where all are filled in.
    pub at: usize,
}

impl Prompt {
    /// Begins in the first empty field: a name that is known is not typed into.
    fn new(offered: OfferedAction, target: Target, about: [String; 2], identity: &str) -> Self {
        let fields = act::fields(&offered, identity);
        let at = fields.iter().position(|field| field.value.is_empty()).unwrap_or(fields.len());
        Self { offered, target, about, conflict: None, fields, warnings: Vec::new(), at }
    }

    /// Binds it to the action as it is offered now. Where that asks for something more, it goes on there.
    fn fill_for(&mut self, offered: OfferedAction) {
        let mut fields = act::fields(&offered, "");
        for field in &mut fields {
            let typed = self.fields.iter().find(|known| known.name == field.name);
            if let Some(typed) = typed {
                field.value.clone_from(&typed.value);
            }
        }
        self.at = fields
            .iter()
            .position(|field| field.value.is_empty() && !field.is_optional)
            .unwrap_or(fields.len());
        (self.fields, self.offered) = (fields, offered);
    }

    /// Whether nothing is left to be typed.
    pub(super) fn is_ready(&self) -> bool {
        self.at >= self.fields.len()
    }
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
pub(super) enum KeyEffect {
    Stay,
    Quit,
    /// The ledger is to be read.
    Look,
    Open(Target),
    Act(Action),
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
    /// The prompt that was confirmed, until it is known whether it still fits.
    confirmed: Option<Prompt>,
    /// The last row is meant once all are read.
    goes_to_last: bool,
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
            confirmed: None,
            goes_to_last: false,
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
        let at = self.selected_index();
        self.listing = listing;
        let is_there = |key: &String| self.listing.rows.iter().any(|row| row.key == *key);
        if std::mem::take(&mut self.goes_to_last) {
            self.select(usize::MAX);
        } else if !self.selected.as_ref().is_some_and(is_there) {
            self.select(at);
        }
        let conflict = self.prompt.as_ref().and_then(|prompt| self.conflict(prompt));
        if let Some(prompt) = &mut self.prompt {
            prompt.conflict = conflict;
        }
    }

    /// The row of a thing, first one that offers the same.
    fn row_of(&self, target: &Target) -> Option<&Row> {
        let rows = &self.listing.rows;
        let is_same = |row: &&Row| {
            let of = &row.target;
            (of.noun, &of.project_id, &of.id) == (target.noun, &target.project_id, &target.id)
        };
        rows.iter().find(|row| row.target == *target).or_else(|| rows.iter().find(is_same))
    }

    /// A message that is begun goes to its receivers, whatever became of the row.
    fn conflict(&self, prompt: &Prompt) -> Option<Conflict> {
        let target = &prompt.target;
        match self.row_of(target) {
            _ if prompt.offered.action == RowAction::Write => None,
            None => Some(Conflict::Gone),
            Some(row) if row.target != *target => Some(Conflict::Changed),
            Some(_) => None,
        }
    }

    /// Whether what was confirmed still fits what was read since. Where it does not, the prompt is open again with what was typed, and
    /// nothing is done: one whose thing has changed and still offers the action is bound to it as it is now.
    pub(super) fn is_confirmed(&mut self) -> bool {
        let Some(mut prompt) = self.confirmed.take() else { return true };
        let Some(conflict) = self.conflict(&prompt) else {
            self.confirmed = Some(prompt);
            return true;
        };
        let now = self.row_of(&prompt.target).and_then(|row| {
            let is_same = |one: &&OfferedAction| {
                (one.action, &one.task_id) == (prompt.offered.action, &prompt.offered.task_id)
            };
            let offered = row.target.actions.iter().find(is_same)?;
            Some((offered.clone(), row.target.clone(), row.about.clone()))
        });
        prompt.conflict = Some(conflict);
        if let Some((offered, target, about)) = now {
            self.message = changed_text(&prompt.offered, &offered);
            prompt.fill_for(offered);
            prompt = Prompt { target, about, conflict: None, ..prompt };
        } else {
            self.message = "nothing was sent: it is gone, answered or done elsewhere · Esc leaves".to_owned();
        }
        self.prompt = Some(prompt);
        false
    }

    pub(super) fn set_message(&mut self, text: String) {
        self.message = text;
    }

    /// Takes why a deed was refused. What was typed for it, besides the name, is kept: the prompt is open again, and where the refusal
    /// warns, Enter does it all the same.
    pub(super) fn refuse(&mut self, code: &str, text: String) {
        self.message = text;
        let is_typed = |prompt: &Prompt| prompt.fields.iter().skip(1).any(|field| !field.value.is_empty());
        self.prompt = self.confirmed.take().filter(is_typed);
        let is_asked = |prompt: &&mut Prompt| prompt.offered.action == RowAction::Reassign;
        let warning = act::WARNINGS.into_iter().find(|known| *known == code);
        if let (Some(prompt), Some(code)) = (self.prompt.as_mut().filter(is_asked), warning) {
            prompt.warnings.push(code);
            self.message =
                format!("{} · Enter once more does it all the same · Esc leaves", first_part(&self.message));
        }
    }

    /// Takes what a deed came to. The name under which it was done is remembered from then on.
    pub(super) fn finish(&mut self, deed: &Action, message: String, undo: Option<Undo>) {
        if let Some(identity) = deed.identity() {
            identity.clone_into(&mut self.identity);
        }
        self.message = message;
        self.undo = undo;
        self.detail = None;
        self.confirmed = None;
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
    pub(super) fn selected_index(&self) -> usize {
        let found = self.matching_rows();
        found.iter().position(|row| Some(&row.key) == self.selected.as_ref()).unwrap_or_default()
    }

    /// The row that is meant.
    pub(super) fn row(&self) -> Option<&Row> {
        self.matching_rows().get(self.selected_index()).copied()
    }

    fn select(&mut self, at: usize) {
        let found = self.matching_rows();
        let key = found.get(at.min(found.len().saturating_sub(1))).map(|row| row.key.clone());
        self.selected = key;
    }
}

/// A refusal without its hint.
fn first_part(text: &str) -> &str {
    text.split(" · ").next().unwrap_or(text)
}

/// What is said where the thing of a prompt has changed and still offers the action: whose it is by now.
fn changed_text(before: &OfferedAction, now: &OfferedAction) -> String {
    let what = match &now.in_place_of {
        Some(who) if now.in_place_of != before.in_place_of => format!("{} has it by now", visible(who)),
        _ if now.assignee != before.assignee => match &now.assignee {
            Some(who) => format!("{} was given it meanwhile", visible(who)),
            None => "nobody has it any more".to_owned(),
        },
        _ => "it has changed meanwhile".to_owned(),
    };
    format!("{what}: Enter once more does it all the same · Esc leaves")
}

#[cfg(test)]
mod tests;
