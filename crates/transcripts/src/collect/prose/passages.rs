//! Passages: what was said that no rule has classed, in pieces that a stranger understands by themselves.

use super::denied_parts::parts;
use super::narration::looks_first;
use super::salience::weigh;
use super::{begins, lowered};
use crate::shared::words::{is_item, one_line, sentences, unmarked};

/// Maximum length of a passage, in characters; a single longer sentence ends in an ellipsis.
pub(super) const MAX_PASSAGE: usize = 320;
/// A neighbour of a telling sentence goes with it if it is no longer than this.
const MAX_NEIGHBOUR: usize = 160;
/// A lead-in of a list is repeated if it is no longer than this.
pub(super) const MAX_LEAD: usize = 90;
/// No more passages of one message are looked at: the rest is a document and no speech.
const MAX_PASSAGES: usize = 48;
/// Minimum weight of a passage, except of the user's.
const LEAST: u8 = 13;

/// A piece of what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The words, on one line.
    pub text: String,
    /// How much it seems to say.
    pub salience: u8,
}

/// Words that stand elsewhere in the packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PacketWords {
    /// The words.
    pub text: String,
    /// Whether they are understood by themselves: with a reason, where there may be one.
    pub reasoned: bool,
}

impl PacketWords {
    /// Words classed by a rule; a reason may also follow a mark, as in `a map: it is faster`.
    pub(crate) fn new(text: &str, reason: bool) -> Self {
        let follows = |mark: &&str| {
            text.split_once(*mark).is_some_and(|(_, rest)| rest.split_whitespace().count() >= 4)
        };
        let marked = [": ", " – ", " — ", "; ", ", ", " → "].iter().any(follows);
        Self { text: text.to_owned(), reasoned: reason || marked }
    }
}

/// The agent's passages with a sign of a reason, a choice, a turn, a failure or a doubt. `recorded` is what other sections
/// have already.
pub(crate) fn passages(text: &str, recorded: &[PacketWords]) -> Vec<Passage> {
    let mut all = Vec::new();
    for part in parts(text) {
        let first = all.len();
        for block in blocks(part.text) {
            if all.len() >= MAX_PASSAGES {
                break;
            }
            match block {
                Block::Line(line) => prose(&line, recorded, &mut all),
                Block::List { lead, items } => list(lead, &items, recorded, &mut all),
            }
        }
        part.name(&mut all[first..]);
    }
    all.retain(|passage| {
        passage.salience >= LEAST && passage.text.split(' ').nth(2).is_some() && !only_leads(&passage.text)
    });
    all.truncate(MAX_PASSAGES);
    all
}

/// What the user said, all of it but chatter and what only asks: the user's words are few, and each may be a rule.
pub(crate) fn users_passages(text: &str, recorded: &[PacketWords]) -> Vec<Passage> {
    let all = parts(text).into_iter().flat_map(|part| {
        let mut passages = users_passages_of(part.body(), recorded);
        part.name(&mut passages);
        passages
    });
    all.take(MAX_PASSAGES).collect()
}

fn users_passages_of(text: &str, recorded: &[PacketWords]) -> Vec<Passage> {
    const SHORT: usize = 200;
    let all_sentences: Vec<&str> = speech(text).flat_map(sentences).take(MAX_PASSAGES * 2).collect();
    let new: Vec<&str> =
        all_sentences.iter().copied().filter(|sentence| !is_recorded(sentence, recorded)).collect();
    let size: usize = all_sentences.iter().map(|sentence| sentence.len() + 1).sum();
    let passages = if size <= SHORT {
        vec![joined(&all_sentences)]
    } else if size <= MAX_PASSAGE {
        vec![joined(&new)]
    } else {
        chunks(&new)
    };
    let counts = |text: &str| {
        let statement = text.trim_end_matches('?');
        let weighs = weigh(&lowered(statement)).sum >= LEAST;
        weighs || (statement.len() == text.len() && says_much(text))
    };
    let news = counts(&joined(&new).text);
    let tells = |passage: &Passage| news && counts(&passage.text) && !only_leads(&passage.text);
    passages.into_iter().filter(tells).take(MAX_PASSAGES).collect()
}

