//! The project that a repository's untrusted `.baton.toml` names, told where its folder leads to none.

use baton_model::id::visible;
use baton_model::refusal::Refusal;

use crate::app::App;
use crate::error::AppError;

/// Codes of refusals after which a project that the file names would be the way on.
const CODES: [&str; 3] = ["project_is_clone", "project_unresolved", "project_ambiguous"];

/// The same failure, with what the file names and how it comes to count.
pub(crate) fn name(app: &App, error: AppError) -> AppError {
    let AppError::Refused(refusal) = error else { return error };
    let file = app.config.repository.as_ref();
    let Some((file, claim)) = file.and_then(|file| Some((file, file.claim()?))) else {
        return refusal.into();
    };
    if !CODES.contains(&refusal.code) {
        return refusal.into();
    }
    let (path, claim) = (visible(&file.path.display().to_string()), visible(claim));
    let hint = format!(
        "{} {path} names project {claim}, and is not trusted: `baton trust` shows it and has that count",
        baton_model::printable::sentence(&refusal.hint)
    );
    Refusal { hint, ..refusal }.with("claimed_project", claim).into()
}
