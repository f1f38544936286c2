//! Links of the documents: every file and heading that one names is there, and the book has every page.

use std::collections::BTreeMap;

use crate::source::Violation;

/// The book's table of contents, and the folder of its pages.
pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";
const PAGES: &str = "docs/";

/// Links of a page that lead nowhere. `pages` holds every document by its path; `files` every file.
pub(crate) fn broken(
    path: &str,
    text: &str,
    pages: &BTreeMap<String, String>,
    files: &[String],
) -> Vec<Violation> {
    let mut found = Vec::new();
    for (line, target) in targets(text) {
        let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
        let file = if file.is_empty() { path.to_owned() } else { resolved(path, file) };
        let is_folder = || files.iter().any(|known| known.starts_with(&format!("{file}/")));
        if !files.contains(&file) && !is_folder() {
            found.push(Violation::new(path, line, format!("`{target}` leads to no file: {file}")));
        } else if !heading.is_empty() && !pages.get(&file).is_some_and(|page| has_heading(page, heading)) {
            found.push(Violation::new(path, line, format!("{file} has no heading `#{heading}`")));
        }
    }
    found
}

/// Pages that the book leaves out or names twice.
pub(crate) fn missing_from_book(summary: &str, files: &[String]) -> Vec<Violation> {
    let named: Vec<String> = targets(summary).map(|(_, target)| resolved(SUMMARY, &target)).collect();
    let is_page = |path: &&String| path.starts_with(PAGES) && path.ends_with(".md") && *path != SUMMARY;
    let counted =
        files.iter().filter(is_page).map(|page| (page, named.iter().filter(|name| *name == page).count()));
    let what = |(page, count): (&String, usize)| {
        Violation::new(SUMMARY, 1, format!("{page} stands in the book {count} times: name it once"))
    };
    counted.filter(|(_, count)| *count != 1).map(what).collect()
}

/// Targets of the links of a page that lead to files of this repository, with their lines. Code is no link.
fn targets(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let outside_code: Vec<&str> = line.split('`').step_by(2).collect();
        for rest in outside_code.join("").split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push((at + 1, target.to_owned()));
            }
        }
    }
    found.into_iter()
}

/// A path that a page names, from the root.
fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn has_heading(page: &str, wanted: &str) -> bool {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| slug(line.trim_start_matches('#'))).any(|slug| slug == wanted)
}

/// The anchor of a heading, as GitHub and mdBook make it.
fn slug(heading: &str) -> String {
    let characters = heading.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nothing_is_found() {
        let files = ["docs/a.md".to_owned(), "docs/b/c.md".to_owned(), "README.md".to_owned()];
        let pages = BTreeMap::from([("docs/a.md".to_owned(), "# A page\n## `x`: and more\n".to_owned())]);
        let lines = |text: &str| broken("docs/b/c.md", text, &pages, &files).len();
        for good in [
            "[a](../a.md#a-page)",
            "[x](../a.md#x-and-more)",
            "[r](../../README.md)",
            "[f](../b)",
            "`[n](x)`",
        ] {
            assert_eq!(lines(good), 0, "{good}");
        }
        for bad in ["[a](a.md)", "[a](../a.md#b-page)", "[a](#nothing)", "[a](../../../README.md.txt)"] {
            assert_eq!(lines(bad), 1, "{bad}");
        }
        assert_eq!(lines("[w](https://example.org/x.md)\n```\n[n](x)\n```\n"), 0);
    }

    #[test]
    fn a_page_that_the_book_leaves_out_is_found() {
        let files = ["docs/a.md".to_owned(), "docs/b.md".to_owned(), SUMMARY.to_owned()];
        assert_eq!(missing_from_book("- [A](a.md)\n- [B](b.md)\n", &files), []);
        assert_eq!(missing_from_book("- [A](a.md)\n- [A](a.md)\n", &files).len(), 2);
    }
}
