//! `baton resolve`

use baton_ops::op::Operation;
use serde_json::{Value, json};

use super::ActingIdentity;
use crate::app::App;
use crate::error::Ended;
use crate::render;

/// Find the saved or seeded session state to go on with
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    who: ActingIdentity,
    /// Task of an exact state
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// What the user said
    #[arg(long, value_name = "T")]
    said: Option<String>,
    /// Go on, whatever was said
    #[arg(long)]
    resume: bool,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let input = json!({
        "project": app.project, "identity": args.who.identity, "task": args.task, "said": args.said,
        "resume": args.resume,
    });
    let answer = app.call(baton_ops::session::Resolve::NAME, input)?;
    app.answer(&answer, show)
}

fn show(answer: &Value) -> String {
    match answer["resolution"].as_str() {
        Some("resume") => format!(
            "go on: session {}\n{}",
            render::text(answer, "session_id"),
            render::quoted(answer["state"]["next_action"]["description"].as_str().unwrap_or_default())
        ),
        Some("choice_required") => {
            let row = |c: &Value| {
                vec![
                    render::text(c, "identity"),
                    render::text(c, "task_id"),
                    render::text(&c["next_action"], "description"),
                    render::age(c, "updated_at"),
                ]
            };
            let rows: Vec<Vec<String>> = render::list(answer, "candidates").iter().map(row).collect();
            format!("several could be meant: say which with --as and --task\n{}", render::table(&rows))
        }
        _ => "nothing to go on with: begin anew\n".to_owned(),
    }
}
