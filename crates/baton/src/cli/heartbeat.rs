//! `baton heartbeat`

use baton_ops::session::{Heartbeat, HeartbeatInput};

use super::ActingIdentity;
use crate::app::{App, Format};
use crate::error::AppError;

/// Send a heartbeat for a session; prints nothing
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let input = HeartbeatInput {
        project: app.project.clone(),
        session: app.session.clone(),
        identity: args.who.identity,
        here: false,
    };
    let heard = app.run::<Heartbeat>(&input)?;
    if app.format == Format::Text { Ok(()) } else { app.show(&heard, |_| String::new()) }
}
