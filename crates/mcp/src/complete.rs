//! Completion of what a person types into a template or a prompt.

use baton_ops::card::Card;
use baton_ops::session::{Status, StatusInput};
use baton_ops::{handoff, project, task};
use rmcp::RoleServer;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};
use rmcp::service::RequestContext;

use crate::prompts;
use crate::resources::run_typed;
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
    let project = project.map(str::to_owned);
    let read = match name {
        "project" | "to_project_id" => {
            let listed = run_typed::<project::List>(server, &project::ListInput::default(), context).await;
            listed.map(|listed| listed.items.into_iter().map(|row| row.project.project_id).collect())
        }
        "handoff" => {
            let input = handoff::ListInput { project, ..handoff::ListInput::default() };
            let listed = run_typed::<handoff::List>(server, &input, context).await;
            listed.map(|listed| listed.items.into_iter().map(|row| row.handoff.handoff_id).collect())
        }
        "task" => {
            let input = task::ListInput { project, ..task::ListInput::default() };
            let listed = run_typed::<task::List>(server, &input, context).await;
            listed.map(|listed| listed.items.into_iter().map(|row| row.task.id).collect())
        }
        "handoff_id" | "session" | "from_session" | "identity" | "to" => {
            let input = StatusInput { project, ..StatusInput::default() };
            run_typed::<Status>(server, &input, context).await.map(|shown| of_card(name, shown.card))
        }
        _ => return Vec::new(),
    };
    read.unwrap_or_default()
}

fn of_card(name: &str, card: Card) -> Vec<String> {
    match name {
        "handoff_id" => card.handoffs.into_iter().map(|waiting| waiting.id).collect(),
        "identity" | "to" => card.sessions.into_iter().map(|session| session.identity).collect(),
        _ => card.sessions.into_iter().map(|session| session.session_id).collect(),
    }
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
