//! GitHub's issues: what a step of a hand-off asks, and what the answers mean. An issue is known again by the hidden marker in its
//! body; it is looked for in the list, never in the search index, which lags.

use std::time::{Duration, Instant};

use baton_model::issue::{
    Draft, Edit, IssueAnswer, ResponseHeaders, RetryDecision, TrackerCall, TrackerOutcome, TrackerResult,
    advice, retry_decision,
};
use baton_model::time::rfc3339;

use super::github_auth::GitHubCredentials;
use super::github_http::{Http, Response};
use super::github_json::{Change, Comment, Issue, Label, NewComment, NewIssue, Problem, json, read};
use crate::clock;
use crate::config::Config;
use crate::error::AppError;

/// From taking a step to the last moment at which something may be created: the lease is longer by more than a request takes.
const MAX_START_DELAY: Duration = Duration::from_secs(5);

/// When a step was taken, by both clocks: one stands still while the machine sleeps, the other may be set.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepTime(Instant, i64);

impl StepTime {
    /// Now.
    pub(super) fn now() -> Self {
        Self(Instant::now(), clock::now())
    }

    fn is_old(self) -> bool {
        let slept = u64::try_from(clock::now().saturating_sub(self.1)).unwrap_or_default();
        self.0.elapsed() > MAX_START_DELAY || Duration::from_millis(slept) > MAX_START_DELAY
    }
}

/// How long a call that only reads may take.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(4);
/// How long a call that changes something may take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(8);
/// Pages of a list that are read.
pub(super) const PAGES: usize = 50;

/// The adapter.
pub(super) struct GitHub {
    pub(super) http: Http,
}

/// An issue that carries the marker.
struct MarkedIssue {
    number: i64,
    url: String,
    is_open: bool,
    reason: String,
    /// Whether it is word for word what we send, and so no quotation of it.
    is_ours: bool,
}

/// Why a call did not complete; `true` if it may have taken effect.
pub(super) enum CallFailure {
    Retry(String, Option<i64>, bool),
    Final(String),
    /// There is no such thing any more.
    Deleted,
}

impl GitHub {
    /// The adapter, if access is configured.
    pub(super) fn new(config: &Config) -> Result<Option<Self>, AppError> {
        match GitHubCredentials::of(config) {
            Some(access) => Ok(Some(Self { http: Http::new(&config.github.api, access)? })),
            None => Ok(None),
        }
    }

    /// How long GitHub wants to be left alone.
    pub(super) fn blocked_for(&self) -> Option<Duration> {
        self.http.blocked_for()
    }

    /// Carries a call out. `taken` is when the step was taken under its lease.
    pub(super) async fn execute(&self, call: &TrackerCall, taken: StepTime) -> TrackerOutcome {
        let maybe = call.may_exist();
        let result = match call {
            TrackerCall::Create(draft) => self.create(draft, taken).await,
            TrackerCall::Find(draft) => self.find(draft).await,
            TrackerCall::Close { repo, number, comment, reason, marker, may_exist } => {
                let text = format!("{comment}\n\n{marker}");
                let known = may_exist.then_some(marker.as_str());
                self.close(repo, *number, reason, &text, known).await.map(TrackerResult::Closed)
            }
            TrackerCall::Comment { repo, number, comment, marker, may_exist } => {
                let text = format!("{comment}\n\n{marker}");
                let known = may_exist.then_some(marker.as_str());
                self.comment_once(&format!("/repos/{repo}/issues/{number}"), &text, known)
                    .await
                    .map(|_| TrackerResult::Commented)
            }
            TrackerCall::Edit { repo, number, edit } => {
                let path = format!("/repos/{repo}/issues/{number}");
                self.edit(&path, edit).await.map(TrackerResult::Edited)
            }
        };
        match result {
            Ok(result) => TrackerOutcome::Completed(result),
            Err(CallFailure::Retry(why, after, unknown)) => {
                TrackerOutcome::Retry { why, after, unknown: unknown || maybe }
            }
            Err(CallFailure::Final(why)) => TrackerOutcome::Final { why, unknown: maybe },
            Err(CallFailure::Deleted) => {
                TrackerOutcome::Completed(if matches!(call, TrackerCall::Close { .. }) {
                    TrackerResult::Closed(None)
                } else {
                    TrackerResult::Nothing
                })
            }
        }
    }

