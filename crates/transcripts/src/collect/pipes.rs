//! The filters through which the checks of a command line ran.

use super::check_filter::is_work;
use super::importance::{Importance, importance};
use super::steps::{bare, chain, without_settings};

/// The checks of a command line that ran through a pipe, without the filters.
pub(super) fn piped_commands(line: &str) -> Vec<String> {
    let steps = chain(line)
        .into_iter()
        .filter(|step| is_work(&step.text) && pipe(&step.text, Importance::Some).is_some());
    steps.map(|step| without_settings(bare(&step.text)).to_owned()).collect()
}

/// For each check of a command line that ran through a pipe, the filters that it ran through.
pub(super) fn piped_steps(line: &str) -> Vec<Vec<String>> {
    chain(line)
        .iter()
        .filter(|step| is_work(&step.text))
        .filter_map(|step| pipe(&step.text, Importance::Some))
        .collect()
}

/// The filters through which a step runs that matters so much, if there are any.
pub(super) fn pipe(step: &str, least: Importance) -> Option<Vec<String>> {
    let (mut quote, mut before, mut bars) = (None, ' ', Vec::new());
    for (at, c) in step.char_indices() {
        match (quote, c) {
            _ if before == '\\' => {}
            (Some(open), _) if open == c => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            // `>|` writes to a file.
            (None, '|') if before != '>' => bars.push(at),
            _ => {}
        }
        before = if before == '\\' { ' ' } else { c };
    }
    let first = step.get(..*bars.first()?)?;
    let ends = bars.iter().skip(1).copied().chain([step.len()]);
    let filters = bars.iter().zip(ends).filter_map(|(from, to)| step.get(from + 1..to));
    let bare = |filter: &str| filter.trim_start_matches('&').trim().to_owned();
    (importance(first) >= least).then(|| filters.map(bare).collect())
}