/// A line of prose, or a list with the line that leads to it.
enum Block<'t> {
    Line(Vec<&'t str>),
    List { lead: Option<&'t str>, items: Vec<&'t str> },
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lead = None;
    let mut open: Option<OpenList<'_>> = None;
    for line in speech(text) {
        // What follows a rule belongs to nothing before it.
        if is_rule(line) {
            blocks.extend(lead.take().map(|line| Block::Line(sentences(line))));
            open = None;
            continue;
        }
        if is_item(line) {
            match (lead.take(), &mut open) {
                (None, Some(list)) => list.add(line, &mut blocks),
                (lead, _) => open = Some(OpenList::begin(lead, line, &mut blocks)),
            }
            continue;
        }
        open = None;
        // A line that leads to nothing speaks for itself.
        if let Some(line) = lead.take() {
            blocks.push(Block::Line(sentences(line)));
        }
        let mut line_sentences = sentences(line);
        lead = line_sentences.pop_if(|last| leads(line, last)).map(unmarked);
        if !line_sentences.is_empty() {
            blocks.push(Block::Line(line_sentences));
        }
    }
    blocks.extend(lead.map(|line| Block::Line(sentences(line))));
    blocks
}

/// A list whose items are being read; the last block holds them.
struct OpenList<'t> {
    lead: Option<&'t str>,
    indent: usize,
    is_below: bool,
}

impl<'t> OpenList<'t> {
    fn begin(lead: Option<&'t str>, line: &'t str, blocks: &mut Vec<Block<'t>>) -> Self {
        blocks.push(Block::List { lead, items: vec![unmarked(line)] });
        Self { lead, indent: indent_of(line), is_below: false }
    }

    /// Adds an item; items that stand below another one are led to by that one.
    fn add(&mut self, line: &'t str, blocks: &mut Vec<Block<'t>>) {
        let item = unmarked(line);
        let is_below = indent_of(line) > self.indent;
        match blocks.last_mut() {
            Some(Block::List { items, .. }) if is_below == self.is_below => items.push(item),
            Some(Block::List { items, .. }) if is_below => {
                let lead = items.pop_if(|parent| parent.len() <= MAX_LEAD);
                blocks.push(Block::List { lead, items: vec![item] });
            }
            _ => blocks.push(Block::List { lead: self.lead, items: vec![item] }),
        }
        self.is_below = is_below;
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether the last sentence of a line leads to a list: a heading, a line in bold, a colon at the end.
fn leads(line: &str, last: &str) -> bool {
    last.len() <= MAX_LEAD && (is_heading(line.trim()) || last.trim_end_matches('*').ends_with(':'))
}

/// Whether a line is a heading of its own: `### Praise`, `**Options:**`.
pub(super) fn is_heading(line: &str) -> bool {
    let words = line.contains(char::is_alphabetic);
    let bold = line.strip_prefix("**").and_then(|rest| rest.trim_end_matches(':').strip_suffix("**"));
    words && (line.starts_with('#') || bold.is_some_and(|inside| !inside.contains("**")))
}

/// Whether a line parts what stands above it from what stands below.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.bytes().all(|byte| matches!(byte, b'-' | b'*' | b'_' | b'='))
}

/// Whether a passage leads to something that does not stand in it: a colon at its end, a heading.
fn only_leads(text: &str) -> bool {
    let bare = text.trim_end_matches(['*', '_', ' ']);
    let bold = text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    bare.ends_with(':') || bold.is_some_and(|inside| !inside.contains("**"))
}

/// Whether there is more to it than to `ok, go on`. Some languages have no spaces between their words.
fn says_much(text: &str) -> bool {
    text.split_whitespace().count() >= 5 || text.chars().filter(|c| !c.is_ascii()).count() >= 6
}

/// The lines of prose: no code, quotation, table, tag or terminal output, and no line that is mostly symbols.
fn speech(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let single = text.trim().lines().nth(1).is_none();
    text.lines().filter(move |line| {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            return false;
        }
        if !fenced && (is_rule(bare) || (is_heading(bare) && bare.len() <= MAX_LEAD)) {
            return true;
        }
        // One word on a line of its own among others is part of something pasted.
        let word = !single && bare.is_ascii() && !bare.contains(' ') && !bare.ends_with([':', '.', '!', '?']);
        !fenced && !bare.is_empty() && !word && bare.len() <= 2000 && !is_pasted(line) && is_speech(bare)
    })
}

