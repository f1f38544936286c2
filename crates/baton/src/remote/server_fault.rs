//! What a caller is told of a server that does not answer, or not as a server of Baton does.

use baton_model::refusal::{Kind, Refusal};

use crate::config::Server;

/// What is said of a server that does not answer. `may_be_written`: whether it may have received a call that writes.
pub(super) fn unreachable_refusal(server: &Server, error: &reqwest::Error, may_be_written: bool) -> Refusal {
    let url = &server.url;
    let causes = std::iter::successors(Some(error as &dyn std::error::Error), |e| e.source());
    let cause = causes.last().map(ToString::to_string).unwrap_or_default();
    let cause = if error.is_timeout() { "no answer in time".to_owned() } else { cause };
    if cause.contains("certificate") || cause.contains("UnknownIssuer") {
        let what = format!("{url} shows a certificate that is not believed: {cause}");
        let hint = "name the certificate of its authority, as PEM, in BATON_SERVER_CA";
        return Refusal::new(Kind::Outside, "server_untrusted", what, hint);
    }
    if server.is_secure() && cause.contains("InvalidContentType") {
        let what = format!("{url} speaks http, not https: what answers there is not encrypted");
        let plain = url.replacen("https://", "http://", 1);
        let hint = format!("write it as {plain}, or have it serve with `--tls-cert` and `--tls-key`");
        return Refusal::new(Kind::Outside, "server_unreachable", what, hint);
    }
    if may_be_written {
        let what = format!("{url} got the call, and its answer did not come: {cause}");
        let hint =
            "what you asked for may be done: look with `baton status` and `baton log` before you repeat it";
        return Refusal::new(Kind::Outside, "server_unreachable", what, hint);
    }
    let what = format!("{url} cannot be reached: {cause}");
    let hint = "see that `baton serve` runs there, and try again; without BATON_SERVER the store of this machine is used, which the others do not see";
    Refusal::new(Kind::Outside, "server_unreachable", what, hint)
}

/// What is said of a server whose answer is not understood.
pub(super) fn unreadable_refusal(server: &Server, why: &str) -> Refusal {
    let what = format!("{} is no server of Baton, or one of another version: {why}", server.url);
    Refusal::new(
        Kind::Outside,
        "server_unreadable",
        what,
        "check BATON_SERVER, and `baton --version` on both sides",
    )
}

/// What is said of a server that answers, and whose store does not.
pub(super) fn unready_refusal(server: &Server, why: &str) -> Refusal {
    let what = format!("{} is not ready: {}", server.url, baton_model::id::visible(why));
    Refusal::new(
        Kind::Outside,
        "server_unready",
        what,
        "its log says more; `baton doctor` there checks its store",
    )
}
