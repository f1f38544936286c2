//! What stands under a heading that denies, `## What it is NOT used for`: without the heading it says the opposite.

use super::lowered;
use super::passages::{MAX_LEAD, MAX_PASSAGE, Passage, is_heading};
use crate::shared::words::{has_phrase, one_line, unmarked};

/// A part of a text. Where it stands under a heading that denies, what is said in it is told with that heading.
pub(super) struct Part<'t> {
    heading: Option<&'t str>,
    pub text: &'t str,
}

impl Part<'_> {
    /// What stands under the heading.
    pub(super) fn body(&self) -> &str {
        let rest = self.text.split_once('\n').filter(|_| self.heading.is_some());
        rest.map_or(self.text, |(_, body)| body)
    }

    /// Puts the heading before the passages of this part that do not begin with it.
    pub(super) fn name(&self, passages: &mut [Passage]) {
        let Some(heading) = self.heading else { return };
        for passage in
            passages.iter_mut().filter(|passage| !passage.text.trim_start_matches('*').starts_with(heading))
        {
            passage.text = one_line(&format!("{heading}: {}", passage.text), MAX_PASSAGE);
        }
    }
}

/// The text, parted where what stands under a heading that denies begins and ends.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = vec![Part { heading: None, text: "" }];
    let (mut start, mut at, mut fenced, mut level) = (0, 0, false, usize::MAX);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        fenced ^= bare.starts_with("```") || bare.starts_with("~~~");
        if !fenced && bare.len() <= MAX_LEAD && is_heading(bare) {
            let title = title(bare);
            let own_level = level_of(bare);
            let is_inside = parts.last().is_some_and(|part| part.heading.is_some()) && own_level > level;
            if !is_inside && (denies(title) || level < usize::MAX) {
                if let Some(part) = parts.last_mut() {
                    part.text = &text[start..at];
                }
                let heading = Some(title).filter(|title| denies(title));
                level = heading.map_or(usize::MAX, |_| own_level);
                parts.push(Part { heading, text: "" });
                start = at;
            }
        }
        at += line.len();
    }
    if let Some(part) = parts.last_mut() {
        part.text = &text[start..];
    }
    parts
}

/// A heading without its marks.
fn title(line: &str) -> &str {
    unmarked(line).trim_matches(['*', ':', ' ', '-', '–', '—'])
}

/// How deep a heading stands; one in bold stands below those with signs.
fn level_of(line: &str) -> usize {
    match line.bytes().take_while(|byte| *byte == b'#').count() {
        0 => 7,
        signs => signs,
    }
}

/// Whether a heading says that what stands under it is not so, or is not to be.
fn denies(title: &str) -> bool {
    const WORDS: &[&str] = &[
        "not",
        "no",
        "never",
        "nothing",
        "don't",
        "doesn't",
        "didn't",
        "isn't",
        "aren't",
        "wasn't",
        "won't",
        "can't",
        "cannot",
        "shouldn't",
        "without",
        "non-goals",
        "non-goal",
        "out of scope",
        "avoid",
        "rejected",
        "ruled out",
        "discarded",
        "unchanged",
        "untouched",
        "wrong",
        "incorrect",
        "instead of",
        "rather than",
        "anti-patterns",
        "misconceptions",
    ];
    let lower = lowered(title);
    WORDS.iter().any(|word| has_phrase(&lower, word))
}