/// Whether a line looks like code, a quotation, a prompt of a shell, or a line of a stack.
fn is_pasted(line: &str) -> bool {
    let bare = line.trim_start();
    let signs = ['>', '|', '<', '{', '}', '$', '/', '~', '➜', '❯', '%', '@'];
    line.starts_with("        ") || bare.starts_with(signs) || (bare.starts_with("at ") && bare.contains('('))
}

/// Whether a line is made of words: most of its characters, but for marks of a list and of emphasis, are letters or spaces.
fn is_speech(line: &str) -> bool {
    let line = if is_item(line) { unmarked(line) } else { line };
    let shown = || line.bytes().filter(|byte| !matches!(byte, b'*' | b'_'));
    let letters =
        shown().filter(|byte| byte.is_ascii_alphabetic() || *byte == b' ' || !byte.is_ascii()).count();
    letters * 4 > shown().count() * 3
}

/// Passages of a line: as a whole where it is short, else its telling sentences, each with its neighbours.
fn prose(line: &[&str], recorded: &[PacketWords], all: &mut Vec<Passage>) {
    // What the agent looks at next tells nothing.
    let line: Vec<&str> = line.iter().copied().filter(|sentence| !looks_first(sentence)).collect();
    let line = line.as_slice();
    if let [one] = line {
        let salience = weigh(&lowered(one)).sum;
        if salience >= LEAST && !is_recorded(one, recorded) {
            all.push(Passage { salience, text: one_line(one, MAX_PASSAGE) });
        }
        return;
    }
    let narration = line.iter().take_while(|sentence| narrates(&lowered(sentence))).count();
    let line = &line[narration..];
    let saliences: Vec<u8> = line.iter().map(|sentence| weigh(&lowered(sentence)).sum).collect();
    let new: Vec<bool> = line.iter().map(|sentence| !is_recorded(sentence, recorded)).collect();
    let size: usize = line.iter().map(|sentence| sentence.len() + 1).sum();
    if size <= MAX_PASSAGE {
        let untold: Vec<&str> = line.iter().zip(&new).filter(|(_, new)| **new).map(|(one, _)| *one).collect();
        // What was classed without a reason may have it in the sentence beside it.
        let bare = |one: &&str| recorded.iter().any(|words| !words.reasoned && words.text.contains(*one));
        let beside = !untold.is_empty() && line.iter().any(bare);
        if beside || joined(&untold).salience >= LEAST {
            let whole = joined(line);
            all.push(Passage { salience: whole.salience.max(LEAST), ..whole });
        }
        return;
    }
    let tells = |at: usize| new[at] && saliences[at] >= LEAST;
    let wanted = |at: usize| {
        let beside = at.checked_sub(1).is_some_and(tells) || (at + 1 < line.len() && tells(at + 1));
        tells(at) || (beside && new[at] && line[at].len() <= MAX_NEIGHBOUR)
    };
    let mut run: Vec<&str> = Vec::new();
    for (at, sentence) in line.iter().enumerate() {
        if wanted(at) {
            run.push(sentence);
        } else {
            all.extend(chunks(&run));
            run.clear();
        }
    }
    all.extend(chunks(&run));
}

/// Items that say something, after the line that leads to them, as many as fit together.
fn list(lead: Option<&str>, items: &[&str], recorded: &[PacketWords], all: &mut Vec<Passage>) {
    let lead = lead.map(|lead| lead.trim_end_matches([':', ' ', '*', '-', '–', '—']).trim_start_matches('*'));
    let first = all.len();
    let mut has_gap = false;
    for item in items.iter().take(MAX_PASSAGES) {
        let parts = sentences(item);
        let whole = lead.map_or((*item).to_owned(), |lead| format!("{lead}: {item}"));
        let passage = joined(&[&whole]);
        if passage.salience < LEAST || parts.iter().all(|sentence| is_recorded(sentence, recorded)) {
            has_gap = true;
            continue;
        }
        let gap = if has_gap { GAP } else { "" };
        let is_open = lead.is_some() && all.len() > first;
        match all.last_mut().filter(|_| is_open) {
            Some(last) if last.text.len() + gap.len() + item.len() + 2 * GAP.len() <= MAX_PASSAGE => {
                last.text = format!("{}{gap}; {item}", last.text);
                last.salience = last.salience.max(passage.salience);
            }
            last => {
                // What a lead such as `only where` leads to is not all there is.
                let is_rest = has_gap || last.is_some();
                last.into_iter().for_each(|last| cut_off(&mut last.text));
                let text = lead.filter(|_| is_rest).map(|lead| format!("{lead}: …; {item}"));
                let text = text.map(|text| one_line(&text, MAX_PASSAGE)).unwrap_or(passage.text);
                all.push(Passage { text, ..passage });
            }
        }
        has_gap = false;
    }
    let is_cut = has_gap || items.len() > MAX_PASSAGES;
    let last = all[first..].last_mut().filter(|_| is_cut && lead.is_some());
    last.into_iter().for_each(|last| cut_off(&mut last.text));
}

