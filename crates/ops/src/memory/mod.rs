//! Memories: store, search, withdraw.

mod add;
mod index;
mod reindex;
mod retrieval;
mod scope;
mod search;
mod withdraw;

use baton_model::memory::Memory;
pub use baton_model::memory::{View, Withdrawal};
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, memory};

use crate::resolve;
pub use add::{Add, AddInput, AddOutput};
pub(crate) use index::{enqueue_index, enqueue_removal};
pub use reindex::{Reindex, ReindexInput, ReindexOutput};
pub use retrieval::{MatchBasis, SearchMethod};
pub use scope::{MemoryScope, MemoryScopeInput, MemoryScopeOutput};
pub use search::{Row, Search, SearchInput, SearchOutput};
pub use withdraw::{Withdraw, WithdrawInput, WithdrawOutput};

/// The memory named by an id or a unique prefix of one.
fn by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Memory, Failure> {
    if let Some(memory) = memory::get(tx, project_id, id)? {
        return Ok(memory);
    }
    let unknown = || {
        Refusal::new(
            refusal::Kind::NotFound,
            "memory_unknown",
            format!("project {project_id} has no memory `{}`", baton_model::id::visible(id)),
            "`baton memory search` names them",
        )
    };
    let ids =
        if id.len() >= 4 && id.is_ascii() { memory::by_prefix(tx, project_id, id)? } else { Vec::new() };
    match ids.as_slice() {
        [one] => memory::get(tx, project_id, one)?.ok_or_else(|| unknown().into()),
        [] => Err(unknown().into()),
        many => Err(resolve::ambiguous_id_refusal("memory", id, many).into()),
    }
}
