//! A connection to Redis, to whichever server, cluster or master it is, with a bound on every wait.

use std::time::{Duration, Instant};

use redis::cluster::{ClusterClientBuilder, ClusterConnection, cluster_pipe};
use redis::{
    Client, Cmd, Connection, ConnectionAddr, ConnectionInfo, RedisConnectionInfo, RedisError, Value,
};

use super::State;
use super::command::command;
use crate::config::{Node, Redis, RedisPlace};

/// How long a connection may take to be made, and an answer to come.
const IO_TIMEOUT: Duration = Duration::from_millis(500);

/// Why Redis did not execute a command.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RedisUnavailable {
    /// It cannot be reached, does not answer in time, or is not to be used now.
    Away(String),
    /// It takes nothing more.
    Full(String),
}

impl From<RedisError> for RedisUnavailable {
    fn from(error: RedisError) -> Self {
        let why = error.to_string();
        // Of a pipeline the message holds every command's own error.
        let is_full = error.code() == Some("OOM") || why.contains("OOM ");
        if is_full { Self::Full(why) } else { Self::Away(why) }
    }
}

/// A connection.
pub(super) enum RedisConnection {
    /// To one server.
    One(Box<Connection>),
    /// To a cluster.
    Cluster(Box<ClusterConnection>),
}

impl RedisConnection {
    /// Connects.
    pub(super) fn open(redis: &Redis) -> Result<Self, RedisUnavailable> {
        match &redis.endpoint {
            RedisPlace::Cluster(nodes) => {
                let infos: Result<Vec<_>, _> =
                    nodes.iter().map(|node| info(redis, address(redis, node))).collect();
                let client = ClusterClientBuilder::new(infos?)
                    .connection_timeout(IO_TIMEOUT)
                    .response_timeout(IO_TIMEOUT)
                    .retries(1)
                    .build()?;
                Ok(Self::Cluster(Box::new(client.get_connection()?)))
            }
            _ => Ok(Self::One(Box::new(connect(single_server(redis)?)?))),
        }
    }

    /// Says all of it, in one go where that can be done, and returns the answers.
    pub(super) fn send(&mut self, commands: &[Cmd]) -> Result<Vec<Value>, RedisUnavailable> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Self::One(connection) => {
                let mut pipe = redis::pipe();
                commands.iter().for_each(|command| _ = pipe.add_command(command.clone()));
                Ok(pipe.query(connection)?)
            }
            Self::Cluster(connection) => {
                // A hint has no key by which it could be sent along with the others.
                let (hints, keyed): (Vec<&Cmd>, Vec<&Cmd>) =
                    commands.iter().partition(|command| is_hint(command));
                let mut answers = Vec::new();
                if !keyed.is_empty() {
                    let mut pipe = cluster_pipe();
                    keyed.into_iter().for_each(|command| _ = pipe.add_command(command.clone()));
                    answers = pipe.query(connection)?;
                }
                for hint in hints {
                    answers.push(hint.query(connection)?);
                }
                Ok(answers)
            }
        }
    }

    /// The answer of a command that gives members with their scores.
    pub(super) fn scores(&mut self, command: &Cmd) -> Result<Vec<(String, i64)>, RedisUnavailable> {
        let scores: Vec<(String, f64)> = match self {
            Self::One(connection) => command.query(connection)?,
            Self::Cluster(connection) => command.query(connection)?,
        };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "milliseconds since 1970 are whole and far below 2^53"
        )]
        Ok(scores.into_iter().map(|(member, score)| (member, score as i64)).collect())
    }
}

fn is_hint(command: &Cmd) -> bool {
    matches!(command.args_iter().next(), Some(redis::Arg::Simple(b"PUBLISH")))
}

/// Finds out whether there is room: writes something small that goes by itself.
pub(super) fn is_room(connection: &mut RedisConnection) -> Result<(), RedisUnavailable> {
    let mut write = command("SET", "baton:room");
    write.arg("1").arg("PX").arg(10_000);
    connection.send(&[write]).map(drop)
}

/// How a Redis is, asked once, and why where it is not up.
pub(crate) fn probe(redis: &Redis) -> (State, Option<String>) {
    match RedisConnection::open(redis).and_then(|mut connection| is_room(&mut connection)) {
        Ok(()) => (State::Up, None),
        Err(RedisUnavailable::Away(why)) => (State::Away, Some(why)),
        Err(RedisUnavailable::Full(why)) => (State::Full, Some(why)),
    }
}

