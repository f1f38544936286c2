//! The picker as lines of text: what was typed, the list, the preview, the keys.

use super::state::{Item, State};
use crate::cells::{cells, cut, fit};

const MARKED: &str = "\u{1b}[7m";
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";
const KEYS: &str = "type to search · ↑ ↓ choose · Enter take · Esc leave";

/// Exactly as many lines as the screen has rows, none wider than it.
pub(super) fn lines(state: &State, width: usize, height: usize) -> Vec<String> {
    let list = height.saturating_sub(3).div_ceil(2).max(1);
    let mut lines = Vec::with_capacity(height);
    let count = format!("{}/{}", state.found.len(), state.items.len());
    lines.push(cut(&format!("{}: {}▏ {count}", state.title, state.query), width));
    lines.extend(rows(state, width, list));
    lines.push(format!("{DIM}{}{PLAIN}", cut(&"─".repeat(width), width)));
    let room = height.saturating_sub(lines.len() + 1);
    let preview = match (state.found.is_empty(), state.unseen()) {
        (true, _) => vec!["nothing is found".to_owned()],
        (_, Some(_)) => vec!["…".to_owned()],
        _ => state.preview().to_vec(),
    };
    lines.extend(preview.iter().take(room).map(|line| cut(line, width)));
    lines.resize(height.saturating_sub(1), String::new());
    lines.push(format!("{DIM}{}{PLAIN}", cut(KEYS, width)));
    lines
}

/// The part of the list round the marked item.
fn rows(state: &State, width: usize, height: usize) -> Vec<String> {
    let from = state.at.saturating_sub(height.saturating_sub(1));
    let widths = widths(&state.items);
    let row = |(at, item): (usize, &usize)| {
        let text = state.items.get(*item).map_or_else(String::new, |item| aligned(item, &widths));
        match at == state.at {
            true => format!("{MARKED}{}{PLAIN}", cut(&format!("> {text}"), width)),
            false => cut(&format!("  {text}"), width),
        }
    };
    let mut rows: Vec<String> = state.found.iter().enumerate().skip(from).take(height).map(row).collect();
    rows.resize(height, String::new());
    rows
}

fn widths(items: &[Item]) -> Vec<usize> {
    let columns = items.iter().map(|item| item.columns.len()).max().unwrap_or_default();
    let widest = |at: usize| {
        items.iter().filter_map(|item| item.columns.get(at)).map(|cell| cells(cell)).max().unwrap_or_default()
    };
    (0..columns).map(|at| widest(at).min(60)).collect()
}

fn aligned(item: &Item, widths: &[usize]) -> String {
    let mut text = String::new();
    for (cell, width) in item.columns.iter().zip(widths) {
        text.push_str(&fit(&cut(cell, *width), width + 2));
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::state::Key;
    use super::*;

    fn plain(line: &str) -> String {
        [MARKED, DIM, PLAIN].iter().fold(line.to_owned(), |line, code| line.replace(code, ""))
    }

    #[test]
    fn a_screen_of_any_size_is_filled_and_never_overrun() {
        let item =
            |n: usize| Item { columns: vec![format!("{n}"), "計算 ".repeat(30)], words: String::new() };
        let mut state = State::new("continue", (0..50).map(item).collect());
        state.set_preview(0, &"long line ".repeat(40));
        for (width, height) in [(20, 6), (80, 24), (200, 60)] {
            for _ in 0..12 {
                state.press(Key::Down);
            }
            let lines = lines(&state, width, height);
            assert_eq!(lines.len(), height);
            assert!(lines.iter().all(|line| cells(&plain(line)) <= width), "{width}: {lines:#?}");
            let marked: Vec<&String> = lines.iter().filter(|line| line.starts_with(MARKED)).collect();
            assert_eq!(marked.len(), 1, "what is meant is seen");
            assert!(plain(marked[0]).starts_with(&format!("> {}", state.at)));
        }
    }
}
