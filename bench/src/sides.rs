//! Two sides measured by turns, and what their pairs say.

use std::time::Instant;

use anyhow::Result;

/// Seconds of the reference and of what is measured, pair by pair.
#[derive(Debug, Default, Clone)]
pub struct Sides {
    reference: Vec<f64>,
    subject: Vec<f64>,
}

/// Median with the tenth and ninetieth percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Half lie below.
    pub median: f64,
    /// A tenth lie below.
    pub p10: f64,
    /// A tenth lie above.
    pub p90: f64,
    /// How many there are.
    pub runs: usize,
}

impl Sides {
    /// Adds a pair.
    pub fn push(&mut self, reference: f64, subject: f64) {
        self.reference.push(reference);
        self.subject.push(subject);
    }

    /// Subject ÷ reference of each pair.
    pub fn ratio(&self) -> Spread {
        spread(self.reference.iter().zip(&self.subject).map(|(r, s)| s / r).collect())
    }

    /// Reference ÷ subject of each pair.
    pub fn inverse(&self) -> Spread {
        spread(self.reference.iter().zip(&self.subject).map(|(r, s)| r / s).collect())
    }

    /// What is measured, by itself.
    pub fn subject(&self) -> Spread {
        spread(self.subject.clone())
    }

    /// The reference by itself.
    pub fn reference(&self) -> Spread {
        spread(self.reference.clone())
    }
}

/// Median and percentiles.
pub fn spread(mut values: Vec<f64>) -> Spread {
    values.sort_by(f64::total_cmp);
    let at = |part: f64| quantile(&values, part);
    Spread { median: at(0.5), p10: at(0.1), p90: at(0.9), runs: values.len() }
}

/// The value below which a part of the sorted values lies.
pub fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = (last as f64 * part).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// Seconds that something takes.
pub fn timed<T>(what: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let begin = Instant::now();
    let value = what()?;
    Ok((begin.elapsed().as_secs_f64(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_compared_one_by_one() {
        let mut sides = Sides::default();
        for (reference, subject) in [(1.0, 2.0), (10.0, 20.0), (2.0, 6.0)] {
            sides.push(reference, subject);
        }
        let ratio = sides.ratio();
        assert_eq!((ratio.median, ratio.p10, ratio.p90, ratio.runs), (2.0, 2.0, 3.0, 3));
        assert_eq!(sides.inverse().median, 0.5);
    }

    #[test]
    fn nothing_has_no_median() {
        assert!(spread(Vec::new()).median.is_nan());
    }
}
