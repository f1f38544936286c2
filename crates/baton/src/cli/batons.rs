//! `baton batons`

use baton_model::id::visible;
use baton_model::time::rfc3339;
use baton_ops::Order;
use baton_ops::baton::{
    List, ListInput, ListOutput, Row, Show, ShowInput, ShowOutput, Spending, SpentReason, Withdraw,
    WithdrawInput, WithdrawOutput, Withdrawal,
};
use baton_ops::session::OriginCommit;

use super::ActingIdentity;
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// How many commits of a session are named to people.
const NAMED_COMMITS: usize = 20;

/// List the batons that can be picked up, the oldest first, show one, or take one back
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(clap::Args)]
struct ListArgs {
    /// Only batons in this state: open, held, abandoned, spent
    #[arg(long, value_name = "S")]
    state: Option<String>,
    /// Only batons for this name or role (role:NAME)
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// List those of all projects
    #[arg(long)]
    all: bool,
    /// List the newest first
    #[arg(long)]
    newest: bool,
    /// Number of batons; 0 for as many as one page holds, 200
    #[arg(short = 'n', value_name = "N")]
    limit: Option<i64>,
    /// Continue after a page, with its `next`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Show a baton with its packet
    Show {
        /// Baton id, or a unique prefix
        id: String,
    },
    /// Take back a baton that you left, while no session holds it
    ///
    /// It is offered to no agent any more, and stays readable; `baton pickup --handoff ID` goes on with it all the same.
    Withdraw {
        /// Baton id, or a unique prefix
        id: String,
        #[command(flatten)]
        who: ActingIdentity,
        /// Reason, written into the ledger
        #[arg(long, value_name = "REASON")]
        why: Option<String>,
        /// Take back what another left; needs --why
        #[arg(long)]
        force: bool,
        /// Who holds it, as far as you know: refused if another holds it by now
        #[arg(long, value_name = "NAME")]
        holder: Option<String>,
    },
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let project = app.project.clone();
    match args.verb {
        Some(Verb::Show { id }) => {
            let shown = app.run::<Show>(&ShowInput { id, project, identity: None })?;
            return app.show(&shown, baton_text);
        }
        Some(Verb::Withdraw { id, who, why, force, holder }) => {
            let input = WithdrawInput { id, project, identity: who.identity, force, holder, why };
            let withdrawn = app.run::<Withdraw>(&input)?;
            return app.show(&withdrawn, withdrawn_text);
        }
        None => {}
    }
    let ListArgs { state, to, all, newest, limit, cursor } = args.list;
    let order = newest.then_some(Order::Newest);
    let none = render::none_of("no baton waits", &[("--state", state.as_deref()), ("--to", to.as_deref())]);
    let listed =
        app.run::<List>(&ListInput { project, all, state, to, order, identity: None, limit, cursor })?;
    app.show(&listed, |listed| table(listed, &none))
}

fn table(listed: &ListOutput, none: &str) -> String {
    let rows: Vec<_> = listed.items.iter().map(row).collect();
    render::page(&rows, none, Some(listed.total), listed.next.as_deref())
}

fn row(row: &Row) -> Vec<String> {
    vec![
        render::short_id(&row.baton_id),
        match &row.holder {
            Some(holder) => format!("{} by {}", row.state.as_str(), visible(holder)),
            None => row.state.as_str().to_owned(),
        },
        visible(&row.project_id),
        format!("from {}", visible(&row.from)),
        row.to.as_deref().map(|to| format!("for {}", visible(to))).unwrap_or_default(),
        render::time_ago(row.created_at),
        if row.has_changes { "with changes".to_owned() } else { String::new() },
        row.location.as_ref().map(render::location).unwrap_or_default(),
        visible(&row.summary),
    ]
}

fn withdrawn_text(withdrawn: &WithdrawOutput) -> String {
    let id = render::short_id(&withdrawn.row.baton_id);
    format!("baton {id} is withdrawn: it is offered to nobody, and `baton batons show {id}` shows it\n")
        + &render::reminders(&withdrawn.words_of_others)
}

fn baton_text(shown: &ShowOutput) -> String {
    let packet = shown.packet.as_deref().map(render::block).unwrap_or_default();
    format!("{}\n{packet}\n", facts(shown))
}

/// Who took it back, when, and why.
fn withdrawal_words(of: &Withdrawal) -> String {
    let why = of.why.as_deref().map(|why| format!(": {}", visible(why))).unwrap_or_default();
    format!("by {} at {}{why}", visible(&of.by), rfc3339(of.at.0))
}

/// Who exported it, when, and how it comes back.
fn export_words(of: &Spending) -> Option<String> {
    let (by, at) = (of.by.as_deref()?, of.at?);
    let is_exported = of.reason == SpentReason::Exported;
    is_exported.then(|| {
        format!(
            "to a file by {} at {}: `baton handoff reclaim` has it wait here again",
            visible(by),
            rfc3339(at.0)
        )
    })
}

/// The newest commits of its session, the oldest of them first.
fn commits(made: &[OriginCommit]) -> String {
    let more = made.len().saturating_sub(NAMED_COMMITS);
    let names: Vec<String> =
        made.iter().skip(more).map(|one| visible(one.id.get(..12).unwrap_or(&one.id))).collect();
    match more {
        0 => names.join(", "),
        more => format!("{more} earlier ones, {}", names.join(", ")),
    }
}

/// A baton without its packet.
pub(super) fn facts(shown: &ShowOutput) -> String {
    let row = &shown.row;
    let fact = |name: &str, value: String| vec![name.to_owned(), value];
    let facts = [
        fact("baton", visible(&row.baton_id)),
        fact("state", row.spent.as_ref().map_or(row.state.as_str(), Spending::word).to_owned()),
        fact("project", visible(&row.project_id)),
        fact("from", format!("{}, session {}", visible(&row.from), render::short_id(&row.session_id))),
        fact("for", row.to.as_deref().map_or_else(|| "whoever comes first".to_owned(), visible)),
        fact("left", rfc3339(row.created_at.0)),
        fact(
            "left in",
            row.location.as_ref().map(|of| render::location(of)[3..].to_owned()).unwrap_or_default(),
        ),
        fact("withdrawn", row.withdrawn.as_ref().map(withdrawal_words).unwrap_or_default()),
        fact("exported", row.spent.as_ref().and_then(export_words).unwrap_or_default()),
        fact("holder", row.holder.as_deref().map(visible).unwrap_or_default()),
        fact(
            "changes",
            if row.has_changes { "go with it: `baton changes show`".to_owned() } else { String::new() },
        ),
        fact("commits", commits(&shown.commits)),
        fact("summary", visible(&row.summary)),
    ];
    let facts: Vec<_> = facts.into_iter().filter(|fact| fact.iter().all(|text| !text.is_empty())).collect();
    render::table(&facts)
}
