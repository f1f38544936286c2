//! Long text made shorter at a sensible place, always with a visible `…`.

/// The head of a text: at most `limit` characters, cut after a sentence or a word.
pub(super) fn head(text: &str, limit: usize) -> String {
    let text = text.trim();
    let Some((hard, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let head = &text[..hard];
    let good = |at: &usize| *at * 5 > hard * 3;
    let sentence = head.char_indices().rev().filter(|(at, c)| ends_sentence(*c, &text[at + c.len_utf8()..]));
    let stop = sentence.map(|(at, c)| at + c.len_utf8()).next().filter(good);
    let at = stop.or_else(|| head.rfind(char::is_whitespace).filter(good)).unwrap_or(hard);
    format!("{} …", without_opening(without_heading(&head[..at], &text[at..]).trim_end()))
}

/// A cut text without a last line that is the heading of the list which was cut off: short, whole, and without a stop.
fn without_heading<'t>(text: &'t str, rest: &str) -> &'t str {
    let is_whole = text.ends_with('\n') || rest.starts_with('\n');
    let next = rest.trim_start();
    let numbered = next.starts_with(|c: char| c.is_ascii_digit())
        && next.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']);
    let leads_to_list = next.starts_with(['-', '*', '•']) || numbered;
    match text.trim_end().rsplit_once('\n') {
        Some((before, last))
            if is_whole
                && leads_to_list
                && last.chars().count() <= MAX_HEADING
                && !last.trim_start().starts_with(['-', '*', '•'])
                && !last.trim_end().ends_with(['.', '!', '?', '…'])
                && !before.trim().is_empty() =>
        {
            before
        }
        _ => text,
    }
}

/// A longer line is no heading.
const MAX_HEADING: usize = 60;

/// A cut text without last lines that only lead to what was cut off: a heading, the number of an item, a line with a colon at its
/// end, the head of a table.
fn without_opening(text: &str) -> &str {
    let mut text = text;
    while let Some((before, last)) = text.rsplit_once('\n') {
        let line = last.trim();
        let in_table = line.starts_with('|')
            && !before.trim_end().rsplit('\n').next().unwrap_or_default().trim().starts_with('|');
        let bold = line.starts_with("**")
            && line.trim_end_matches(':').ends_with("**")
            && line.matches("**").count() == 2;
        let number = line.trim_end_matches(['.', ')']);
        let marker = number.len() < line.len()
            && number.len() <= 3
            && number.bytes().all(|byte| byte.is_ascii_digit());
        let opens = line.is_empty()
            || matches!(line, "-" | "*" | "•")
            || marker
            || bold
            || in_table
            || line.starts_with('#')
            || line.ends_with(':')
            || line.starts_with("```");
        if !opens || before.trim().is_empty() {
            break;
        }
        text = before.trim_end();
    }
    text
}

/// The beginning and the end of a text: what it claims, and what it concludes. Each is cut at a paragraph, sentence or word.
pub(super) fn ends(text: &str, limit: usize) -> String {
    let text = text.trim();
    let length = text.chars().count();
    if length <= limit || limit < MIN_ENDS {
        return head(text, limit);
    }
    let front = head(text, limit * 2 / 5);
    let left = limit - limit * 2 / 5;
    let from = text.char_indices().nth(length - left).map_or(0, |(at, _)| at);
    let back = &text[from..];
    let early = |at: &usize| *at * 2 < back.len();
    let paragraph = back.find("\n\n").map(|at| at + 2).filter(early);
    let line = back.find('\n').map(|at| at + 1).filter(early);
    let word = back.find(char::is_whitespace).map(|at| at + 1).filter(early);
    let at = paragraph.or(line).or(word).unwrap_or(0);
    format!("{front}\n… {}", back[at..].trim_start())
}

/// A shorter text has no room for two ends.
const MIN_ENDS: usize = 200;

fn ends_sentence(c: char, after: &str) -> bool {
    matches!(c, '。' | '\n') || (matches!(c, '.' | '!' | '?') && after.starts_with(char::is_whitespace))
}

