//! Resources: what a person attaches to a conversation, by address.

use baton_model::refusal::ErrorObject;
use baton_ops::answer::AnswerView;
use baton_ops::message::PendingInput;
use baton_ops::op::Operation;
use baton_ops::session::{SessionDocumentInput, StatusInput};
use baton_ops::{handoff, message, project, session, task};
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::backend::{self, Answer};
use crate::call::handoff_or_baton;
use crate::server::Server;

const SCHEME: &str = "baton://projects/";
const JSON: &str = "application/json";
/// Resources on one page of the list.
const PAGE: usize = 100;

/// One kind of resource: the segment after the project, the variable after it, and the operation that reads it.
pub(crate) struct Kind {
    /// `handoffs` in `baton://projects/{project}/handoffs/{handoff}`.
    pub segment: &'static str,
    /// The variable; none where the segment is all.
    pub variable: &'static str,
    title: &'static str,
    doc: &'static str,
    operation: &'static str,
    /// The operation's input, for a project and the variable.
    input: fn(String, String) -> Result<Value, serde_json::Error>,
    /// Whether the operation takes the project.
    in_project: bool,
}

/// Every kind of resource.
pub(crate) const KINDS: &[Kind] = &[
    Kind {
        segment: "status",
        variable: "",
        title: "Status of a project",
        doc: "Who works on what, what waits, open tasks, the last wrap",
        operation: session::Status::NAME,
        input: |project, _| {
            input::<session::Status>(&StatusInput { project: Some(project), ..StatusInput::default() })
        },
        in_project: true,
    },
    Kind {
        segment: "handoffs",
        variable: "handoff",
        title: "A hand-off",
        doc: "A hand-off from another project, or a baton, with its packet",
        operation: handoff::Show::NAME,
        input: |project, id| {
            input::<handoff::Show>(&handoff::ShowInput {
                id,
                project: Some(project),
                ..handoff::ShowInput::default()
            })
        },
        in_project: false,
    },
    Kind {
        segment: "tasks",
        variable: "task",
        title: "A task",
        doc: "A task of the project",
        operation: task::Show::NAME,
        input: |project, id| {
            input::<task::Show>(&task::ShowInput { id, project: Some(project), ..task::ShowInput::default() })
        },
        in_project: true,
    },
    Kind {
        segment: "sessions",
        variable: "session",
        title: "A session",
        doc: "The hand-off document of a session: what it wrapped, else what it has left so far",
        operation: session::SessionDocument::NAME,
        input: |project, session| {
            let project = Some(project);
            input::<session::SessionDocument>(&SessionDocumentInput {
                session,
                project,
                ..SessionDocumentInput::default()
            })
        },
        in_project: true,
    },
    Kind {
        segment: "mail",
        variable: "identity",
        title: "An inbox",
        doc: "The messages that wait for an identity",
        operation: message::Pending::NAME,
        input: |project, identity| {
            input::<message::Pending>(&PendingInput { project: Some(project), identity: Some(identity) })
        },
        in_project: true,
    },
];

fn input<O: Operation>(input: &O::Input) -> Result<Value, serde_json::Error> {
    serde_json::to_value(input)
}

impl Kind {
    fn template(&self) -> String {
        let mut template = format!("{SCHEME}{{project}}/{}", self.segment);
        if !self.variable.is_empty() {
            template.push_str(&format!("/{{{}}}", self.variable));
        }
        template
    }
}

/// A resource as its address names it.
pub(crate) struct Address<'a> {
    /// What it is.
    pub kind: &'static Kind,
    /// Of which project.
    pub project: &'a str,
    /// Which one; empty for the status.
    pub id: &'a str,
}

impl<'a> Address<'a> {
    /// Reads an address.
    pub(crate) fn parse(uri: &'a str) -> Option<Self> {
        let mut parts = uri.strip_prefix(SCHEME)?.split('/');
        let (project, segment) = (parts.next()?, parts.next()?);
        let id = parts.next().unwrap_or_default();
        let kind = KINDS.iter().find(|kind| kind.segment == segment)?;
        let whole = parts.next().is_none() && id.is_empty() == kind.variable.is_empty();
        (whole && !project.is_empty()).then_some(Self { kind, project, id })
    }
}

