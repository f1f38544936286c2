//! Random histories of two clones of one repository, each with a ledger of its own: whatever git does to the file, nothing that
//! was done is lost, nothing older undoes what is newer, and both end with the same.

mod clone;

use std::collections::BTreeMap;

use clone::{File, RepoClone, Tree};

use super::*;

/// Numbers that look random; the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[usize::try_from(self.roll(items.len() as u64)).expect("small")]
    }
}

/// What was done on purpose: which entry of which task got which value when.
#[derive(Debug)]
pub(super) struct Act {
    pub(super) id: String,
    pub(super) entry: String,
    pub(super) value: Option<Value>,
    pub(super) at: Stamp,
}

/// Commits: the file, and what each came from.
#[derive(Default)]
struct Repo {
    commits: Vec<(File, Vec<usize>)>,
}

impl Repo {
    fn commit(&mut self, file: File, parents: Vec<usize>) -> usize {
        self.commits.push((file, parents));
        self.commits.len() - 1
    }

    fn ancestors(&self, of: usize) -> Vec<usize> {
        let mut found = vec![of];
        let mut at = 0;
        while at < found.len() {
            for parent in &self.commits[found[at]].1 {
                if !found.contains(parent) {
                    found.push(*parent);
                }
            }
            at += 1;
        }
        found
    }

    /// The file of the newest commit that both come from.
    fn common(&self, one: usize, other: usize) -> File {
        let of_one = self.ancestors(one);
        let common = self.ancestors(other).into_iter().filter(|commit| of_one.contains(commit)).max();
        common.map(|commit| self.commits[commit].0.clone()).unwrap_or_default()
    }
}

/// How a merge treats a line that both sides changed.
#[derive(Debug, Clone, Copy)]
enum MergeMode {
    Driver,
    Conflict,
    Ours,
    Theirs,
}

fn merge_files(base: &File, ours: &File, theirs: &File, mode: MergeMode) -> Tree {
    let mut merged = Tree::new();
    for id in base.keys().chain(ours.keys()).chain(theirs.keys()) {
        let [base, our, their] = [base, ours, theirs].map(|file| file.get(id));
        let lines = match (our, their) {
            (our, their) if our == their || their == base => our.into_iter().cloned().collect(),
            (our, their) if our == base => their.into_iter().cloned().collect(),
            (Some(our), Some(their)) => match mode {
                MergeMode::Driver => {
                    let [our, their] = [our, their].map(|line| clone::row(line));
                    let base = base.map(|line| clone::row(line));
                    let line = merge_lines(base.as_ref(), &our, &their).expect("lines").0;
                    vec![Value::Object(line).to_string()]
                }
                MergeMode::Conflict => vec![our.clone(), their.clone()],
                MergeMode::Ours => vec![our.clone()],
                MergeMode::Theirs => vec![their.clone()],
            },
            // One side has taken the line away, which no ledger does.
            (our, their) => our.or(their).into_iter().cloned().collect(),
        };
        if !lines.is_empty() {
            merged.insert(id.clone(), lines);
        }
    }
    merged
}

use super::super::line::merge_lines;

struct World {
    dice: Dice,
    repo: Repo,
    clones: [RepoClone; 2],
    acts: Vec<Act>,
    /// Fields that a tool with a late clock has written, and that no other writer touches.
    late: Vec<Act>,
    /// Whether another tool writes into the files, too.
    has_others: bool,
}

