//! A call of a tool: which operation it means, who asks, what comes back.

use http::request::Parts;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, RequestId};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use baton_model::refusal::ErrorObject;
use baton_model::suggest::suggestions;
use baton_ops::answer::AnswerView;
use baton_ops::card::WaitingKind;
use baton_ops::handoff::{HandoffOrBaton, Show, ShowInput, ShowOutput};
use baton_ops::input::InputView;
use baton_ops::op::{Caller, Operation, SessionEffect};
use baton_ops::session::{Pickup, PickupInput};
use baton_tools::surface_of_client;

use crate::answer::{framed, put_first, refused, result, texts};
use crate::backend::{Answer, Backend, run};
use crate::connection::{ConnectionIdentity, DeliveryReceipt};
use crate::elicitation::{ElicitationResult, Question, Replies};
use crate::packet_fields;
use crate::roots;
use crate::schema::{Detail, PageInput};
use crate::server::Server;
use crate::table::{ALIASES, Action, FixedArgument, READ_MORE, TOOLS, Tool};
use crate::tools::{ToolSet, unknown_action};
use crate::truncate::AnswerOwner;

/// A call as understood.
struct Call {
    action: &'static Action,
    input: Map<String, Value>,
    detail: Detail,
}

/// What a call ends with.
enum CallResult {
    /// An answer or a refusal.
    Answer(Answer),
    /// The client is asked to ask.
    Ask(CallToolResponse),
}

