//! To which project the files of a working copy belong, whatever project a call names.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::session::{Status, StatusInput};

use crate::app::App;

/// The project to which the files here belong, where that is another one than the call is for.
pub(super) fn other_owner(app: &mut App, project: Option<&str>) -> Option<(String, String)> {
    let owner = app.folder_project()?;
    let wanted = StatusInput { project: project.map(str::to_owned), ..StatusInput::default() };
    let wanted = app.run::<Status>(&wanted).ok()?.project_id;
    (owner != wanted).then_some((owner, wanted))
}

/// Refuses to give the files here to another project than theirs.
pub(crate) fn require_own_files(app: &mut App, project: Option<&str>) -> Result<(), Refusal> {
    let Some((owner, wanted)) = other_owner(app, project) else { return Ok(()) };
    let what = format!(
        "the files here are those of project {}, and the baton is one of project {}",
        visible(&owner),
        visible(&wanted)
    );
    let hint = format!(
        "call it in a folder of {}; or leave `--with-changes` out, and what lies here stays here",
        visible(&wanted)
    );
    Err(Refusal::new(Kind::NotFound, "place_elsewhere", what, hint))
}
