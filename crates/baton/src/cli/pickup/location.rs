//! Where picked-up work lies, for people and for `cd`.

use baton_model::id::{short, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_ops::session::{Bundle, WorkLocation};

use crate::app::App;
use crate::error::AppError;

/// Prints the folder alone; refused where there is none to go to.
pub(super) fn print(app: &mut App, bundle: Bundle) -> Result<(), AppError> {
    let Some(work) = bundle.location else {
        let what = "the session that left this work did not say in which folder it worked";
        return Err(Refusal::new(
            Kind::NotFound,
            "place_unknown",
            what,
            "`baton pickup --dry-run` shows its packet",
        )
        .into());
    };
    let hint = || work.advice.clone().unwrap_or_else(|| "`baton pickup --dry-run` shows the rest".to_owned());
    let root = visible(&work.copy.root);
    if work.is_there == Some(false) {
        let now = if work.holds_other { "holds something else by now" } else { "is gone" };
        let what = format!("{root}, in which the work was left, {now}");
        return Err(Refusal::new(Kind::NotFound, "place_gone", what, hint()).into());
    }
    if !work.is_this_machine {
        let what = format!("the work lies in {root} on machine {}, not here", visible(short(&work.machine)));
        return Err(Refusal::new(Kind::NotFound, "place_elsewhere", what, hint()).into());
    }
    app.show(&work, |work| format!("{}\n", visible(&work.copy.root)))
}

/// What a person reads of it.
pub(super) fn text(work: &WorkLocation) -> String {
    let place = if work.is_here { "here, " } else { "" };
    let mut text = format!("the work lies {place}in {}\n", work.copy.describe());
    match work.uncommitted_total {
        Some(0) => text.push_str("  everything is committed\n"),
        Some(total) => {
            let shown: Vec<String> = work.uncommitted.iter().map(|path| visible(path)).collect();
            let more = total.saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text.push_str(&format!("  not committed: {}{more}\n", shown.join(", ")));
        }
        None => {}
    }
    match work.has_commit {
        Some(true) if !work.is_here => text.push_str("  this working copy has that commit\n"),
        Some(false) => text.push_str("  this working copy does not have that commit\n"),
        _ => {}
    }
    text.extend(work.advice.as_ref().map(|advice| format!("  {advice}\n")));
    text
}
