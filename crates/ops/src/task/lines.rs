//! Lines of a Beads file, wherever they come from.

use baton_model::refusal::Refusal;

/// Lines of a file, read one after another, as often as it takes.
pub trait Lines {
    /// Goes back to the first line.
    fn rewind(&mut self) -> Result<(), Refusal>;

    /// The next line without its end; none after the last. One that is no text is refused (`beads_invalid`); the next call goes on
    /// behind it.
    fn next(&mut self) -> Result<Option<String>, Refusal>;
}

/// Lines that are in memory.
pub(super) struct MemoryLines<'a> {
    lines: &'a [String],
    at: usize,
}

impl Lines for MemoryLines<'_> {
    fn rewind(&mut self) -> Result<(), Refusal> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<String>, Refusal> {
        self.at += 1;
        let Some(line) = self.lines.get(self.at - 1) else { return Ok(None) };
        if line.contains(['\n', '\r']) {
            // Written to a file it would be several lines, each of which would be believed.
            let what = format!("line {} holds a line break", self.at);
            return Err(Refusal::invalid("beads_invalid", what, "send each line of the file by itself"));
        }
        Ok(Some(line.clone()))
    }
}

impl<'a> MemoryLines<'a> {
    pub(super) fn new(lines: &'a [String]) -> Self {
        Self { lines, at: 0 }
    }
}
