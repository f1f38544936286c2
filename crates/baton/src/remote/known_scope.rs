//! What the token of a client may do, as its server says with every answer.

use std::sync::Mutex;

use baton_model::access::Scope;
use reqwest::header::HeaderMap;

/// The header that names it.
const SCOPE_HEADER: &str = "baton-scope";

/// The scope of the token; not known before the first answer.
#[derive(Default)]
pub(crate) struct KnownScope(Mutex<Option<Scope>>);

impl KnownScope {
    /// Takes note of what an answer says.
    pub(super) fn note(&self, headers: &HeaderMap) {
        let scope = headers.get(SCOPE_HEADER).and_then(|value| Scope::from_word(value.to_str().ok()?).ok());
        if let (Some(scope), Ok(mut known)) = (scope, self.0.lock()) {
            *known = Some(scope);
        }
    }

    /// What was said last.
    pub(crate) fn get(&self) -> Option<Scope> {
        self.0.lock().ok().and_then(|known| *known)
    }
}
