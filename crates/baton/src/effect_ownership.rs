//! Whether this store is the one of its ledger that carries out what goes outside. A copy, a restored backup or the clone of a machine
//! has every hand-off, too: two stores that write to one issue undo each other's work, so one of them waits until it is told to take over.

use std::path::Path;
use std::sync::OnceLock;

use baton_model::id::visible;
use baton_model::store_place::{OutsideCalls, StorePlace};
use baton_model::time::Millis;
use baton_store::{Failure, Store, Target, counter, delta, effect_owner, project};

/// The command that makes this store the one.
pub(crate) const TAKE_OVER: &str = "baton store take-over";

/// What a process asks before each look at what is due outside. Where its store is does not change while it runs.
pub(crate) struct EffectGate {
    machine_id: String,
    here: OnceLock<Option<StorePlace>>,
    has_warned: OnceLock<()>,
}

impl EffectGate {
    /// Of a process on this machine.
    pub(crate) fn new(machine_id: &str) -> Self {
        Self { machine_id: machine_id.to_owned(), here: OnceLock::new(), has_warned: OnceLock::new() }
    }

    /// Whether this store may call what is outside. The first one that does so is noted, and so is one that was moved.
    pub(crate) fn calls(&self, store: &mut Store, now: Millis) -> Result<OutsideCalls, Failure> {
        let here = match self.here.get() {
            Some(known) => known,
            None => {
                let here = store.place(&self.machine_id)?;
                self.here.get_or_init(|| here)
            }
        };
        let Some(here) = here else { return Ok(OutsideCalls::Allowed) };
        match note_place(store, here, now)? {
            Some(other) => {
                self.has_warned.get_or_init(|| tracing::warn!("{}", held_text(&other.place)));
                Ok(OutsideCalls::Held)
            }
            None => Ok(OutsideCalls::Allowed),
        }
    }
}

/// Notes where this store is now, if it is the one of its ledger; else returns the one that is.
fn note_place(store: &mut Store, here: &StorePlace, now: Millis) -> Result<Option<StorePlace>, Failure> {
    let Some(known) = store.read(|tx| Ok(effect_owner::get(tx)?))? else {
        store.write_shared(|tx| Ok(effect_owner::put_first(tx, here, now)?))?;
        return Ok(None);
    };
    if !known.is_same(here, is_there) {
        return Ok(Some(known));
    }
    // Several addresses of one database are no move, and numbers that could not be read take the place of none.
    let has_new_place = !here.is_database && known.place != here.place;
    if has_new_place || (!here.key.is_empty() && known.key != here.key) {
        store.write_shared(|tx| Ok(effect_owner::put(tx, here, now)?))?;
    }
    Ok(None)
}

/// Who carries out what goes outside once a restored store is in its place.
pub(crate) enum Succession {
    /// The restored one: the one that was there did so, or cannot be read any more.
    Inherited,
    /// Another one, for which the one that was there waited.
    Waits(StorePlace),
    /// What the backup says: nothing was there, or another ledger.
    OfBackup,
}

impl Succession {
    /// Looks at the store in whose place a draft will be put, before it is.
    pub(crate) fn of(place: &Path, draft: &Path, machine_id: &str) -> Result<Self, Failure> {
        let mut restored = Store::open_read_only(&Target::File(draft.to_owned()))?;
        if !is_there_at(place) {
            return Ok(Self::OfBackup);
        }
        if let Ok(found) = Self::of_previous(place, &mut restored, machine_id) {
            return Ok(found);
        }
        // It is damaged, which is why a backup takes its place: what can still be read of it counts, then what the backup says of the place.
        if let Ok(mut previous) = Store::open_read_only(&Target::File(place.to_owned()))
            && let Ok(Some(other)) = other_owner(&mut previous, machine_id)
        {
            return Ok(Self::Waits(other));
        }
        let known = restored.read(|tx| Ok(effect_owner::get(tx)?))?;
        let path = place.canonicalize().unwrap_or_else(|_| place.to_owned());
        let is_of_place = known
            .is_none_or(|known| known.machine_id == machine_id && Path::new(&known.place) == path.as_path());
        Ok(if is_of_place { Self::Inherited } else { Self::OfBackup })
    }

    fn of_previous(place: &Path, restored: &mut Store, machine_id: &str) -> Result<Self, Failure> {
        let mut previous = Store::open_read_only(&Target::File(place.to_owned()))?;
        if !is_same_ledger(restored, &mut previous)? {
            return Ok(Self::OfBackup);
        }
        Ok(other_owner(&mut previous, machine_id)?.map_or(Self::Inherited, Self::Waits))
    }

    /// Notes it in the restored store. Returns the other one that carries out what goes outside.
    pub(crate) fn note(
        self,
        restored: &mut Store,
        machine_id: &str,
        now: Millis,
    ) -> Result<Option<StorePlace>, Failure> {
        let Some(here) = restored.place(machine_id)? else { return Ok(None) };
        let owner = match self {
            Self::OfBackup => return note_place(restored, &here, now),
            Self::Inherited => here,
            Self::Waits(other) => other,
        };
        restored.write_shared(|tx| Ok(effect_owner::put(tx, &owner, now)?))?;
        other_owner(restored, machine_id)
    }
}

