//! What a search may ask for.

use crate::refusal::Refusal;

/// The longest query, in bytes. Databases bound the pattern that they compare with (SQLite: 50,000 bytes), and a query of this size
/// stays below that in lower case and escaped.
pub const MAX_LEN: usize = 8_192;

/// Refuses a query that is too long, before anything looks for it.
pub fn check_query(query: &str) -> Result<(), Refusal> {
    if query.len() <= MAX_LEN {
        return Ok(());
    }
    let what = format!("the query has {} bytes; {MAX_LEN} are the most", query.len());
    Err(Refusal::invalid("query_too_long", what, "give a few words that occur in what you look for"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_refused_by_its_size_alone() {
        assert_eq!(check_query(&"x".repeat(MAX_LEN)), Ok(()));
        assert_eq!(
            check_query(&"x".repeat(MAX_LEN + 1)).map_err(|refusal| refusal.code),
            Err("query_too_long")
        );
    }
}
