//! Lists that do not grow without bound and know what they had to let go.

use std::collections::VecDeque;

/// A list of at most so many items; the oldest go first.
#[derive(Debug)]
pub(super) struct BoundedList<T> {
    items: VecDeque<T>,
    max: usize,
    /// How many items were let go.
    pub left_out: u64,
}

impl<T> BoundedList<T> {
    /// An empty list.
    pub(super) fn new(max: usize) -> Self {
        Self { items: VecDeque::new(), max, left_out: 0 }
    }

    /// Adds an item.
    pub(super) fn push(&mut self, item: T) {
        self.push_sparing(item, |_| false, 0);
    }

    /// Adds an item; if one must go, it is the oldest that is not precious and not among the last `fresh`.
    pub(super) fn push_sparing(&mut self, item: T, precious: impl Fn(&T) -> bool, fresh: usize) {
        self.items.push_back(item);
        if self.items.len() > self.max {
            let old = self.items.len().saturating_sub(fresh);
            let at = self.items.iter().take(old).position(|item| !precious(item)).unwrap_or(0);
            self.items.remove(at);
            self.left_out += 1;
        }
    }

    /// The items, oldest first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.items.iter()
    }

    /// Takes out what is not wanted any more; it does not count as let go.
    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.items.retain(keep);
    }

    /// The items, to be changed.
    pub(super) fn items_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.items.iter_mut()
    }

    /// Takes out the last item that satisfies.
    pub(super) fn take(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        let at = self.items.iter().rposition(wanted)?;
        self.items.remove(at)
    }

    /// Takes out the last item if it satisfies.
    pub(super) fn pop_if(&mut self, wanted: impl Fn(&T) -> bool) {
        if self.items.back().is_some_and(wanted) {
            self.items.pop_back();
        }
    }

    /// The items, oldest first.
    pub(super) fn into_vec(self) -> Vec<T> {
        self.items.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_precious_or_fresh_is_spared() {
        let mut list = BoundedList::new(4);
        for item in [10, 1, 10, 2, 3, 4, 5] {
            list.push_sparing(item, |item| *item == 10, 2);
        }
        assert_eq!(list.left_out, 3);
        assert_eq!(list.into_vec(), [10, 10, 4, 5]);
    }
}
