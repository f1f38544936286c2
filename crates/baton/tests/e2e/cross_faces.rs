//! A hand-off from every face: the same input has the same answer, in the seed's shapes, and every face drives what it planned.

use baton_emulator::{Fault, Options};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::cross::{beside, github, with_github};
use crate::http::{Server, request};
use crate::mcp::client::{Client, MODERN};
use crate::stage::{Stage, Terminal, text};

/// The seed's input.
fn input(dry_run: bool) -> Value {
    json!({
        "from_project_id": "shop", "to_project_id": "lib", "issues_github_repo": "o/lib", "dry_run": dry_run,
        "subject": "Add related-project discovery endpoints", "description": "Implement project_relationships table + /projects/related API",
        "tags": ["handoff", "integration"], "priority": "high",
        "links": { "source_repo": "o/shop", "source_ref": "4f2c1e9", "docs": "spec/ims_handoff.md" },
        "seed_session": { "agent_id": "implementer", "task_id": "handoff-x" }, "identity": "Ann",
    })
}

/// The same as words of a command.
fn words(dry_run: bool) -> Vec<&'static str> {
    let mut words = vec![
        "handoff",
        "create",
        "--from",
        "shop",
        "--to",
        "lib",
        "--repo",
        "o/lib",
        "--as",
        "Ann",
        "--subject",
        "Add related-project discovery endpoints",
        "--description",
        "Implement project_relationships table + /projects/related API",
        "--tag",
        "handoff",
        "--tag",
        "integration",
        "--priority",
        "high",
        "--link",
        "source_repo=o/shop",
        "--link",
        "source_ref=4f2c1e9",
        "--link",
        "docs=spec/ims_handoff.md",
        "--seed-agent",
        "implementer",
        "--seed-task",
        "handoff-x",
    ];
    if dry_run {
        words.push("--dry-run");
    }
    words
}

