//! Answers that every client shows whole: what is too long is shortened where it is longest, and every place says how much is
//! left and how to read it. The whole answer is kept for a while, so that nothing is lost.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use baton_model::access::Grant;
use baton_model::printable;
use baton_model::refusal::ErrorObject;
use serde_json::{Map, Value, json};

use crate::schema::{Detail, PageInput};

/// Answers that are kept to be read on.
const MAX_KEPT_ANSWERS: usize = 64;
/// The most characters that all kept answers have.
const KEPT_CHARS: usize = 4_000_000;
/// Texts shorter than this are never cut: what they say is worth more than the room.
const SHORT: usize = 160;
/// Characters for the frame round a part that is read on.
const FRAME: usize = 600;

impl Detail {
    /// The most characters of an answer.
    pub(crate) fn limit(self) -> usize {
        match self {
            Self::Brief => 3_000,
            Self::Normal => 10_000,
            Self::Full => 40_000,
        }
    }
}

/// How many characters a value takes as JSON that hides nothing.
pub(crate) fn size(value: &Value) -> usize {
    printable::json(&value.to_string()).chars().count()
}

/// A part that was shortened.
struct TruncatedPart {
    field: String,
    shown: usize,
    of: usize,
}

/// The answer within the limit. Where something had to go, `left_out` says what, and how `recall` reads it by this token.
pub(crate) fn truncate(answer: &Value, limit: usize, token: &str) -> Option<Value> {
    if size(answer) < limit {
        return None;
    }
    // Everything long gets the same room: the largest with which the whole fits.
    let (mut low, mut high) = (0, limit);
    let mut best = None;
    while low < high {
        let room = (low + high).div_ceil(2);
        let shortened = shortened(answer, room, token);
        if size(&shortened) < limit {
            best = Some(shortened);
            low = room;
        } else {
            high = room - 1;
        }
    }
    best.or_else(|| Some(shortened(answer, 0, token)))
}

fn shortened(answer: &Value, room: usize, token: &str) -> Value {
    let mut cuts = Vec::new();
    let mut whole = answer.clone();
    shorten(&mut whole, String::new(), room, &mut cuts);
    let parts: Vec<Value> =
        cuts.iter().map(|cut| json!({ "field": cut.field, "shown": cut.shown, "of": cut.of })).collect();
    let how = format!("recall {{action: rest, token: {token}, field, from: shown}}");
    let left_out = json!({ "token": token, "how": how, "parts": parts });
    let mut ordered = Map::new();
    for (at, (key, value)) in whole.as_object_mut().map(std::mem::take).into_iter().flatten().enumerate() {
        if at == 1 {
            ordered.insert("left_out".into(), left_out.clone());
        }
        ordered.insert(key, value);
    }
    Value::Object(ordered)
}

fn shorten(value: &mut Value, field: String, room: usize, cuts: &mut Vec<TruncatedPart>) {
    match value {
        Value::String(text) => {
            let of = text.chars().count();
            if of > SHORT && size(&Value::String(text.clone())) > room.max(SHORT) {
                let shown = prefix(text, room.max(SHORT / 2));
                *text = text.chars().take(shown).collect();
                cuts.push(TruncatedPart { field, shown, of });
            }
        }
        Value::Array(items) => shorten_items(items, field, room, cuts),
        Value::Object(fields) => {
            for (key, value) in fields {
                shorten(value, format!("{field}/{}", escape(key)), room, cuts);
            }
        }
        _ => {}
    }
}

/// As many whole items as there is room for; the first one is shortened itself if it alone is too long.
fn shorten_items(items: &mut Vec<Value>, field: String, room: usize, cuts: &mut Vec<TruncatedPart>) {
    let sizes: Vec<usize> = items.iter().map(|item| size(item) + 1).collect();
    if sizes.iter().sum::<usize>() <= room.max(SHORT) {
        return;
    }
    let mut left = room;
    let mut shown = sizes.iter().take_while(|size| take(&mut left, **size)).count();
    let of = items.len();
    if shown == 0
        && room > SHORT
        && let Some(first) = items.first_mut()
    {
        shorten(first, format!("{field}/0"), room / 2, cuts);
        shown = 1;
    }
    items.truncate(shown);
    if shown < of {
        cuts.push(TruncatedPart { field, shown, of });
    }
}

fn take(left: &mut usize, size: usize) -> bool {
    let fits = size <= *left;
    *left = left.saturating_sub(size);
    fits
}

/// How many characters of a text take at most this room as JSON.
fn prefix(text: &str, room: usize) -> usize {
    let mut left = room;
    text.chars()
        .take_while(|c| {
            let cost = match c {
                '"' | '\\' | '\n' | '\r' | '\t' => 2,
                c if printable::is_hidden(*c) => 6 * c.len_utf16(),
                _ => 1,
            };
            take(&mut left, cost)
        })
        .count()
}

