//! Evidence for which transcript is the supervised agent's: reports of its hooks, its command line, its open files, and
//! the transcripts that other sessions have claimed.

use baton_model::delta;
use baton_model::id::visible;
use baton_ops::ledger::{LedgerList, LedgerListInput, Row};
use baton_ops::transcript::{List, ListInput};
use serde::Deserialize;

use super::Supervisor;
use super::find_transcript::{Choice, Conversation, Evidence, Transcript, choose, went_on};
use crate::app::App;
use crate::clock;
use crate::error::AppError;

/// What an entry of the ledger says about a transcript.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Mention {
    event: Option<String>,
    transcript: Option<TranscriptRef>,
    transcript_id: Option<String>,
    source: Option<TranscriptRef>,
}

#[derive(Deserialize)]
struct TranscriptRef {
    id: Option<String>,
    agent: Option<String>,
}

impl Mention {
    fn of(row: &Row) -> Option<Self> {
        match row.body.as_ref()? {
            serde_json::Value::String(text) => serde_json::from_str(text).ok(),
            body => serde_json::from_value(body.clone()).ok(),
        }
    }
}

/// What a search for the agent's transcript came to.
pub(super) enum Search {
    Own(Transcript),
    /// Any of these may be it.
    Unclear(Vec<Transcript>),
    /// None was begun; these were there before and went on.
    WentOn(Vec<Transcript>),
}

impl Supervisor<'_> {
    /// Transcripts in which something was said since the agent was started.
    pub(super) fn listed(&self, app: &mut App) -> Result<Vec<Transcript>, AppError> {
        let input = ListInput {
            agents: self.plan.launcher.iter().map(|launcher| launcher.tool.id.to_owned()).collect(),
            since_ms: Some(self.began - 2_000),
            ..ListInput::default()
        };
        let rows = app.run_as::<List>(&self.caller, &input)?.items;
        Ok(rows.into_iter().map(Transcript::from).collect())
    }

    /// The agent's transcript, as far as the evidence identifies it.
    pub(super) fn transcript(&mut self, app: &mut App) -> Result<Search, AppError> {
        let listed = self.listed(app)?;
        let evidence = self.evidence(app)?;
        Ok(match choose(&listed, &evidence) {
            Choice::One(row) => {
                self.place.bind(&row.conversation);
                Search::Own(row.clone())
            }
            Choice::Unclear(rows) => Search::Unclear(rows.into_iter().cloned().collect()),
            Choice::None => Search::WentOn(went_on(&listed, &evidence).cloned().collect()),
        })
    }

    fn evidence(&self, app: &mut App) -> Result<Evidence, AppError> {
        let mut taken = self.place.others(clock::now());
        taken.extend(self.conversations_of_others(app)?);
        Ok(Evidence {
            cwd: self.cwd.clone(),
            began: self.began,
            hooks: match self.place.reported() {
                none if none.is_empty() => self.hooked_transcripts(app)?,
                reported => reported,
            },
            words: self.words.clone(),
            written: self.written.clone(),
            taken,
            bound: self.place.bound().cloned(),
        })
    }

    pub(super) fn report_unclear(&mut self, rows: &[Transcript]) {
        if rows.is_empty() {
            return;
        }
        let what = "nothing proves which conversation here was this agent's, so none is taken; with `baton install` its hooks do";
        self.remarks.push(what.to_owned());
        self.remarks.extend(rows.iter().map(|row| {
            let (agent, id) = (visible(&row.conversation.agent), visible(&row.conversation.id));
            format!("{agent} session {id} may be it: baton import-transcript {id} --agent {agent}")
        }));
    }

    /// The transcripts that the agent's own hooks named in this session.
    fn hooked_transcripts(&self, app: &mut App) -> Result<Vec<String>, AppError> {
        let kind = Some(delta::Kind::Checkpoint.as_str().to_owned());
        let ledger = self.ledger(LedgerListInput { kind, ..LedgerListInput::default() }, app)?;
        let mentions = ledger.iter().filter_map(Mention::of);
        let by_hook = mentions.filter(|mention| !matches!(mention.event.as_deref(), None | Some("running")));
        Ok(by_hook.filter_map(|mention| mention.transcript?.id).collect())
    }

    /// The conversations that other sessions kept since: their hooks, or they themselves, have named them.
    fn conversations_of_others(&self, app: &mut App) -> Result<Vec<Conversation>, AppError> {
        let input = LedgerListInput {
            project: Some(self.begun.project_id.clone()),
            since_ms: Some(self.began),
            limit: Some(10_000),
            ..LedgerListInput::default()
        };
        let rows = app.run_as::<LedgerList>(&self.caller, &input)?.items;
        let others = rows.iter().filter(|row| row.session_id.as_ref() != Some(&self.begun.session_id));
        let mut taken = Vec::new();
        for mention in others.filter_map(Mention::of) {
            let named =
                mention.transcript.or(mention.source).unwrap_or(TranscriptRef { id: None, agent: None });
            let Some(id) = named.id.or(mention.transcript_id) else { continue };
            let tools = self.plan.launcher.iter().map(|launcher| launcher.tool.id.to_owned());
            let agents = named.agent.map_or_else(|| tools.collect(), |agent| vec![agent]);
            taken.extend(agents.into_iter().map(|agent| Conversation { agent, id: id.clone() }));
        }
        Ok(taken)
    }
}
