//! Polls: what happened to the issues of hand-offs, where no webhook says so.

use baton_model::handoff::{State, View};
use baton_model::store_place::OutsideCalls;
use baton_model::time::Millis;
use baton_ops::handoff::{TrackerEvent, TrackerEventInput, awaits_closing_words, note_repository};
use baton_ops::op::{Cx, Env, Operation};
use baton_store::handoff::KnownIssue;
use baton_store::{Failure, Store, tracker};
use tokio::runtime::Handle;

use super::github::GitHub;
use super::github_read::{ClosingWords, IssueState, PollOutcome, WAIT_FOR_WORDS};
use super::saga::Driver;

/// How long a server keeps polling the issue of a hand-off that has ended, because it may be reopened.
pub(super) const REOPEN_POLL_SPAN: Millis = 7 * 86_400_000;

impl Driver {
    /// Looks at every repository whose hand-offs are open, or ended within the span, and whose time has come; says how many
    /// issues brought news.
    pub(crate) fn poll(
        &self,
        store: &mut Store,
        runtime: &Handle,
        ended_within: Option<Millis>,
    ) -> Result<usize, Failure> {
        let Some(github) = &self.github else { return Ok(0) };
        let now = self.machine.now();
        let ended_since = ended_within.map_or(Millis::MAX, |span| now.saturating_sub(span));
        let repos = store.read(|tx| Ok(baton_store::handoff::open_repos(tx, ended_since)?))?;
        if repos.is_empty() || self.calls(store)? == OutsideCalls::Held {
            return Ok(0);
        }
        let mut news = 0;
        for repo in repos {
            let known = store.read(|tx| Ok(tracker::poll(tx, &repo)?))?.unwrap_or_default();
            if known.due_at <= now {
                news += self.poll_repo(store, runtime, (github, &repo))?;
            }
        }
        Ok(news)
    }

