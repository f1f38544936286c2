//! Reads the input of an operation. Of a malformed one it says which field is wrong, what came, and what would be right.

use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::priority;

/// The longest value that a refusal repeats, in characters.
const MAX_SHOWN_CHARS: usize = 40;

/// The fields of an input that mean the same whatever operation it is of, for those that handle every operation alike.
#[derive(Debug, Clone, Copy)]
pub struct InputView<'a>(pub &'a Map<String, Value>);

impl<'a> InputView<'a> {
    fn text(self, field: &str) -> Option<&'a str> {
        self.0.get(field)?.as_str()
    }

    /// What is named by its id.
    pub fn id(self) -> Option<&'a str> {
        self.text("id")
    }

    /// The project.
    pub fn project(self) -> Option<&'a str> {
        self.text("project")
    }

    /// The project in whose name something is done; a hand-off calls it the sender's.
    pub fn own_project(self) -> Option<&'a str> {
        self.0.get("project").or_else(|| self.0.get("from_project_id"))?.as_str()
    }

    /// The identity.
    pub fn identity(self) -> Option<&'a str> {
        self.text("identity")
    }

    /// Whether an identity is said, rightly or not.
    pub fn names_identity(self) -> bool {
        self.0.get("identity").is_some_and(|identity| !identity.is_null())
    }

    /// Whether nothing is to be changed.
    pub fn is_dry_run(self) -> bool {
        self.0.get("dry_run") == Some(&Value::Bool(true))
    }

    /// What marks the same request when it comes again.
    pub fn request_id(self) -> Option<&'a str> {
        self.text("request_id")
    }
}

/// Reads an input as its operation does. Numbers such as `3.0` count as integers, and words of a priority as its number.
pub fn read<T: DeserializeOwned + JsonSchema>(input: &Value) -> Result<T, Refusal> {
    // A packet has its own word for it.
    let is_packet = |key: &str| key == "packet" || key == "packet_text";
    if input
        .as_object()
        .is_some_and(|fields| fields.iter().any(|(key, value)| !is_packet(key) && has_nul(value)))
    {
        let what = "the input holds a NUL character, which no text may have";
        return Err(Refusal::invalid("input_invalid", what, "remove it"));
    }
    if let Ok(read) = T::deserialize(input) {
        return Ok(read);
    }
    let mut input = input.clone();
    let schema: Value = schemars::schema_for!(T).into();
    normalize(&mut input, &schema)?;
    serde_path_to_error::deserialize(&input)
        .map_err(|error| refusal(&error.path().to_string(), &error.inner().to_string(), &input, &schema))
}

/// Writes the fields of an integer as one, where what came means one.
fn normalize(input: &mut Value, schema: &Value) -> Result<(), Refusal> {
    for (name, value) in input.as_object_mut().into_iter().flatten() {
        if !is_of(&schema["properties"][name.as_str()], "integer") {
            continue;
        }
        if name == "priority" && value.is_string() {
            let Some(number) = priority::number(value) else {
                let what = format!("`priority` is {}, and that is no priority", shortened(value));
                return Err(Refusal::invalid("priority_invalid", what, priority::HINT));
            };
            *value = json!(number);
        }
        // Beyond 2^53 a float does not say which integer it means.
        if let Some(float) = value.as_f64().filter(|float| value.is_f64() && float.fract() == 0.0)
            && float.abs() < 9_007_199_254_740_992.0
            && let Ok(integer) = format!("{float:.0}").parse::<i64>()
        {
            *value = json!(integer);
        }
    }
    Ok(())
}

fn refusal(path: &str, error: &str, input: &Value, schema: &Value) -> Refusal {
    let outer = Some(path).filter(|path| *path != "." && *path != "?");
    let within = |name: &str| outer.map_or_else(|| name.to_owned(), |outer| format!("{outer}.{name}"));
    if let Some(name) = quoted(error, "missing field `") {
        let field = within(name);
        let doc = doc(&schema["properties"][name]);
        let hint = format!("give `{field}`{}", doc.map(|doc| format!(": {doc}")).unwrap_or_default());
        return Refusal::invalid("input_invalid", format!("`{field}` is missing"), hint).with("field", field);
    }
    if let Some(name) = quoted(error, "unknown field `") {
        return unknown_field_refusal(outer.unwrap_or(name), name, error, schema);
    }
    let Some(field) = outer else {
        return Refusal::invalid(
            "input_invalid",
            format!("the input is malformed: {error}"),
            "give an object",
        );
    };
    let steps = field.split(['.', '[']).map(|step| step.trim_end_matches(']'));
    let given = steps.clone().try_fold(input, |value, step| match step.parse::<usize>() {
        Ok(at) => value.get(at),
        Err(_) => value.get(step),
    });
    let given = given.map_or_else(|| "something else".to_owned(), shortened);
    let property = &schema["properties"][steps.clone().next().unwrap_or_default()];
    let is_inner = steps.count() > 1;
    let expected = match is_inner {
        true => error.rsplit_once("expected ").map_or(error, |(_, expected)| expected).to_owned(),
        false => kind(property, schema),
    };
    let doc = doc(property).map(|doc| format!(": {doc}")).unwrap_or_default();
    let what = format!("`{field}` is {given}, where {expected} is expected");
    let hint = format!("give {expected}{doc}");
    Refusal::invalid("input_invalid", what, hint).with("field", field).with("expected", expected)
}

