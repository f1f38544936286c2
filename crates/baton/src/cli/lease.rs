//! `baton lease`

use baton_model::id::visible;
use baton_model::time::rfc3339;
use baton_ops::lease::{List, ListInput, Release, ReleaseInput, Row, Take, TakeInput};

use super::{ActingIdentity, seconds};
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Announce the paths you work on, see who works on what, and release them
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Lease paths or globs; a conflict is refused, naming the holder
    ///
    /// Paths are relative to the root of the repository. A lease ends with the session it was taken in, when it is
    /// released, or when its time is up. Taking your own lease again extends it.
    Take {
        /// Paths or globs: src/cart.py, src/**, docs/*.md
        #[arg(required = true, value_name = "PATH")]
        patterns: Vec<String>,
        #[command(flatten)]
        who: ActingIdentity,
        /// Let others hold shared leases on the same paths
        #[arg(long)]
        shared: bool,
        /// How long it lasts: 30m, 2h; defaults to an hour, at most a week
        #[arg(long = "for", value_name = "SPAN")]
        span: Option<String>,
        /// What the lease is for
        #[arg(long, value_name = "T", allow_hyphen_values = true)]
        why: Option<String>,
        /// Take it even if it conflicts: others are warned, no caller is refused
        #[arg(long)]
        advisory: bool,
    },
    /// List who is working on which paths right now
    List {
        /// Only leases that overlap this path or glob
        #[arg(value_name = "PATH")]
        path: Option<String>,
        /// Only leases of this identity
        #[arg(long, value_name = "NAME")]
        holder: Option<String>,
    },
    /// Release leases; all of your own if none is named
    Release {
        /// Leases to release, by id or pattern
        #[arg(value_name = "LEASE")]
        leases: Vec<String>,
        #[command(flatten)]
        who: ActingIdentity,
        /// Release other agents' leases too; they must be named
        #[arg(long, requires_all = ["why", "leases"])]
        force: bool,
        /// Reason for using --force; recorded in the ledger
        #[arg(long, value_name = "T", requires = "force", allow_hyphen_values = true)]
        why: Option<String>,
    },
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Verb::Take { patterns, who, shared, span, why, advisory } => {
            let for_s = seconds(span.as_deref())?;
            let identity = who.identity;
            let input = TakeInput { project, identity, patterns, shared, for_s, why, advisory };
            let taken = app.run::<Take>(&input)?;
            app.show(&taken, |taken| {
                let warnings = taken.warnings.iter().map(|warning| render::warning(&warning.message));
                table(&taken.items) + &warnings.collect::<String>()
            })
        }
        Verb::List { path, holder } => {
            let held = app.run::<List>(&ListInput { project, path, holder })?;
            app.show(&held, |held| match held.items.as_slice() {
                [] => "nobody has announced anything\n".to_owned(),
                items => table(items),
            })
        }
        Verb::Release { leases, who, force, why } => {
            let input = ReleaseInput { project, identity: who.identity, leases, force, why };
            let released = app.run::<Release>(&input)?;
            app.show(&released, |released| {
                let lost = released.taken_over.iter();
                let lost: String = lost
                    .map(|row| format!("{} was taken over by another\n", visible(&row.pattern)))
                    .collect();
                let items = match released.items.as_slice() {
                    [] => "there was nothing to release\n".to_owned(),
                    items => {
                        items.iter().map(|row| format!("released {}\n", visible(&row.pattern))).collect()
                    }
                };
                items + &lost
            })
        }
    }
}

/// Where it holds.
fn location(lease: &Row) -> String {
    match (lease.folder.as_deref().map(visible), lease.branch.as_deref().map(visible)) {
        (Some(folder), Some(branch)) => format!("in {folder}, branch {branch}"),
        (Some(folder), None) => format!("in {folder}"),
        (None, _) => String::new(),
    }
}

pub(super) fn table(leases: &[Row]) -> String {
    let is_placed = leases.iter().any(|lease| lease.folder.is_some());
    let row = |lease: &Row| {
        let advisory = if lease.advisory { ", advisory" } else { "" };
        let mut row = vec![
            visible(&lease.pattern),
            format!("{}{advisory}", lease.mode.as_str()),
            visible(&lease.holder),
            format!("taken {}", render::time_ago(lease.taken_at)),
            format!("until {}", rfc3339(lease.expires_at.0)),
        ];
        row.extend(is_placed.then(|| location(lease)));
        row.push(lease.why.as_deref().map(visible).unwrap_or_default());
        row
    };
    render::table(&leases.iter().map(row).collect::<Vec<_>>())
}