/// The templates, in the order of the table.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let made = |kind: &Kind| {
        ResourceTemplate::new(kind.template(), kind.segment)
            .with_title(kind.title)
            .with_description(kind.doc)
            .with_mime_type(JSON)
    };
    KINDS.iter().map(made).collect()
}

/// The status of every project that takes part in anything, a page at a time.
pub(crate) async fn list(
    server: &Server,
    cursor: Option<String>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let listed = run_typed::<project::List>(server, &project::ListInput::default(), context)
        .await
        .map_err(|refusal| failed(&refusal))?;
    let after = cursor.unwrap_or_default();
    let projects = listed.items.iter().map(|row| &row.project).filter(|project| !project.is_isolated);
    let mut ids: Vec<&str> =
        projects.map(|project| project.project_id.as_str()).filter(|id| *id > after.as_str()).collect();
    ids.sort_unstable();
    let more = ids.len() > PAGE;
    ids.truncate(PAGE);
    let resource = |id: &&str| {
        Resource::new(format!("{SCHEME}{id}/status"), format!("{id}/status"))
            .with_title(format!("Status of {id}"))
            .with_mime_type(JSON)
    };
    let mut list = ListResourcesResult::with_all_items(ids.iter().map(resource).collect());
    list.next_cursor = ids.last().filter(|_| more).map(|id| (*id).to_owned());
    (list.ttl_ms, list.cache_scope) = (Some(0), Some(CacheScope::Private));
    Ok(list)
}

/// A resource, whole.
pub(crate) async fn read(
    server: &Server,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let address = Address::parse(uri).ok_or_else(|| unknown(uri, "this is no address of a resource"))?;
    let read = content(server, &address, context).await.map_err(|refusal| match refusal.code.as_str() {
        code if code.ends_with("_unknown") || code == "project_invalid" => unknown(uri, &refusal.message),
        _ => failed(&refusal),
    })?;
    let contents =
        ResourceContents::text(baton_model::printable::json(&read.to_string()), uri).with_mime_type(JSON);
    let mut result = ReadResourceResult::new(vec![contents]);
    (result.ttl_ms, result.cache_scope) = (Some(0), Some(CacheScope::Private));
    Ok(result)
}

/// What stands at an address.
pub(crate) async fn content(
    server: &Server,
    address: &Address<'_>,
    context: &RequestContext<RoleServer>,
) -> Answer {
    let kind = address.kind;
    let backend = server.shared.backend.as_ref();
    let caller = backend.caller(context.extensions.get())?;
    let input = (kind.input)(address.project.to_owned(), address.id.to_owned());
    let input = input.map_err(|error| ErrorObject::new("input_invalid", error.to_string(), "report this"))?;
    let read = match kind.in_project {
        true => backend.run(kind.operation, input, caller, None).await?,
        false => handoff_or_baton(backend, input, caller).await?,
    };
    if !kind.in_project && !AnswerView(&read).written_projects().contains(&address.project) {
        let what = format!("project {} has no such {}", address.project, kind.variable);
        return Err(ErrorObject::new("handoff_unknown", what, "name it under its own project"));
    }
    Ok(read)
}

/// Runs an operation for the caller of a request.
pub(crate) async fn run_typed<O: Operation>(
    server: &Server,
    input: &O::Input,
    context: &RequestContext<RoleServer>,
) -> Result<O::Output, ErrorObject> {
    let backend = server.shared.backend.as_ref();
    backend::run_typed::<O>(backend, input, backend.caller(context.extensions.get())?).await
}

fn unknown(uri: &str, why: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("resource not found: {why}"), Some(json!({ "uri": uri })))
}

/// A refusal where the protocol has no place for one but an error.
pub(crate) fn failed(refusal: &ErrorObject) -> ErrorData {
    ErrorData::internal_error(refusal.message.clone(), Some(json!(refusal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_their_templates_say() {
        let address = Address::parse("baton://projects/shop/tasks/bt-1").expect("an address");
        assert_eq!((address.kind.segment, address.project, address.id), ("tasks", "shop", "bt-1"));
        assert!(Address::parse("baton://projects/shop/status").is_some());
        for wrong in [
            "baton://projects/shop/status/x",
            "baton://projects/shop/tasks",
            "baton://projects//status",
            "file:///a",
        ] {
            assert!(Address::parse(wrong).is_none(), "{wrong}");
        }
    }
}
