//! The relay of a server: webhooks and the memory index have rows in the outbox, hand-offs to GitHub in `handoff_step`. What is due
//! is taken under a lease, the call is made outside a transaction, and a second transaction writes the outcome. It polls by itself.
//! Of several servers on a ledger one relays.

mod comment_poll;
mod github;
mod github_auth;
mod github_http;
pub(crate) mod github_json;
pub(crate) mod github_read;
pub(crate) mod memory_index;
pub(crate) mod saga;
mod saga_poll;
mod webhook;

use std::sync::Arc;
use std::time::Duration;

use baton_model::duty;
use baton_model::effect::{Action, Adapter, Effect, EffectDisposition, Outcome, next_disposition};
use baton_model::store_place::OutsideCalls;
use baton_model::time::Millis;
use baton_store::{Failure, FaultKind, Store, outbox};
use tokio::runtime::Handle;

use crate::clock;
use crate::config::Config;
use crate::effect_ownership::EffectGate;
use crate::error::AppError;
use crate::host::Machine;
use crate::leadership::Duties;
use crate::services::{Service, ServiceHandle, StopSignal};

/// Pause between two looks at the outbox when nothing was due.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Effects taken at one look.
const BATCH_SIZE: i64 = 16;

/// How often an outcome is tried to be written down: for a good while, with a pause between.
const RECORD_TRIES: u32 = 120;

/// The service that relays.
struct Relay {
    store: Store,
    machine: Arc<Machine>,
    duties: Arc<Duties>,
    gate: EffectGate,
    webhook: webhook::Webhook,
    runtime: Handle,
}

/// Starts the relay with a store of its own.
pub(crate) fn start(
    config: &Config,
    machine: &Arc<Machine>,
    duties: &Arc<Duties>,
    runtime: Handle,
) -> Result<ServiceHandle, AppError> {
    let mut store = Store::open(&config.store, clock::now())?;
    let webhook = webhook::Webhook::new(config.webhook_secret.clone())?;
    let gate = EffectGate::new(&machine.id);
    // A copy of the file that is made from now on is known as one.
    gate.calls(&mut store, machine.now())?;
    let (machine, duties) = (Arc::clone(machine), Arc::clone(duties));
    Ok(ServiceHandle::start(Relay { store, machine, duties, gate, webhook, runtime }, Duration::ZERO)?)
}

impl Service for Relay {
    const NAME: &'static str = "relay";

    /// Finishes the effects in hand, whatever the signal says.
    fn pass(&mut self, _: &StopSignal) -> Duration {
        let Self { store, machine, duties, gate, webhook, runtime } = self;
        let now = || machine.now();
        let outside_calls = |store: &mut Store| gate.calls(store, machine.now());
        let done =
            sweep(store, (duties, outside_calls), now, |effect| runtime.block_on(carry_out(webhook, effect)));
        if let Err(failure) = &done {
            tracing::error!(%failure, "the outbox cannot be read");
        }
        if matches!(done, Ok(count) if count > 0) { Duration::ZERO } else { POLL_INTERVAL }
    }
}

async fn carry_out(webhook: &webhook::Webhook, effect: &Effect) -> Outcome {
    match &effect.action {
        Action::Webhook(post) => webhook.post(effect, post).await,
        other => Outcome::Final { why: format!("this is no effect of the webhook: {}", other.payload()) },
    }
}

/// One look at the outbox; returns how many effects were tried. An effect is leased only while the duty is ours, and only in the store
/// that may call what is outside.
fn sweep(
    store: &mut Store,
    (duties, mut outside_calls): (&Duties, impl FnMut(&mut Store) -> Result<OutsideCalls, Failure>),
    now: impl Fn() -> Millis,
    mut try_one: impl FnMut(&Effect) -> Outcome,
) -> Result<usize, Failure> {
    if duties.fence(duty::RELAY).is_none() {
        return Ok(0);
    }
    let due = store.read(|tx| Ok(outbox::due(tx, Adapter::Webhook, now(), BATCH_SIZE)?))?;
    if due.is_empty() || outside_calls(store)? == OutsideCalls::Held {
        return Ok(0);
    }
    let mut tried = 0;
    for effect in &due {
        let project = effect.project_id.as_str();
        let leased = store.write(&[project], |tx| {
            if !duties.is_held(tx, duty::RELAY)? {
                return Ok(None);
            }
            Ok(outbox::lease(tx, effect, now())?)
        })?;
        let Some(leased) = leased else { continue };
        let outcome = try_one(&leased);
        let next = next_disposition(&leased, outcome, now(), jitter());
        log_outcome(&leased, &next);
        record(|| store.write(&[project], |tx| Ok(outbox::close(tx, &leased, &next)?)))?;
        tried += 1;
    }
    Ok(tried)
}

/// Writes down how a try ended. What happened outside must not be forgotten because the ledger is out of reach for a moment:
/// it would happen again. Writing it twice changes nothing.
fn record<T>(mut write: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 0..RECORD_TRIES {
        match write() {
            Err(Failure::Fault(fault))
                if matches!(
                    fault.kind,
                    FaultKind::Unreachable | FaultKind::CommitUnknown | FaultKind::Busy
                ) =>
            {
                tracing::warn!(%fault, "what was done outside cannot be written down yet");
                std::thread::sleep(POLL_INTERVAL);
            }
            answer => return answer,
        }
    }
    write()
}

