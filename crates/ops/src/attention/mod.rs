//! `attention_list`: what needs a person, over all projects.

mod actions;
mod leases;
mod place;
mod scan;
mod sessions;
mod tasks;
mod text;

use baton_model::attention::{AttentionItem, Reason, Section};
use baton_model::refusal::Refusal;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::mailbox;
use crate::op::{Cx, Meta, Operation};
use crate::page::page_size;
use crate::project::VisibleProjects;
use place::Place;
pub use scan::MOST_OWN;
use scan::Scan;

/// Maximum number of attention items shown apart because they are the caller's.
const OWN: usize = 50;

/// Shows what needs a person.
pub struct Attention;

/// Input of `attention`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttentionInput {
    /// Only in this project; else in all.
    #[serde(default)]
    pub project: Option<String>,
    /// The identity that looks, else the caller's: what is for it, or its own, stands in `mine` as well.
    #[serde(default)]
    pub identity: Option<String>,
    /// Only for this reason: `session_silent`, `baton_starving`, …
    #[serde(default)]
    pub reason: Option<String>,
    /// Batons and hand-offs that were left only a short while ago, too.
    #[serde(default)]
    pub waiting: bool,
    /// Only this section of the inbox: `mine`, `concern` (what else needs a person), `waiting` (what else only waits).
    #[serde(default)]
    pub section: Option<String>,
    /// At most so many, 200 at the most; 50 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Number of attention items with a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCount {
    /// The reason.
    pub reason: Reason,
    /// How many.
    pub count: usize,
}

/// Number of attention items in each section of the inbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionCounts {
    /// For the identity that looks, or its own, up to 500.
    pub mine: usize,
    /// What else needs a person.
    pub concern: usize,
    /// What else only waits.
    pub waiting: usize,
}

/// Answer of `attention`.
#[derive(Serialize, Deserialize)]
pub struct AttentionOutput {
    /// The project, where one was named.
    pub project_id: Option<String>,
    /// On the first page of all sections: what is for the identity that looks, or its own, in the same order.
    pub mine: Vec<AttentionItem>,
    /// Cursor of the next page of the section `mine`; absent where `mine` is all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mine_next: Option<String>,
    /// The attention items of this page: silent agents that hold work, what is broken, what waits too long, what only waits, and of each
    /// the oldest first.
    pub items: Vec<AttentionItem>,
    /// How many there are: each item once, those on all pages of `items` and those that stand in `mine` alone. A question to the
    /// identity that looks stands there from the first minute on, and in `items` after an hour, or with `waiting`.
    pub total: usize,
    /// How many of them there are for each reason.
    pub counts: Vec<ReasonCount>,
    /// How many of them there are in each section; what is in the first is counted in no other.
    pub sections: SectionCounts,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

impl Operation for Attention {
    const META: Meta =
        Meta::read("attention_list", "List what needs a person in all projects, the worst first");
    type Input = AttentionInput;
    type Output = AttentionOutput;

    fn run(input: AttentionInput, cx: &mut Cx<'_>) -> Result<AttentionOutput, Failure> {
        let limit = page_size(input.limit, 50, 200);
        let position = input.cursor.as_deref().map(Place::parse).transpose()?.unwrap_or_else(Place::first);
        let visible = VisibleProjects::read(cx, input.project.as_deref(), input.project.is_none())?;
        let Cx { store, env } = cx;
        let viewer = input.identity.clone().or_else(|| mailbox(env, None));
        let mut scan = Scan::new(env, &visible, &input, viewer.as_deref())?;
        let section = scan.section;
        store.read(|tx| {
            scan.count(tx)?;
            let mut mine = scan.own_items(tx)?;
            scan.count_own(&mine);
            let sections = scan.sections(&mine);
            let mut items = match section {
                None => scan.page(tx, &position, "", limit + 1)?,
                Some(Section::Mine) => {
                    mine.iter().filter(|one| Place::of(one) > position).take(limit + 1).cloned().collect()
                }
                Some(_) => scan.others(tx, &position, &mine, limit + 1)?,
            };
            let last = if items.len() > limit { items.get(limit.saturating_sub(1)) } else { None };
            let next = last.map(|last| Place::of(last).to_string());
            items.truncate(limit);
            let last = if mine.len() > OWN { mine.get(OWN - 1) } else { None };
            let mine_next = last
                .filter(|_| section.is_none() && input.cursor.is_none())
                .map(|last| Place::of(last).to_string());
            // Further pages of all sections have nothing apart.
            let is_first = section.is_none() && input.cursor.is_none();
            mine.truncate(if is_first { OWN } else { 0 });
            for item in items.iter_mut().chain(&mut mine) {
                text::add(tx, env, item, &scan.viewer)?;
                item.actions.retain(|one| one.is_permitted(&env.caller.grant));
            }
            let counts: Vec<ReasonCount> =
                scan.counts.iter().map(|(&reason, &count)| ReasonCount { reason, count }).collect();
            let total = counts.iter().map(|row| row.count).sum();
            Ok(AttentionOutput {
                project_id: visible.only.clone(),
                mine,
                mine_next,
                items,
                total,
                counts,
                sections,
                next,
            })
        })
    }
}

fn read_reason(word: &str) -> Result<Reason, Refusal> {
    Reason::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        let what = format!("`{}` is no reason for attention", baton_model::id::visible(word));
        Refusal::invalid("reason_unknown", what, format!("use one of {}", known.join(", ")))
    })
}

fn read_section(word: &str) -> Result<Section, Refusal> {
    Section::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = Section::ALL.iter().map(|section| section.as_str()).collect();
        let what = format!("`{}` is no section of the inbox", baton_model::id::visible(word));
        Refusal::invalid("section_unknown", what, format!("use one of {}", known.join(", ")))
    })
}
