//! What a restore keeps of the store that it replaces: numbers that were given out, tokens, and what was revoked.

use std::path::Path;

use baton_model::access::Token;
use baton_model::time::Millis;

use crate::engine::fault::Fault;
use crate::engine::{Store, Target, Tx};
use crate::{counter, share, token};

/// What a restore must not take back of the store that it replaces, as far as that can be read.
#[derive(Default)]
pub(super) struct RetainedState {
    /// The highest number that it gave out.
    highest: i64,
    /// Its access tokens. One that was revoked stays so, and where there were any, a server goes on asking for one.
    tokens: Vec<Token>,
    /// Shares that were taken back, and when: the backup may hold them from before.
    revoked_shares: Vec<(String, Millis)>,
}

impl RetainedState {
    /// What a store has of it; nothing of one that cannot be read.
    pub(super) fn of(store: &Path) -> Self {
        let read = |mut replaced: Store| {
            let all = |tx: &mut Tx<'_>| {
                let (highest, tokens) = (counter::highest(tx)?, token::list(tx)?);
                Ok(Self { highest, tokens, revoked_shares: share::revocations(tx)? })
            };
            replaced.read(all).ok()
        };
        Store::open_read_only(&Target::File(store.to_owned())).ok().and_then(read).unwrap_or_default()
    }

    /// Writes it into the store that takes the place of that one.
    pub(super) fn keep(&self, tx: &mut Tx<'_>, now_ms: i64) -> Result<(), Fault> {
        // The backup does not know what was given out since, maybe while the clock was ahead.
        counter::raise_floor_after_restore(tx, counter::floor(self.highest, now_ms))?;
        for known in &self.tokens {
            if token::get(tx, &known.token_id)?.is_none() {
                token::insert(tx, known)?;
            } else if let Some(revoked_at) = known.revoked_at {
                token::revoke(tx, &known.token_id, revoked_at)?;
            }
        }
        for (share_id, revoked_at) in &self.revoked_shares {
            share::revoke(tx, share_id, *revoked_at)?;
        }
        Ok(())
    }
}
