//! `baton serve`

use std::net::SocketAddr;

use baton_model::refusal::{Kind, Refusal};

use crate::app::App;
use crate::error::Ended;
use crate::http;

/// Serve the HTTP API
#[derive(clap::Args)]
pub struct Args {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7077")]
    listen: String,
}

pub fn run(args: Args, app: &mut App) -> Result<(), Ended> {
    let address: SocketAddr = args.listen.parse().map_err(|_| {
        Refusal::invalid(
            "listen_invalid",
            format!("`{}` is not an address", args.listen),
            "write it as 127.0.0.1:7077",
        )
    })?;
    if !address.ip().is_loopback() {
        let what =
            format!("{address} can be reached from other machines, and this version has no access tokens");
        return Err(Refusal::new(
            Kind::Refused,
            "listen_not_loopback",
            what,
            "listen on 127.0.0.1, behind a proxy that checks who asks",
        )
        .into());
    }
    http::serve(address, app)
}
