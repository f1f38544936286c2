//! Why a supervised agent stopped: a limit, a failure, or because it was done.

use baton_model::packet_from_ledger::STOP_TAG;
use baton_model::usage_limit::ProviderStop;
use baton_ops::ledger::{Note, NoteInput};
use baton_ops::transcript::{Events, EventsInput};
use serde::Serialize;

use super::Supervisor;
use super::evidence::Search;
use crate::app::App;
use crate::provider_error;

/// The exit code of a program that the interrupt key ended.
const INTERRUPTED: i32 = 130;

/// Why an agent stopped before it was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(super) enum Stop {
    /// A budget is used up.
    Limit(ProviderStop),
    /// The provider failed, or the tool did.
    Failure {
        /// What the provider said, if it said anything.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
}

impl Stop {
    /// What happened to a tool, in words.
    pub(super) fn sentence(&self, tool: &str, code: i32) -> String {
        match self {
            Self::Limit(limit) => {
                let again = limit.reset_text().map(|again| format!("; {tool} {again}")).unwrap_or_default();
                format!("{tool} stopped at a limit: {}{again}", limit.text)
            }
            Self::Failure { text: Some(text) } => format!("{tool} stopped at a failure: {text}"),
            Self::Failure { text: None } => format!("{tool} failed with exit code {code}"),
        }
    }
}

impl Supervisor<'_> {
    /// Why the agent stopped; none where it was done or was ended from outside. A limit is recorded in the session.
    pub(super) fn stop(&mut self, code: i32, was_forwarded: bool, app: &mut App) -> Option<Stop> {
        if was_forwarded {
            return None;
        }
        let stop = match self.last_error(app) {
            Some(error) if error.is_limit => Stop::Limit(error),
            Some(error) => Stop::Failure { text: Some(error.text) },
            None if code != 0 && code != INTERRUPTED => Stop::Failure { text: None },
            None => return None,
        };
        if matches!(stop, Stop::Limit(_)) || self.plan.next.is_some() {
            self.record(&stop, code, app);
        }
        Some(stop)
    }

    /// The error of a provider that stands last in the agent's own transcript, behind everything that it did.
    fn last_error(&mut self, app: &mut App) -> Option<ProviderStop> {
        let Ok(Search::Own(row)) = self.transcript(app) else { return None };
        let by_path = row.key.is_none() && row.path.is_file();
        let input = EventsInput {
            id: if by_path { row.path.display().to_string() } else { row.conversation.id },
            agent: Some(row.conversation.agent),
        };
        let items = app.run_as::<Events>(&self.caller, &input).ok()?.items;
        let (text, at) = provider_error::last(&items)?;
        let at = at.unwrap_or(self.began);
        // What an earlier run met is over: the conversation was only opened again.
        // A person reads the time of the clock in the provider's words.
        (at >= self.began.saturating_sub(2_000)).then(|| ProviderStop::read(&text, at, &|_| None))
    }

    fn record(&mut self, stop: &Stop, code: i32, app: &mut App) {
        let next = self.plan.next.map(|next| format!("; next: {}", next.tool.title)).unwrap_or_default();
        let (project, session) = self.own();
        let text = format!("{}{next}", stop.sentence(&self.plan.title(), code));
        let tags = vec![STOP_TAG.to_owned()];
        let input = NoteInput { project, session, text, tags, ..NoteInput::default() };
        // A session that is over takes no note; the report says the same.
        if let Ok(noted) = app.run_as::<Note>(&self.caller, &input) {
            self.own_notes.push(noted.delta_id);
        }
    }
}