fn log_outcome(effect: &Effect, next: &EffectDisposition) {
    let (id, project, attempt) = (&effect.effect_id, &effect.project_id, effect.attempts);
    match next {
        EffectDisposition::Done => tracing::debug!(%id, %project, attempt, "effect done"),
        EffectDisposition::At(_, why) => {
            tracing::warn!(%id, %project, attempt, %why, "effect failed, will be tried again")
        }
        EffectDisposition::Failed(why) => tracing::error!(%id, %project, attempt, %why, "effect given up"),
    }
}

/// A random number from 0 to 999.
fn jitter() -> i64 {
    let mut bytes = [0; 2];
    clock::random(&mut bytes);
    i64::from(u16::from_le_bytes(bytes)) % 1_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::effect::WebhookPost;
    use baton_store::{Target, project};
    use serde_json::Value;

    fn store_with_effect() -> Store {
        store_with_effect_in(&Target::Memory)
    }

    fn store_with_effect_in(place: &Target) -> Store {
        let mut store = Store::open(place, 0).expect("store");
        store
            .write_shared(|tx| {
                project::create(tx, "p", false, 0)?;
                let post = WebhookPost { url: "http://127.0.0.1:1".into(), delta: Value::Null };
                let effect = Effect::new("e".into(), "p", Action::Webhook(post), 0);
                Ok(outbox::push(tx, &effect, 0)?)
            })
            .expect("pushed");
        store
    }

    fn states(store: &mut Store) -> Vec<(String, i64)> {
        store.read(|tx| Ok(outbox::count(tx)?)).expect("counted")
    }

    #[allow(clippy::unnecessary_wraps, reason = "the gate may fail")]
    fn allowed(_: &mut Store) -> Result<OutsideCalls, Failure> {
        Ok(OutsideCalls::Allowed)
    }

    #[test]
    fn a_copy_of_a_store_posts_no_webhook() {
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second] = ["first.db", "second.db"].map(|name| folder.path().join(name));
        let mut original = store_with_effect_in(&Target::File(first.clone()));
        let own = EffectGate::new("machine");
        assert_eq!(own.calls(&mut original, 0).expect("asked"), OutsideCalls::Allowed);
        drop(original);
        std::fs::copy(&first, &second).expect("copied");
        let posts_of = |place: &std::path::Path| {
            let mut store = Store::open(&Target::File(place.into()), 0).expect("store");
            let (duties, gate) = (Duties::everything(&mut store), EffectGate::new("machine"));
            let mut posts = 0;
            let tried =
                sweep(&mut store, (&duties, |store: &mut Store| gate.calls(store, 0)), clock::now, |_| {
                    posts += 1;
                    Outcome::Done
                });
            (tried.expect("swept"), posts, states(&mut store))
        };
        assert_eq!(posts_of(&second), (0, 0, vec![("pending".to_owned(), 1)]), "it waits in the copy");
        assert_eq!(posts_of(&first), (1, 1, vec![("done".to_owned(), 1)]), "the original goes on");
    }

    #[test]
    fn what_is_done_is_not_done_again() {
        let mut store = store_with_effect();
        let duties = Duties::everything(&mut store);
        assert_eq!(sweep(&mut store, (&duties, allowed), clock::now, |_| Outcome::Done).expect("swept"), 1);
        assert_eq!(sweep(&mut store, (&duties, allowed), clock::now, |_| Outcome::Done).expect("swept"), 0);
        assert_eq!(states(&mut store), [("done".to_owned(), 1)]);
    }

    #[test]
    fn what_failed_for_now_waits_for_its_time() {
        let mut store = store_with_effect();
        let duties = Duties::everything(&mut store);
        assert_eq!(
            sweep(&mut store, (&duties, allowed), clock::now, |_| Outcome::Retry {
                why: "503".into(),
                after: None
            })
            .expect("swept"),
            1
        );
        assert_eq!(sweep(&mut store, (&duties, allowed), clock::now, |_| Outcome::Done).expect("swept"), 0);
        assert_eq!(states(&mut store), [("pending".to_owned(), 1)]);
    }

    #[test]
    fn what_failed_for_good_is_kept_with_its_reason() {
        let mut store = store_with_effect();
        let duties = Duties::everything(&mut store);
        sweep(&mut store, (&duties, allowed), clock::now, |_| Outcome::Final { why: "gone".into() })
            .expect("swept");
        assert_eq!(states(&mut store), [("failed".to_owned(), 1)]);
    }

    #[test]
    fn a_leased_effect_is_left_to_whoever_has_it() {
        let mut store = store_with_effect();
        let duties = Duties::everything(&mut store);
        let due = store.read(|tx| Ok(outbox::due(tx, Adapter::Webhook, clock::now(), 1)?)).expect("due");
        let first = store.write(&["p"], |tx| Ok(outbox::lease(tx, &due[0], clock::now())?)).expect("leased");
        let second = store.write(&["p"], |tx| Ok(outbox::lease(tx, &due[0], clock::now())?)).expect("asked");
        assert!(first.is_some() && second.is_none());
        assert_eq!(sweep(&mut store, (&duties, allowed), clock::now, |_| Outcome::Done).expect("swept"), 0);
    }

    #[test]
    fn a_server_without_the_duty_carries_nothing_out() {
        let mut store = store_with_effect();
        let before = Duties::everything(&mut store);
        let now = Duties::everything(&mut store);
        assert!(before.fence(duty::RELAY).is_some(), "it has not noticed yet");
        assert_eq!(sweep(&mut store, (&before, allowed), clock::now, |_| Outcome::Done).expect("swept"), 0);
        assert_eq!(sweep(&mut store, (&now, allowed), clock::now, |_| Outcome::Done).expect("swept"), 1);
    }
}
