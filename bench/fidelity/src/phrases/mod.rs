//! How people and agents say things. `{x}` is filled from a world, `{X}` the same with a capital; what stands in
//! `[brackets]`, and every filling, has to be found in a document for the fact to count.
//!
//! The sentences were written before the rules that have to find them were read, and those of `held` are never looked
//! at when the rules are changed: their share is the honest one.

mod blind;
mod fresh;
mod held_out;
mod tune;

/// One way of speaking, per kind of fact.
pub struct Phrases {
    /// The user insists: `{x}` is a thing to keep as it is.
    pub protect: &'static [&'static str],
    /// The user insists: `{v}` is something not to do (an infinitive without "to").
    pub forbid: &'static [&'static str],
    /// The user insists: `{v}` is something to do always.
    pub require: &'static [&'static str],
    /// The agent decides: `{c}` chosen, `{r}` rejected, `{w}` the reason.
    pub decide: &'static [&'static str],
    /// The user decides.
    pub rule: &'static [&'static str],
    /// What failed: `{g}` a gerund, `{w}` why.
    pub attempt: &'static [&'static str],
    /// A question in the last answer: `{q}` a clause after "whether".
    pub ask: &'static [&'static str],
    /// A question put aside in the middle of the work.
    pub park: &'static [&'static str],
    /// What comes next, in the last answer: `{n}` an infinitive without "to".
    pub next: &'static [&'static str],
    /// A decision of before is taken back: `{c}` the new, `{r}` the old one.
    pub overrule: &'static [&'static str],
}

/// The sentences that the rules may be tried on.
pub const TUNE: &Phrases = &tune::PHRASES;
/// The sentences that are kept for the figure.
pub const HELD: &Phrases = &held_out::PHRASES;

/// Those of another hand.
pub const FRESH: &Phrases = &fresh::PHRASES;

/// Those of a hand that had read no rule, once the rules knew `FRESH`.
pub const BLIND: &Phrases = &blind::PHRASES;
