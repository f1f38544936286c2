//! Rank fusion: merges several rankings by position alone, because their scores are not comparable.

use std::collections::BTreeMap;

/// How much the first places stand out: the smaller, the more.
const K: f64 = 10.0;

/// Reciprocal rank fusion. Each ranking is ids with scores of its own, in any order; what scores alike shares a place. The
/// answer has every id once, from 0 to 1, where 1 is first in all rankings that say anything; best first, then by id.
pub fn fuse<T: Ord + Clone>(rankings: &[Vec<(T, f64)>]) -> Vec<(T, f64)> {
    let speaking = rankings.iter().filter(|ranking| !ranking.is_empty()).count().max(1);
    #[allow(clippy::cast_precision_loss, reason = "a handful")]
    let best = speaking as f64 / (K + 1.0);
    let mut sums: BTreeMap<T, f64> = BTreeMap::new();
    for ranking in rankings {
        for (id, place) in places(ranking) {
            *sums.entry(id).or_default() += 1.0 / (K + place) / best;
        }
    }
    let mut all: Vec<(T, f64)> = sums.into_iter().collect();
    all.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    all
}

/// Each id with its place, from 1; an id that stands twice counts where it is better.
#[allow(clippy::cast_precision_loss, reason = "places are few")]
fn places<T: Ord + Clone>(ranking: &[(T, f64)]) -> BTreeMap<T, f64> {
    let mut sorted: Vec<&(T, f64)> = ranking.iter().collect();
    sorted.sort_by(|(_, x), (_, y)| y.total_cmp(x));
    let mut places = BTreeMap::new();
    for same in sorted.chunk_by(|(_, x), (_, y)| x.total_cmp(y).is_eq()) {
        let place = places.len() as f64 + 1.0;
        for (id, _) in same {
            places.entry(id.clone()).or_insert(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn first_in_all_rankings_is_one() {
        let fused = fuse(&[vec![("a", 9.0), ("b", 1.0)], vec![("a", 0.5), ("c", 0.4)], vec![]]);
        assert_eq!(fused[0], ("a", 1.0));
        assert_eq!(fused.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn what_scores_alike_shares_a_place() {
        let fused = fuse(&[vec![("a", 2.0), ("b", 2.0), ("c", 1.0)]]);
        assert!((fused[0].1 - fused[1].1).abs() < 1e-12);
        assert!((fused[2].1 - 11.0 / 13.0).abs() < 1e-12, "two stand before it");
    }

    fn rankings() -> impl Strategy<Value = Vec<Vec<(u8, f64)>>> {
        let ranking = prop::collection::vec((0_u8..12, 0_u8..6), 0..10);
        let as_scores = |r: Vec<(u8, u8)>| r.into_iter().map(|(id, score)| (id, f64::from(score))).collect();
        prop::collection::vec(ranking.prop_map(as_scores), 0..4)
    }

    proptest! {
        #[test]
        fn every_id_stands_once_between_none_and_one(all in rankings()) {
            let fused = fuse(&all);
            let mut ids: Vec<u8> = fused.iter().map(|(id, _)| *id).collect();
            let mut wanted: Vec<u8> = all.iter().flatten().map(|(id, _)| *id).collect();
            ids.sort_unstable();
            wanted.sort_unstable();
            wanted.dedup();
            prop_assert_eq!(ids, wanted);
            prop_assert!(fused.iter().all(|(_, score)| *score > 0.0 && *score <= 1.0 + 1e-9));
            prop_assert!(fused.windows(2).all(|two| two[0].1 >= two[1].1));
        }

        #[test]
        fn order_in_and_of_rankings_does_not_matter(all in rankings()) {
            let mut turned = all.clone();
            turned.reverse();
            turned.iter_mut().for_each(|ranking| ranking.reverse());
            let (a, b) = (fuse(&all), fuse(&turned));
            prop_assert!(a.iter().zip(&b).all(|((i, x), (j, y))| i == j && (x - y).abs() < 1e-9 || (x - y).abs() < 1e-9));
        }

        #[test]
        fn who_is_better_everywhere_is_better(all in rankings(), worse in 0_u8..12) {
            let raised: Vec<Vec<(u8, f64)>> =
                all.iter().map(|r| r.iter().copied().chain([(99, 7.0)]).collect()).collect();
            let fused = fuse(&raised);
            if !raised.is_empty() {
                prop_assert_eq!(fused[0].0, 99);
                prop_assert!(fused.iter().all(|(id, score)| *id != worse || *score < fused[0].1));
            }
        }
    }
}