    async fn create(&self, draft: &Draft, taken: StepTime) -> Result<TrackerResult, CallFailure> {
        if draft.may_exist {
            let there = self.marked(draft).await?;
            if let Some(first) = there.first() {
                if !first.is_open && first.reason == "not_planned" {
                    let path = format!("/repos/{}/issues/{}", draft.repo, first.number);
                    self.change(&path, &Change { state: Some("open"), ..Change::default() }).await?;
                }
                return self.only_oldest(draft, there).await;
            }
        }
        if taken.is_old() {
            // The lease could expire before the answer arrives, and another process would create the issue as well.
            return Err(CallFailure::Retry(
                "there was no time left to create the issue".into(),
                Some(0),
                false,
            ));
        }
        let new = json(&NewIssue { title: &draft.title, body: &draft.body, labels: &draft.labels });
        let path = format!("/repos/{}/issues", draft.repo);
        let answer = self.http.send("POST", &path, Some(&new), WRITE_TIMEOUT, None).await;
        let made = classify_answer(answer, true)?;
        // What was created is said to be, whatever else the answer lacks.
        let Some((number, url)) = address(&read(&made.body)) else {
            return Err(CallFailure::Retry("GitHub's answer was cut off".into(), None, true));
        };
        if draft.may_exist
            && let Ok(there) = self.marked(draft).await
            && there.len() > 1
        {
            return self.only_oldest(draft, there).await;
        }
        Ok(TrackerResult::Issue { number, url, duplicates: Vec::new() })
    }

    async fn find(&self, draft: &Draft) -> Result<TrackerResult, CallFailure> {
        let there = self.marked(draft).await?;
        if there.is_empty() { Ok(TrackerResult::Nothing) } else { self.only_oldest(draft, there).await }
    }

    /// Keeps the known one, else the oldest, and closes the others as duplicates.
    async fn only_oldest(
        &self,
        draft: &Draft,
        mut there: Vec<MarkedIssue>,
    ) -> Result<TrackerResult, CallFailure> {
        let at = there.iter().position(|issue| Some(issue.number) == draft.known).unwrap_or_default();
        let first = match (draft.known, there.is_empty()) {
            // Known, though its marker was edited away.
            (Some(number), _) if there.get(at).is_none_or(|issue| issue.number != number) => {
                (number, String::new())
            }
            (_, true) => return Ok(TrackerResult::Nothing),
            _ => {
                let first = there.remove(at);
                (first.number, first.url)
            }
        };
        let mut duplicates = Vec::new();
        for double in there.into_iter().filter(|issue| issue.is_open && issue.is_ours) {
            let text = format!("Duplicate of #{}: two processes made the same hand-off.", first.0);
            self.close(&draft.repo, double.number, "duplicate", &text, Some(&text)).await?;
            tracing::warn!(repo = %draft.repo, number = double.number, of = first.0, "a double was closed");
            duplicates.push(double.number);
        }
        Ok(TrackerResult::Issue { number: first.0, url: first.1, duplicates })
    }

    /// The issues with the marker, oldest first: by label, and if there are none, without it, because GitHub drops
    /// labels set by users without the permission.
    async fn marked(&self, draft: &Draft) -> Result<Vec<MarkedIssue>, CallFailure> {
        let by_label = self.marked_among(draft, "&labels=handoff").await?;
        if by_label.is_empty() { self.marked_among(draft, "").await } else { Ok(by_label) }
    }

    async fn marked_among(&self, draft: &Draft, filter: &str) -> Result<Vec<MarkedIssue>, CallFailure> {
        let since = rfc3339(draft.since);
        let mut found = Vec::new();
        for page in 1..=PAGES {
            let path = format!(
                "/repos/{}/issues?state=all&since={since}&sort=created&direction=desc&per_page=100&page={page}{filter}",
                draft.repo
            );
            let answer =
                classify_answer(self.http.send("GET", &path, None, READ_TIMEOUT, None).await, false)?;
            let rows = answer.body.as_array().map(Vec::as_slice).unwrap_or_default();
            let marked = rows.iter().map(read::<Issue>).filter(|issue| is_marked(issue, draft));
            found.extend(marked.filter_map(|issue| {
                let (number, url) = address(&issue)?;
                let [title, body] =
                    [&issue.title, &issue.body].map(|text| text.as_deref().unwrap_or_default());
                let is_ours = draft.is_ours(title, body);
                let is_open = issue.is_open();
                Some(MarkedIssue {
                    number,
                    url,
                    is_open,
                    reason: issue.state_reason.unwrap_or_default(),
                    is_ours,
                })
            }));
            if rows.len() < 100 && !answer.has_next {
                break;
            }
        }
        found.sort_by_key(|issue| issue.number);
        Ok(found)
    }

