//! `baton attention`

use baton_model::attention::AttentionItem;
use baton_model::id::visible;
use baton_model::time::spoken_instants;
use baton_ops::attention::{Attention, AttentionInput, AttentionOutput};

use super::ActingIdentity;
use crate::app::App;
use crate::clock;
use crate::error::AppError;
use crate::render;

/// Show what needs a person: questions to you, silent sessions, stuck hand-offs, batons that wait
///
/// Each line has the reason, the age, the words, and the command that helps. What is addressed to you comes first, and what you
/// sent and nobody took; then the worst, and of that the oldest. With --project only one project is looked at.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Only this reason: session_silent, baton_starving, handoff_failed, …
    #[arg(long, value_name = "R")]
    reason: Option<String>,
    /// Show batons, hand-offs and messages to others that were left less than an hour ago, too
    #[arg(long)]
    waiting: bool,
    /// Number of lines
    #[arg(short = 'n', value_name = "N")]
    limit: Option<i64>,
    /// Continue after a page, with its `next`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let input = AttentionInput {
        project: app.project.clone(),
        identity: args.who.identity.or_else(|| app.config.identity.clone()),
        reason: args.reason,
        waiting: args.waiting,
        section: None,
        limit: args.limit,
        cursor: args.cursor,
    };
    let found = app.run::<Attention>(&input)?;
    app.show(&found, text)
}

fn text(found: &AttentionOutput) -> String {
    if found.total == 0 && found.mine.is_empty() {
        return "nothing needs you\n".to_owned();
    }
    let rows = |matters: &[AttentionItem]| matters.iter().map(row).collect::<Vec<_>>();
    let others: Vec<AttentionItem> =
        found.items.iter().filter(|matter| !found.mine.contains(matter)).cloned().collect();
    let counts: Vec<String> = found.counts.iter().map(|row| row.reason.count(row.count)).collect();
    let title = if found.mine.is_empty() { "the worst first" } else { "for others" };
    let mut text = match found.total {
        0 => String::new(),
        total => format!("{total} in all: {}\n", counts.join(", ")),
    };
    text.push_str(&render::section("for you", &rows(&found.mine)));
    text.push_str(&render::section(title, &rows(&others)));
    if let Some(next) = &found.next {
        text.push_str(&format!("more: --cursor {}\n", visible(next)));
    }
    text
}

/// One item as a row: what, since when, where, whose, the command that helps, and its words.
pub(super) fn row(matter: &AttentionItem) -> Vec<String> {
    let names: Vec<String> = matter.agents.iter().map(|name| visible(name)).collect();
    let people = match (&matter.from, &matter.to) {
        _ if !names.is_empty() => names.join(", "),
        (Some(from), Some(to)) => format!("{} → {}", visible(from), visible(to)),
        (Some(from), None) => visible(from),
        (None, to) => to.as_deref().map(visible).unwrap_or_default(),
    };
    let words = [Some(&matter.subject), matter.detail.as_ref()];
    let words = words.into_iter().flatten().filter(|text| !text.is_empty());
    let words = words.map(|text| visible(&spoken_instants(text, clock::now())));
    vec![
        matter.reason.title().to_owned(),
        render::time_ago(matter.since),
        visible(&matter.project_id),
        people,
        visible(&matter.help),
        words.collect::<Vec<_>>().join(": "),
    ]
}
