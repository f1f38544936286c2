//! Access tokens of the server.

mod check;
mod create;
mod list;
mod revoke;

pub use baton_model::access::TokenRow;
pub use check::{Check, CheckInput, CheckOutput};
pub use create::{Create, CreateInput, CreateOutput};
pub use list::{List, ListInput, ListOutput};
pub use revoke::{Revoke, RevokeInput, RevokeOutput};
use sha2::{Digest, Sha256};

use crate::op::Env;

/// The hash under which a secret is kept. The secret is 256 random bits, so nothing slower is needed.
pub(crate) fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

/// A new secret of 256 random bits, with a word before it that says what it is for.
pub(crate) fn new_secret(env: &mut Env<'_>, prefix: &str) -> String {
    let mut secret = [0; 32];
    (env.random)(&mut secret);
    format!("{prefix}{}", hex(&secret))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}
