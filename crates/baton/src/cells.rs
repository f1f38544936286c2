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

/// A text in exactly this width. What is too long loses its middle, so that names with one beginning still differ; of `A → B` either side.
pub(crate) fn fit_middle(text: &str, width: usize) -> String {
    const ARROW: &str = " → ";
    let text = baton_model::printable::line(text);
    if cells(&text) <= width {
        return fit(&text, width);
    }
    let room = width.saturating_sub(cells(ARROW));
    match text.split_once(ARROW) {
        Some((from, to)) if room >= 6 => {
            // The shorter side leaves the longer one what it does not need.
            let left = (room / 2).max(room.saturating_sub(cells(to))).min(cells(from));
            let right = room - left;
            fit(&format!("{}{ARROW}{}", without_middle(from, left), without_middle(to, right)), width)
        }
        _ => fit(&without_middle(&text, width), width),
    }
}

/// A text that is no wider than this: its beginning and its end.
fn without_middle(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let head = cut(text, room.div_ceil(2));
    let mut left = room.saturating_sub(cells(&head));
    let fits = |c: &char| {
        let wide = cell(*c);
        let is_in = left >= wide;
        left = if is_in { left - wide } else { 0 };
        is_in
    };
    let tail: Vec<char> = text.chars().rev().take_while(fits).collect();
    let dots = if width == 0 { "" } else { "…" };
    format!("{head}{dots}{}", tail.into_iter().rev().collect::<String>())
}

/// The whole words of a line that fit; what is left out is marked.
pub(crate) fn truncate_at_word(line: &str, width: usize) -> String {
    let line = baton_model::printable::line(line);
    if cells(&line) <= width {
        return line.into_owned();
    }
    let head = cut(&line, width.saturating_sub(2));
    let is_whole = line.get(head.len()..).is_some_and(|rest| rest.starts_with(' '));
    let head = if is_whole { head.as_str() } else { head.rsplit_once(' ').map_or("", |(words, _)| words) };
    cut(&format!("{} …", head.trim_end_matches([',', ' '])), width)
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
        assert_eq!(
            (fit_middle("shop-w2", 6).as_str(), fit_middle("shop-w3", 6).as_str()),
            ("sho…w2", "sho…w3")
        );
        assert_eq!(fit_middle("shopA1 → shopA2", 13), "sh…A1 → sh…A2");
        assert_eq!(fit_middle("Al → Bartholomew", 13), "Al → Bart…mew");
        assert_eq!((fit_middle("計算計算", 5).as_str(), fit_middle("abc", 0).as_str()), ("計…算", ""));
        let counts = "12 in all: 1 retried task, 1 lease conflict";
        assert_eq!(truncate_at_word(counts, 33), "12 in all: 1 retried task, 1 …");
        assert_eq!(truncate_at_word(counts, 27), "12 in all: 1 retried …");
        assert_eq!(truncate_at_word(counts, 60), counts);
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("計算計算", 3), ["計", "算", "計", "算"]);
        assert_eq!(wrap("計a", 1), ["", "a"]);
        assert_eq!((fit("ab", 1).as_str(), cells(&fit("e\u{301}", 4))), ("a", 4));
    }
}
