//! Answers in GitHub's shapes.

use serde_json::{Map, Value, json};

use crate::hub::{Comment, Issue, OWNER, time};

/// What is written back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

pub(crate) fn ok(status: u16, body: Value) -> Answer {
    Answer { status, headers: Vec::new(), body }
}

/// A refusal as GitHub words it.
pub(crate) fn refused(status: u16, after: Option<u32>) -> Answer {
    let message = match status {
        301 => "Moved Permanently",
        307 => "Temporary Redirect",
        401 => "Bad credentials",
        403 if after.is_some() => {
            "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        }
        403 => "Resource not accessible by personal access token",
        404 => "Not Found",
        410 => "Issues has been disabled in this repository.",
        422 => "Validation Failed",
        429 => "API rate limit exceeded",
        _ => "Server Error",
    };
    let mut body = json!({ "message": message, "documentation_url": "https://docs.github.com/rest" });
    if status == 422 {
        body["errors"] = json!([{ "resource": "Issue", "field": "title", "code": "missing_field" }]);
    }
    let mut answer = ok(status, body);
    answer.headers.extend(after.map(|seconds| ("retry-after", seconds.to_string())));
    answer
}

/// A user with the addresses that the description requires.
fn user(login: &str, base: &str) -> Value {
    let mut user = Map::new();
    let plain = [
        ("login", json!(login)),
        ("id", json!(1)),
        ("node_id", json!("U_1")),
        ("gravatar_id", json!("")),
        ("type", json!("User")),
        ("site_admin", json!(false)),
    ];
    user.extend(plain.map(|(key, value)| (key.to_owned(), value)));
    for key in [
        "avatar_url",
        "url",
        "html_url",
        "followers_url",
        "following_url",
        "gists_url",
        "starred_url",
        "subscriptions_url",
        "organizations_url",
        "repos_url",
        "events_url",
        "received_events_url",
    ] {
        user.insert(key.to_owned(), json!(format!("{base}/users/{login}")));
    }
    Value::Object(user)
}

pub(crate) fn issue(issue: &Issue, repo: &str, base: &str) -> Value {
    let url = format!("{base}/repos/{repo}/issues/{}", issue.number);
    let label = |(at, name): (usize, &String)| {
        json!({
            "id": at + 1, "node_id": format!("LA_{at}"), "url": format!("{base}/repos/{repo}/labels/{name}"),
            "name": name, "color": "ededed", "default": false, "description": null,
        })
    };
    let mut row = json!({
        "id": 1_000_000 + issue.number, "node_id": format!("I_{}", issue.number), "number": issue.number,
        "url": url, "repository_url": format!("{base}/repos/{repo}"),
        "labels_url": format!("{url}/labels{{/name}}"), "comments_url": format!("{url}/comments"),
        "events_url": format!("{url}/events"), "html_url": format!("{base}/{repo}/issues/{}", issue.number),
        "state": if issue.open { "open" } else { "closed" }, "state_reason": issue.reason, "title": issue.title,
        "body": issue.body, "user": user(OWNER, base), "labels": issue.labels.iter().enumerate().map(label).collect::<Vec<_>>(),
        "assignee": null, "assignees": [], "milestone": null, "locked": false, "comments": issue.comments.len(),
        "closed_at": issue.closed_at.map(time), "created_at": time(issue.created_at), "updated_at": time(issue.updated_at),
        "author_association": "OWNER", "closed_by": if issue.open { Value::Null } else { user(OWNER, base) },
    });
    if issue.is_pull {
        row["pull_request"] = json!({ "url": url, "html_url": url, "diff_url": url, "patch_url": url });
    }
    row
}

/// The installation of an app.
pub(crate) fn installation(repo: &str, base: &str) -> Value {
    json!({
        "id": 42, "account": user(OWNER, base), "repository_selection": "all",
        "access_tokens_url": format!("{base}/app/installations/42/access_tokens"),
        "repositories_url": format!("{base}/installation/repositories"), "html_url": format!("{base}/{repo}/installations/42"),
        "app_id": 7, "app_slug": "baton", "target_id": 1, "target_type": "User", "permissions": { "issues": "write" },
        "events": [], "created_at": time(0), "updated_at": time(0), "single_file_name": null, "suspended_by": null,
        "suspended_at": null,
    })
}

pub(crate) fn comment(comment: &Comment, repo: &str, number: i64, base: &str) -> Value {
    let url = format!("{base}/repos/{repo}/issues/comments/{}", comment.id);
    json!({
        "id": comment.id, "node_id": format!("IC_{}", comment.id), "url": url,
        "html_url": format!("{base}/{repo}/issues/{number}#issuecomment-{}", comment.id), "body": comment.body,
        "user": user(&comment.author, base), "created_at": time(comment.created_at), "updated_at": time(comment.updated_at),
        "issue_url": format!("{base}/repos/{repo}/issues/{number}"), "author_association": "OWNER",
    })
}
