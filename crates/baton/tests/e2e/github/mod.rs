//! What Baton says to GitHub: as GitHub describes it, with every way to show who asks, within its limits.

mod described;
mod emulate;

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use baton_emulator::{Emulator, Fault, Options, Proxy, Request};
use serde_json::{Value, json};

use crate::cross::{beside, github, with_github};
use crate::stage::{Answer, Stage, Terminal, env, items, text};
use described::ApiDescription;

const HAND: [&str; 6] = ["handoff", "create", "--to", "lib", "--repo", "o/lib"];

fn hand(who: &Terminal<'_>, subject: &str) -> Answer {
    who.run(&[&HAND[..], &["--subject", subject, "--json"]].concat())
}

/// Requests as they come, with the time of each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(Request, Instant)>>>);

impl Log {
    /// A script that writes down and lets things go wrong as said.
    fn script(&self, mut fault: impl FnMut(&Request) -> Fault + Send + 'static) -> baton_emulator::Script {
        let log = self.clone();
        Box::new(move |request| {
            log.0.lock().expect("not poisoned").push((request.clone(), Instant::now()));
            fault(request)
        })
    }

    fn all(&self) -> Vec<(Request, Instant)> {
        self.0.lock().expect("not poisoned").clone()
    }
}

/// An app's key, made for these tests alone.
fn key() -> (String, Vec<u8>) {
    let text = include_str!("app-key.txt");
    let der = STANDARD.decode(text.lines().collect::<String>()).expect("base64");
    let kind = "RSA PRIVATE KEY";
    (format!("-----BEGIN {kind}-----\n{text}-----END {kind}-----\n"), der)
}

fn as_app<'a>(who: &Terminal<'a>, api: &str) -> Terminal<'a> {
    who.with("BATON_GITHUB_API", api).with("BATON_GITHUB_APP_ID", "7").with("BATON_GITHUB_APP_KEY", key().0)
}

#[test]
fn requests_and_answers_are_those_of_githubs_description() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let app_hub = Emulator::start(Options { token: Some("ghs_installation".into()), ..Options::default() })
        .expect("an emulator");
    let proxies = [&hub, &app_hub].map(|hub| Proxy::start(&hub.url(), None).expect("a proxy"));
    let [proxy, app_proxy] = &proxies;
    let at = |who: &str| with_github(&stage.terminal(who), &hub).with("BATON_GITHUB_API", proxy.url());
    let (ann, bob) = (at("Ann"), at("Bob").within(stage.root().join("lib")));
    // The first answer of each kind is lost, so that lists are read.
    let mut lost = std::collections::HashSet::new();
    proxy.script(Some(Box::new(move |request| {
        let first = request.method == "POST" && lost.insert(request.path.clone());
        if first { Fault::DropAfter } else { Fault::None }
    })));
    let packet = stage.file("packet.json", r#"{"summary": "half done", "next_steps": ["the rest"]}"#);
    let made = ann.json(
        &[
            &HAND[..],
            &[
                "--subject",
                "s",
                "--tag",
                "api",
                "--priority",
                "high",
                "--link",
                "docs=a.md",
                "--packet",
                &packet,
            ],
        ]
        .concat(),
    );
    let (id, task) = (text(&made, "handoff_id"), text(&made["task"], "id"));
    bob.json(&["pickup", "--handoff", &id]);
    bob.json(&["task", "comment", &task, "half way"]);
    bob.json(&["handoff", "complete", &id, "--result", "merged"]);
    let second = text(&hand(&ann, "second").done().json(), "handoff_id");
    std::thread::sleep(Duration::from_millis(1_100));
    bob.json(&["status"]);
    ann.json(&["handoff", "cancel", &second]);
    hand(&as_app(&stage.terminal("Ann"), &app_proxy.url()), "by an app").done();
    let gone = hand(&ann.with("BATON_GITHUB_TOKEN", "wrong"), "refused");
    assert_eq!(gone.json()["state"], "failed", "{gone:#?}");

    let described = ApiDescription::read();
    let exchanges: Vec<_> = proxies.iter().flat_map(Proxy::exchanges).collect();
    let complaints: Vec<String> =
        exchanges.iter().flat_map(|exchange| described.complaints(exchange)).collect();
    assert_eq!(complaints, Vec::<String>::new());
    let used: Vec<_> = exchanges.iter().filter_map(|exchange| described.operation(exchange)).collect();
    for operation in described.operations() {
        assert!(used.contains(&operation), "{operation:?} was not tried: {used:#?}");
    }
}

