//! Whose a session of MCP over HTTP is. What its connection remembers, an identity above all, is for the token that opened it:
//! to every other caller the session is as unknown as one that never was.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_model::access::Grant;
use http::{HeaderMap, Method, StatusCode};

/// The header of the protocol.
const SESSION: &str = "mcp-session-id";
/// Sessions that are known at once; of more, those that were quiet for longest are forgotten, and their clients begin anew.
const MAX_SESSIONS: usize = 10_000;

/// By session: the token that opened it, none being the local user, and when it was last used.
#[derive(Default)]
pub(crate) struct Owners(Mutex<HashMap<String, (Owner, Instant)>>);

/// The id of a token; none: the local user.
type Owner = Option<String>;

impl Owners {
    fn opened(&self, session: &str, owner: Owner) {
        let Ok(mut known) = self.0.lock() else { return };
        if known.len() >= MAX_SESSIONS {
            let quietest = known.iter().min_by_key(|(_, (_, used))| *used).map(|(id, _)| id.clone());
            quietest.and_then(|id| known.remove(&id));
        }
        known.insert(session.to_owned(), (owner, Instant::now()));
    }

    fn is_of(&self, session: &str, owner: &Owner) -> bool {
        let Ok(mut known) = self.0.lock() else { return false };
        match known.get_mut(session) {
            Some((own, used)) if own == owner => {
                *used = Instant::now();
                true
            }
            _ => false,
        }
    }

    fn closed(&self, session: &str) {
        if let Ok(mut known) = self.0.lock() {
            known.remove(session);
        }
    }
}

/// Lets a request into the session that it names only where its token opened it.
pub(crate) async fn check_owner(State(owners): State<Arc<Owners>>, request: Request, next: Next) -> Response {
    let grant = request.extensions().get::<Grant>();
    let owner = grant.and_then(|grant| grant.bearer.as_ref()).map(|bearer| bearer.token_id.clone());
    let named = session(request.headers());
    if let Some(named) = &named
        && !owners.is_of(named, &owner)
    {
        return unknown();
    }
    let is_end = request.method() == Method::DELETE;
    let response = next.run(request).await;
    match (named, session(response.headers())) {
        (Some(named), _) if is_end || response.status() == StatusCode::NOT_FOUND => owners.closed(&named),
        (None, Some(opened)) => owners.opened(&opened, owner),
        _ => {}
    }
    response
}

fn session(headers: &HeaderMap) -> Option<String> {
    // One that is no text is no session of ours.
    Some(headers.get(SESSION)?.to_str().unwrap_or_default().to_owned())
}

/// As the protocol's server answers for a session that it does not know.
fn unknown() -> Response {
    (StatusCode::NOT_FOUND, Body::from("Not Found: Session not found")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_of_the_token_that_opened_it() {
        let owners = Owners::default();
        let (ann, ben) = (Some("t1".to_owned()), Some("t2".to_owned()));
        owners.opened("s", ann.clone());
        owners.opened("l", None);
        assert!(owners.is_of("s", &ann) && !owners.is_of("s", &ben) && !owners.is_of("s", &None));
        assert!(owners.is_of("l", &None) && !owners.is_of("l", &ann));
        assert!(!owners.is_of("other", &ann));
        owners.closed("s");
        assert!(!owners.is_of("s", &ann));
    }

    #[test]
    fn a_flood_of_sessions_pushes_out_the_quietest_only() {
        let owners = Owners::default();
        owners.opened("first", None);
        owners.opened("second", None);
        assert!(owners.is_of("first", &None));
        for n in 0..MAX_SESSIONS - 1 {
            owners.opened(&n.to_string(), None);
        }
        assert!(owners.is_of("first", &None) && !owners.is_of("second", &None));
    }
}