    /// Says something and closes; what was said before is not said again.
    async fn close(
        &self,
        repo: &str,
        number: i64,
        reason: &str,
        text: &str,
        known: Option<&str>,
    ) -> Result<Option<IssueAnswer>, CallFailure> {
        let path = format!("/repos/{repo}/issues/{number}");
        let own_login = self.comment_once(&path, text, known).await?;
        let change = Change { state: Some("closed"), state_reason: Some(reason), ..Change::default() };
        let after = self.change(&path, &change).await?;
        // Of two closes within a second the login tells.
        let is_own = after.closed_at == after.updated_at
            && own_login.as_deref().zip(after.closer()).is_none_or(|(own, closer)| own == closer);
        Ok(after.answer(is_own))
    }

    /// Says something under an issue, unless `known` stands there already. Returns as whom GitHub knows us, where it says so.
    async fn comment_once(
        &self,
        path: &str,
        text: &str,
        known: Option<&str>,
    ) -> Result<Option<String>, CallFailure> {
        if let Some(marker) = known
            && self.has_comment(path, marker).await?
        {
            return Ok(None);
        }
        let comments = format!("{path}/comments");
        let new = json(&NewComment { body: text });
        let answer = self.http.send("POST", &comments, Some(&new), WRITE_TIMEOUT, None).await;
        let written: Comment = read(&classify_answer(answer, true)?.body);
        Ok(written.user.and_then(|user| user.login))
    }

    async fn has_comment(&self, path: &str, marker: &str) -> Result<bool, CallFailure> {
        for page in 1..=PAGES {
            let path = format!("{path}/comments?per_page=100&page={page}");
            let answer =
                classify_answer(self.http.send("GET", &path, None, READ_TIMEOUT, None).await, false)?;
            let rows = answer.body.as_array().map(Vec::as_slice).unwrap_or_default();
            let mut comments = rows.iter().map(read::<Comment>);
            if comments.any(|comment| comment.body.is_some_and(|body| body.contains(marker))) {
                return Ok(true);
            }
            if rows.len() < 100 {
                break;
            }
        }
        Ok(false)
    }

    async fn change(&self, path: &str, change: &Change<'_>) -> Result<Issue, CallFailure> {
        let answer = self.http.send("PATCH", path, Some(&json(change)), WRITE_TIMEOUT, None).await;
        // The change may be repeated. `true`: a comment that was made before it may stand there already.
        classify_answer(answer, true).map(|answer| read(&answer.body))
    }

    /// Changes of an issue what changed about its task; everything else stays.
    async fn edit(&self, path: &str, edit: &Edit) -> Result<Option<IssueAnswer>, CallFailure> {
        let now = classify_answer(self.http.send("GET", path, None, READ_TIMEOUT, None).await, false)?.body;
        let now: Issue = read(&now);
        let open = edit.open.filter(|open| *open != now.is_open());
        let before = now.answer(false);
        let labels: Vec<String> = now.labels.into_iter().filter_map(Label::into_name).collect();
        let change = Change {
            state: open.map(|open| if open { "open" } else { "closed" }),
            title: edit.title.as_deref().filter(|title| now.title.as_deref() != Some(title)),
            labels: Some(edit.labels(&labels)).filter(|after| *after != labels),
            state_reason: None,
        };
        let after = match change.is_empty() {
            true => before,
            false => self.change(path, &change).await?.answer(open == Some(false)),
        };
        Ok(after.filter(|_| edit.open.is_some()))
    }
}

fn is_marked(issue: &Issue, draft: &Draft) -> bool {
    issue.pull_request.is_none() && issue.body.as_ref().is_some_and(|body| draft.is_marked(body))
}

fn address(issue: &Issue) -> Option<(i64, String)> {
    Some((issue.number?, issue.html_url.clone()?))
}

/// What an answer means. `changes`: the call may have done something although no good answer came.
pub(super) fn classify_answer(
    answer: Result<Response, super::github_http::RequestError>,
    changes: bool,
) -> Result<Response, CallFailure> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(none) => return Err(CallFailure::Retry(none.why, none.after, changes && none.was_sent)),
    };
    let message = read::<Problem>(&answer.body).text();
    let marks = ResponseHeaders {
        retry_after: answer.retry_after,
        remaining: answer.remaining,
        reset: answer.reset,
        message: &message,
    };
    let sentence =
        |text: &str| format!("GitHub answered {}: {}", answer.status, baton_model::id::visible(text));
    match retry_decision(answer.status, &marks, clock::now()) {
        RetryDecision::Good => Ok(answer),
        RetryDecision::Later(after) => Err(CallFailure::Retry(sentence(marks.message), after, false)),
        RetryDecision::Unknown => {
            Err(CallFailure::Retry(sentence(marks.message), answer.retry_after.map(|s| s * 1_000), changes))
        }
        RetryDecision::Never if answer.status == 410 && !changes => Err(CallFailure::Deleted),
        RetryDecision::Never => {
            Err(CallFailure::Final(format!("{}; {}", sentence(marks.message), advice(answer.status))))
        }
    }
}
