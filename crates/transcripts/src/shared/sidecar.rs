//! Small files that tools keep beside a transcript. What is missing or broken there is nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::shared::json::Json;

/// A larger file is not what it is taken for.
const MAX: u64 = 1024 * 1024;

/// The text of a small file; empty if there is none.
pub(crate) fn text(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX).read_to_end(&mut bytes));
    if read.is_err() {
        bytes.clear();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text as a value; nothing if it is no JSON.
pub(crate) fn json(text: &str) -> Json<'_> {
    Json::parse(text.trim_start_matches('\u{feff}')).unwrap_or(Json::Null)
}

/// The value of a key in lines such as `key: value`, as flat YAML writes them.
pub(crate) fn flat<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?.trim();
    let quoted = |mark: char| value.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    let value = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    (!matches!(value, "" | "null" | "~")).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_values_lose_their_quotes_and_null_is_nothing() {
        let text = "id: a-1\ncwd: \"/w/p\"\nname: 'it: is'\nbranch: null\nempty:\n";
        for (key, wanted) in [
            ("id", Some("a-1")),
            ("cwd", Some("/w/p")),
            ("name", Some("it: is")),
            ("branch", None),
            ("empty", None),
            ("none", None),
        ] {
            assert_eq!(flat(text, key), wanted, "{key}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_nothing() {
        assert!(json(&text(Path::new("/nowhere/at/all"))).is_null());
    }
}