/// Marks a list as one that is not told to its end.
fn cut_off(text: &mut String) {
    if !text.ends_with('…') {
        text.push_str(GAP);
    }
}

/// Stands where items of a list are left out.
const GAP: &str = "; …";

/// Consecutive sentences, joined into pieces of at most [`MAX_PASSAGE`].
fn chunks(sentences: &[&str]) -> Vec<Passage> {
    let mut pieces: Vec<Vec<&str>> = Vec::new();
    let mut size = 0;
    for sentence in sentences {
        match pieces.last_mut().filter(|_| size + sentence.len() < MAX_PASSAGE) {
            Some(piece) => piece.push(sentence),
            None => {
                size = 0;
                pieces.push(vec![sentence]);
            }
        }
        size += sentence.len() + 1;
    }
    pieces.iter().map(|piece| joined(piece)).collect()
}

/// Sentences on one line; one that began a line of its own, after another without a stop, is set off.
fn joined(sentences: &[&str]) -> Passage {
    let mut line = String::new();
    for sentence in sentences {
        if !line.is_empty() {
            line.push_str(if line.ends_with(['.', '!', '?', ':', ';', ',']) { " " } else { " — " });
        }
        line.push_str(sentence);
    }
    let text = one_line(&line, MAX_PASSAGE);
    Passage { salience: weigh(&lowered(&text)).sum, text }
}

fn is_recorded(sentence: &str, recorded: &[PacketWords]) -> bool {
    recorded.iter().any(|one| one.text.contains(sentence))
}

