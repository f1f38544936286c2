//! What a face reads of an operation's answer it reads from its `Output`: no field by its name as a string, and no operation named
//! by one. What is no answer of ours, or is written for a protocol, is read by key in the places of `EDGES`.

use std::collections::BTreeSet;

use crate::source::{Kind, Source, Token, Violation};

/// The crates that are faces.
const FACES: [&str; 2] = ["crates/baton/src/", "crates/mcp/src/"];

/// Files and folders of the faces that read JSON by key.
pub(crate) const EDGES: [&str; 12] = [
    // The envelope: messages of JSON-RPC before it is known that they are any, and an answer that is cut where a client says.
    "crates/mcp/src/incoming.rs",
    "crates/mcp/src/truncate.rs",
    // JSON Schema of tools and paths.
    "crates/mcp/src/schema.rs",
    "crates/mcp/src/table.rs",
    "crates/baton/src/http/openapi.rs",
    "crates/baton/src/http/rest.rs",
    // The input of any operation, in which stand-ins are put where its `Meta` says.
    "crates/baton/src/remote/placeholder.rs",
    // Formats of others: settings and hooks of agents, lines of Beads, answers of GitHub, Qdrant and providers of embeddings.
    "crates/baton/src/install/",
    "crates/baton/src/hook/payload.rs",
    "crates/baton/src/merge_driver.rs",
    "crates/baton/src/cli/bd/nameless.rs",
    "crates/baton/src/relay/github_http.rs",
];

/// What is looked up by name and is no JSON: settings, variables and headers; and the details of a refusal, which are open facts.
const MAPS: [&str; 6] = ["arguments", "details", "headers", "origins", "vars", "parameters"];

/// Words before a list, which is no index then.
const BEFORE_LIST: [&str; 5] = ["else", "in", "match", "return", "break"];

/// Fields that a face reads by their names.
pub(crate) fn by_key(source: &Source) -> Vec<Violation> {
    let is_edge = EDGES.iter().any(|edge| source.path.starts_with(edge));
    if !is_face(source) || is_edge { Vec::new() } else { reads(source) }
}

/// Edges at which nothing is read by key any more.
pub(crate) fn stale(sources: &[Source]) -> Vec<Violation> {
    let is_needed = |edge: &&str| {
        let mut of_edge = sources.iter().filter(|source| source.path.starts_with(*edge));
        of_edge.any(|source| !reads(source).is_empty())
    };
    let what =
        "nothing is read by key here any more: take it out of `EDGES` in crates/model/tests/house/answers.rs";
    EDGES.iter().filter(|edge| !is_needed(edge)).map(|edge| Violation::new(edge, 0, what)).collect()
}

fn is_face(source: &Source) -> bool {
    FACES.iter().any(|face| source.path.starts_with(face))
}

fn reads(source: &Source) -> Vec<Violation> {
    let tokens = &source.tokens;
    let read = source.production().filter(|(at, token)| {
        let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
        match token.text.as_str() {
            // `answer["field"]`
            "[" => before(1).is_some_and(is_value) && is_key(source, *at) && source.is(at + 2, "]"),
            // `answer.get("field")`
            "(" => {
                let is_look_up = before(1).is_some_and(|name| LOOK_UPS.contains(&name.text.as_str()));
                is_look_up && source.is(at - 2, ".") && is_key(source, *at) && !is_map(source, at - 2)
            }
            _ => false,
        }
    });
    let what = "a field is read by its name: deserialize the answer as the operation's `Output`, what every answer may have by \
                `AnswerView`, an input by `InputView`, the body of a delta by `Row::fields`";
    read.map(|(_, token)| Violation::new(&source.path, token.line, what)).collect()
}

/// Methods of a JSON value that look a field up.
const LOOK_UPS: [&str; 5] = ["get", "get_mut", "pointer", "pointer_mut", "shift_remove"];

fn is_key(source: &Source, open: usize) -> bool {
    source.tokens.get(open).is_some_and(|token| token.kind == Kind::Open)
        && source.tokens.get(open + 1).is_some_and(|token| token.kind == Kind::Text)
}

/// Whether a value ends here, so that a bracket after it is an index.
fn is_value(token: &Token) -> bool {
    match token.kind {
        Kind::Word => !BEFORE_LIST.contains(&token.text.as_str()),
        Kind::Close => token.text != "}",
        _ => token.text == "?",
    }
}

/// Whether what stands before the dot is one of `MAPS`, as a name or a call.
fn is_map(source: &Source, dot: usize) -> bool {
    let before = |back: usize| dot.checked_sub(back).map(|at| source.tokens[at].text.as_str());
    let name = if before(1) == Some(")") && before(2) == Some("(") { before(3) } else { before(1) };
    name.is_some_and(|name| MAPS.contains(&name))
}

