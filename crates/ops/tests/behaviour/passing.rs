//! The way of the baton through sessions, as the history shows it.

use serde_json::json;

use crate::world::{agent, list, text};

on_every_backend! {
    fn the_history_says_what_each_session_left_and_who_took_it(w) {
        let (lola, donna) = (agent("Lola"), agent("Donna"));
        let first = w.start(&lola);
        w.advance(1_000);
        let wrapped = w.wrap(&lola, "half done");
        w.advance(1_000);
        let taken = w.pickup(&donna);
        let history = w.ok(&donna, "session_history", json!({}));
        let rows = list(&history["items"]);
        assert_eq!(rows.len(), 2);
        assert_eq!((text(&rows[0], "identity"), text(&rows[1], "identity")), ("Donna".into(), "Lola".into()));
        assert_eq!(rows[1]["session_id"], first["session_id"]);
        let left = &rows[1]["left"];
        assert_eq!(left["baton_id"], wrapped["delta_id"]);
        assert_eq!((&left["summary"], &left["state"]), (&json!("half done"), &json!("held")));
        assert_eq!(left["taken_by"], taken["session_id"]);
        assert!(rows[0].get("left").is_none());
        w.wrap(&donna, "done");
        let history = w.ok(&donna, "session_history", json!({ "limit": 1 }));
        assert_eq!((list(&history["items"]).len(), &history["more"]), (1, &json!(true)));
        let all = w.ok(&donna, "session_history", json!({}));
        assert_eq!(list(&all["items"])[1]["left"]["state"], "spent");
        w.no_trace(&donna, "session_history", json!({ "project": "nowhere" }), "project_unknown");
    }
}