/// The head of a text, limited in lines as well.
pub(super) fn head_lines(text: &str, lines: usize, limit: usize) -> String {
    let text = text.trim_matches('\n');
    match text.match_indices('\n').nth(lines.saturating_sub(1)) {
        Some((at, _)) if !text[..at].trim().is_empty() => {
            let head_text = head(&text[..at], limit);
            if head_text.ends_with('…') { head_text } else { head_text + "\n…" }
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

/// The last lines of an output, which show its result.
pub(super) fn tail(text: &str, lines: usize, limit: usize) -> String {
    let text = text.trim_end().trim_start_matches('\n');
    let all: Vec<&str> = text.lines().collect();
    let mut last: Vec<String> = Vec::new();
    let mut used = 0;
    for line in all.iter().rev().take(lines) {
        let short = middle(line.trim_end(), 240.min(limit));
        used += short.chars().count() + 1;
        if used > limit && !last.is_empty() {
            break;
        }
        last.push(indent_of(line).to_owned() + &short);
    }
    let missing = all.len() - last.len();
    if missing > 0 {
        last.push(left_out(missing));
    }
    last.reverse();
    last.join("\n")
}

fn left_out(count: usize) -> String {
    format!("… ({count} {} left out)", if count == 1 { "line" } else { "lines" })
}

fn indent_of(line: &str) -> &str {
    let width = line.len() - line.trim_start_matches(' ').len();
    &line[..width.min(8)]
}

/// Words of lines that name a cause, and of lines that only say that there is one.
const CAUSE: &[&str] = &[
    "error:",
    "error[",
    "error ",
    "panicked",
    "assert",
    "exception",
    "expected",
    "received",
    "actual",
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
const VERDICT: &[&str] = &["error", "fail", "✘", "✗"];

/// Whether a line only says that something passed: `ok  pkg  0.4s`, `test a ... ok`, `PASS`, `✓ a`.
fn is_pass(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("ok ")
        || line.starts_with("ok\t")
        || line.starts_with("--- PASS")
        || line.starts_with(['✓', '✔'])
        || line == "PASS"
        || line.ends_with("... ok")
}

/// How much a line says about what went wrong: 2 a cause, 1 a verdict, 0 nothing.
fn telling(line: &str) -> u8 {
    let lower = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let compares = lower.contains("got") && ["want", "should"].iter().any(|word| lower.contains(word));
    if compares || has(CAUSE) { 2 } else { u8::from(has(VERDICT)) }
}

/// The places of at most `count` lines that say most, in their order: causes before verdicts, the first before later
/// ones, because what comes first is the cause of the rest more often than not.
fn most_telling(lines: &[&str], count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..lines.len()).filter(|at| telling(lines[*at]) > 0).collect();
    places.sort_by_key(|at| std::cmp::Reverse(telling(lines[*at])));
    places.truncate(count);
    places.sort_unstable();
    places
}

/// The lines of an output that say what went wrong, else its last: at most `count` of them.
pub(super) fn essence(text: &str, count: usize, limit: usize) -> String {
    let all: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let mut places = most_telling(&all, count);
    if places.is_empty() {
        places = (all.len().saturating_sub(count)..all.len()).collect();
    }
    let each = limit / count.max(1);
    let shown = places.iter().map(|at| middle(all[*at], each)).collect::<Vec<_>>().join("\n");
    if places.len() < all.len() { shown + "\n…" } else { shown }
}

/// At most `count` lines that name a cause, if there are any.
pub(super) fn causes(lines: &[&str], count: usize, limit: usize) -> Option<String> {
    let mut places = most_telling(lines, count);
    places.retain(|at| telling(lines[*at]) > 1);
    let each = limit / places.len().max(1);
    let shown: Vec<String> = places.iter().map(|at| middle(lines[*at].trim(), each)).collect();
    (!shown.is_empty()).then(|| shown.join("\n"))
}

/// The end of an output, and above it the lines that say what went wrong where they lie further up.
pub(super) fn cause_and_tail(text: &str, lines: usize, limit: usize) -> String {
    let whole = tail(text, lines, limit);
    if !whole.starts_with('…') {
        return whole;
    }
    let total = text.trim_end().lines().count();
    // What passed says nothing of the failure.
    let all: Vec<&str> = text.trim_end().lines().filter(|line| !is_pass(line)).collect();
    let end = tail(&all.join("\n"), lines, limit);
    let end: Vec<&str> = end.lines().filter(|line| !line.starts_with("… (")).collect();
    let (above, below) = all.split_at(all.len().saturating_sub(end.len()));
    let least = if below.iter().any(|line| telling(line) > 1) { 2 } else { 1 };
    let mut causes = most_telling(above, 4);
    causes.retain(|at| telling(above[*at]) >= least);
    let causes: Vec<String> = causes.iter().map(|at| middle(above[*at], 160)).collect();
    let missing = total.saturating_sub(causes.len() + end.len());
    let gap = (missing > 0).then(|| left_out(missing));
    let shown: Vec<&str> = causes.iter().chain(&gap).map(String::as_str).chain(end).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests;
