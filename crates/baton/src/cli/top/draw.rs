//! `baton top` as lines of text. What counts is said by words and marks, and by colours only besides.

use super::act;
use super::state::{Detail, Field, Prompt, Row, State, View};
use crate::cells::{cells, cut, fit, fit_middle, truncate_at_word, wrap};

const MARKED: &str = "\u{1b}[7m";
const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// Lines above a list: the views, what there is, the names of the columns.
const HEAD: usize = 3;
/// Lines below it: words and command of the row, a message, the keys.
const FOOT: usize = 4;
/// The widest that a column may be, but for the last one.
const WIDEST: usize = 18;
/// The widest that the first column may be.
const FIRST: usize = 22;
/// The room that the last column has at least, where its words need it and the screen has it.
const LAST: usize = 24;

const KEYS: &str = "j k Enter · 1-9 views · / filter · ? keys · q leave";
const HELP: &[&str] = &[
    "j k ↑ ↓       next and previous row",
    "Enter         open it; of a project: look at this one alone",
    "Esc q h       back, and leave",
    "1 … 9, h l    a view; 0 looks at all projects again (9: what was decided, in all)",
    "g G           first and last row; PgUp PgDn by pages",
    "/             only rows with these words, among all; Esc ends it",
    "p             pick up a baton or a hand-off; u gives it back",
    "w             withdraw a baton that you left; take back a message that nobody has read",
    "r             reassign a session; give a task away (v: the one that waits)",
    "e             end your session: what it holds waits again; close a task",
    "b             give a task back, or take it back from its agent",
    "m             write to whom a row is about, or to anybody of its project",
    "a             answer a message; y acknowledges it",
    "c             claim a task; o opens a blocked one again",
    "t x           try a hand-off again now; cancel it",
    "d e           decline a hand-off, also an accepted one; complete it",
    "n             leave a hand-off anew that came back",
    "f             follow, or hold still; R looks now",
    "Ctrl-C        leave at once",
];

/// How many rows of a list a screen of this height has.
pub(super) fn list_height(height: usize) -> usize {
    height.saturating_sub(HEAD + FOOT).max(1)
}

/// Exactly as many lines as the screen has rows, none wider than it.
pub(super) fn lines(state: &State, color: bool, (width, height): (usize, usize)) -> Vec<String> {
    let pen = Painter { color, width };
    let message = pen.message_lines(state, height);
    // What a message has over one line is taken from the rows above it.
    let more = message.len().saturating_sub(1);
    let body = height.saturating_sub(more);
    let mut lines = vec![pen.views(state.view)];
    if state.is_help {
        lines.extend(HELP.iter().map(|line| cut(line, width)));
    } else if let Some(detail) = &state.detail {
        lines.extend(pen.detail(detail, body.saturating_sub(FOOT - 1)));
    } else {
        lines.extend(pen.list(state, list_height(body)));
    }
    lines.truncate(body.saturating_sub(2));
    lines.resize(body.saturating_sub(2), String::new());
    lines.extend(message);
    lines.push(pen.styled(DIM, &pen.keys(state)));
    lines
}

struct Painter {
    color: bool,
    width: usize,
}

impl Painter {
    fn styled(&self, code: &str, text: &str) -> String {
        let text = cut(text, self.width);
        if self.color { format!("{code}{text}{PLAIN}") } else { text }
    }

    /// The views; the one that is shown stands in brackets.
    fn views(&self, shown: View) -> String {
        let all = |gap: &str, between: &str| {
            let name = |(at, view): (usize, &View)| match *view == shown {
                true => format!("[{} {}]", at + 1, view.title()),
                false => format!("{}{gap}{}", at + 1, view.title()),
            };
            View::ALL.iter().enumerate().map(name).collect::<Vec<_>>().join(between)
        };
        // On 80 columns all are read, close together; on a narrower screen at least the one that is shown.
        let forms = [all(" ", "  "), all(" ", " "), all("", " ")];
        let fitting = forms.into_iter().find(|form| cells(form) <= self.width);
        self.styled(BOLD, &fitting.unwrap_or_else(|| format!("[{}]  1-9", shown.title())))
    }

