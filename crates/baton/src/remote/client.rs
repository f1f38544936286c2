//! The client: one operation, one request; a question of the server's, one more.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use baton_model::refusal::{ErrorObject, Kind, Refusal};
use baton_model::task::sealed::is_redacted;
use baton_ops::input::InputView;
use baton_ops::op::{Caller, Host, Operation, OperationEntry, Retention, Site, TxMode};
use baton_ops::project_folders::ProjectFolders;
use baton_ops::task::{Show, ShowOutput};
use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Call;
use super::answers::answer;
use super::caller_header::CallerHeader;
use super::disk::{Disk, DiskRead};
use super::document_consent::DocumentConsent;
use super::facts::{AnsweredQuestion, FACTS_REQUIRED};
use super::fitted::fitted;
use super::http_client::{client, is_loopback};
use super::known_scope::KnownScope;
use super::placeholder::{self, WithheldText, reveal};
use super::question::Question;
use super::server_fault::{unreachable_refusal, unreadable_refusal};
use crate::bounded_body::{self, BodyError};
use crate::clock;
use crate::config::{Config, Server};
use crate::error::AppError;
use crate::host::Machine;

/// The largest answer that is read, in bytes: an export of a ledger, or changes of a working copy.
const MAX_ANSWER_BYTES: usize = 512 * 1024 * 1024;
/// How often a request is sent again when its answer was lost, or when the server says that it is too much.
const AGAIN: u32 = 2;
/// How often a server may ask back in one call.
pub(super) const ROUNDS: usize = 8;
/// Codes of refusals that are remembered; a server has fewer.
const CODES: usize = 1_000;

/// A server that takes the place of a store.
pub(crate) struct Remote {
    client: reqwest::Client,
    pub(super) server: Server,
    pub(super) machine: Arc<Machine>,
    disk: Disk,
    /// Codes of refusals, each kept once for as long as the process lives.
    codes: Mutex<Vec<&'static str>>,
    /// What the token may do, as the server said with its last answer.
    pub(crate) scope: KnownScope,
}

impl Remote {
    /// A client of the server in the settings. Nothing is sent yet.
    pub(crate) fn new(config: &Config, machine: Arc<Machine>) -> Result<Self, AppError> {
        let server = config.server.clone().ok_or_else(|| anyhow::anyhow!("no server is configured"))?;
        let disk = Disk::new(Arc::clone(&machine), config.limits, &config.data_dir, &server.url);
        Ok(Self {
            client: client(&server)?,
            server,
            machine,
            disk,
            codes: Mutex::default(),
            scope: KnownScope::default(),
        })
    }

    /// Runs an operation: on the server, or here where it only reads this machine's disk.
    pub(crate) async fn run(
        &self,
        entry: &'static OperationEntry,
        input: Value,
        caller: &Caller,
        once: Option<String>,
    ) -> Result<Value, AppError> {
        if entry.site == Site::Disk {
            return self.read(DiskRead::Operation(entry, input), caller).await;
        }
        let Value::Object(input) = input else {
            let what = "the input is no object";
            return Err(Refusal::invalid("input_invalid", what, "see the operation's schema").into());
        };
        self.ask(entry, input, caller, once).await
    }

