//! Further remarks: passages that may matter and belong to no other section. They fill what is left of the budget.

use super::section::{Entry, REMARKS, Section, rank};
use super::work::TURN_CHARS;
use super::{RenderContext, cut, quote, task};
use crate::packet::{Message, Packet, Remark, Text};

/// How much of requests and of the last answer is shown before remarks of the agent are, in characters.
const START_CHARS: usize = 1000;
const ANSWER_CHARS: usize = 2000;

/// Remarks in their order, each in the document once.
pub(super) fn remarks(cx: &RenderContext, out: &mut Vec<Entry>) {
    let packet = cx.packet;
    let new = |remark: &&Remark| {
        let in_a_turn = packet.recent_messages.iter().any(|turn| covers(turn, remark));
        !remark.text.trim().is_empty() && !in_a_turn && !is_covered_at_the_start(packet, remark)
    };
    let (requests, other): (Vec<&Remark>, Vec<&Remark>) =
        packet.remarks.iter().filter(new).partition(|remark| is_request(remark));
    let lists = [(Section::Requests, requests, ASKED_CHARS), (Section::Remarks, other, REMARK_CHARS)];
    for (section, remark, chars) in lists
        .into_iter()
        .flat_map(|(section, list, chars)| list.into_iter().map(move |remark| (section, remark, chars)))
    {
        let mark = cx.mark(remark.at.as_deref());
        let who = if remark.role == "user" { "**user:** " } else { "" };
        let show = |limit| format!("- {who}{}{mark}\n", quote::prose(&cut::head(&remark.text, limit)));
        let (rank, order) = value(remark);
        let entry = Entry::new(section, REMARKS).order(order);
        out.push(entry.lengths(&[(rank, chars)], rank::WHOLE, show));
    }
}

/// What is shown of an earlier request and of another remark, in characters.
const ASKED_CHARS: usize = 200;
const REMARK_CHARS: usize = 330;

/// Whether it is a request that the agent has worked on since.
fn is_request(remark: &Remark) -> bool {
    remark.role == "request"
}

fn of_user(remark: &Remark) -> bool {
    matches!(remark.role.as_str(), "user" | "request" | "answer")
}

/// Rank of a remark, and its order among those of that rank.
pub(super) fn value(remark: &Remark) -> (u8, i64) {
    let rank = if of_user(remark) { rank::USER_REMARK } else { rank::REMARK };
    (rank, remark.importance.saturating_neg())
}

/// The weightiest remark that a turn tells by the part of it that is shown.
pub(super) fn covered_by<'p>(packet: &'p Packet, turn: &Message) -> Option<&'p Remark> {
    packet.remarks.iter().filter(|remark| covers(turn, remark)).min_by_key(|remark| value(remark))
}

fn covers(turn: &Message, remark: &Remark) -> bool {
    turn.at == remark.at && holds(&cut::head(&turn.text, TURN_CHARS), &remark.text)
}

/// Whether requests or last answer, as they are shown at the beginning, hold it.
fn is_covered_at_the_start(packet: &Packet, remark: &Remark) -> bool {
    let requests = packet.requests.iter().flat_map(|requests| [&requests.first, &requests.last]).flatten();
    let same = |text: &Text, cut: fn(&str, usize) -> String, chars: usize| {
        text.at == remark.at && holds(&cut(&text.text, chars), &remark.text)
    };
    requests.into_iter().any(|text| same(text, task::head, START_CHARS))
        || packet.last_answer.iter().any(|text| same(text, cut::ends, ANSWER_CHARS))
}

/// Whether the part of a text that is shown holds these words, piece by piece, however it is marked and broken.
fn holds(shown: &str, words: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let shown = bare(shown);
    words.split(['.', '!', '?', ';', ':', '—', '…']).all(|piece| shown.contains(&bare(piece)))
}
