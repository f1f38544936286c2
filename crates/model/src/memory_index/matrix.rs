//! The vectors of a project in one piece of memory, to be compared with a question one after the other.

use std::collections::BTreeMap;

use super::packed::{QuantizedVector, row_cosine};

/// Vectors of one dimension by the id of what they stand for. A thousand of 256 numbers take a third of a mebibyte.
#[derive(Debug, Clone, Default)]
pub struct Matrix {
    dimension: usize,
    steps: Vec<i8>,
    lengths: Vec<f32>,
    ids: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Matrix {
    /// Puts a vector in, or in the place of the one that was there. One of another dimension than the first is left out, as
    /// it cannot be compared with the others.
    pub fn put(&mut self, id: &str, vector: &QuantizedVector) {
        let (steps, length) = vector.parts();
        if self.ids.is_empty() {
            self.dimension = steps.len();
        }
        if steps.len() != self.dimension {
            return self.remove(id);
        }
        if let Some(place) = self.places.get(id).copied() {
            let from = place * self.dimension;
            if let (Some(row), Some(old)) =
                (self.steps.get_mut(from..from + self.dimension), self.lengths.get_mut(place))
            {
                row.copy_from_slice(steps);
                *old = length;
            }
            return;
        }
        self.places.insert(id.to_owned(), self.ids.len());
        self.ids.push(id.to_owned());
        self.steps.extend_from_slice(steps);
        self.lengths.push(length);
    }

    /// Takes a vector out; the last one takes its place.
    pub fn remove(&mut self, id: &str) {
        let Some(place) = self.places.remove(id) else { return };
        let last = self.ids.len() - 1;
        let (from, end) = (place * self.dimension, last * self.dimension);
        self.steps.copy_within(end.., from);
        self.steps.truncate(end);
        self.ids.swap_remove(place);
        self.lengths.swap_remove(place);
        if let Some(moved) = self.ids.get(place) {
            self.places.insert(moved.clone(), place);
        }
    }

    /// How many bytes it takes, about.
    pub fn bytes(&self) -> usize {
        self.ids.len() * (self.dimension + 160)
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// At most so many ids whose vectors point the same way by at least this cosine, the nearest first.
    pub fn nearest(&self, question: &QuantizedVector, floor: f32, limit: usize) -> Vec<(String, f64)> {
        let (steps, length) = question.parts();
        if steps.len() != self.dimension || self.dimension == 0 {
            return Vec::new();
        }
        let rows = self.steps.chunks_exact(self.dimension).zip(&self.lengths);
        let mut found: Vec<(f32, usize)> = rows
            .enumerate()
            .map(|(place, (row, row_length))| (row_cosine((steps, length), (row, *row_length)), place))
            .filter(|(cosine, _)| *cosine >= floor && *cosine > 0.0)
            .collect();
        if found.len() > limit {
            found.select_nth_unstable_by(limit, |(a, _), (b, _)| b.total_cmp(a));
            found.truncate(limit);
        }
        found.sort_by(|(a, i), (b, j)| b.total_cmp(a).then_with(|| self.ids.get(*i).cmp(&self.ids.get(*j))));
        let named = |(cosine, place): (f32, usize)| Some((self.ids.get(place)?.clone(), f64::from(cosine)));
        found.into_iter().filter_map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::hashing;
    use super::*;
    use proptest::prelude::*;

    fn packed(text: &str) -> QuantizedVector {
        QuantizedVector::of(&hashing(text))
    }

    #[test]
    fn the_nearest_come_first_and_what_is_far_does_not_come() {
        let mut matrix = Matrix::default();
        for (id, text) in
            [("a", "the cart rounds"), ("b", "redis rejected"), ("c", "redis was rejected again")]
        {
            matrix.put(id, &packed(text));
        }
        let found = matrix.nearest(&packed("rejecting redis"), 0.3, 10);
        assert_eq!(found.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(matrix.nearest(&packed("rejecting redis"), 0.3, 1).len(), 1);
        assert!(matrix.nearest(&QuantizedVector::of(&[1.0]), 0.0, 10).is_empty(), "of another space");
        matrix.put("a", &packed("redis"));
        assert_eq!(matrix.nearest(&packed("redis"), 0.9, 10)[0].0, "a");
        matrix.put("a", &QuantizedVector::of(&[1.0]));
        assert_eq!(matrix.len(), 2);
    }

    proptest! {
        #[test]
        fn it_holds_what_was_put_last(steps in prop::collection::vec((0_u8..6, prop::option::of(0_u8..5)), 0..40)) {
            let (mut matrix, mut plain) = (Matrix::default(), BTreeMap::new());
            for (id, word) in steps {
                let id = id.to_string();
                match word {
                    Some(word) => {
                        let vector = packed(["redis", "cart", "deploy", "friday", "token"][usize::from(word)]);
                        matrix.put(&id, &vector);
                        plain.insert(id, vector);
                    }
                    None => {
                        matrix.remove(&id);
                        plain.remove(&id);
                    }
                }
            }
            prop_assert_eq!(matrix.len(), plain.len());
            for (id, vector) in &plain {
                let found = matrix.nearest(vector, 0.99, 10);
                let same = plain.values().filter(|other| *other == vector).count();
                prop_assert_eq!(found.len(), same);
                prop_assert!(found.iter().any(|(there, _)| there == id));
            }
        }
    }
}
