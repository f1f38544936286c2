//! Against an emulator of GitHub that others wrote: `emulate` of npm, behind our proxy, which lets calls go wrong.
//! `BATON_TEST_EMULATE` names the folder in which `npm install emulate` was run.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use baton_emulator::{Fault, Proxy};
use serde_json::Value;

use super::described::ApiDescription;
use crate::cross::beside;
use crate::cross_kill::shared_out;
use crate::http::request;
use crate::stage::{Stage, Terminal, env, items, skipped, text};

/// The other emulator; it ends with the test.
struct Other {
    child: Child,
    address: String,
}

impl Other {
    fn start(stage: &Stage, folder: &str) -> Self {
        let free =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let module = std::path::Path::new(folder).join("node_modules/emulate/dist/api.js");
        let script = stage.file(
            "emulate.mjs",
            format!(
                "import {{ createEmulator }} from {:?};\n\
                 const seed = {{ tokens: {{ t0k: {{ login: 'o', scopes: ['repo'] }} }},\n\
                   github: {{ users: [{{ login: 'o' }}], repos: [{{ owner: 'o', name: 'lib' }}] }} }};\n\
                 const hub = await createEmulator({{ service: 'github', port: {free}, seed }});\n\
                 console.log(hub.url);\n",
                format!("file://{}", module.display())
            ),
        );
        let mut child = Command::new("node").arg(script).stdout(Stdio::piped()).spawn().expect("node runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("it says where");
        assert!(line.starts_with("http://"), "it says where: {line:?}");
        Self { child, address: format!("127.0.0.1:{free}") }
    }

    fn issues(&self) -> Vec<Value> {
        let headers = [("authorization", "Bearer t0k")];
        let path = "/repos/o/lib/issues?state=all&per_page=100";
        let rows = request(&self.address, "GET", path, b"", &headers).expect("an answer").json();
        rows.as_array().expect("a list").clone()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn random(limit: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % limit
}

#[test]
fn handoffs_are_whole_against_an_emulator_that_others_wrote() {
    let Some(folder) = env("BATON_TEST_EMULATE") else {
        return skipped(
            "npm's `emulate` is not tried: BATON_TEST_EMULATE names no folder in which it is installed",
        );
    };
    let stage = Stage::ready();
    beside(&stage);
    let other = Other::start(&stage, &folder);
    let proxy = Proxy::start(&other.address, None).expect("a proxy");
    proxy.script(Some(Box::new(|_| match random(10) {
        0 => Fault::DropBefore,
        1 => Fault::DropAfter,
        2 => Fault::DropDuring,
        3 => Fault::FailAfter(502),
        4 => Fault::Refuse(503, None),
        5 => Fault::Refuse(403, Some(1)),
        _ => Fault::None,
    })));
    let hub = |who: &str| {
        let terminal = stage.terminal(who).with("BATON_GITHUB_API", proxy.url());
        terminal.with("BATON_GITHUB_TOKEN", "t0k").with("BATON_GITHUB_POLL", "1h")
    };
    let (ann, bob) = (hub("Ann"), hub("Bob").within(stage.root().join("lib")));
    // Whatever went wrong is tried again after a pause, in which the others go on.
    let mut ids = shared_out(12, 4, |run| (run, one(&ann, &bob, run)));
    ids.sort();
    proxy.script(None);
    let issues = other.issues();
    assert_eq!(issues.len(), ids.len(), "one issue for each: {issues:#?}");
    for (run, id) in &ids {
        let shown = settled(&ann, id);
        let mine: Vec<Value> =
            other.issues().into_iter().filter(|issue| issue["title"] == format!("run {run}")).collect();
        let [issue] = mine.as_slice() else { panic!("one issue: {mine:#?}") };
        let expected = [
            ("offered", "open", Value::Null),
            ("cancelled", "closed", "not_planned".into()),
            ("completed", "closed", "completed".into()),
        ];
        let (state, open, reason) = expected[run % 3].clone();
        assert_eq!(
            (text(&shown, "state").as_str(), text(issue, "state").as_str()),
            (state, open),
            "{shown:#}"
        );
        assert_eq!(issue["state_reason"], reason, "{issue:#}");
        assert_eq!(shown["task"]["id"], format!("gh-o/lib-{}", issue["number"]));
        let labels: Vec<&str> =
            issue["labels"].as_array().expect("labels").iter().filter_map(|l| l["name"].as_str()).collect();
        assert_eq!(labels, ["handoff", "priority:normal"]);
        // Accepted and completed, each said once.
        assert_eq!(issue["comments"], [0, 1, 2][run % 3], "{issue:#}");
    }
    let described = ApiDescription::read();
    let all = proxy.exchanges();
    let deviations: BTreeSet<String> =
        all.iter().flat_map(|exchange| described.complaints(exchange)).collect();
    eprintln!("{} exchanges; not as GitHub describes it: {deviations:#?}", all.len());
}

/// One hand-off: left alone, taken back, or accepted and completed.
fn one(ann: &Terminal<'_>, bob: &Terminal<'_>, run: usize) -> String {
    let subject = format!("run {run}");
    let args = ["handoff", "create", "--to", "lib", "--repo", "o/lib", "--subject", &subject, "--json"];
    let id = text(&ann.run(&args).json(), "handoff_id");
    let shown = settled(ann, &id);
    assert_eq!(shown["state"], "offered", "{shown:#}");
    match run % 3 {
        0 => {}
        1 => _ = ann.json(&["handoff", "cancel", &id, "--result", "not needed"]),
        _ => {
            bob.json(&["handoff", "accept", &id]);
            bob.json(&["handoff", "complete", &id, "--result", "merged"]);
        }
    }
    settled(ann, &id);
    id
}

/// Drives a hand-off until nothing waits but a look for doubles.
fn settled(who: &Terminal<'_>, id: &str) -> Value {
    for _ in 0..100 {
        let shown = who.json(&["handoff", "show", id]);
        let steps = items(&serde_json::json!({ "items": shown["steps"] }));
        if !steps.iter().any(|step| {
            step["step"] != "double" && matches!(step["state"].as_str(), Some("pending" | "running"))
        }) {
            return shown;
        }
        who.run(&["handoff", "retry", id]);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("hand-off {id} does not come to an end: {:#}", who.json(&["handoff", "show", id]));
}
