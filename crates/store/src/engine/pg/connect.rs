//! How a connection is made, and made again.

use std::str::FromStr;
use std::thread::sleep;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use super::pipeline::{self, PipelinedConnection};
use super::tls::Tls;
use super::url::{self, Mode};
use super::{OpenMode, error};
use crate::engine::fault::{Fault, FaultKind};
use crate::engine::target::Target;

/// Waiting for a project's row is bounded, as on SQLite; a client that vanished with an open transaction is thrown out.
const SETTINGS: &str = "-c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000";

/// Every statement is written for its index, so its plan is made once: left to choose, the server plans a third of them anew each
/// time, which takes it as long as running them. Wished for and not demanded: not everything that speaks the protocol knows it.
const PLAN_CACHE_SETTING: &str = "SET plan_cache_mode = force_generic_plan";

/// Pauses, in milliseconds, between attempts to get back to a server that answers "not now": about three seconds, which is
/// what a restart after a crash takes.
const PAUSES: [u64; 10] = [10, 20, 40, 80, 160, 320, 500, 600, 600, 600];

/// What to do about an address that cannot be read.
const ADDRESS_HINT: &str = "Correct the address: postgres://USER:PASSWORD@HOST/NAME. `baton config show` \
     shows which counts.";

/// Everything that is needed to connect.
pub(super) struct Connector {
    config: Config,
    tls: Option<Tls>,
    place: String,
    /// Whether the last reconnect ran out of retries: until one succeeds, later ones try only once.
    is_exhausted: bool,
}

impl Connector {
    /// Reads a URL.
    pub(super) fn new(url: &str, target: &Target, access: OpenMode) -> Result<Self, Fault> {
        let place = target.to_string();
        let cannot = |why: String| {
            Fault::new(FaultKind::CannotOpen, format!("cannot open {place}: {why}")).with_hint(ADDRESS_HINT)
        };
        let parts = url::parts(url).map_err(cannot)?;
        let mut config = Config::from_str(&parts.url).map_err(|e| cannot(error::chain(&e)).with_source(e))?;
        let tls = Tls::new(parts.mode, &parts.roots).map_err(cannot)?;
        config.ssl_mode(match parts.mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        });
        apply_settings(&mut config, access);
        Ok(Self { config, tls, place, is_exhausted: false })
    }

    /// The database by its name; that of the user where the address names none.
    fn database(&self) -> &str {
        self.config.get_dbname().or(self.config.get_user()).unwrap_or_default()
    }

    /// One attempt.
    pub(super) fn connect(&self) -> Result<PipelinedConnection, Fault> {
        let cannot =
            |error| Fault::other(format!("cannot wait for {}: {error}", self.place)).with_source(error);
        let runtime = pipeline::runtime().map_err(cannot)?;
        let connection = match &self.tls {
            None => runtime
                .block_on(self.config.connect(NoTls))
                .map(|(client, connection)| PipelinedConnection::new(runtime, client, connection)),
            Some(tls) => runtime
                .block_on(self.config.connect(tls.clone()))
                .map(|(client, connection)| PipelinedConnection::new(runtime, client, connection)),
        };
        let mut connection =
            connection.map_err(|e| error::connect_fault((&self.place, self.database()), e))?;
        connection.try_setting(PLAN_CACHE_SETTING);
        Ok(connection)
    }

    /// Gets back to a server that was there a moment ago: one that restarts is waited for, though not twice in a row.
    pub(super) fn reconnect(&mut self) -> Result<PipelinedConnection, Fault> {
        let pauses = if self.is_exhausted { &[][..] } else { &PAUSES };
        let mut answer = self.connect();
        for pause in pauses {
            match &answer {
                Err(fault) if error::may_pass(fault) => sleep(Duration::from_millis(*pause)),
                _ => break,
            }
            answer = self.connect();
        }
        self.is_exhausted = answer.is_err();
        answer
    }
}

/// What every connection of ours has, unless the URL says otherwise.
fn apply_settings(config: &mut Config, access: OpenMode) {
    let read_only = if access == OpenMode::ReadOnly { " -c default_transaction_read_only=on" } else { "" };
    let own = config.get_options().unwrap_or_default();
    let options = format!("{SETTINGS} {own} -c standard_conforming_strings=on{read_only}");
    config.options(&options);
    if config.get_application_name().is_none() {
        config.application_name("baton");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    // A server that vanished without a word is noticed within half a minute, whether we wait for it or not.
    config.keepalives_idle(Duration::from_secs(10));
    config.keepalives_interval(Duration::from_secs(5));
    config.keepalives_retries(4);
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
}
