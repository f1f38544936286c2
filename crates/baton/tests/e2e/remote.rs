//! The command line and the pipe as clients of a server: the same answers, refusals and exit codes as with a store.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::Server;
use crate::mcp::client::{Client, MODERN};
use crate::stage::{Stage, ended_process, items, text};
use crate::words::steady;

/// A session of Claude Code in the repository of the stage.
const SESSION: &str = "11111111-aaaa-4000-8000-00000000abcd";

/// A repository with a commit, a roles file, a document and a transcript, on a machine that is called `laptop`.
fn furnished(stage: Stage) -> Stage {
    let shop = stage.shop();
    fs::create_dir_all(shop.join("docs")).expect("folder");
    fs::write(shop.join("docs/cart.md"), "# Cart\n").expect("written");
    fs::write(shop.join("state.json"), "{\"k\": 1}").expect("written");
    fs::write(
        shop.join("AGENT_ROLES.yaml"),
        "agent_roles:\n  testing-specialist:\n    max_concurrent_tasks: 2\n",
    )
    .expect("written");
    for args in [&["add", "."][..], &["commit", "-qm", "first"]] {
        let mut git = Command::new("git");
        git.current_dir(&shop).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]).args(args);
        // The same commit in every repository.
        git.env("GIT_AUTHOR_DATE", "2026-11-20T10:00:00Z").env("GIT_COMMITTER_DATE", "2026-11-20T10:00:00Z");
        assert!(git.status().expect("git runs").success());
    }
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    let mut lines = String::new();
    for line in fs::read_to_string(sample).expect("a sample").lines() {
        let mut event: serde_json::Value = serde_json::from_str(line).expect("a line of the sample");
        for (key, value) in [("cwd", shop.display().to_string()), ("sessionId", SESSION.to_owned())] {
            if event.get(key).is_some() {
                event[key] = value.into();
            }
        }
        lines.push_str(&format!("{event}\n"));
    }
    stage.file(&format!("home/.claude/projects/-shop/{SESSION}.jsonl"), lines);
    stage
}

/// Without numbers of the ledger: a server drives a hand-off in other steps than a command, and each counts.
fn unnumbered(line: &str) -> String {
    let mut parts = line.split("\"seq\":");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        format!("{text}\"seq\":«n»{rest}")
    })
}

/// Without the store that a refusal names: it is the server's address where there is one.
fn without_store(line: String) -> String {
    let parts =
        line.split_once(",\"store\":\"").and_then(|(head, rest)| Some((head, rest.split_once('"')?.1)));
    parts.map_or_else(|| line.clone(), |(head, tail)| format!("{head}{tail}"))
}

/// What a team does in a day, each command with everything that it says.
fn day(stage: &Stage) -> Vec<String> {
    let mut outputs = Vec::new();
    let mut last = String::new();
    for line in DAY.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (who, call) = line.split_once(": ").expect("who: what");
        let (who, gone) = who.strip_suffix('†').map_or((who, false), |who| (who, true));
        let mut terminal = stage.terminal(who).with("BATON_MACHINE", "laptop");
        if gone {
            terminal.set("BATON_PROCESS", ended_process());
        }
        let call = call.replace('@', &last);
        let answer = terminal.shell(&format!("\"$BATON\" {call}"));
        // The next line may name what this one made, or what it was about.
        if let Ok(json) = serde_json::from_str::<serde_json::Value>(&answer.out) {
            let made = ["message_id", "task_id", "id", "handoff_id", "memory_id"].iter();
            if let Some(id) = made.filter_map(|key| json[*key].as_str()).next() {
                id.clone_into(&mut last);
            }
        }
        let shown = steady(&format!("exit {}\n{}{}", answer.code, answer.out, answer.err), stage);
        // Keys and handles are made anew, and the names of the two folders need not be of one length.
        let own = [
            "\"bytes\"",
            "\"tokens\"",
            "\"silent_for_s\"",
            "\"task_id\": \"handoff-",
            "\"description\": \"Work on task",
        ];
        let is_steady =
            |line: &&str| !line.contains("age1") && !own.iter().any(|key| line.trim().starts_with(key));
        let shown: Vec<String> = shown.lines().filter(is_steady).map(unnumbered).map(without_store).collect();
        let root = stage.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shown: Vec<String> = shown.iter().map(|line| line.replace(&root, "«root»")).collect();
        outputs.push(format!("{line}\n{}", shown.join("\n")));
    }
    outputs
}

