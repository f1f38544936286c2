//! Asking the user, where the client can: in the older protocol by a request of ours, in the newer one by an answer that says
//! what is missing, after which the client calls again.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How long a person may take.
const ELICITATION_TIMEOUT: Duration = Duration::from_secs(120);
/// How long what was asked stays valid.
const VALID: Duration = Duration::from_secs(600);

/// What is asked: the name of the field, the sentence, and what may be chosen from.
pub(crate) struct Question {
    /// `identity` or `session`.
    pub field: &'static str,
    /// The sentence.
    pub text: String,
    /// What may be chosen; nothing means any text.
    pub choices: Vec<String>,
}

/// What came of it.
pub(crate) enum ElicitationResult {
    /// The user said this.
    Answer(String),
    /// The user does not want to say, or cannot be asked.
    Nothing,
    /// The client is to ask and to call again.
    Return(Box<InputRequiredResult>),
}

/// What was asked about a call so far. Between two calls it is in the client's hands, sealed.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Replies {
    asked: Vec<String>,
    said: BTreeMap<String, String>,
}

impl Replies {
    /// What the user said to a question.
    pub(crate) fn answer(&self, field: &str) -> Option<&str> {
        self.said.get(field).map(String::as_str)
    }

    /// Whether it was asked already.
    pub(crate) fn was_asked(&self, field: &str) -> bool {
        self.asked.iter().any(|name| name == field)
    }

    /// Opens what the client brought back. What was not sealed for this very call is refused.
    pub(crate) fn open(codec: &RequestStateCodec, request: &CallToolRequestParams) -> Result<Self, String> {
        let Some(state) = &request.request_state else { return Ok(Self::default()) };
        let bytes = codec.open_with(state, &bound_to(request)).map_err(|error| error.to_string())?;
        let mut replies: Self = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        for (field, response) in request.input_responses.iter().flatten() {
            let reply = serde_json::from_value::<ElicitResult>(response.clone()).ok();
            if let Some(text) = reply.and_then(|result| text_of(&result, field))
                && replies.was_asked(field)
            {
                replies.said.insert(field.clone(), text);
            }
        }
        Ok(replies)
    }

    fn seal(&self, codec: &RequestStateCodec, request: &CallToolRequestParams) -> Option<String> {
        let bytes = serde_json::to_vec(self).ok()?;
        let bound = bound_to(request);
        Some(codec.seal_with(&bytes, &SealOptions::new().associated_data(&bound).ttl(VALID)))
    }

    /// Asks, if the client can and it was not asked before.
    pub(crate) async fn ask(
        &mut self,
        question: Question,
        codec: &RequestStateCodec,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> ElicitationResult {
        if self.was_asked(question.field) || !can_ask(context) {
            return ElicitationResult::Nothing;
        }
        let Some(form) = form(&question) else { return ElicitationResult::Nothing };
        self.asked.push(question.field.to_owned());
        if is_modern(context) {
            let wanted = [(question.field.to_owned(), InputRequest::Elicitation(ElicitRequest::new(form)))];
            let state = self.seal(codec, request);
            return ElicitationResult::Return(Box::new(InputRequiredResult::new(Some(wanted.into()), state)));
        }
        let answer = context.peer.create_elicitation_with_timeout(form, Some(ELICITATION_TIMEOUT)).await;
        match answer.ok().and_then(|result| text_of(&result, question.field)) {
            Some(text) => ElicitationResult::Answer(text),
            None => ElicitationResult::Nothing,
        }
    }
}

/// A state is good for the call that it was made for and no other.
fn bound_to(request: &CallToolRequestParams) -> Vec<u8> {
    let mut arguments: Vec<(&String, &Value)> = request.arguments.iter().flatten().collect();
    arguments.sort_by_key(|(name, _)| name.as_str());
    json!([request.name, arguments]).to_string().into_bytes()
}

/// Whether a request follows the stateless revision.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let offered = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
    offered.is_some_and(|offered| offered.form.is_some() || offered.url.is_none())
}

fn form(question: &Question) -> Option<ElicitRequestParams> {
    let field = if question.choices.is_empty() {
        json!({ "type": "string", "title": question.field, "minLength": 1, "maxLength": 64 })
    } else {
        json!({ "type": "string", "title": question.field, "enum": question.choices })
    };
    let schema =
        json!({ "type": "object", "properties": { question.field: field }, "required": [question.field] });
    let requested_schema = ElicitationSchema::from_json_schema(schema.as_object()?.clone()).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.text.clone(),
        requested_schema,
    })
}

fn text_of(result: &ElicitResult, field: &str) -> Option<String> {
    let accepted = result.action == ElicitationAction::Accept;
    let text = result.content.as_ref()?.get(field)?.as_str()?.trim();
    (accepted && !text.is_empty()).then(|| text.to_owned())
}
