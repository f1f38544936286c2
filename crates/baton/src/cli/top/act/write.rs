//! Begins a message, to one or to several.

use baton_model::id::{identity_key, visible};
use baton_model::message::ROLE;
use baton_model::refusal::Refusal;
use baton_ops::agent::{List, ListInput};
use baton_ops::message::{MailSend, MailSendInput};

use super::{Request, SUBJECT, TEXT, TO};
use crate::app::App;
use crate::error::AppError;

/// Sends it to each that was named. Of several all are known before the first is written to.
pub(super) fn send(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let named = request.field_value(TO).unwrap_or_default();
    let names: Vec<String> =
        named.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.len() > 1 {
        refuse_unknown(app, request, &names)?;
    }
    for name in &names {
        let input = MailSendInput {
            project: request.project(),
            identity: request.identity(),
            to: Some(name.clone()),
            subject: request.field_value(SUBJECT),
            body: request.field_value(TEXT).unwrap_or_default(),
            ..MailSendInput::default()
        };
        app.run::<MailSend>(&input)?;
    }
    let names: Vec<String> = names.iter().map(|name| visible(name)).collect();
    Ok(format!("sent to {}", names.join(" and ")))
}

/// Refuses names that are unknown in the project, before anything is written; the address of a role may be among them.
fn refuse_unknown(app: &mut App, request: &Request<'_>, names: &[String]) -> Result<(), AppError> {
    let agents: Vec<String> = names.iter().filter(|name| !name.starts_with(ROLE)).cloned().collect();
    refuse_unknown_agents(app, request, &agents)
}

/// Refuses names that no agent of the project has had.
pub(super) fn refuse_unknown_agents(
    app: &mut App,
    request: &Request<'_>,
    names: &[String],
) -> Result<(), AppError> {
    let input = ListInput { project: request.project(), all: true, ..ListInput::default() };
    let listed = app.run::<List>(&input)?;
    let known: Vec<String> = listed.items.iter().map(|row| identity_key(row.name())).collect();
    let is_unknown = |name: &&String| !known.contains(&identity_key(name));
    let Some(name) = names.iter().find(is_unknown) else { return Ok(()) };
    let project = &listed.project_id;
    let what =
        format!("nothing was done: nobody called {name} has registered or worked in project {project}");
    Err(Refusal::invalid("recipient_unknown", what, "2 lists the agents at work").into())
}