impl World {
    fn new(seed: u64, has_others: bool) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let mut repo = Repo::default();
        let root = repo.commit(File::new(), vec![]);
        let clones = [(); 2].map(|()| {
            RepoClone::new(root, 1_700_000_000_000 + i64::try_from(dice.roll(9_000)).expect("small"))
        });
        Self { dice, repo, clones, acts: Vec::new(), late: Vec::new(), has_others }
    }

    fn step(&mut self) {
        let who = usize::try_from(self.dice.roll(2)).expect("small");
        let other = self.clones[1 - who].head;
        let clone = &mut self.clones[who];
        // Clocks run, stand still, and go back.
        clone.now += *self.dice.pick(&[0, 0, 1, 7, 400, 1_000, 5_000, -3_000]);
        match self.dice.roll(26) {
            0..=9 => {
                // A change of a task looks at the file first; a server may look later.
                if self.dice.roll(8) > 0 {
                    clone.sync(!self.has_others);
                }
                clone.act(&mut self.dice, &mut self.acts, who);
                if self.dice.roll(4) > 0 {
                    clone.sync(!self.has_others);
                }
            }
            10..=12 => self.commit(who, vec![]),
            13 => {
                let head = &self.repo.commits[clone.head].0;
                clone.stash = clone.file().inspect(|_| clone.put(head));
            }
            14 => {
                if let Some(file) = clone.stash.take() {
                    clone.put(&file);
                }
            }
            15 | 16 => {
                // Back to an older commit, for good or to look at it.
                let commit = *self.dice.pick(&self.repo.ancestors(clone.head));
                clone.put(&self.repo.commits[commit].0);
                if self.dice.roll(2) == 0 {
                    clone.head = commit;
                }
            }
            17 => {
                let any = usize::try_from(self.dice.roll(self.repo.commits.len() as u64)).expect("small");
                clone.put(&self.repo.commits[any].0);
            }
            18..=21 => {
                let mode = *self.dice.pick(&[
                    MergeMode::Driver,
                    MergeMode::Conflict,
                    MergeMode::Ours,
                    MergeMode::Theirs,
                ]);
                self.merge(who, other, mode);
            }
            22 if self.has_others => clone.other_tool(&mut self.dice),
            23 | 24 => {
                clone.late_tool(&mut self.dice, &mut self.late, !self.has_others);
                if self.dice.roll(2) == 0 {
                    self.commit(who, vec![]);
                }
                self.clones[who].sync(!self.has_others);
            }
            _ => clone.sync(!self.has_others),
        }
    }

    fn commit(&mut self, who: usize, more: Vec<usize>) {
        let clone = &mut self.clones[who];
        let Some(file) = clone.file() else { return };
        let parents = std::iter::once(clone.head).chain(more).collect();
        clone.head = self.repo.commit(file, parents);
    }

    /// A merge, or, with the sides changed, the replay of what was done here upon the other's.
    fn merge(&mut self, who: usize, other: usize, mode: MergeMode) {
        self.commit(who, vec![]);
        let own = self.clones[who].head;
        let base = self.repo.common(own, other);
        let replays = self.dice.roll(3) == 0;
        let (first, second) = if replays { (other, own) } else { (own, other) };
        let [ours, theirs] = [first, second].map(|commit| self.repo.commits[commit].0.clone());
        self.clones[who].tree = merge_files(&base, &ours, &theirs, mode);
        // A conflict is resolved by the next look at the file.
        self.clones[who].sync(!self.has_others);
        self.commit(who, vec![other]);
    }

    /// Both take over what the other has, until nothing changes any more.
    fn exchange(&mut self) {
        for round in 0..8 {
            for who in 0..2 {
                self.clones[who].sync(!self.has_others);
                self.commit(who, vec![]);
                let mode = *self.dice.pick(&[MergeMode::Driver, MergeMode::Conflict, MergeMode::Theirs]);
                self.merge(who, self.clones[1 - who].head, mode);
            }
            let other = self.clones[1].head;
            let file = self.repo.commits[other].0.clone();
            self.clones[0].put(&file);
            self.clones[0].sync(!self.has_others);
            if round > 0 && self.clones[0].file() == Some(file) {
                return;
            }
        }
    }

    fn check(&self, seed: u64) {
        let [ann, ben] = [&self.clones[0], &self.clones[1]].map(RepoClone::content);
        assert_eq!(ann, ben, "seed {seed}: both have the same");
        let mut wanted: BTreeMap<(&str, &str), &Act> = BTreeMap::new();
        for act in &self.acts {
            let slot = wanted.entry((&act.id, &act.entry)).or_insert(act);
            let their = (act.value.as_ref(), act.at);
            if order(&act.entry, (slot.value.as_ref(), slot.at), their).is_gt() {
                *slot = act;
            }
        }
        for act in &self.late {
            let now = ann[act.id.as_str()].get(&act.entry);
            assert_eq!(now, act.value.as_ref(), "seed {seed}: the late tool's {act:?}");
        }
        for ((id, entry), act) in wanted {
            let is_ours = entry.starts_with("metadata/") || entry == "x_team";
            let is_said = is_ours || entry::is_comment(entry) || !self.has_others;
            let is_said = is_said && !CLOSING.contains(&entry);
            if is_said {
                // Of two that were done at the very same time, either may stay.
                let tied = self
                    .acts
                    .iter()
                    .filter(|other| (&other.id, &other.entry, other.at) == (&act.id, &act.entry, act.at));
                let is_kept = tied.clone().any(|other| holds(ann[id].get(entry), other.value.as_ref()));
                assert!(is_kept, "seed {seed}: {entry} of {id} is {:?}, by {act:?}", ann[id].get(entry));
            }
        }
        for (id, entries) in &ann {
            let is_closed = entries["status"] == "closed";
            assert_eq!(is_closed, entries.contains_key("closed_at"), "seed {seed}: {id} {entries:?}");
        }
    }
}

/// Whether a value is the wanted one, or a text to which others have added lines.
fn holds(value: Option<&Value>, wanted: Option<&Value>) -> bool {
    let lines = |value: Option<&Value>| -> Option<Vec<String>> {
        Some(value?.as_str()?.split('\n').map(str::to_owned).collect())
    };
    value == wanted
        || matches!((lines(value), lines(wanted)), (Some(has), Some(wanted)) if wanted.iter().all(|line| has.contains(line)))
}

fn play(seed: u64, has_others: bool) {
    let mut world = World::new(seed, has_others);
    for _ in 0..40 {
        world.step();
    }
    world.exchange();
    world.check(seed);
}

/// Plays as many histories as `BATON_TEST_HISTORIES` says, from the one on that `BATON_TEST_FIRST_HISTORY` says.
#[test]
fn two_clones_lose_nothing_and_end_with_the_same() {
    let begin = option_env_number("BATON_TEST_FIRST_HISTORY").unwrap_or(0);
    let end = begin + option_env_number("BATON_TEST_HISTORIES").unwrap_or(40);
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    std::thread::scope(|scope| {
        for first in 0..threads {
            scope.spawn(move || {
                let seeds = (begin + first..end).step_by(usize::try_from(threads).expect("few"));
                seeds.for_each(|seed| play(seed, seed % 4 == 3));
            });
        }
    });
}

#[allow(clippy::disallowed_methods, reason = "a test that runs longer when it is asked to")]
fn option_env_number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
