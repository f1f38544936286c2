//! GitHub as the saga sees it: issues by number, and what goes wrong.

use baton_model::issue::{Draft, Edit, IssueAnswer, TrackerCall, TrackerOutcome, TrackerResult};

/// Issues by repository, as GitHub would hold them; and what goes wrong.
#[derive(Default)]
pub(crate) struct Hub {
    pub issues: Vec<Issue>,
    /// Answers that are lost after the work was done, and calls that fail before it.
    pub lose: u32,
    pub fail: u32,
    /// Answers that are final.
    pub refuse: bool,
    /// What the answer to a close says of the issue.
    pub answer: Option<IssueAnswer>,
}

pub(crate) struct Issue {
    pub title: String,
    pub labels: Vec<String>,
    pub body: String,
    pub open: bool,
    pub reason: Option<String>,
    pub comments: Vec<String>,
}

impl Hub {
    fn with(&self, marker: &str) -> Vec<usize> {
        (0..self.issues.len()).filter(|at| self.issues[*at].body.contains(marker)).collect()
    }

    /// What the adapter promises: look first where an earlier try may have worked.
    pub(crate) fn ask(&mut self, call: &TrackerCall) -> TrackerOutcome {
        let retry = |unknown| TrackerOutcome::Retry { why: "no answer".into(), after: None, unknown };
        let maybe = call.may_exist();
        if self.refuse {
            return TrackerOutcome::Final { why: "404: no such repository".into(), unknown: maybe };
        }
        if self.fail > 0 {
            self.fail -= 1;
            return retry(maybe);
        }
        let result = match call {
            TrackerCall::Create(draft) => self.create(draft),
            TrackerCall::Find(draft) => self.find(draft),
            TrackerCall::Close { number, comment, reason, marker, .. } => {
                self.close(*number, comment, reason, marker)
            }
            TrackerCall::Comment { number, comment, marker, .. } => self.say(*number, comment, marker),
            TrackerCall::Edit { number, edit, .. } => self.edit(*number, edit),
        };
        if self.lose > 0 {
            self.lose -= 1;
            return retry(true);
        }
        TrackerOutcome::Completed(result)
    }

    fn create(&mut self, draft: &Draft) -> TrackerResult {
        if draft.may_exist && !self.with(&draft.marker).is_empty() {
            let existing = self.find(draft);
            if let TrackerResult::Issue { number, .. } = existing {
                let issue = &mut self.issues[usize::try_from(number - 1).expect("small")];
                (issue.open, issue.reason) = (true, None);
            }
            return existing;
        }
        self.issues.push(Issue {
            title: draft.title.clone(),
            labels: draft.labels.clone(),
            body: draft.body.clone(),
            open: true,
            reason: None,
            comments: Vec::new(),
        });
        issue(&draft.repo, self.issues.len(), Vec::new())
    }

    fn find(&mut self, draft: &Draft) -> TrackerResult {
        let there = self.with(&draft.marker);
        let known = draft.known.and_then(|number| usize::try_from(number - 1).ok());
        let Some(first) = known.or(there.first().copied()) else { return TrackerResult::Nothing };
        let doubles: Vec<i64> = there
            .into_iter()
            .filter(|at| *at != first && self.issues[*at].open)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|at| {
                self.issues[at].open = false;
                self.issues[at].reason = Some("duplicate".into());
                i64::try_from(at + 1).expect("small")
            })
            .collect();
        issue(&draft.repo, first + 1, doubles)
    }

    fn close(&mut self, number: i64, comment: &str, reason: &str, marker: &str) -> TrackerResult {
        self.say(number, comment, marker);
        let issue = &mut self.issues[usize::try_from(number - 1).expect("small")];
        (issue.open, issue.reason) = (false, Some(reason.to_owned()));
        TrackerResult::Closed(self.answer.clone())
    }

    fn say(&mut self, number: i64, comment: &str, marker: &str) -> TrackerResult {
        let issue = &mut self.issues[usize::try_from(number - 1).expect("small")];
        if !issue.comments.iter().any(|known| known.contains(marker)) {
            issue.comments.push(format!("{comment}\n{marker}"));
        }
        TrackerResult::Commented
    }

    fn edit(&mut self, number: i64, edit: &Edit) -> TrackerResult {
        let issue = &mut self.issues[usize::try_from(number - 1).expect("small")];
        issue.labels = edit.labels(&issue.labels);
        issue.title = edit.title.clone().unwrap_or_else(|| issue.title.clone());
        if let Some(open) = edit.open {
            (issue.open, issue.reason) = (open, Some(if open { "reopened" } else { "completed" }.to_owned()));
        }
        TrackerResult::Edited(None)
    }

    pub(crate) fn open(&self) -> usize {
        self.issues.iter().filter(|issue| issue.open).count()
    }
}

fn issue(repo: &str, number: usize, doubles: Vec<i64>) -> TrackerResult {
    let number = i64::try_from(number).expect("small");
    TrackerResult::Issue {
        number,
        url: format!("https://github.example/{repo}/issues/{number}"),
        duplicates: doubles,
    }
}
