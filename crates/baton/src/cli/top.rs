//! `baton top`: what needs a person, who works, what waits, on a terminal.

mod act;
mod activity;
mod data;
mod decisions;
mod draw;
mod rows;
mod state;

use std::time::{Duration, Instant};

use baton_model::refusal::Refusal;
use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::app::App;
use crate::error::AppError;
use crate::picker;
use crate::screen::Screen;
use state::{Key, KeyEffect, State};

/// Pause between two looks at the ledger.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// A ledger that takes long to answer is asked less often: so many times as long as it took.
const COST_FACTOR: u32 = 8;

/// Watch what needs you, agents, batons, hand-offs, tasks, mail and threads on a terminal
///
/// What is worst comes first. Drill in with Enter; pick up, reassign, answer, try again with one key; ? lists the keys.
/// It works on the store, or on the server that your settings name. With --project only one project is looked at.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Seconds between two looks at the ledger
    #[arg(long, value_name = "S", default_value_t = REFRESH_INTERVAL.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    if !picker::can_ask() {
        let what = "`baton top` needs a terminal, and there is none";
        let hint =
            "`baton attention` prints what needs you; `baton status --watch` follows a project on a pipe";
        return Err(Refusal::invalid("terminal_missing", what, hint).into());
    }
    app.is_full_screen = true;
    let mut state = State::new(app.project.clone(), app.config.identity.clone());
    let mut screen = Screen::open()?;
    let result = watch(app, &mut state, &mut screen, Duration::from_secs(args.every));
    drop(screen);
    app.is_full_screen = false;
    result
}

/// Draws, waits for a key or for the next look, and does what the key means, until one means the end.
fn watch(app: &mut App, state: &mut State, screen: &mut Screen, every: Duration) -> Result<(), AppError> {
    let mut due = Instant::now();
    loop {
        if state.is_following && due <= Instant::now() {
            due = look(app, state, every);
        }
        let size = Screen::size();
        state.set_height(draw::list_height(size.1));
        screen.draw(size, draw::lines(state, app.color, size))?;
        if !event::poll(wait(state.is_following, due, Instant::now(), every))? {
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        let Some(key) = key_of(key) else { continue };
        match state.press(key) {
            KeyEffect::Stay => {}
            KeyEffect::Quit => return Ok(()),
            KeyEffect::Look => due = look(app, state, every),
            KeyEffect::Open(target) => match data::detail(app, &target) {
                Ok(detail) => state.show(detail),
                Err(error) => state.set_message(data::error_line(&error)),
            },
            KeyEffect::Act(deed) => {
                // What was confirmed is done to what was shown: it is looked at once more before.
                due = look(app, state, every);
                if !state.is_confirmed() {
                    continue;
                }
                match act::run(app, &deed) {
                    Ok((message, undo)) => state.finish(&deed, message, undo),
                    Err(error) => state.refuse(data::code(&error), data::error_line(&error)),
                }
                due = look(app, state, every);
            }
        }
    }
}

/// How long to wait for a key. Where the view stands still no look is due: the time of the last one has passed, and to wait for that would
/// be not to wait.
fn wait(is_following: bool, due: Instant, now: Instant, every: Duration) -> Duration {
    if is_following { due.saturating_duration_since(now).min(every) } else { every }
}

/// Reads the view anew; when the next look is due.
fn look(app: &mut App, state: &mut State, every: Duration) -> Instant {
    let begin = Instant::now();
    match data::listing(app, state) {
        Ok(listing) => state.take(listing),
        Err(AppError::Refused(refusal)) if refusal.code == "project_unresolved" => {
            state.set_message("this view is of one project: press 7, and Enter on it".to_owned());
        }
        Err(error) => state.set_message(data::error_line(&error)),
    }
    Instant::now() + every.max(begin.elapsed() * COST_FACTOR)
}

fn key_of(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Key::Interrupt),
        KeyCode::Char('d' | 'f') if control => Some(Key::PageDown),
        KeyCode::Char('u' | 'b') if control => Some(Key::PageUp),
        KeyCode::Char('j' | 'm') if control => Some(Key::Enter),
        KeyCode::Char(_) if control || key.modifiers.contains(KeyModifiers::ALT) => None,
        KeyCode::Char(c) => Some(Key::Letter(c)),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Leave),
        KeyCode::Backspace => Some(Key::Back),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        KeyCode::PageUp => Some(Key::PageUp),
        KeyCode::PageDown => Some(Key::PageDown),
        KeyCode::Home => Some(Key::First),
        KeyCode::End => Some(Key::Last),
        KeyCode::Tab | KeyCode::Right => Some(Key::Next),
        KeyCode::BackTab | KeyCode::Left => Some(Key::Previous),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_that_stands_still_waits() {
        let (every, now) = (Duration::from_secs(2), Instant::now());
        assert_eq!(wait(false, now, now + every, every), every);
        assert_eq!(wait(true, now, now + every, every), Duration::ZERO);
        assert_eq!(wait(true, now + every / 2, now, every), every / 2);
    }
}
