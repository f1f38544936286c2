//! Transcripts as a search index wants them: passages of what was said and done, the words in them, and queries.
//!
//! The same [`words`] make the index and the query, so that what cannot be a word (quotes, operators, box drawings) can
//! neither be found nor break a query.

mod passage;
mod query;
mod snippet;
mod words;

pub use passage::{Entry, Passage, entries, passages};
pub use query::{Query, Term};
pub use snippet::{Snippet, snippet};
pub use words::words;
