//! Long text made shorter at a sensible place, always with a visible `…`.

/// The head of a text: at most `limit` characters, cut after a sentence or a word.
pub(super) fn head(text: &str, limit: usize) -> String {
    let text = text.trim();
    let Some((hard, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let kept = &text[..hard];
    let good = |at: &usize| *at * 5 > hard * 3;
    let sentence = kept.char_indices().rev().filter(|(at, c)| ends_sentence(*c, &text[at + c.len_utf8()..]));
    let stop = sentence.map(|(at, c)| at + c.len_utf8()).next().filter(good);
    let at = stop.or_else(|| kept.rfind(char::is_whitespace).filter(good)).unwrap_or(hard);
    format!("{} …", kept[..at].trim_end())
}

fn ends_sentence(c: char, after: &str) -> bool {
    matches!(c, '。' | '\n') || (matches!(c, '.' | '!' | '?') && after.starts_with(char::is_whitespace))
}

/// The head of a text, limited in lines as well.
pub(super) fn head_lines(text: &str, lines: usize, limit: usize) -> String {
    let text = text.trim_matches('\n');
    match text.match_indices('\n').nth(lines.saturating_sub(1)) {
        Some((at, _)) if !text[..at].trim().is_empty() => {
            let kept = head(&text[..at], limit);
            if kept.ends_with('…') { kept } else { kept + "\n…" }
        }
        _ => head(text, limit),
    }
}

/// A line or name of at most `limit` characters: the middle goes, because both ends of a path or command tell.
pub(super) fn middle(text: &str, limit: usize) -> String {
    let text = text.trim();
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let tail = limit / 3;
    let front: String = text.chars().take(limit.saturating_sub(tail + 1)).collect();
    let back: String = text.chars().skip(length - tail).collect();
    format!("{front}…{back}")
}

/// The last lines of an output, the end of which tells how it ended.
pub(super) fn tail(text: &str, lines: usize, limit: usize) -> String {
    let text = text.trim_end().trim_start_matches('\n');
    let all: Vec<&str> = text.lines().collect();
    let mut kept: Vec<String> = Vec::new();
    let mut used = 0;
    for line in all.iter().rev().take(lines) {
        let short = middle(line.trim_end(), 240.min(limit));
        used += short.chars().count() + 1;
        if used > limit && !kept.is_empty() {
            break;
        }
        kept.push(indent_of(line).to_owned() + &short);
    }
    let missing = all.len() - kept.len();
    if missing > 0 {
        kept.push(format!("… ({missing} {} above)", if missing == 1 { "line" } else { "lines" }));
    }
    kept.reverse();
    kept.join("\n")
}

fn indent_of(line: &str) -> &str {
    let width = line.len() - line.trim_start_matches(' ').len();
    &line[..width.min(8)]
}

const TELLING: &[&str] = &[
    "error",
    "fail",
    "panic",
    "assert",
    "exception",
    "expected",
    "fatal",
    "cannot",
    "not found",
    "undefined",
    "denied",
    "refused",
    "timed out",
    "mismatch",
    "left:",
    "right:",
];

fn tells(line: &str) -> bool {
    let lower = line.to_lowercase();
    TELLING.iter().any(|word| lower.contains(word))
}

/// The lines of an output that say what went wrong: at most `lines` of them, in their order.
pub(super) fn essence(text: &str, lines: usize, limit: usize) -> String {
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let telling: Vec<&str> = all.iter().copied().filter(|line| tells(line)).collect();
    let from = if telling.is_empty() { &all } else { &telling };
    // The first complaint is the cause more often than the last; the last is the verdict.
    let first = if telling.is_empty() { 0 } else { lines.div_ceil(2).min(from.len()) };
    let last = from.len().saturating_sub(lines - first).max(first);
    let picked: Vec<&str> = from[..first].iter().chain(&from[last..]).copied().collect();
    let shown = picked.iter().map(|line| middle(line, limit / lines.max(1))).collect::<Vec<_>>().join("\n");
    if picked.len() < all.len() { shown + "\n…" } else { shown }
}

/// The end of an output, and above it the first complaints where they lie further up.
pub(super) fn cause_and_tail(text: &str, lines: usize, limit: usize) -> String {
    let end = tail(text, lines, limit);
    let shown = end.lines().count().saturating_sub(1);
    let all: Vec<&str> = text.trim_end().lines().collect();
    let above = &all[..all.len().saturating_sub(shown)];
    let causes: Vec<String> = above
        .iter()
        .filter(|line| end.starts_with('…') && tells(line))
        .take(3)
        .map(|line| middle(line, 160))
        .collect();
    if causes.is_empty() { end } else { format!("{}\n{end}", causes.join("\n")) }
}

#[cfg(test)]
mod tests;
