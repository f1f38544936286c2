//! A terminal that is drawn on as a whole. It is standard error: standard output is the answer's.

use std::io::{self, Write};

use crossterm::{cursor, queue, terminal};

/// The terminal while it is ours. However this ends, it is given back as it was.
pub(crate) struct Screen {
    /// The size when it was drawn last, and the lines that stand there.
    drawn: ((usize, usize), Vec<String>),
}

impl Screen {
    /// Takes the terminal.
    pub(crate) fn open() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Self { drawn: Default::default() };
        crossterm::execute!(io::stderr(), terminal::EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }

    /// Its columns and rows now; at least as many as a picture needs.
    pub(crate) fn size() -> (usize, usize) {
        let (width, height) = terminal::size().unwrap_or((80, 24));
        (usize::from(width.max(20)), usize::from(height.max(6)))
    }

    /// Draws these lines from the top. What stands there already is not sent again: the terminal may be far away.
    pub(crate) fn draw(&mut self, size: (usize, usize), lines: Vec<String>) -> io::Result<()> {
        let (drawn_size, drawn) = &self.drawn;
        let is_anew = *drawn_size != size || drawn.len() != lines.len();
        let mut err = io::BufWriter::new(io::stderr().lock());
        if is_anew {
            queue!(err, terminal::Clear(terminal::ClearType::All))?;
        }
        for (row, line) in lines.iter().enumerate() {
            if !is_anew && drawn.get(row) == Some(line) {
                continue;
            }
            queue!(err, cursor::MoveTo(0, u16::try_from(row).unwrap_or(u16::MAX)))?;
            queue!(err, terminal::Clear(terminal::ClearType::CurrentLine))?;
            err.write_all(line.as_bytes())?;
        }
        err.flush()?;
        self.drawn = (size, lines);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = crossterm::execute!(io::stderr(), cursor::Show, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}
