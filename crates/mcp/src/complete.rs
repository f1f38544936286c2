//! Completion of what a person types into a template or a prompt.

use baton_ops::op::Operation;
use rmcp::RoleServer;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use crate::prompts;
use crate::resources::operate;
use crate::server::Server;

/// Values that begin with what was typed, at most a hundred.
pub(crate) async fn complete(
    server: &Server,
    request: &CompleteRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CompleteResult, ErrorData> {
    let (name, typed) = (request.argument.name.as_str(), request.argument.value.as_str());
    let known = match &request.r#ref {
        Reference::Prompt(prompt) => prompts::has_argument(&prompt.name, name),
        Reference::Resource(template) => template.uri.contains(&format!("{{{name}}}")),
        _ => false,
    };
    let arguments = request.context.as_ref().and_then(|context| context.arguments.as_ref());
    let project = arguments.and_then(|arguments| arguments.get("project")).map(String::as_str);
    let mut values = if known { values(server, name, project, context).await } else { Vec::new() };
    values.retain(|value| value.starts_with(typed));
    values.sort_unstable();
    values.dedup();
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(total > values.len());
    info.total = u32::try_from(total).ok();
    info.values = values;
    Ok(CompleteResult::new(info))
}

/// Everything that an argument of this name may be. What cannot be read completes to nothing.
async fn values(
    server: &Server,
    name: &str,
    project: Option<&str>,
    context: &RequestContext<RoleServer>,
) -> Vec<String> {
    let of_project = project.map_or_else(|| json!({}), |project| json!({ "project": project }));
    let (operation, input, list, fields): (_, _, _, &[&str]) = match name {
        "project" | "to_project_id" => (baton_ops::project::List::NAME, json!({}), "items", &["project_id"]),
        "handoff" => (baton_ops::handoff::List::NAME, of_project, "items", &["handoff_id"]),
        "handoff_id" => (baton_ops::session::Status::NAME, of_project, "handoffs", &["id"]),
        "task" => (baton_ops::task::List::NAME, of_project, "items", &["id"]),
        "session" | "from_session" => {
            (baton_ops::session::Status::NAME, of_project, "sessions", &["session_id"])
        }
        "identity" | "to" => (baton_ops::session::Status::NAME, of_project, "sessions", &["identity"]),
        _ => return Vec::new(),
    };
    let read = operate(server, operation, input, context).await.unwrap_or_default();
    let items = read[list].as_array().into_iter().flatten();
    items.flat_map(|item| fields.iter().filter_map(|field| text(&item[*field]))).collect()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::resources::KINDS;

    #[test]
    fn every_variable_of_a_template_can_be_completed() {
        for kind in KINDS.iter().filter(|kind| !kind.variable.is_empty()) {
            assert!(["handoff", "task", "session", "identity"].contains(&kind.variable), "{}", kind.variable);
        }
    }
}