/// As JSON pointers are written.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Who may read on in an answer: the bearer of the access token that asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerOwner {
    /// The local user.
    Local,
    /// An access token, by its id.
    Token(String),
    /// The caller is not known: it reads nothing on.
    Unknown,
}

impl AnswerOwner {
    pub(crate) fn of(grant: Option<Grant>) -> Self {
        match grant.map(|grant| grant.bearer) {
            None => Self::Unknown,
            Some(None) => Self::Local,
            Some(Some(bearer)) => Self::Token(bearer.token_id),
        }
    }
}

/// A complete answer of which a part was given.
struct CachedAnswer {
    owner: AnswerOwner,
    token: String,
    answer: Arc<Value>,
    chars: usize,
}

/// A cache of complete answers, for reading the rest of a truncated one.
#[derive(Default)]
pub(crate) struct AnswerCache(Mutex<VecDeque<CachedAnswer>>);

impl AnswerCache {
    /// Keeps an answer under a token; the oldest go where there is no more room.
    pub(crate) fn keep(&self, owner: &AnswerOwner, token: String, answer: Value) {
        let Ok(mut cache) = self.0.lock() else { return };
        let chars = size(&answer);
        cache.push_back(CachedAnswer { owner: owner.clone(), token, answer: Arc::new(answer), chars });
        while cache.len() > 1
            && (cache.len() > MAX_KEPT_ANSWERS
                || cache.iter().map(|one| one.chars).sum::<usize>() > KEPT_CHARS)
        {
            cache.pop_front();
        }
    }

    /// The part that was asked for, as much of it as fits, or what is wrong with the question.
    pub(crate) fn read_more(
        &self,
        owner: &AnswerOwner,
        wanted: &PageInput,
        limit: usize,
    ) -> Result<Value, ErrorObject> {
        let is_meant = |one: &&CachedAnswer| one.token == wanted.token && one.owner == *owner;
        let known = self
            .0
            .lock()
            .ok()
            .filter(|_| *owner != AnswerOwner::Unknown)
            .and_then(|cache| cache.iter().find(is_meant).map(|one| Arc::clone(&one.answer)));
        let answer = known.ok_or_else(|| {
            ErrorObject::new("rest_gone", "this answer is not kept any more", "repeat the call that gave it")
        })?;
        let part = answer.pointer(&wanted.field).ok_or_else(|| {
            ErrorObject::new(
                "field_unknown",
                "the answer has no such field",
                "give `field` as `left_out.parts` names it",
            )
        })?;
        Ok(part_from(part, wanted, limit.saturating_sub(FRAME)))
    }
}

/// What to do after a part of an answer.
pub(crate) fn next_step(part: &Value) -> String {
    match part["next"].as_u64() {
        Some(next) => format!("There is more: call again with from: {next}."),
        None if part.get("read_instead").is_some() => {
            "Too long for one answer: read these fields one by one.".into()
        }
        None => "That was all of it.".into(),
    }
}

fn part_from(part: &Value, wanted: &PageInput, room: usize) -> Value {
    let (value, shown, of) = match part {
        Value::String(text) => {
            let rest: String = text.chars().skip(wanted.from).collect();
            let shown = prefix(&rest, room);
            (Value::String(rest.chars().take(shown).collect()), shown, text.chars().count())
        }
        Value::Array(items) => {
            // After the last item there is no comma.
            let mut left = room + 1;
            let rest = items.iter().skip(wanted.from);
            let fitting: Vec<Value> =
                rest.take_while(|item| take(&mut left, size(item) + 1)).cloned().collect();
            let shown = fitting.len();
            (Value::Array(fitting), shown, items.len())
        }
        other => return whole_or_fields(other, &wanted.field, room),
    };
    let next = wanted.from.saturating_add(shown);
    if let (0, Some(item)) = (shown, part.get(wanted.from)) {
        // One item alone is too long: its fields are read one by one.
        let mut answer = whole_or_fields(item, &format!("{}/{}", wanted.field, wanted.from), room);
        answer["next"] = if next + 1 < of { json!(next + 1) } else { Value::Null };
        return answer;
    }
    let next = if next < of { json!(next) } else { Value::Null };
    json!({ "field": wanted.field, "from": wanted.from, "of": of, "next": next, "value": value })
}

