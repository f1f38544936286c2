//! Changes as models write them down: SEARCH/REPLACE blocks and unified diffs.

use crate::event::{Change, Edit};

/// A change given as unified diff or as SEARCH/REPLACE blocks.
pub(crate) fn from_diff(path: &str, text: &str) -> Edit {
    let blocks = search_replace(text);
    if blocks.is_empty() {
        return Edit::with_diff(path, Change::Modified, hunks(text));
    }
    let bodies: Vec<String> =
        blocks.iter().filter_map(|(old, new)| Edit::replaced(path, old, new).diff).collect();
    Edit::with_diff(path, Change::Modified, &bodies.join("\n"))
}

/// The hunks of a unified diff, without what names the file.
pub(crate) fn hunks(diff: &str) -> &str {
    let at = if diff.starts_with("@@") { Some(0) } else { diff.find("\n@@").map(|at| at + 1) };
    at.map_or(diff, |at| &diff[at..])
}

/// The old and new text of SEARCH/REPLACE blocks, in the marks of every tool.
pub(crate) fn search_replace(text: &str) -> Vec<(String, String)> {
    #[derive(PartialEq)]
    enum BlockSide {
        Nothing,
        Old,
        New,
    }
    let (mut blocks, mut state) = (Vec::new(), BlockSide::Nothing);
    let (mut old, mut new) = (String::new(), String::new());
    for line in text.lines() {
        let mark = line.trim_end();
        let begins = (mark.starts_with("<<<<<<<") || mark.starts_with("-------")) && mark.contains("SEARCH");
        let ends = (mark.starts_with(">>>>>>>") || mark.starts_with("+++++++")) && mark.contains("REPLACE");
        match state {
            BlockSide::Nothing if begins => state = BlockSide::Old,
            BlockSide::Old if mark == "=======" => state = BlockSide::New,
            BlockSide::New if ends => {
                blocks.push((std::mem::take(&mut old), std::mem::take(&mut new)));
                state = BlockSide::Nothing;
            }
            BlockSide::Old
                if !(mark.starts_with(":start_line:")
                    || mark.starts_with(":end_line:")
                    || mark == "-------") =>
            {
                old.push_str(line);
                old.push('\n');
            }
            BlockSide::New => {
                new.push_str(line);
                new.push('\n');
            }
            BlockSide::Nothing | BlockSide::Old => {}
        }
    }
    blocks
}
