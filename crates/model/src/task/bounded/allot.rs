//! How many bytes each part of a packet gets.

use super::fit::{LEAST, can_be_cut};
use super::{Part, Rank};

/// The bytes for the value of each part; none for one that is left out. What an agent of the role needs shares two thirds of the room
/// fairly, or what the rest leaves of it: what is shorter than a fair share is whole. The rest takes turns, the shortest first.
pub(super) fn allot(parts: &[Part], room: usize) -> Vec<Option<usize>> {
    let of = |rank: Rank| (0..parts.len()).filter(move |at| parts[*at].rank == rank).collect::<Vec<_>>();
    let (needed, others) = (of(Rank::Needed), of(Rank::Other));
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
    shortest_first(parts, &others, least_for_others, &mut allotted);
    let room_for_needed = left(&allotted);
    share(parts, needed, room_for_needed, &mut allotted);
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

/// A fair share for each: no part is cut below what another one gets.
fn share(parts: &[Part], mut places: Vec<usize>, room: usize, allotted: &mut [Option<usize>]) {
    let mut dropped = Vec::new();
    while let Some(worst) = unfit(parts, &places, room) {
        dropped.push(places.remove(worst));
    }
    // One that was left out for a longer one has room again.
    dropped.sort_by_key(|at| parts[*at].size());
    for at in dropped {
        places.push(at);
        if unfit(parts, &places, room).is_some() {
            places.pop();
        }
    }
    let level = level(parts, &places, room);
    for at in places {
        allotted[at] = Some(parts[at].size().min(level));
    }
}

/// The last of those that a fair share is too small for.
fn unfit(parts: &[Part], places: &[usize], room: usize) -> Option<usize> {
    let level = level(parts, places, room);
    places.iter().rposition(|at| {
        let part = &parts[*at];
        part.size() > level && (level < LEAST || !can_be_cut(part.value))
    })
}

/// The bytes that a part has at most, so that all of them fit.
fn level(parts: &[Part], places: &[usize], room: usize) -> usize {
    let overhead: usize = places.iter().map(|at| parts[*at].overhead).sum();
    let mut sizes: Vec<usize> = places.iter().map(|at| parts[*at].size()).collect();
    sizes.sort_unstable();
    let mut room = room.saturating_sub(overhead);
    for (at, size) in sizes.iter().enumerate() {
        let share = room / (sizes.len() - at);
        if *size > share {
            return share;
        }
        room -= size;
    }
    usize::MAX
}