const DAY: &str = "
    Lola: init
    Lola: init --json
    Lola: start --json
    Lola: status
    Lola: checkpoint --summary half --state state.json --json
    Lola: checkpoint --summary more --state state.json --expected-version 7 --json
    Lola: note 'the tests are slow' --json
    Lola: decide --why 'one place' 'round once' --json
    Lola: signal send --to Donna look --json
    Lola: wrap --summary built --next test --focus cart --json
    Donna: pickup --dry-run --json
    Donna: pickup
    Ann: pickup --json
    Lola: checkpoint --summary late --json
    Donna: pickup --handoff 0000 --json
    Donna: status --json
    Ann†: start --json
    Ann: start --json
    Ann: end --json
    Lola: agent register --role implementation --json
    Tess: agent register --role testing --json
    Tess: agent roles --json
    Tess: agent show
    Lola: task create 'round once' -p 1 --json
    Tess: task show @ --json
    Tess: task claim @ --json
    Lola: task claim @ --json
    Tess: task ready
    Tess: task close @ --reason done --json
    Tess: task list --all --json
    Lola: mail send --to Tess --subject hello --text there --json
    Tess: mail inbox
    Tess: mail read @ --json
    Tess: mail ack @ --json
    Tess: key create --json
    Tess: key list --json
    Lola: mail send --to Tess --subject secret --text canary9 --sensitive --json
    Ann: mail read @ --json
    Tess: mail read @ --json
    Tess: task create 'the keys' --sensitive --handoff-instructions '{\"vault\": \"canary9\"}' --json
    Tess: task update @ --agent-context '{\"door\": 1}' --json
    Tess: task show @ --json
    Ann: task show @ --json
    Ann: task claim @ --json
    Tess: task close @ --context '{\"done\": true}' --json
    Lola: memory add --kind lesson 'round once' --json
    Lola: memory search round --json
    Lola: lease take cart.py --json
    Tess: lease take cart.py --json
    Lola: handoff create --to shop --subject 'the cart' --description d --link docs=docs/cart.md --link source_ref=HEAD --json
    Tess: handoff show @ --json
    Tess: handoff accept @ --json
    Tess: handoff complete @ --json
    Lola: handoff create --to shop --subject 'again' --link docs=docs/cart.md --json
    Ann: pickup --handoff @ --json
    Lola: transcripts list --json
    Lola: transcripts list --project shop
    Lola: transcripts show latest --json
    Lola: transcripts search cart --json
    Lola: handoff from-transcript latest --to codex
    Lola: import-transcript latest --json
    Lola: import-transcript latest --json
    Lola: import-transcript nothing --json
    Lola: continue latest --in codex --print --json
    Lola: project list --json
    Lola: project show
    Lola: project set --phase beta --json
    Lola: log --json
    Lola: log --jsonl --kind wrap
    Lola: audit --json
    Lola: token create --scope purple --json
    Lola: status --project nowhere --json
    Lola: start --as 'no name' --json
    Lola: bd list --json
";

#[test]
fn a_day_goes_the_same_way_with_a_server_as_with_a_store() {
    let (near, far) = (furnished(Stage::local()), furnished(Stage::remote(&[])));
    let (wanted, found) = (day(&near), day(&far));
    let other = wanted.iter().zip(&found).filter(|(wanted, found)| wanted != found);
    let other: Vec<String> = other
        .map(|(wanted, found)| format!("--- with a store: {wanted}\n--- with a server: {found}"))
        .collect();
    assert!(other.is_empty(), "{}", other.join("\n"));
    // It is the server that has it all, and this machine that has the key.
    assert!(!far.has_store() && far.far().1.has_store());
    assert!(far.home().join("config/baton/keys/shop/tess.key").is_file());
    assert!(!far.far().1.home().join("config/baton/keys").exists());
    far.far().1.assert_sound();
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    let stage = Stage::local();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let lola = stage.terminal("Lola").with("BATON_SERVER", format!("http://{free}"));
    let begin = Instant::now();
    for args in [&["status"][..], &["start"], &["transcripts", "list"], &["wrap", "--summary", "x"]] {
        let error = lola.refused(5, "server_unreachable", args);
        assert!(text(&error, "hint").contains("baton serve"), "{error}");
    }
    assert!(begin.elapsed() < Duration::from_secs(20), "it is not waited for");
    let answer = lola.run(&["status"]);
    assert_eq!(answer.code, 5);
    assert!(answer.err.contains("[server_unreachable]"), "{answer:#?}");
    assert!(!stage.has_store(), "no store is made in its place");
    lola.with("BATON_SERVER", "here").refused(1, "config_invalid", &["status"]);
    // Something else listens there.
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("its address");
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = other.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>");
        }
    });
    let lola = lola.with("BATON_SERVER", format!("http://{address}"));
    lola.refused(5, "server_unreadable", &["status"]);
}