/// What our first issue becomes while its sender waits; the task that the hand-off then has, and how many issues there are.
fn after_a_lost_answer(change: impl Fn(&mut baton_emulator::Issue)) -> (String, usize) {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let changed = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (seen, mut posts) = (Arc::clone(&changed), 0);
    hub.script(Some(Box::new(move |request| {
        posts += u32::from(request.method == "POST");
        match seen.load(std::sync::atomic::Ordering::Relaxed) {
            true => Fault::None,
            false if posts == 1 && request.method == "POST" => Fault::DropAfter,
            false => Fault::Refuse(503, None),
        }
    })));
    let child = ann.spawn(&[&HAND[..], &["--subject", "s", "--json"]].concat());
    while hub.hub().issues("o/lib").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    change(&mut hub.hub().issues_mut("o/lib")[0]);
    changed.store(true, std::sync::atomic::Ordering::Relaxed);
    let made = Answer::of(child, &["create"]).done().json();
    (text(&made["task"], "id"), hub.hub().issues("o/lib").len())
}

#[test]
fn an_issue_is_known_again_by_its_hidden_line_alone_and_a_pull_request_is_none() {
    assert_eq!(after_a_lost_answer(|_| {}), ("gh-o/lib-1".to_owned(), 1));
    // GitHub drops the labels of those who may not set them.
    assert_eq!(after_a_lost_answer(|issue| issue.labels.clear()), ("gh-o/lib-1".to_owned(), 1));
    assert_eq!(after_a_lost_answer(|issue| issue.title = "edited".into()), ("gh-o/lib-1".to_owned(), 1));
    assert_eq!(after_a_lost_answer(|issue| issue.is_pull = true), ("gh-o/lib-2".to_owned(), 2));
}

#[test]
fn somebody_who_quotes_our_issue_is_left_alone() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let ann = with_github(&stage.terminal("Ann"), &hub);
    let id = text(&hand(&ann, "s").done().json(), "handoff_id");
    let (mut quoting, mut same) = (String::new(), String::new());
    for issue in hub.hub().issues("o/lib") {
        quoting = format!("I have this, too:\n\n> {}", issue.body);
        same.clone_from(&issue.body);
    }
    let labels = vec!["handoff".to_owned()];
    hub.hub().add("o/lib", "s", &quoting, labels.clone());
    hub.hub().add("o/lib", "s", &same, labels);
    // A poll sees both, and a look decides.
    std::thread::sleep(Duration::from_millis(1_100));
    ann.json(&["status"]);
    let reasons: Vec<Option<String>> =
        hub.hub().issues("o/lib").iter().map(|issue| issue.reason.clone()).collect();
    assert_eq!(reasons, [None, None, Some("duplicate".to_owned())]);
    let steps = items(&json!({ "items": ann.json(&["handoff", "show", &id])["steps"] }));
    assert!(steps.iter().any(|step| step["doubles_closed"] == json!([3])), "{steps:#?}");
}

