//! What every list and every answer keeps to, whatever the operations become.

use baton_model::budget::estimate_tokens;
use baton_model::refusal::ErrorObject;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::answer::{framed, refused, result};
use crate::schema::{Detail, PageInput};
use crate::table::TOOLS;
use crate::tools::{ToolSet, list};
use crate::truncate::{AnswerCache, AnswerOwner, size, truncate};

fn as_json(offer: &ToolSet) -> Vec<Value> {
    list(offer).iter().map(|tool| serde_json::to_value(tool).expect("JSON")).collect()
}

#[test]
fn names_are_what_every_client_shows() {
    for tool in TOOLS {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(!tool.name.is_empty() && tool.name.len() <= crate::MAX_NAME && tool.name.chars().all(good));
    }
}

#[test]
fn the_list_is_short_enough_to_be_read_every_time() {
    let tools = as_json(&ToolSet::default());
    for tool in &tools {
        let description = tool["description"].as_str().expect("text");
        assert!(description.chars().count() < 1_500, "{}: {}", tool["name"], description.len());
    }
    // What clients give to a model of each. Tokenizers count 2 to 5 % fewer than this estimate.
    let loaded: Vec<Value> = tools
        .iter()
        .map(|tool| json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] }))
        .collect();
    let tokens = estimate_tokens(&json!(loaded).to_string());
    assert!(tokens <= 5_000, "{tokens} tokens");
}

#[test]
fn inputs_are_closed_objects_that_name_their_action() {
    for (tool, listed) in TOOLS.iter().zip(as_json(&ToolSet::default())) {
        let schema = &listed["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        assert_eq!(schema["properties"]["action"].is_object(), tool.actions.len() > 1, "{}", tool.name);
        let text = schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("\"null\""), "{}: {text}", tool.name);
        assert_eq!(listed["outputSchema"]["type"], "object");
        assert!(listed["title"].is_string() && listed["annotations"]["readOnlyHint"].is_boolean());
    }
}

/// Everything that an operation needs is a property of its tool.
#[test]
fn every_field_of_an_operation_reaches_its_tool() {
    for (tool, listed) in TOOLS.iter().zip(as_json(&ToolSet::default())) {
        let properties = listed["inputSchema"]["properties"].as_object().expect("properties");
        for action in tool.actions {
            let Some(entry) = action.entry() else { continue };
            let schema: Value = (entry.input_schema)().into();
            for name in schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
                let is_ours = action.fixed.iter().any(|(fixed, _)| fixed == name)
                    || crate::schema::HIDDEN.contains(&name.as_str())
                    || tool.omit.contains(&name.as_str());
                assert!(
                    is_ours || properties.contains_key(name),
                    "{}: `{name}` of {}",
                    tool.name,
                    entry.name
                );
                assert!(
                    !["detail", "action"].contains(&name.as_str()) || is_ours,
                    "`{name}` of {}",
                    entry.name
                );
            }
        }
    }
}

#[test]
fn read_only_offers_nothing_that_writes() {
    let offer = ToolSet { tools: Vec::new(), read_only: true };
    for tool in as_json(&offer) {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{}", tool["name"]);
    }
    let writes = TOOLS.iter().flat_map(|tool| offer.actions(tool)).find(|action| !action.reads());
    assert!(writes.is_none_or(|action| panic!("{} writes", action.operation)));
    let names: Vec<Value> = as_json(&offer).iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["inbox", "task_read", "recall"]);
}

/// A client that asks before anything that changes lets an agent look without asking.
#[test]
fn reading_and_changing_are_tools_of_their_own() {
    let tools = as_json(&ToolSet::default());
    assert!(tools.len() <= 11, "{}", tools.len());
    for (tool, listed) in TOOLS.iter().zip(&tools) {
        let reads = tool.actions.iter().filter(|action| action.reads()).count();
        assert!(reads == 0 || reads == tool.actions.len(), "{} both reads and changes", tool.name);
        let hints = &listed["annotations"];
        assert_eq!(hints["readOnlyHint"], json!(reads > 0), "{}", tool.name);
        // A client without a person refuses what destroys.
        assert_eq!(hints["destructiveHint"], false, "{}", tool.name);
        // What a tool of reading understands changes nothing either.
        assert!(reads == 0 || tool.unlisted.iter().all(|action| action.reads()), "{}", tool.name);
    }
}

#[test]
fn a_choice_of_tools_is_kept_in_the_order_of_the_table() {
    let offer = ToolSet { tools: vec!["hd_exec".into(), "session_start".into()], read_only: false };
    let names: Vec<Value> = as_json(&offer).iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["session_start", "hd_exec"]);
    assert_eq!(ToolSet { tools: vec!["hd_exe".into()], read_only: false }.unknown(), ["hd_exe"]);
}