impl Server {
    /// Runs a tool. Only a tool that does not exist is a fault of the protocol; every other "no" is an answer.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut call = match parse_call(&self.shared.offer, &request)? {
            Ok(call) => call,
            Err(refusal) => return Ok(result(refused(refusal), true).into()),
        };
        let owner = self.owner(&context);
        if call.action.operation == READ_MORE {
            return Ok(self.read_more(call, &owner));
        }
        let mut replies = match Replies::open(&self.shared.codec, &request) {
            Ok(replies) => replies,
            Err(why) => {
                let no = ErrorObject::new(
                    "state_invalid",
                    format!("requestState cannot be used: {why}"),
                    "call the tool anew",
                );
                return Ok(result(refused(no), true).into());
            }
        };
        let answer = match self.run(&mut call, &mut replies, &request, &context).await {
            CallResult::Ask(response) => return Ok(response),
            CallResult::Answer(answer) => answer,
        };
        Ok(match answer {
            Err(mut refusal) => {
                self.add_location(&call, &mut refusal);
                result(self.truncated(refused(refusal), call.detail, &owner), true).into()
            }
            Ok(answer) => {
                self.remember(&call, &answer);
                let answer = framed(call.action.operation, answer);
                let shown = self.truncated(answer.clone(), call.detail, &owner);
                self.expect_receipt(&answer, &shown, &context);
                result(shown, false).into()
            }
        })
    }

    async fn run(
        &self,
        call: &mut Call,
        replies: &mut Replies,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallResult {
        let mut caller = match self.caller(call, context) {
            Ok(caller) => caller,
            Err(refusal) => return CallResult::Answer(Err(refusal)),
        };
        match self.identity(call, &mut caller, replies, request, context).await {
            Ok(None) => {}
            Ok(Some(response)) => return CallResult::Ask(response),
            Err(refusal) => return CallResult::Answer(Err(refusal)),
        }
        if let Some(session) = replies.answer("session") {
            call.input.insert("session".into(), json!(session));
        }
        let mut answer = self.operate(call, caller.clone()).await;
        if is(&answer, "project_unresolved")
            && let Some(there) = roots::resolve(self, &caller, context).await
        {
            match there {
                Ok(there) => {
                    caller = there;
                    answer = self.operate(call, caller.clone()).await;
                }
                Err(refusal) => return CallResult::Answer(Err(refusal)),
            }
        }
        if is(&answer, "session_ambiguous") {
            let question = which_session(answer.as_ref().err());
            match replies.ask(question, &self.shared.codec, request, context).await {
                ElicitationResult::Return(pending) => return CallResult::Ask((*pending).into()),
                ElicitationResult::Answer(session) => {
                    call.input.insert("session".into(), json!(session));
                    answer = self.operate(call, caller.clone()).await;
                }
                ElicitationResult::Nothing => {}
            }
        }
        // Over HTTP the transcripts of this machine are not the caller's.
        if let (Ok(answer), None) = (&mut answer, context.extensions.get::<Parts>()) {
            crate::unwrapped::add(self.shared.backend.as_ref(), call.action.operation, answer, caller).await;
        }
        CallResult::Answer(answer)
    }

    async fn operate(&self, call: &Call, mut caller: Caller) -> Answer {
        let mut input = call.input.clone();
        crate::connection::take_caller_fields(call.action, &mut input, &mut caller);
        let key = crate::connection::take_request_id(call.action, &mut input);
        let input = Value::Object(input);
        if call.action.operation == Show::NAME {
            return handoff_or_baton(self.shared.backend.as_ref(), input, caller).await;
        }
        self.shared.backend.run(call.action.operation, input, caller, key).await
    }

    /// To whom the answers of this request belong. A request that no face has vouched for reads none.
    fn owner(&self, context: &RequestContext<RoleServer>) -> AnswerOwner {
        let caller = self.shared.backend.caller(context.extensions.get());
        AnswerOwner::of(caller.ok().map(|caller| caller.grant))
    }

    /// Who calls: the process, as the client and what this connection did before tell more of it.
    fn caller(&self, call: &Call, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorObject> {
        let mut caller = self.shared.backend.caller(context.extensions.get())?;
        if caller.surface.is_empty() || caller.surface == "human" {
            let client = context.client_info().map(|client| client.name).unwrap_or_default();
            caller.surface = surface_of_client(&client).unwrap_or("other").to_owned();
        }
        if InputView(&call.input).names_identity() {
            return Ok(caller);
        }
        match self.connection.bound(project(&call.input)) {
            ConnectionIdentity::Nobody => Ok(caller),
            ConnectionIdentity::One(name) => Ok(Caller { identity: Some(name), ..caller }),
            ConnectionIdentity::Several(_) if call.action.reads() => Ok(caller),
            ConnectionIdentity::Several(names) => {
                let what =
                    format!("{} identities work through this connection: {}", names.len(), names.join(", "));
                let mut no = ErrorObject::new("identity_ambiguous", what, "say which with `identity`");
                no.details.insert("candidates".into(), json!(names));
                Err(no)
            }
        }
    }

    /// The identity of a call that opens a session without naming one: the user is asked once.
    async fn identity(
        &self,
        call: &mut Call,
        caller: &mut Caller,
        replies: &mut Replies,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<CallToolResponse>, ErrorObject> {
        let input = InputView(&call.input);
        // An identity is asked for where a session is opened, and nowhere else.
        let opens = call.action.session_effect() == SessionEffect::Opens
            && !call.action.reads()
            && !input.is_dry_run();
        if input.names_identity() || caller.identity.is_some() || !opens {
            return Ok(None);
        }
        if let Some(reply) = replies.answer("identity") {
            caller.identity = Some(reply.to_owned());
            return Ok(None);
        }
        if replies.was_asked("identity") {
            self.stop_asking();
        }
        if self.connection.silent.lock().is_ok_and(|silent| *silent) {
            return Ok(None);
        }
        let question = Question {
            field: "identity",
            text: "Under which name shall this agent work? Others see it, and batons can be addressed to it."
                .into(),
            choices: Vec::new(),
        };
        match replies.ask(question, &self.shared.codec, request, context).await {
            ElicitationResult::Return(pending) => return Ok(Some((*pending).into())),
            ElicitationResult::Answer(name) => caller.identity = Some(name),
            ElicitationResult::Nothing => self.stop_asking(),
        }
        Ok(None)
    }

    fn stop_asking(&self) {
        if let Ok(mut silent) = self.connection.silent.lock() {
            *silent = true;
        }
    }

    /// Who began and ended where, for the calls that follow.
    fn remember(&self, call: &Call, answer: &Value) {
        let view = AnswerView(answer);
        let (Some(project_id), Some(identity)) = (view.project_id(), view.identity()) else { return };
        let effect = call.action.session_effect();
        if effect == SessionEffect::Opens && !view.is_dry_run() {
            self.connection.session_started(project(&call.input), project_id, identity);
        } else if effect == SessionEffect::Ends {
            self.connection.session_ended(project(&call.input), project_id, identity);
        }
    }

    /// Adds the project, the identity and the store of the call to a refusal, where they are known.
    fn add_location(&self, call: &Call, refusal: &mut ErrorObject) {
        let bound = match self.connection.bound(project(&call.input)) {
            ConnectionIdentity::One(name) => Some(name),
            _ => None,
        };
        let identity = InputView(&call.input).identity().map(str::to_owned).or(bound);
        let project_id = project(&call.input).map(str::to_owned);
        let store = self.shared.backend.store();
        let known = [("project_id", project_id), ("identity", identity), ("store", store)];
        for (field, value) in known {
            let is_unknown = refusal.details.get(field).is_none_or(Value::is_null);
            if let Some(value) = value.filter(|_| is_unknown) {
                refusal.details.insert(field.to_owned(), json!(value));
            }
        }
    }

    /// The answer within its limit; what does not fit is kept to be read on.
    fn truncated(&self, answer: Value, detail: Detail, owner: &AnswerOwner) -> Value {
        let token = self.shared.token();
        match crate::truncate::truncate(&answer, detail.limit(), &token) {
            None => answer,
            Some(fitted) => {
                self.shared.kept.keep(owner, token, answer);
                fitted
            }
        }
    }

    fn read_more(&self, call: Call, owner: &AnswerOwner) -> CallToolResponse {
        let read = serde_json::from_value::<PageInput>(Value::Object(call.input))
            .map_err(|fault| {
                ErrorObject::new(
                    "input_invalid",
                    format!("the input is malformed: {fault}"),
                    "give token, field and from",
                )
            })
            .and_then(|wanted| self.shared.kept.read_more(owner, &wanted, call.detail.limit()));
        match read {
            Err(refusal) => result(refused(refusal), true).into(),
            Ok(part) => {
                let next_step = crate::truncate::next_step(&part);
                result(put_first("next_step", json!(next_step), part), false).into()
            }
        }
    }

    /// Messages that are shown whole count as delivered once the answer has been written out. A server that only reads delivers none.
    fn expect_receipt(&self, answer: &Value, shown: &Value, context: &RequestContext<RoleServer>) {
        if let Some(mark) = DeliveryReceipt::of(answer, shown).filter(|_| !self.shared.offer.read_only) {
            self.receipts(context).keep_until_written(id_of(context), mark);
        }
    }
}

/// Shows a hand-off between projects, else the baton of this id, without claiming it. Both appear in the same list, so
/// one tool reads both.
pub(crate) async fn handoff_or_baton(backend: &dyn Backend, mut input: Value, caller: Caller) -> Answer {
    // What cannot be read is refused by the operation.
    let named = ShowInput::deserialize(&input).ok();
    if let Some(fields) = input.as_object_mut() {
        // An id is enough for a hand-off between projects.
        fields.remove("project");
    }
    let answer = backend.run(Show::NAME, input, caller.clone(), None).await;
    // A baton is shown as a pickup would deliver it.
    let is_baton = answer.as_ref().is_ok_and(is_baton);
    let Some(named) = named.filter(|_| is_baton || is(&answer, "handoff_unknown")) else { return answer };
    let (project, identity, handoff_id) = (named.project, named.identity, Some(named.id));
    let preview =
        PickupInput { project, identity, target_id: handoff_id, dry_run: true, ..PickupInput::default() };
    let baton = run::<Pickup>(backend, &preview, caller).await;
    // Where it is no baton either, the first "no" is the plainer one.
    if is(&baton, "baton_unknown") || is(&baton, "project_unresolved") { answer } else { baton }
}

fn is_baton(shown: &Value) -> bool {
    let row = ShowOutput::deserialize(shown).map(|shown| shown.handoff);
    matches!(row, Ok(HandoffOrBaton::Baton(row)) if row.kind == WaitingKind::Baton)
}

fn id_of(context: &RequestContext<RoleServer>) -> RequestId {
    context.id.clone()
}

fn is(answer: &Answer, code: &str) -> bool {
    answer.as_ref().is_err_and(|refusal| refusal.code == code)
}

/// The project that a call names.
fn project(input: &Map<String, Value>) -> Option<&str> {
    InputView(input).own_project()
}

fn which_session(refusal: Option<&ErrorObject>) -> Question {
    let candidates = refusal.into_iter().flat_map(|refusal| texts(refusal, "candidates"));
    Question {
        field: "session",
        text: "Several sessions are open under this name. In which one is this?".into(),
        choices: candidates.map(str::to_owned).collect(),
    }
}

/// What a request asks for: an unknown tool is an error of the protocol, an unknown action a refusal.
fn parse_call(
    offer: &ToolSet,
    request: &CallToolRequestParams,
) -> Result<Result<Call, ErrorObject>, ErrorData> {
    let requested = request.name.as_ref();
    let name = ALIASES.iter().find(|(alias, _)| *alias == requested).map_or(requested, |(_, name)| name);
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    let is_offered =
        |tool: &'static Tool| !offer.actions(tool).is_empty() || offer.unlisted(tool).next().is_some();
    let offered = tool.filter(|tool| is_offered(tool)).map(|tool| (tool, offer.actions(tool)));
    let Some((tool, actions)) = offered else {
        let shown = baton_model::id::visible(requested);
        let names = TOOLS.iter().filter(|tool| is_offered(tool)).map(|tool| tool.name);
        let near = suggestions(requested, names);
        let hint =
            if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        return Err(ErrorData::invalid_params(format!("there is no tool `{shown}`{hint}"), None));
    };
    let mut input = request.arguments.clone().unwrap_or_default();
    let detail = match input.remove("detail") {
        None | Some(Value::Null) => Detail::default(),
        Some(word) => match serde_json::from_value(word) {
            Ok(detail) => detail,
            Err(_) => {
                let what = "`detail` is brief, normal or full";
                return Ok(Err(ErrorObject::new("detail_unknown", what, "leave it out")));
            }
        },
    };
    let wanted = if tool.actions.len() > 1 { input.remove("action") } else { None };
    let action = match wanted.as_ref().and_then(Value::as_str) {
        Some(word) => {
            let mut known = actions.iter().copied().chain(offer.unlisted(tool));
            known.find(|action| action.name == word)
        }
        None if wanted.is_none() && (tool.has_default || tool.actions.len() == 1) => actions.first().copied(),
        None => None,
    };
    let Some(action) = action else { return Ok(Err(unknown_action(tool, &actions, wanted.as_ref()))) };
    for (field, value) in action.fixed {
        let value = match value {
            FixedArgument::Text(text) => json!(text),
            FixedArgument::Yes => json!(true),
        };
        input.insert((*field).to_owned(), value);
    }
    packet_fields::collect(action.operation, &mut input);
    if action.operation == Pickup::NAME && detail == Detail::Full {
        input.insert("full".to_owned(), json!(true));
    }
    Ok(Ok(Call { action, input, detail }))
}
