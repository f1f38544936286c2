//! What a client sent, as far as it can be read: every request is answered, also one that cannot be parsed, because a client
//! waits for its answer.

use baton_model::lossless_json::require_lossless;
use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorData, JsonRpcError, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

/// The requests of the protocol that a client makes.
const METHODS: [&str; 14] = [
    "initialize",
    "server/discover",
    "ping",
    "completion/complete",
    "logging/setLevel",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "tools/call",
    "tools/list",
];

/// Those that the newer protocol no longer has: over HTTP they are answered as methods that do not exist, with 404.
const REMOVED: [&str; 4] = ["initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// A message that came in.
pub(crate) enum Incoming {
    /// It goes to the handler.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// It is answered here.
    Refused(Box<JsonRpcError>),
    /// Nothing waits for an answer to it.
    Nothing,
}

impl Incoming {
    /// Reads one message.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii();
        if bytes.is_empty() {
            return Self::Nothing;
        }
        match serde_json::from_slice(bytes).and_then(|message| require_lossless(bytes).map(|()| message)) {
            Ok(message) => Self::fitting(message),
            Err(error) => match serde_json::from_slice::<Value>(bytes) {
                Ok(value) => Self::misshapen(&value, &error),
                Err(_) => Self::unreadable(bytes, &error),
            },
        }
    }

    /// Rejects a request whose parameters do not fit its method with `invalid params`; the library would report an
    /// unknown method.
    fn fitting(message: RxJsonRpcMessage<RoleServer>) -> Self {
        if let JsonRpcMessage::Request(call) = &message
            && let ClientRequest::CustomRequest(custom) = &call.request
            && METHODS.contains(&custom.method.as_str())
        {
            let what = format!("the parameters of {} do not fit: see its schema", custom.method);
            return Self::refused(Some(call.id.clone()), ErrorData::invalid_params(what, None));
        }
        Self::Message(Box::new(message))
    }

    /// A message that is too long to be read; this is how it begins.
    pub(crate) fn too_long(beginning: &[u8], most: usize) -> Self {
        let what = format!("the message has more than {most} bytes");
        Self::of(PartialMessage::of(beginning), ErrorData::invalid_request(what, None))
    }

    /// JSON, but no message of the protocol.
    fn misshapen(value: &Value, error: &serde_json::Error) -> Self {
        let id = value.get("id").cloned().and_then(|id| serde_json::from_value(id).ok());
        let is_call = value.get("jsonrpc").is_some_and(|version| version == "2.0");
        match (value.get("method").and_then(Value::as_str), id) {
            // A notification of another protocol, or one with malformed parameters: it needs no answer.
            (Some(_), None) if value.get("id").is_none() => Self::Nothing,
            (Some(method), Some(id)) if is_call => {
                let what =
                    format!("the parameters of {} do not fit: {error}", baton_model::id::visible(method));
                Self::refused(Some(id), ErrorData::invalid_params(what, None))
            }
            (_, id) => {
                let outline = PartialMessage { id, is_answer: is_answer(value), is_call: false };
                Self::of(outline, ErrorData::invalid_request(format!("no JSON-RPC message: {error}"), None))
            }
        }
    }

    /// No JSON.
    fn unreadable(bytes: &[u8], error: &serde_json::Error) -> Self {
        let what = format!("the message is not valid JSON: {error}");
        Self::of(PartialMessage::of(bytes), ErrorData::parse_error(what, None))
    }

    fn of(outline: PartialMessage, error: ErrorData) -> Self {
        match (outline.id, outline.is_answer) {
            // A malformed response to a request of the server: passed on as an error, so that its caller does not wait
            // for ever.
            (Some(id), true) => Self::Message(Box::new(JsonRpcMessage::error(error, Some(id)))),
            (None, true) => Self::Nothing,
            (id, false) => Self::refused(id, error),
        }
    }

    fn refused(id: Option<RequestId>, error: ErrorData) -> Self {
        Self::Refused(Box::new(JsonRpcError::new(id, error)))
    }
}

fn is_answer(value: &Value) -> bool {
    value.get("method").is_none() && (value.get("result").is_some() || value.get("error").is_some())
}

/// What is known of a message that cannot be parsed: the fields of its outermost object, as far as they are there.
#[derive(Debug, Default, PartialEq)]
struct PartialMessage {
    id: Option<RequestId>,
    /// It answers a request.
    is_answer: bool,
    /// It names a method.
    is_call: bool,
}

impl PartialMessage {
    fn of(bytes: &[u8]) -> Self {
        let mut outline = Self::default();
        let (mut depth, mut at, mut is_key) = (0_usize, 0, false);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => {
                    depth += 1;
                    is_key = depth == 1 && *byte == b'{';
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' => is_key = depth == 1,
                b'"' => {
                    let end = end_of_string(bytes, at);
                    if is_key && depth == 1 {
                        outline.field(&bytes[at..end], &bytes[end..]);
                        is_key = false;
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        outline.is_answer &= !outline.is_call;
        outline
    }

    fn field(&mut self, name: &[u8], rest: &[u8]) {
        let Some(value) = rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start) else {
            return;
        };
        match name {
            b"\"id\"" if self.id.is_none() => self.id = id(value),
            b"\"method\"" => self.is_call = true,
            b"\"result\"" | b"\"error\"" => self.is_answer = true,
            _ => {}
        }
    }
}

/// Where a string that begins here is over.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn id(value: &[u8]) -> Option<RequestId> {
    let end = match value.first()? {
        b'"' => end_of_string(value, 0),
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace())?,
    };
    serde_json::from_slice(&value[..end]).ok()
}