/// Notes this store where none is noted, so that a copy of its file is known as one.
pub(crate) fn note_first(store: &mut Store, machine_id: &str, now: Millis) -> Result<(), Failure> {
    let Some(here) = store.place(machine_id)? else { return Ok(()) };
    match store.read(|tx| Ok(effect_owner::get(tx)?))? {
        Some(_) => Ok(()),
        None => store.write_shared(|tx| Ok(effect_owner::put_first(tx, &here, now)?)),
    }
}

/// The other store that carries out what goes outside in this one's place; none where it is this one. Writes nothing.
pub(crate) fn other_owner(store: &mut Store, machine_id: &str) -> Result<Option<StorePlace>, Failure> {
    let Some(here) = store.place(machine_id)? else { return Ok(None) };
    let known = store.read(|tx| Ok(effect_owner::get(tx)?))?;
    Ok(known.filter(|known| !known.is_same(&here, is_there)))
}

/// Notes in a copy which store it was made of: that one goes on.
pub(crate) fn note_source(
    source: &mut Store,
    copy: &mut Store,
    (machine_id, now): (&str, Millis),
) -> Result<Option<StorePlace>, Failure> {
    let noted = source.read(|tx| Ok(effect_owner::get(tx)?))?;
    let owner = match noted {
        Some(noted) => Some(noted),
        None => source.place(machine_id)?,
    };
    if let Some(owner) = owner {
        copy.write_shared(|tx| Ok(effect_owner::put(tx, &owner, now)?))?;
    }
    other_owner(copy, machine_id)
}

/// What became of a takeover.
pub(crate) struct Takeover {
    /// The store that carried out what goes outside before; none where it was this one.
    pub(crate) before: Option<StorePlace>,
    /// Whether that one was told, so that it waits from now on.
    pub(crate) is_told: bool,
}

/// Makes this store the one. Steps that the other may have done are looked up before they are tried. The other one is told where this
/// machine has its file.
pub(crate) fn take_over(store: &mut Store, machine_id: &str, now: Millis) -> Result<Takeover, Failure> {
    let Some(here) = store.place(machine_id)? else {
        return Ok(Takeover { before: None, is_told: false });
    };
    let before = other_owner(store, machine_id)?;
    let is_told = match &before {
        Some(other) => notify_others(store, other, &here, now),
        None => false,
    };
    store.write_shared(|tx| {
        effect_owner::put(tx, &here, now)?;
        if before.is_some() {
            counter::raise_floor_after_restore(tx, now)?;
        }
        Ok(())
    })?;
    Ok(Takeover { before, is_told })
}

/// How many stores are told that took over one after the other.
const MAX_TAKEOVERS: usize = 100;

/// Notes in the other store which one takes its place, and in the one that had taken that one's place meanwhile, to the last one. Whether
/// all of them could be told.
fn notify_others(store: &mut Store, other: &StorePlace, here: &StorePlace, now: Millis) -> bool {
    let mut next = Some(other.clone());
    for _ in 0..MAX_TAKEOVERS {
        let Some(other) = next else { return true };
        match notify_other(store, &other, here, now) {
            Ok(Notification::Noted(after)) => next = after.filter(|after| after != here && *after != other),
            Ok(Notification::LeftAlone) => return false,
            Err(failure) => {
                tracing::debug!(%failure, "the other store cannot be told");
                return false;
            }
        }
    }
    false
}

/// What became of a notice to another store.
enum Notification {
    /// It is noted there. The store that had taken its place before, if one had.
    Noted(Option<StorePlace>),
    /// It is elsewhere, not of the same ledger, or this build would bring it up to date.
    LeftAlone,
}

/// Notes in another store which one takes its place.
fn notify_other(
    store: &mut Store,
    other: &StorePlace,
    here: &StorePlace,
    now: Millis,
) -> Result<Notification, Failure> {
    let target = Target::File(other.place.clone().into());
    if other.is_database || other.machine_id != here.machine_id || !is_there(&other.place) {
        return Ok(Notification::LeftAlone);
    }
    let mut theirs = Store::open_read_only(&target)?;
    if !is_same_ledger(store, &mut theirs)? {
        return Ok(Notification::LeftAlone);
    }
    let after = other_owner(&mut theirs, &here.machine_id)?;
    drop(theirs);
    let mut theirs = Store::open_existing(&target, now)?;
    theirs.write_shared(|tx| Ok(effect_owner::put(tx, here, now)?))?;
    Ok(Notification::Noted(after))
}

/// Whether two stores have the first entry of a project in common.
fn is_same_ledger(one: &mut Store, other: &mut Store) -> Result<bool, Failure> {
    let firsts = one.read(|tx| {
        let mut firsts = Vec::new();
        for id in project::ids(tx)? {
            let first = delta::after_seq(tx, &id, 0, 1)?.pop();
            firsts.extend(first.map(|first| (id, first.delta_id)));
        }
        Ok(firsts)
    })?;
    other.read(|tx| {
        for (project_id, delta_id) in &firsts {
            if delta::get(tx, project_id, delta_id)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// Why issues and webhooks wait here, in a sentence with the command that changes it.
pub(crate) fn held_text(other: &str) -> String {
    format!(
        "issues and webhooks wait: this store is a copy of {}, which carries them out, or was made anew in its place; where that one is given up, `{TAKE_OVER}` lets \
         this one carry them out in its place",
        visible(other)
    )
}

fn is_there(path: &str) -> bool {
    is_there_at(Path::new(path))
}

fn is_there_at(path: &Path) -> bool {
    // Where it may not be looked, there may be one.
    path.try_exists().unwrap_or(true)
}
