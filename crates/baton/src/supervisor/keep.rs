//! What a supervised agent did, kept when it has ended.

use baton_model::delta;
use baton_ops::changes::is_presence;
use baton_ops::ledger::{LedgerListInput, Row};
use baton_ops::session::{
    Checkpoint, CheckpointInput, SessionDocument, SessionDocumentInput, Wrap, WrapInput,
};
use baton_ops::transcript::CaptureOutput;

use super::Supervisor;
use super::find_transcript::Conversation;
use super::report::{Outcome, Report, SavedAs, Source};
use super::stop::Stop;
use super::tool_sequence::Handover;
use crate::app::{App, Format};
use crate::changes::carry;
use crate::error::{AppError, quote};

impl Supervisor<'_> {
    /// Keeps what the agent did, and reports what was kept.
    pub(super) fn keep(
        &mut self,
        code: i32,
        stop: Option<&Stop>,
        app: &mut App,
    ) -> Result<Outcome, AppError> {
        self.read_checkout();
        let mut outcome = self.capture_at_end(app).unwrap_or_else(|error| {
            let why = quote(error.text().lines().next().unwrap_or_default());
            self.remarks.push(format!("what the agent did could not be kept: {why}"));
            self.remarks.push(
                "the session waits: `baton pickup` takes it over, `baton import-transcript` keeps it".into(),
            );
            Outcome { kept: SavedAs::Failed, left: None, handover: Handover::Unavailable }
        });
        outcome.handover = self.handover(&outcome, app);
        self.remarks.iter().for_each(|remark| app.remark(remark));
        let report = Report {
            project_id: &self.begun.project_id,
            identity: &self.begun.identity,
            session_id: &self.begun.session_id,
            exit_code: code,
            stop,
            warnings: &self.remarks,
            kept: outcome,
        };
        match app.format {
            Format::Text => {
                app.remark(&report.sentence());
            }
            Format::Json | Format::JsonLines => app.show(&report, Report::sentence)?,
        }
        Ok(report.kept)
    }

    fn capture_at_end(&mut self, app: &mut App) -> Result<Outcome, AppError> {
        let over = self.beat(app);
        let (open, ended) = (over.is_none(), SavedAs::of_end(over.as_ref(), &self.begun.identity));
        let captured = self.capture("session-end", self.plan.wrap, app)?;
        let transcript = captured
            .as_ref()
            .map(|capture| Conversation { agent: capture.agent.clone(), id: capture.transcript_id.clone() });
        let outcome = |how, baton_id| Outcome {
            kept: how,
            left: Some(Source { baton_id, transcript }),
            handover: Handover::Unavailable,
        };
        match captured {
            Some(CaptureOutput { baton_id: Some(id), .. }) => Ok(outcome(SavedAs::Baton, Some(id))),
            Some(CaptureOutput { existing_baton: Some(existing_baton), .. }) => {
                Ok(outcome(SavedAs::Taken, Some(existing_baton.baton_id)))
            }
            Some(captured) if !open => {
                Ok(outcome(if captured.delta_id.is_some() { SavedAs::Note } else { ended }, None))
            }
            None if !open => Ok(outcome(ended, None)),
            None if self.plan.wrap && (self.has_saved(app)? || self.save_copy_work(app)?) => {
                let left = self.wrap(app)?;
                Ok(outcome(SavedAs::Baton, Some(left)))
            }
            captured => {
                let is_saved = captured.is_some() || (!self.plan.wrap && self.save_copy_work(app)?);
                self.end("the agent ended", app);
                Ok(outcome(if is_saved { SavedAs::Checkpoint } else { SavedAs::Nothing }, None))
            }
        }
    }

    /// Saves which commits were made and which files were left uncommitted while an agent ran that said nothing. False where that is
    /// nothing.
    fn save_copy_work(&self, app: &mut App) -> Result<bool, AppError> {
        let Some(copy) = self.copy.as_ref().filter(|_| !self.has_transcript) else { return Ok(false) };
        let program = self.plan.program.file_name().unwrap_or_default().to_string_lossy();
        let Some(summary) = copy.work_since(&program, &self.caller) else { return Ok(false) };
        let (project, session) = self.own();
        let input =
            CheckpointInput { project, session, summary: Some(summary), ..CheckpointInput::default() };
        app.run_as::<Checkpoint>(&self.caller, &input)?;
        Ok(true)
    }

    /// Leaves a baton of what the agent saved by itself.
    fn wrap(&self, app: &mut App) -> Result<String, AppError> {
        let (project, session) = self.own();
        let wanted = SessionDocumentInput {
            project: project.clone(),
            session: self.begun.session_id.clone(),
            ended: true,
            ..SessionDocumentInput::default()
        };
        let gathered = app.run_as::<SessionDocument>(&self.caller, &wanted)?;
        let changes = carry::always_or_remark(app, project.as_deref());
        let packet = Some(gathered.packet);
        let input = WrapInput { project, session, packet, changes, ..WrapInput::default() };
        let baton_id = app.run_as::<Wrap>(&self.caller, &input)?.baton_id;
        carry::confirm(&app.config.data_dir, input.changes.as_ref());
        Ok(baton_id)
    }

    /// Whether the agent saved anything by itself.
    fn has_saved(&self, app: &mut App) -> Result<bool, AppError> {
        let ledger = self.ledger(LedgerListInput { brief: true, ..LedgerListInput::default() }, app)?;
        let by_agent = |row: &&Row| !self.own_notes.contains(&row.delta_id);
        let opens = |row: &Row| matches!(row.kind, delta::Kind::Start | delta::Kind::Pickup);
        Ok(ledger.iter().filter(by_agent).any(|row| !opens(row) && !is_presence(row)))
    }
}
