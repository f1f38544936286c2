//! The changes that an answer proposes: SEARCH/REPLACE blocks, each under the name of its file.

use crate::event::{Change, Edit};
use crate::shared::replaced;

/// The change of a file as the answers before proposed it.
pub(super) fn of(answer: &str, path: &str) -> Edit {
    let bodies: Vec<String> = blocks(answer)
        .into_iter()
        .filter(|(name, _)| same(name, path))
        .flat_map(|(_, block)| replaced::search_replace(&block))
        .filter_map(|(old, new)| Edit::replaced(path, &old, &new).diff)
        .collect();
    match bodies.is_empty() {
        true => Edit::bare(path, Change::Modified),
        false => Edit::with_diff(path, Change::Modified, &bodies.join("\n")),
    }
}

/// Blocks with the file that the line above the fence names.
fn blocks(answer: &str) -> Vec<(String, String)> {
    let (mut blocks, mut name) = (Vec::new(), String::new());
    let mut open: Option<String> = None;
    for line in answer.lines() {
        let mark = line.trim();
        match &mut open {
            Some(block) => {
                block.push_str(line);
                block.push('\n');
                if mark.starts_with(">>>>>>>") {
                    blocks.push((name.clone(), open.take().unwrap_or_default()));
                }
            }
            None if mark.starts_with("<<<<<<<") => open = Some(format!("{line}\n")),
            None if !mark.is_empty() && !mark.starts_with("```") => {
                name = mark.trim_matches(['*', '`', '#', ':', ' ']).to_owned();
            }
            None => {}
        }
    }
    blocks
}

fn same(name: &str, path: &str) -> bool {
    name == path || path.ends_with(&format!("/{name}"))
}