/// Any answer that an operation could give.
fn answers() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z ]{0,40}", "[\"\\\\\n\u{1}ä語]{0,400}", "[a-z\"]{2000,5000}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from)
    ];
    let value = leaf.prop_recursive(3, 48, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            proptest::collection::vec(("[a-z_/~]{1,12}", inner), 0..8)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    });
    proptest::collection::vec(("[a-z_/~]{1,12}", value), 0..10)
        .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
}

fn check_result(value: &Value, is_error: bool) -> Result<(), TestCaseError> {
    let shown = serde_json::to_value(result(value.clone(), is_error)).expect("JSON");
    let text = shown["content"][0]["text"].as_str().expect("text");
    let read: Value = serde_json::from_str(text).expect("the text is JSON");
    prop_assert!(read == shown["structuredContent"], "text and structure differ");
    prop_assert_eq!(
        read.as_object().and_then(|fields| fields.keys().next().cloned()),
        Some("next_step".to_owned())
    );
    prop_assert_eq!(&shown["isError"], &json!(is_error));
    Ok(())
}

/// Reads a field back to its end, as an agent would who follows what each part says.
fn whole(cache: &AnswerCache, field: &str) -> Value {
    let mut found: Vec<Value> = Vec::new();
    let mut from = Some(0);
    while let Some(at) = from {
        let part = cache
            .read_more(
                &AnswerOwner::Local,
                &PageInput { token: "t".into(), field: field.into(), from: at },
                12_000,
            )
            .expect("kept");
        from = part["next"].as_u64().map(|next| usize::try_from(next).expect("small"));
        found.push(match (&part["read_instead"], part["field"].as_str().expect("text")) {
            (Value::Null, _) => part["value"].clone(),
            (parts, this) if this == field => return assembled(cache, parts),
            // An item of this list: one field of its own where it is no object.
            (parts, item) if parts[0]["field"] == item => json!([whole(cache, item)]),
            (parts, _) => json!([assembled(cache, parts)]),
        });
    }
    joined(found)
}

fn assembled(cache: &AnswerCache, parts: &Value) -> Value {
    let field = |part: &Value| part["field"].as_str().expect("text").to_owned();
    let key =
        |field: &str| field.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    let fields = parts.as_array().expect("parts").iter().map(field);
    Value::Object(fields.map(|field| (key(&field), whole(cache, &field))).collect())
}

fn joined(parts: Vec<Value>) -> Value {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |whole, part| match (whole, part) {
        (Value::String(before), Value::String(more)) => Value::String(before + &more),
        (Value::Array(mut before), Value::Array(more)) => {
            before.extend(more);
            Value::Array(before)
        }
        (whole, _) => whole,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    /// Over every operation of the table: the two forms agree, the next step stands first, and an answer that is too long
    /// says where it was cut.
    #[test]
    fn text_and_structure_carry_the_same_data(answer in answers(), at in any::<prop::sample::Index>()) {
        let entry = at.get(baton_ops::all::ALL);
        let answer = framed(entry.name, answer);
        let shown = truncate(&answer, Detail::Normal.limit(), "t").unwrap_or_else(|| answer.clone());
        check_result(&shown, false)?;
        prop_assert!(size(&shown) < Detail::Normal.limit(), "{} characters", size(&shown));
        if shown == answer {
            return Ok(());
        }
        let cache = AnswerCache::default();
        cache.keep(&AnswerOwner::Local, "t".into(), answer.clone());
        for part in shown["left_out"]["parts"].as_array().expect("parts") {
            let field = part["field"].as_str().expect("text");
            prop_assert!(Some(&whole(&cache, field)) == answer.pointer(field), "{field} does not read back");
        }
    }

    #[test]
    fn a_refusal_says_its_code_and_what_to_do(code in "[a-z_]{3,20}", hint in "[a-z ]{1,60}") {
        let shown = refused(ErrorObject::new(code.as_str(), "no", hint));
        check_result(&shown, true)?;
        prop_assert_eq!(&shown["error"]["code"], &json!(code));
        prop_assert!(shown["error"]["hint"].is_string());
    }
}

/// What is left out for want of room is there in the first place.
#[test]
fn every_omitted_field_is_one_of_an_operation() {
    for tool in TOOLS {
        for name in tool.omit {
            let has = |action: &crate::table::Action| {
                let schema: Option<Value> = action.entry().map(|entry| (entry.input_schema)().into());
                schema.is_some_and(|schema| schema["properties"].get(*name).is_some())
            };
            assert!(tool.actions.iter().any(has), "{}: no operation takes `{name}`", tool.name);
        }
    }
}