    /// Asks for the repository of a hand-off that was not to be found, where a retry wants that now.
    pub(super) fn look_again(&self, store: &mut Store, runtime: &Handle, id: &str) -> Result<(), Failure> {
        let Some(github) = &self.github else { return Ok(()) };
        let handoff = store.read(|tx| Ok(baton_store::handoff::get(tx, id)?))?;
        let handoff = handoff.filter(|handoff| View::from(handoff).repository_missing);
        let Some(repo) = handoff.and_then(|handoff| handoff.issues_repo) else { return Ok(()) };
        match store.read(|tx| Ok(tracker::poll(tx, &repo)?))? {
            Some(known) if known.due_at == 0 && self.calls(store)? == OutsideCalls::Allowed => {
                self.poll_repo(store, runtime, (github, &repo)).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Looks at a repository, and notes when that is due again; says how many issues brought news.
    fn poll_repo(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
    ) -> Result<usize, Failure> {
        let now = self.machine.now();
        // At one moment: an issue that comes to be known moves back from where the repository is read.
        let (known, issues) = store.snapshot(|tx| {
            let known = tracker::poll(tx, repo)?.unwrap_or_default();
            Ok((known, baton_store::handoff::issues_in_repo(tx, repo)?))
        })?;
        let pause = i64::try_from(self.poll.as_millis()).unwrap_or(i64::MAX);
        let first = now.saturating_sub(REOPEN_POLL_SPAN);
        let since = if known.since_at == 0 { first } else { known.since_at };
        let outcome = runtime.block_on(github.poll(repo, since, known.etag.as_deref()));
        self.note_presence(store, repo, &outcome)?;
        let PollOutcome::Read(polled) = outcome else {
            let later = tracker::Poll { due_at: now + pause, ..known };
            store.write_shared(|tx| Ok(tracker::put_poll(tx, repo, &later)?))?;
            return Ok(0);
        };
        // Before the issues: one of them may say that the repository has another name by now.
        let comments = self.poll_comments(store, runtime, (github, repo), (&issues, &known.comments))?;
        let seen = (issues.as_slice(), polled.issues.as_slice(), comments.is_complete);
        let deletions = self.find_deleted(store, runtime, (github, repo), seen)?;
        let applied = self.apply_polled(store, runtime, (github, repo), (&issues, &polled.issues))?;
        let newest =
            polled.issues.iter().filter_map(|seen| seen.updated_at).max().unwrap_or(since).max(since);
        // What waits for its comments is listed again.
        let oldest_unread = applied.oldest_unread.into_iter().chain(deletions.oldest_unread).min();
        let newest = oldest_unread.map_or(newest, |unread| newest.min(unread));
        // The ETag is valid for the list since `since` only.
        let etag = polled.etag.filter(|_| newest == since && oldest_unread.is_none());
        let next = tracker::Poll { etag, since_at: newest, due_at: now + pause, comments: comments.cursor };
        note_polled(store, repo, (issues.len(), &next))?;
        Ok(applied.news + comments.news + deletions.news)
    }

    /// Brings what a poll has seen into the ledger. A close whose words GitHub does not give yet waits for the next poll.
    fn apply_polled(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        (known, issues): (&[KnownIssue], &[IssueState]),
    ) -> Result<AppliedIssues, Failure> {
        let mut applied = AppliedIssues::default();
        let is_known = |seen: &IssueState| known.iter().any(|one| one.number == seen.number);
        let is_of_use =
            |seen: &&IssueState| seen.state == "closed" || seen.marker.is_some() || is_known(seen);
        for seen in issues.iter().filter(is_of_use) {
            let ClosingWords::Known(words) = self.closing_words(store, runtime, (github, repo), seen)? else {
                tracing::warn!(
                    repo,
                    issue = seen.number,
                    "GitHub gave no comments; the close waits for them"
                );
                applied.look_again(seen);
                continue;
            };
            let input = TrackerEventInput {
                repo: repo.to_owned(),
                number: seen.number,
                state: seen.state.clone(),
                state_reason: seen.reason.clone(),
                by: seen.by.clone(),
                marker: seen.marker.clone(),
                url: seen.url.clone(),
                updated_at: seen.updated_at,
                closed_at: seen.closed_at,
                words,
                title: seen.title.clone(),
                body: seen.body.clone(),
                labels: seen.labels.clone(),
                edited_by: None,
            };
            let answer = self.call::<TrackerEvent>(store, &input)?;
            applied.news += usize::from(answer.changed);
            if answer.is_held_back {
                applied.look_again(seen);
            }
        }
        Ok(applied)
    }

    /// Runs an operation in this server's own name.
    pub(super) fn call<O: Operation>(
        &self,
        store: &mut Store,
        input: &O::Input,
    ) -> Result<O::Output, Failure> {
        self.with(store, |store, env| {
            let env = Env {
                now: env.now,
                random: env.random,
                caller: env.caller,
                limits: env.limits,
                host: env.host,
            };
            baton_ops::all::call_typed::<O>(input, &mut Cx { store, env })
        })
    }

    /// Notes in the hand-offs of a repository whether it is there, where the answer to a poll says so.
    fn note_presence(&self, store: &mut Store, repo: &str, outcome: &PollOutcome) -> Result<(), Failure> {
        let why = match outcome {
            PollOutcome::Read(_) => None,
            PollOutcome::Missing => Some(missing_text(repo)),
            PollOutcome::Unreadable => return Ok(()),
        };
        self.with(store, |store, env| note_repository(store, env, repo, why.as_deref()))
    }

    /// What was said under an issue that a person has just closed. It is read once, while the hand-off or its task is still open here,
    /// or where it was ended here before the close was seen.
    fn closing_words(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        seen: &IssueState,
    ) -> Result<ClosingWords, Failure> {
        let (Some(by), "closed") = (&seen.by, seen.state.as_str()) else {
            return Ok(ClosingWords::Known(None));
        };
        let is_wanted = store.read(|tx| {
            let Some(known) = baton_store::handoff::by_issue(tx, repo, seen.number)? else {
                return Ok(false);
            };
            if matches!(known.state, State::Offered | State::Accepted) {
                return Ok(true);
            }
            let task = match &known.task_id {
                Some(id) => baton_store::task::get(tx, &known.to_project_id, id)?,
                None => None,
            };
            Ok(task.is_some_and(|task| task.is_open()) || awaits_closing_words(tx, &known, seen.closed_at)?)
        })?;
        if !is_wanted {
            return Ok(ClosingWords::Known(None));
        }
        let since_close = self.machine.now().saturating_sub(seen.updated_at.unwrap_or_default());
        Ok(awaited(runtime.block_on(github.closing_words(repo, seen.number, by)), since_close))
    }
}

/// Notes how far a repository was read by a poll that knew so many issues. An issue whose number came to be known meanwhile was skipped
/// by it: then the next poll reads from where this one began.
fn note_polled(store: &mut Store, repo: &str, (known, next): (usize, &tracker::Poll)) -> Result<(), Failure> {
    store.write_shared(|tx| {
        // An issue that becomes known from here on waits, and then moves back what is written.
        tracker::lock_poll(tx, repo)?;
        let is_behind = baton_store::handoff::issues_in_repo(tx, repo)?.len() != known;
        let noted = match is_behind {
            true => tracker::Poll { due_at: next.due_at, ..tracker::poll(tx, repo)?.unwrap_or_default() },
            false => next.clone(),
        };
        Ok(tracker::put_poll(tx, repo, &noted)?)
    })
}

/// What became of the issues of a poll.
#[derive(Default)]
struct AppliedIssues {
    /// How many brought news.
    news: usize,
    /// When the oldest of those was changed that are looked at again.
    oldest_unread: Option<Millis>,
}

impl AppliedIssues {
    /// An issue whose news cannot be taken in yet is listed again by the next poll.
    fn look_again(&mut self, seen: &IssueState) {
        self.oldest_unread = self.oldest_unread.into_iter().chain(seen.updated_at).min();
    }
}

/// How a hand-off says that the repository of its issue is not to be found.
fn missing_text(repo: &str) -> String {
    format!("GitHub answers 404 for {repo}: it is gone, or the token may not read it")
}

/// The words of a close that happened so long ago, or that they are waited for.
fn awaited(read: ClosingWords, since_close: Millis) -> ClosingWords {
    match read {
        // They may not be readable with this token at all: then the close counts without them.
        ClosingWords::Unknown if since_close > WAIT_FOR_WORDS => ClosingWords::Known(None),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_that_missed_an_issue_does_not_move_on() {
        let mut store = Store::open(&baton_store::Target::Memory, 0).expect("store");
        let poll = |store: &mut Store| store.read(|tx| Ok(tracker::poll(tx, "o/r")?)).expect("read");
        let next =
            tracker::Poll { etag: Some("new".into()), since_at: 20, due_at: 30, ..tracker::Poll::default() };
        note_polled(&mut store, "o/r", (1, &next)).expect("noted");
        assert_eq!(poll(&mut store), Some(tracker::Poll { due_at: 30, ..tracker::Poll::default() }));
        note_polled(&mut store, "o/r", (0, &next)).expect("noted");
        assert_eq!(poll(&mut store), Some(next.clone()));
        let later = tracker::Poll { since_at: 40, due_at: 50, ..next.clone() };
        note_polled(&mut store, "o/r", (1, &later)).expect("noted");
        assert_eq!(poll(&mut store), Some(tracker::Poll { due_at: 50, ..next }));
    }

    #[test]
    fn a_close_waits_ten_minutes_for_words_that_are_not_given_and_no_longer() {
        let minutes = |count: Millis| count * 60_000;
        for since_close in [0, minutes(9), minutes(10)] {
            assert_eq!(awaited(ClosingWords::Unknown, since_close), ClosingWords::Unknown, "{since_close}");
        }
        assert_eq!(awaited(ClosingWords::Unknown, minutes(10) + 1), ClosingWords::Known(None));
        for words in [None, Some("in v2".to_owned())].map(ClosingWords::Known) {
            assert_eq!(awaited(words.clone(), 0), words);
            assert_eq!(awaited(words.clone(), minutes(60)), words);
        }
    }
}