#[test]
fn what_is_about_the_store_itself_is_done_where_it_is() {
    let stage = Stage::remote(&[]);
    let lola = stage.terminal("Lola");
    lola.json(&["init"]);
    for args in [&["backup", "copy.db"][..], &["restore", "copy.db"]] {
        lola.refused(1, "store_elsewhere", args);
    }
    let verdict = lola.json(&["doctor"]);
    assert_eq!(verdict["store"], format!("http://{}", stage.far().0.address));
    let settings = lola.json(&["config", "show"]);
    assert_eq!(settings["settings"]["server"]["from"], "env BATON_SERVER");
    // A store that is named on the command line wins.
    let own = stage.root().join("own.db").display().to_string();
    lola.refused(3, "store_missing", &["--store", &own, "project", "list"]);
    assert!(!std::path::Path::new(&own).exists(), "to look makes no store");
    assert_eq!(items(&lola.json(&["project", "list"])).len(), 1);
    // What a repository says about servers is not believed.
    fs::write(stage.shop().join(".baton.toml"), "server = \"http://evil.example\"\n").expect("written");
    let bare = Stage::local();
    let status = bare.terminal("Lola").within(stage.shop());
    status.refused(3, "project_unresolved", &["status"]);
    assert!(status.json(&["config", "show"])["settings"]["server"].is_null());
}

#[test]
fn a_token_is_shown_and_its_limits_count() {
    let stage = Stage::remote(&[]);
    let (_, far) = stage.far();
    let lola = stage.terminal("Lola");
    lola.json(&["init"]);
    far.terminal("Owner").json(&["token", "create", "--scope", "operator"]);
    let token = |args: &[&str]| text(&far.terminal("Owner").json(args), "token");
    let writing = token(&["token", "create", "--scope", "write", "--only", "shop"]);
    let reading = token(&["token", "create", "--scope", "read", "--only", "shop"]);
    std::thread::sleep(Duration::from_millis(600));
    lola.refused(1, "token_invalid", &["status"]);
    lola.with("BATON_TOKEN", "baton_wrong").refused(1, "token_invalid", &["status"]);
    let writer = lola.with("BATON_TOKEN", &writing);
    writer.json(&["start"]);
    writer.json(&["wrap", "--summary", "done"]);
    // A token of one project imports what lies on its own machine, too.
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    writer.json(&["import-transcript", &sample.display().to_string()]);
    writer.refused(1, "scope_missing", &["start", "--force", "--why", "x"]);
    let local = token(&["token", "create", "--scope", "operator", "--only", "shop"]);
    lola.with("BATON_TOKEN", &local).refused(1, "token_of_project", &["token", "list"]);
    let reader = lola.with("BATON_TOKEN", &reading);
    assert_eq!(reader.json(&["status"])["project_id"], "shop");
    reader.refused(1, "scope_missing", &["note", "hello"]);
}

#[test]
fn a_certificate_of_ones_own_authority_is_believed_when_it_is_named() {
    let stage = Stage::local();
    let far = Stage::ready();
    let (authority, certificate, key) = certificates();
    let authority = stage.file("ca.pem", authority);
    let (certificate, key) = (far.file("cert.pem", certificate), far.file("key.pem", key));
    let server =
        Server::start_with(&far.terminal("Server"), &["--tls-cert", &certificate, "--tls-key", &key]);
    let port = server.address.rsplit_once(':').expect("a port").1;
    let lola = stage.terminal("Lola").with("BATON_SERVER", format!("https://localhost:{port}"));
    let named = lola.with("BATON_SERVER_CA", &authority);
    assert_eq!(items(&named.json(&["project", "list"])).len(), 1);
    let error =
        lola.with("BATON_SERVER_CA", &certificate).refused(5, "server_untrusted", &["project", "list"]);
    assert!(text(&error, "hint").contains("BATON_SERVER_CA"), "{error}");
    lola.with("BATON_SERVER_CA", "/nowhere").refused(1, "config_invalid", &["project", "list"]);
    // Not spoken to in the clear either.
    lola.with("BATON_SERVER", format!("http://localhost:{port}")).refused(
        5,
        "server_unreachable",
        &["status"],
    );
}

