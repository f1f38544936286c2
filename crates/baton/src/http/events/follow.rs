//! Follows the ledgers for the listeners.
//!
//! Without listeners nothing is read. With listeners, a write of this server tells in which projects it was, and only these are read. For
//! what other processes write, one value says whether anything was committed at all; all heads are read only where it was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use baton_ops::ledger::{Head, HeadsInput, HeadsOutput};
use tokio::time::Instant;

use super::{EventHub, change, grant_of_project};
use crate::error::AppError;

/// How often the ledgers are looked at for what other processes wrote.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Marks remembered at once: more than the pool has connections that read.
const MARKS: usize = 8;

/// How far the listeners have heard.
pub(super) struct Position {
    heads: BTreeMap<String, Head>,
    /// What was committed when all heads were read, as single connections know it: these heads are no older than any of them.
    marks: Vec<String>,
}

impl Position {
    fn of(heads: HeadsOutput) -> Self {
        let marks = heads.mark.into_iter().collect();
        let heads = heads.items.into_iter().map(|head| (head.project_id.clone(), head)).collect();
        Self { heads, marks }
    }

    /// Notes the mark of an answer about all projects, once what is new in it has been sent.
    fn note_mark(&mut self, mark: Option<String>) {
        if self.marks.len() >= MARKS {
            self.marks.clear();
        }
        self.marks.extend(mark);
    }
}

impl EventHub {
    /// Notes how far the ledgers have come before the first listener is let in, so that it hears everything from then on.
    pub(super) async fn begin_to_follow(&self) -> Result<(), AppError> {
        let mut position = self.position.lock().await;
        if position.is_none() {
            *position = Some(Position::of(self.heads(&HeadsInput::default()).await?));
        }
        Ok(())
    }

    /// Follows the ledgers for as long as the server runs.
    pub(in crate::http) async fn follow(self: Arc<Self>) {
        let mut next_look = Instant::now() + POLL_INTERVAL;
        loop {
            let mut projects = Vec::new();
            tokio::select! {
                written = self.pool.written_projects() => projects.extend(written),
                () = self.wait_for_change() => next_look = Instant::now(),
                () = tokio::time::sleep_until(next_look) => {}
            }
            if let Err(error) = self.look(&mut next_look, projects).await {
                tracing::warn!(?error, "the ledgers could not be followed");
            }
        }
    }

    /// Resolves when another server publishes a write while there are listeners; never resolves without Redis or
    /// without listeners.
    async fn wait_for_change(&self) {
        match &self.live {
            Some(live) if self.listeners() > 0 => live.wait_for_write().await,
            _ => std::future::pending().await,
        }
    }

    /// Sends what is new in these projects, and in all of them where it is time to look.
    async fn look(&self, next_look: &mut Instant, projects: Vec<String>) -> Result<(), AppError> {
        let mut position = self.position.lock().await;
        let is_due = Instant::now() >= *next_look;
        if is_due {
            *next_look = Instant::now() + POLL_INTERVAL;
        }
        if self.listeners() == 0 {
            *position = None;
        }
        // Without a position, the first listener is about to make one.
        let Some(position) = position.as_mut() else { return Ok(()) };
        if !projects.is_empty() {
            let input = HeadsInput { projects, ..HeadsInput::default() };
            let found = self.heads(&input).await?;
            self.send_new(position, found.items).await?;
        }
        if is_due {
            let input = HeadsInput { marks: position.marks.clone(), ..HeadsInput::default() };
            let found = self.heads(&input).await?;
            if !found.unchanged {
                let there: BTreeSet<String> =
                    found.items.iter().map(|head| head.project_id.clone()).collect();
                position.heads.retain(|project_id, _| there.contains(project_id));
                self.send_new(position, found.items).await?;
                position.note_mark(found.mark);
            }
        }
        Ok(())
    }

    /// Sends what came since the last look, and notes how far that was.
    async fn send_new(&self, position: &mut Position, found: Vec<Head>) -> Result<(), AppError> {
        for mut head in found {
            let known = position.heads.get(&head.project_id).map(|known| (known.seq, known.change_count));
            if known.is_some_and(|known| known == (head.seq, head.change_count)) {
                continue;
            }
            let mut after = known.map_or(0, |(seq, _)| seq);
            while after < head.seq {
                // One event goes to listeners with different grants, so it names no project besides its own.
                let page = self.page(&head.project_id, after, &grant_of_project(&head.project_id)).await?;
                let Some(last) = page.last() else { break };
                after = last.seq;
                for event in page {
                    let _ = self.events.send(Arc::new(event));
                }
            }
            head.seq = after.max(head.seq);
            if known.is_none_or(|(_, change_count)| change_count != head.change_count) {
                let _ = self.events.send(Arc::new(change(&head).map_err(anyhow::Error::from)?));
            }
            position.heads.insert(head.project_id.clone(), head);
        }
        Ok(())
    }
}
