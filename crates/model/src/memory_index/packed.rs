//! A vector in a byte for each number: what is kept of it. Only its direction counts, so its length is not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// A direction, with 127 steps to either side.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedVector {
    steps: Vec<i8>,
    length: f32,
}

impl QuantizedVector {
    /// Packs a vector. Numbers that are none count as 0.
    #[allow(clippy::cast_possible_truncation, reason = "within 127 either way")]
    pub fn of(vector: &[f32]) -> Self {
        let finite = |value: f32| if value.is_finite() { value } else { 0.0 };
        let largest = vector.iter().fold(0.0_f32, |most, value| most.max(finite(*value).abs()));
        let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        Self::new(
            vector.iter().map(|value| (finite(*value) * scale).round().clamp(-127.0, 127.0) as i8).collect(),
        )
    }

    #[allow(clippy::cast_precision_loss, reason = "a length need not be exact to the last bit")]
    fn new(steps: Vec<i8>) -> Self {
        let length = (dot(&steps, &steps) as f32).sqrt();
        Self { steps, length }
    }

    /// As text.
    pub fn to_text(&self) -> String {
        let bytes: Vec<u8> = self.steps.iter().map(|step| step.cast_unsigned()).collect();
        STANDARD_NO_PAD.encode(bytes)
    }

    /// What [`to_text`](Self::to_text) wrote; nothing else is one.
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = STANDARD_NO_PAD.decode(text).ok().filter(|bytes| !bytes.is_empty())?;
        Some(Self::new(bytes.into_iter().map(u8::cast_signed).collect()))
    }

    /// The direction as numbers, of length 1.
    pub fn unpacked(&self) -> Vec<f32> {
        let length = if self.length > 0.0 { self.length } else { 1.0 };
        self.steps.iter().map(|step| f32::from(*step) / length).collect()
    }

    /// How many numbers it has.
    pub fn dimension(&self) -> usize {
        self.steps.len()
    }

    /// The steps, and the length of the vector of steps.
    pub fn parts(&self) -> (&[i8], f32) {
        (&self.steps, self.length)
    }
}

/// How much two vectors point the same way: 1 the same, 0 nothing in common; 0 as well where they are of different spaces.
pub fn cosine(a: &QuantizedVector, b: &QuantizedVector) -> f32 {
    if a.steps.len() != b.steps.len() {
        return 0.0;
    }
    row_cosine((&a.steps, a.length), (&b.steps, b.length))
}

/// [`cosine`] of two rows of one matrix, each with its length.
#[allow(clippy::cast_precision_loss, reason = "a ratio need not be exact to the last bit")]
pub(super) fn row_cosine((a, a_length): (&[i8], f32), (b, b_length): (&[i8], f32)) -> f32 {
    let lengths = a_length * b_length;
    if lengths > 0.0 { dot(a, b) as f32 / lengths } else { 0.0 }
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_vector_is_refused() {
        for text in ["", "=", "a b", "ä"] {
            assert_eq!(QuantizedVector::from_text(text), None, "{text}");
        }
        assert!(cosine(&QuantizedVector::of(&[1.0]), &QuantizedVector::of(&[1.0, 0.0])).abs() < f32::EPSILON);
        assert_eq!(
            QuantizedVector::of(&[f32::NAN, f32::INFINITY, 2.0]),
            QuantizedVector::of(&[0.0, 0.0, 1.0])
        );
    }

    proptest! {
        #[test]
        fn a_direction_is_kept_to_a_hundredth(vector in prop::collection::vec(-1.0_f32..1.0, 8..64)) {
            let packed = QuantizedVector::of(&vector);
            prop_assert_eq!(QuantizedVector::from_text(&packed.to_text()), Some(packed.clone()));
            let again = packed.unpacked();
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            let dot: f32 = vector.iter().zip(&again).map(|(a, b)| a * b).sum();
            if length(&vector) > 0.01 {
                prop_assert!(dot / length(&vector) / length(&again) > 0.99);
            }
            prop_assert!(cosine(&packed, &packed) > 0.999 || length(&vector) < 0.01);
        }
    }
}
