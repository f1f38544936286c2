//! `baton serve`

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_model::refusal::Refusal;

use crate::app::App;
use crate::config;
use crate::error::AppError;
use crate::http::{self, Options, ReadSettings};

/// Serve the HTTP API and the web page
#[derive(clap::Args)]
pub(super) struct Args {
    /// Address to listen on; port 0 picks a free one. Every request needs a token once one has been created, and always
    /// if the address is not one of this machine's own
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7077")]
    listen: String,
    /// Certificate chain in PEM format, to serve over TLS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate, in PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Host name the server is reached under, for instance through a proxy; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Requests per second allowed for each token; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    rate: u32,
}

impl Args {
    /// The words of a command line with these options; files are named so that they are found from everywhere.
    pub(super) fn arguments(&self, cwd: Option<&Path>) -> Vec<String> {
        let file =
            |path: &Path| cwd.map_or_else(|| path.to_owned(), |cwd| cwd.join(path)).display().to_string();
        let mut words = vec!["serve".to_owned(), "--listen".to_owned(), self.listen.clone()];
        let files = [("--tls-cert", &self.tls_cert), ("--tls-key", &self.tls_key)];
        for (option, path) in files {
            words.extend(path.iter().flat_map(|path| [option.to_owned(), file(path)]));
        }
        words.extend(self.hosts.iter().flat_map(|host| ["--host".to_owned(), host.clone()]));
        words.extend(["--rate".to_owned(), self.rate.to_string()]);
        words
    }

    pub(super) fn address(&self) -> Result<SocketAddr, Refusal> {
        self.listen.parse().map_err(|_| {
            let what = format!("`{}` is not an address", baton_model::id::visible(&self.listen));
            Refusal::invalid("listen_invalid", what, "write it as 127.0.0.1:7077")
        })
    }
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let address = args.address()?;
    // A server has a store; whose client it might be plays no part.
    app.config.server = None;
    let tls = args.tls_cert.zip(args.tls_key);
    let settings = reader(app);
    http::serve(&Options { address, tls, hosts: args.hosts, rate: args.rate, settings }, app)
}

/// Reads the settings again as this command found them: a store from the command line stays.
fn reader(app: &App) -> ReadSettings {
    let store = app.config.origins.get("store").filter(|(_, origin)| origin == "--store").cloned();
    Arc::new(move || {
        let mut config = config::load_at(None)?;
        if let Some((url, _)) = &store {
            config.use_store(url)?;
        }
        config.server = None;
        Ok(config)
    })
}
