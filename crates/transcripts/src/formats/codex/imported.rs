//! Sessions of another agent that Codex imported: calls and results stand as text in messages.
//!
//! `[external_agent_tool_call: Bash]`, lines such as `command: npm test`, `[/external_agent_tool_call]`; the result in
//! `[external_agent_tool_result]` or `[external_agent_tool_result: error]` until `[/external_agent_tool_result]`.

use serde_json::{Map, Value};

const CALL: &str = "[external_agent_tool_call";
const CALL_END: &str = "[/external_agent_tool_call]";
const RESULT: &str = "[external_agent_tool_result";
const RESULT_END: &str = "[/external_agent_tool_result]";
const MARK: &str = "<EXTERNAL SESSION IMPORTED>";

/// A piece of an imported message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// What was said.
    Words(&'a str),
    /// A call: the tool, and its arguments as JSON.
    Call { name: &'a str, args: String },
    /// What a call returned.
    Result { failed: bool, text: &'a str },
}

/// Whether a message is one that was imported.
pub(super) fn is_imported(text: &str) -> bool {
    [CALL, RESULT, MARK].iter().any(|mark| text.contains(mark))
}

/// The pieces of an imported message, in their order. A block without an end goes to the end of the message.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let at = [CALL, RESULT].iter().filter_map(|mark| rest.find(mark)).min();
        let (words, block) = rest.split_at(at.unwrap_or(rest.len()));
        let words = words.trim().trim_end_matches(MARK).trim();
        if !words.is_empty() {
            all.push(Piece::Words(words));
        }
        let is_call = block.starts_with(CALL);
        let (start, end) = if is_call { (CALL, CALL_END) } else { (RESULT, RESULT_END) };
        let Some((head, body)) = block.strip_prefix(start).and_then(|block| block.split_once(']')) else {
            return all;
        };
        let head = head.trim_start_matches(':').trim();
        let (body, after) = body.split_once(end).unwrap_or((body, ""));
        all.push(match is_call {
            true => Piece::Call { name: head, args: arguments(body) },
            false => Piece::Result { failed: head == "error", text: body.trim() },
        });
        rest = after;
    }
}

/// Lines `key: value` as JSON; a line without a key goes on with the value before it.
fn arguments(body: &str) -> String {
    let mut map = Map::new();
    let mut last: Option<(String, String)> = None;
    for line in body.trim().lines() {
        let named = line.split_once(": ").or_else(|| line.strip_suffix(':').map(|key| (key, "")));
        match (named.filter(|(key, _)| is_key(key)), &mut last) {
            (Some((key, value)), _) => {
                map.extend(last.take().map(|(key, value)| (key, Value::String(value))));
                last = Some((key.to_owned(), value.to_owned()));
            }
            (None, Some((_, value))) => {
                value.push('\n');
                value.push_str(line);
            }
            (None, None) => {}
        }
    }
    map.extend(last.map(|(key, value)| (key, Value::String(value))));
    Value::Object(map).to_string()
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imported_message_falls_into_words_calls_and_results() {
        let text = "Looking.\n[external_agent_tool_call: Bash]\ncommand: printf 'a\n: b'\ndescription: x\n[/external_agent_tool_call]\n[external_agent_tool_result: error]\nExit code 3\nno\n[/external_agent_tool_result]\n<EXTERNAL SESSION IMPORTED>";
        let args = r#"{"command":"printf 'a\n: b'","description":"x"}"#.to_owned();
        assert_eq!(
            pieces(text),
            [
                Piece::Words("Looking."),
                Piece::Call { name: "Bash", args },
                Piece::Result { failed: true, text: "Exit code 3\nno" },
            ]
        );
        assert_eq!(pieces("[external_agent_tool_result]\nok"), [Piece::Result { failed: false, text: "ok" }]);
        assert_eq!(pieces("[external_agent_tool_call"), []);
    }
}