/// An authority, and a certificate for `localhost` from it with its key, as PEM.
fn certificates() -> (String, String, String) {
    let made = crate::pem::signed(&["localhost"]);
    (made.authority, made.certificate, made.key)
}

/// What was sent, one request after the other.
type Requests = Arc<Mutex<Vec<Vec<u8>>>>;

/// Passes connections on, and throws the first answers away after the server has given them.
pub(crate) fn losing(address: String, lost: usize) -> (String, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let own = listener.local_addr().expect("its address").to_string();
    let passed = Requests::default();
    let seen = Arc::clone(&passed);
    std::thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let mut server = TcpStream::connect(&address).expect("connected");
            let mut request = Vec::new();
            let mut piece = [0; 16 * 1024];
            // The head says how long the body is.
            loop {
                let read = client.read(&mut piece).unwrap_or(0);
                request.extend_from_slice(&piece[..read]);
                let request_text = String::from_utf8_lossy(&request).to_lowercase();
                let whole = request_text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
                    body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0)
                });
                if read == 0 || whole {
                    break;
                }
            }
            server.write_all(&request).expect("passed on");
            let read = server.read(&mut piece).unwrap_or(0);
            let mut seen = seen.lock().expect("no panic");
            seen.push(request);
            if seen.len() <= lost {
                let _ = client.shutdown(Shutdown::Both);
                continue;
            }
            let _ = client.write_all(&piece[..read]);
            let _ = client.shutdown(Shutdown::Write);
        }
    });
    (own, passed)
}

#[test]
fn a_write_whose_answer_was_lost_happens_once() {
    let stage = Stage::remote(&[]);
    let lola = stage.terminal("Lola");
    lola.json(&["init"]);
    for (args, kind) in [(&["note", "hello"][..], "note"), (&["start"], "start")] {
        let (address, passed) = losing(stage.far().0.address.clone(), 1);
        lola.with("BATON_SERVER", format!("http://{address}")).json(args);
        let passed = passed.lock().expect("no panic");
        let same = passed.iter().filter(|request| **request == passed[0]).count();
        assert_eq!(same, 2, "it was sent again");
        drop(passed);
        let written = items(&lola.json(&["log", "--kind", kind]));
        assert_eq!(written.len(), 1, "{kind}: {written:#?}");
    }
}

#[test]
fn a_write_of_which_every_answer_is_lost_is_not_said_to_be_undone() {
    let stage = Stage::remote(&[]);
    let lola = stage.terminal("Lola");
    lola.json(&["init"]);
    let (address, _) = losing(stage.far().0.address.clone(), usize::MAX);
    let deaf = lola.with("BATON_SERVER", format!("http://{address}"));
    let error = deaf.refused(5, "server_unreachable", &["note", "hello"]);
    assert!(text(&error, "hint").contains("may be done: look with `baton status`"), "{error}");
    assert_eq!(items(&lola.json(&["log", "--kind", "note"])).len(), 1);
    // What only reads is no write.
    let error = deaf.refused(5, "server_unreachable", &["status"]);
    assert!(text(&error, "hint").contains("see that `baton serve` runs there"), "{error}");
}

#[test]
fn a_task_whose_id_its_maker_chooses_is_made_through_a_server() {
    let stage = Stage::remote(&[]);
    let lola = stage.terminal("Lola");
    lola.json(&["init"]);
    let context = r#"{"work_completed": "X"}"#;
    let made = lola.json(&["task", "create", "t", "--id", "shop-own", "--agent-context", context]);
    assert_eq!(
        (text(&made, "id"), &made["agent_context"]["work_completed"]),
        ("shop-own".to_owned(), &json!("X"))
    );
}

#[test]
fn an_agent_on_a_pipe_works_with_the_server() {
    let stage = furnished(Stage::remote(&[]));
    stage.terminal("Lola").json(&["init"]);
    let mut client = Client::pipe(&stage.terminal("Rex"), MODERN);
    let started = client.done("session_start", json!({}));
    assert_eq!(started["project_id"], "shop", "{started:#}");
    let wrapped = client.done("session_wrap", json!({ "summary": "from a pipe" }));
    let picked = stage.terminal("Donna").json(&["pickup"]);
    assert_eq!(picked["baton"]["delta_id"], wrapped["delta_id"]);
    // What lies on this machine is found from here.
    let found = client.done("recall", json!({ "action": "transcripts" }));
    assert!(found.to_string().contains(SESSION), "{found:#}");
    assert!(!stage.has_store());
}
