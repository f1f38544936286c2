//! `mail_search`: the messages of a project in which all words of a search occur.

use baton_model::message::{Message, Participation, View, excerpt, matches};
use baton_model::query::check_query;
use baton_model::refusal::Refusal;
use baton_store::{Failure, Tx, agent, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// How many messages are looked at at a time.
const PAGE: i64 = 500;

/// Searches mail.
pub struct Search;

/// Input of `mail_search`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity for `mine`.
    #[serde(default)]
    pub identity: Option<String>,
    /// Words, all of which must occur in the subject, the body, the names or the type, in any case. What is encrypted is found
    /// by its subject only.
    pub query: String,
    /// Only what this identity sent or got.
    #[serde(default)]
    pub mine: bool,
    /// At most so many; 0 for all.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

impl Default for SearchInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            query: Default::default(),
            mine: Default::default(),
            limit: default_limit(),
        }
    }
}

fn default_limit() -> usize {
    50
}

/// A message that was found.
#[derive(Serialize, Deserialize)]
pub struct SearchRow {
    /// The message, without its body.
    #[serde(flatten)]
    pub message: View,
    /// The line that holds one of the words; none of what is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
}

/// Answer of `mail_search`, newest first.
#[derive(Serialize, Deserialize)]
pub struct SearchOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<SearchRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Search {
    const META: Meta = Meta::read("mail_search", "Search the messages of a project, newest first");
    type Input = SearchInput;
    type Output = SearchOutput;

    fn run(input: SearchInput, cx: &mut Cx<'_>) -> Result<SearchOutput, Failure> {
        check_query(&input.query)?;
        let words: Vec<String> = input.query.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            let what = "the search has no word in it";
            return Err(Refusal::invalid("query_invalid", what, "give the words that you look for").into());
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let mut found = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let roles = agent::roles(tx, &project_id, &identity)?;
            let part =
                |m: &Message| m.part_of(&identity, &roles).is_some_and(|part| part != Participation::Role);
            let wanted = |m: &Message| (!input.mine || part(m)) && matches(m, &words);
            // One more than is shown, to know whether there are more.
            search_messages(
                tx,
                &project_id,
                wanted,
                if input.limit == 0 { usize::MAX } else { input.limit.saturating_add(1) },
            )
        })?;
        let more = input.limit > 0 && found.len() > input.limit;
        if more {
            found.truncate(input.limit);
        }
        let items = found.iter().map(|m| row(m, &words)).collect();
        Ok(SearchOutput { project_id, items, next: more.then_some(input.limit) })
    }
}

fn search_messages(
    tx: &mut Tx<'_>,
    project_id: &str,
    wanted: impl Fn(&Message) -> bool,
    most: usize,
) -> Result<Vec<Message>, Failure> {
    let mut found = Vec::new();
    let mut before = i64::MAX;
    loop {
        let page = message::newest(tx, project_id, before, PAGE)?;
        let Some(last) = page.last().map(|m| m.seq) else { return Ok(found) };
        before = last;
        found.extend(page.into_iter().filter(&wanted));
        if found.len() >= most {
            found.truncate(most);
            return Ok(found);
        }
    }
}

fn row(message: &Message, words: &[String]) -> SearchRow {
    let shown = message.readers.is_none().then(|| excerpt(&message.body, words));
    SearchRow { message: View::head(message), excerpt: shown }
}
