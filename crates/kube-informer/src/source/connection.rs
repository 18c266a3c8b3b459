//! Connections that are driven by the task that reads from them.

use futures::Stream;
use futures::future::BoxFuture;
use futures::task::AtomicWaker;
use http::{Response, Version};
use hyper_util::client::legacy::connect::HttpInfo;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

tokio::task_local! {
    /// What was executed while this request was sent.
    static EXECUTED: Arc<Mutex<Executed>>;
}

/// Runs the connections of a [`kube::Client`], and lends them to the lists and watches of a
/// [`ClientSource`](super::ClientSource).
///
/// A client reads its connections in tasks of their own, which pass on each piece of a body as it arrives. If the server is
/// slower than its client, that wakes another task, often on another thread, for every few kilobytes. With this executor, a
/// connection is read by the task that reads the body of a list or watch, for as long as that body lasts; before and after, and
/// for all other requests, by a task of its own. Everything else about the client is the same: authentication, proxies, TLS,
/// retries.
///
/// ```
/// use kube::client::ClientBuilder;
/// use kube_informer::source::ConnectionExecutor;
///
/// # fn example(config: kube::Config) -> Result<kube::Client, kube::Error> {
/// let client = ClientBuilder::try_from((config, ConnectionExecutor::default()))?.build();
/// # Ok(client)
/// # }
/// ```
///
/// Connections over HTTP/2, which several requests share, are not lent.
///
/// # Panics
/// As `tokio::spawn`: connections are opened in a tokio runtime.
#[derive(Clone, Default)]
pub struct ConnectionExecutor {
    connections: Connections,
}

impl fmt::Debug for ConnectionExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionExecutor").finish_non_exhaustive()
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for ConnectionExecutor {
    fn execute(&self, future: F) {
        let Ok(executed) = EXECUTED.try_with(Arc::clone) else {
            tokio::spawn(future);
            return;
        };
        let lendable = Arc::new(Lendable::new(Box::pin(future)));
        tokio::spawn(keep(lendable.clone()));
        let mut executed = lock(&executed);
        executed.futures.push(lendable);
        executed.connections = Some(self.connections.clone());
    }
}

/// Both ends of a connection, which no other one has at the same time.
type Ends = (SocketAddr, SocketAddr);

/// The futures that may be lent, by the connection that they belong to.
type Connections = Arc<Mutex<HashMap<Ends, Vec<Arc<Lendable>>>>>;

#[derive(Default)]
struct Executed {
    futures: Vec<Arc<Lendable>>,
    connections: Option<Connections>,
}

/// A future that its task keeps, or that somebody has borrowed.
struct Lendable {
    held: Mutex<Held>,
    /// Of the task that keeps it.
    keeper: AtomicWaker,
}

enum Held {
    Kept(BoxFuture<'static, ()>),
    Lent,
    Done,
}

impl Lendable {
    fn new(future: BoxFuture<'static, ()>) -> Self {
        Self {
            held: Mutex::new(Held::Kept(future)),
            keeper: AtomicWaker::new(),
        }
    }

    fn is_done(&self) -> bool {
        matches!(*lock(&self.held), Held::Done)
    }

    /// Takes the future, unless somebody has it already.
    fn borrow(&self) -> Option<BoxFuture<'static, ()>> {
        let mut held = lock(&self.held);
        match std::mem::replace(&mut *held, Held::Lent) {
            Held::Kept(future) => Some(future),
            other => {
                *held = other;
                None
            }
        }
    }

    /// Gives the future back to its task, or tells it that it is done.
    fn give_back(&self, future: Option<BoxFuture<'static, ()>>) {
        *lock(&self.held) = future.map_or(Held::Done, Held::Kept);
        self.keeper.wake();
    }
}

/// Drives a future while nobody has borrowed it.
async fn keep(lendable: Arc<Lendable>) {
    std::future::poll_fn(|cx| {
        lendable.keeper.register(cx.waker());
        let mut held = lock(&lendable.held);
        match &mut *held {
            Held::Kept(future) => {
                if future.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                *held = Held::Done;
                Poll::Ready(())
            }
            Held::Lent => Poll::Pending,
            Held::Done => Poll::Ready(()),
        }
    })
    .await;
}

