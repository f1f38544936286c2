//! Calls of one category: how many, and the most telling ones.

/// Number of sample calls for each category.
const SAMPLES: usize = 3;

/// Calls of one category.
#[derive(Debug, Default)]
pub(super) struct CategoryTally {
    /// How many.
    pub count: u64,
    /// The last few, the newest first.
    pub last: Vec<String>,
    /// The last that failed.
    pub failing: Option<String>,
    /// The one that took longest, and how long in milliseconds.
    pub longest: Option<(i64, String)>,
}

impl CategoryTally {
    /// The most telling calls: the last, the last that failed, the one that took longest; where these are fewer, also
    /// what came before the last.
    pub(super) fn samples(self) -> Vec<String> {
        let mut last = self.last.into_iter();
        let telling =
            [last.next(), self.failing, self.longest.map(|(_, sample)| sample)].into_iter().flatten();
        let mut samples: Vec<String> = Vec::new();
        for sample in telling.chain(last) {
            if samples.len() < SAMPLES && !samples.contains(&sample) {
                samples.push(sample);
            }
        }
        samples
    }

    /// Another call, how it ended and how long it took.
    pub(super) fn add(&mut self, sample: String, failed: bool, took: Option<i64>) {
        if failed {
            self.failing = Some(sample.clone());
        }
        if let Some(took) =
            took.filter(|took| self.longest.as_ref().is_none_or(|(longest, _)| took > longest))
        {
            self.longest = Some((took, sample.clone()));
        }
        self.last.retain(|known| *known != sample);
        self.last.insert(0, sample);
        self.last.truncate(SAMPLES);
    }
}
