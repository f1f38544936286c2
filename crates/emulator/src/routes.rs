//! The calls that the emulator understands.

use serde_json::{Value, json};

use crate::answer::{self, Answer, ok, refused};
use crate::http::Request;
use crate::hub::{Hub, Issue, OWNER, now, seconds, time};

/// The token that an app's installation gets.
const INSTALLED: &str = "ghs_installation";

/// Answers a call.
pub(crate) fn answer(request: &Request, hub: &mut Hub, token: Option<&str>, base: &str) -> Answer {
    if let Some(token) = token {
        let given = request.headers.get("authorization").map(String::as_str).unwrap_or_default();
        // An app signs with its own key only to read its installation and to get a token.
        let as_app = request.path.contains("/app/") || request.path.ends_with("/installation");
        if !(given.ends_with(&format!(" {token}")) || as_app && given.starts_with("Bearer ey")) {
            return refused(401, None);
        }
    }
    if let Some(after) = hub.count(&request.method) {
        let mut full = refused(429, Some(after));
        full.headers.push(("x-ratelimit-remaining", "0".into()));
        full.headers.push(("x-ratelimit-reset", (now() + i64::from(after)).to_string()));
        return full;
    }
    let path = request.path.strip_prefix("/api/v3").unwrap_or(&request.path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["rate_limit"]) => ok(200, json!({ "resources": {} })),
        ("GET", ["search", "issues"]) => search(request, hub, base),
        ("POST", ["app", "installations", _, "access_tokens"]) => {
            let token = json!({ "token": INSTALLED, "expires_at": time(now() + 3_600), "permissions": { "issues": "write" },
                "repository_selection": "all" });
            ok(201, token)
        }
        (method, ["repos", owner, name, rest @ ..]) => {
            let repo = format!("{owner}/{name}");
            if let Some(number) = hub.renamed_repository(&repo) {
                // What is more than a question is asked again as it was.
                let mut away = refused(if method == "GET" { 301 } else { 307 }, None);
                let place = format!("{base}/repositories/{number}/{}", rest.join("/"));
                away.headers.push(("location", place));
                return away;
            }
            if hub.knows(&repo) {
                of_repo(method, &repo, rest, request, hub, base)
            } else {
                refused(404, None)
            }
        }
        (method, ["repositories", number, rest @ ..]) => match hub.numbered(number) {
            Some(repo) => of_repo(method, &repo, rest, request, hub, base),
            None => refused(404, None),
        },
        _ => refused(404, None),
    }
}

