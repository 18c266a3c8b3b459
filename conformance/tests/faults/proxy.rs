//! A proxy of bytes that misbehaves on order. What is TLS stays TLS: it understands nothing of what passes.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How the proxy treats what passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As it comes.
    Pass,
    /// In small pieces, with pauses.
    Slow,
    /// Not at all; connections stay open.
    Silent,
    /// Each connection, also a new one, breaks after so many more bytes of the server: in the middle of a frame.
    BreakAfter(usize),
    /// Nobody listens; connections that are open go on.
    Refuse,
}

/// The size of a piece, and the pause behind it, when the proxy is slow.
const SLOW: (usize, Duration) = (700, Duration::from_millis(10));

struct Orders {
    upstream: SocketAddr,
    mode: watch::Sender<Mode>,
    /// Counts orders to cut.
    cuts: watch::Sender<u64>,
}

/// The proxy; it ends, with all its connections, when it is dropped.
pub(crate) struct Proxy {
    orders: Arc<Orders>,
    doors: JoinSet<()>,
}

/// An address of the proxy, for one client.
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Door {
    /// How many connections came in.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Proxy {
    /// A proxy that leads to this address.
    pub(crate) fn to(upstream: SocketAddr) -> Self {
        let orders = Arc::new(Orders {
            upstream,
            mode: watch::Sender::new(Mode::Pass),
            cuts: watch::Sender::new(0),
        });
        Self {
            orders,
            doors: JoinSet::new(),
        }
    }

    /// Opens another address of it.
    pub(crate) async fn door(&mut self) -> io::Result<Door> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let connections = Arc::<AtomicUsize>::default();
        self.doors.spawn(keep_open(
            listener,
            address,
            self.orders.clone(),
            connections.clone(),
        ));
        Ok(Door { address, connections })
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.orders.mode.send_replace(mode);
    }

    /// Breaks all connections that are open.
    pub(crate) fn cut(&self) {
        self.orders.cuts.send_modify(|cuts| *cuts += 1);
    }
}

/// Accepts connections, except while they are to be refused.
async fn keep_open(
    mut listener: TcpListener,
    address: SocketAddr,
    orders: Arc<Orders>,
    count: Arc<AtomicUsize>,
) {
    let mut connections = JoinSet::new();
    let mut mode = orders.mode.subscribe();
    loop {
        tokio::select! {
            Ok((client, _)) = listener.accept() => {
                count.fetch_add(1, Ordering::Relaxed);
                connections.spawn(lead(client, orders.clone()));
            }
            Some(_) = connections.join_next() => {}
            _ = mode.changed() => {}
        }
        if *mode.borrow_and_update() == Mode::Refuse {
            drop(listener);
            let _ = mode.wait_for(|mode| *mode != Mode::Refuse).await;
            listener = listen_again(address).await;
        }
    }
}

async fn listen_again(address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            // An outgoing connection has the port for a moment.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Leads one connection to the server, until either side ends it or it is cut.
async fn lead(client: TcpStream, orders: Arc<Orders>) {
    let mut cuts = orders.cuts.subscribe();
    let passing = async {
        let Ok(server) = TcpStream::connect(orders.upstream).await else {
            return;
        };
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let up = pass(from_client, to_server, orders.mode.subscribe(), false);
        let down = pass(from_server, to_client, orders.mode.subscribe(), true);
        // One side's end is the end of both: no HTTP client leaves a connection half open.
        tokio::select! {
            _ = up => {}
            _ = down => {}
        }
    };
    tokio::select! {
        () = passing => {}
        _ = cuts.changed() => {}
    }
}

/// Passes bytes in one direction.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut mode: watch::Receiver<Mode>,
    breakable: bool,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    let mut left = usize::MAX;
    loop {
        let now = *mode.borrow_and_update();
        let piece = match now {
            Mode::Slow => SLOW.0,
            _ => buffer.len(),
        };
        left = match now {
            Mode::BreakAfter(bytes) if breakable => left.min(bytes),
            _ => usize::MAX,
        };
        tokio::select! {
            _ = mode.changed() => {}
            read = from.read(&mut buffer[..piece]), if now != Mode::Silent => {
                let read = read?;
                let passed = read.min(left);
                to.write_all(&buffer[..passed]).await?;
                if read == 0 || passed < read {
                    return Ok(());
                }
                left -= passed;
                if now == Mode::Slow {
                    tokio::time::sleep(SLOW.1).await;
                }
            }
        }
    }
}