/// Subscribes to a channel. `on_message` gets each message, and `None` at each timeout, until it returns false.
pub(super) fn listen(
    redis: &Redis,
    channel: &str,
    wait: Duration,
    mut on_message: impl FnMut(Option<String>) -> bool,
) -> Result<(), RedisUnavailable> {
    let mut connection = match &redis.endpoint {
        // Any node passes on what is said to any other.
        RedisPlace::Cluster(nodes) => {
            let found = nodes.iter().map(|node| connect(info(redis, address(redis, node))?));
            first_reachable(found, "no node of the cluster answers")?
        }
        _ => connect(single_server(redis)?)?,
    };
    let mut listener = connection.as_pubsub();
    listener.subscribe(channel)?;
    listener.set_read_timeout(Some(wait))?;
    // Messages published before the subscription are lost: an empty first one makes the caller look once.
    let mut goes_on = on_message(Some(String::new()));
    while goes_on {
        goes_on = match listener.get_message() {
            Ok(message) => on_message(Some(message.get_payload()?)),
            Err(error) if error.is_timeout() => on_message(None),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(())
}

fn connect(info: ConnectionInfo) -> Result<Connection, RedisUnavailable> {
    let connection = Client::open(info)?.get_connection_with_timeout(IO_TIMEOUT)?;
    connection.set_read_timeout(Some(IO_TIMEOUT))?;
    connection.set_write_timeout(Some(IO_TIMEOUT))?;
    Ok(connection)
}

/// Where to connect to for a Redis that is one server.
fn single_server(redis: &Redis) -> Result<ConnectionInfo, RedisUnavailable> {
    match &redis.endpoint {
        RedisPlace::One(node) => info(redis, address(redis, node)),
        RedisPlace::Socket(path) => info(redis, ConnectionAddr::Unix(path.clone())),
        RedisPlace::Sentinel(sentinels, service) => master(redis, sentinels, service),
        RedisPlace::Cluster(_) => Err(RedisUnavailable::Away("a cluster is not one server".to_owned())),
    }
}

/// The master of a service, as the first Sentinel names it that knows one, if it takes itself for one.
fn master(redis: &Redis, sentinels: &[Node], service: &str) -> Result<ConnectionInfo, RedisUnavailable> {
    let found = sentinels.iter().map(|sentinel| {
        let access = Redis { user: None, password: None, database: 0, ..redis.clone() };
        let mut sentinel = connect(info(&access, address(redis, sentinel))?)?;
        let mut query = command("SENTINEL", "get-master-addr-by-name");
        let named: Option<(String, u16)> = query.arg(service).query(&mut sentinel)?;
        let (host, port) = named
            .ok_or_else(|| RedisUnavailable::Away(format!("the Sentinel knows no service {service}")))?;
        let master = info(redis, address(redis, &Node { host, port }))?;
        let role: Vec<Value> = redis::cmd("ROLE").query(&mut connect(master.clone())?)?;
        match role.first() {
            Some(Value::BulkString(role)) if role == b"master" => Ok(master),
            _ => Err(RedisUnavailable::Away("the master that the Sentinel names is none (yet)".to_owned())),
        }
    });
    first_reachable(found, "no Sentinel answers")
}

/// The first that there is, else the last reason why there is none.
fn first_reachable<T>(
    found: impl Iterator<Item = Result<T, RedisUnavailable>>,
    none: &str,
) -> Result<T, RedisUnavailable> {
    let mut why = RedisUnavailable::Away(none.to_owned());
    let begin = Instant::now();
    for one in found {
        match one {
            Ok(found) => return Ok(found),
            Err(trouble) => why = trouble,
        }
        if begin.elapsed() > IO_TIMEOUT * 4 {
            break;
        }
    }
    Err(why)
}

fn address(redis: &Redis, node: &Node) -> ConnectionAddr {
    let (host, port) = (node.host.clone(), node.port);
    match redis.is_secure {
        true => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
        false => ConnectionAddr::Tcp(host, port),
    }
}

fn info(redis: &Redis, address: ConnectionAddr) -> Result<ConnectionInfo, RedisUnavailable> {
    let redis = RedisConnectionInfo {
        db: redis.database,
        username: redis.user.clone(),
        password: redis.password.clone(),
        ..RedisConnectionInfo::default()
    };
    Ok(ConnectionInfo { addr: address, redis })
}