fn of_repo(method: &str, repo: &str, rest: &[&str], request: &Request, hub: &mut Hub, base: &str) -> Answer {
    let number = rest.get(1).and_then(|text| text.parse::<i64>().ok());
    match (method, rest, number) {
        ("GET", ["installation"], _) => ok(200, answer::installation(repo, base)),
        ("POST", ["issues"], _) => create(repo, request, hub, base),
        ("GET", ["issues"], _) => list(repo, request, hub, base),
        ("GET", ["issues", "comments"], _) => list_comments(repo, request, hub, base),
        ("GET", ["issues", _], Some(n)) => match hub.issue(repo, n) {
            Some(issue) => tagged(request, answer::issue(issue, repo, base)),
            None => refused(404, None),
        },
        ("PATCH", ["issues", _], Some(n)) => change(repo, n, request, hub, base),
        ("GET", ["issues", _, "comments"], Some(n)) => match hub.issue(repo, n) {
            Some(issue) => {
                ok(200, issue.comments.iter().map(|c| answer::comment(c, repo, n, base)).collect())
            }
            None => refused(404, None),
        },
        ("POST", ["issues", _, "comments"], Some(n)) => {
            let Some(body) = request.body["body"].as_str() else { return refused(422, None) };
            match hub.comment(repo, n, body.to_owned(), OWNER) {
                Some(comment) => ok(201, answer::comment(&comment, repo, n, base)),
                None => refused(404, None),
            }
        }
        ("POST", ["issues", _, "labels"], Some(n)) => match hub.issue(repo, n) {
            Some(issue) => {
                issue.labels.extend(texts(&request.body["labels"]));
                ok(200, answer::issue(issue, repo, base)["labels"].clone())
            }
            None => refused(404, None),
        },
        _ => refused(404, None),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

fn create(repo: &str, request: &Request, hub: &mut Hub, base: &str) -> Answer {
    let title = request.body["title"].as_str().unwrap_or_default();
    let body = request.body["body"].as_str().unwrap_or_default();
    if title.trim().is_empty() || body.chars().count() > 65_536 {
        return refused(422, None);
    }
    let made = hub.add(repo, title, body, texts(&request.body["labels"]));
    ok(201, answer::issue(made, repo, base))
}

fn change(repo: &str, number: i64, request: &Request, hub: &mut Hub, base: &str) -> Answer {
    let Some(issue) = hub.issue(repo, number) else { return refused(404, None) };
    match request.body["state"].as_str() {
        Some("closed") => {
            issue.open = false;
            let reason = request.body["state_reason"].as_str().unwrap_or("completed");
            if !["completed", "not_planned", "duplicate"].contains(&reason) {
                return refused(422, None);
            }
            issue.reason = Some(reason.to_owned());
            issue.closed_at.get_or_insert_with(now);
        }
        Some("open") => {
            (issue.open, issue.closed_at) = (true, None);
            issue.reason = Some("reopened".into());
        }
        Some(_) => return refused(422, None),
        None => {}
    }
    if let Some(title) = request.body["title"].as_str() {
        title.clone_into(&mut issue.title);
    }
    if request.body["labels"].is_array() {
        issue.labels = texts(&request.body["labels"]);
    }
    issue.updated_at = now();
    ok(200, answer::issue(issue, repo, base))
}

fn list(repo: &str, request: &Request, hub: &Hub, base: &str) -> Answer {
    let query = |key: &str| request.query.get(key).map(String::as_str);
    let wanted = |issue: &&Issue| {
        let state = match query("state").unwrap_or("open") {
            "all" => true,
            "closed" => !issue.open,
            _ => issue.open,
        };
        let labels = query("labels").unwrap_or_default();
        let has = |spec: &str| issue.labels.iter().any(|label| label.eq_ignore_ascii_case(spec));
        let since = query("since").and_then(seconds).unwrap_or(i64::MIN);
        state && labels.split(',').filter(|l| !l.is_empty()).all(has) && issue.updated_at >= since
    };
    let mut found: Vec<&Issue> = hub.issues(repo).iter().filter(wanted).collect();
    if query("direction") != Some("asc") {
        found.reverse();
    }
    page(request, &found, |issue| answer::issue(issue, repo, base), base)
}

/// The comments under all issues of a repository.
fn list_comments(repo: &str, request: &Request, hub: &Hub, base: &str) -> Answer {
    let query = |key: &str| request.query.get(key).map(String::as_str);
    let since = query("since").and_then(seconds).unwrap_or(i64::MIN);
    let of_issue = |issue: &'_ Issue| -> Vec<(i64, i64, Value)> {
        let changed = issue.comments.iter().filter(|comment| comment.updated_at >= since);
        changed.map(|one| (one.updated_at, one.id, answer::comment(one, repo, issue.number, base))).collect()
    };
    let mut found: Vec<(i64, i64, Value)> = hub.issues(repo).iter().flat_map(of_issue).collect();
    found.sort_by_key(
        |(updated_at, id, _)| if query("sort") == Some("updated") { (*updated_at, *id) } else { (*id, 0) },
    );
    if query("direction") == Some("desc") {
        found.reverse();
    }
    page(request, &found.iter().collect::<Vec<_>>(), |(_, _, comment)| comment.clone(), base)
}

/// One page of a list, with a link to the next, and a tag.
fn page<T>(request: &Request, found: &[&T], show: impl Fn(&T) -> Value, base: &str) -> Answer {
    let number =
        |key: &str, usual: usize| request.query.get(key).and_then(|t| t.parse().ok()).unwrap_or(usual);
    let size = number("per_page", 30).clamp(1, 100);
    let at = number("page", 1).max(1);
    let rows: Vec<Value> = found.iter().skip((at - 1) * size).take(size).map(|one| show(one)).collect();
    let mut answer = tagged(request, Value::Array(rows));
    if found.len() > at * size {
        let mut query: Vec<String> = request
            .query
            .iter()
            .filter(|(k, _)| *k != "page")
            .map(|(k, v)| format!("{k}={}", encoded(v)))
            .collect();
        query.push(format!("page={}", at + 1));
        answer.headers.push(("link", format!("<{base}{}?{}>; rel=\"next\"", request.path, query.join("&"))));
    }
    answer
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// An answer with its tag; without a body when the caller has it already.
fn tagged(request: &Request, body: Value) -> Answer {
    let hash = body
        .to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let tag = format!("W/\"{hash:016x}\"");
    let known = request.headers.get("if-none-match") == Some(&tag);
    let mut answer = if known { ok(304, Value::Null) } else { ok(200, body) };
    answer.headers.push(("etag", tag));
    answer
}

/// Search sees only what is older than its lag.
fn search(request: &Request, hub: &Hub, base: &str) -> Answer {
    let words = request.query.get("q").cloned().unwrap_or_default();
    let (repo, text) = words.split_once(' ').unwrap_or((&words, ""));
    let repo = repo.trim_start_matches("repo:");
    let before = now() - i64::try_from(hub.search_lag.as_secs()).unwrap_or(i64::MAX);
    let found: Vec<Value> = hub
        .issues(repo)
        .iter()
        .filter(|issue| issue.created_at <= before && issue.body.contains(text))
        .map(|issue| answer::issue(issue, repo, base))
        .collect();
    ok(200, json!({ "total_count": found.len(), "incomplete_results": false, "items": found }))
}