/// The names of all operations, out of their `META`.
pub(crate) fn operations(sources: &[Source]) -> BTreeSet<String> {
    let of_ops = sources.iter().filter(|source| source.path.starts_with("crates/ops/src/"));
    let names = of_ops.flat_map(|source| {
        let starts = source
            .production()
            .filter(|(at, token)| token.text == "Meta" && source.is(at + 1, "::") && source.is(at + 3, "("));
        starts.filter_map(|(at, _)| source.tokens.get(at + 4).filter(|name| name.kind == Kind::Text))
    });
    names.map(|name| name.text.clone()).collect()
}

/// Files in which something else has the name of an operation: tools of MCP, and an event of a coding agent.
const NAMESAKES: [&str; 5] = [
    "crates/mcp/src/argument_docs.rs",
    "crates/mcp/src/prompts.rs",
    "crates/mcp/src/table.rs",
    "crates/mcp/src/tool_words.rs",
    "crates/baton/src/install/trust.rs",
];

/// Operations that a face names by a string. The code of a refusal and the alias of a command may be called like one.
pub(crate) fn by_name(source: &Source, operations: &BTreeSet<String>) -> Vec<Violation> {
    let is_free = !is_face(source) || NAMESAKES.contains(&source.path.as_str());
    let texts = source.production().filter(|(_, token)| token.kind == Kind::Text);
    let named = texts.filter(|(at, token)| {
        let has_name_of_its_own = ["code", "alias"].iter().any(|name| {
            source.is(at - 1, "=")
                && (source.is(at - 2, name) || (source.is(at - 2, "=") && source.is(at - 3, name)))
        });
        !is_free && operations.contains(&token.text) && !has_name_of_its_own
    });
    let what = |name: &str| format!("the operation `{name}` is named by a string: write its type's `NAME`");
    named.map(|(_, token)| Violation::new(&source.path, token.line, what(&token.text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        by_key(&Source::new(path, text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn a_field_that_is_read_by_its_name_is_found_in_a_face() {
        let bad = "fn f() {\n a[\"x\"];\n g()[\"x\"];\n a[0][\"x\"];\n a?[\"x\"];\n a.get(\"x\");\n a\n.pointer(\"/x\"); }\n";
        assert_eq!(found("crates/baton/src/cli/x.rs", bad), [2, 3, 4, 5, 6, 8]);
        assert_eq!(found("crates/mcp/src/x.rs", bad), [2, 3, 4, 5, 6, 8]);
        assert!(found("crates/ops/src/x.rs", bad).is_empty());
        assert!(found(EDGES[0], bad).is_empty());
        assert!(
            found("crates/baton/src/cli/x.rs", &format!("#[cfg(test)] mod tests {{ {bad} }}")).is_empty()
        );
    }

    #[test]
    fn lists_and_what_is_no_json_are_free() {
        let good = "#[arg(value = [\"x\"])]\nfn f() { for a in [\"x\"] {} g(&[\"x\"]); vec![\"x\"]; b == [\"x\"]; m[key]; m.get(key);\n\
                    vars.get(\"PATH\"); self.config.origins.get(\"x\"); r.headers().get(\"x\"); refusal.details.get(\"x\"); }\n";
        assert_eq!(found("crates/baton/src/cli/x.rs", good), [0; 0]);
    }

    #[test]
    fn an_edge_that_reads_nothing_by_key_is_stale() {
        let sources: Vec<Source> = EDGES.iter().map(|edge| Source::new(edge, "fn f() {}")).collect();
        assert_eq!(stale(&sources).len(), EDGES.len());
        let sources: Vec<Source> =
            EDGES.iter().map(|edge| Source::new(edge, "fn f() { a[\"x\"] }")).collect();
        assert!(stale(&sources).is_empty());
    }

    #[test]
    fn an_operation_that_is_named_by_a_string_is_found() {
        let ops =
            Source::new("crates/ops/src/a.rs", "const META: Meta = Meta::read(\"task_show\", \"Show it\");");
        let operations = operations(&[ops]);
        assert_eq!(operations.iter().collect::<Vec<_>>(), ["task_show"]);
        let bad = "fn f() { run(\"task_show\"); say(\"task_show it\"); }";
        assert_eq!(by_name(&Source::new("crates/mcp/src/a.rs", bad), &operations).len(), 1);
        assert!(by_name(&Source::new("crates/ops/src/a.rs", bad), &operations).is_empty());
        assert!(by_name(&Source::new(NAMESAKES[0], bad), &operations).is_empty());
        let good = "#[command(alias = \"task_show\")]\nfn f() { refusal.code == \"task_show\" }";
        assert!(by_name(&Source::new("crates/mcp/src/a.rs", good), &operations).is_empty());
    }
}