/// Serialises a message. If the id of the request is unknown, it is null, as JSON-RPC requires.
pub(crate) fn to_json(message: &impl serde::Serialize) -> Result<Value, serde_json::Error> {
    let mut value = serde_json::to_value(message)?;
    if let Some(fields) = value.as_object_mut()
        && fields.contains_key("error")
        && !fields.contains_key("id")
    {
        fields.insert("id".into(), Value::Null);
    }
    Ok(value)
}

/// What becomes of a body that does not go to the handler.
pub enum UnhandledBody {
    /// It is no message of the protocol: this is the answer.
    Error(Value),
    /// A notification that says nothing to this server.
    Notification,
}

/// What becomes of a body over HTTP; nothing for one that goes to the handler.
pub fn unhandled(body: &[u8]) -> Option<UnhandledBody> {
    if let Ok(JsonRpcMessage::Request(call)) = serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(body)
        && let ClientRequest::CustomRequest(custom) = &call.request
        && REMOVED.contains(&custom.method.as_str())
    {
        return None;
    }
    match Incoming::read(body) {
        Incoming::Message(_) => None,
        Incoming::Refused(error) => to_json(&*error).ok().map(UnhandledBody::Error),
        Incoming::Nothing if body.trim_ascii().is_empty() => {
            let empty = ErrorData::parse_error("the message is empty", None);
            to_json(&JsonRpcError::new(None, empty)).ok().map(UnhandledBody::Error)
        }
        Incoming::Nothing => Some(UnhandledBody::Notification),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(line: &[u8]) -> Option<(i32, Value)> {
        match Incoming::read(line) {
            Incoming::Refused(error) => {
                let json = to_json(&*error).unwrap_or_default();
                Some((error.error.code.0, json["id"].clone()))
            }
            _ => None,
        }
    }

    fn call(arguments: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"note","arguments":{{"id":"x","text":{arguments}}}}}}}"#
        )
    }

    #[test]
    fn half_an_emoji_is_answered_under_its_id() {
        assert_eq!(refused(call(r#""\ud83d""#).as_bytes()), Some((-32700, 7.into())));
        let late =
            r#"{"method":"tools/call","params":{"id":9,"a":"\ud83d"},"id":"late \" one","jsonrpc":"2.0"}"#;
        assert_eq!(refused(late.as_bytes()), Some((-32700, "late \" one".into())));
    }

    #[test]
    fn an_argument_that_is_given_twice_is_refused() {
        assert_eq!(refused(call(r#""a","text":"b""#).as_bytes()), Some((-32602, 7.into())));
    }

    #[test]
    fn bytes_that_are_no_text_are_answered_under_their_id() {
        let mut line = call("\"?\"").into_bytes();
        for byte in &mut line {
            if *byte == b'?' {
                *byte = 0xff;
            }
        }
        assert_eq!(refused(&line), Some((-32700, 7.into())));
    }

    #[test]
    fn what_is_nested_too_deep_is_answered_under_its_id() {
        for depth in [200, 5_000, 100_000] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(refused(call(&deep).as_bytes()), Some((-32700, 7.into())), "{depth}");
        }
    }

    #[test]
    fn what_has_no_id_is_answered_without_one() {
        for line in ["hello", "{", "{\"id\":", "{\"id\":1", "{\"a\":{\"id\":1}", "\u{1b}[31m", "[{\"id\":1}"]
        {
            assert_eq!(refused(line.as_bytes()), Some((-32700, Value::Null)), "{line}");
        }
        for line in ["[]", "1", "null", "{}"] {
            assert_eq!(refused(line.as_bytes()), Some((-32600, Value::Null)), "{line}");
        }
        assert_eq!(refused(br#"{"id":3,"method":"tools/call"}"#), Some((-32600, 3.into())));
    }

    #[test]
    fn parameters_that_do_not_fit_are_said_to_be() {
        for params in ["[]", "1", r#"{"name":5}"#, r#"{"name":"note","arguments":[]}"#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            assert_eq!(refused(line.as_bytes()), Some((-32602, 1.into())), "{params}");
        }
    }

    #[test]
    fn a_damaged_answer_reaches_who_asked() {
        let line = r#"{"jsonrpc":"2.0","id":4,"result":{"content":{"identity":"\ud83d"}}}"#;
        match Incoming::read(line.as_bytes()) {
            Incoming::Message(message) => assert!(matches!(
                *message,
                JsonRpcMessage::Error(JsonRpcError { id: Some(RequestId::Number(4)), .. })
            )),
            _ => panic!("whoever asked waits"),
        }
    }

    #[test]
    fn what_nobody_waits_for_is_left_alone() {
        for line in ["", "\r", r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":5}"#] {
            assert!(refused(line.as_bytes()).is_none(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_comes_in_is_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unhandled(&bytes);
            let _ = Incoming::too_long(&bytes, 10);
        }

        /// Whatever is wrong behind the id, the request is answered under it.
        #[test]
        fn a_cut_call_is_answered_under_its_id(cut in 0_usize..90, id in 0_i64..1_000) {
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","#);
            let whole = format!(r#"{head}"params":{{"name":"note","arguments":{{"text":"{{[\"\\"}}}}}}"#);
            let end = (head.len() + cut).min(whole.len() - 1);
            let answered = refused(&whole.as_bytes()[..end]);
            prop_assert_eq!(answered, Some((-32700, id.into())));
        }
    }
}