    /// Calls until the server has no more questions.
    async fn ask(
        &self,
        entry: &OperationEntry,
        mut input: Map<String, Value>,
        caller: &Caller,
        once: Option<String>,
    ) -> Result<Value, AppError> {
        let withheld = self.kept_back(entry, &mut input, caller).await?;
        let mut call = Call { input, caller: CallerHeader::of(caller), facts: Vec::new() };
        let own = || once.unwrap_or_else(key);
        let key = (entry.tx_mode == TxMode::Write && entry.retention != Retention::Nothing).then(own);
        let (mut texts, mut consent) = (Vec::<(String, String)>::new(), None::<DocumentConsent>);
        for _ in 0..ROUNDS {
            let questions = match self.post(entry.name, &call, key.as_deref()).await {
                Err(AppError::Refused(refusal)) if refusal.code == FACTS_REQUIRED => questions(&refusal),
                Ok(mut answer) => {
                    texts.iter().for_each(|(sealed, text)| reveal(&mut answer, sealed, text));
                    return Ok(fitted(entry.name, answer));
                }
                Err(error) => return Err(error),
            };
            if questions.is_empty() {
                break;
            }
            for question in questions {
                if consent.is_none() && matches!(question, Question::Document { .. }) {
                    consent = Some(self.consent(entry.name, &call.input, caller).await?);
                }
                let context = (&call, &withheld, consent.as_ref());
                let answer = self.answer(&question, entry, context, caller, &mut texts).await?;
                call.facts.push(AnsweredQuestion { question, answer });
            }
        }
        Err(unreadable_refusal(&self.server, "it asks on and on").into())
    }

    /// Keeps back what is sensitive in a call. What the server has to see goes over TLS only, or stays on this machine.
    async fn kept_back(
        &self,
        entry: &OperationEntry,
        input: &mut Map<String, Value>,
        caller: &Caller,
    ) -> Result<WithheldText, AppError> {
        if placeholder::is_exposed(entry.name, input)
            && !self.server.is_secure()
            && !is_loopback(&self.server.url)
        {
            let what = format!(
                "the server puts a hand-off message together, so this one would travel to {} in the clear",
                self.server.url
            );
            let hint = "reach the server over https, or send what is sensitive as a letter";
            return Err(Refusal::new(Kind::Refused, "server_insecure", what, hint).into());
        }
        let is_sensitive =
            placeholder::may_be_sensitive(entry.name, input) && self.is_sensitive(input, caller).await?;
        Ok(WithheldText::of(entry.name, input, is_sensitive))
    }

    /// Whether the task that a call names is sensitive.
    async fn is_sensitive(&self, input: &Map<String, Value>, caller: &Caller) -> Result<bool, AppError> {
        let named = ["id", "project"].into_iter();
        let input = named.filter_map(|key| Some((key.to_owned(), input.get(key)?.clone()))).collect();
        let call = Call { input, caller: CallerHeader::of(caller), facts: Vec::new() };
        match self.post(Show::NAME, &call, None).await {
            Ok(task) => {
                let shown = ShowOutput::deserialize(&task)
                    .map_err(|error| unreadable_refusal(&self.server, &error.to_string()))?;
                let contexts = [&shown.task.agent_context, &shown.task.handoff_instructions];
                Ok(contexts.into_iter().flatten().any(is_redacted))
            }
            // It asks whether it can be decrypted here.
            Err(AppError::Refused(refusal)) if refusal.code == FACTS_REQUIRED => Ok(true),
            Err(error) => Err(error),
        }
    }

    async fn answer(
        &self,
        question: &Question,
        entry: &OperationEntry,
        (call, withheld, consent): (&Call, &WithheldText, Option<&DocumentConsent>),
        caller: &Caller,
        texts: &mut Vec<(String, String)>,
    ) -> Result<Value, AppError> {
        match question {
            Question::Seal { recipients, text } if placeholder::encrypts(entry.name) => {
                let whole = withheld.restore_placeholders(text, texts);
                let whole = whole.ok_or_else(|| {
                    unreadable_refusal(&self.server, "it wants something encrypted that it was not given")
                })?;
                placeholder::check_whole(entry.name, (&call.input, text), &whole)?;
                Ok(Value::String(self.machine.encrypt(recipients, &whole)?))
            }
            // Only the transcript that this very call names is read, for what is about transcripts.
            Question::Transcript(spec)
                if entry.name.starts_with("transcript_") && InputView(&call.input).id() == Some(&spec.id) =>
            {
                self.read(DiskRead::Transcript(spec.clone()), caller).await
            }
            Question::Unseal { project_id, identity, sealed } => {
                let text = self.machine.decrypt(project_id, identity, sealed)?;
                texts.push((sealed.clone(), text));
                Ok(Value::Bool(true))
            }
            other => {
                let consent = consent.cloned().unwrap_or_default();
                Ok(answer(other, (entry.name, &consent), caller, &self.machine)?)
            }
        }
    }

