//! The links of the hand-off that a call is about, as its server shows them to whoever reads it.

use baton_ops::handoff::{CreateInput, Show, ShowInput, ShowOutput};
use baton_ops::input::InputView;
use baton_ops::op::{Caller, Operation};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Call;
use super::answers::answer;
use super::caller_header::CallerHeader;
use super::client::{ROUNDS, Remote, questions};
use super::document_consent::{DocumentConsent, handoff_of};
use super::facts::{AnsweredQuestion, FACTS_REQUIRED};
use super::server_fault::unreadable_refusal;
use crate::error::AppError;

impl Remote {
    /// Which files the server may have the text of in a call: the hand-off that it is about is asked for, as its reader sees it.
    pub(super) async fn consent(
        &self,
        operation: &str,
        input: &Map<String, Value>,
        caller: &Caller,
    ) -> Result<DocumentConsent, AppError> {
        let links = match handoff_of(operation, input) {
            Some(id) => self.links_of(id, InputView(input).project(), caller).await?,
            None => CreateInput::links_in(input),
        };
        Ok(DocumentConsent::of(operation, input, &links))
    }

    /// The links of a hand-off; none where it is not shown.
    async fn links_of(
        &self,
        id: &str,
        project: Option<&str>,
        caller: &Caller,
    ) -> Result<Map<String, Value>, AppError> {
        let input =
            ShowInput { id: id.to_owned(), project: project.map(str::to_owned), ..Default::default() };
        let Value::Object(input) = serde_json::to_value(input).map_err(anyhow::Error::from)? else {
            return Ok(Map::new());
        };
        let mut call = Call { input, caller: CallerHeader::of(caller), facts: Vec::new() };
        let nothing = DocumentConsent::default();
        for _ in 0..ROUNDS {
            match self.post(Show::NAME, &call, None).await {
                Ok(shown) => {
                    let shown = ShowOutput::deserialize(&shown)
                        .map_err(|error| unreadable_refusal(&self.server, &error.to_string()))?;
                    return Ok(shown.links);
                }
                Err(AppError::Refused(refusal)) if refusal.code == FACTS_REQUIRED => {
                    for question in questions(&refusal) {
                        let answer = answer(&question, (Show::NAME, &nothing), caller, &self.machine)?;
                        call.facts.push(AnsweredQuestion { question, answer });
                    }
                }
                Err(AppError::Refused(_)) => return Ok(Map::new()),
                Err(error) => return Err(error),
            }
        }
        Ok(Map::new())
    }
}
