//! The plan in prose that the agent put before the user last, and the files that it names.

use baton_packet::packet::{Decision, FileChange, Packet, Proposal};

use super::files::relative;
use super::label::Label;
use super::{Collector, SourceRef, StandingDecision};
use crate::event::{Call, Category, Outcome};

const MAX_TEXT: usize = 8 * 1024;
/// How many files of a plan are kept.
const MAX_FILES: usize = 40;

/// A plan in prose.
#[derive(Debug)]
pub(super) struct ProposedPlan {
    /// The plan, cleaned.
    text: String,
    files: Vec<String>,
    at: SourceRef,
    /// Id of the call that asks the user for approval.
    asked: Option<String>,
    approved: Option<bool>,
    /// Changes of files since then, those of the tool's own plan files left out.
    changes: u64,
}

impl ProposedPlan {
    /// A plan that the tool does not tell.
    fn without_text(at: &SourceRef) -> Self {
        Self {
            text: String::new(),
            files: Vec::new(),
            at: at.clone(),
            asked: None,
            approved: None,
            changes: 0,
        }
    }
}

impl Collector<'_> {
    /// A call of the main line that may put a plan before the user.
    pub(super) fn proposal(&mut self, call: &Call<'_>, at: &SourceRef) {
        let Some(text) = call.proposal.as_deref() else { return };
        let asks = call.category == Category::Task;
        if text.trim().is_empty() {
            if asks {
                // The plan was written into a file before.
                let known = self.proposed.get_or_insert_with(|| ProposedPlan::without_text(at));
                (known.asked, known.approved, known.at) =
                    (Some(call.id.clone().into_owned()), None, at.clone());
            }
            return;
        }
        let root = self.root.as_deref().map(|root| self.cleaner.clean_text(root));
        let cleaned = self.cleaner.clean_text(text);
        let named = paths(&cleaned).into_iter().map(|path| relative(path, root.as_deref()));
        // A path that is still absolute lies outside the project.
        let named = named.filter(|path| root.is_none() || !path.starts_with(['/', '~']));
        let earlier = self.proposed.as_ref().map(|plan| plan.files.as_slice()).unwrap_or_default();
        // An earlier version of the plan may have named the folder.
        let files: Vec<String> = named
            .map(|path| match earlier.iter().find(|known| ends_with(known, &path)) {
                Some(known) => known.clone(),
                None => path,
            })
            .collect();
        for file in &files {
            self.calls.touched.touch(file);
        }
        let question = asks.then(|| call.id.clone().into_owned());
        let text = crate::shared::words::clip(cleaned.trim(), MAX_TEXT);
        self.proposed =
            Some(ProposedPlan { text, files, at: at.clone(), asked: question, approved: None, changes: 0 });
    }

    /// A call of the main line ended, and changed as many files.
    pub(super) fn proposal_ended(&mut self, outcome: &Outcome<'_>, changes: u64) {
        let Some(known) = self.proposed.as_mut() else { return };
        match known.asked.as_deref() == Some(outcome.id.as_ref()) {
            true => known.approved = outcome.ok,
            false if known.asked.is_some() => return known.changes += changes,
            false => return,
        }
        let at = known.at.clone();
        // Where the text of the plan is known, it is told whether the user agreed to it.
        if known.text.is_empty() && outcome.ok == Some(true) {
            self.plan_was_approved(at);
        }
    }

    /// The user agreed to a plan whose text is known only as a file, if at all.
    fn plan_was_approved(&mut self, at: SourceRef) {
        let since = self.last_request.as_ref().map_or(0, |request| request.at.line);
        let file = self.files.document_since(since).map(|path| self.cleaner.clean_text(path));
        let place = file.map(|path| format!(" in `{path}`")).unwrap_or_default();
        let what = format!("The user agreed to the plan{place}.");
        let decision = Decision { what, why: None, rejected: Vec::new(), at: None };
        let named = Vec::new();
        self.decisions.push(StandingDecision { decision, at, named, role: "user", is_carried_out: false });
    }

    /// Whether a plan was put before the user whose text is told, and nothing was changed since.
    pub(super) fn has_waiting_plan(&self) -> bool {
        self.proposed.as_ref().is_some_and(|plan| !plan.text.is_empty() && plan.changes == 0)
    }

    /// Puts the plan into the packet, without the files that the packet has otherwise.
    pub(super) fn proposal_into(&mut self, packet: &mut Packet, label: &Label) {
        let Some(proposed) = self.proposed.take().filter(|plan| !plan.text.is_empty()) else { return };
        let known = |path: &str| {
            packet.files_modified.iter().chain(&packet.files_read).any(|file| ends_with(&file.path, path))
        };
        let at = label.at(&proposed.at);
        let files = proposed.files.iter().filter(|path| !known(path));
        let files = files.map(|path| FileChange {
            path: path.clone(),
            change: Some("planned".to_owned()),
            importance: self.calls.touched.importance(path),
            at: at.clone(),
            ..FileChange::default()
        });
        packet.proposal = Some(Proposal {
            text: proposed.text,
            approved: proposed.approved,
            changes_since: proposed.changes.try_into().unwrap_or(i64::MAX),
            files: files.collect(),
            at,
        });
    }
}

