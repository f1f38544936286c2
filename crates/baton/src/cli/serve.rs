//! `baton serve`

use std::net::SocketAddr;
use std::path::PathBuf;

use baton_model::refusal::Refusal;

use crate::app::App;
use crate::error::AppError;
use crate::http::{self, Options};

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

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let address: SocketAddr = args.listen.parse().map_err(|_| {
        Refusal::invalid(
            "listen_invalid",
            format!("`{}` is not an address", baton_model::id::visible(&args.listen)),
            "write it as 127.0.0.1:7077",
        )
    })?;
    // A server has a store; whose client it might be is no matter.
    app.config.server = None;
    let tls = args.tls_cert.zip(args.tls_key);
    http::serve(&Options { address, tls, hosts: args.hosts, rate: args.rate }, app)
}
