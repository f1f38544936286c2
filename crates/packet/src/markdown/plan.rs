//! The plan in prose that the agent put before the user last.

use super::section::{Entry, SHORTENED, Section, rank};
use super::{RenderContext, cut, place, quote};
use crate::packet::{Packet, Proposal};

/// The plan, whether the user agreed to it, and how much was changed since. One that nothing followed is what comes next.
pub(super) fn proposal(cx: &RenderContext, out: &mut Vec<Entry>) {
    let Some(proposal) = cx.packet.proposal.as_ref().filter(|plan| !plan.text.trim().is_empty()) else {
        return;
    };
    let mark = cx.mark(proposal.at.as_deref());
    let next = to_carry_out(cx.packet).is_some();
    // The next step says already whether there was consent.
    let state = if next && cx.is_small() { "The plan".to_owned() } else { state(proposal) };
    let show = |limit| format!("- {state}{mark}:\n{}", quote::quote("  ", &cut::head(&proposal.text, limit)));
    let lengths = match next {
        true => [(rank::STOPPED, 120), (rank::LAST_TURN, 700), (rank::ANSWER, 2000)],
        false => return out.push(carried_out(&state, &mark, proposal)),
    };
    out.push(Entry::new(Section::Plan, "plans").lengths(&lengths, rank::WHOLE, show));
}

/// A plan that work followed: its title, and all of it only where there is no limit.
fn carried_out(state: &str, mark: &str, proposal: &Proposal) -> Entry {
    let title =
        proposal.text.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
    let title = quote::prose(&cut::head(title.unwrap_or_default(), 160));
    let whole = format!("- {state}{mark}:\n{}", quote::quote("  ", &proposal.text));
    let entry = Entry::new(Section::Plan, "plans");
    entry.form(rank::ANSWER, Some(SHORTENED), format!("- {state}: “{title}”{mark}\n")).form(
        rank::WHOLE,
        None,
        whole,
    )
}

/// The plan, where it is what comes next: it stands after the list of tasks, the
/// steps named and the last request, and nothing was changed since.
pub(super) fn to_carry_out(packet: &Packet) -> Option<&Proposal> {
    let proposal = packet.proposal.as_ref().filter(|plan| !plan.text.trim().is_empty())?;
    let items = packet.pending_tasks.iter().map(|item| &item.at);
    let steps = packet.next_steps.iter().map(|step| &step.at);
    let places = packet.requests.iter().filter_map(|requests| requests.last.as_ref()).map(|last| &last.at);
    let latest = items.chain(steps).chain(places).filter_map(|at| place::line_of(at.as_deref())).max();
    let is_last = place::line_of(proposal.at.as_deref()) > latest;
    (proposal.changes_since == 0 && is_last).then_some(proposal)
}

fn state(proposal: &Proposal) -> String {
    let approved = match proposal.approved {
        Some(true) => "The user agreed",
        Some(false) => "The user did not agree",
        None => "Without an answer of the user",
    };
    match proposal.changes_since {
        0 => format!("{approved}; no file was changed since"),
        1 => format!("{approved}; one change of a file followed"),
        _ => format!("{approved}; changes of files followed"),
    }
}