/// What differs from one hand-off to the next is named by its kind. Only the first is not like another one.
fn steady(value: Value) -> Value {
    match value {
        Value::String(text) => json!(steady_text(&text)),
        Value::Array(items) => {
            // Of a document only a machine of the caller's reads anything.
            let is_steady =
                |item: &Value| item["kind"] != "same_handoff" && item["kind"] != "document_left_out";
            items.into_iter().filter(is_steady).map(steady).collect()
        }
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| {
                let value =
                    if key == "github_issue" && value.is_i64() { json!("«number»") } else { steady(value) };
                (key, value)
            };
            let steady_fields = fields.into_iter().filter(|(key, _)| key != "would_send_documents");
            Value::Object(steady_fields.map(field).collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn steady_text(text: &str) -> String {
    let is_id = |text: &str| text.len() == 36 && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let number = |text: &str, before: &str| -> Option<String> {
        let (head, tail) = text.split_once(before)?;
        let digits = tail.chars().take_while(char::is_ascii_digit).count();
        (digits > 0).then(|| format!("{head}{before}«number»{}", &tail[digits..]))
    };
    let text = match text.split_once("http://127.0.0.1:") {
        Some((head, tail)) => {
            format!("{head}http://«hub»{}", tail.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => text.to_owned(),
    };
    if is_id(&text) {
        "«id»".to_owned()
    } else if text.len() >= 20 && text.ends_with('Z') && text.contains('T') {
        "«time»".to_owned()
    } else {
        let text = number(&text, "gh-o/lib-").unwrap_or(text);
        number(&text, "/issues/").unwrap_or(text)
    }
}

/// Without what the face of agents puts before every answer.
fn without_frame(mut answer: Value) -> Value {
    answer.as_object_mut().expect("an object").shift_remove("next_step");
    answer
}

#[test]
fn the_seeds_shapes_are_the_same_on_every_face() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let server = Server::start(&with_github(&stage.terminal("Server"), &hub));
    let mut pipe = Client::pipe(&ann, MODERN);
    let mut web = Client::web(&server.address, MODERN);
    for dry_run in [true, false] {
        let params = input(dry_run);
        let command = steady(ann.json(&words(dry_run)));
        let rest = request(&server.address, "POST", "/api/v1/handoffs", params.to_string().as_bytes(), &[])
            .expect("an answer");
        assert_eq!(rest.status, if dry_run { 200 } else { 201 }, "nothing is made by a dry run: {rest:#?}");
        let place = rest.header("location");
        let made = rest.json();
        if !dry_run {
            let place = place.expect("where it is");
            let seen = request(&server.address, "GET", &place, b"", &[]).expect("an answer").json();
            assert_eq!(seen["handoff_id"], made["handoff_id"], "{place}");
        }
        assert_eq!(steady(made), command, "REST");
        assert_eq!(steady(server.ok("handoff_create", &params)), command, "operation");
        assert_eq!(
            steady(without_frame(pipe.done("handoff_create", params.clone()))),
            command,
            "MCP on a pipe"
        );
        assert_eq!(steady(without_frame(web.done("ims.handoff.create", params))), command, "MCP over HTTP");
        let name = if dry_run { "dry_run" } else { "success" };
        assert_snapshot!(name, format!("{command:#}"));
        if !dry_run {
            assert_eq!(command["state"], "offered");
        }
    }
    assert_snapshot!("input", format!("{:#}", input(false)));
    assert_eq!(hub.hub().issues("o/lib").len(), 5, "one for each that was no dry run");
}

#[test]
fn what_is_not_done_in_time_is_said_to_be_on_its_way() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let server = Server::start(&with_github(&stage.terminal("Server"), &hub));
    hub.script(Some(Box::new(|_| Fault::Refuse(503, None))));
    let params = input(false).to_string();
    let later = request(&server.address, "POST", "/handoffs", params.as_bytes(), &[]).expect("an answer");
    assert_eq!((later.status, later.json()["state"].clone()), (202, json!("pending")), "{later:#?}");
    assert!(text(&later.json(), "last_error").contains("503"), "{later:#?}");
    hub.script(None);
    let place = later.header("location").expect("where to look");
    let retry = request(&server.address, "POST", &format!("{place}/retry"), b"{}", &[]).expect("an answer");
    assert_eq!((retry.status, retry.json()["state"].clone()), (200, json!("offered")), "{retry:#?}");
    assert_eq!(hub.hub().issues("o/lib").len(), 1);
}

#[test]
fn an_agent_on_a_pipe_does_all_of_it_by_itself() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob").within(stage.root().join("lib")));
    let mut sender = Client::pipe(&with_github(&ann, &hub), MODERN);
    let mut receiver = Client::pipe(&with_github(&bob, &hub), MODERN);
    let made = sender.done("handoff_create", input(false));
    assert_eq!(made["state"], "offered", "{made:#}");
    let id = text(&made, "handoff_id");
    let picked = receiver.done("hd_exec", json!({ "handoff_id": id }));
    assert_eq!(picked["handoff"]["state"], "accepted", "{picked:#}");
    let done = receiver.done("handoff", json!({ "action": "complete", "id": id, "result": "merged" }));
    assert_eq!(done["state"], "completed", "{done:#}");
    let hub = hub.hub();
    let issue = &hub.issues("o/lib")[0];
    assert_eq!((issue.open, issue.reason.as_deref()), (false, Some("completed")), "{issue:#?}");
    assert_eq!(issue.comments.len(), 2, "{issue:#?}");
}

/// A returned hand-off stays in the sender's inbox until the sender reads it, on any face. A read by another identity or with a
/// read-only token does not clear it.
#[test]
fn a_hand_off_that_came_back_is_seen_by_its_sender_on_every_face() {
    let stage = Stage::ready();
    beside(&stage);
    let (ann, ben) = (stage.terminal("Ann"), stage.terminal("Ben"));
    let token = |args: &[&str]| {
        let made = stage.terminal("Owner").json(&[&["token", "create"], args].concat());
        format!("Bearer {}", text(&made, "token"))
    };
    let reads = token(&["--scope", "read", "--identity", "Ann", "--name", "reads"]);
    let writes = token(&["--scope", "write", "--identity", "Ann", "--name", "writes"]);
    let zoe = token(&["--scope", "write", "--identity", "Zoe"]);
    let server = Server::start(&stage.terminal("Server"));
    let returned = || {
        let made = ann.json(&["handoff", "create", "--to", "lib", "--subject", "The guide", "--local"]);
        let id = text(&made, "handoff_id");
        ben.json(&["handoff", "decline", &id, "--why", "not now"]);
        id
    };
    let matters = || ann.json(&["attention"])["sections"]["mine"].clone();
    let mcp = |terminal: &Terminal<'_>, more: Value, id: &str| {
        let mut input = json!({ "action": "get", "id": id });
        input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let shown = Client::pipe(terminal, MODERN).done("inbox", input);
        assert_eq!(shown["state"], "declined", "{shown:#}");
    };
    let http = |bearer: &str, id: &str| {
        let headers = [("authorization", bearer)];
        let path = format!("/api/v1/handoffs/{id}");
        let shown = request(&server.address, "GET", &path, b"", &headers).expect("an answer");
        assert_eq!((shown.status, shown.json()["state"].clone()), (200, json!("declined")), "{shown:#?}");
    };
    let id = returned();
    mcp(&stage.terminal("Zoe"), json!({}), &id);
    http(&zoe, &id);
    http(&reads, &id);
    assert_eq!(matters(), 1, "its sender has not read it, or may only read");
    http(&writes, &id);
    assert_eq!(matters(), 0);
    let id = returned();
    mcp(&ann, json!({}), &id);
    assert_eq!(matters(), 0);
    let id = returned();
    mcp(&stage.terminal("Zoe"), json!({ "identity": "Ann" }), &id);
    assert_eq!(matters(), 0, "the name that the call gives counts");
    let id = returned();
    let far = stage.terminal("Ann").with("BATON_SERVER", format!("http://{}", server.address));
    far.with("BATON_TOKEN", writes.trim_start_matches("Bearer ")).json(&["handoff", "show", &id]);
    assert_eq!(matters(), 0, "through a server");
}

/// What is assigned to the caller is the first that can be worked on, on every face.
#[test]
fn what_is_assigned_to_the_caller_is_ready_first_on_every_face() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    for (title, more) in [("anybody's", &[][..]), ("Ann's", &["--assignee", "Ann"])] {
        ann.json(&[&["task", "create", title], more].concat());
    }
    let titles = |answer: &Value| {
        let rows = answer["items"].as_array().cloned().unwrap_or_default();
        rows.iter().map(|row| (text(row, "title"), row["is_own"] == true)).collect::<Vec<_>>()
    };
    let own_first = [("Ann's".to_owned(), true), ("anybody's".to_owned(), false)];
    let as_it_came = [("anybody's".to_owned(), false), ("Ann's".to_owned(), false)];
    assert_eq!(titles(&ann.json(&["task", "ready"])), own_first);
    assert_eq!(titles(&stage.terminal("Zoe").json(&["task", "ready", "--as", "Ann"])), own_first);
    assert_eq!(titles(&stage.terminal("Zoe").json(&["task", "ready"])), as_it_came);
    let mut client = Client::pipe(&ann, MODERN);
    assert_eq!(titles(&client.done("task_read", json!({ "action": "ready" }))), own_first);
    let mut client = Client::pipe(&stage.terminal("Zoe"), MODERN);
    assert_eq!(titles(&client.done("task_read", json!({ "action": "ready" }))), as_it_came);
    assert_eq!(titles(&client.done("task_read", json!({ "action": "ready", "identity": "Ann" }))), own_first);
    let server = Server::start(&stage.terminal("Server"));
    let get = |who: &str| {
        let caller = crate::http::caller(who, "shop");
        let headers = [("baton-caller", caller.as_str())];
        request(&server.address, "GET", "/api/v1/projects/shop/ready", b"", &headers)
            .expect("an answer")
            .json()
    };
    assert_eq!(titles(&get("Ann")), own_first);
    assert_eq!(titles(&get("Zoe")), as_it_came);
    let text = ann.text(&["task", "ready"]);
    assert!(
        text.lines().next().is_some_and(|line| line.contains("Ann's") && line.ends_with("yours")),
        "{text}"
    );
}
