//! A list on the terminal with search as one types and a preview. It draws on standard error: standard output is the
//! answer's.

mod draw;
mod state;

use std::io::{self, IsTerminal};
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub(crate) use state::Item;
use state::{Key, State, Step};

use crate::error::AppError;
use crate::screen::Screen;

/// Delay without input before a preview is made: making it may take longer than typing the next letter.
const PREVIEW_DELAY: Duration = Duration::from_millis(80);

/// Whether standard input and standard error are terminals, so that the user can choose interactively.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether standard input and standard output are terminals, on which a tool can show itself.
pub(crate) fn has_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Lets the user choose one of the items: its number. The preview is asked for once for each item that is looked at.
pub(crate) fn pick(
    title: &str,
    items: Vec<Item>,
    preview: &mut dyn FnMut(usize) -> String,
) -> Result<usize, AppError> {
    let mut state = State::new(title, items);
    let mut screen = Screen::open()?;
    loop {
        let size = Screen::size();
        screen.draw(size, draw::lines(&state, size.0, size.1))?;
        if let Some(wanted) = state.unseen()
            && !event::poll(PREVIEW_DELAY)?
        {
            state.set_preview(wanted, &preview(wanted));
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        let step = key_of(key).map_or(Step::Stay, |key| state.press(key));
        match step {
            Step::Stay => {}
            Step::Chosen(item) => {
                drop(screen);
                return Ok(item);
            }
            Step::Quit => return Err(AppError::Interrupted),
        }
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Leave),
        KeyCode::Char('c' | 'd') if control => Some(Key::Leave),
        KeyCode::Char('j') if control => Some(Key::Enter),
        KeyCode::Char('n') if control => Some(Key::Down),
        KeyCode::Char('p') if control => Some(Key::Up),
        KeyCode::Char('u') if control => Some(Key::Clear),
        KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => None,
        KeyCode::Char(c) => Some(Key::Letter(c)),
        KeyCode::Backspace => Some(Key::Back),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        _ => None,
    }
}