fn unknown_field_refusal(field: &str, name: &str, error: &str, schema: &Value) -> Refusal {
    let known: Vec<&str> = match field == name {
        true => {
            schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
        }
        false => error.split('`').skip(3).step_by(2).collect(),
    };
    let near = suggestions(name, known.iter().copied());
    let hint = match near.as_slice() {
        [] => format!("it takes {}", known.join(", ")),
        near => format!("did you mean `{}`?", near.join("` or `")),
    };
    let what = format!("there is no field `{}`", baton_model::id::visible(field));
    Refusal::invalid("input_invalid", what, hint).with("field", field).with("near", json!(near))
}

/// The first name in the words of serde that begin so.
fn quoted<'a>(error: &'a str, begin: &str) -> Option<&'a str> {
    error.strip_prefix(begin)?.split('`').next()
}

/// What came, shortened.
fn shortened(value: &Value) -> String {
    let text = baton_model::id::visible(&value.to_string());
    if text.chars().count() <= MAX_SHOWN_CHARS {
        return text;
    }
    let kind = match value {
        Value::String(_) => "the text ",
        Value::Array(_) => "the list ",
        _ => "",
    };
    format!("{kind}{}…", text.chars().take(MAX_SHOWN_CHARS).collect::<String>())
}

/// The first sentence of what a field means.
fn doc(property: &Value) -> Option<String> {
    let text = property["description"].as_str()?.split(". ").next()?;
    Some(text.trim_end_matches('.').replace('\n', " "))
}

fn is_of(property: &Value, kind: &str) -> bool {
    match &property["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    }
}

/// The kind of value that a field takes, in words.
fn kind(property: &Value, schema: &Value) -> String {
    let options = property["anyOf"].as_array().into_iter().flatten();
    if let Some(only) = options.clone().find(|option| option["type"] != "null") {
        return kind(only, schema);
    }
    if let Some(name) = property["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return kind(&schema["$defs"][name], schema);
    }
    let variants = property["oneOf"].as_array().into_iter().flatten().map(|one| &one["const"]);
    let words: Vec<String> = property["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .chain(variants)
        .filter_map(|word| word.as_str().map(|word| format!("`{word}`")))
        .collect();
    if !words.is_empty() {
        return format!("one of {}", words.join(", "));
    }
    let kinds =
        [("integer", "an integer"), ("number", "a number"), ("string", "text"), ("boolean", "true or false")];
    if let Some((_, words)) = kinds.iter().find(|(kind, _)| is_of(property, kind)) {
        return (*words).to_owned();
    }
    match is_of(property, "array") {
        true => "a list".to_owned(),
        false => "an object".to_owned(),
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::CreateInput;
    use crate::task;

    #[track_caller]
    fn check<T: DeserializeOwned + JsonSchema>(input: Value, message: &str, hint: &str) {
        let Err(refusal) = read::<T>(&input) else { panic!("it is read") };
        assert_eq!((refusal.message.as_str(), refusal.hint.as_str()), (message, hint));
    }

    #[test]
    fn a_refusal_names_the_field_what_came_and_what_would_be_right() {
        check::<task::CreateInput>(
            json!({}),
            "`title` is missing",
            "give `title`: One line of at most 500 bytes",
        );
        check::<CreateInput>(
            json!({ "to_project_id": "q", "subject": "s", "tags": "bug" }),
            "`tags` is \"bug\", where a list is expected",
            "give a list: Labels of the task",
        );
        check::<CreateInput>(
            json!({ "to_project_id": "q", "subject": "s", "dry_run": "x".repeat(60) }),
            &format!("`dry_run` is the text \"{}…, where true or false is expected", "x".repeat(39)),
            "give true or false: Check and show what would be written; write nothing",
        );
        check::<CreateInput>(
            json!({ "to_project": "q", "subject": "s" }),
            "there is no field `to_project`",
            "did you mean `to_project_id`?",
        );
        check::<CreateInput>(
            json!({ "to_project_id": "q", "subject": "s", "seed_session": { "agent": 1 } }),
            "there is no field `seed_session.agent`",
            "did you mean `agent_id`?",
        );
        check::<CreateInput>(
            json!({ "to_project_id": "q", "subject": "s", "tags": ["a", 5] }),
            "`tags[1]` is 5, where a string is expected",
            "give a string: Labels of the task",
        );
        check::<task::CreateInput>(
            json!({ "title": "t", "priority": "soonish" }),
            "`priority` is \"soonish\", and that is no priority",
            priority::HINT,
        );
        check::<task::CreateInput>(
            json!({ "title": "t", "priority": 1.5 }),
            "`priority` is 1.5, where an integer is expected",
            "give an integer: 0 (now) to 4 (some day)",
        );
    }

    #[test]
    fn what_means_an_integer_is_one() {
        for (given, expected) in [(json!(3.0), 3), (json!("high"), 1), (json!("P4"), 4), (json!(0), 0)] {
            let read = read::<task::CreateInput>(&json!({ "title": "t", "priority": given }));
            assert_eq!(read.map(|input| input.priority).ok(), Some(expected), "{given}");
        }
    }
}