/// What an agent says while it works, which its calls tell better.
fn narrates(lower: &str) -> bool {
    const STARTS: &[&str] = &[
        "now",
        "next",
        "first",
        "reading",
        "running",
        "checking",
        "i'll check",
        "i'll look",
        "i'll run",
        "i'll read",
        "i'll start",
        "i'll verify",
        "i'll now",
        "good",
        "great",
        "perfect",
        "done",
        "ok",
        "okay",
        "all",
    ];
    let salience = weigh(lower);
    salience.sum < LEAST && (salience.passing || begins(lower, STARTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(passages: &[Passage]) -> Vec<&str> {
        passages.iter().map(|passage| passage.text.as_str()).collect()
    }

    #[test]
    fn a_passage_keeps_its_neighbours_and_drops_narration_and_code() {
        let text = "Let me look at it first. Two ways: a list or a map. I've taken the former, because order matters.\n\n\
            ```\nlet x = 1; // because\n```\nNow the next part.\n| a | because |\nAll tests passed.";
        let found = passages(text, &[]);
        assert_eq!(
            texts(&found),
            ["Two ways: a list or a map. I've taken the former, because order matters."]
        );
    }

    #[test]
    fn items_come_with_the_line_that_leads_to_them() {
        let text = "Ruled out so far:\n- retries (the lock is held)\n- a bigger pool, since it only waits longer\n\nRead:\n- a.rs\n- b.rs";
        assert_eq!(
            texts(&passages(text, &[])),
            ["Ruled out so far: retries (the lock is held); a bigger pool, since it only waits longer"]
        );
    }

    #[test]
    fn items_are_led_to_by_their_own_heading_or_item_only() {
        let text = "So the workflow is unclear:\n\n**Options:**\n1. Rename the branches by hand, because it is rare\n2. Detect it, since both names occur";
        let found = passages(text, &[]);
        assert_eq!(
            texts(&found),
            ["Options: Rename the branches by hand, because it is rare; Detect it, since both names occur"]
        );
        let nested = "Scenarios:\n1. **Stash (safe)**\n   - Nothing is lost, because it was saved\n2. **New work (problem)**\n   - The old data is lost, since the branch is reset";
        assert_eq!(
            texts(&passages(nested, &[])),
            [
                "Stash (safe): Nothing is lost, because it was saved",
                "New work (problem): The old data is lost, since the branch is reset"
            ]
        );
        let parted = "Key decision: we call the program, because it is installed.\n\n**Key Files:**\n- `a.rs`\n\n---\n\n- the parser is slow, because it copies";
        let found = passages(parted, &[]);
        assert!(!texts(&found).iter().any(|text| text.contains("Files: the parser")), "{found:?}");
    }

    #[test]
    fn a_list_that_is_not_told_whole_shows_that() {
        let text = "A new suffix is only created when:\n1. The tree is clean (the user dismissed changes)\n2. Files don't overlap with \
                    the branch\n3. Lines were removed";
        let found = passages(text, &[]);
        assert!(texts(&found)[0].ends_with("; …"), "{found:?}");
        let first = "Two ways, since it is slow:\n- A list\n- A map, because it is faster";
        let found = passages(first, &[PacketWords::new("A list", true)]);
        assert_eq!(texts(&found), ["Two ways, since it is slow: …; A map, because it is faster"]);
        let long = "so that nobody waits, because the lock is held ".repeat(4);
        let found = passages(&format!("It waits where:\n- one, {long}\n- two, {long}\n- three, {long}"), &[]);
        let (first, rest) = found.split_first().unwrap();
        assert!(
            first.text.ends_with("; …") && rest.iter().all(|one| one.text.starts_with("It waits where: …; ")),
            "{found:?}"
        );
    }

    #[test]
    fn what_stands_under_a_heading_that_says_no_is_told_with_it() {
        let text = "It is used in **PostCommit**.\n\n## What It's Used For\n\nDeciding, because it must: does this commit get one?\n\n\
                    ## What It's NOT Used For\n\nThe carry-forward decision, because that is about files.\n\n### In detail\n\n- The \
                    trailer, since it is written before\n\n## Open\n\nThe name, because two have it.";
        let found = passages(text, &[]);
        let of = |words: &str| {
            found.iter().map(|one| one.text.as_str()).find(|text| text.contains(words)).unwrap_or_default()
        };
        assert!(of("carry-forward").starts_with("What It's NOT Used For: "), "{found:?}");
        assert!(of("The trailer").starts_with("What It's NOT Used For: In detail: "), "{found:?}");
        assert!(
            of("Deciding").starts_with("Deciding") && of("The name").starts_with("The name"),
            "{found:?}"
        );
        let users = "Keep the exit codes as they are.\n\n**Out of scope:**\n- renaming the commands of the old interface\n\n## Rest\nnothing \
                     else is to be said of it";
        let found = users_passages(users, &[]);
        assert!(found.iter().any(|one| one.text.starts_with("Out of scope: renaming")), "{found:?}");
    }

    #[test]
    fn what_is_told_elsewhere_is_not_told_again() {
        let text = "I went with a map over a list because it is faster. Good.";
        let recorded = [PacketWords::new("I went with a map over a list because it is faster.", true)];
        assert_eq!(passages(text, &recorded), []);
        assert_eq!(passages(text, &[]).len(), 1);
        let half = "Bigger pages: no good. The page count grows.";
        assert_eq!(texts(&passages(half, &[PacketWords::new("Bigger pages: no good.", false)])), [half]);
        assert_eq!(
            users_passages("Never touch the API. Thanks!", &[PacketWords::new("Never touch the API.", true)]),
            []
        );
    }

    #[test]
    fn users_are_told_whatever_the_words_but_for_chatter() {
        for text in ["ok", "yes please", "thanks, looks good", "go on"] {
            assert_eq!(users_passages(text, &[]), [], "{text}");
        }
        let text = "Turns out we got it wrong with the cache: it is stale.\nSwitch to the database.";
        assert_eq!(texts(&users_passages(text, &[])), [text.replace('\n', " ")]);
        let pasted =
            format!("Have a look at this please:\n```\n{}```\n", "error: no such file\n".repeat(200));
        assert_eq!(users_passages(&pasted, &[]), [], "what it leads to is not told");
    }

    #[test]
    fn a_long_text_comes_in_bounded_pieces_of_what_it_tells() {
        let filler = "The function reads the table and writes a row for each of them in turn. ".repeat(6);
        let text = format!("{filler}We dropped the index because writes were slow. {filler}");
        let found = passages(&text, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].text.contains("dropped the index") && found[0].text.len() <= MAX_PASSAGE);
        let long = "Not that, because of this. ".repeat(5000);
        assert!(passages(&long, &[]).len() <= MAX_PASSAGES);
    }
}
