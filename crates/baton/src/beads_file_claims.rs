//! The tasks that a Beads file has in progress, read without importing the file: for a command that runs in another folder.

use baton_model::task::claim::FileClaim;
use baton_model::time::parse_rfc3339;
use baton_ops::Lines;
use serde::Deserialize;

use crate::beads_file::FileLines;
use crate::repo_file::RepoFile;

/// The status of a task that an agent has begun.
const IN_PROGRESS: &str = "in_progress";

/// The fields of a line that say who has begun its task.
#[derive(Deserialize)]
struct Line {
    id: String,
    status: String,
    assignee: Option<String>,
    updated_at: Option<String>,
}

/// The tasks that the file has in progress. A line that cannot be read is left out, as is a file: the import of the file reports both.
pub(crate) fn read(file: &RepoFile) -> Vec<FileClaim> {
    let Ok(mut lines) = FileLines::open(file) else { return Vec::new() };
    let mut claims = Vec::new();
    loop {
        match lines.next() {
            Ok(Some(line)) => claims.extend(claim_of(&line)),
            Ok(None) => return claims,
            Err(refusal) => {
                tracing::debug!(?refusal, "a line of a Beads file was not read");
                if refusal.code != "beads_invalid" {
                    return claims;
                }
            }
        }
    }
}

fn claim_of(line: &str) -> Option<FileClaim> {
    if !line.contains(IN_PROGRESS) {
        return None;
    }
    let line: Line = serde_json::from_str(line).ok()?;
    let assignee = line.assignee.filter(|name| line.status == IN_PROGRESS && !name.trim().is_empty())?;
    let updated_at = line.updated_at.as_deref().and_then(parse_rfc3339)?;
    Some(FileClaim { task_id: line.id, assignee, updated_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_in_progress_with_an_assignee_are_claims() {
        let folder = tempfile::tempdir().expect("folder");
        let text = concat!(
            r#"{"id":"a-1","status":"in_progress","assignee":"Bea","updated_at":"2026-01-01T00:00:00Z"}"#,
            "\nno line with in_progress\n",
            r#"{"id":"a-2","status":"open","title":"in_progress","updated_at":"2026-01-01T00:00:00Z"}"#,
            "\n",
            r#"{"id":"a-3","status":"in_progress","updated_at":"2026-01-01T00:00:00Z"}"#,
            "\n",
        );
        std::fs::write(folder.path().join("issues.jsonl"), text).expect("written");
        let claims = read(&RepoFile::new(folder.path(), "issues.jsonl"));
        let found: Vec<(&str, &str)> =
            claims.iter().map(|claim| (claim.task_id.as_str(), claim.assignee.as_str())).collect();
        assert_eq!(found, [("a-1", "Bea")]);
        assert!(read(&RepoFile::new(folder.path(), "none.jsonl")).is_empty());
    }
}
