//! Access tokens and shares that were taken back: an older copy of a ledger must not open them again.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::{share, token};

/// What a ledger has as revoked, by id, and since when.
#[derive(Debug, Default)]
pub struct Revocations {
    tokens: Vec<(String, Millis)>,
    shares: Vec<(String, Millis)>,
}

impl Revocations {
    /// Those of a ledger.
    pub fn of(tx: &mut Tx<'_>) -> Result<Self, Fault> {
        let tokens = token::list(tx)?;
        let tokens = tokens.into_iter().filter_map(|one| Some((one.token_id, one.revoked_at?))).collect();
        Ok(Self { tokens, shares: share::revocations(tx)? })
    }

    /// Revokes the same in another ledger, as far as it has it.
    pub fn write(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        for (id, at) in &self.tokens {
            token::revoke(tx, id, *at)?;
        }
        for (id, at) in &self.shares {
            share::revoke(tx, id, *at)?;
        }
        Ok(())
    }
}