/// Whether a file is one in which a tool keeps a plan, in a folder of its own: `~/.claude/plans/p.md`.
pub(super) fn is_plan_file(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let is_in = |(folder, rest): (&str, &str)| {
        folder.rsplit('/').next().is_some_and(|name| name.starts_with('.') && name.len() > 1)
            && !rest.contains('/')
    };
    path.ends_with(".md") && path.rsplit_once("/plans/").is_some_and(is_in)
}

/// Whether a path is the other or its end.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Endings by which a name without a folder is that of a file.
const ENDINGS: &[&str] = &[
    "bash", "c", "cc", "cjs", "cpp", "cs", "css", "cts", "dart", "ex", "exs", "go", "gradle", "h", "hpp",
    "html", "java", "js", "json", "jsonl", "jsx", "kt", "lock", "lua", "md", "mjs", "mts", "php", "proto",
    "py", "rb", "rs", "scala", "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt",
    "vue", "xml", "yaml", "yml", "zig",
];

/// The files that a text names, in its order, each once: paths with a folder and an ending, and names with an ending of source
/// code. A name is left out where a path of the text ends in it.
fn paths(text: &str) -> Vec<&str> {
    let apart = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;|*=!?".contains(c);
    let mut found: Vec<&str> = Vec::new();
    for word in text.split(apart) {
        let word = word.split(':').next().unwrap_or_default().trim_end_matches(['.', '…']);
        let word = word.strip_prefix("./").unwrap_or(word);
        // What stands before `://` is no path, and what stands after is cut off with it.
        if is_path(word) && !found.contains(&word) && found.len() < MAX_FILES * 2 {
            found.push(word);
        }
    }
    let whole = found.clone();
    found.retain(|path| !whole.iter().any(|other| other != path && ends_with(other, path)));
    found.truncate(MAX_FILES);
    found
}

fn is_path(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+~@".contains(&byte);
    let Some((folder_and_stem, ending)) = word.rsplit_once('.') else { return false };
    let stem = folder_and_stem.rsplit('/').next().unwrap_or_default();
    let stem_is_name = stem.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let ending_is_plain =
        (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_number = ending.bytes().all(|byte| byte.is_ascii_digit());
    // `Node.js` is a product, `e.g` and `store.Load` are no files.
    let is_product = matches!(ending, "js") && stem.starts_with(|c: char| c.is_ascii_uppercase());
    let known = ENDINGS.contains(&ending);
    word.bytes().all(plain)
        && stem_is_name
        && ending_is_plain
        && !is_number
        && !word.contains("..")
        && !word.starts_with("//")
        && (if word.contains('/') { known || ending.len() > 1 } else { known && !is_product })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_that_a_plan_names_are_known_and_products_and_addresses_are_not() {
        let text = "## Files\n1. **`cmd/cli/setup.go`** (line 40) and ./docs/a.md:12-30; `setup.go:7`.\n\
                    - mise.toml, Node.js, e.g. store.Load, v1.2, https://x.example/a/b.html, *.go, ~/.zshrc";
        assert_eq!(paths(text), ["cmd/cli/setup.go", "docs/a.md", "mise.toml"]);
    }
}