    fn list(&self, state: &State, height: usize) -> Vec<String> {
        let found = state.matching_rows();
        let filter = match (state.is_filtering, state.filter.is_empty()) {
            (false, true) => String::new(),
            (is_typed, _) => {
                format!("/{}{} {} · ", state.filter, if is_typed { "▏" } else { "" }, found.len())
            }
        };
        let held = if state.is_following { "" } else { " · held still" };
        // What was typed is read before a heading that may be long.
        let mut lines =
            vec![truncate_at_word(&format!("{filter}{}{held}", state.listing.heading), self.width)];
        let widths = widths(&found, state.listing.columns, self.width.saturating_sub(2));
        let names: Vec<String> = state.listing.columns.iter().map(|name| (*name).to_owned()).collect();
        lines.push(self.styled(DIM, &format!("  {}", aligned(&names, state.listing.columns, &widths))));
        let at = state.selected_index();
        let from = at.saturating_sub(height.saturating_sub(1));
        for (place, row) in found.iter().enumerate().skip(from).take(height) {
            let text = aligned(&row.cells, state.listing.columns, &widths);
            lines.push(match place == at {
                true => self.styled(MARKED, &format!("> {text}")),
                false => cut(&format!("  {text}"), self.width),
            });
        }
        if found.is_empty() {
            let text = if state.message.is_empty() { "  nothing here" } else { "" };
            lines.push(cut(text, self.width));
        }
        // What is asked is about the row for which it was asked.
        let of_prompt = state.prompt.as_ref().map(|prompt| &prompt.about);
        let about = of_prompt.or_else(|| state.row().map(|row| &row.about)).cloned().unwrap_or_default();
        let free = height.saturating_sub(found.len().max(1));
        let about = self.about_lines(&about, free);
        lines.resize(2 + height + 2 - about.len(), String::new());
        lines.extend(about.iter().map(|line| self.styled(DIM, line)));
        lines
    }