    /// Reads this machine's transcripts, on a thread where that may take its time.
    async fn read(&self, reading: DiskRead, caller: &Caller) -> Result<Value, AppError> {
        let projects = self.projects(caller).await?;
        let (disk, caller) = (self.disk.clone(), caller.clone());
        let done = tokio::task::spawn_blocking(move || disk.read(reading, &caller, &projects)).await;
        done.map_err(|error| anyhow::anyhow!("the transcripts could not be read: {error}"))?
    }

    /// The server's projects and where they are on this machine.
    async fn projects(&self, caller: &Caller) -> Result<Vec<ProjectFolders>, AppError> {
        let call = Call { caller: CallerHeader::of(caller), ..Call::default() };
        let answer = self.post(baton_ops::project::List::NAME, &call, None).await?;
        let listed =
            serde_json::from_value::<baton_ops::project::ListOutput>(answer).map_err(anyhow::Error::from)?;
        let folders = |row: baton_ops::project::Row| ProjectFolders {
            project_id: row.project.project_id,
            roots: row.roots,
            is_isolated: row.project.is_isolated,
        };
        Ok(listed.items.into_iter().map(folders).collect())
    }

    /// Posts a call. When the answer is lost on the way it is sent again: the key makes that happen once.
    pub(super) async fn post(&self, name: &str, call: &Call, key: Option<&str>) -> Result<Value, AppError> {
        let url = format!("{}/api/v1/remote/{name}", self.server.url);
        let body = serde_json::to_vec(call).map_err(anyhow::Error::from)?;
        let mut tries = 0;
        let mut was_sent = false;
        loop {
            let mut request =
                self.client.post(&url).header("content-type", "application/json").body(body.clone());
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            let pause = match self.send(request).await {
                Ok((StatusCode::TOO_MANY_REQUESTS, after, _)) if tries < AGAIN => after,
                Ok((status, _, body)) => return self.understood(status, &body),
                Err(BodyError::Broken(error))
                    if tries < AGAIN && !error.is_connect() && !error.is_timeout() =>
                {
                    was_sent = true;
                    Duration::from_millis(100)
                }
                Err(BodyError::Broken(error)) => {
                    let may_be_written = key.is_some() && (was_sent || !error.is_connect());
                    return Err(unreachable_refusal(&self.server, &error, may_be_written).into());
                }
                Err(BodyError::TooLong(limit)) => {
                    let why = format!("it answers with more than {} MiB", limit >> 20);
                    return Err(unreadable_refusal(&self.server, &why).into());
                }
            };
            tries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<(StatusCode, Duration, Vec<u8>), BodyError> {
        let response = request.send().await.map_err(BodyError::Broken)?;
        let status = response.status();
        self.scope.note(response.headers());
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let body = bounded_body::read(response, MAX_ANSWER_BYTES).await?;
        Ok((status, Duration::from_secs(after.unwrap_or(1).min(5)), body))
    }

    /// The answer, or the server's own "no", as if it had been said here.
    fn understood(&self, status: StatusCode, body: &[u8]) -> Result<Value, AppError> {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return Err(unreadable_refusal(
                &self.server,
                &format!("it answers {status} with something that is no JSON"),
            )
            .into());
        };
        if status.is_success() {
            return Ok(value);
        }
        let Ok(ErrorObject { code, message, hint, details }) = serde_json::from_value(value) else {
            return Err(unreadable_refusal(
                &self.server,
                &format!("it answers {status} and does not say why"),
            )
            .into());
        };
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            return Err(anyhow::anyhow!("{} says: {message}", self.server.url).into());
        }
        let mut refusal = Refusal::new(kind(status), self.code(&code), message, hint);
        if code == "token_invalid" && self.server.token.is_some() {
            refusal.message = format!(
                "BATON_TOKEN is set, and {} does not take it: it is wrong, revoked or expired",
                self.server.url
            );
            refusal.hint = "ask the operator of the server for a new one (`baton token create`)".into();
        }
        // What the server wrote for other clients.
        let beside = ["type", "title", "status"];
        refusal.details.extend(details.into_iter().filter(|(key, _)| !beside.contains(&key.as_str())));
        Err(refusal.into())
    }

