//! `baton status`

use baton_ops::session::{Status, StatusInput};

use super::{ActingIdentity, watch};
use crate::app::App;
use crate::changes::carry;
use crate::error::AppError;
use crate::{render, unwrapped};

/// Show who is working on what, and which batons and hand-offs wait
#[derive(clap::Args)]
pub(super) struct Args {
    /// Redraw every second until interrupted; on a pipe, print a line for every change
    #[arg(long, short, conflicts_with = "identity")]
    watch: bool,
    #[command(flatten)]
    who: ActingIdentity,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    if args.watch {
        return watch::run(app);
    }
    let mut status =
        app.run::<Status>(&StatusInput { project: app.project.clone(), identity: args.who.identity })?;
    app.remark_repository();
    carry::remark_interrupted(app);
    let own = app.session.clone();
    let left = unwrapped::remarks(app, (&status.project_id, &status.card), (own.as_deref(), None));
    status.card.reminders.extend(left);
    app.show(&status, |status| render::card(&status.card))
}
