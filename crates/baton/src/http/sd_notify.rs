//! What a service manager is told of this server's state: the protocol of `sd_notify(3)`, a datagram to the socket that
//! `NOTIFY_SOCKET` names. Without that variable nothing is sent.

use std::io;
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;

use crate::config;

/// A state of the server, as the service manager names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServiceState {
    /// It accepts requests.
    Ready,
    /// It reads its settings anew; [`Ready`](Self::Ready) follows.
    Reloading,
    /// It takes no more requests.
    Stopping,
}

impl ServiceState {
    fn message(self) -> String {
        match self {
            Self::Ready => "READY=1".to_owned(),
            Self::Reloading => format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_usec()),
            Self::Stopping => "STOPPING=1".to_owned(),
        }
    }
}

/// Tells the service manager, if there is one. A server serves whether or not that succeeds.
pub(super) fn notify(state: ServiceState) {
    let Some(socket) = config::variable("NOTIFY_SOCKET").filter(|path| !path.is_empty()) else { return };
    if let Err(error) = send(&socket, &state.message()) {
        tracing::warn!(%error, socket, "the service manager was not notified");
    }
}

#[cfg(unix)]
fn send(socket: &str, message: &str) -> io::Result<()> {
    let datagram = UnixDatagram::unbound()?;
    match socket.strip_prefix('@') {
        Some(name) => send_to_abstract(&datagram, name, message),
        None => datagram.send_to(message.as_bytes(), socket).map(drop),
    }
}

#[cfg(target_os = "linux")]
fn send_to_abstract(datagram: &UnixDatagram, name: &str, message: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    datagram.send_to_addr(message.as_bytes(), &address).map(drop)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn send_to_abstract(_: &UnixDatagram, _: &str, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn send(_: &str, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// With this a manager knows which reload a later `READY=1` answers.
#[cfg(unix)]
fn monotonic_usec() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
}

#[cfg(not(unix))]
fn monotonic_usec() -> i64 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_manager_hears_of_each_state_on_a_socket_with_or_without_a_path() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).expect("socket");
        send(path.to_str().expect("text"), &ServiceState::Ready.message()).expect("sent");
        let mut buffer = [0; 128];
        let length = manager.recv(&mut buffer).expect("received");
        assert_eq!(&buffer[..length], b"READY=1");
        assert!(ServiceState::Reloading.message().starts_with("RELOADING=1\nMONOTONIC_USEC="));
        assert!(send("/nowhere/notify", "READY=1").is_err(), "an error, and no panic");
        assert!(cfg!(not(target_os = "linux")) || is_heard_without_a_path().is_ok_and(|is_heard| is_heard));
    }

    #[cfg(target_os = "linux")]
    fn is_heard_without_a_path() -> std::io::Result<bool> {
        use std::os::linux::net::SocketAddrExt;
        let name = format!("baton-notify-{}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name)?;
        let manager = UnixDatagram::bind_addr(&address)?;
        send(&format!("@{name}"), "STOPPING=1")?;
        let mut buffer = [0; 128];
        let length = manager.recv(&mut buffer)?;
        Ok(&buffer[..length] == b"STOPPING=1")
    }

    #[cfg(not(target_os = "linux"))]
    fn is_heard_without_a_path() -> std::io::Result<bool> {
        send("@x", "STOPPING=1").map(|()| true)
    }
}
