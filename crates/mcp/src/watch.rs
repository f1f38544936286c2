//! Change notifications: a subscribed resource is polled, and its subscriber is notified when it reads otherwise. This
//! covers writes by every process.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{RequestContext, SubscriptionContext};
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::resources::{Address, content};
use crate::server::Server;

/// Pause between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Resources that one client may watch at a time.
const MAX_WATCHED: usize = 100;

/// What passes by itself and is no change.
const PASSING: &[&str] =
    &["live", "fresh", "last_heartbeat", "last_verb", "reminders", "rules_reminders", "document", "tokens"];

/// What a client of the older protocol has subscribed to. It ends with the connection.
#[derive(Default)]
pub(crate) struct Watches(Mutex<BTreeMap<String, AbortHandle>>);

impl Watches {
    /// Ends one.
    pub(crate) fn end(&self, uri: &str) {
        if let Some(watch) = self.0.lock().ok().and_then(|mut watches| watches.remove(uri)) {
            watch.abort();
        }
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.0.get_mut().map(|watches| watches.values().for_each(AbortHandle::abort)).unwrap_or_default();
    }
}

/// Watches a resource for a client of the older protocol.
pub(crate) async fn subscribe(
    server: &Server,
    watches: &Watches,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    if Address::parse(uri).is_none() {
        return Err(ErrorData::resource_not_found(
            "this is no address of a resource",
            Some(json!({ "uri": uri })),
        ));
    }
    let first = read_resource(server, uri, context).await;
    let (watcher, context, address) =
        (Server::new(std::sync::Arc::clone(&server.shared)), context.clone(), uri.to_owned());
    let Ok(mut known) = watches.0.lock() else { return Ok(()) };
    if known.len() >= MAX_WATCHED && !known.contains_key(uri) {
        return Err(ErrorData::invalid_params(
            format!("at most {MAX_WATCHED} resources are watched at a time"),
            None,
        ));
    }
    let task = tokio::spawn(async move {
        let mut seen = first;
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let now = read_resource(&watcher, &address, &context).await;
            if now != seen {
                let notified = context
                    .peer
                    .notify_resource_updated(ResourceUpdatedNotificationParam::new(address.clone()));
                if notified.await.is_err() {
                    return;
                }
                seen = now;
            }
        }
    });
    if let Some(before) = known.insert(uri.to_owned(), task.abort_handle()) {
        before.abort();
    }
    Ok(())
}

/// What of a request can be granted: resources that have an address. Lists do not change while a server runs.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
        uris.iter().filter(|uri| Address::parse(uri).is_some()).take(MAX_WATCHED).cloned().collect()
    });
    accepted
}

/// Watches resources for a client of the newer protocol, until it goes.
pub(crate) async fn listen(server: &Server, subscription: &SubscriptionContext) {
    let context = subscription.request_context();
    let uris = subscription.accepted().resource_subscriptions.clone().unwrap_or_default();
    let mut seen = Vec::with_capacity(uris.len());
    for uri in &uris {
        seen.push(read_resource(server, uri, context).await);
        // The subscription was confirmed before this first read: a change in between would otherwise be missed.
        if subscription.sink().notify_resource_updated(uri).await.is_err() {
            return;
        }
    }
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        for (uri, seen) in uris.iter().zip(&mut seen) {
            let now = read_resource(server, uri, context).await;
            if now != *seen {
                if subscription.sink().notify_resource_updated(uri).await.is_err() {
                    return;
                }
                *seen = now;
            }
        }
    }
}

/// What a resource says, without what passes by itself. One that cannot be read says nothing.
async fn read_resource(server: &Server, uri: &str, context: &RequestContext<RoleServer>) -> Option<Value> {
    let address = Address::parse(uri)?;
    let mut read = content(server, &address, context).await.ok()?;
    strip(&mut read);
    Some(read)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !PASSING.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_is_no_change() {
        let mut read = json!({ "sessions": [{ "identity": "Donna", "live": true, "last_heartbeat": "now" }], "reminders": [] });
        strip(&mut read);
        assert_eq!(read, json!({ "sessions": [{ "identity": "Donna" }] }));
    }

    #[test]
    fn only_what_has_an_address_is_watched() {
        let mut request = SubscriptionFilter::new();
        request.tools_list_changed = Some(true);
        request.resource_subscriptions =
            Some(vec!["baton://projects/shop/status".into(), "file:///a".into()]);
        let granted = accepted(&request);
        assert_eq!(granted.resource_subscriptions, Some(vec!["baton://projects/shop/status".to_owned()]));
        assert_eq!(granted.tools_list_changed, None);
    }
}