    /// Words and command of a row, each on a line; words that are longer take the lines that the list leaves free.
    fn about_lines(&self, [words, command]: &[String; 2], free: usize) -> Vec<String> {
        let mut lines = wrap(words, self.width);
        if lines.len() > free + 1 {
            let rest = lines.split_off(free);
            lines.push(rest.join(" "));
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(command.clone());
        lines
    }

    fn detail(&self, detail: &Detail, height: usize) -> Vec<String> {
        let rows = height.saturating_sub(1);
        let wrapped = detail.lines.iter().skip(detail.top).flat_map(|line| wrap(line, self.width));
        let place = format!("{} · line {} of {}", detail.title, detail.top + 1, detail.lines.len());
        let mut lines = vec![self.styled(DIM, &place)];
        lines.extend(wrapped.take(rows));
        lines
    }

    /// The message, on as many lines as it takes, or what is asked.
    fn message_lines(&self, state: &State, height: usize) -> Vec<String> {
        let most = (height / 3).max(1);
        let mut message = match &state.prompt {
            Some(_) if !self.is_long(&state.message) => Vec::new(),
            _ => wrap(&state.message, self.width),
        };
        message.truncate(if state.prompt.is_some() { most.saturating_sub(1) } else { most });
        message.extend(state.prompt.as_ref().map(|prompt| prompt_line(prompt, self.width)));
        message.iter().map(|line| self.styled(BOLD, line)).collect()
    }

    /// Whether a message does not fit on the last line, and is read above the prompt.
    fn is_long(&self, message: &str) -> bool {
        cells(message) > self.width
    }

    fn keys(&self, state: &State) -> String {
        if let Some(prompt) = &state.prompt {
            let message = if self.is_long(&state.message) { "" } else { state.message.as_str() };
            return match (message, prompt.conflict) {
                ("", Some(conflict)) => conflict.text().to_owned(),
                ("", None) if prompt.is_ready() => {
                    "Enter does it · ↑ changes the name · Esc leaves".to_owned()
                }
                ("", None) => "Enter goes on · Esc leaves".to_owned(),
                (message, _) => message.to_owned(),
            };
        }
        let target = match &state.detail {
            Some(detail) => Some(&detail.target),
            None => state.row().map(|row| &row.target),
        };
        let hints = target.map(act::hints).filter(|hints| !hints.is_empty());
        let Some(hints) = hints else { return KEYS.to_owned() };
        let all = format!("{hints} · {KEYS}");
        if cells(&all) <= self.width { all } else { format!("{hints} · ? keys · q leave") }
    }
}

/// The prompt: the field that is typed into is seen to its end, and those after it as far as they have room.
fn prompt_line(prompt: &Prompt, width: usize) -> String {
    let field = |(at, field): (usize, &Field)| {
        let empty = if field.is_optional && field.value.is_empty() { "(may stay empty)" } else { "" };
        let here = if at == prompt.at { "▏" } else { "" };
        format!(" · {}: {}{here}{empty}", field.name, field.value)
    };
    let fields: Vec<String> = prompt.fields.iter().enumerate().map(field).collect();
    let (before, after) = fields.split_at(fields.len().min(prompt.at.saturating_add(1)));
    let text = format!("{}{}", act::title(&prompt.offered), before.concat());
    if cells(&text) > width {
        let over = text.chars().count().saturating_sub(width.saturating_sub(1));
        return format!("…{}", text.chars().skip(over).collect::<String>());
    }
    format!("{text}{}", after.concat())
}

/// How wide each column is: as its widest cell, so that the last one has room.
fn widths(rows: &[&Row], names: &[&'static str], width: usize) -> Vec<usize> {
    let columns = names.len();
    let widest = |at: usize| {
        let name = names.get(at).map_or(0, |name| cells(name));
        let found = rows.iter().filter_map(|row| row.cells.get(at)).map(|cell| cells(cell)).max();
        // The first says what a row is.
        let most = if at == 0 { FIRST } else { WIDEST };
        found.unwrap_or_default().max(name).min(most)
    };
    // Short words need no more room than they have.
    let words =
        rows.iter().filter_map(|row| row.cells.get(columns.saturating_sub(1))).map(|cell| cells(cell));
    let last = words.max().unwrap_or_default().min(LAST);
    let mut widths: Vec<usize> = (0..columns.saturating_sub(1)).map(widest).collect();
    let taken = |widths: &[usize]| widths.iter().map(|width| width + 2).sum::<usize>();
    // The widest gives way first, and the first column last. Ages and activity are read whole, and so is the name of a column.
    let least = |at: usize| match names.get(at) {
        Some(&("age" | "heard" | "state" | "prio" | "12 h")) => usize::MAX,
        name => name.map_or(0, |name| cells(name)).max(5),
    };
    while taken(&widths) + last > width {
        let others = widths.iter_mut().enumerate().skip(1).filter(|(at, width)| **width > least(*at));
        if let Some((_, most)) = others.max_by_key(|(_, width)| **width) {
            *most -= 1;
        } else if let Some(first) = widths.first_mut().filter(|width| **width > 5) {
            *first -= 1;
        } else {
            break;
        }
    }
    let left = width.saturating_sub(taken(&widths));
    widths.push(left);
    widths
}

fn aligned(cells: &[String], names: &[&'static str], widths: &[usize]) -> String {
    let parts: Vec<String> = cells
        .iter()
        .zip(widths)
        .enumerate()
        .map(|(at, (cell, width))| {
            // Words lose their end; names keep theirs, by which they differ.
            let is_words = at + 1 == widths.len() || names.get(at) == Some(&"what");
            if is_words { fit(cell, *width) } else { fit_middle(cell, *width) }
        })
        .collect();
    parts.join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::state::{Listing, Noun, Row, State, Target};
    use super::*;

    fn row(key: &str, words: &str) -> Row {
        let target =
            Target { noun: Noun::Baton, project_id: "shop".into(), id: key.into(), actions: Vec::new() };
        Row {
            key: key.into(),
            cells: vec!["open".into(), "3 h".into(), words.into()],
            about: [words.into(), format!("baton pickup --handoff {key}")],
            target,
        }
    }

    #[test]
    fn words_that_are_longer_than_a_line_take_the_lines_that_are_free() {
        let long = format!("hand-off failed: {}name the right repository", "GitHub answered 404; ".repeat(8));
        let mut state = State::new(None, Some("Ann".into()));
        let listing = |rows: Vec<Row>| Listing {
            heading: "wait".into(),
            columns: &["state", "age", "words"],
            rows,
            is_more: false,
        };
        state.take(listing(vec![row("a", &long)]));
        let shown = lines(&state, false, (80, 24));
        let text = shown.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        assert!(text.contains(&long), "{shown:#?}");
        assert!(shown.len() == 24 && shown.iter().any(|line| line.ends_with("--handoff a")), "{shown:#?}");
        // Where the list needs the lines, it has them.
        state.take(listing((0..40).map(|n| row(&format!("k{n}"), &long)).collect()));
        let full = lines(&state, false, (80, 24));
        assert_eq!(full.iter().filter(|line| line.contains("3 h")).count(), list_height(24), "{full:#?}");
    }
}
