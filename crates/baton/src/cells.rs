//! Text in the cells of a terminal: how wide it is, and what of it fits.

/// The beginning of a line that is no wider than this; what does not show is made visible.
pub(crate) fn cut(line: &str, width: usize) -> String {
    let line = baton_model::printable::line(line);
    let mut left = width;
    let fits = |c: &char| {
        let wide = cell(*c);
        let room = left >= wide;
        left = left.saturating_sub(wide);
        room
    };
    line.chars().take_while(fits).collect()
}

/// A text in exactly this width: cut, or filled up with blanks.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let mut text = cut(text, width);
    let missing = width.saturating_sub(cells(&text));
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// A line as several that are no wider than this, broken at blanks where there are any.
pub(crate) fn wrap(line: &str, width: usize) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), baton_model::printable::line(line).into_owned());
    while cells(&rest) > width {
        let head = cut(&rest, width);
        let at = head.rfind(' ').filter(|at| *at > head.len() / 2).unwrap_or(head.len());
        // A letter that is wider than the screen is not shown; what follows it is.
        let at = if at == 0 { rest.chars().next().map_or(rest.len(), char::len_utf8) } else { at };
        let tail = rest.split_off(at);
        lines.push(cut(&rest, width));
        rest = tail.trim_start().to_owned();
    }
    lines.push(rest);
    lines
}

/// How many columns a text takes.
pub(crate) fn cells(text: &str) -> usize {
    text.chars().map(cell).sum()
}

/// How many columns a letter takes: two in the scripts and signs of East Asia, none where it only marks the one before.
fn cell(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0x202a..=0x202e | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f => 2,
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_fills_its_cells_and_no_more() {
        assert_eq!(fit("計算", 5), "計算 ");
        assert_eq!(fit("計算", 3), "計 ");
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("計算計算", 3), ["計", "算", "計", "算"]);
        assert_eq!(wrap("計a", 1), ["", "a"]);
        assert_eq!((fit("ab", 1).as_str(), cells(&fit("e\u{301}", 4))), ("a", 4));
    }
}
