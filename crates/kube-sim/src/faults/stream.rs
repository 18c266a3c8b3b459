//! Bodies that are disturbed: watches that are held and cut, answers that break off.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use http_body_util::BodyExt as _;
use tokio::sync::watch;

use super::rule::Facts;
use crate::api::Api;
use crate::response::{BoxError, SimBody, frames};
use crate::target::Target;

/// A body on its way to the client.
struct Disturbed<S> {
    inner: std::pin::Pin<Box<S>>,
    /// What a watch has to look out for.
    watched: Option<Watched>,
    /// It breaks off amid the next chunk.
    breaks: bool,
    over: bool,
}

struct Watched {
    api: Arc<Api>,
    target: Target,
    facts: Facts,
    changed: watch::Receiver<()>,
    /// The last cut before it was opened.
    cut: u64,
    held: bool,
}

/// The body, as the faults let it through; `watch` says what is watched, if it is a watch.
pub(crate) fn disturbed(body: SimBody, breaks: bool, watch: Option<(Arc<Api>, Target, Facts)>) -> SimBody {
    if !breaks && watch.is_none() {
        return body;
    }
    let watched = watch.map(|(api, target, facts)| {
        let changed = api.faults.changed.subscribe();
        let (held, cut) = api.faults.watched(&target, &facts);
        Watched {
            api,
            target,
            facts,
            changed,
            cut,
            held,
        }
    });
    let state = Disturbed {
        inner: Box::pin(body.into_data_stream()),
        watched,
        breaks,
        over: false,
    };
    frames(stream::unfold(state, |mut state| async {
        let item = state.next().await?;
        Some((item, state))
    }))
}

impl<S: Stream<Item = Result<Bytes, BoxError>>> Disturbed<S> {
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        if self.over {
            // Lets a connection send what came before.
            tokio::task::yield_now().await;
            return std::mem::take(&mut self.breaks).then(|| Err(reset()));
        }
        let chunk = match &mut self.watched {
            None => self.inner.next().await,
            // What is held is not asked for: it stays where it is in the history.
            Some(watched) => loop {
                tokio::select! {
                    biased;
                    _ = watched.changed.changed() => {
                        let cut;
                        (watched.held, cut) = watched.api.faults.watched(&watched.target, &watched.facts);
                        if cut > watched.cut {
                            (self.over, self.breaks) = (true, false);
                            return Some(Err(reset()));
                        }
                    }
                    () = watched.api.closing.cancelled(), if watched.held => break None,
                    chunk = self.inner.next(), if !watched.held => break chunk,
                }
            },
        };
        if !self.breaks {
            return chunk;
        }
        self.over = true;
        // Half of the first line: that of an event, or all of a body that has only one. In protobuf this byte is the first tag
        // of an event or of an envelope, so that it breaks off within what comes before.
        chunk.map(|chunk| {
            chunk.map(|chunk| {
                let line = chunk.iter().position(|b| *b == b'\n').unwrap_or(chunk.len());
                chunk.slice(..line / 2)
            })
        })
    }
}

fn reset() -> BoxError {
    io::Error::from(io::ErrorKind::ConnectionReset).into()
}