    /// Interns an error code as `&'static str`: at most [`CODES`] distinct codes are kept, each once.
    fn code(&self, code: &str) -> &'static str {
        const OTHER: &str = "server_refused";
        let Ok(mut known) = self.codes.lock() else { return OTHER };
        if let Some(known) = known.iter().find(|known| **known == code) {
            return known;
        }
        let is_code = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if known.len() >= CODES || code.len() > 64 || !code.chars().all(is_code) {
            return OTHER;
        }
        let leaked: &'static str = String::leak(code.to_owned());
        known.push(leaked);
        leaked
    }
}

/// The kind of "no" behind a status: the table in `error.rs`, read backwards.
fn kind(status: StatusCode) -> Kind {
    match status.as_u16() {
        401 => Kind::Unauthorized,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        409 | 412 => Kind::Conflict,
        422 => Kind::Refused,
        429 | 502..=504 => Kind::Outside,
        _ => Kind::Invalid,
    }
}

/// A key of a request's own.
fn key() -> String {
    let mut bytes = [0; 16];
    clock::random(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn questions(refusal: &Refusal) -> Vec<Question> {
    let questions = refusal.details.get("questions").cloned().unwrap_or_default();
    serde_json::from_value(questions).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn remote() -> Remote {
        let vars = [("BATON_SERVER".to_owned(), "http://127.0.0.1:1".to_owned())].into();
        let config = crate::config::of_test(vars);
        let machine = Arc::new(Machine::new(&config));
        Remote::new(&config, machine).expect("a client")
    }

    /// A refusal that goes over the wire and comes back says the same, with the same exit code.
    #[test]
    fn a_no_comes_back_as_it_was_said() {
        let kinds = [
            Kind::Refused,
            Kind::Invalid,
            Kind::NotFound,
            Kind::Unauthorized,
            Kind::Forbidden,
            Kind::Conflict,
            Kind::Outside,
        ];
        for kind in kinds {
            let refusal =
                AppError::from(Refusal::new(kind, "baton_held", "held", "wait").with("holder", "Donna"));
            let status = StatusCode::from_u16(refusal.http_status()).expect("a status");
            let mut body = json!(refusal.to_error());
            body["type"] = json!("urn:baton:baton_held");
            body["title"] = json!("held");
            body["status"] = json!(status.as_u16());
            let heard = remote().understood(status, body.to_string().as_bytes()).expect_err("a no");
            assert_eq!(heard.exit_code(), refusal.exit_code(), "{kind:?}");
            assert_eq!(heard.to_json(), refusal.to_json(), "{kind:?}");
        }
    }

    #[test]
    fn what_is_no_answer_of_ours_is_told_as_such() {
        for (status, body) in [(200, "<html>"), (404, "<html>"), (502, "{}"), (301, "")] {
            let status = StatusCode::from_u16(status).expect("a status");
            let error = remote().understood(status, body.as_bytes()).expect_err("no answer");
            assert_eq!(error.exit_code(), 5, "{status} {body}");
        }
    }

    #[test]
    fn a_code_of_any_length_or_form_is_not_kept() {
        let remote = remote();
        assert_eq!(remote.code("baton_held"), "baton_held");
        assert_eq!(remote.code(&"x".repeat(65)), "server_refused");
        assert_eq!(remote.code("a b"), "server_refused");
    }

    #[test]
    fn this_machine_needs_no_proxy() {
        for url in ["http://127.0.0.1:7077", "http://localhost:1", "https://[::1]:7"] {
            assert!(is_loopback(url), "{url}");
        }
        assert!(!is_loopback("https://baton.example") && !is_loopback("http://10.0.0.1:80"));
    }
}