/// Sends a request, and borrows the connection on which it is answered, if the client's executor lends it.
pub(super) async fn borrowing<B, E>(
    request: impl Future<Output = Result<Response<B>, E>>,
) -> Result<(Response<B>, Borrowed), E> {
    let executed = Arc::<Mutex<Executed>>::default();
    let response = EXECUTED.scope(executed.clone(), request).await?;
    let borrowed = borrow(&response, std::mem::take(&mut lock(&executed)));
    Ok((response, borrowed))
}

fn borrow<B>(response: &Response<B>, executed: Executed) -> Borrowed {
    let mut borrowed = Borrowed::default();
    let (Some(connections), Some(info)) = (executed.connections, response.extensions().get::<HttpInfo>())
    else {
        return borrowed;
    };
    // Other requests depend on what several of them share.
    if response.version() != Version::HTTP_11 {
        return borrowed;
    }
    let mut connections = lock(&connections);
    connections.retain(|_, futures| {
        futures.retain(|future| !future.is_done());
        !futures.is_empty()
    });
    let ends = (info.local_addr(), info.remote_addr());
    let futures = connections.entry(ends).or_default();
    futures.extend(executed.futures);
    for lendable in futures {
        if let Some(future) = lendable.borrow() {
            borrowed.0.push((lendable.clone(), Some(future)));
        }
    }
    borrowed
}

/// The futures of a connection, which go back to their tasks when this is dropped.
#[derive(Default)]
pub(super) struct Borrowed(Vec<(Arc<Lendable>, Option<BoxFuture<'static, ()>>)>);

impl Borrowed {
    /// Runs what there is to do.
    fn poll(&mut self, cx: &mut Context<'_>) {
        for (_, held) in &mut self.0 {
            if let Some(future) = held
                && future.as_mut().poll(cx).is_ready()
            {
                *held = None;
            }
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        for (lendable, future) in self.0.drain(..) {
            lendable.give_back(future);
        }
    }
}

/// A body that drives its own connection.
pub(super) struct Driven<S> {
    body: S,
    connection: Borrowed,
    relay: Arc<Relay>,
    waker: Waker,
}

/// How often a body and its connection are polled in turn while they wake each other, before other tasks come first.
const ROUNDS: usize = 4;

impl<S> Driven<S> {
    pub(super) fn new(body: S, connection: Borrowed) -> Self {
        let relay = Arc::<Relay>::default();
        let waker = relay.clone().into();
        Self {
            body,
            connection,
            relay,
            waker,
        }
    }
}

impl<S: Stream + Unpin> Stream for Driven<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = self.get_mut();
        if this.connection.0.is_empty() {
            return Pin::new(&mut this.body).poll_next(cx);
        }
        this.relay.task.register(cx.waker());
        let mut inner = Context::from_waker(&this.waker);
        for _ in 0..ROUNDS {
            this.relay.begin();
            let mut next = Pin::new(&mut this.body).poll_next(&mut inner);
            if next.is_pending() {
                this.connection.poll(&mut inner);
                next = Pin::new(&mut this.body).poll_next(&mut inner);
            }
            match next {
                Poll::Ready(None) => {
                    // Now it can serve the next request.
                    this.connection.poll(&mut inner);
                    this.connection = Borrowed::default();
                    return Poll::Ready(None);
                }
                Poll::Ready(next) => return Poll::Ready(next),
                Poll::Pending if this.relay.rest() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Wakes the task of a [`Driven`] body, unless that is being polled: then it sees itself what there is to do.
#[derive(Default)]
struct Relay {
    state: AtomicU8,
    task: AtomicWaker,
}

const RESTS: u8 = 0;
const POLLED: u8 = 1;
const WOKEN: u8 = 2;

impl Relay {
    fn begin(&self) {
        self.state.store(POLLED, Ordering::SeqCst);
    }

    /// Returns false if something was woken since it began.
    fn rest(&self) -> bool {
        let rested = self
            .state
            .compare_exchange(POLLED, RESTS, Ordering::SeqCst, Ordering::SeqCst);
        rested.is_ok()
    }
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::SeqCst) == RESTS {
            self.task.wake();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
