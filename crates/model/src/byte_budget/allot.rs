//! How many bytes each part gets.

use super::fit::{LEAST, can_be_cut, least, truncate};
use super::{Part, Rank};

/// The bytes for the value of each part; none for one that is left out. What the reader needs shares two thirds of the room
/// fairly, or what the rest leaves of it: what is shorter than a fair share is whole. The rest takes turns, the shortest first.
pub(super) fn allot(parts: &[Part], room: usize) -> Vec<Option<usize>> {
    let of = |rank: Rank| (0..parts.len()).filter(move |at| parts[*at].rank == rank).collect::<Vec<_>>();
    let (first, others) = (of(Rank::First), of(Rank::Other));
    let needed = [first, of(Rank::Needed), of(Rank::Last)].concat();
    let total = |places: &[usize]| places.iter().map(|at| parts[*at].cost()).sum::<usize>();
    let mut allotted: Vec<Option<usize>> = vec![None; parts.len()];
    let left = |allotted: &[Option<usize>]| {
        let used = parts.iter().zip(allotted).filter_map(|(part, size)| Some((*size)? + part.overhead));
        room.saturating_sub(used.sum())
    };
    let least_for_others = total(&others).min(room / 3);
    if total(&needed) + least_for_others <= room {
        needed.iter().for_each(|at| allotted[*at] = Some(parts[*at].size()));
        shortest_first(parts, &others, left(&allotted), &mut allotted);
        return allotted;
    }
    // The rest gives its third back where a part that is needed would be missing without it.
    for reserve in [least_for_others, least_for_others / 2, 0] {
        allotted.fill(None);
        shortest_first(parts, &others, reserve, &mut allotted);
        let room_for_needed = left(&allotted);
        share(parts, &needed, room_for_needed, &mut allotted);
        let is_shown =
            |at: &usize| allotted[*at].is_some_and(|size| truncate(parts[*at].value, size).is_some());
        if needed.iter().all(is_shown) {
            break;
        }
    }
    // What could not be used goes to the others once more.
    let of_others: usize = others.iter().filter_map(|at| Some(allotted[*at]? + parts[*at].overhead)).sum();
    let unused = left(&allotted) + of_others;
    shortest_first(parts, &others, unused, &mut allotted);
    allotted
}

/// Whole parts, the shortest first, and the beginning of the next.
fn shortest_first(parts: &[Part], places: &[usize], mut room: usize, allotted: &mut [Option<usize>]) {
    let mut places = places.to_vec();
    places.sort_by_key(|at| parts[*at].size());
    for at in places {
        let part = &parts[at];
        let free = room.saturating_sub(part.overhead);
        allotted[at] = match () {
            () if part.size() <= free => Some(part.size()),
            () if free > LEAST && can_be_cut(part.value) => Some(free),
            () => None,
        };
        room = room.saturating_sub(allotted[at].map_or(0, |size| size + part.overhead));
    }
}

/// A fair share for each: no part is cut below what another one gets, but each is shown with its least, the first ones before those
/// that come later where there is no room for all. One whose least takes more than a third of the room comes last.
fn share(parts: &[Part<'_>], places: &[usize], room: usize, allotted: &mut [Option<usize>]) {
    let mut places = places.to_vec();
    places.sort_by_key(|at| minimum(&parts[*at]) > room / 3);
    let mut used = 0;
    places.retain(|at| {
        let cost = minimum(&parts[*at]) + parts[*at].overhead;
        let is_shown = used + cost <= room;
        used += if is_shown { cost } else { 0 };
        is_shown
    });
    let sizes = shown_sizes(parts, &places, room);
    for (at, size) in places.into_iter().zip(sizes) {
        allotted[at] = Some(size);
    }
}

/// The bytes below which a part is not shown.
fn minimum(part: &Part<'_>) -> usize {
    if can_be_cut(part.value) { least(part.value).min(part.size()) } else { part.size() }
}

/// The bytes that each of the parts gets, so that all of them fit.
fn shown_sizes(parts: &[Part<'_>], places: &[usize], room: usize) -> Vec<usize> {
    let overhead: usize = places.iter().map(|at| parts[*at].overhead).sum();
    let room = room.saturating_sub(overhead);
    let of = |level: usize| {
        let size = |at: &usize| parts[*at].size().min(level.max(minimum(&parts[*at])));
        places.iter().map(size).collect::<Vec<usize>>()
    };
    // The highest level at which all of them fit.
    let (mut fits, mut over) = (0, room + 1);
    while fits + 1 < over {
        let level = usize::midpoint(fits, over);
        match of(level).iter().sum::<usize>() <= room {
            true => fits = level,
            false => over = level,
        }
    }
    of(fits)
}
