//! `baton lease`

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::time::parse_span;
use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::Who;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Announce paths that you work on, see who works on what, give them back
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Announce paths or globs; a conflict is refused with its holder
    ///
    /// Paths are named from the root of the repository. A lease ends with the session it was taken in, when it is released,
    /// or when its time is over. Taking one's own again makes it longer.
    Take {
        /// src/cart.py, src/**, docs/*.md
        #[arg(required = true, value_name = "PATH")]
        patterns: Vec<String>,
        #[command(flatten)]
        who: Who,
        /// Others may have shared leases on the same paths
        #[arg(long)]
        shared: bool,
        /// For so long: 30m, 2h; else an hour, at most a week
        #[arg(long = "for", value_name = "SPAN")]
        span: Option<String>,
        /// What for
        #[arg(long, value_name = "T")]
        why: Option<String>,
        /// Announce it even where it conflicts: others are warned, nobody is refused
        #[arg(long)]
        advisory: bool,
    },
    /// List who works on which paths right now
    List {
        /// Only those that this path or glob touches
        #[arg(value_name = "PATH")]
        path: Option<String>,
        /// Only those of this identity
        #[arg(long, value_name = "NAME")]
        holder: Option<String>,
    },
    /// Give leases back; without names all of your own
    Release {
        /// Leases by id or by their pattern
        #[arg(value_name = "LEASE")]
        leases: Vec<String>,
        #[command(flatten)]
        who: Who,
        /// Also leases of others, which have to be named
        #[arg(long, requires_all = ["why", "leases"])]
        force: bool,
        /// Why force is used; written into the ledger
        #[arg(long, value_name = "T", requires = "force")]
        why: Option<String>,
    },
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let project = app.project.clone();
    match args.verb {
        Verb::Take { patterns, who, shared, span, why, advisory } => {
            let input = json!({
                "project": project, "identity": who.identity, "patterns": patterns, "shared": shared,
                "for_s": seconds(span.as_deref())?, "why": why, "advisory": advisory,
            });
            let answer = app.call(baton_ops::lease::Take::NAME, input)?;
            app.answer(&answer, |a| format!("{}{}", table(a), render::warnings(a)))
        }
        Verb::List { path, holder } => {
            let answer = app.call(
                baton_ops::lease::List::NAME,
                json!({ "project": project, "path": path, "holder": holder }),
            )?;
            app.answer(&answer, |a| match render::list(a, "items") {
                [] => "nobody has announced anything\n".to_owned(),
                _ => table(a),
            })
        }
        Verb::Release { leases, who, force, why } => {
            let input = json!({
                "project": project, "identity": who.identity, "leases": leases, "force": force, "why": why,
            });
            let answer = app.call(baton_ops::lease::Release::NAME, input)?;
            app.answer(&answer, |a| match render::list(a, "items") {
                [] => "there was nothing to release\n".to_owned(),
                items => items.iter().map(|l| format!("released {}\n", render::text(l, "pattern"))).collect(),
            })
        }
    }
}

fn seconds(span: Option<&str>) -> Result<Option<i64>, Refusal> {
    let Some(text) = span else { return Ok(None) };
    let span = parse_span(text).ok_or_else(|| {
        let what = format!("`{}` is not a span of time", visible(text));
        Refusal::invalid("span_invalid", what, "write it as 30m, 24h or 7d")
    })?;
    Ok(Some(span / 1000))
}

fn table(answer: &Value) -> String {
    let row = |lease: &Value| {
        let advisory = if lease["advisory"] == true { ", advisory" } else { "" };
        vec![
            render::text(lease, "pattern"),
            format!("{}{advisory}", render::text(lease, "mode")),
            render::text(lease, "holder"),
            format!("taken {}", render::age(lease, "taken_at")),
            format!("until {}", render::text(lease, "expires_at")),
            render::text(lease, "why"),
        ]
    };
    render::table(&render::list(answer, "items").iter().map(row).collect::<Vec<_>>())
}
