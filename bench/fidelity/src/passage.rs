//! A Markdown document in passages: what a reader takes as one statement.

/// A list item, a row of a table, a paragraph or a fenced block, with the headings above it.
#[derive(Debug, Clone, Default)]
pub struct Passage {
    /// The headings above it, in small letters.
    pub heading: String,
    /// Number of the section.
    pub section: usize,
    /// Its lines, plain and in small letters.
    pub lines: Vec<String>,
}

impl Passage {
    /// The lines in a row.
    pub fn text(&self) -> String {
        self.lines.join(" ")
    }
}

/// The passages of a document.
pub fn passages(document: &str) -> Vec<Passage> {
    let mut reader = Reader::default();
    for line in document.lines() {
        match unfolded(line) {
            Some(lines) => lines.iter().for_each(|line| reader.line(line)),
            None => reader.line(line),
        }
    }
    reader.end();
    reader.done
}

/// A line for each file of a line that names a folder and its files by what was done to them:
/// ``- `src/`: modified `a.rs, b.rs`; read `c.rs` ``.
fn unfolded(line: &str) -> Option<Vec<String>> {
    const WORDS: [&str; 4] = ["modified", "created", "deleted", "read"];
    let rest = line.strip_prefix("- ")?;
    let (folder, rest) = match rest.strip_prefix('`').and_then(|rest| rest.split_once("/`: ")) {
        Some((folder, rest)) => (format!("{folder}/"), rest),
        None => (String::new(), rest),
    };
    let mut lines = Vec::new();
    for group in rest.split("; ") {
        let (word, names) = group.split_once(' ')?;
        let names = names.trim_matches('`');
        if !WORDS.contains(&word) || names.len() + 2 > group.len() - word.len() {
            return None;
        }
        lines.extend(names.split(", ").map(|name| format!("- `{folder}{name}` {word}")));
    }
    Some(lines)
}

#[derive(Default)]
struct Reader {
    done: Vec<Passage>,
    now: Passage,
    headings: Vec<String>,
    section: usize,
    fence: Option<String>,
    blank: bool,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let bare = line.trim_start().trim_start_matches(['>', ' ']);
        if let Some(fence) = &self.fence {
            if bare.starts_with(fence.as_str()) && bare.trim_matches(['`', '~']).trim().is_empty() {
                self.fence = None;
            } else {
                self.keep(line);
            }
            return;
        }
        let run: String = bare.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        if run.len() >= 3 {
            // What is fenced belongs to what stands above it.
            let section = self.section;
            if self.now.lines.is_empty() && self.done.last().is_some_and(|above| above.section == section) {
                self.now = self.done.pop().unwrap_or_default();
            }
            self.fence = Some(run);
            return;
        }
        if line.starts_with('#') {
            return self.heading(line);
        }
        let is_blank = bare.trim().is_empty();
        let indented = line.starts_with("  ") || line.starts_with('\t');
        if !is_blank && (is_item(line) || line.starts_with('|') || (self.blank && !indented)) {
            self.end();
        }
        self.blank = is_blank && !line.trim_start().starts_with('>');
        if !is_blank {
            self.keep(line);
        }
    }

    fn heading(&mut self, line: &str) {
        self.end();
        let depth = line.bytes().take_while(|byte| *byte == b'#').count();
        self.headings.truncate(depth - 1);
        self.headings.resize(depth - 1, String::new());
        self.headings.push(plain(line.trim_start_matches('#')));
        self.section += 1;
    }

    fn keep(&mut self, line: &str) {
        self.now.lines.push(plain(line));
    }

    fn end(&mut self) {
        let mut passage = std::mem::take(&mut self.now);
        if !passage.lines.is_empty() {
            passage.heading = self.headings.last().cloned().unwrap_or_default();
            passage.section = self.section;
            self.done.push(passage);
        }
        self.blank = false;
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ ", "• "].iter().any(|sign| line.starts_with(sign))
        || (number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") ")))
}

/// Text without marks, in small letters, with single spaces.
pub fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text.trim_start_matches(['>', ' ']).chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek().is_some_and(char::is_ascii_punctuation) => {}
            '`' | '*' => {}
            '“' | '”' => shown.push('"'),
            '’' | '‘' => shown.push('\''),
            '\u{a0}' | '\t' => shown.push(' '),
            _ => shown.extend(c.to_lowercase()),
        }
    }
    let shown = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_item_with_its_fence_is_one_passage() {
        let found =
            passages("# A\n\n## Files\n\n- `a.rs`\n  changed\n  ```diff\n  +x\n  ```\n- b\n\nText\nmore\n");
        let texts: Vec<String> = found.iter().map(Passage::text).collect();
        assert_eq!(texts, ["- a.rs changed +x", "- b", "text more"]);
        assert!(found.iter().all(|passage| passage.heading == "files"));
    }

    #[test]
    fn a_line_of_a_folder_is_a_line_for_each_of_its_files() {
        let texts = |document: &str| passages(document).iter().map(Passage::text).collect::<Vec<_>>();
        let wanted = ["- src/a.rs modified", "- src/b.rs modified", "- src/c.rs read"];
        assert_eq!(texts("- `src/`: modified `a.rs, b.rs`; read `c.rs`\n"), wanted);
        assert_eq!(texts("- created `a.rs`\n"), ["- a.rs created"]);
        assert_eq!(texts("- read the file\n- `src/`: see there\n"), ["- read the file", "- src/: see there"]);
    }

    #[test]
    fn a_fence_after_a_paragraph_belongs_to_it() {
        let found = passages("Last failure: `make`\n\n```\nboom\n\nbang\n```\n\nNext\n");
        assert_eq!(found[0].text(), "last failure: make boom  bang");
        assert_eq!(found[1].text(), "next");
    }
}