fn whole_or_fields(value: &Value, field: &str, room: usize) -> Value {
    if size(value) <= room {
        return json!({ "field": field, "value": value });
    }
    let parts: Vec<Value> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| json!({ "field": format!("{field}/{}", escape(key)), "chars": size(value) }))
            .collect(),
        _ => vec![json!({ "field": field, "chars": size(value) })],
    };
    json!({ "field": field, "read_instead": parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text or a list back, part by part.
    fn read_back(cache: &AnswerCache, field: &str, from: usize) -> Vec<Value> {
        let mut parts = Vec::new();
        let mut at = Some(from);
        while let Some(from) = at {
            let wanted = PageInput { token: "t".into(), field: field.into(), from };
            let part = cache.read_more(&AnswerOwner::Local, &wanted, 3_000).expect("kept");
            assert!(size(&part) < 3_000);
            at = part["next"].as_u64().map(|next| usize::try_from(next).expect("small"));
            parts.push(part["value"].clone());
        }
        parts
    }

    #[test]
    fn a_short_answer_stays_as_it_is() {
        assert_eq!(truncate(&json!({ "next_step": "go", "a": "b" }), 3_000, "t"), None);
    }

    #[test]
    fn a_long_text_is_read_on_to_its_last_character() {
        let body: String = (0..30_000).map(|n| if n % 7 == 0 { '"' } else { 'ä' }).collect();
        let answer = json!({ "next_step": "go", "baton": { "body": body } });
        let fitted = truncate(&answer, 10_000, "t").expect("too long");
        assert!(size(&fitted) < 10_000 && size(&fitted) > 9_000, "{}", size(&fitted));
        let part = &fitted["left_out"]["parts"][0];
        assert_eq!(part["field"], "/baton/body");
        let shown = fitted["baton"]["body"].as_str().expect("text").to_owned();
        assert_eq!(part["shown"], shown.chars().count());
        let cache = AnswerCache::default();
        cache.keep(&AnswerOwner::Local, "t".into(), answer);
        let rest: String = read_back(&cache, "/baton/body", shown.chars().count())
            .iter()
            .map(|part| part.as_str().expect("text").to_owned())
            .collect();
        assert_eq!(shown + &rest, body);
    }

    #[test]
    fn a_long_list_is_read_on_to_its_last_item() {
        let items: Vec<Value> = (0..900).map(|n| json!({ "id": n, "text": "x".repeat(n % 90) })).collect();
        let answer = json!({ "next_step": "go", "items": items });
        let fitted = truncate(&answer, 10_000, "t").expect("too long");
        let shown = fitted["items"].as_array().expect("list").clone();
        let cache = AnswerCache::default();
        cache.keep(&AnswerOwner::Local, "t".into(), answer);
        let rest = read_back(&cache, "/items", shown.len())
            .into_iter()
            .flat_map(|p| p.as_array().cloned().expect("list"));
        assert_eq!(shown.into_iter().chain(rest).collect::<Vec<_>>(), items);
    }

    #[test]
    fn an_item_that_is_too_long_alone_names_its_fields() {
        let answer = json!({ "next_step": "go", "items": [{ "id": 1, "text": "y".repeat(20_000) }, 2] });
        let cache = AnswerCache::default();
        cache.keep(&AnswerOwner::Local, "t".into(), answer.clone());
        let part = cache
            .read_more(
                &AnswerOwner::Local,
                &PageInput { token: "t".into(), field: "/items".into(), from: 0 },
                3_000,
            )
            .expect("kept");
        assert_eq!(part["read_instead"][1]["field"], "/items/0/text");
        assert_eq!(part["next"], 1);
        let fitted = truncate(&answer, 3_000, "t").expect("too long");
        assert!(size(&fitted) < 3_000, "{fitted}");
    }

    #[test]
    fn an_item_that_just_fits_is_part_of_its_list() {
        for length in [2_398, 2_399, 2_400, 2_401] {
            let items = json!([["z".repeat(length - 4)], 2]);
            let cache = AnswerCache::default();
            cache.keep(&AnswerOwner::Local, "t".into(), json!({ "items": items }));
            let wanted = PageInput { token: "t".into(), field: "/items".into(), from: 0 };
            let part = cache.read_more(&AnswerOwner::Local, &wanted, 3_000).expect("kept");
            let is_list = part["field"] == "/items" && part["value"][0] == items[0];
            assert!(is_list || part["read_instead"][0]["field"] == "/items/0", "{length}: {part:#}");
        }
    }

    #[test]
    fn an_answer_that_is_gone_says_so() {
        let refused = AnswerCache::default().read_more(
            &AnswerOwner::Local,
            &PageInput { token: "t".into(), field: String::new(), from: 0 },
            3_000,
        );
        assert_eq!(refused.expect_err("gone").code, "rest_gone");
    }

    #[test]
    fn an_answer_is_read_on_only_by_the_bearer_who_asked_for_it() {
        let cache = AnswerCache::default();
        let owner = AnswerOwner::Token("one".into());
        cache.keep(&owner, "t".into(), json!({ "items": ["secret"] }));
        let wanted = PageInput { token: "t".into(), field: "/items".into(), from: 0 };
        assert!(cache.read_more(&owner, &wanted, 3_000).is_ok());
        for other in [AnswerOwner::Token("two".into()), AnswerOwner::Local, AnswerOwner::Unknown] {
            assert_eq!(cache.read_more(&other, &wanted, 3_000).expect_err("not theirs").code, "rest_gone");
        }
    }
}