#[test]
fn an_app_signs_for_a_token_of_its_installation() {
    let stage = Stage::ready();
    beside(&stage);
    let hub = Emulator::start(Options { token: Some("ghs_installation".into()), ..Options::default() })
        .expect("an emulator");
    let log = Log::default();
    hub.script(Some(log.script(|_| Fault::None)));
    let ann = as_app(&stage.terminal("Ann"), &hub.url());
    assert_eq!(hand(&ann, "one").done().json()["state"], "offered");
    let calls: Vec<String> = log.all().iter().map(|(r, _)| format!("{} {}", r.method, r.path)).collect();
    assert_eq!(
        calls[..3],
        [
            "GET /repos/o/lib/installation",
            "POST /app/installations/42/access_tokens",
            "POST /repos/o/lib/issues"
        ]
    );
    assert_signed(&log.all()[0].0);
    // An installation that is named is not looked up, and a key may lie in a file.
    let file = stage.file("app.pem", key().0);
    let named = ann.with("BATON_GITHUB_APP_INSTALLATION", "42").with("BATON_GITHUB_APP_KEY", &file);
    assert_eq!(hand(&named, "two").done().json()["state"], "offered");
    let looked_up =
        log.all()[calls.len()..].iter().any(|(request, _)| request.path.ends_with("/installation"));
    assert!(!looked_up && log.all().len() > calls.len());
    let wrong = ann.with("BATON_GITHUB_APP_KEY", "-----BEGIN nothing-----");
    wrong.refused(1, "config_invalid", &[&HAND[..], &["--subject", "three"]].concat());
    // An app that is not installed there is a thing for a person.
    hub.script(Some(Box::new(|request| {
        if request.path.ends_with("/installation") { Fault::Refuse(404, None) } else { Fault::None }
    })));
    let nowhere = hand(&ann, "four");
    assert_eq!((nowhere.code, nowhere.json()["state"].clone()), (1, json!("failed")), "{nowhere:#?}");
}

/// Whether a request shows a web token that our key has signed, of this app and for a short time.
fn assert_signed(request: &Request) {
    let token = request.headers["authorization"].strip_prefix("Bearer ").expect("a bearer");
    let (text, signature) = token.rsplit_once('.').expect("three parts");
    let (head, claims) = text.split_once('.').expect("three parts");
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON")
    };
    assert_eq!(read(head), json!({ "alg": "RS256", "typ": "JWT" }));
    let claims = read(claims);
    let span = claims["exp"].as_i64().expect("exp") - claims["iat"].as_i64().expect("iat");
    assert!(claims["iss"] == "7" && (1..=600).contains(&span), "{claims}");
    let pair = ring::signature::RsaKeyPair::from_der(&key().1).expect("a key");
    let public = ring::signature::UnparsedPublicKey::new(
        &ring::signature::RSA_PKCS1_2048_8192_SHA256,
        pair.public().as_ref(),
    );
    public
        .verify(text.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).expect("base64"))
        .expect("signed by our key");
}

#[test]
fn the_token_of_gh_is_used_where_nothing_else_is_set_and_an_enterprise_has_its_own() {
    let stage = Stage::ready();
    beside(&stage);
    let hub = Emulator::start(Options { token: Some("from-gh".into()), ..Options::default() })
        .expect("an emulator");
    let log = Log::default();
    hub.script(Some(log.script(|_| Fault::None)));
    let (bin, log_file) = (stage.root().join("bin"), stage.root().join("asked"));
    let gh =
        stage.file("bin/gh", format!("#!/bin/sh\necho \"$@\" >> {}\necho from-gh\n", log_file.display()));
    let executable =
        |mode| std::fs::set_permissions(&gh, std::fs::Permissions::from_mode(mode)).expect("a mode");
    executable(0o755);
    let path = format!("{}:{}", bin.display(), env("PATH").expect("PATH"));
    let ann =
        stage.terminal("Ann").with("PATH", path).with("BATON_GITHUB_API", format!("{}/api/v3", hub.url()));
    assert_eq!(hand(&ann, "one").done().json()["state"], "offered");
    assert!(log.all().iter().all(|(request, _)| request.path.starts_with("/api/v3/repos/o/lib/")));
    let log_file = std::fs::read_to_string(log_file).expect("gh was asked");
    assert!(log_file.lines().all(|line| line == "auth token --hostname 127.0.0.1"), "{log_file}");
    // What is set comes before what gh knows.
    let wrong = hand(&ann.with("GITHUB_TOKEN", "another"), "two");
    assert_eq!((wrong.code, wrong.json()["state"].clone()), (1, json!("failed")), "{wrong:#?}");
    stage.file("bin/gh", "#!/bin/sh\necho you are not logged in >&2\nexit 4\n");
    ann.refused(1, "github_unconfigured", &[&HAND[..], &["--subject", "three"]].concat());
}

