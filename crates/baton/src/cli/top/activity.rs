//! What a session did over the last hours, as block characters, and what it holds and used, in words.

use baton_model::id::visible;
use baton_ops::session::{HistoryRow, TokenUsage};

/// From nothing to the most.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Hours that one character stands for: the column is narrow.
const HOURS: usize = 2;

/// A line of block characters, the earliest hours first; what is not nothing is seen as such.
pub(super) fn blocks(counts: &[u32]) -> String {
    let sums: Vec<u32> = counts
        .chunks(HOURS)
        .map(|hours| hours.iter().fold(0, |sum: u32, one| sum.saturating_add(*one)))
        .collect();
    let most = sums.iter().copied().max().unwrap_or_default().max(1);
    let top = BLOCKS.len() - 1;
    let level = |sum: u32| {
        let share = u64::from(sum) * top as u64;
        usize::try_from(share.div_ceil(u64::from(most))).unwrap_or(top).min(top)
    };
    sums.into_iter().filter_map(|sum| BLOCKS.get(level(sum))).collect()
}

/// Its words with what it holds and used.
pub(super) fn usage_line(of: &HistoryRow, words: String) -> String {
    let baton = of.session.baton_id.as_ref().map(|_| "holds a baton".to_owned());
    let handoffs = match of.handoffs.as_slice() {
        [] => None,
        [one] => Some(format!("accepted {}", visible(&one.subject))),
        more => Some(format!("accepted {} hand-offs", more.len())),
    };
    let leases = (!of.leases.is_empty()).then(|| format!("works on {}", of.leases.join(", ")));
    let used = of.tokens.map(|tokens| format!("{} tokens", brief(tokens)));
    let parts = [
        Some(words).filter(|words| !words.is_empty()),
        baton,
        handoffs,
        leases.map(|text| visible(&text)),
        used,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A number of tokens in at most six characters: `1.5k`.
fn brief(tokens: TokenUsage) -> String {
    match tokens.total() {
        few if few < 1_000 => few.to_string(),
        some if some < 1_000_000 => format!("{}.{}k", some / 1_000, some % 1_000 / 100),
        many => format!("{}.{}M", many / 1_000_000, many % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activity_is_a_line_of_blocks_in_which_little_is_not_nothing() {
        assert_eq!(blocks(&[0, 0, 1, 0, 50, 50, 0, 100, 0, 0, 200, 0]), "▁▂▅▅▁█");
        assert_eq!(blocks(&[0; 12]), "▁▁▁▁▁▁");
        assert_eq!(blocks(&[]), "");
    }

    #[test]
    fn tokens_are_told_briefly() {
        let of = |input| brief(TokenUsage { input, cache_read: 0, cache_write: 0, output: 0 });
        assert_eq!([of(999), of(1_540), of(2_345_678)], ["999", "1.5k", "2.3M"]);
    }
}
