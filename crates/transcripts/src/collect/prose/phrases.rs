//! The lists of phrases that prose is looked through for, and sentences that are looked through once for all of them.

use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::OnceLock;

use super::{attempts, constraints, decisions, questions, steps};
use crate::shared::phrases::PhraseIndex;

/// Names every list, so that none can be asked for that the index does not hold.
macro_rules! lists {
    ($($list:ident => $phrases:expr,)*) => {
        /// A list of phrases, each looked for as whole words anywhere in a sentence.
        #[derive(Debug, Clone, Copy)]
        pub(super) enum List { $($list),* }

        /// The phrases of each list, in the order of [`List`].
        const PHRASES: &[&[&str]] = &[$($phrases),*];
    };
}

lists! {
    Act => decisions::ACT,
    Against => decisions::AGAINST,
    AsItIs => constraints::AS_IT_IS,
    Ask => questions::ASK,
    Better => decisions::BETTER,
    But => attempts::BUT,
    Checks => questions::CHECKS,
    Choose => decisions::CHOOSE,
    Command => constraints::COMMAND,
    Compare => decisions::COMPARE,
    Decide => decisions::DECIDE,
    Failed => attempts::FAILED,
    FailedWithReason => attempts::WITH_REASON,
    Forbid => constraints::FORBID,
    GoOn => constraints::GO_ON,
    GoesOn => decisions::GOES_ON,
    Good => attempts::GOOD,
    Insistence => constraints::INSISTENCE,
    Instead => decisions::INSTEAD,
    JustLook => constraints::JUST_LOOK,
    Open => questions::OPEN,
    Options => decisions::OPTIONS,
    Order => constraints::ORDER,
    Over => decisions::OVER,
    Refrain => constraints::REFRAIN,
    Refuse => constraints::REFUSE,
    RefuseToHave => constraints::REFUSE_TO_HAVE,
    Reject => decisions::REJECT,
    Remaining => steps::REMAINING,
    Report => constraints::REPORT,
    Reports => decisions::REPORTS,
    Standing => constraints::STANDING,
    Stay => constraints::STAY,
    Discussion => constraints::DISCUSSION,
    Try => attempts::TRY,
    UserDecides => decisions::USER_DECIDES,
    Waits => steps::WAITS,
    Ways => attempts::WAYS,
    Win => decisions::WIN,
}

/// A sentence in small letters, with plain apostrophes. It is looked through once, when the first list is asked for.
#[derive(Debug)]
pub(super) struct Lowered {
    text: String,
    found: OnceCell<u64>,
}

impl Deref for Lowered {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// In small letters, with plain apostrophes.
pub(super) fn lowered(sentence: &str) -> Lowered {
    let mut text = sentence.to_lowercase();
    if text.contains('’') {
        text = text.replace('’', "'");
    }
    Lowered { text, found: OnceCell::new() }
}

/// Whether a phrase of the list stands in the sentence.
pub(super) fn has(lower: &Lowered, list: List) -> bool {
    static INDEX: OnceLock<PhraseIndex> = OnceLock::new();
    let find = || INDEX.get_or_init(|| PhraseIndex::new(PHRASES)).find(&lower.text);
    lower.found.get_or_init(find) & (1 << list as u64) != 0
}
