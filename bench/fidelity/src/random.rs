//! Numbers that look random and are the same for the same seed.

/// SplitMix64.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// A row of numbers for this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, 0 where that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    /// A number from `from` up to, not including, `to`.
    pub fn in_range(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to.saturating_sub(from))
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// All of these in another order.
    pub fn shuffled<T: Copy>(&mut self, from: &[T]) -> Vec<T> {
        let mut mixed = from.to_vec();
        for at in (1..mixed.len()).rev() {
            mixed.swap(at, self.below(at + 1));
        }
        mixed
    }

    /// A hexadecimal word.
    pub fn hex(&mut self, digits: usize) -> String {
        format!("{:016x}{:016x}", self.next(), self.next())[..digits.min(32)].to_owned()
    }
}
