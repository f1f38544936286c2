//! The vectors of a try: few texts at once where the model is slow or takes no more, and none for a text that it does not take.

use std::collections::BTreeMap;
use std::time::Instant;

use baton_model::memory::Memory;
use baton_model::memory_index::QuantizedVector;
use baton_ops::memory_index::text_of;
use baton_store::{Failure, Store, memory, vector};
use reqwest::StatusCode;

use super::{EarlyStop, GROWS, Worker};
use crate::memory_index::ServiceError;

/// Texts that are embedded at once, at a first try. A model that was too slow for them is asked for half at the next.
const BATCH_SIZE: usize = 32;
/// What every model has a vector for.
const PROBE: &str = "-";

impl Worker<'_> {
    /// The vectors of these memories: those that the ledger has, and new ones for the rest, which it has as soon as they are made,
    /// so that a try that is cut off was not for nothing. One whose text the model does not take has a vector of zeros here, which
    /// points nowhere, and none in the ledger.
    pub(super) fn vectors(
        &self,
        store: &mut Store,
        project: &str,
        live: &[Memory],
        (tries, deadline): (i64, Instant),
    ) -> Result<BTreeMap<String, QuantizedVector>, EarlyStop> {
        let mut vectors = self.stored_vectors(store, project, live)?;
        let lacking: Vec<&Memory> =
            live.iter().filter(|memory| !vectors.contains_key(&memory.memory_id)).collect();
        let mut parts: Vec<&[&Memory]> = lacking.chunks(batch(tries)).rev().collect();
        let (mut refused, mut dimension) = (Vec::new(), None);
        while let Some(part) = parts.pop() {
            let texts: Vec<String> = part.iter().map(|memory| text_of(memory)).collect();
            let trouble = match self.wait(deadline, self.outside.embed(&texts)) {
                Ok(made) => {
                    dimension = dimension.or(made.first().map(QuantizedVector::dimension));
                    let made = part.iter().map(|memory| memory.memory_id.clone()).zip(made).collect();
                    self.keep(store, project, part, &made)?;
                    vectors.extend(made);
                    continue;
                }
                Err(trouble) if is_of_the_texts(&trouble) => trouble,
                Err(trouble) => return Err(trouble.into()),
            };
            let [memory] = part else {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([second, first]);
                continue;
            };
            let late = trouble.status == Some(StatusCode::REQUEST_TIMEOUT.as_u16());
            // A model that is being loaded is late as well.
            if late && tries < GROWS {
                return Err(trouble.into());
            }
            // Only who takes another text has something against this one.
            if late || dimension.is_none() {
                let made = self.wait(deadline, self.outside.embed(&[PROBE.to_owned()]))?;
                dimension = made.first().map(QuantizedVector::dimension);
            }
            let (id, why) = (&memory.memory_id, &trouble.why);
            tracing::warn!(%project, memory = %id, %why, "a memory has no vector: it is found by its words alone");
            refused.push(id.clone());
        }
        let nowhere = QuantizedVector::of(&vec![0.0; dimension.unwrap_or_default()]);
        vectors.extend(refused.into_iter().map(|id| (id, nowhere.clone())));
        Ok(vectors)
    }

    /// The vectors that the ledger has.
    fn stored_vectors(
        &self,
        store: &mut Store,
        project: &str,
        live: &[Memory],
    ) -> Result<BTreeMap<String, QuantizedVector>, Failure> {
        let embedder = self.outside.embedder();
        store.read(|tx| {
            let mut known = BTreeMap::new();
            for memory in live {
                let row = vector::get(tx, project, &memory.memory_id)?;
                let packed = row.filter(|row| row.embedder == embedder).and_then(|row| row.packed);
                known.extend(packed.map(|packed| (memory.memory_id.clone(), packed)));
            }
            Ok(known)
        })
    }

    fn keep(
        &self,
        store: &mut Store,
        project: &str,
        of: &[&Memory],
        made: &BTreeMap<String, QuantizedVector>,
    ) -> Result<(), Failure> {
        store.write(&[project], |tx| {
            let seq = tx.next_seq(project)?;
            for known in of {
                // A text that changed meanwhile has an effect of its own.
                let now = memory::get(tx, project, &known.memory_id)?;
                if now.is_some_and(|now| now.text == known.text && now.withdrawn_at.is_none())
                    && let Some(packed) = made.get(&known.memory_id)
                {
                    vector::put(tx, (project, &known.memory_id), seq, self.outside.embedder(), packed)?;
                }
            }
            Ok(())
        })
    }
}

/// How many texts are embedded at once at this try.
fn batch(tries: i64) -> usize {
    BATCH_SIZE >> tries.clamp(1, GROWS).abs_diff(1)
}

/// Whether fewer or other texts could have been embedded: too long, too many, too slow. Keys, addresses and quotas are the same
/// for all.
fn is_of_the_texts(trouble: &ServiceError) -> bool {
    trouble
        .status
        .is_some_and(|status| (400..500).contains(&status) && !matches!(status, 401 | 403 | 404 | 429))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_model_is_asked_for_ever_less() {
        assert_eq!([0, 1, 2, 5, 6, 60].map(batch), [32, 32, 16, 2, 1, 1]);
    }

    #[test]
    fn what_concerns_every_text_is_not_the_texts_fault() {
        let with = |status| ServiceError { status, ..ServiceError::new("w") };
        let blamed: Vec<u16> = [400, 401, 403, 404, 408, 413, 422, 429, 500, 503]
            .into_iter()
            .filter(|s| is_of_the_texts(&with(Some(*s))))
            .collect();
        assert_eq!((blamed, is_of_the_texts(&with(None))), (vec![400, 408, 413, 422], false));
    }
}
