//! Servers whose clocks differ: the database's clock is the one that counts.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::fleet;
use crate::http::{Server, caller, post};
use crate::stage::{Stage, skipped, text};

/// A library that shifts what a program is told of the time of day. `None` where there is no compiler.
fn shifted_clock(stage: &Stage) -> Option<PathBuf> {
    let source = stage.root().join("clock.c");
    let library = stage.root().join("clock.so");
    let text = r#"
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t id, struct timespec *at) {
            int code = (int)syscall(SYS_clock_gettime, id, at);
            const char *shift = getenv("TEST_CLOCK_SHIFT");
            if (code == 0 && id == CLOCK_REALTIME && shift) at->tv_sec += atol(shift);
            return code;
        }
    "#;
    fs::write(&source, text).expect("written");
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    if !made.is_ok_and(|status| status.success()) {
        skipped("no C compiler: clocks cannot be shifted");
        return None;
    }
    Some(library)
}

#[test]
fn a_server_whose_clock_is_an_hour_ahead_takes_nothing_from_who_is_at_work() {
    let Some((stage, mut servers)) = fleet(1) else { return };
    let Some(library) = shifted_clock(&stage) else { return };
    for shift in ["3600", "-3600"] {
        let wrong = stage.terminal("Wrong").with("LD_PRELOAD", &library).with("TEST_CLOCK_SHIFT", shift);
        servers.push(Server::start(&wrong));
    }
    let ask = |server: usize, who: &str, operation: &str, input: serde_json::Value| {
        let who = caller(who, "shop");
        post(&servers[server].address, operation, &input, &[("baton-caller", &who)]).expect("an answer")
    };
    let task = text(&ask(0, "Boss", "task_create", json!({ "title": "one" })).json(), "id");
    for (right, wrong) in [(0, 1), (1, 0), (2, 0), (0, 2), (1, 2), (2, 1)] {
        let (holder, other) = (format!("Holder{right}{wrong}"), format!("Other{right}{wrong}"));
        let claimed = ask(right, &holder, "task_claim", json!({ "id": task, "lease_s": 600 }));
        assert_eq!(claimed.status, 200, "{claimed:#?}");
        let refusal = ask(wrong, &other, "task_claim", json!({ "id": task, "lease_s": 600 }));
        assert_eq!(refusal.status, 409, "{right} holds it: {refusal:#?}");
        assert_eq!(ask(right, &holder, "session_start", json!({})).status, 200);
        assert_eq!(ask(right, &holder, "session_wrap", json!({ "summary": "x" })).status, 200);
        assert_eq!(ask(right, &holder, "hd_exec", json!({})).status, 200);
        let refusal = ask(wrong, &other, "hd_exec", json!({}));
        assert_eq!(
            (refusal.status, &refusal.json()["code"]),
            (409, &"baton_claimed".into()),
            "{right} holds it: {refusal:#?}"
        );
        assert_eq!(ask(right, &holder, "session_wrap", json!({ "summary": "y" })).status, 200);
        let free = ask(right, &holder, "task_release", json!({ "id": task, "untried": true }));
        assert!(matches!(free.status, 200 | 409), "{free:#?}");
    }
    stage.assert_sound();
}
