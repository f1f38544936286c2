//! Patches in the format of `apply_patch`.

use crate::event::{Change, Edit};
use crate::shared::diff;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The files that a patch changes. Lines outside of a file are ignored, a missing end does no harm.
pub(crate) fn parse(patch: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut body = String::new();
    for line in patch.lines().map(|line| line.trim_end_matches('\r')) {
        if let Some((change, path)) = file(line) {
            close(&mut edits, &mut body);
            edits.push(Edit::bare(path.trim(), change));
        } else if let (Some(target), Some(edit)) = (line.strip_prefix("*** Move to: "), edits.last_mut()) {
            edit.from = Some(std::mem::replace(&mut edit.path, target.trim().to_owned()));
            edit.change = Change::Renamed;
        } else if line.starts_with(END) {
            break;
        } else if line.starts_with(['+', '-', ' ', '@']) {
            body.push_str(line);
            body.push('\n');
        }
    }
    close(&mut edits, &mut body);
    edits
}

/// The patch inside a command line, as in `apply_patch <<'EOF' …`.
pub(crate) fn in_command(command: &str) -> Option<&str> {
    if !command.contains("apply_patch") && !command.contains("applypatch") {
        return None;
    }
    let start = command.find(BEGIN)?;
    let rest = &command[start..];
    Some(rest.find(END).map_or(rest, |end| &rest[..end + END.len()]))
}

/// Whether a command line does nothing but apply a patch.
pub(crate) fn is_whole(command: &str) -> bool {
    let command = command.trim();
    let begins = ["apply_patch", "applypatch"].iter().any(|name| command.starts_with(name));
    let rest = command.rfind(END).map(|at| command[at + END.len()..].trim());
    // Behind the patch there is only the mark that ends it.
    begins && rest.is_none_or(|rest| !rest.contains(['\n', ';', '&', '|']))
}

fn file(line: &str) -> Option<(Change, &str)> {
    let line = line.strip_prefix("*** ")?;
    let named = |prefix: &str, change| line.strip_prefix(prefix).map(|path| (change, path));
    named("Add File: ", Change::Created)
        .or_else(|| named("Update File: ", Change::Modified))
        .or_else(|| named("Delete File: ", Change::Deleted))
}

fn close(edits: &mut [Edit], body: &mut String) {
    let body = std::mem::take(body);
    if let Some(edit) = edits.last_mut().filter(|edit| edit.change != Change::Deleted) {
        let full = Edit::with_diff(&edit.path, edit.change, &diff::only_changed(&body));
        *edit = Edit { from: edit.from.take(), ..full };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_read() {
        let edits = parse(
            "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** Update File: b.rs\n*** Move to: c.rs\n@@ fn x\n-old\n+new\n ctx\n*** Delete File: d.rs\n*** End Patch\n*** Add File: no",
        );
        let changes: Vec<_> = edits.iter().map(|e| (e.path.as_str(), e.change, e.added, e.removed)).collect();
        assert_eq!(
            changes,
            [
                ("a.rs", Change::Created, Some(2), Some(0)),
                ("c.rs", Change::Renamed, Some(1), Some(1)),
                ("d.rs", Change::Deleted, None, None)
            ]
        );
        assert_eq!(edits[1].from.as_deref(), Some("b.rs"));
    }

    #[test]
    fn a_patch_is_found_in_a_heredoc() {
        let command =
            "cd x && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: d\n*** End Patch\nEOF\nls";
        assert_eq!(in_command(command), Some("*** Begin Patch\n*** Delete File: d\n*** End Patch"));
        assert_eq!(in_command("cat <<E\n*** Begin Patch\nE"), None);
        assert_eq!(parse("rubbish"), []);
    }
}