#[test]
fn limits_are_waited_out_and_a_refusal_without_their_marks_is_final() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let ann = with_github(&stage.terminal("Ann"), &hub);
    for (run, limit) in [Fault::Refuse(429, Some(1)), Fault::Refuse(403, Some(1))].into_iter().enumerate() {
        let (log, mut calls) = (Log::default(), 0);
        hub.script(Some(log.script(move |_| {
            calls += 1;
            if calls == 1 { limit } else { Fault::None }
        })));
        assert_eq!(hand(&ann, "waited").done().json()["state"], "offered");
        let requests: Vec<_> =
            log.all().into_iter().filter(|(request, _)| request.method == "POST").collect();
        assert!(
            requests.len() == 2 && requests[1].1 - requests[0].1 >= Duration::from_secs(1),
            "{requests:#?}"
        );
        assert_eq!(hub.hub().issues("o/lib").len(), run + 1);
    }
    let log = Log::default();
    hub.script(Some(log.script(|_| Fault::Refuse(429, Some(3_600)))));
    let later = hand(&ann, "in an hour");
    assert_eq!((later.code, later.json()["state"].clone()), (5, json!("pending")), "{later:#?}");
    assert!(text(&later.json(), "last_error").contains("rate limit"), "{later:#?}");
    ann.json(&["status"]);
    let posts = log.all().iter().filter(|(request, _)| request.method == "POST").count();
    assert_eq!(posts, 1, "nobody asks again before the hour is over");
    hub.script(Some(Box::new(|_| Fault::Refuse(403, None))));
    let never = hand(&ann, "never");
    assert_eq!((never.code, never.json()["state"].clone()), (1, json!("failed")), "{never:#?}");
}

#[test]
fn a_window_that_is_used_up_ends() {
    let stage = Stage::ready();
    beside(&stage);
    let hub = github(Options { limit: Some((1, Duration::from_secs(2))), ..Options::default() });
    let ann = with_github(&stage.terminal("Ann"), &hub).with("BATON_GITHUB_POLL", "1h");
    for subject in ["one", "two", "three"] {
        assert_eq!(hand(&ann, subject).done().json()["state"], "offered");
    }
    assert_eq!(hub.hub().issues("o/lib").len(), 3);
}

#[test]
fn a_poll_shows_its_tag_and_hears_that_nothing_has_changed() {
    let (stage, hub) = (Stage::ready(), github(Options::default()));
    beside(&stage);
    let proxy = Proxy::start(&hub.url(), None).expect("a proxy");
    let ann = with_github(&stage.terminal("Ann"), &hub).with("BATON_GITHUB_API", proxy.url());
    let id = text(&hand(&ann, "s").done().json(), "handoff_id");
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(1_100));
        ann.json(&["status"]);
    }
    let polls: Vec<_> = proxy.exchanges().into_iter().filter(|e| e.request.method == "GET").collect();
    let last = polls.last().expect("a poll");
    assert!(last.status == 304 && last.request.headers.contains_key("if-none-match"), "{polls:#?}");
    hub.hub().issues_mut("o/lib")[0].open = false;
    std::thread::sleep(Duration::from_millis(1_100));
    ann.json(&["status"]);
    assert_eq!(ann.json(&["handoff", "show", &id])["state"], "completed");
    assert!(items(&ann.json(&["handoff", "list"])).iter().all(|one| one["state"] == "completed"));
}
