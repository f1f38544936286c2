//! The folders that a client of the older protocol calls its roots: asked for only where the working directory says nothing.
#![expect(deprecated, reason = "clients of the older protocol have nothing else")]

use std::collections::BTreeSet;

use baton_model::refusal::ErrorObject;
use baton_ops::op::Caller;
use baton_ops::project::{Show, ShowInput};
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::json;

use crate::backend::run_typed;
use crate::elicitation::is_modern;
use crate::server::Server;

/// The caller as it stands in the one root that belongs to a project; a refusal where several roots belong to several
/// projects; nothing where the roots say nothing.
pub(crate) async fn resolve(
    server: &Server,
    caller: &Caller,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Caller, ErrorObject>> {
    let backend = server.shared.backend.as_ref();
    let mut found: Vec<(String, Caller)> = Vec::new();
    for root in roots(server, context).await? {
        let there = backend.with_folder(caller, &root);
        if let Ok(shown) = run_typed::<Show>(backend, &ShowInput::default(), there.clone()).await {
            found.push((shown.project.project_id, there));
        }
    }
    let projects: BTreeSet<&str> = found.iter().map(|(id, _)| id.as_str()).collect();
    if projects.len() > 1 {
        let what = format!("the roots of this client belong to {} projects", projects.len());
        let mut refusal = ErrorObject::new("project_ambiguous", what, "say which with `project`");
        refusal.details.insert("candidates".into(), json!(projects));
        return Some(Err(refusal));
    }
    found.into_iter().next().map(|(_, there)| Ok(there))
}

async fn roots(server: &Server, context: &RequestContext<RoleServer>) -> Option<Vec<String>> {
    if let Some(known) = server.connection.roots.lock().ok().and_then(|roots| roots.clone()) {
        return Some(known);
    }
    if is_modern(context) || !offered(context) {
        return None;
    }
    let listed = context.peer.list_roots().await.ok()?;
    let roots: Vec<String> = listed.roots.iter().filter_map(|root| path(&root.uri)).collect();
    if let Ok(mut known) = server.connection.roots.lock() {
        *known = Some(roots.clone());
    }
    Some(roots)
}

fn offered(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some())
}

/// The path of a `file://` URI.
fn path(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_path() {
        assert_eq!(path("file:///home/you/shop").as_deref(), Some("/home/you/shop"));
        assert_eq!(path("file://localhost/a%20b%C3%A4").as_deref(), Some("/a bä"));
        assert_eq!(path("https://example.org/a"), None);
    }
}
